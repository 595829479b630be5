"""Network cameras against real servers on loopback: order, disconnection, passwords, picture size."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import cv2
import numpy as np
import pytest

from calibration.camera import Camera
from tests.vision.capture.servers import SIZE, MjpegCamera, RtspCamera, number
from tests.vision.capture.servers import Camera as Server
from vision.capture import network
from vision.capture.choice import named_camera, parse_device
from vision.capture.frames import Frame, Outage, SourceLost
from vision.capture.live import LiveSource
from vision.capture.network import NetworkCamera, public, with_login, without_login
from vision.capture.video4linux import Video4LinuxCamera

LENS = Camera(*SIZE, np.eye(3), np.zeros(5), 0.1)
WAIT_S = 300
"""Timeout that is long enough for a busy machine."""


@pytest.fixture
def serve() -> Iterator[Callable[[type[Server]], Server]]:
    """Return a function that starts a server of a given kind; it is stopped after the test."""
    servers = list[Server]()

    def served(kind: type[Server]) -> Server:
        servers.append(kind())
        return servers[-1]

    yield served
    for server in servers:
        server.is_still = False
        server.cut()


@pytest.mark.parametrize("kind", [MjpegCamera, RtspCamera])
def test_pictures_come_in_order_and_the_plug_may_be_pulled(
    serve: Callable[[type[Server]], Server], kind: type[Server]
) -> None:
    """Pictures arrive in order; after a disconnection the stream resumes, and no message shows the password."""
    server, said = serve(kind), list[str]()
    source = LiveSource([NetworkCamera(server.address(), LENS)], said.append)
    try:
        shots, until = source.frames(), time.monotonic() + WAIT_S
        seen = [number(shot.image) for shot in (next(shots) for _ in range(5)) if isinstance(shot, Frame)]
        assert seen == sorted(set(seen))
        server.cut()
        outage = next(shot for shot in shots if isinstance(shot, Outage) or time.monotonic() > until)
        server.back()
        after = next(shot for shot in shots if isinstance(shot, Frame) or time.monotonic() > until)
    finally:
        source.close()
    assert isinstance(outage, Outage)
    assert isinstance(after, Frame)
    assert number(after.image) > seen[-1]
    assert any("gives pictures again" in line for line in said)
    assert not any("s3cret" in line for line in (*said, outage.why))


def test_a_camera_that_falls_silent_is_given_up(serve: Callable[[type[Server]], Server]) -> None:
    """A connection without pictures raises SourceLost."""
    server = serve(MjpegCamera)
    camera = NetworkCamera(server.address(), LENS)
    camera.open()
    server.is_still = True
    with pytest.raises(SourceLost, match="gives no more pictures"):
        _look_on(camera)
    camera.close()


def _look_on(camera: NetworkCamera) -> None:
    """Grab pictures until the camera raises."""
    while True:
        camera.grab()


@pytest.mark.parametrize("kind", [MjpegCamera, RtspCamera])
def test_a_wrong_password_is_one_line_that_does_not_hold_it(
    serve: Callable[[type[Server]], Server], kind: type[Server], capfd: pytest.CaptureFixture[str]
) -> None:
    """The error for a wrong password does not contain the password, not even in FFmpeg's output."""
    with pytest.raises(SourceLost) as refused:
        NetworkCamera(serve(kind).address("eye:guess@"), LENS).open()
    heard = capfd.readouterr()
    assert "cannot be opened" in str(refused.value)
    assert "guess" not in f"{refused.value}{heard.out}{heard.err}"


def test_another_size_is_refused_with_both_sizes(serve: Callable[[type[Server]], Server]) -> None:
    """A picture size other than that of the camera file is refused, with both sizes."""
    camera = NetworkCamera(serve(MjpegCamera).address(), Camera(1280, 720, np.eye(3), np.zeros(5), 0.1))
    with pytest.raises(SourceLost, match="320 x 240 px, the camera file is for 1280 x 720 px"):
        camera.open()


