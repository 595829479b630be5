"""Labels of the materials that a pixel may show: floor, table, faces and sides of pieces and of terrain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

SKY_VIEW_FACTORS = (1.0, 0.7, 0.45, 0.2)
"""Sky view factors (visible shares of the sky) for which the colours of terrain and pillars are modelled.  Chosen by
eye."""


@dataclass(frozen=True, slots=True)
class Materials:
    """Labels of materials, which are columns of the colour model, for a kit whose pieces have so many ``colours``.

    FLOOR: bare cell.  TABLE: outside the mat.  PAPER: the mat beside the cells.  STANDING: the likeliest side of
    any piece.  SIDE: the mean over the sides of all pieces.  From TOPS on, each colour's upper face; from ``sides``
    on, each colour's side, in the order of :class:`vision.scene.configurations.Configurations`; then the side of
    terrain and pillars, and from ``column_tops`` on their upper face, one for each of :data:`SKY_VIEW_FACTORS`.
    """

    colours: int

    FLOOR: ClassVar[int] = 0
    TABLE: ClassVar[int] = 1
    PAPER: ClassVar[int] = 2
    STANDING: ClassVar[int] = 3
    SIDE: ClassVar[int] = 4
    TOPS: ClassVar[int] = 5

    @property
    def sides(self) -> int:
        """Label of the first colour's side."""
        return self.TOPS + self.colours

    @property
    def column_side(self) -> int:
        """Label of the side of terrain or a pillar."""
        return self.TOPS + 2 * self.colours

    @property
    def column_tops(self) -> int:
        """Label of an upper face of terrain or a pillar from which the whole sky is visible."""
        return self.column_side + 1

    def column_top(self, sky_view_factor: float) -> int:
        """Label of an upper face of terrain or a pillar from which this share of the sky (0…1) is visible."""
        return self.column_tops + int(np.abs(np.array(SKY_VIEW_FACTORS) - sky_view_factor).argmin())
