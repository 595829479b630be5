"""Sources of pillar heights: a controller on a serial line, a recording's file, a simulated controller."""

from __future__ import annotations

import csv
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from calibration.files import number, read_text
from calibration.kit import Kit
from companion.app.pillars import Scan, Silence
from companion.errors import CompanionError, SourceError
from firmware_bridge.errors import BridgeError
from firmware_bridge.firmware import wire
from firmware_bridge.link import Link
from firmware_bridge.session import Event, Levels, Lost, Refused, Sample, Session
from firmware_bridge.simulated.device import Device
from firmware_bridge.simulated.port import Port, serve

FILE = "sensors.csv"
"""The file's name in the folder of a recording."""

AHEAD_S = 0.03
"""A scan and a frame no further apart than this are of the same moment."""

STEP_S = 0.01
"""A simulated controller is advanced by this much at a time; its own steps are twice as long."""


def levels_of(kit: Kit) -> Levels:
    """The levels of a kit, which its controller must know.  Raises CompanionError for one without pillars."""
    if kit.pillars is None:
        raise CompanionError(f"the kit {kit.name} has no pillars")
    pillars = kit.pillars
    return Levels(pillars.base_mm, pillars.step_mm, pillars.lowest, pillars.highest)


class FileSensors:
    """The ``sensors.csv`` of a recording: ``t_s`` and a height in mm a cell; an empty field is a sensor that failed."""

    def __init__(self, path: Path, cells: Sequence[str]) -> None:
        """Raises SourceError that names file and line."""
        self._scans = read_heights(path, cells)
        self._next = 0

    def take(self, t_s: float) -> Sequence[Scan]:
        """The rows up to ``t_s``."""
        begun = self._next
        while self._next < len(self._scans) and self._scans[self._next].t_s <= t_s:
            self._next += 1
        return self._scans[begun : self._next]

    def close(self) -> None:
        """Do nothing: no file is open."""


def read_heights(path: Path, cells: Sequence[str]) -> tuple[Scan, ...]:
    """The rows of a ``sensors.csv``.  Raises SourceError that names file and line."""
    try:
        table = csv.DictReader(read_text(path).splitlines())
        names, rows = table.fieldnames or (), list(table)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or error
        raise SourceError(f"{path}: cannot be read ({why})") from error
    missing = {"t_s", *cells} - set(names)
    if missing:
        raise SourceError(f"{path}: line 1: the column {sorted(missing)[0]} is missing; expected t_s and all cells")
    scans: list[Scan] = []
    for line, row in enumerate(rows, start=2):
        try:
            scan = Scan(number(row["t_s"]), tuple(number(row[cell]) if row[cell] != "" else None for cell in cells))
        except (TypeError, ValueError):
            raise SourceError(f"{path}: line {line}: expected a number in each of {len(cells) + 1} columns") from None
        if scans and scan.t_s < scans[-1].t_s:
            raise SourceError(f"{path}: line {line}: its time is before that of the line above")
        scans.append(scan)
    return tuple(scans)


class LinkSensors:
    """A controller on a serial line, its scans converted to the frames' time."""

    def __init__(self, url: str, kit: Kit, clock: Callable[[], float] = time.monotonic) -> None:
        """Open the port.  Raises CompanionError if it cannot be opened now."""
        self._url, self._clock, self._cells = url, clock, kit.cells
        self._behind_s = float("inf")
        self._was_heard = False
        self._waiting: deque[Scan | Silence] = deque()
        try:
            self._link = Link(url, levels_of(kit), clock)
        except BridgeError as error:
            raise CompanionError(f"--serial {error}") from error

    def take(self, t_s: float) -> Sequence[Scan | Silence]:
        """The scans up to ``t_s``: a frame that has waited long must not be judged by later measurements.

        Raises CompanionError if it is not a controller that this program can talk to.
        """
        # The frame that arrived soonest after it was taken gives the offset between the two clocks.
        self._behind_s = min(self._behind_s, self._clock() - t_s)
        for event in self._link.take():
            if isinstance(event, Refused) and not self._was_heard:
                raise CompanionError(f"--serial {self._url}: {event.why}")
            self._waiting.extend(scans_of(event, self._cells, self._behind_s))
        self._was_heard = self._was_heard or bool(self._waiting)
        found: list[Scan | Silence] = []
        while self._waiting and _time(self._waiting[0], t_s) <= t_s + AHEAD_S:
            found.append(self._waiting.popleft())
        return found

    def close(self) -> None:
        """Release the port."""
        self._link.close()


def _time(news: Scan | Silence, now_s: float) -> float:
    return news.t_s if isinstance(news, Scan) else now_s


class SteppedSensors:
    """A simulated controller with the real firmware, advanced in the frames' time: no clock, no port."""

    def __init__(self, device: Device, kit: Kit) -> None:
        self._device, self._cells = device, kit.cells
        self._session = Session(levels_of(kit))
        self._session.opened(0.0)
        self._now_s = 0.0
        self._sent = b""

    def take(self, t_s: float) -> Sequence[Scan | Silence]:
        """Run it until ``t_s`` and return its scans."""
        events: list[Event] = []
        while self._now_s < t_s:
            self._now_s = min(self._now_s + STEP_S, t_s)
            events += self._session.receive(self._device.run(self._now_s, self._sent), self._now_s)
            self._sent, silences = self._session.tick(self._now_s)
            events += silences
        return [scan for event in events for scan in scans_of(event, self._cells, 0.0)]

    def close(self) -> None:
        """End the controller."""
        self._device.close()


class ServedSensors(LinkSensors):
    """A simulated controller behind a pseudo-terminal in real time, with the port that a real one would have."""

    def __init__(self, device: Device, kit: Kit) -> None:
        """Raises CompanionError if no pseudo-terminal can be made."""
        self._folder = tempfile.TemporaryDirectory(prefix="pillars")
        self._over = threading.Event()
        path = Path(self._folder.name) / "pillars"
        try:
            port = Port(path)
        except BridgeError as error:
            raise CompanionError(str(error)) from error
        self._thread = threading.Thread(target=serve, args=(device, port, self._over.is_set), name="firmware")
        self._thread.start()
        try:
            super().__init__(str(path), kit)
        except CompanionError:
            self._end()
            raise

    def close(self) -> None:
        """Release the port and end the controller."""
        super().close()
        self._end()

    def _end(self) -> None:
        self._over.set()
        self._thread.join()
        self._folder.cleanup()


def scans_of(event: Event, cells: Sequence[str], behind_s: float) -> tuple[Scan | Silence, ...]:
    """What an event of the controller means to a table whose time is ``behind_s`` behind the host's."""
    if isinstance(event, Lost | Refused):
        return (Silence(event.why),)
    if not isinstance(event, Sample):
        return ()
    if event.board & wire.SUPPLY_OFF:
        return (Silence("the pots have no supply"),)
    # A pillar between two levels stands where it is measured.
    well = tuple(fault in (wire.OK, wire.BETWEEN) for fault in event.faults)
    heights = tuple(mm if is_well else None for mm, is_well in zip(event.heights_mm, well, strict=True))
    faulty = tuple(cell for cell, is_well in zip(cells, well, strict=True) if not is_well)
    return (Scan(event.t_s - behind_s, heights, faulty),)
