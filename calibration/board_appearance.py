"""Appearance of a board's upper face, learned from photographs: a map of its colour in board coordinates.

A texel's colour is the display value (0…:data:`WHITEST`, sRGB curve) that it would show under even light in which white
paper shows 1.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from calibration.errors import ProfileError
from calibration.picture import unpacked
from calibration.toml import Table

Array = npt.NDArray[np.float32]
Picture = npt.NDArray[np.uint8]

TEXEL_MM = 1.0
"""Side of a texel: a camera of 1280 px over a board of 400 mm sees one as two pixels or fewer."""

WHITEST = 1.25
"""Largest display value kept; what mirrors a lamp is brighter than paper."""

MAX_SPREAD = 0.5
"""Largest spread kept."""


@dataclass(frozen=True, eq=False)
class BoardAppearance:
    """Colour of a board, texel by texel; row 0 is the farthest from the first player, column 0 the leftmost.

    Attributes:
        colour: (rows, columns, 3) float32 display values, r g b; meaningless where ``seen`` is 0.
        spread: (rows, columns) float32, standard deviation of the display values round it: grain, edges, light.
        seen: (rows, columns) uint8, in how many photographs each texel was seen.
    """

    colour: Array
    spread: Array
    seen: Picture


def unknown_board(width_mm: float, height_mm: float) -> BoardAppearance:
    """The appearance of a board of which no texel has been seen."""
    size = round(height_mm / TEXEL_MM), round(width_mm / TEXEL_MM)
    return BoardAppearance(np.zeros((*size, 3), np.float32), np.zeros(size, np.float32), np.zeros(size, np.uint8))


def format_board(board: BoardAppearance) -> dict[str, str]:
    """The keys of the table that :func:`read_board` reads, as TOML."""
    layers = {"colour": board.colour[..., ::-1] / WHITEST, "spread": board.spread / MAX_SPREAD}
    codes = {name: np.clip(np.rint(layer * 255), 0, 255).astype(np.uint8) for name, layer in layers.items()}
    return {name: f'"{_encoded(layer)}"' for name, layer in (codes | {"seen": board.seen}).items()}


def read_board(table: Table) -> BoardAppearance:
    """The appearance of a board from a table of PNG pictures in base64.  Raises ProfileError."""
    colour = _decoded(table, "colour", cv2.IMREAD_COLOR)
    spread, seen = (_decoded(table, name, cv2.IMREAD_GRAYSCALE) for name in ("spread", "seen"))
    table.done()
    if spread.shape != colour.shape[:2] or seen.shape != colour.shape[:2]:
        raise ProfileError(f"{table.where}: colour, spread and seen differ in size; learn the board's look again")
    return BoardAppearance(
        (colour[..., ::-1] * np.float32(WHITEST / 255)).astype(np.float32),
        (spread * np.float32(MAX_SPREAD / 255)).astype(np.float32),
        seen,
    )


def _encoded(layer: Picture) -> str:
    return base64.b64encode(cv2.imencode(".png", layer)[1].tobytes()).decode()


def _decoded(table: Table, name: str, flags: int) -> Picture:
    """A layer, with the channels that ``flags`` request.  Raises ProfileError."""
    try:
        picture = unpacked(base64.b64decode(table.get(name, str), validate=True), flags)
    except ValueError:  # A character that is not of base64.
        picture = None
    if picture is None:
        raise ProfileError(f"{table.where}: {name} is no picture; learn the board's look again")
    return picture
