"""Boundaries of pyramids in a picture: those that were rendered are likely, and no others."""

import numpy as np

from tests.vision.likelihood.two_pyramids import ALONE, TOWER, two_pyramids
from vision.likelihood.lateral_boundaries import boundary_log_ratio, make_contrasts
from vision.likelihood.lateral_runs import LATERAL_FACES, make_lateral_faces, make_walk, pyramids_of, visible_runs

ROWS, COLUMNS, MIDDLE = 120, 90, 45
GROUND, FACE_CODES = 200, (184, 214)
LARGE, SMALL = (40, 100, 25), (20, 70, 14)
"""First row, last row, and half of the width in columns, of a pyramid alone and of one placed on top of it."""
SIDES = np.array([[1, 0, 2, 3]] * 2)


def log_ratios(pyramids, *, darker=0.0, codes=FACE_CODES):
    """Return (2,) log-likelihood ratios of the large pyramid alone and of the tower, for a rendered picture.

    ``darker``: by how many codes each face darkens from its top to its foot.
    """
    image = np.full((ROWS, COLUMNS, 3), GROUND, float)
    for first, last, half in pyramids:
        fall = np.linspace(0, darker, last - first)[:, None, None]
        image[first:last, MIDDLE - half : MIDDLE] = codes[0] - fall
        image[first:last, MIDDLE : MIDDLE + half] = codes[1] - fall
    codes = (image + np.random.default_rng(3).normal(0, 1, image.shape)).astype(np.uint8)
    return compared(codes)


def compared(codes, sides=SIDES, *, is_looked_at=True, board=None):
    """Return (2,) log-likelihood ratios of the large pyramid alone and of the tower.

    ``board``: (rows, columns, 3) display values of the learned board.
    """
    crop_faces, counted = two_pyramids(LARGE, SMALL, COLUMNS), np.full((ROWS, COLUMNS), is_looked_at)
    faces = make_lateral_faces(crop_faces.far[0], crop_faces.near[0])
    bare = None if board is None else (board, counted)
    contrasts, ratios = make_contrasts(codes, counted, (4, 2.0), sides, bare), []
    # Pad to three pyramids, as for the kits, so that no further variants of these loops are compiled.
    towers = np.pad(crop_faces.towers, ((0, 0), (0, 0), (0, 1)), constant_values=-1)
    for tower in map(pyramids_of, towers):
        pyramids = tower.shape[1]
        walk, at = make_walk(pyramids, COLUMNS), np.zeros((pyramids, 3))
        count = visible_runs(walk, faces, tower, at, ROWS, 1)
        ratios.append(boundary_log_ratio(contrasts, walk, count, 1, np.zeros(pyramids * len(LATERAL_FACES))))
    return ratios


def test_boundaries_that_were_drawn_are_likelier_than_none():
    """The boundaries of the rendered pyramid are likelier than none, and than those of a tower."""
    alone, tower = log_ratios([LARGE])
    assert alone > 3
    assert alone > tower + 3


def test_the_foot_of_a_pyramid_on_another_one_is_a_boundary():
    """The foot of the upper pyramid is recognised as a boundary."""
    alone, tower = log_ratios([LARGE, SMALL])
    assert tower > alone + 3


def test_pale_pyramids_have_faint_boundaries():
    """Pink pyramids on paper of equal brightness: only nine codes of contrast from blue to red."""
    pink = np.array([GROUND - 4, GROUND - 3, GROUND + 5])
    alone, tower = log_ratios([LARGE], codes=(pink, pink + 2))
    assert alone > 3
    assert alone > tower + 3


def test_light_that_falls_off_along_a_face_is_no_boundary():
    """A gradient along a face is not taken for the boundary of a further pyramid."""
    alone, tower = log_ratios([LARGE], darker=40.0)
    assert alone > tower + 3


def test_faces_of_one_colour_may_meet_unseen():
    """A missing boundary counts less between equal sides of two pyramids than between different ones."""
    even = np.full((ROWS, COLUMNS, 3), GROUND, np.uint8)
    assert compared(even)[ALONE] < 0
    turned = np.array([SIDES[0], [0, 1, 2, 3]])
    assert compared(even)[TOWER] > compared(even, turned)[TOWER]


def test_what_is_not_looked_at_says_nothing():
    """Pixels that are not counted give no evidence."""
    codes = np.random.default_rng(3).integers(0, 255, (ROWS, COLUMNS, 3), np.uint8)
    assert compared(codes, is_looked_at=False)[ALONE] == 0


def test_what_changes_on_the_bare_board_as_well_says_nothing():
    """Contrasts that the bare board has as well give no evidence."""
    board = np.full((ROWS, COLUMNS, 3), GROUND, np.uint8)
    board[LARGE[0] : LARGE[1], MIDDLE - LARGE[2] : MIDDLE + LARGE[2]] = GROUND - 20
    seen = (board + np.random.default_rng(3).normal(0, 1, board.shape)).astype(np.uint8)
    assert compared(seen)[ALONE] > 3
    assert compared(seen, board=board)[ALONE] <= 0


def test_a_pyramid_beside_a_line_of_the_board_is_seen():
    """A pyramid is recognised near a printed line."""
    board = np.full((ROWS, COLUMNS, 3), GROUND, np.uint8)
    board[LARGE[1] + 5 : LARGE[1] + 8] = 40
    seen = board.copy()
    seen[LARGE[0] : LARGE[1], MIDDLE - LARGE[2] : MIDDLE + LARGE[2]] = GROUND - 20
    assert compared(seen, board=board)[ALONE] > 3
