"""References: places of known colour on a mat, at which a picture's light is measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calibration.appearance import Reflectance, linear
from calibration.kit import Kit, Mat
from vision.pose.markers import module_places, modules
from vision.pose.projection import Points

DARKEST_USED = 0.1
"""Reflectance below which a patch is not used: reflections of the room outweigh its own colour.  Chosen by eye."""

MARGIN_MM = 6.0
"""How far inside the mat's edge the paper is sampled.  Chosen by eye."""

CLEAR_MM = 3.0
"""Distance from markers and patches at which paper is sampled.  Chosen by eye."""

FLOOR_SHARE = 0.36
"""Distance from a square's centre at which its floor is sampled, as a share of the pitch."""


class References(NamedTuple):
    """Places of known colour on the mat.

    Attributes:
        points_mm: (n, 3) float64.
        reflectance: (n, 3) float64 r g b, linear, relative to white.
    """

    points_mm: Points
    reflectance: Points


def references(kit: Kit, floor: Reflectance | None = None, levels: tuple[int, ...] = ()) -> References:
    """The references of a kit: points on its patches and paper; if it has neither, on the white of its markers.

    Also on its squares where the colour of their ``floor`` is known, except those that ``levels`` of terrain raise.
    Patches and floors darker than :data:`DARKEST_USED` are left out.
    """
    points: list[tuple[float, float, float]] = []
    colours: list[tuple[float, float, float]] = []
    for patch in kit.mat.patches:
        colour = linear(patch.colour)
        if min(colour) >= DARKEST_USED:
            step = patch.size_mm / 4
            for dx in (-step, 0.0, step):
                for dy in (-step, 0.0, step):
                    points.append((patch.at_mm[0] + dx, patch.at_mm[1] + dy, 0.0))
                    colours.append(colour)
    if kit.mat.colour is not None:
        paper = paper_points(kit)
        points += paper
        colours += [linear(kit.mat.colour)] * len(paper)
    if points and floor is not None and min(floor) >= DARKEST_USED and kit.pillars is None:
        squares = square_points(kit, levels)
        points += squares
        colours += [floor] * len(squares)
    if not points:
        white = white_modules(kit.mat)
        return References(white, np.ones_like(white))
    return References(np.array(points), np.array(colours))


def white_modules(mat: Mat) -> Points:
    """(n, 3) float64 mm, the centres of the white modules of all markers."""
    are_white = modules(mat.dictionary, tuple(marker.id for marker in mat.markers))
    places = [
        module_places(np.array(marker.corners_mm), len(is_white))[is_white]
        for marker, is_white in zip(mat.markers, are_white, strict=True)
    ]
    flat = np.vstack(places).astype(np.float64)
    return np.column_stack([flat, np.zeros(len(flat))])


def paper_points(kit: Kit) -> list[tuple[float, float, float]]:
    """Places (mm) of bare paper: the mat's rim, and rows just outside the squares, clear of markers and patches."""
    half_x, half_y = kit.mat.width_mm / 2 - MARGIN_MM, kit.mat.height_mm / 2 - MARGIN_MM
    rim = [(float(x), y) for x in np.linspace(-half_x, half_x, 19) for y in (-half_y, half_y)]
    rim += [(x, float(y)) for y in np.linspace(-half_y, half_y, 13) for x in (-half_x, half_x)]
    board = kit.board
    left = board.a1_mm[0] - board.pitch_mm[0] / 2
    right = left + board.files * board.pitch_mm[0]
    for x in ((left - half_x) / 2, (right + half_x) / 2):
        rim += [(x, float(y)) for y in np.linspace(-half_y, half_y, 13)]
    is_bare = ~are_printed(kit, np.array(rim))
    return [(x, y, 0.0) for (x, y), bare in zip(rim, is_bare.tolist(), strict=True) if bare]


def square_points(kit: Kit, levels: tuple[int, ...]) -> list[tuple[float, float, float]]:
    """Places (mm) of the floor of squares, clear of their lines and of what stands in their middle."""
    across, along = (FLOOR_SHARE * pitch for pitch in kit.board.pitch_mm)
    flat = [centre for centre, level in zip(kit.centres_mm, levels or (0,) * len(kit.cells), strict=True) if not level]
    return [(x + dx, y + dy, 0.0) for x, y in flat for dx in (-across, across) for dy in (-along, along)]


def are_printed(kit: Kit, places_mm: Points) -> npt.NDArray[np.bool_]:
    """(n,) whether a marker or a patch is printed within a margin of places (n, 2)."""
    reach = kit.mat.marker_mm / 2 + CLEAR_MM
    prints = [(marker.at_mm, reach) for marker in kit.mat.markers]
    prints += [(patch.at_mm, patch.size_mm / 2 + CLEAR_MM) for patch in kit.mat.patches]
    printed = np.zeros(len(places_mm), np.bool_)
    for at_mm, half_mm in prints:
        printed |= (np.abs(places_mm - at_mm) < half_mm).all(axis=1)
    return printed


def on_squares(
    kit: Kit, axes_mm: Sequence[Points], wider_mm: float = 0.0, cells: Sequence[str] | None = None
) -> npt.NDArray[np.bool_]:
    """(rows · columns,) whether places of a grid are on squares: on ``cells``, or on any.

    ``axes_mm``: x of the columns and y of the rows; ``wider_mm``: by how much squares are larger on each side.
    """
    centres = np.array([kit.centre_mm(cell) for cell in (kit.cells if cells is None else cells)]).reshape(-1, 2)
    # Axis by axis: places by squares would take 30 MB.
    across, along = (np.abs(axes_mm[i][:, None] - centres[:, i]) < kit.board.pitch_mm[i] / 2 + wider_mm for i in (0, 1))
    inside: npt.NDArray[np.bool_] = (along @ across.T).ravel()
    return inside
