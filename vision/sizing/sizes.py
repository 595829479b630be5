"""The sizes of pieces as measured in a photograph."""

from __future__ import annotations

from dataclasses import dataclass

WIDTH_RELATIVE_DEVIATION = 0.02
"""Standard deviation of a width besides its scatter, as a share of it: in three of four photographs discs were 1
to 2 % off."""

MAX_RELATIVE_DEVIATION = 0.07
"""Largest standard deviation, as a share of it, of a size that counts as known: with heights 8 % off eight in 400
squares of a webcam's pictures were misread, with heights 15 % off thirty."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Width and height in mm of the pieces of these ``letters``, all of one size, with their standard deviations."""

    letters: str
    width_mm: float
    width_deviation_mm: float
    height_mm: float
    height_deviation_mm: float

    @property
    def is_width_known(self) -> bool:
        """Whether the width is known well enough to read with."""
        return self.width_deviation_mm <= MAX_RELATIVE_DEVIATION * self.width_mm

    @property
    def is_height_known(self) -> bool:
        """Whether the height is known well enough."""
        return self.height_deviation_mm <= MAX_RELATIVE_DEVIATION * self.height_mm

    @property
    def is_known(self) -> bool:
        """Whether both are."""
        return self.is_width_known and self.is_height_known
