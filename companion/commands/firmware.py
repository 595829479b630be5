"""`companion firmware`: the controller's firmware without a controller, and a word with a real one."""

from __future__ import annotations

import argparse
import bisect
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from calibration.kit import Kit, load_kit
from companion.app.sensors import levels_of, read_heights
from companion.errors import BadText, CompanionError
from firmware_bridge.errors import BridgeError
from firmware_bridge.firmware import wire
from firmware_bridge.firmware.controller import FIRMWARE
from firmware_bridge.link import Link
from firmware_bridge.session import Connected, Event, Refused, Sample
from firmware_bridge.simulated.bench import Bench, Heights
from firmware_bridge.simulated.device import Device, Host, InProcess
from firmware_bridge.simulated.faults import NAMES, parse_fault
from firmware_bridge.simulated.micropython import UnderMicroPython
from firmware_bridge.simulated.port import Port, serve

OWN_NOISE_MM = 0.3
"""What a good pot adds to the heights of ``--levels``; those of a file have their noise already."""

SETTLED_S = 0.5
"""So long a controller is listened to: after it is started, or a cable is moved, its filters need some scans."""

ANSWER_S = 3.0
"""A controller that is there has answered long before."""

INTERPRETERS: Mapping[str, Callable[[Bench], Host]] = {"cpython": InProcess, "micropython": UnderMicroPython}

ENDS = {"lowest": wire.AT_LOWEST, "highest": wire.AT_HIGHEST}

ENDINGS = {
    wire.BAD_VALUE: "it does not know this request; update its firmware",
    wire.NOT_PLAUSIBLE: "the pillars do not stand so: set all of them, first to the lowest level, then to the highest",
    wire.NOT_STORED: "its flash cannot be written; flash the firmware anew",
}


def add_parsers(subparsers: Any) -> None:
    """Add `firmware`."""
    firmware = subparsers.add_parser(
        "firmware", help="run the pillar controller's firmware here, or talk to a real one"
    )
    heights = firmware.add_mutually_exclusive_group(required=True)
    heights.add_argument("--levels", metavar="N,…", help="25 levels a1, b1, … e5, or as in a position, or one for all")
    heights.add_argument("--csv", type=Path, metavar="FILE", help="heights over time, as in a recording's sensors.csv")
    heights.add_argument("--serial", metavar="URL", help="a real controller: say how it is, or calibrate it")
    firmware.add_argument("--link", type=Path, metavar="PATH", help="name of the pseudo-terminal")
    firmware.add_argument(
        "--fault",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME[:CELL]@T[+D]",
        help=f"something goes wrong T seconds after the host first speaks, for D seconds: {', '.join(NAMES)}",
    )
    firmware.add_argument("--on", choices=INTERPRETERS, default="cpython", help="what runs it (default: cpython)")
    firmware.add_argument("--calibrate", choices=ENDS, help="with --serial: all pillars stand at this level now")
    firmware.add_argument("--kit", default="diamond", help="name or file of the kit (default: diamond)")
    firmware.set_defaults(run=run_firmware)


def run_firmware(arguments: argparse.Namespace) -> int:
    """`companion firmware`."""
    kit = load_kit(arguments.kit)
    try:
        if arguments.serial:
            return _talk(arguments, kit)
        _run(arguments, kit)
    except BridgeError as error:
        raise CompanionError(str(error)) from error
    return 0


def _run(arguments: argparse.Namespace, kit: Kit) -> None:
    """Serve the firmware until somebody ends it."""
    if arguments.link is None:
        raise CompanionError("--link is missing: give the name that the pseudo-terminal shall have")
    if arguments.calibrate:
        raise CompanionError("--calibrate is for a real controller: give it with --serial")
    faults = [parse_fault(text) for text in arguments.fault]
    heights = _of_file(arguments.csv, kit) if arguments.csv else _of_levels(arguments.levels, kit)
    at = levels_of(kit)
    low_mm, high_mm = (at.base_mm + at.step_mm * level for level in (at.lowest, at.highest))
    bench = Bench(heights(0.0), low_mm, high_mm, noise_mm=0.0 if arguments.csv else OWN_NOISE_MM)
    device = Device(bench, heights, faults, INTERPRETERS[arguments.on](bench))
    over = threading.Event()
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, lambda *_: over.set())
    port = Port(arguments.link)
    print(f"firmware {'.'.join(map(str, FIRMWARE))} on {arguments.on} at {arguments.link}", flush=True)
    serve(device, port, over.is_set)


