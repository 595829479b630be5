"""A closer look at cells that colours leave in doubt: by the surfaces that each configuration predicts there."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.inference.coordinate_ascent import all_scores, converge
from vision.inference.hypothesis import Hypothesis
from vision.likelihood.observations import DARK
from vision.likelihood.surfaces import surface_log_ratio

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]

EMPTY_NATS, PIECE_NATS, HEIGHT_NATS = 10.0, 30.0, 6.0
"""Colours leave it in doubt that a cell is empty, that a piece stands there, and how high, up to so many nats: most
cells are decided by more.  Chosen on the pale sets of Citadel and Domination, as all of these."""

COLOUR_SHARE = 0.6
"""Share that colours count for beside surfaces: the same pixels speak twice.  Of 0.35 to 0.7 this gave fewest
faults."""

HEIGHT_SHARE = 0.5
"""Share that surfaces count for between configurations: seams of a stack are surfaces' edges only where they show.
Of 0, 0.25, 0.5 and 1 this gave fewest faults."""

UNLIKE, UNLIKE_SHARE = 0.06, 0.3
"""Log brightness by which a pixel differs from the board, and share of such pixels round a cell's middle above which it
is looked at for a piece of the board's colour.  Of 139 pieces on three boards none had less than 0.35, of 550 bare
squares four in five: the others were shaded."""

CAMOUFLAGED_SHARE = 0.5
"""Share that colours count for there: all pixels of a face, or of a shadow, are unlike the board for one cause.  With
0.1 one of 1,900 squares was taken for a piece and seemed sure."""


def rescore_by_surfaces(hypothesis: Hypothesis) -> None:
    """Rescore updated cells that are in doubt by surfaces.

    Neighbours of those that change are updated again, and rescored once.
    """
    rescored = _rescore(hypothesis, np.flatnonzero(hypothesis.updated))
    if rescored and hypothesis.stale.any():
        before = hypothesis.scores.copy()
        converge(hypothesis)
        _rescore(hypothesis, np.flatnonzero((hypothesis.scores != before).any(axis=1)))
        hypothesis.settle()


def _rescore(hypothesis: Hypothesis, cells: Indices) -> bool:
    """Whether some of ``cells`` (b,) were in doubt; they are rescored, and hold their best state."""
    found = False
    for cell in cells.tolist():
        by_colour = hypothesis.scores[cell, 1:].reshape(-1, hypothesis.colours)
        best = float(by_colour.max())
        if best < EMPTY_NATS and float(hypothesis.isolated.scores[cell, 1:].max()) > -EMPTY_NATS:
            by_colour = all_scores(hypothesis, cell)
            best = float(by_colour.max())
        heights = by_colour.max(axis=1)
        tried = heights >= max(best, 0.0) - (EMPTY_NATS if best < EMPTY_NATS else HEIGHT_NATS)
        if best > -EMPTY_NATS and (best < PIECE_NATS or tried.sum() > 1):
            found = True
            _rescore_cell(hypothesis, cell, by_colour, tried)
    return found


def find_camouflaged(hypothesis: Hypothesis) -> Indices:
    """Look for pieces of a learned board's own colour; the cells (b,) where some are found.

    By colour every pixel speaks for the board where it is as expected.  But a piece has outlines and sides of its own,
    where the board has none.  Neighbours of those that are found are updated again.
    """
    empty = np.flatnonzero(hypothesis.updated & (hypothesis.state == 0))
    empty = empty[_unlike_board(hypothesis, empty) > UNLIKE_SHARE]
    found = np.array([cell for cell in empty.tolist() if _is_camouflaged(hypothesis, cell)], np.intp)
    hypothesis.settle(found)
    converge(hypothesis)
    return found


def _unlike_board(hypothesis: Hypothesis, cells: Indices) -> Array:
    """(b,) share of the pixels round the middles of ``cells`` (b,) that are brighter or darker than the board there."""
    observations, geometry = hypothesis.observations, hypothesis.geometry
    near = np.flatnonzero(np.abs(geometry.crops.v_mm) <= geometry.radius_mm)
    part = np.s_[cells, near[0] : near[-1] + 1]
    shown = observations.codes[part].mean(axis=-1) * observations.gain[cells].mean(axis=1)[:, None, None]
    expected = observations.expected[part].mean(axis=-1)
    share: Array = (np.abs(np.log((shown + DARK) / (expected + DARK))) > UNLIKE).mean(axis=(1, 2))
    return share


def _is_camouflaged(hypothesis: Hypothesis, cell: int) -> bool:
    """Rescore a cell that seems empty but is unlike the board; whether a piece seems to stand there now."""
    by_colour = all_scores(hypothesis, cell)
    parts = hypothesis.geometry.configurations.parts
    single, colours = parts == parts.min(), CAMOUFLAGED_SHARE * by_colour.max(axis=1)
    if (colours + _surfaces(hypothesis, cell, single))[single].max() < -EMPTY_NATS:
        return False
    surfaces = _surfaces(hypothesis, cell, np.ones(len(parts), np.bool_))
    scores = np.append(0.0, CAMOUFLAGED_SHARE * by_colour + surfaces[:, None]).astype(np.float32)
    hypothesis.score(np.array([cell]), scores[None])
    state = int(scores.argmax())
    if state:
        hypothesis.assign(cell, state)
        hypothesis.invalidate_neighbours(cell, 0)
    return bool(state)


def _surfaces(hypothesis: Hypothesis, cell: int, tried: npt.NDArray[np.bool_]) -> Array:
    """(f,) log-likelihood ratio of configurations by surfaces: see :func:`surface_log_ratio`."""
    geometry = hypothesis.geometry
    labels = hypothesis.labels(np.array([cell]), bare=True)
    which = cell, tried, geometry.side_edges[cell]
    return surface_log_ratio(
        hypothesis.observations, geometry.visibility, labels, geometry.outline_table, which, geometry.facets
    )


def _rescore_cell(hypothesis: Hypothesis, cell: int, by_colour: Array, tried: npt.NDArray[np.bool_]) -> None:
    """Rescore a cell, of whose configurations those ``tried`` (f,) are in doubt; ``by_colour`` (f, colours)."""
    heights, surfaces = by_colour.max(axis=1), _surfaces(hypothesis, cell, tried)
    both = np.where(tried, COLOUR_SHARE * heights + surfaces, -np.inf)
    best = int(both.argmax())
    gain = np.where(tried, HEIGHT_SHARE * (surfaces - surfaces[best]), 0) + both[best] - heights[best]
    scores = np.append(0.0, (by_colour + gain[:, None]).ravel()).astype(np.float32)
    hypothesis.score(np.array([cell]), scores[None])
    before, state = int(hypothesis.state[cell]), int(scores.argmax())
    if state != before:
        hypothesis.assign(cell, state)
        hypothesis.invalidate_neighbours(cell, before)
