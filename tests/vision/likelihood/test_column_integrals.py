"""Column integrals against plain sums, and the lines at which they are evaluated."""

import numpy as np
import pytest

from vision.likelihood.column_integrals import (
    AT_ONCE,
    OTHER_COLOUR_PROBABILITY,
    ROW_OFFSETS,
    ColumnIntegrals,
    CropColumns,
    Lines,
    empty_integrals,
    integrate_columns,
    lines_of,
    shift_lines,
    sum_line,
    sum_line_at_offsets,
)
from vision.likelihood.observations import Observations
from vision.scene.label_buffer import RANK_BITS
from vision.scene.materials import Materials
from vision.scene.outline_table import OutlineTable
from vision.scene.visibility import Visibility

ROWS, COLUMNS, KINDS = 20, 9, 3


@pytest.fixture
def lines():
    """Return the lines of a table with two edges over the middle columns, on integrals of noise."""
    rng = np.random.default_rng(3)
    down = np.zeros((ROWS + 1, COLUMNS, KINDS), np.float32)
    down[1:] = rng.normal(size=(ROWS, COLUMNS, KINDS)).cumsum(axis=0)
    edges = rng.uniform(4, 15, (2, COLUMNS)).astype(np.float32)
    return Lines(down.reshape(-1), down.shape, edges, (2, 6), 0, 0.0, 0)


def integrals_of(lines):
    """Return column integrals of one cell."""
    return ColumnIntegrals(lines.sums.reshape(lines.shape), 2)


@pytest.mark.parametrize("columns", [0.0, 1.0, -1.4, 1.75])
@pytest.mark.parametrize("shift", [0.0, 0.3, -2.7, -9.0, 12.0])
def test_all_offsets_of_a_line_are_as_each_alone(lines, columns, shift):
    """Sums at all offsets agree with those computed separately."""
    moved, totals, alone = shift_lines(lines, columns), np.zeros((len(ROW_OFFSETS), 2)), np.zeros(2)
    sum_line_at_offsets(moved, 1, shift, 1, totals)
    for offset, total in zip(ROW_OFFSETS, totals, strict=True):
        sum_line(moved, 1, 0.0, shift + offset, 1, alone)
        assert total == pytest.approx(alone, abs=0.02)


def test_a_line_between_rows_counts_the_part_that_is_above(lines):
    """A line between two rows is interpolated linearly."""
    total = np.zeros(1)
    even = lines._replace(edges=np.full((2, COLUMNS), 7.25, np.float32))
    sum_line(even, 0, 0.0, 0.0, 0, total)
    down = even.sums.reshape(even.shape)[:, 2:6, 0].sum(axis=1)
    assert total[0] == pytest.approx(0.75 * down[7] + 0.25 * down[8], abs=1e-4)


def test_part_of_the_way_to_the_next_line(lines):
    """A line halfway between two edges has the same sum as one at their mean."""
    half, between = np.zeros(KINDS), np.zeros(KINDS)
    sum_line(lines, 0, 0.5, 0.0, 0, half)
    sum_line(lines._replace(edges=lines.edges.mean(axis=0, keepdims=True)), 0, 0.0, 0.0, 0, between)
    assert half == pytest.approx(between, abs=1e-3)


def test_sums_that_begin_lower_are_the_same_below(lines):
    """Integrals that start at a lower row give the same difference between two lines."""
    down = lines.sums.reshape(lines.shape)
    cut = lines._replace(
        sums=np.ascontiguousarray(down[3:] - down[3]).reshape(-1), shape=(ROWS - 2, COLUMNS, KINDS), first_row=3
    )
    upper, lower, cut_upper, cut_lower = (np.zeros(KINDS) for _ in range(4))
    for of, first, second in ((lines, upper, lower), (cut, cut_upper, cut_lower)):
        sum_line(of, 0, 0.0, 0.0, 0, first)
        sum_line(of, 1, 0.0, 0.0, 0, second)
    assert cut_lower - cut_upper == pytest.approx(lower - upper, abs=1e-3)


