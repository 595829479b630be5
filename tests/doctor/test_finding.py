"""Automatic discovery of devices."""

from pathlib import Path

from companion.doctor.finding import CAMERAS, CONTROLLERS, find_devices, parse_camera_modules

LISTING = """Available cameras
-----------------
0 : imx708 [4608x2592 10-bit RGGB] (/base/axi/pcie@120000/rp1/i2c@88000/imx708@1a)
    Modes: 'SRGGB10_CSI2P' : 1536x864 [120.13 fps - (768, 432)/3072x1728 crop]
                             4608x2592 [14.35 fps - (0, 0)/4608x2592 crop]

1 : UVC Camera [1920x1080 MJPEG] (/base/axi/pcie@120000/rp1/usb@300000-1:1.0-046d:0825)
2 : ov5647 [2592x1944 10-bit GBRG] (/base/axi/pcie@120000/rp1/i2c@80000/ov5647@36)
"""


def test_cameras_and_controllers_are_found_by_their_lasting_names(tmp_path: Path) -> None:
    names = (
        "v4l/by-id/usb-046d_0825-video-index0",
        "v4l/by-id/usb-046d_0825-video-index1",
        "serial/by-id/usb-MicroPython_Board_in_FS_mode_e66-if00",
        "serial/by-id/usb-FTDI_FT232R-if00",
        "video0",
    )
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert find_devices(CAMERAS, tmp_path) == (str(tmp_path / names[0]),)
    assert find_devices(CONTROLLERS, tmp_path) == (str(tmp_path / names[2]),)
    assert find_devices(CAMERAS, tmp_path / "none") == ()


def test_modules_are_told_from_usb_cameras() -> None:
    assert parse_camera_modules(LISTING) == (0, 2)
    assert parse_camera_modules("No cameras available!") == ()
