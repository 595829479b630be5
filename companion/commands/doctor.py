"""`companion doctor`: checks everything that a table needs before people sit down."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from calibration.appearance import load_appearance
from calibration.camera import Camera, read_camera
from calibration.errors import ProfileError
from calibration.kit import Kit, available_kits, kit_name, load_kit
from calibration.picture import load_picture
from companion.app.ground import start_levels
from companion.app.station import StationConfig
from companion.commands.options.address import address
from companion.commands.options.game import add_kit
from companion.commands.options.lens import AUTO, camera_of
from companion.commands.options.parser import OptionGroup, Subparsers, add_command
from companion.commands.options.serial import add_serial
from companion.commands.options.settings import merge_settings_file
from companion.commands.options.source import SourceOptions, add_sources
from companion.commands.options.station import StationOptions, add_station, make_station_config
from companion.commands.options.table_page import show_code
from companion.commands.options.tls import certificate_of
from companion.commands.output.codes import DONE, NO
from companion.commands.output.lines import notify
from companion.commands.output.overlay import write_overlay
from companion.doctor.check import Check, Status, fault, fault_from, fine, unused
from companion.doctor.devices import CameraCheck, check_camera, check_panel, check_serial
from companion.doctor.finding import CAMERAS, CONTROLLERS, find_devices, list_camera_modules, parse_camera_modules
from companion.doctor.machine import check_clock, check_disk, check_sound, synchronised
from companion.doctor.picture import check_focus, check_lens, check_picture
from companion.errors import CompanionError
from companion.games import load_game
from companion.match import Match
from companion.phone.access import PhoneAccess
from companion.phone.camera_routes import PhoneCameraRoutes
from companion.phone.page import PhoneCameraPage
from companion.recorder.place import default_store
from companion.rules.game import Game
from companion.simulate.table import FAST, SimulatedTable
from companion.voice.library import Library
from companion.voice.repertoire import repertoire
from companion.web.token import new_token
from vision.capture.choice import named_camera
from vision.capture.frames import Frame, SourceLost
from vision.capture.live import Device
from vision.capture.phone import PhoneCamera
from vision.capture.picamera import PiCamera
from vision.capture.recording import RecordingSource, read_recording
from vision.errors import VisionError
from vision.pose.registration import to_gray
from vision.reader import Reader

USUAL = Camera(1280, 720, np.diag([1000.0, 1000.0, 1.0]), np.zeros(5), 0.0)
"""Camera with which a device is tried before its lens has been calibrated; only the size matters."""

LET_IN_S = 120.0
"""Time that somebody has to scan the code, get past the browser's warning, and allow the camera."""


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """Options of `companion doctor`.

    ``web`` is the address of a phone's page, ``image`` a photograph in place of a camera, ``overlay`` one to write.
    """

    game: str | None
    kit: str | None
    source: SourceOptions
    image: Path | None
    serial: str | None
    store: Path | None
    station: StationOptions
    web: tuple[str, int] | None
    overlay: Path | None
    json: bool


@dataclass(frozen=True, eq=False)
class View:
    """One camera, file or simulation: its check, its picture (None: none), its lens and appearance where known."""

    check: Check
    image: npt.NDArray[np.uint8] | None
    camera: Camera | None
    appearance: Path | None = None


def add_parser(subparsers: Subparsers) -> None:
    """Add `doctor`."""
    what = "check camera, markers, light, sensors, panel, sound, clock and disk"
    doctor = add_command(subparsers, "doctor", Options, run, help=what, complete=merge_settings_file)
    doctor.add_argument("game", nargs="?", metavar="GAME", help="the game, or the file table.toml that names it")
    add_kit(doctor)
    add_sources(doctor)
    doctor.add_argument("--image", type=Path, metavar="FILE", help="look at this photograph instead")
    add_serial(doctor)
    doctor.add_argument(
        "--match", dest="store", type=Path, metavar="FILE", help="the match store (default: the user's own)"
    )
    add_station(doctor)
    doctor.add_argument(
        "--web", type=address, metavar="HOST:PORT", help="where a phone finds its page; it is served for --phone only"
    )
    doctor.add_argument("--overlay", type=Path, metavar="FILE", help="write the picture with what is believed of it")
    doctor.add_argument("--json", action="store_true", help="one JSON object a line")


