"""The start position as it is read, against what it should be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vision.pose.projection import Registration
from vision.reading import Reading


@dataclass(frozen=True, eq=False)
class Checked:
    """The start position as it is read: squares with what they should hold, and what is seen."""

    reading: Reading
    pose: Registration
    rows: tuple[dict[str, Any], ...]

    @property
    def wrong(self) -> tuple[str, ...]:
        """The squares that are not right."""
        return tuple(row["cell"] for row in self.rows if not row["right"])


def told(sight: tuple[int | None, str | None]) -> str:
    """A sight in short: ``2R``, nothing for an empty square."""
    height, top = sight
    return "" if top is None else f"{'?' if height is None else height}{top}"
