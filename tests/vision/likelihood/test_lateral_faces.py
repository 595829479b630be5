"""Close-up view of towers of pyramids in nearly the ground's colour: the rendered one is the likeliest."""

import numpy as np
import pytest

from tests.vision.likelihood.two_pyramids import ALONE, TOWER, two_pyramids
from vision.likelihood.hues import hue
from vision.likelihood.lateral_faces import (
    TOWERS,
    CellCloseUp,
    CellGround,
    CloseUp,
    fit_boundaries,
    fit_towers,
)
from vision.likelihood.lateral_runs import make_lateral_faces, placement_distance2
from vision.scene.crops import Crops
from vision.scene.materials import Materials

ROWS, COLUMNS, MIDDLE = 120, 90, 45
GROUND, FACE_CODES = 200, (184, 214)
LARGE, SMALL = (40, 100, 25), (20, 70, 14)
"""First row, last row, and half of the width in columns, of a pyramid alone and of one placed on top of it."""


@pytest.fixture
def close_up():
    """Return a large pyramid, and a tower of it and a small one, in crops identical to the picture."""
    row, column = np.mgrid[:ROWS, :COLUMNS].astype(np.float32)
    crops = Crops(
        origin_px=np.zeros((1, 2)),
        to_crop=np.eye(2)[None],
        to_picture=np.eye(2)[None],
        column_mm=1,
        u_mm=np.arange(COLUMNS, dtype=np.int32),
        v_mm=np.arange(ROWS, dtype=np.int32),
        map_px=np.array([column, row])[:, None],
        flat_px=(row * COLUMNS + column).astype(np.int32)[None],
        outside=np.zeros((1, ROWS, COLUMNS), np.bool_),
        foreshortening=np.ones(1, np.float32),
        centres_mm=np.zeros((1, 3)),
    )
    # The first two faces are the second and the first side.
    far, near, towers = two_pyramids(LARGE, SMALL, COLUMNS)
    close_up = CellCloseUp(crops, make_lateral_faces(far[0], near[0]))
    return CloseUp(towers, np.array([[[1, 0, 2, 3]] * 2]), lambda _cell, _per_mm: close_up)


def fitted(close_up, pyramids, tried=(True, True), board=None, is_known=True, aside=(0, 0), noise=2):
    """Return the fits to rendered ``pyramids``, on uniform ground or a ``board`` (rows, columns, 3).

    ``aside``: shift of each pyramid, in columns; ``noise``: standard deviation, in codes.
    """
    image = np.full((ROWS, COLUMNS, 3), GROUND, float) if board is None else board.astype(float)
    for (first, last, half), right in zip(pyramids, aside, strict=False):
        middle = MIDDLE + right
        image[first:last, middle - half : middle], image[first:last, middle : middle + half] = FACE_CODES
    image = (image + np.random.default_rng(3).normal(0, noise, image.shape)).astype(np.uint8)
    bare = (
        None
        if board is None
        else (
            np.where(is_known, np.moveaxis(board, 2, 0) / 255, np.nan).astype(np.float32),
            np.zeros((ROWS, COLUMNS), np.float32),
        )
    )
    ground = CellGround(np.full(3, 1 / 255, np.float32), np.full(3, GROUND / 255, np.float32), bare)
    return fit_towers(image, close_up, (0, 1, np.zeros((ROWS, COLUMNS), np.uint16)), ground, np.array(tried))


def test_the_tower_that_was_drawn_is_the_likeliest(close_up):
    """The rendered tower is the likeliest."""
    alone, tower = fitted(close_up, [LARGE]).log_likelihood, fitted(close_up, [LARGE, SMALL]).log_likelihood
    assert alone[ALONE] > alone[TOWER] + 3
    assert tower[TOWER] > tower[ALONE] + 3


def test_noise_hardly_hides_a_tower(close_up):
    """Noise averages out over a face, so it must not reduce the evidence of faces in proportion."""
    alone, tower = (fitted(close_up, put, noise=10).log_likelihood for put in ([LARGE], [LARGE, SMALL]))
    assert alone[ALONE] > alone[TOWER]
    assert tower[TOWER] > tower[ALONE] + 6


def test_a_tower_is_found_where_its_pyramids_were_not_put_exactly_on_each_other(close_up):
    """A displaced tower loses little more than the prior of its displacement."""
    right = np.array([3.0, 1.0])
    even, off = (fitted(close_up, [LARGE, SMALL], aside=aside).log_likelihood[TOWER] for aside in ((0, 0), (3, 1)))
    placed = np.column_stack([np.zeros(2), right[::-1], np.zeros(2)])
    assert off > even - 0.5 * placement_distance2(placed) / TOWERS.per_mm**2 - 2


