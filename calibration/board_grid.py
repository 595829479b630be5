"""Whether the lines that a learned board shows match its kit: files, ranks, pitch and the corner of a1.

A board whose appearance was learned looks right with any grid.  But where it is chequered or has lines, edges as long
as its field are evenly spaced, and the kit's borders must be among them.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from calibration.board_appearance import TEXEL_MM, BoardAppearance
from calibration.kit import Board, Kit

Floats = npt.NDArray[np.float64]

BLUR_MM = 1.0
"""Standard deviation of the blur before edges are looked for: grain is finer than lines."""

REACH_MM, REACH_SHARE = 2.0, 0.07
"""How far a border of the kit may be from an edge: in mm, or as a share of the pitch."""

PITCHES = np.arange(0.65, 1.46, 0.01)
"""Pitches that are tried, as shares of the kit's: they include those of eight squares taken for six, or for ten; not
twice or half of it, whose borders are among its own, and near which a picture of shelves looked regular by chance."""

END_MARGIN = 0.3
"""Share of the pitch by which the ends of the sampled range are off a border."""

WINDOWS = ((0, 0), (1, 0), (0, 1), (1, 1))
"""Squares before and after the kit's field that are sampled, too, one after the other until a grid shows: a field
that was measured too small continues there, and what remains of a small one shows too few borders."""

MIN_BORDERS = 5
"""Least number of borders of a grid: fewer evenly spaced edges may be chance."""

MAX_MISSING = 0.15
"""Share of the borders that may show no edge."""

MIN_CONTRAST = 0.003
"""Least difference of display values from one mm to the next beside a board's edges: on six boards 0.0024 or more."""

MIN_CONTRAST_RATIO = 3.0
"""Ratio of the contrast of a grid's edges to that of the places between them, above which a board shows one."""

MIN_KIT_CONTRAST = 0.5
"""The kit's grid is wrong where its borders have less than this share of that contrast: of 21 boards with
their own grids they have 0.97 or more; a tenth too wide, half a square aside or with other counts, 0.34 at most."""

SAME_PITCH = 0.03
"""A pitch that differs by less than this share of the kit's is the same; then the grid is displaced."""

WAYS = ("from file to file", "from rank to rank")


class _Grid(NamedTuple):
    """Evenly spaced edges along one axis: contrast, pitch and first edge in mm."""

    contrast: float
    pitch_mm: float
    first_mm: float


def grid_fault(appearance: BoardAppearance, board: Board) -> str:
    """How a learned board contradicts its kit about where the squares are, and what to do; "" if it does not.

    Boards that do not show a grid along both axes are passed over.
    """
    shown = [_grid_contrast(appearance, board, axis) for axis in (0, 1)]
    if any(best.contrast < MIN_CONTRAST_RATIO for _, best in shown):
        return ""
    share, axis = min((own / best.contrast, axis) for axis, (own, best) in enumerate(shown))
    if share >= MIN_KIT_CONTRAST:
        return ""
    best, pitch_mm, way = shown[axis][1], board.pitch_mm[axis], WAYS[axis]
    if abs(best.pitch_mm / pitch_mm - 1) > SAME_PITCH:
        return (
            f"the lines on the board are about {best.pitch_mm:.0f} mm apart {way}, the borders of the kit's squares "
            f"{pitch_mm:.1f} mm: measure the playing field again by its four corners"
        )
    aside_mm = abs((best.first_mm - board.a1_mm[axis]) % pitch_mm - pitch_mm / 2)
    return (
        f"the lines on the board lie about {aside_mm:.0f} mm beside the borders of the kit's squares {way}: "
        "measure the playing field again by its four corners"
    )


def own_grid_fault(appearance: BoardAppearance | None, kit: Kit) -> str:
    """:func:`grid_fault` where the appearance of the squares is learned, not given by the kit; else "".

    Pillars stand above the mat, so that their edges do not appear where the kit has borders.
    """
    is_own = kit.board.cell_colour is None and kit.pillars is None
    return grid_fault(appearance, kit.board) if appearance is not None and is_own else ""


