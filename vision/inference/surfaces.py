"""A closer look at cells of a learned board: by the surfaces that each configuration predicts there."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.inference.coordinate_ascent import all_scores, converge
from vision.inference.hypothesis import Hypothesis
from vision.likelihood.observations import DARK
from vision.likelihood.surfaces import surface_log_ratio

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]

EMPTY_NATS = 10.0
"""A piece that is less likely than an empty cell by more than this, whatever its height, is not looked at further."""

UNLIKE, UNLIKE_SHARE = 0.06, 0.3
"""Log brightness by which a pixel differs from the board, and share of such pixels round a cell's middle above which it
is looked at for a piece of the board's colour.  Of 139 pieces on three boards none had less than 0.35, of 550 bare
squares four in five: the others were shaded."""

CAMOUFLAGED_SHARE = 0.5
"""Share that colours count for there: all pixels of a face, or of a shadow, are unlike the board for one cause.  With
0.1 one of 1,900 squares was taken for a piece and seemed sure."""


def find_camouflaged(hypothesis: Hypothesis) -> None:
    """Look for pieces of a learned board's own colour.

    By colour every pixel speaks for the board where it is as expected.  But a piece has outlines and sides of its own,
    where the board has none.  Neighbours of those that are found are updated again.
    """
    empty = np.flatnonzero(hypothesis.updated & (hypothesis.state == 0))
    empty = empty[_unlike_board(hypothesis, empty) > UNLIKE_SHARE]
    found = np.array([cell for cell in empty.tolist() if _is_camouflaged(hypothesis, cell)], np.intp)
    hypothesis.tell_camouflaged(found)
    hypothesis.settle(found)
    converge(hypothesis)


def _unlike_board(hypothesis: Hypothesis, cells: Indices) -> Array:
    """(b,) share of the pixels round the middles of ``cells`` (b,) that are brighter or darker than the board there."""
    first, end = hypothesis.geometry.rows_round
    shown = brightness_round(hypothesis, cells)
    expected = hypothesis.observations.expected[cells, :, first:end].mean(axis=1)
    share: Array = (np.abs(np.log((shown + DARK) / (expected + DARK))) > UNLIKE).mean(axis=(1, 2))
    return share


def brightness_round(hypothesis: Hypothesis, cells: Indices) -> Array:
    """(b, rows, columns) display values, mean of the channels, of the crops' pixels round the middles of ``cells``."""
    observations, (first, end) = hypothesis.observations, hypothesis.geometry.rows_round
    gain = observations.gain[cells].mean(axis=1)[:, None, None]
    brightness: Array = observations.codes[cells, first:end].mean(axis=-1) * gain
    return brightness


def _is_camouflaged(hypothesis: Hypothesis, cell: int) -> bool:
    """Rescore a cell that seems empty but is unlike the board; whether a piece seems to stand there now."""
    by_colour = all_scores(hypothesis, cell)
    parts = hypothesis.geometry.configurations.parts
    single, colours = parts == parts.min(), CAMOUFLAGED_SHARE * by_colour.max(axis=1)
    if (colours + by_surfaces(hypothesis, cell, single))[single].max() < -EMPTY_NATS:
        return False
    surfaces = by_surfaces(hypothesis, cell, np.ones(len(parts), np.bool_))
    scores = np.append(0.0, CAMOUFLAGED_SHARE * by_colour + surfaces[:, None]).astype(np.float32)
    hypothesis.score(np.array([cell]), scores[None])
    state = int(scores.argmax())
    if state:
        hypothesis.assign(cell, state)
        hypothesis.invalidate_neighbours(cell, 0)
    return bool(state)


def by_surfaces(hypothesis: Hypothesis, cell: int, tried: npt.NDArray[np.bool_]) -> Array:
    """(f,) log-likelihood ratio of configurations by surfaces: see :func:`surface_log_ratio`."""
    geometry = hypothesis.geometry
    labels = hypothesis.labels(np.array([cell]), bare=True)
    which = cell, tried, geometry.side_edges[cell]
    return surface_log_ratio(
        hypothesis.observations, geometry.visibility, labels, geometry.outline_table, which, geometry.facets
    )