class Scripted:
    """A capture whose pictures arrive after scripted delays; each read advances its clock."""

    def __init__(self, waits_s: list[float]) -> None:
        self.waits_s, self.now_s = waits_s, 0.0

    def isOpened(self) -> bool:  # noqa: N802 - OpenCV's name
        return True

    def read(self) -> tuple[bool, np.ndarray]:
        self.now_s += self.waits_s.pop(0)
        return True, np.zeros((SIZE[1], SIZE[0], 3), np.uint8)

    def release(self) -> None:
        """Do nothing."""


def test_the_first_picture_is_one_that_had_to_be_waited_for() -> None:
    """Buffered pictures are skipped: the first one used had to be waited for."""
    capture = Scripted([0.003, 0.004, 0.003, 0.08, 0.08])
    camera = NetworkCamera("http://camera/", LENS, lambda *_: capture, lambda: capture.now_s)
    camera.open()
    assert len(capture.waits_s) == 1


def test_a_stream_that_never_waits_is_opened_all_the_same() -> None:
    """If pictures never have to be waited for, the camera is accepted after LIVE_WITHIN_S."""
    capture = Scripted([0.01] * 1000)
    NetworkCamera("http://camera/", LENS, lambda *_: capture, lambda: capture.now_s).open()
    assert capture.now_s == pytest.approx(network.LIVE_WITHIN_S, abs=0.02)


def test_a_camera_that_opens_slowly_is_given_the_time_again() -> None:
    """A camera that took long to open gets a correspondingly longer timeout next time."""
    patience_ms, capture = [], Scripted([0.08] * 10)

    def make(_address: str, options: list[int], _analysis_s: float) -> Scripted:
        patience_ms.append(options[options.index(cv2.CAP_PROP_OPEN_TIMEOUT_MSEC) + 1])
        capture.now_s += 2.0
        return capture

    camera = NetworkCamera("rtsp://camera/", LENS, make, lambda: capture.now_s)
    camera.open()
    camera.open()
    assert patience_ms == [1000 * network.FIRST_S, 4160]


def test_no_address_shows_what_only_its_owner_may_know() -> None:
    """Public addresses and names contain neither login nor query parameters with secrets."""
    address = "rtsp://eye:s3cret@camera.local:554/live?user=eye&size=hd&pwd=s3cret#x"
    assert public(address) == "rtsp://camera.local:554/live"
    assert without_login(address) == "rtsp://camera.local:554/live?size=hd#x"
    assert without_login("/dev/v4l/by-id/usb-eye@1?") == "/dev/v4l/by-id/usb-eye@1?"
    assert "s3cret" not in NetworkCamera(address, LENS).name


def test_the_password_is_looked_up_where_people_keep_theirs(tmp_path) -> None:
    """Logins come from ``.netrc`` unless the address contains one; a malformed file is refused."""
    file = tmp_path / ".netrc"
    file.write_text("machine camera.local login eye password s/3@cret\n")
    assert with_login("rtsp://camera.local/live", str(file)) == "rtsp://eye:s%2F3%40cret@camera.local/live"
    assert with_login("rtsp://other:one@camera.local/live", str(file)) == "rtsp://other:one@camera.local/live"
    assert with_login("rtsp://elsewhere/live", str(file)) == "rtsp://elsewhere/live"
    assert with_login("rtsp://elsewhere/live", str(tmp_path / "none")) == "rtsp://elsewhere/live"
    file.write_text("camera.local eye s3cret\n")
    with pytest.raises(SourceLost, match=r"cannot be looked up in \.netrc"):
        with_login("rtsp://camera.local/live", str(file))


def test_a_device_is_a_number_a_path_or_an_address() -> None:
    """Device names are parsed as numbers, paths or addresses."""
    assert parse_device("2") == 2
    assert isinstance(named_camera("/dev/video2", LENS), Video4LinuxCamera)
    assert isinstance(named_camera(parse_device("HTTP://eye:s3cret@camera/"), LENS), NetworkCamera)


@pytest.mark.parametrize("text", ["ftp://eye:s3cret@camera/", "rtsp://", "http://:s3cret@/", "rtsp://camera:99999/"])
def test_an_address_of_no_camera_is_refused_without_its_password(text: str) -> None:
    """The error for an invalid address does not contain the password."""
    with pytest.raises(ValueError, match=r".") as refused:
        parse_device(text)
    assert "s3cret" not in str(refused.value)
