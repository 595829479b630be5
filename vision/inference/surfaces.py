"""A closer look at cells that colours leave in doubt: by the surfaces that each configuration predicts there."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.inference.coordinate_ascent import all_scores, converge
from vision.inference.hypothesis import Hypothesis
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


def _rescore_cell(hypothesis: Hypothesis, cell: int, by_colour: Array, tried: npt.NDArray[np.bool_]) -> None:
    """Rescore a cell, of whose configurations those ``tried`` (f,) are in doubt; ``by_colour`` (f, colours)."""
    geometry, heights = hypothesis.geometry, by_colour.max(axis=1)
    labels = hypothesis.labels(np.array([cell]), bare=True)
    which = cell, tried, geometry.side_edges[cell]
    surfaces = surface_log_ratio(hypothesis.observations, geometry.visibility, labels, geometry.outline_table, which)
    both = np.where(tried, COLOUR_SHARE * heights + surfaces, -np.inf)
    best = int(both.argmax())
    gain = np.where(tried, HEIGHT_SHARE * (surfaces - surfaces[best]), 0) + both[best] - heights[best]
    scores = np.append(0.0, (by_colour + gain[:, None]).ravel()).astype(np.float32)
    hypothesis.score(np.array([cell]), scores[None])
    before, state = int(hypothesis.state[cell]), int(scores.argmax())
    if state != before:
        hypothesis.assign(cell, state)
        hypothesis.invalidate_neighbours(cell, before)
