"""Facets: of towers drawn with evenly coloured flanks, the right one is the likeliest, wherever it is placed."""

import numpy as np
import pytest

from vision.likelihood.facets import FLANKS, Facets, _flanks, facet_log_likelihood
from vision.likelihood.observations import Backdrop, Observations
from vision.scene.configurations import TURNS_DEG
from vision.scene.outlines import extents

ROWS, COLUMNS, MIDDLE = 60, 41, 20
LARGE, SMALL = (20.0, 50.0, 12), (8.0, 35.0, 6)
"""First and last row, and half of the width in columns, of a pyramid alone, and of one that is put over it."""

ALONE, TOWER = 0, 1


def pair_of_flanks(first, last, half):
    """(flanks, k) rows in which flanks that meet in the middle begin and end; the other two are hidden."""
    far, near = np.full((len(FLANKS), COLUMNS), np.inf), np.full((len(FLANKS), COLUMNS), -np.inf)
    for flank, columns in ((0, slice(MIDDLE - half, MIDDLE)), (1, slice(MIDDLE, MIDDLE + half))):
        far[flank, columns], near[flank, columns] = first, last
    return far, near


@pytest.fixture
def facets():
    """A large pyramid, and a tower of it and a small one, which look the same in all rotations."""
    far, near = np.array([pair_of_flanks(*LARGE), pair_of_flanks(*SMALL)], np.float32).transpose(1, 0, 2, 3)[:, None]
    towers = np.array([[[0, -1]], [[1, 0]]]).repeat(len(TURNS_DEG), axis=1)
    return Facets(np.ascontiguousarray(far), np.ascontiguousarray(near), towers)


def ratios(facets, pyramids, right=0, down=0):
    """(tower,) log-likelihood ratios for a drawing of ``pyramids``, the lowest first, displaced by so many mm."""
    rng = np.random.default_rng(4)
    codes, base = np.full((ROWS, COLUMNS), 200.0), np.full((ROWS, COLUMNS), -5.0)
    for number, (first, last, half) in enumerate(pyramids):
        rows = slice(round(first) + down, round(last) + down)
        for flank, left in enumerate((MIDDLE - half, MIDDLE)):
            columns = slice(left + right, left + half + right)
            codes[rows, columns], base[rows, columns] = 60 + 70 * flank + 30 * number, -12.0
    codes = (codes + rng.normal(0, 3, codes.shape)).clip(0, 255).astype(np.uint8)
    observations = Observations(
        codes[None, ..., None].repeat(3, axis=3),
        np.full((1, 3), 1 / 255, np.float32),
        np.zeros((1, 3, 256), np.float32),
        np.zeros((1, ROWS, COLUMNS), np.int32),
        np.zeros((1, 1), np.float32),
    )
    behind = Backdrop(base[None].astype(np.float32), np.ones((1, ROWS, COLUMNS), np.bool_))
    likely = facet_log_likelihood(observations, behind, facets, np.array([0]), np.zeros((1, 2), np.float32))
    return likely.reshape(2, len(TURNS_DEG)).max(axis=1)


@pytest.mark.parametrize(("right", "down"), [(0, 0), (1, -1), (-1, 2)])
def test_the_tower_that_was_drawn_is_the_likeliest(facets, right, down):
    alone, tower = ratios(facets, [LARGE], right, down), ratios(facets, [LARGE, SMALL], right, down)
    assert alone[ALONE] == 0
    assert alone[TOWER] < -3
    assert tower[TOWER] == 0
    assert tower[ALONE] < -10


def test_visible_flanks_cover_the_outline_of_their_pyramid():
    """Seen from a corner; the more obliquely a flank is seen, the earlier it comes."""
    corners = np.array([[[-10.0, 0], [8, 6], [12, -4], [-7, -9], [1, -30]]])
    facing = np.array([[0.7, 0.3, -0.2, -0.6]])
    u_mm = np.arange(-15, 16, dtype=np.int32)
    far, near = _flanks(corners, facing, u_mm)
    np.testing.assert_array_equal(np.isfinite(far).any(axis=(1, 2)), [False, False, True, True])
    order = np.argsort(facing[0])[2:]
    for number, flank in zip((2, 3), order, strict=True):
        a, b, tip = FLANKS[flank]
        lines = np.array([(a, b), (b, tip), (tip, a)])
        np.testing.assert_array_equal((far[number], near[number]), extents(corners, lines, u_mm))