def run(options: Options) -> int:
    """Run all checks; exit code 1 if one found a fault."""
    cv2.setNumThreads(1)
    game = load_game(options.game) if options.game else None
    name = options.kit or (kit_name(game.tag) if game else None)
    kit = load_kit(name) if name else None
    station_config = make_station_config(options.station, game, options.store, is_json=options.json)
    failed = False
    for check in _checks(options, game, kit, station_config):
        print(json.dumps(check.row(), ensure_ascii=False) if options.json else check.line(), flush=True)
        failed |= check.state is Status.FAULT
    return NO if failed else DONE


def _controller(url: str | None, kit: Kit | None) -> Check:
    """Check the pillar controller that is named or plugged in; without a game, for the first kit with pillars."""
    if kit is None:
        kit = next((each for each in map(load_kit, available_kits()) if each.pillars is not None), None)
    if url is None and kit is not None and kit.pillars is not None:
        url = next(iter(find_devices(CONTROLLERS)), None)
    return check_serial(url, kit)


def _checks(options: Options, game: Game | None, kit: Kit | None, station_config: StationConfig) -> Iterator[Check]:
    for seen in _views(options, game, kit):
        view = _with_lens(seen, kit, options.source.camera)
        yield view.check
        yield from _seen(view, kit)
        if options.overlay:
            yield _overlay(options.overlay, view, kit)
    yield _controller(options.serial, kit)
    yield check_panel(station_config, game.players if game else ("R", "G"), os.environ)
    yield check_sound(is_wanted=station_config.voice is not None, missing=_missing(game, station_config))
    yield check_clock(datetime.now(UTC), is_synchronised=synchronised())
    yield check_disk((options.store or default_store(os.environ)).parent)


def _views(options: Options, game: Game | None, kit: Kit | None) -> Iterator[View]:
    """A view for everything that the options name."""
    source = options.source
    if not source.is_given:
        source = replace(source, device=find_devices(CAMERAS), picamera=parse_camera_modules(list_camera_modules()))
    files, sets = source.camera, source.appearances
    if options.image:
        yield _still(options.image, _camera(files, 0), _at(sets, 0))
    elif source.recording:
        for i, folder in enumerate(source.recording):
            yield _recorded(folder, _camera(files, i), _at(sets, i))
    elif source.simulate:
        yield _simulated(game, kit)
    elif source.phone:
        yield from _filmed(options)
    elif source.device or source.picamera:
        lenses = [_camera(files, i) for i in range(len(source.device) + len(source.picamera))]
        for i, device in enumerate(_devices(source, [lens or USUAL for lens in lenses])):
            looked = check_camera(device)
            yield View(looked.check, looked.image, lenses[i], _at(sets, i))
    else:
        none = "none is plugged in, and none named (--device, --picamera, --recording, --image)"
        yield View(unused("camera", none), None, None)


def _filmed(options: Options) -> Iterator[View]:
    """A view for each phone that scans its code."""
    count, files = options.source.phone, options.source.camera
    proof = certificate_of(None, options.web, has_phones=True)
    assert options.web is not None
    lenses = [_camera(files, i) for i in range(count)]
    phones = [
        PhoneCamera(f"phone {n}", ((lens or USUAL).width_px, (lens or USUAL).height_px))
        for n, lens in enumerate(lenses, start=1)
    ]
    accesses, token = [PhoneAccess(new_token()) for _ in phones], new_token()
    phone_cameras = PhoneCameraRoutes(accesses, lambda: token, notify)
    phone_cameras.look(phones)
    page = PhoneCameraPage(options.web, phone_cameras, proof)
    try:
        if proof is not None:
            notify(f"certificate, SHA-256: {proof.fingerprint}")
        for n, access in enumerate(accesses, start=1):
            show_code(page.server, n, access.code)
        for i, phone in enumerate(phones):
            looked = check_camera(phone) if phone.has_picture(LET_IN_S) else CameraCheck(_missed(phone), None)
            yield View(looked.check, looked.image, lenses[i], _at(options.source.appearances, i))
    finally:
        page.close()


