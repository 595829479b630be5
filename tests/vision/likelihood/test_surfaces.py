"""Evidence from the surfaces of a faint piece, of uniform ground, and of ground in soft shadow."""

import numpy as np
import pytest

from vision.likelihood.surfaces import surface_log_ratio
from vision.scene.materials import Materials

ROWS, COLUMNS = 60, 20
FAR, NEAR, FOOT, LEFT, RIGHT, EDGE = 15, 30, 45, 5, 15, 9
RANK = 7
GROUND = (RANK << 8) + Materials.FLOOR


@pytest.fixture
def ground():
    """Return (rows, columns) codes of uniform ground with noise."""
    return np.random.default_rng(3).normal(150, 3, (ROWS, COLUMNS))


@pytest.fixture
def ratio(one_box):
    """Return a function for the log-likelihood ratio of a cube from its surfaces."""

    def of(codes, visible=True, expected=None):
        """Return the ratio of one cube on a cell whose crop shows ``codes``, grey or with 3 channels."""
        coloured = codes if codes.ndim == 3 else codes[..., None].repeat(3, axis=2)
        shown = np.clip(coloured, 0, 255).astype(np.uint8)
        observations, visibility, table = one_box(
            shown, visible, RANK, (FAR, NEAR, FOOT), np.arange(LEFT, RIGHT), expected
        )
        labels = np.full((ROWS, COLUMNS), GROUND, np.uint16)
        cube = 0, np.ones(1, np.bool_), np.array([EDGE])
        return surface_log_ratio(observations, visibility, labels, table, cube, None)[0]

    return of


def cube(codes, faint, shift=0):
    """Return ``codes`` with a cube whose face is brighter and whose sides are darker by multiples of ``faint``.

    ``shift``: displacement in rows.
    """
    lit = codes.copy()
    lit[FAR + shift : NEAR + shift, LEFT:RIGHT] *= 1 + faint
    lit[NEAR + shift : FOOT + shift, LEFT:EDGE] *= 1 - 2 * faint
    lit[NEAR + shift : FOOT + shift, EDGE:RIGHT] *= 1 - faint
    return lit


def test_faint_surfaces_where_a_cube_has_them_speak_for_it(ratio, ground):
    """Faces with a contrast of 15 % are strong evidence."""
    assert ratio(cube(ground, 0.15)) > 15


def test_a_little_off_its_place_too(ratio, ground):
    """A displacement of two rows does not matter."""
    assert ratio(cube(ground, 0.1, shift=2)) > 15


def test_another_colour_speaks_for_a_cube_that_is_as_bright_as_the_ground(ratio, ground):
    """A colour difference of equal brightness is strong evidence."""
    coloured = ground[..., None].repeat(3, axis=2)
    assert ratio(coloured) < -5
    coloured[FAR:FOOT, LEFT:RIGHT] *= (0.9, 1.0, 1.1)
    assert ratio(coloured) > 15


def test_the_colour_of_what_stands_behind_does_not_speak_for_a_tower_before_it(one_box, ground):
    """The colour of a surface behind is not taken for the upper part of a tower."""
    coloured = ground[..., None].repeat(3, axis=2)
    coloured[2:FAR, LEFT:RIGHT] *= (0.8, 1.0, 1.25)
    observations, visibility, table = one_box(
        np.clip(coloured, 0, 255).astype(np.uint8), True, RANK, (FAR, NEAR, FOOT), np.arange(LEFT, RIGHT)
    )
    rows = np.array([[FAR, NEAR, FOOT, FOOT], [2, FAR, NEAR, FOOT]], np.float32)
    table = table._replace(
        edges=np.repeat(rows[None, ..., None], RIGHT - LEFT, axis=3),
        covers=np.ones((1, 2, RIGHT - LEFT), np.bool_),
        bands=np.array([1, 2]),
        allowed=np.ones((2, 1), np.bool_),
    )
    labels = np.full((ROWS, COLUMNS), GROUND, np.uint16)
    box_and_tower = 0, np.ones(2, np.bool_), np.array([EDGE, EDGE])
    ratios = surface_log_ratio(observations, visibility, labels, table, box_and_tower, None)
    assert ratios.max() < 0


def test_even_ground_speaks_against_one(ratio, ground):
    """Uniform ground is evidence against a cube."""
    assert ratio(ground) < -5


def test_soft_shadow_over_the_ground_does_not_speak_for_one(ratio, ground):
    """A smooth gradient is not taken for a cube."""
    assert ratio(ground * np.linspace(0.6, 1, ROWS)[:, None]) < 0
    assert ratio(ground * np.linspace(1, 0.6, COLUMNS)) < 0


def test_a_pattern_of_the_learned_board_is_no_surface(ratio, ground):
    """A pattern of the learned board is not taken for a cube."""
    pattern = cube(np.full((ROWS, COLUMNS), 1.0), 0.15)
    assert ratio(ground * pattern) > 15
    assert ratio(ground * pattern, expected=np.stack([150 / 255 * pattern] * 3)) < -5


def test_nothing_is_said_of_what_is_hidden(ratio, ground):
    """Hidden pixels give no evidence."""
    assert ratio(cube(ground, 0.05), visible=False) == 0
