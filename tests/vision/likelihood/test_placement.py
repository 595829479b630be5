"""Placement: the Viterbi algorithm against an exhaustive search, and displaced stacks that are located."""

import itertools

import numpy as np
import pytest

from vision.likelihood.column_integrals import OTHER_COLOUR_PROBABILITY, ROW_OFFSETS, Lines, shift_lines, sum_line
from vision.likelihood.placement import (
    Placement,
    fit_lines,
    make_trellis,
    placement_under_face,
    search_placement,
)
from vision.scene.configurations import PLACE_MM, STEP_MM
from vision.scene.outline_table import OutlineTable

ROWS, COLUMNS, COLOURS, BANDS = 60, 16, 2, 2
CHANNELS = 1 + 2 * COLOURS + 2
FIRST, K = 3, 10
EDGES = (18.0, 28.0, 34.0, 40.0)
"""Rows of the far and the near edge of the face, and of the lower edge of each side."""


@pytest.fixture
def table():
    """Return the outline table of one box-shaped stack of two on one cell."""
    edges = np.broadcast_to(np.array(EDGES)[:, None], (1, 1, BANDS + 2, K)).astype(np.float32)
    columns, allowed = np.arange(FIRST, FIRST + K), np.ones((1, COLOURS), np.bool_)
    return OutlineTable(
        edges,
        np.ones((1, 1, K), np.bool_),
        columns,
        np.array([BANDS]),
        allowed,
        True,
        2.0,
        np.full(1, 0.6, np.float32),
        0.05,
    )


def lines_through(pixels, table):
    """Return the lines of the stack over ``pixels`` (rows, columns, channels)."""
    sums = np.zeros((ROWS + 1, COLUMNS, CHANNELS), np.float32)
    sums[1:] = pixels.cumsum(axis=0)
    return Lines(sums.reshape(-1), sums.shape, table.edges[0, 0], (0, K), FIRST, 0.0, 0)


def best_of_all_paths(lines, table, placement):
    """Return (colours,) scores and the displacements of all lines for the best path, by exhaustive search."""
    moved = shift_lines(lines, placement.columns)
    rows = [placement.face_rows + (placement.foot_rows - placement.face_rows) * i / BANDS for i in range(BANDS + 1)]
    far, near, sides = (
        np.array([at(moved, line, row + offset, channel) for offset in ROW_OFFSETS])
        for line, row, channel in ((0, rows[0], 1), (1, rows[0], 1), (1, rows[0], 1 + COLOURS))
    )
    lower = [[at(moved, 1 + n, rows[n] + offset, 1 + COLOURS) for offset in ROW_OFFSETS] for n in range(1, BANDS + 1)]
    scores, best = np.full(COLOURS, -np.inf), None
    variance = np.array([0.2**2, 0.2**2 + (STEP_MM * 0.6) ** 2])
    across_mm2 = PLACE_MM**2 + (BANDS - 1) * STEP_MM**2
    for path in itertools.product(range(len(ROW_OFFSETS)), repeat=BANDS + 1):
        shifts = np.array([row + ROW_OFFSETS[i] for row, i in zip(rows, path, strict=True)])
        total = (near[path[0]] - far[path[0]]) * table.weight
        above = sides[path[0]]
        for number, i in enumerate(path[1:]):
            band = (lower[number][i] - above) * table.weight
            total = total + (band if number == 0 else np.log(np.exp(band).mean()))
            above = lower[number][i]
        total = total - 0.5 * (np.diff(shifts) ** 2 / variance).sum()
        total = total - 0.5 * ((shifts[-1] / 0.6 / PLACE_MM) ** 2 + (2 * placement.columns) ** 2 / across_mm2)
        if total.max() > scores.max():
            best = shifts
        scores = np.maximum(scores, total)
    return scores, best