def _of_levels(text: str, kit: Kit) -> Heights:
    """Pillars that stand still.  Raises BadText."""
    at = levels_of(kit)
    ranks = [rank.split(",") for rank in text.split("/")]
    words = [word for rank in reversed(ranks) for word in rank]
    if len(words) == 1:
        words *= len(kit.cells)
    allowed = {str(level): level for level in range(at.lowest, at.highest + 1)}
    wrong = next((word for word in words if word not in allowed), None)
    if wrong is not None or len(words) != len(kit.cells):
        found = f"{len(words)} of them" if wrong is None else repr(wrong)
        raise BadText(f"--levels: expected {len(kit.cells)} levels from {at.lowest} to {at.highest}, found {found}")
    heights = [at.base_mm + at.step_mm * allowed[word] for word in words]
    return lambda _: heights


def _of_file(path: Path, kit: Kit) -> Heights:
    """Pillars that stand as a file says at each time; a field that is empty stays as it was.  Raises SourceError."""
    rows = read_heights(path, kit.cells)
    if not rows:
        raise CompanionError(f"{path}: holds no row of heights")
    times = [row.t_s for row in rows]
    before = [levels_of(kit).base_mm] * len(kit.cells)
    filled: list[Sequence[float]] = []
    for row in rows:
        before = [was if mm is None else mm for mm, was in zip(row.heights_mm, before, strict=True)]
        filled.append(before)
    return lambda t_s: filled[max(0, bisect.bisect_right(times, t_s) - 1)]


def _talk(arguments: argparse.Namespace, kit: Kit) -> int:
    """Ask a real controller how it is, or calibrate it; exit code 1 when it says no."""
    link = Link(arguments.serial, levels_of(kit))
    try:
        welcome = _answer(link, Connected, arguments.serial).welcome
        version = ".".join(map(str, welcome.firmware))
        print(f"{arguments.serial}: firmware {version}, protocol {welcome.major}.{welcome.minor}")
        if arguments.calibrate:
            link.request(wire.Calibrate(ENDS[arguments.calibrate]))
            ending = _answer(link, wire.Done, arguments.serial).code
            if ending != wire.DONE:
                print(f"not calibrated: {ENDINGS[ending]}", file=sys.stderr)
                return 1
            print("noted" if arguments.calibrate == "lowest" else "calibrated and stored")
            return 0
        link.request(wire.AskStatus())
        status = _answer(link, wire.Status, arguments.serial)
        sample = _settled(link, arguments.serial)
    finally:
        link.close()
    print("\n".join(_told(sample, status, welcome, kit)))
    return 1 if any(sample.faults) else 0


def _settled(link: Link, url: str) -> Sample:
    """What the pillars are once they have been listened to for :data:`SETTLED_S`.  Raises CompanionError."""
    end_s = time.monotonic() + SETTLED_S
    sample: Sample = _answer(link, Sample, url)
    while time.monotonic() < end_s:
        sample = _answer(link, Sample, url)
    return sample


def _answer(link: Link, kind: Any, url: str) -> Any:
    """The next event of a kind.  Raises CompanionError when none comes, or the controller is refused."""
    end_s = time.monotonic() + ANSWER_S
    while time.monotonic() < end_s:
        events: tuple[Event, ...] = link.take()
        for event in events:
            if isinstance(event, kind):
                return event
            if isinstance(event, Refused):
                raise CompanionError(f"--serial {url}: {event.why}")
        time.sleep(0.01)
    raise CompanionError(f"--serial {url}: no pillar controller answers there; is its firmware flashed?")


def _told(sample: Sample, status: wire.Status, welcome: wire.Welcome, kit: Kit) -> list[str]:
    """How a controller is, for people: the board as it lies, then what is wrong."""
    files = kit.board.files
    told = [f"{mm:5.1f} mm" for mm in sample.heights_mm]
    lines = ["  ".join(told[first : first + files]) for first in reversed(range(0, len(told), files))]
    lines.append(f"scan {status.scan_us / 1000:.1f} ms, worst {status.worst_scan_us / 1000:.1f} ms")
    if not welcome.calibration:
        lines.append("not calibrated: heights may be off by some millimetres; see docs/pillars.md")
    pairs = zip(kit.cells, sample.faults, strict=True)
    return lines + [f"{cell}: {wire.FAULTS[fault]}" for cell, fault in pairs if fault]
