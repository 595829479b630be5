"""The sizes of the pieces on a user's own board, and where they are known from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from calibration.kit import Kit
from calibration.piece_sizes import Size, piece_sizes
from companion.web.setup.latest_frame import SetupError
from vision.sizing.sizes import Sizes

UNSIZED = "all squares are right, but the picture does not tell how large the pieces are: measure them and say it below"


@dataclass(frozen=True, slots=True)
class Sizing:
    """What is known about the pieces' sizes.

    Attributes:
        is_given: whether somebody has measured them with a ruler.
        measured: sizes as measured from the start position, for each size that it shows.
    """

    is_given: bool = False
    measured: tuple[Sizes, ...] = ()

    def is_known(self, kit: Kit) -> bool:
        """Whether the sizes of all pieces of ``kit`` are known, so that nobody need be asked."""
        told = {letter for each in self.measured if each.is_known for letter in each.letters}
        return self.is_given or told.issuperset(kind.letter for kind in kit.pieces)

    def row(self, kit: Kit) -> dict[str, Any]:
        """The sizes in mm with which ``kit`` is read, and how they are known, as JSON."""
        kinds = [
            {"letters": each.letters, "shape": each.shape, "width": each.width_mm, "height": each.height_mm}
            for each in piece_sizes(kit.pieces)
        ]
        measured = [_measured(each) for each in self.measured]
        return {"kinds": kinds, "known": self.is_known(kit), "given": self.is_given, "measured": measured}


def _measured(sizes: Sizes) -> dict[str, Any]:
    """Width and height in mm with their standard deviations."""
    return {
        "letters": sizes.letters,
        "told": sizes.is_known,
        "width": round(sizes.width_mm, 1),
        "width_off": round(sizes.width_deviation_mm, 1),
        "height": round(sizes.height_mm, 1),
        "height_off": round(sizes.height_deviation_mm, 1),
    }


def parse_sizes(rows: object) -> Mapping[str, Size]:
    """Width and height in mm by letters, from the rows that a page sends.  Raises SetupError."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise SetupError("give the pieces' sizes")
    told = {}
    for row in rows:
        letters, width, height = (row.get(name) for name in ("letters", "width", "height"))
        if not (isinstance(letters, str) and isinstance(width, int | float) and isinstance(height, int | float | None)):
            raise SetupError("give the pieces' sizes")
        told[letters] = width, height
    return told
