"""Where a picture shows the lines, or the change of colour, between the squares of a board."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from calibration.kit import Kit

Points = npt.NDArray[np.float64]

SIDE_FRACTIONS = np.linspace(-0.35, 0.35, 3)
"""Where the side between two squares is sampled, in sides from its middle: not where four squares meet."""

REACH_PX, STEP_PX = 5.0, 0.25
"""How far to either side of its expected place a line is searched for, and the step."""

WIDTH_PX = 2.5
"""Half the width over which the picture changes at an edge: its place is the mean of the changes of one sign there."""

BLUR_STEPS = 3.0
"""Standard deviation of the blur across a line, in steps: noise changes from pixel to pixel."""

MIN_CHANGE, USUAL_SHARE = 3.0, 0.5
"""Least gradient of a picture at a line, in codes per pixel, and as a share of the median of all lines."""


OUTLIER_PX = 1.0
"""Edges farther from their lines count less (Huber's function)."""

DEGREE, ROUNDS = 3, 5
"""Degree of the polynomial that models a lens's deformation, and rounds of reweighting in which it is fitted."""


class Grid(NamedTuple):
    """Places on the sides between squares.

    Attributes:
        board_mm: (k, 2) where they are on the board.
        across_mm: (k, 2) unit vectors across the side.
    """

    board_mm: Points
    across_mm: Points


class GridView(NamedTuple):
    """Where a picture shows edges at the places of a :class:`Grid`.

    A line has the width with which it is printed, and where a square is as dark as the line only its other edge is
    seen: an edge towards brighter is half a dark line ahead of the line's middle, one towards darker as far behind it.

    Attributes:
        board_mm: (k, 2) those places where one is seen.
        pixels: (k, 2) where they were expected.
        normals: (k, 2) unit vectors in the picture, across the side.
        off_px: (k,) how far along these the edge is seen.
        ahead_px: (k,) how far along these the edge is from the middle of a dark line of 1 mm to both sides.
    """

    board_mm: Points
    pixels: Points
    normals: Points
    off_px: Points
    ahead_px: Points


def grid_of(kit: Kit) -> Grid:
    """Places on all sides between two squares of a kit's board."""
    names, (across, up) = set(kit.cells), kit.board.pitch_mm
    board_mm, across_mm = [], []
    for cell in kit.cells:
        x, y = kit.centre_mm(cell)
        if f"{chr(ord(cell[0]) + 1)}{cell[1:]}" in names:
            board_mm += [(x + across / 2, y + share * up) for share in SIDE_FRACTIONS]
            across_mm += [(1.0, 0.0)] * len(SIDE_FRACTIONS)
        if f"{cell[0]}{int(cell[1:]) + 1}" in names:
            board_mm += [(x + share * across, y + up / 2) for share in SIDE_FRACTIONS]
            across_mm += [(0.0, 1.0)] * len(SIDE_FRACTIONS)
    return Grid(np.array(board_mm).reshape(-1, 2), np.array(across_mm).reshape(-1, 2))


def view_grid(gray: npt.NDArray[np.uint8], grid: Grid, project: Callable[[Points], Points]) -> GridView:
    """Where a picture (height, width) uint8 shows a grid.

    ``project`` gives the expected pixels (k, 2) of places (k, 2) mm on the board.
    """
    pixels = project(grid.board_mm)
    across = project(grid.board_mm + grid.across_mm) - pixels
    px_per_mm = np.maximum(np.linalg.norm(across, axis=1), 1e-9)
    normals = across / px_per_mm[:, None]
    steps = np.arange(-REACH_PX, REACH_PX + STEP_PX / 2, STEP_PX)
    places = (pixels[:, None] + steps[:, None] * normals[:, None]).astype(np.float32)
    codes = cv2.remap(gray.astype(np.float32), places[..., 0], places[..., 1], cv2.INTER_CUBIC)
    codes = np.asarray(cv2.GaussianBlur(codes, (0, 0), sigmaX=BLUR_STEPS, sigmaY=0.01), np.float64)
    slope = np.gradient(codes, STEP_PX, axis=1)
    steepest = np.abs(slope).argmax(axis=1)
    at_edge = slope[np.arange(len(slope)), steepest]
    near = np.abs(steps - steps[steepest][:, None]) < WIDTH_PX
    weight = np.maximum(slope * np.sign(at_edge)[:, None], 0.0) ** 2 * near
    off_px = (weight * steps).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-9)
    most = np.abs(at_edge)
    seen = most > np.maximum(MIN_CHANGE, USUAL_SHARE * np.median(most))
    ahead_px = np.sign(at_edge) * px_per_mm
    return GridView(grid.board_mm[seen], pixels[seen], normals[seen], off_px[seen], ahead_px[seen])


def roughness_px(view: GridView) -> float:
    """Median residual of the edges that are seen, once a smooth deformation of the lines is fitted to them."""
    x, y = (view.board_mm / np.maximum(np.abs(view.board_mm).max(initial=0.0), 1e-9)).T
    smooth = np.column_stack([x**i * y**j for i in range(DEGREE + 1) for j in range(DEGREE + 1 - i)])
    terms = np.hstack([smooth * view.normals[:, :1], smooth * view.normals[:, 1:], view.ahead_px[:, None]])
    apart_px = np.zeros(len(terms))
    for _ in range(ROUNDS):
        # Square roots of Huber's weights, as least squares squares them.
        weights = np.sqrt(OUTLIER_PX / np.maximum(apart_px, OUTLIER_PX))
        fitted, *_ = np.linalg.lstsq(terms * weights[:, None], view.off_px * weights, rcond=None)
        apart_px = np.abs(view.off_px - terms @ fitted)
    return float(np.median(apart_px))
