"""Compares the start position as read with what it should be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from companion.rules.board import Sight
from vision.pose.projection import Registration
from vision.reading import Reading


@dataclass(frozen=True, eq=False)
class StartCheck:
    """The start position as read: each square with what it should hold, and what is seen."""

    reading: Reading
    pose: Registration
    rows: tuple[dict[str, Any], ...]

    @property
    def wrong(self) -> tuple[str, ...]:
        """The squares that are not right."""
        return tuple(row["cell"] for row in self.rows if not row["right"])


def compare(reading: Reading, pose: Registration, wanted: Mapping[str, Sight], levels: tuple[int, ...]) -> StartCheck:
    """Compare a reading with the sight that each cell should give, and with the ``levels`` of its pillars, if any."""
    rows = []
    for i, cell in enumerate(reading.cells):
        sight, p = reading.best(i)
        expected, seen = format_seen(wanted[cell]), format_seen(sight)
        if reading.levels and levels:
            expected, seen = f"{expected}@{levels[i]}", f"{seen}@{reading.levels[i]}"
        row = {"cell": cell, "expected": expected, "seen": seen, "p": round(p, 3), "right": expected == seen}
        rows.append(row)
    return StartCheck(reading, pose, tuple(rows))


def format_seen(sight: Sight) -> str:
    """A sight in short notation, such as ``2R``; an empty text for an empty square."""
    height, top = sight
    return "" if top is None else f"{'?' if height is None else height}{top}"
