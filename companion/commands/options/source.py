"""The options for the source of pictures, and what they open: cameras, recordings, a simulated table."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from calibration.appearance import SetAppearance
from calibration.board_lens import prior_camera
from calibration.camera import Camera, read_camera
from calibration.kit import Kit
from companion.app.camera_reader import CameraReader
from companion.app.ground import ground_levels
from companion.app.lens import LensFinder
from companion.app.memory import keep_small
from companion.app.multi_camera import MultiCameraReader
from companion.app.pillars import Pillars
from companion.app.table import Listener
from companion.commands.options.appearance import appearance_of
from companion.commands.options.lens import AUTO
from companion.commands.options.parser import OptionGroup
from companion.commands.options.serial import simulated_pillars
from companion.commands.output.lines import notify
from companion.commands.output.progress import COMPILING, progress_status
from companion.errors import CompanionError
from companion.match import Match
from companion.simulate.table import REAL, SimulatedTable, clock, enrol_picture
from vision.capture.choice import named_camera, parse_device
from vision.capture.frames import FrameSource
from vision.capture.live import Device, LiveSource
from vision.capture.merged_source import MergedSource
from vision.capture.phone import PhoneCamera
from vision.capture.picamera import PiCamera
from vision.capture.recording import Recording, RecordingSource
from vision.enrolment import enrol
from vision.warm_up import warm_up

SIMULATED_SEED = 1

SIZE = (1280, 720)
"""Default size of pictures without a camera file: every webcam has it, and markers are large enough in it."""


@dataclass(frozen=True, slots=True)
class SourceOptions(OptionGroup):
    """Where the pictures come from.

    Attributes:
        camera: a calibrated camera's file for each camera.
        appearances: files of the set's appearance, one for all cameras or one for each.
        device: numbers or paths of USB or V4L2 cameras, addresses of network cameras.
        picamera: numbers of Raspberry Pi camera modules.
        phone: number of phones used as cameras.
        recording: folders of recorded matches.
        simulate: use a simulated table.
    """

    camera: tuple[Path, ...]
    appearances: tuple[Path, ...]
    device: tuple[int | str, ...]
    picamera: tuple[int, ...]
    phone: int
    recording: tuple[Path, ...]
    simulate: bool

    @property
    def is_given(self) -> bool:
        """Whether any source is given."""
        return bool(self.device or self.picamera or self.phone or self.recording or self.simulate)


@dataclass(frozen=True, eq=False)
class TableInput:
    """The input of a table: the frame source, the readers, and listeners of the source that want to hear events.

    ``pillars`` are those that a source measures itself; a table that ``is_lasting`` is there again at the next run, so
    that a match at it can be continued.  ``phones`` are the cameras whose pictures come through the page.
    """

    source: FrameSource
    camera_reader: CameraReader | MultiCameraReader
    listeners: tuple[Listener, ...] = ()
    pillars: Pillars | None = None
    is_lasting: bool = False
    phones: tuple[PhoneCamera, ...] = ()


def add_sources(parser: argparse.ArgumentParser) -> None:
    """Add the options; those of a camera may be given once for each camera."""
    parser.add_argument(
        "--camera",
        type=Path,
        action="append",
        default=[],
        metavar="CAMERA.toml",
        help=f"the calibrated camera; again for a second; {AUTO}: its lens is found from the board that it sees",
    )
    parser.add_argument(
        "--set",
        dest="appearances",
        type=Path,
        action="append",
        default=[],
        metavar="SET.toml",
        help="the look of the set, one for all cameras or one for each (default: the kit's colours)",
    )
    source = parser.add_argument_group("where the pictures come from; give a camera twice for two on one table")
    source.add_argument(
        "--device",
        type=device_name,
        action="append",
        default=[],
        metavar="N",
        help="USB or V4L2 camera: its number or path; network camera: rtsp://… or http://… (MJPEG)",
    )
    source.add_argument(
        "--picamera",
        type=int,
        action="append",
        nargs="?",
        const=0,
        default=[],
        metavar="N",
        help="Raspberry Pi camera module",
    )
    source.add_argument(
        "--phone",
        type=int,
        choices=range(1, 5),
        nargs="?",
        const=1,
        default=0,
        metavar="N",
        help="a phone, by the QR code that is shown (with --web); 2 for two",
    )
    source.add_argument("--recording", type=Path, action="append", default=[], metavar="DIR", help="a recorded match")
    source.add_argument("--simulate", action="store_true", help="a simulated table, as in the demonstration")


def open_input(
    options: SourceOptions, kit: Kit, match: Match, recordings: Sequence[Recording], *, resume: bool
) -> TableInput:
    """Open the source; ``recordings`` are those of the folders, ``resume``: a stored match is to be continued.

    Raises CompanionError when the options do not fit together, ProfileError, SourceLost.
    """
    if sum(map(bool, (options.device or options.picamera or options.phone, recordings, options.simulate))) > 1:
        raise CompanionError("--recording and --simulate stand alone: leave the other sources out")
    if options.simulate:
        if options.camera or options.appearances or resume:
            raise CompanionError("--simulate has a camera and a set of its own, and begins anew: leave the others out")
        return _simulated(kit, match)
    devices, modules = options.device, options.picamera
    count = len(recordings) or len(devices) + len(modules) + options.phone
    files = _one_each("--camera", options.camera or [r.camera for r in recordings if r.camera], count)
    if not files:
        raise CompanionError(
            "--camera is missing: give the file that `companion calibrate lens` has written, or --camera auto"
        )
    recorded = [recording.appearance for recording in recordings if recording.appearance]
    sets = _one_each("--set", options.appearances or recorded, count, shared=True)
    cameras = [prior_camera(SIZE) if file == AUTO else read_camera(file) for file in files]
    finders = [LensFinder(kit, notify) if file == AUTO else None for file in files]
    appearances = [appearance_of(file, kit) for file in sets] or [appearance_of(None, kit)] * count
    camera_reader = _readers(kit, cameras, appearances, finders, ground_levels(kit, match.game, match.position))
    if recordings:
        played = [RecordingSource(recording) for recording in recordings]
        return TableInput(played[0] if count == 1 else MergedSource(played), camera_reader)
    usb, others = cameras[: len(devices)], cameras[len(devices) :]
    ribbon, held = others[: len(modules)], others[len(modules) :]
    drivers: list[Device] = [named_camera(device, camera) for device, camera in zip(devices, usb, strict=True)]
    drivers += [PiCamera(module, camera) for module, camera in zip(modules, ribbon, strict=True)]
    phones = tuple(
        PhoneCamera(f"phone {n}", (camera.width_px, camera.height_px)) for n, camera in enumerate(held, start=1)
    )
    return TableInput(LiveSource([*drivers, *phones], notify), camera_reader, is_lasting=True, phones=phones)


def _simulated(kit: Kit, match: Match) -> TableInput:
    table = SimulatedTable(kit, match, SIMULATED_SEED, pace=REAL, wait=clock())
    levels = ground_levels(kit, match.game, match.position)
    camera_reader = simulated_camera_reader(kit, table, levels)
    return TableInput(
        table, camera_reader, (table.hear,), simulated_pillars(table, kit, SIMULATED_SEED, in_real_time=True)
    )


def simulated_camera_reader(kit: Kit, table: SimulatedTable, levels: tuple[int, ...]) -> CameraReader:
    """The readers of a simulated table, with the appearance learned from a simulated enrolment picture."""
    with progress_status(COMPILING):
        appearance = enrol(enrol_picture(kit, levels=levels), kit, table.camera, levels)
        camera_reader = CameraReader(kit, table.camera, appearance, levels)
        _warm_up(camera_reader)
    return camera_reader


def _readers(
    kit: Kit,
    cameras: Sequence[Camera],
    appearances: Sequence[SetAppearance],
    finders: Sequence[LensFinder | None],
    levels: tuple[int, ...],
) -> CameraReader | MultiCameraReader:
    each = [
        CameraReader(kit, camera, appearance, levels, finder)
        for camera, appearance, finder in zip(cameras, appearances, finders, strict=True)
    ]
    with progress_status(COMPILING):
        _warm_up(each[0])
    return each[0] if len(each) == 1 else MultiCameraReader(each)


def _warm_up(camera_reader: CameraReader) -> None:
    """Compile all loops.  Memory used to build a colour model is released first, to lower the peak."""
    keep_small()
    warm_up(camera_reader.reader)
    keep_small()


def _one_each(option: str, files: Sequence[Path], count: int, *, shared: bool = False) -> list[Path]:
    """A file for each of ``count`` cameras; if ``shared``, one file may serve all.  Raises CompanionError."""
    if shared and len(files) == 1:
        return [files[0]] * count
    if files and len(files) != count:
        raise CompanionError(f"{option}: cameras: {count}, files: {len(files)}; give one for each, in the same order")
    return list(files)


def device_name(text: str) -> int | str:
    """Parse a camera on this machine or in the network, for argparse."""
    try:
        return parse_device(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
