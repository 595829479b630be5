"""Stacks: scores against plain sums, and drawn stacks whose height, colour and place are recovered."""

import numpy as np
import pytest

from vision.likelihood.column_integrals import CropColumns
from vision.likelihood.observations import Observations
from vision.likelihood.stacks import (
    IMPOSSIBLE,
    OUT_OF_REACH,
    piece_like_share,
    score_cells,
    score_placed,
    score_upright,
)
from vision.scene.label_buffer import RANK_BITS
from vision.scene.materials import Materials
from vision.scene.outline_table import OutlineTable
from vision.scene.visibility import Visibility

ROWS, COLUMNS, HEIGHTS, COLOURS = 70, 16, 4, 2
CHANNELS = 1 + 2 * COLOURS
FIRST, K, FOOT, FACE_ROWS, SIDE_ROWS = 3, 10, 60, 10, 7
RIM = np.zeros(3, np.float32)
CELL = np.array([0])


@pytest.fixture
def table():
    """Return the outline table of stacks of one to four boxes on one cell."""
    edges = np.full((1, HEIGHTS, HEIGHTS + 2, K), FOOT, np.float32)
    for height in range(1, HEIGHTS + 1):
        near = FOOT - height * SIDE_ROWS
        edges[0, height - 1, 0] = near - FACE_ROWS
        for line in range(height + 1):
            edges[0, height - 1, 1 + line] = near + line * SIDE_ROWS
    covers, columns = np.ones((1, HEIGHTS, K), np.bool_), np.arange(FIRST, FIRST + K)
    allowed, steep = np.ones((HEIGHTS, COLOURS), np.bool_), np.full(1, 0.6, np.float32)
    return OutlineTable(edges, covers, columns, np.arange(1, HEIGHTS + 1), allowed, True, 2.0, steep, 0.05)


def columns_of(pixels):
    """Return one cell's crop with log-likelihood ratios ``pixels`` (rows, columns, channels), all of it visible."""
    count = ROWS * COLUMNS
    model = np.zeros((count, Materials.SIDE + CHANNELS), np.float32)
    model[:, Materials.SIDE :] = pixels.reshape(count, -1)
    bins = np.arange(count, dtype=np.int32).reshape(1, ROWS, COLUMNS)
    observations = Observations(
        np.zeros((1, ROWS, COLUMNS, 3), np.uint8),
        np.ones((1, 3), np.float32),
        np.zeros((1, 3, 256), np.float32),
        np.zeros((1, 3, 256), np.int32),
        bins,
        np.zeros((1, ROWS, COLUMNS), np.float32),
        model,
    )
    labels = np.full((ROWS, COLUMNS), Materials.FLOOR, np.uint16)
    visibility = Visibility(bins, np.ones((1, ROWS, COLUMNS), np.bool_), np.array([1], np.int32))
    return CropColumns(observations, visibility, labels, 0, CHANNELS)


def stack(height, colour, face_rows=0, column=0):
    """Return log-likelihood ratios (rows, columns, channels) of a stack whose face is displaced."""
    pixels = np.full((ROWS, COLUMNS, CHANNELS), -5.0)
    near, inside = FOOT - height * SIDE_ROWS + face_rows, slice(FIRST + column, FIRST + column + K)
    pixels[near - FACE_ROWS : near, inside, 1 + colour] = 5.0
    pixels[near:FOOT, inside, 0] = 5.0
    pixels[near:FOOT, inside, 1 + COLOURS + colour] = 5.0
    return pixels


def test_undisplaced_scores_are_plain_sums(table):
    """Scores of undisplaced stacks agree with plain sums plus the prior; forbidden colours are ruled out."""
    pixels = np.random.default_rng(0).normal(size=(ROWS, COLUMNS, CHANNELS))
    table.allowed[2, 1] = False
    prior = np.array([[0.0, -1.0, -2.0]], np.float32)
    scores = score_upright(columns_of(pixels), table, CELL, prior)[0]
    inside = slice(FIRST, FIRST + K)
    for height in range(1, 4):
        near = FOOT - height * SIDE_ROWS
        for colour in range(COLOURS):
            face, sides = pixels[near - FACE_ROWS : near, inside, 1 + colour], pixels[near:FOOT, inside, 0]
            expected = 0.05 * (face.sum() + sides.sum()) if (height, colour) != (3, 1) else IMPOSSIBLE
            assert scores[height - 1, colour] == pytest.approx(expected + prior[0, height - 1], abs=1e-3)
    assert (scores[3] == OUT_OF_REACH).all()


@pytest.mark.parametrize("is_single_size", [True, False])
@pytest.mark.parametrize(("height", "colour", "face_rows", "column"), [(1, 0, 0, 0), (2, 1, -2, 1), (3, 0, 1, -1)])
def test_a_drawn_stack_is_the_likeliest(table, height, colour, face_rows, column, is_single_size):
    """The rendered stack scores highest, with its displacement recovered."""
    prior = np.zeros((1, HEIGHTS), np.float32)
    pixels = stack(height, colour, face_rows, column)
    scored = score_cells(columns_of(pixels), RIM, table, CELL, prior, is_single_size)
    assert scored.occluded[0] == 0
    assert np.unravel_index(scored.scores[0].argmax(), scored.scores[0].shape) == (height - 1, colour)
    assert scored.shift[0] == pytest.approx([2.0 * column, face_rows], abs=1)
    placed = score_placed(
        columns_of(pixels), RIM, table, CELL, np.array([[height - 1]]), scored.shift[:, None], np.array([colour])
    )
    assert placed[0, 0, colour] == pytest.approx(scored.scores[0, height - 1, colour], abs=1)


def test_the_share_that_looks_like_a_piece_is_one_of_the_visible_outline(table):
    """The upper half of a single piece is occluded; three columns in ten of the lower half look like a side."""
    likely = np.full((2, Materials.TOPS + COLOURS), -9.0, np.float32)
    likely[:, Materials.FLOOR], likely[1, Materials.STANDING] = -4.0, -3.0
    bins = np.zeros((1, ROWS, COLUMNS), np.int32)
    bins[0, :, FIRST : FIRST + 3] = 1
    nothing = np.zeros(0)
    observations = Observations(nothing, nothing, nothing, nothing, bins, likely[..., 0][bins], likely)
    flat_px = np.arange(ROWS * COLUMNS, dtype=np.int32).reshape(1, ROWS, COLUMNS)
    labels, rows = np.zeros((ROWS, COLUMNS), np.uint16), FACE_ROWS + SIDE_ROWS
    labels[: FOOT - rows // 2] = 2 << RANK_BITS
    visibility = Visibility(flat_px, np.ones((1, ROWS, COLUMNS), np.bool_), np.array([1], np.int32))
    like_piece, in_sight = piece_like_share(observations, visibility, labels, table, CELL)
    assert in_sight[0] == pytest.approx((rows // 2) / rows, abs=1e-3)
    assert like_piece[0] == pytest.approx(0.3 * (rows // 2) / rows, abs=1e-3)