def at(lines, line, row, channel):
    """Return (colours,) sums above a line that is displaced by ``row``."""
    out = np.zeros(COLOURS)
    sum_line(lines, line, 0.0, row, channel, out)
    return out


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("placement", [Placement(0.0, 0.0, 0.0, False), Placement(-2.0, 1.3, 1.0, False)])
def test_the_best_path_is_the_best_of_all(table, placement, seed):
    """Scores and path of the Viterbi algorithm agree with the exhaustive search."""
    lines = lines_through(np.random.default_rng(seed).normal(0, 12, (ROWS, COLUMNS, CHANNELS)), table)
    trellis, scores = make_trellis(table), np.zeros(COLOURS)
    fit_lines(shift_lines(lines, placement.columns), table, 0, 0, placement, trellis, scores)
    expected, shifts = best_of_all_paths(lines, table, placement)
    assert scores == pytest.approx(expected, abs=1e-3)
    assert trellis.best_shifts == pytest.approx(shifts)


def stack(face_rows, foot_rows, column):
    """Return log-likelihood ratios (rows, columns, channels) of a displaced stack of the first colour.

    They are strong enough to outweigh the prior.
    """
    pixels = np.full((ROWS, COLUMNS, CHANNELS), -20.0)
    near, foot = round(EDGES[1] + face_rows), round(EDGES[3] + foot_rows)
    inside = slice(FIRST + column, FIRST + column + K)
    pixels[round(EDGES[0] + face_rows) : near, inside, 1] = 20.0
    pixels[near:foot, inside, [[0], [1 + COLOURS]]] = 20.0
    return pixels


@pytest.mark.parametrize(("face_rows", "foot_rows", "column"), [(0, 0, 0), (-3, -1, 1), (2, 1, -1)])
def test_a_displaced_stack_is_found(table, face_rows, foot_rows, column):
    """The displacement of a stack is found within a row and half a column."""
    placement = search_placement(lines_through(stack(face_rows, foot_rows, column), table), table, 0, 0, 0)
    assert placement.face_rows == pytest.approx(face_rows, abs=1)
    assert placement.foot_rows == pytest.approx(foot_rows, abs=1)
    assert placement.columns == pytest.approx(column, abs=0.5)
    assert not placement.is_face_known


def test_under_a_known_face_only_the_foot_is_searched(table):
    """With a known face only the displacement of the foot is fitted."""
    shift_mm = np.array([2.0, -3.25], np.float32)  # one column to the right
    placement = placement_under_face(lines_through(stack(-3, -1, 1), table), table, 0, 0, 0, shift_mm)
    assert placement == Placement(-3.25, 1.0, pytest.approx(-1, abs=1), True)


def scores_of(table, face, side, outlier_probability):
    """Return (colours,) scores of a stack whose face shows the second colour and whose side shows the first.

    ``face``, ``side``: nats per pixel.
    """
    pixels = np.zeros((ROWS, COLUMNS, CHANNELS))
    (top, near, foot), scores = map(round, EDGES[:3]), np.zeros(COLOURS)
    pixels[top:near, :, 2], pixels[near:foot, :, 1 + COLOURS] = face, side
    lines = lines_through(pixels, table)._replace(outlier_probability=outlier_probability)
    fit_lines(lines, table, 0, 0, Placement(0.0, 0.0, 0.0, False), make_trellis(table), scores)
    return scores


@pytest.mark.parametrize(
    ("face", "side", "lead"),
    [(3.0, 0.0, np.log(OTHER_COLOUR_PROBABILITY)), (0.0, 8.0, -np.log(OTHER_COLOUR_PROBABILITY))],
)
def test_where_a_face_or_the_side_below_it_may_mislead_neither_rules_out_a_colour(table, face, side, lead):
    """A whole face may reflect one window, and a whole side may be in deep shade."""
    sure, bounded = (
        scores_of(table, face, side, outlier_probability) for outlier_probability in (0.0, OTHER_COLOUR_PROBABILITY)
    )
    assert abs(sure[0] - sure[1]) > 10
    assert bounded[0] - bounded[1] == pytest.approx(lead, abs=0.1)
    assert bounded.max() == pytest.approx(sure.max(), abs=0.01)


def test_a_side_in_deep_shade_does_not_outweigh_a_face(table):
    """With bounded evidence, face and side cancel each other instead of the side winning."""
    assert scores_of(table, 3.0, 8.0, outlier_probability=0.0).argmax() == 0
    assert np.ptp(scores_of(table, 3.0, 8.0, outlier_probability=OTHER_COLOUR_PROBABILITY)) < 0.1
