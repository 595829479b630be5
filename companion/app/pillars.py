"""The pillars of a table as the referee needs them: whether they move, their heights, and faults of their sensors."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from calibration.kit import Kit
from calibration.kit import Pillars as PillarKit
from companion.errors import CompanionError
from companion.referee.sensing import LOST, OK
from companion.rules.board import Cell
from companion.tracker.pillars import Rows, sensor_log_likelihood

SILENT_S = 1.0
"""Without a scan for this long the sensors are lost, whatever the connection reports."""

KEPT_S = 0.6
"""Age of the oldest scans kept; in a calm, the newest say the same as older ones."""

NEWEST, EARLIER_S = 3, (0.15, 0.4)
"""A pillar moves if the median of its newest scans differs from that of scans taken this long before them."""

MOVED_STEPS = 0.4
"""Share of a step that distinguishes movement from noise: 4 mm, while a single measurement errs by 0.8 mm."""

SEATED_STEPS = 0.45
"""A pillar within this share of a step of a level stands at it."""

UNREST_S, REST_S = 3.0, 1.0
"""Nobody turns one pillar for this long without ever letting it rest: its sensor is at fault."""

FRESH_S = 0.2
"""In a calm that has only just begun, a scan no older than this is used."""

Heights = tuple[float | None, ...]
"""For each cell in the kit's order, mm above the mat; None if the sensor cannot tell."""


@dataclass(frozen=True, slots=True)
class Scan:
    """All heights at ``t_s``, in the frames' time, and the names of the cells whose sensors report a fault."""

    t_s: float
    heights_mm: Heights
    faulty: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Silence:
    """The controller does not answer; ``why`` is for people."""

    why: str


class PillarSource(Protocol):
    """Where heights come from: a controller, a recording or a simulated table."""

    def take(self, t_s: float) -> Sequence[Scan | Silence]:
        """All that has come since the last call, up to the frame at ``t_s``, in order.  Raises CompanionError."""
        ...

    def close(self) -> None:
        """Release port or file; closing twice is fine."""
        ...


class Pillars:
    """Watches the pillars of one kit, frame by frame.

    ``frame_sink`` is given every scan; ``turning`` are the pillars that moved in the newest frame.
    """

    def __init__(self, source: PillarSource, kit: Kit) -> None:
        """Raises CompanionError for a kit without pillars."""
        if kit.pillars is None:
            raise CompanionError(f"the kit {kit.name} has no pillars; leave out --serial")
        self._source, self._kit, self._cells = source, kit.pillars, kit.cells
        self._scans: deque[Scan] = deque()
        self._calm_s = self._heard_s = self._now_s = 0.0
        self._restless: dict[Cell, tuple[float, float]] = {}
        self._reported: tuple[str, ...] = ()
        self.state, self.turning = "", frozenset[Cell]()
        self.frame_sink: Callable[[float, Heights], None] | None = None

    def moving(self, t_s: float) -> bool:
        """Take what has come up to the frame at ``t_s``; whether a pillar moves."""
        self._now_s = t_s
        for news in self._source.take(t_s):
            if isinstance(news, Silence):
                self._forget()
            else:
                self._scans.append(news)
                if self.frame_sink is not None:
                    self.frame_sink(news.t_s, news.heights_mm)
                self._heard_s, self._reported, self.state = news.t_s, news.faulty, OK
        while self._scans and self._scans[0].t_s < t_s - KEPT_S:
            self._scans.popleft()
        if t_s - self._heard_s >= SILENT_S:
            self._forget()
        moved = self._moved()
        began = {cell: self._restless.get(cell, (t_s, t_s))[0] for cell in moved}
        resting = {cell: times for cell, times in self._restless.items() if t_s - times[1] < REST_S}
        self._restless = resting | {cell: (since_s, t_s) for cell, since_s in began.items()}
        self.turning = frozenset(cell for cell, since_s in began.items() if t_s - since_s < UNREST_S)
        return bool(self.turning)

    def disturbed(self) -> None:
        """Note that something moved in this frame: earlier measurements say nothing about the calm that may follow."""
        self._calm_s = self._now_s

    @property
    def faulty(self) -> tuple[str, ...]:
        """Names of the cells whose sensors are at fault."""
        restless = {self._cells[cell] for cell in self._broken()}
        return tuple(name for name in self._cells if name in restless or name in self._reported)

    def sensed(self) -> Rows | None:
        """(n, l) log-likelihood of each pillar's levels, with one beyond the highest, in this calm; None: unknown."""
        heights = self._heights()
        if heights is None:
            return None
        kit = self._kit
        return sensor_log_likelihood(heights, levels_mm(kit), kit.sensor_noise_mm)

    def levels(self, doubted: Collection[Cell]) -> tuple[int | None, ...] | None:
        """The level of each pillar, None for the ``doubted`` and those at no level; None: nothing is known at all.

        Every height above the highest level counts as the next one.
        """
        heights = self._heights()
        if heights is None:
            return None
        return tuple(None if cell in doubted else self._level(height) for cell, height in enumerate(heights))

    def close(self) -> None:
        """Release the source."""
        self._source.close()

    def _forget(self) -> None:
        """Note that the sensors are lost."""
        self._scans.clear()
        self._reported, self.state = (), LOST

    def _broken(self) -> set[Cell]:
        """The pillars that have been restless for too long."""
        return {cell for cell, (since_s, _) in self._restless.items() if self._now_s - since_s >= UNREST_S}

    def _heights(self) -> Heights | None:
        """The median of each pillar's measurements in this calm."""
        scans = [scan for scan in self._scans if scan.t_s > self._calm_s]
        if not scans and self._scans and self._now_s - self._scans[-1].t_s <= FRESH_S:
            scans = [self._scans[-1]]
        if not scans:
            return None
        broken = self._broken()
        middle = _middle(scans)
        return tuple(None if np.isnan(mm) or cell in broken else float(mm) for cell, mm in enumerate(middle))

    def _moved(self) -> list[Cell]:
        """The pillars that are not where they were a moment ago."""
        newest = list(self._scans)[-NEWEST:]
        if len(newest) < NEWEST:
            return []
        soonest, latest = (newest[-1].t_s - ago_s for ago_s in EARLIER_S)
        earlier = [scan for scan in self._scans if latest <= scan.t_s <= soonest]
        if not earlier:
            return []
        way = np.abs(_middle(newest) - _middle(earlier))
        return [int(cell) for cell in np.flatnonzero(way > MOVED_STEPS * self._kit.step_mm)]

    def _level(self, height: float | None) -> int | None:
        if height is None:
            return None
        kit = self._kit
        steps = (height - kit.base_mm) / kit.step_mm
        level = max(round(steps), kit.lowest)
        if level > kit.highest:
            return kit.highest + 1
        return level if abs(steps - level) <= SEATED_STEPS else None


def levels_mm(kit: PillarKit) -> tuple[float, ...]:
    """Heights of the levels from 0 to one beyond the highest, to which a pillar may be raised illegally."""
    return tuple(kit.base_mm + level * kit.step_mm for level in range(kit.highest + 2))


def _middle(scans: Sequence[Scan]) -> npt.NDArray[np.float64]:
    """(n,) median height of each cell; NaN where no scan has one."""
    heights = np.array([scan.heights_mm for scan in scans], dtype=np.float64)
    known = ~np.isnan(heights).all(axis=0)
    result = np.full(heights.shape[1], np.nan)
    result[known] = np.nanmedian(heights[:, known], axis=0)
    return result