def _grid_contrast(appearance: BoardAppearance, board: Board, axis: int) -> tuple[float, _Grid]:
    """The contrast of the edges at the kit's borders along an axis, and the grid of the highest contrast."""
    counts = (board.files, board.ranks)
    pitch_mm, other_mm = board.pitch_mm[axis], board.pitch_mm[1 - axis]
    low = board.a1_mm[axis] - pitch_mm / 2
    across = board.a1_mm[1 - axis] - other_mm / 2
    places, edges = _edges(appearance, axis, (across, across + counts[1 - axis] * other_mm))
    for before, after in WINDOWS:
        first, last = low + (END_MARGIN - before) * pitch_mm, low + (counts[axis] - END_MARGIN + after) * pitch_mm
        inside = (places > first) & (places < last) & np.isfinite(edges)
        own, best = _compared(places[inside], edges[inside], pitch_mm, low)
        if best.contrast >= MIN_CONTRAST_RATIO:
            break
    return own, best


def _compared(places: Floats, edges: Floats, pitch_mm: float, low: float) -> tuple[float, _Grid]:
    """As :func:`_grid_contrast`, from edges (k,) at ascending ``places`` (k,) mm."""
    none = _Grid(0.0, pitch_mm, low)
    if len(places) < MIN_BORDERS * pitch_mm / TEXEL_MM:
        return 0.0, none
    edges = edges / max(float(np.median(edges)), MIN_CONTRAST)
    own = _contrast(places, _widened(edges, max(REACH_MM, REACH_SHARE * pitch_mm)), pitch_mm, low)
    near = _widened(edges, TEXEL_MM)
    tried = (
        _Grid(_contrast(places, near, tried_mm, low + shift), tried_mm, low + shift)
        for tried_mm in (PITCHES * pitch_mm).tolist()
        for shift in np.arange(0, tried_mm, TEXEL_MM).tolist()
    )
    return own, max(tried, key=lambda grid: grid.contrast, default=none)


def _edges(appearance: BoardAppearance, axis: int, across_mm: tuple[float, float]) -> tuple[Floats, Floats]:
    """Places (k,) mm in ascending order, and the contrast (k,) there of edges as long as the field is wide.

    Half of the field's width must show an edge: pictures and grain have none that long.
    """
    colour = cv2.GaussianBlur(appearance.colour, (0, 0), BLUR_MM / TEXEL_MM)
    steps = np.abs(cv2.Sobel(colour, cv2.CV_32F, 1 - axis, axis, ksize=1)).max(axis=2)
    rows, columns = steps.shape
    x = (np.arange(columns) - (columns - 1) / 2) * TEXEL_MM
    y = (np.arange(rows) - (rows - 1) / 2) * TEXEL_MM
    known = np.where(appearance.seen > 0, steps, np.nan)[::-1]
    places, over, known = (x, y, known) if axis == 0 else (y, x, known.T)
    field = known[(over > across_mm[0]) & (over < across_mm[1])]
    is_seen = np.isfinite(field).any(axis=0) if len(field) else np.zeros(len(places), np.bool_)
    edges = np.full(len(places), np.nan)
    edges[is_seen] = np.nanmedian(field[:, is_seen], axis=0)
    return places, edges


def _widened(edges: Floats, reach_mm: float) -> Floats:
    """(k,) the highest contrast within ``reach_mm`` of each place."""
    reach = round(reach_mm / TEXEL_MM)
    padded = np.pad(edges, reach, mode="edge")
    widened: Floats = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1).max(axis=1)
    return widened


def _contrast(places: Floats, edges: Floats, pitch_mm: float, first_mm: float) -> float:
    """Contrast that most borders of a grid reach; 0 for too few borders."""
    numbers = np.arange(np.ceil((places[0] - first_mm) / pitch_mm), np.floor((places[-1] - first_mm) / pitch_mm) + 1)
    if len(numbers) < MIN_BORDERS:
        return 0.0
    at = np.rint((first_mm + numbers * pitch_mm - places[0]) / TEXEL_MM).astype(int)
    # numpy.quantile gives the same, but ten times slower for so few values; thousands of grids are tried.
    return float(np.interp(MAX_MISSING * (len(at) - 1), np.arange(len(at)), np.sort(edges[at])))
