"""Sums above lines round figures: all places of a line at once are as each alone, and what is outside adds nothing."""

import numpy as np
import pytest

from vision.likelihood.column_integrals import ROW_OFFSETS, Lines, displaced, sum_line, sum_line_at_offsets

ROWS, COLUMNS, KINDS = 20, 9, 3


@pytest.fixture
def lines():
    """Two lines over the middle columns of sums of noise."""
    rng = np.random.default_rng(3)
    down = np.zeros((ROWS + 1, COLUMNS, KINDS), np.float32)
    down[1:] = rng.normal(size=(ROWS, COLUMNS, KINDS)).cumsum(axis=0)
    edges = rng.uniform(4, 15, (2, COLUMNS)).astype(np.float32)
    return Lines(down.reshape(-1), down.shape, edges, (2, 6), 0, 0.0, 0)


@pytest.mark.parametrize("columns", [0.0, 1.0, -1.4, 1.75])
@pytest.mark.parametrize("shift", [0.0, 0.3, -2.7, -9.0, 12.0])
def test_all_places_of_a_line_are_as_each_alone(lines, columns, shift):
    moved, totals, alone = displaced(lines, columns), np.zeros((len(ROW_OFFSETS), 2)), np.zeros(2)
    sum_line_at_offsets(moved, 1, shift, 1, totals)
    for offset, total in zip(ROW_OFFSETS, totals, strict=True):
        sum_line(moved, 1, 0.0, shift + offset, 1, alone)
        assert total == pytest.approx(alone, abs=0.02)


def test_a_line_between_rows_counts_the_part_that_is_above(lines):
    total = np.zeros(1)
    even = lines._replace(edges=np.full((2, COLUMNS), 7.25, np.float32))
    sum_line(even, 0, 0.0, 0.0, 0, total)
    down = even.sums.reshape(even.shape)[:, 2:6, 0].sum(axis=1)
    assert total[0] == pytest.approx(0.75 * down[7] + 0.25 * down[8], abs=1e-4)


def test_part_of_the_way_to_the_next_line(lines):
    half, between = np.zeros(KINDS), np.zeros(KINDS)
    sum_line(lines, 0, 0.5, 0.0, 0, half)
    sum_line(lines._replace(edges=lines.edges.mean(axis=0, keepdims=True)), 0, 0.0, 0.0, 0, between)
    assert half == pytest.approx(between, abs=1e-3)


def test_sums_that_begin_lower_are_the_same_below(lines):
    down = lines.sums.reshape(lines.shape)
    cut = lines._replace(
        sums=np.ascontiguousarray(down[3:] - down[3]).reshape(-1), shape=(ROWS - 2, COLUMNS, KINDS), first_row=3
    )
    upper, lower, cut_upper, cut_lower = (np.zeros(KINDS) for _ in range(4))
    for of, first, second in ((lines, upper, lower), (cut, cut_upper, cut_lower)):
        sum_line(of, 0, 0.0, 0.0, 0, first)
        sum_line(of, 1, 0.0, 0.0, 0, second)
    assert cut_lower - cut_upper == pytest.approx(lower - upper, abs=1e-3)
