"""`companion firmware`: runs the controller's firmware without a controller, or talks to a real one."""

from __future__ import annotations

import bisect
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from calibration.kit import Kit, load_kit
from companion.app.sensors import levels_of, read_heights
from companion.commands.options.parser import OptionGroup, Subparsers, add_command
from companion.commands.output.codes import DONE, NO
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
"""Noise that a good potentiometer adds to the heights of ``--levels``; those of a file have theirs already."""

SETTLED_S = 0.5
"""Time for which a controller is read: after a start, or when a cable was moved, its filters need some scans."""

ANSWER_S = 3.0
"""Timeout for an answer: a working controller answers long before."""

INTERPRETERS: Mapping[str, Callable[[Bench], Host]] = {"cpython": InProcess, "micropython": UnderMicroPython}

ENDS = {"lowest": wire.AT_LOWEST, "highest": wire.AT_HIGHEST}

ENDINGS = {
    wire.BAD_VALUE: "it does not know this request; update its firmware",
    wire.NOT_PLAUSIBLE: "the pillars do not stand so: set all of them, first to the lowest level, then to the highest",
    wire.NOT_STORED: "its flash cannot be written; flash the firmware anew",
}


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """Options of `companion firmware`; exactly one of ``levels``, ``csv`` and ``serial`` is given."""

    levels: str | None
    csv: Path | None
    serial: str | None
    link: Path | None
    fault: tuple[str, ...]
    on: str
    calibrate: str | None
    kit: str


def add_parser(subparsers: Subparsers) -> None:
    """Add `firmware`."""
    what = "run the pillar controller's firmware here, or talk to a real one"
    firmware = add_command(subparsers, "firmware", Options, run, help=what)
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


def run(options: Options) -> int:
    """Serve the firmware, or talk to a controller."""
    kit = load_kit(options.kit)
    try:
        if options.serial:
            return _talk(options.serial, options.calibrate, kit)
        _serve(options, kit)
    except BridgeError as error:
        raise CompanionError(str(error)) from error
    return DONE


def _serve(options: Options, kit: Kit) -> None:
    """Serve the firmware until it is interrupted."""
    if options.link is None:
        raise CompanionError("--link is missing: give the name that the pseudo-terminal shall have")
    if options.calibrate:
        raise CompanionError("--calibrate is for a real controller: give it with --serial")
    faults = [parse_fault(text) for text in options.fault]
    heights = _of_file(options.csv, kit) if options.csv else _of_levels(options.levels or "", kit)
    at = levels_of(kit)
    low_mm, high_mm = (at.base_mm + at.step_mm * level for level in (at.lowest, at.highest))
    bench = Bench(heights(0.0), low_mm, high_mm, noise_mm=0.0 if options.csv else OWN_NOISE_MM)
    device = Device(bench, heights, faults, INTERPRETERS[options.on](bench))
    over = threading.Event()
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, lambda *_: over.set())
    port = Port(options.link)
    print(f"firmware {'.'.join(map(str, FIRMWARE))} on {options.on} at {options.link}", flush=True)
    serve(device, port, over.is_set)


def _of_levels(text: str, kit: Kit) -> Heights:
    """Heights of pillars that do not move.  Raises BadText."""
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
    """Heights over time from a file; an empty field keeps the height before.  Raises SourceError."""
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


def _talk(url: str, calibrate: str | None, kit: Kit) -> int:
    """Show the state of a real controller, or calibrate it; exit code 1 if it refuses."""
    link = Link(url, levels_of(kit))
    try:
        welcome = _answer(link, Connected, url).welcome
        version = ".".join(map(str, welcome.firmware))
        print(f"{url}: firmware {version}, protocol {welcome.major}.{welcome.minor}")
        if calibrate:
            link.request(wire.Calibrate(ENDS[calibrate]))
            ending = _answer(link, wire.Done, url).code
            if ending != wire.DONE:
                print(f"not calibrated: {ENDINGS[ending]}", file=sys.stderr)
                return NO
            print("noted" if calibrate == "lowest" else "calibrated and stored")
            return DONE
        link.request(wire.AskStatus())
        status = _answer(link, wire.Status, url)
        sample = _settled(link, url)
    finally:
        link.close()
    print("\n".join(_report(sample, status, welcome, kit)))
    return NO if any(sample.faults) else DONE


def _settled(link: Link, url: str) -> Sample:
    """The sample after the pillars have been read for :data:`SETTLED_S`.  Raises CompanionError."""
    end_s = time.monotonic() + SETTLED_S
    sample = _answer(link, Sample, url)
    while time.monotonic() < end_s:
        sample = _answer(link, Sample, url)
    return sample


Answer = TypeVar("Answer", Connected, Sample, wire.Done, wire.Status)


def _answer(link: Link, kind: type[Answer], url: str) -> Answer:
    """The next event of one kind.  Raises CompanionError when none comes, or the controller is refused."""
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


def _report(sample: Sample, status: wire.Status, welcome: wire.Welcome, kit: Kit) -> list[str]:
    """Lines on a controller's state for people: heights laid out like the board, then what is wrong."""
    files = kit.board.files
    heights = [f"{mm:5.1f} mm" for mm in sample.heights_mm]
    lines = ["  ".join(heights[first : first + files]) for first in reversed(range(0, len(heights), files))]
    lines.append(f"scan {status.scan_us / 1000:.1f} ms, worst {status.worst_scan_us / 1000:.1f} ms")
    if not welcome.calibration:
        lines.append("not calibrated: heights may be off by some millimetres; see docs/pillars.md")
    pairs = zip(kit.cells, sample.faults, strict=True)
    return lines + [f"{cell}: {wire.FAULTS[fault]}" for cell, fault in pairs if fault]
