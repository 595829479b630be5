"""The pillar controller at a table: the option ``--serial``, a recording's own sensors, a simulated controller."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence

from calibration.kit import Kit
from companion.app.pillars import Pillars, PillarSource
from companion.app.sensors import FILE, FileSensors, LinkSensors, ServedSensors, SteppedSensors
from companion.errors import CompanionError
from companion.simulate.placement import make_rng
from companion.simulate.table import SimulatedTable
from firmware_bridge.simulated.bench import Bench
from firmware_bridge.simulated.device import Device
from firmware_bridge.simulated.faults import Fault
from vision.capture.frames import Frame, FrameSource, Outage
from vision.capture.recording import Recording

OWN_NOISE_MM = 0.3
"""Noise of a simulated potentiometer, in addition to the converter's."""


def add_serial(parser: argparse.ArgumentParser) -> None:
    """Add ``--serial``."""
    parser.add_argument(
        "--serial",
        type=port,
        metavar="URL",
        help="the pillar controller: a device path, or any URL that pyserial knows",
    )


def port(text: str) -> str:
    """Parse a device path or URL, for argparse; an empty one is refused as a setting that was forgotten."""
    if not text.strip():
        raise argparse.ArgumentTypeError("give a device path, such as /dev/pillars, or leave it out")
    return text


def open_pillars(url: str | None, kit: Kit, recordings: Sequence[Recording]) -> Pillars | None:
    """The pillars of a table if they are measured, by the controller at ``url`` or in a recording's file; else None.

    Raises CompanionError when they cannot be reached.
    """
    if url:
        if kit.pillars is None:
            raise CompanionError(f"--serial: the kit {kit.name} has no pillars; leave it out")
        return Pillars(LinkSensors(url, kit), kit)
    file = recordings[0].folder / FILE if recordings else None
    if kit.pillars is None or file is None or not file.is_file():
        return None
    return Pillars(FileSensors(file, kit.cells), kit)


def simulated_pillars(
    table: SimulatedTable, kit: Kit, seed: int, *, in_real_time: bool, faults: Sequence[Fault] = ()
) -> Pillars | None:
    """The pillars of a simulated table, measured by the real firmware; None for a kit without pillars.

    In real time the firmware runs behind a pseudo-terminal; else it is stepped with the frames, deterministically.
    """
    if kit.pillars is None:
        return None
    pillars = kit.pillars

    def heights_mm(_: float) -> list[float]:
        return [pillars.base_mm + pillars.step_mm * level for level in table.levels]

    low_mm, high_mm = (pillars.base_mm + pillars.step_mm * level for level in (pillars.lowest, pillars.highest))
    bench = Bench(heights_mm(0.0), low_mm, high_mm, noise_mm=OWN_NOISE_MM, rng=make_rng("pots", seed))
    device = Device(bench, heights_mm, faults)
    source: PillarSource = ServedSensors(device, kit) if in_real_time else SteppedSensors(device, kit)
    return Pillars(source, kit)


class PacedSource:
    """Plays a recording in real time, since a controller on a serial line cannot run faster."""

    def __init__(self, source: FrameSource) -> None:
        self._source = source

    def frames(self) -> Iterator[Frame | Outage]:
        """The frames of the source, each not before its time."""
        begun: float | None = None
        for frame in self._source.frames():
            begun = time.monotonic() - frame.t_s if begun is None else begun
            time.sleep(max(0.0, begun + frame.t_s - time.monotonic()))
            yield frame

    def close(self) -> None:
        """Close the source."""
        self._source.close()
