"""`companion setup`: sets up a table, guided by a web page."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import cv2
import numpy as np

from calibration.camera import Camera, read_camera
from calibration.kit import Kit
from companion.app.ground import ground_levels
from companion.app.pillars import Pillars
from companion.app.sensors import LinkSensors
from companion.commands.options.address import address
from companion.commands.options.game import add_kit, open_kit
from companion.commands.options.lens import AUTO
from companion.commands.options.parser import OptionGroup, Subparsers, add_command
from companion.commands.options.source import SIZE, device_name
from companion.commands.options.table_page import HANDOVER_VARIABLE, show_code
from companion.commands.options.tls import certificate_of
from companion.commands.options.web import wait_for_interrupt
from companion.commands.output.codes import DONE
from companion.commands.output.lines import notify
from companion.doctor.finding import CAMERAS, find_devices, list_camera_modules, parse_camera_modules
from companion.events import Accepted, Event, GameOver, Illegal, Unsure
from companion.games import load_game
from companion.panel.choice import KINDS, open_panel
from companion.panel.controller import Announcer
from companion.phone.access import PhoneAccess, code_of
from companion.phone.camera_routes import PhoneCameraRoutes
from companion.rules.game import Game
from companion.rules.notation import format_position
from companion.simulate.photographer import Photographer
from companion.web.setup.cameras import ADDRESS, DEVICE, MODULE, PHONE, Cameras, Choice, Missing, Opened
from companion.web.setup.config import SetupConfig
from companion.web.setup.page import SetupPage
from companion.web.setup.session import CAMERA_FILE, TABLE_FILE, SetupSession
from companion.web.token import new_token
from vision.capture.choice import named_camera
from vision.capture.live import Device, LiveSource
from vision.capture.network import is_address, without_login
from vision.capture.phone import PhoneCamera
from vision.capture.picamera import PiCamera

WEB = ("127.0.0.1", 8000)


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """Options of `companion setup`; at most one of ``device``, ``picamera``, ``phone`` and ``simulate`` is given."""

    game: str
    kit: str | None
    web: tuple[str, int]
    output: Path
    camera: Path | None
    serial: str | None
    panel: str
    device: int | str | None
    picamera: int | None
    phone: bool
    simulate: bool


def add_parser(subparsers: Subparsers) -> None:
    """Add `setup`."""
    what = "set up a table on a page: camera, lens, mat, pieces, start, panel"
    setup = add_command(subparsers, "setup", Options, run, help=what)
    setup.add_argument("game", metavar="GAME[:variant][/n]")
    add_kit(setup)
    setup.add_argument("--web", type=address, default=WEB, metavar="HOST:PORT", help="default: 127.0.0.1:8000")
    setup.add_argument("-o", "--output", type=Path, default=Path(), metavar="DIR", help="where the files are written")
    setup.add_argument(
        "--camera",
        type=Path,
        metavar="CAMERA.toml",
        help=f"a lens that was measured before (default: that of DIR); {AUTO}: find it from the board",
    )
    setup.add_argument("--serial", metavar="URL", help="the pillar controller")
    setup.add_argument("--panel", choices=KINDS, default="terminal", help="what the table shows (default: terminal)")
    source = setup.add_mutually_exclusive_group()
    source.add_argument(
        "--device", type=device_name, metavar="N", help="USB or V4L2 camera: its number or path; rtsp://… or http://…"
    )
    source.add_argument("--picamera", type=int, nargs="?", const=0, metavar="N", help="Raspberry Pi camera module")
    source.add_argument("--phone", action="store_true", help="a phone, by the QR code that is shown; see docs/phone.md")
    source.add_argument("--simulate", action="store_true", help="a simulated table, to try it all")


def run(options: Options) -> int:
    """Serve the page until Ctrl-C, or until somebody starts the match there: then the referee replaces it."""
    cv2.setNumThreads(1)
    game = load_game(options.game)
    kit = open_kit(options.kit, game)
    known = _known_camera(options)
    # Whatever is chosen here: on the page a phone may be chosen.
    proof = certificate_of(None, options.web, has_phones=not options.simulate)
    announcer = open_panel(options.panel, game.players, sys.stdout)
    cues = {} if options.panel == "none" else _cues(announcer, game)
    levels = ground_levels(kit, game, game.start())
    keys = _keys(options, has_tls=proof is not None)
    config = SetupConfig(game, kit, options.output, keys, cues, _sensors(options, kit), levels)
    token = new_token()
    access = PhoneAccess(code_of(token, 1))
    phone_cameras = PhoneCameraRoutes([access], lambda: token, notify, note=lambda: session.note())  # noqa: PLW0108 - is made after it
    session = _open_session(options, config, phone_cameras)
    try:
        if known is not None:
            session.use_camera(known)
        if (chosen := _chosen(options)) is not None:
            session.choose(chosen)
        page = SetupPage(options.web, session, token, proof, phone_cameras.routes())
        notify(page.notice if proof is None else f"{page.notice}\ncertificate, SHA-256: {proof.fingerprint}")
        if options.phone:
            show_code(page.server, 1, access.code)
        notify("Ctrl-C when you are done.")
        try:
            wants_match = wait_for_interrupt(session.wants_match)
        finally:
            page.close()
    finally:
        session.close()
        announcer.close()
    if wants_match:
        # It replaces this process: camera, panel and address are free again, and the set-up uses no memory any more.
        words = [sys.executable, "-m", "companion.cli", "referee", str(options.output / TABLE_FILE)]
        os.execve(sys.executable, words, os.environ | {HANDOVER_VARIABLE: token})  # noqa: S606 - no shell, and our own words
    return DONE


def _open_session(options: Options, config: SetupConfig, phone_cameras: PhoneCameraRoutes) -> SetupSession:
    """The set-up session of a simulated table, or one with a choice of cameras."""
    if options.simulate:
        photographer = Photographer(config.kit, config.game)
        return SetupSession(config, photographer, photographer.show)
    boards = tuple(Choice(MODULE, str(number)) for number in parse_camera_modules(list_camera_modules()))

    def found() -> tuple[Choice, ...]:
        return (*(Choice(DEVICE, path) for path in find_devices(CAMERAS)), *boards)

    return SetupSession(config, Missing(), cameras=Cameras(found, partial(_opened, phone_cameras)))


def _opened(phone_cameras: PhoneCameraRoutes, choice: Choice, known: Camera | None) -> Opened:
    """Open the camera that was chosen.  Raises SourceLost."""
    camera = known or Camera(*SIZE, np.eye(3), np.zeros(5), 0.0)
    phone_cameras.look(())
    device: Device
    if choice.kind == PHONE:
        device = phone = PhoneCamera("phone 1", known.size if known else None)
        phone_cameras.look([phone])
        keys = {"phone": "true"}
    elif choice.kind == MODULE:
        device, keys = PiCamera(int(choice.name), camera), {"picamera": choice.name}
    else:
        name = int(choice.name) if choice.name.isdecimal() else choice.name
        device = named_camera(name, camera)
        keys = {"device": str(name) if isinstance(name, int) else _quoted(without_login(name))}
    return Opened(LiveSource([device], notify), keys)


def _chosen(options: Options) -> Choice | None:
    """The camera that the options name."""
    if options.phone:
        return Choice(PHONE)
    if options.picamera is not None:
        return Choice(MODULE, str(options.picamera))
    if options.device is None:
        return None
    return Choice(ADDRESS if is_address(options.device) else DEVICE, str(options.device))


def _known_camera(options: Options) -> Camera | None:
    """The camera calibrated before, from the option or in the folder."""
    if options.camera == AUTO:
        return None
    if options.camera is not None:
        return read_camera(options.camera)
    written = options.output / CAMERA_FILE
    return read_camera(written) if written.is_file() and not options.simulate else None


def _keys(options: Options, *, has_tls: bool) -> Mapping[str, str]:
    """The keys of table.toml for the options except the camera, as TOML text by key."""
    keys = {}
    if options.kit is not None:
        keys["kit"] = _quoted(str(Path(options.kit).absolute()) if Path(options.kit).exists() else options.kit)
    if options.simulate:
        keys["simulate"] = "true"
    if options.serial is not None:
        keys["serial"] = _quoted(options.serial)
    # The match's page replaces this one at the same address.
    if has_tls:
        keys["tls"] = "true"
    return keys | {"panel": _quoted(options.panel), "web": _quoted("{}:{}".format(*options.web))}


def _quoted(text: str) -> str:
    """A TOML basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _cues(announcer: Announcer, game: Game) -> Mapping[str, Callable[[], None]]:
    """What the panel can show for a trial, by name."""
    start = game.start()
    mover, position = start.to_move, format_position(game, start)
    cell = game.layout.cells[0]
    reason = "this is only a trial."
    events: Mapping[str, Event] = {
        "accepted": Accepted(t=0.0, n=1, player=mover, move="a1-a2", position=position),
        "illegal": Illegal(
            t=0.0, n=1, player=mover, attempt=None, rules=("G-2",), reason=reason, cells=(cell,), seen="", expected=""
        ),
        "question": Unsure(t=0.0, n=1, options=(), question="This is only a trial."),
        "game-over": GameOver(t=0.0, n=1, winner=mover, rule="trial", position=position),
    }
    return {name: partial(announcer.tell, event) for name, event in events.items()}


def _sensors(options: Options, kit: Kit) -> Callable[[], str] | None:
    """Returns the pillar controller's present state as text; None if there are no pillars."""
    if kit.pillars is None:
        return None
    if not options.serial:
        return lambda: "none connected; give --serial"
    pillars, begun_s = Pillars(LinkSensors(options.serial, kit), kit), time.monotonic()

    def report() -> str:
        moving = pillars.moving(time.monotonic() - begun_s)
        levels = pillars.levels(())
        if levels is None:
            return pillars.state or "nothing heard yet"
        stands = " ".join("?" if level is None else str(level) for level in levels)
        faulty = f"; at fault: {', '.join(pillars.faulty)}" if pillars.faulty else ""
        return f"{pillars.state}{', moving' if moving else ''}; levels {stands}{faulty}"

    return report