@pytest.mark.parametrize("first_row", [0, 4])
def test_integrals_are_plain_sums_over_visible_pixels(first_row):
    """Integrals agree with cumulative sums over visible pixels."""
    rng, materials, cells = np.random.default_rng(1), 3, np.array([1, 0])
    shape = (2, ROWS, COLUMNS)
    observations = Observations(
        rng.integers(0, 256, (*shape, 3)).astype(np.uint8),
        np.ones((2, 3), np.float32),
        rng.normal(size=(2, 3, 256)).astype(np.float32),
        np.zeros((2, 3, 256), np.int32),
        rng.integers(0, 50, shape).astype(np.int32),
        rng.normal(size=shape).astype(np.float32),
        rng.normal(size=(50, Materials.SIDE + 2 * AT_ONCE)).astype(np.float32),
    )
    flat_px = rng.permutation(ROWS * COLUMNS * 2).astype(np.int32).reshape(shape)
    rank, visible = np.array([2, 5], np.int32), rng.random(shape) < 0.8
    background, nearest = rng.integers(0, Materials.SIDE, flat_px.size), rng.integers(0, 7, flat_px.size)
    labels = ((nearest << RANK_BITS) + background).astype(np.uint16).reshape(1, -1)

    columns = CropColumns(observations, Visibility(flat_px, visible, rank), labels, first_row, materials)
    integrals = empty_integrals(columns, True)

    for cell in cells:
        occluded = integrate_columns(columns, cell, integrals)
        counts = (visible[cell] & (nearest[flat_px[cell]] <= rank[cell]))[first_row:]
        likely = observations.colour_model[observations.bins[cell]]
        behind = np.take_along_axis(likely, background[flat_px[cell]][..., None], axis=2)
        is_floor = (background[flat_px[cell]] == Materials.FLOOR)[..., None]
        behind = np.where(is_floor, observations.floor[cell][..., None], behind)
        logs = [observations.logs[cell, channel][observations.codes[cell, ..., channel]] for channel in range(3)]
        pixels = np.concatenate(
            [
                likely[..., Materials.SIDE :][..., :materials] - behind,
                np.max(logs, axis=0)[..., None],
                np.ones((ROWS, COLUMNS, 1)),
            ],
            axis=2,
        )[first_row:]
        expected = (pixels * counts[..., None]).cumsum(axis=0)
        meant = [*range(materials), -2, -1]
        np.testing.assert_allclose(integrals.sums[1:, :, meant], expected, atol=1e-4)
        assert not integrals.sums[0].any()
        assert occluded == pytest.approx(1 - counts.mean())
    assert integrals.first_row == first_row


@pytest.mark.parametrize(
    ("has_faces", "is_learned", "probability"),
    [(True, False, OTHER_COLOUR_PROBABILITY), (False, False, 0.0), (False, True, OTHER_COLOUR_PROBABILITY)],
)
def test_a_face_may_mirror_any_colour_and_a_pyramid_on_a_learned_board_alone(has_faces, is_learned, probability):
    """Pyramids have no upper faces; on a printed mat they are told apart by their colours only."""
    shape = (1, ROWS, COLUMNS)
    observations = Observations(
        np.zeros((*shape, 3), np.uint8),
        np.ones((1, 3), np.float32),
        np.zeros((1, 3, 256), np.float32),
        np.zeros((1, 3, 256), np.int32),
        np.zeros(shape, np.int32),
        np.zeros(shape, np.float32),
        np.zeros((1, Materials.SIDE + 2 * AT_ONCE), np.float32),
    )
    if is_learned:
        observations = observations._replace(expected=np.zeros((1, *observations.expected.shape[1:]), np.float32))
    visibility = Visibility(np.zeros(shape, np.int32), np.ones(shape, np.bool_), np.array([1], np.int32))
    columns = CropColumns(observations, visibility, np.zeros((1, 1), np.uint16), 0, 3)
    assert empty_integrals(columns, has_faces).outlier_probability == probability


def test_lines_cover_the_columns_of_their_configuration(lines):
    """Lines have the edges of their cell and configuration, restricted to the columns that it covers."""
    edges = np.arange(2 * 2 * 3 * 5, dtype=np.float32).reshape(2, 2, 3, 5)
    covers = np.zeros((2, 2, 5), np.bool_)
    covers[1, 1, 2:4] = True
    table = OutlineTable(
        edges, covers, np.arange(3, 8), np.array([1, 1]), np.ones((2, 1), bool), True, 2.0, np.ones(2, np.float32), 1.0
    )
    integrals = integrals_of(lines)
    of = lines_of(integrals, table, 1, 1)
    assert (of.covered, of.left, of.first_row, of.shape) == ((2, 4), 3, integrals.first_row, lines.shape)
    np.testing.assert_array_equal(of.edges, edges[1, 1])
    first, end = lines_of(integrals, table, 0, 0).covered
    assert first == end