def _missed(phone: PhoneCamera) -> Check:
    hint = "scan its code, touch the button, and allow the camera"
    return fault("camera", f"{phone.name}: sent no picture within {LET_IN_S:.0f} s", hint)


def _devices(source: SourceOptions, lenses: Sequence[Camera]) -> tuple[Device, ...]:
    """The cameras that the options name, each with its lens, which gives the size of its pictures."""
    return (
        *(named_camera(device, lens) for device, lens in zip(source.device, lenses, strict=False)),
        *(PiCamera(number, lens) for number, lens in zip(source.picamera, lenses[len(source.device) :], strict=True)),
    )


def _at(files: Sequence[Path], i: int) -> Path | None:
    """The file of camera ``i``; a single file is shared by all cameras."""
    return files[i] if i < len(files) else files[0] if len(files) == 1 else None


def _camera(files: Sequence[Path], i: int) -> Camera | None:
    return read_camera(files[i]) if i < len(files) and files[i] != AUTO else None


def _with_lens(view: View, kit: Kit | None, files: Sequence[Path]) -> View:
    """``view`` with the lens found from the board in its picture, if that was asked for."""
    if view.camera is not None or view.image is None or kit is None or AUTO not in files:
        return view
    return replace(view, camera=camera_of(AUTO, kit, [view.image])[0])


def _still(file: Path, camera: Camera | None, appearance: Path | None) -> View:
    image = load_picture(file)
    return View(fine("camera", f"{file}: {image.shape[1]} x {image.shape[0]} px"), image, camera, appearance)


def _recorded(folder: Path, camera: Camera | None, appearance: Path | None) -> View:
    recording = read_recording(folder)
    if camera is None and recording.camera:
        camera, appearance = read_camera(recording.camera), appearance or recording.appearance
    try:
        source = RecordingSource(recording)
        image = next(source.frames()).image
        source.close()
    except SourceLost as error:
        return View(fault_from("camera", error), None, camera)
    return View(fine("camera", f"{folder}: {image.shape[1]} x {image.shape[0]} px"), image, camera, appearance)


def _simulated(game: Game | None, kit: Kit | None) -> View:
    if game is None or kit is None:
        raise CompanionError("--simulate: name the game that is to be simulated")
    table = SimulatedTable(kit, Match(game, game.start()), 1, pace=FAST, wait=None)
    image = next(table.frames()).image
    table.close()
    return View(fine("camera", f"simulated: {image.shape[1]} x {image.shape[0]} px"), image, table.camera)


def _seen(view: View, kit: Kit | None) -> Iterator[Check]:
    """Lens, markers, light and focus of a view, as far as they can be judged."""
    if view.image is None:
        return
    if view.camera is None:
        yield fault("lens", "not measured", "companion calibrate lens, then give --camera FILE; or --camera auto")
    else:
        yield check_lens(view.camera)
    if view.camera is None or kit is None:
        yield unused("markers", "name the game, and give --camera" if kit is None else "need a measured lens")
        yield check_focus(to_gray(view.image))
        return
    yield from check_picture(view.image, kit, view.camera, start_levels(kit))


def _overlay(file: Path, view: View, kit: Kit | None) -> Check:
    """Write the picture with its reading drawn over it."""
    if view.image is None or view.camera is None or kit is None:
        return fault("overlay", "nothing to draw over", "name the game, a picture, and --camera")
    try:
        reader = Reader(kit, view.camera, load_appearance(view.appearance, kit), start_levels(kit))
        write_overlay(file, reader, view.image, *reader.read_with_geometry(Frame(view.image, 0, 0.0)))
    except (VisionError, ProfileError, CompanionError) as error:
        return fault_from("overlay", error)
    return fine("overlay", f"written: {file}")


def _missing(game: Game | None, station_config: StationConfig) -> int:
    """Number of voice clips that have not been made."""
    if station_config.voice is None or game is None:
        return 0
    library = Library(station_config.voice, station_config.lang.voice)
    return sum(not library.file(clip).exists() for clip in repertoire(game, station_config.lang, station_config.names))