def test_means_are_those_of_the_sides_that_faces_are(close_up):
    """The fit reports the means of the visible sides in the right order."""
    fit = fitted(close_up, [LARGE], (True, False))
    assert (fit.area_mm2[ALONE, 0] > 0).tolist() == [True, True, False, False]
    assert fit.means[ALONE, 0, :2, 0] * 255 == pytest.approx(FACE_CODES[::-1], abs=1.5)


def test_what_is_not_tried_has_no_likelihood(close_up):
    """Towers that were not tried score minus infinity."""
    likely = fitted(close_up, [LARGE], (True, False)).log_likelihood
    assert np.isfinite(likely[ALONE])
    assert likely[TOWER] == -np.inf


@pytest.fixture
def printed():
    """Return codes of a board with a print in a face's colour, where the small pyramid of the tower would be."""
    codes = np.full((ROWS, COLUMNS, 3), GROUND)
    codes[20:42, MIDDLE - 14 : MIDDLE + 14] = FACE_CODES[1]
    return codes


@pytest.mark.parametrize(("pyramids", "right", "wrong"), [([LARGE], ALONE, TOWER), ([LARGE, SMALL], TOWER, ALONE)])
def test_what_is_printed_on_a_learned_board_is_no_pyramid(close_up, printed, pyramids, right, wrong):
    """A print on a learned board is not taken for a pyramid."""
    likely = fitted(close_up, pyramids, board=printed).log_likelihood
    assert likely[right] > likely[wrong] + 3


def test_a_board_of_which_nothing_is_known_tells_nothing(close_up, printed):
    """If the board's appearance is unknown, both towers are about equally likely."""
    likely = fitted(close_up, [LARGE], board=printed, is_known=False).log_likelihood
    assert likely[ALONE] == pytest.approx(likely[TOWER], abs=1.0)


PAPER, PINK, TABLE = np.array([180.0, 190, 200]), np.array([160.0, 160, 185]), np.array([60.0, 110, 80])


def fitted_pink(close_up, image, labels):
    """Return the boundary fits of a large pink pyramid on an ``image`` (rows, columns, 3) of paper."""
    first, last, half = LARGE
    image[first:last, MIDDLE - half : MIDDLE], image[first:last, MIDDLE : MIDDLE + half] = PINK, 0.9 * PINK
    image[last:] *= 0.8
    image = (image + np.random.default_rng(3).normal(0, 2, image.shape)).astype(np.uint8)
    ground = CellGround(np.full(3, 1 / 255, np.float32), (PAPER / 255).astype(np.float32))
    return fit_boundaries(image, close_up, (0, 1, labels), ground)


def test_the_hue_of_a_tower_is_that_of_its_faces_against_the_ground_in_sun_and_shade(close_up):
    """The hue difference of a tower is that between its faces and the ground, in light and in shade."""
    image, labels = np.tile(PAPER, (ROWS, COLUMNS, 1)), np.full((ROWS, COLUMNS), Materials.FLOOR, np.uint16)
    towers = fitted_pink(close_up, image, labels)
    assert towers.log_ratio[ALONE] > towers.log_ratio[TOWER] + 3
    np.testing.assert_allclose(towers.hue[:, ALONE], np.tile(hue(PINK) - hue(PAPER), (2, 1)), atol=0.01)


def test_a_table_that_is_seen_behind_a_tower_does_not_tell_the_hue_of_the_ground(close_up):
    """Visible table behind a tower does not distort the hue of the ground."""
    image, labels = np.tile(PAPER, (ROWS, COLUMNS, 1)), np.full((ROWS, COLUMNS), Materials.FLOOR, np.uint16)
    image[:70], labels[:70] = TABLE, Materials.TABLE
    towers = fitted_pink(close_up, image, labels)
    np.testing.assert_allclose(towers.hue[:, ALONE], np.tile(hue(PINK) - hue(PAPER), (2, 1)), atol=0.02)


def test_ground_beside_the_tip_of_another_pyramid_has_the_floor_s_hue_all_the_same(close_up):
    """A red tip in the crop makes everything else there look bluer than its surroundings."""
    paper, red = np.array([180.0, 190, 200]), np.array([90.0, 90, 200])
    image = np.tile(paper, (ROWS, COLUMNS, 1))
    image[:35, MIDDLE - 20 : MIDDLE + 20] = red
    ground = CellGround(np.full(3, 1 / 255, np.float32), (paper / 255).astype(np.float32))
    seen = 0, 1, np.zeros((ROWS, COLUMNS), np.uint16)
    by_crop, by_floor = fit_boundaries(image.astype(np.uint8), close_up, seen, ground).hue[:, ALONE]
    assert np.linalg.norm(by_crop) > 0.05
    assert np.linalg.norm(by_floor) < 0.01
