"""Labels of what a pixel may show: floor, table, faces and sides of pieces and of terrain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

OPEN_SHARES = (1.0, 0.7, 0.45, 0.2)
"""Shares of the sky for which the looks of terrain and pillars are drawn: in a pit it is darker."""


@dataclass(frozen=True, slots=True)
class Materials:
    """Numbers of the table's columns for a kit whose pieces have so many ``colours``.

    FLOOR: bare square or paper.  TABLE: what lies outside the mat.  STANDING: a side that is known to be there, of
    whatever piece suits the pixel.  SIDE: a side of any piece.  From TOPS on each colour's upper face, then from
    ``sides`` on each colour's side, in the order of :class:`Configurations`; then the side of terrain and
    pillars, and from ``column_tops`` on their upper face, one for each of :data:`OPEN_SHARES`.
    """

    colours: int

    FLOOR: ClassVar[int] = 0
    TABLE: ClassVar[int] = 1
    STANDING: ClassVar[int] = 2
    SIDE: ClassVar[int] = 3
    TOPS: ClassVar[int] = 4

    @property
    def sides(self) -> int:
        """The first colour's side."""
        return self.TOPS + self.colours

    @property
    def column_side(self) -> int:
        """The side of terrain or a pillar."""
        return self.TOPS + 2 * self.colours

    @property
    def column_tops(self) -> int:
        """The upper face of terrain or a pillar that nothing round it is higher than."""
        return self.column_side + 1

    def column_top(self, open_share: float) -> int:
        """The upper face of terrain or a pillar from which this share of the sky is seen."""
        return self.column_tops + int(np.abs(np.array(OPEN_SHARES) - open_share).argmin())
