"""The projection of a scene, and the shading of colours."""

from __future__ import annotations

from dataclasses import dataclass

SCALE = 2.0
"""Units of the picture per millimetre."""


@dataclass(frozen=True, slots=True)
class View:
    """A parallel projection.

    Attributes:
        rise: foreshortening of distances along the board, the sine of the elevation.
        fall: foreshortening of heights, its cosine.
        half_x: mm from the middle to the picture's side.
        head: mm of the picture above the middle of the board.
        foot: mm of it below.
        margin: width of the margin on all sides, in units.
        scale: units per millimetre.
    """

    rise: float
    fall: float
    half_x: float
    head: float
    foot: float
    margin: float
    scale: float = SCALE

    @property
    def width(self) -> float:
        """Of the picture."""
        return 2 * (self.half_x * self.scale + self.margin)

    @property
    def height(self) -> float:
        """Of the picture."""
        return (self.head + self.foot) * self.scale + 2 * self.margin

    def at(self, x: float, y: float, z: float) -> tuple[float, float]:
        """Coordinates in the picture, to the right and down, of a point in mm."""
        down = self.head - y * self.rise - z * self.fall
        return self.margin + (self.half_x + x) * self.scale, self.margin + down * self.scale


def shaded(colour: str, share: float) -> str:
    """``#rrggbb`` with its values multiplied by ``share``; over 1 it is mixed with white."""
    parts = bytes.fromhex(colour[1:])
    if share <= 1:
        mixed = [round(part * share) for part in parts]
    else:
        mixed = [round(part + (255 - part) * min(share - 1, 1)) for part in parts]
    return "#" + bytes(mixed).hex()
