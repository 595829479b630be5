"""What the referee knows about the pillars' sensors: what is reported, and what speaks against them.  Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from companion.rules.board import Cell, Layout
from companion.tracker.pillars import Doubts, Rows, fuse, update_doubts
from companion.tracker.scoring import Context

OK, LOST, FAULT = "ok", "lost", "fault"
"""States of the event ``sensors``."""


@dataclass(frozen=True, slots=True)
class Sensing:
    """The sensors of one table.

    Attributes:
        state: OK or LOST as reported; empty before any report, or if there are none.
        faulty: names of the cells whose sensors report faults.
        doubts: what counts against sensors that report none.
        said: what people have been told last, as state and cells.
    """

    state: str = ""
    faulty: tuple[str, ...] = ()
    doubts: Doubts = field(default_factory=dict)
    said: tuple[str, tuple[str, ...]] = ("", ())

    @property
    def doubted(self) -> frozenset[Cell]:
        """The pillars whose sensors the camera contradicts, or has contradicted, unless the camera was overruled."""
        return frozenset(cell for cell, doubt in self.doubts.items() if not doubt.is_overruled)

    @property
    def contradicted(self) -> frozenset[Cell]:
        """The pillars whose sensors still count, though the camera contradicts them.

        What it sees on such a pillar may hold for the level alone that it believes.
        """
        return frozenset(cell for cell in self.doubted if self.doubts[cell].is_trusted)

    @property
    def is_pending(self) -> bool:
        """Whether a clear picture contradicts sensors that still count: the next ones tell which is right."""
        return any(doubt.outweighed and doubt.is_trusted for doubt in self.doubts.values())


def take_news(sensing: Sensing, layout: Layout) -> tuple[Sensing, tuple[str, tuple[str, ...]] | None]:
    """``sensing`` once announced; and the sensors' state and faulty cells to be announced, None if nothing is new."""
    distrusted = {layout.cells[cell] for cell, doubt in sensing.doubts.items() if doubt.is_distrusted}
    cells = tuple(name for name in layout.cells if name in distrusted or name in sensing.faulty)
    now = (FAULT, cells) if sensing.state == OK and cells else (sensing.state, ())
    if now == sensing.said or not sensing.state:
        return sensing, None
    return replace(sensing, said=now), now


def with_contested(sensing: Sensing, context: Context, n: int) -> Context:
    """``context`` of ``n`` cells with the pillars whose sensor and camera contradict each other.

    Doubted lines that move such a pillar are dropped, since that may be a fault of its sensor or of the reading.
    """
    doubted = tuple(
        line for line in context.doubted if not any(move.step and move.target in sensing.doubts for move in line.moves)
    )
    return replace(context, doubted=doubted, contested=frozenset(n + cell for cell in sensing.doubted))


def fuse_levels(
    sensing: Sensing, camera: Rows | None, sensed: Rows | None, accepted: tuple[int, ...], t_s: float
) -> tuple[Sensing, Rows]:
    """The updated doubts, and (n, l) log-likelihoods of the pillars' levels by ``camera`` and ``sensed`` together.

    ``accepted`` are the levels of the last accepted position.
    """
    if sensed is None and camera is None:
        return sensing, np.zeros((len(accepted), 1))
    sensing = replace(sensing, doubts=update_doubts(sensing.doubts, sensed, camera, accepted, t_s))
    return sensing, fuse(sensed, camera, accepted, sensing.doubts)
