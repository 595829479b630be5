"""Surfaces of a faint piece, of even ground, and of ground in soft shadow."""

import numpy as np
import pytest

from vision.likelihood.observations import Observations
from vision.likelihood.surfaces import surface_log_ratio
from vision.scene.materials import Materials
from vision.scene.outline_table import OutlineTable
from vision.scene.visibility import Visibility

ROWS, COLUMNS, COLUMN_MM = 60, 20, 2
FAR, NEAR, FOOT, LEFT, RIGHT, EDGE = 15, 30, 45, 5, 15, 9
RANK = 7
GROUND = (RANK << 8) + Materials.FLOOR


@pytest.fixture
def ground():
    return np.random.default_rng(3).normal(150, 3, (ROWS, COLUMNS))


def ratio(codes, visible=True):
    """Of one cube on one cell whose crop shows ``codes`` (rows, columns)."""
    shown = np.clip(codes, 0, 255).astype(np.uint8)[..., None].repeat(3, axis=2)
    bins, colour_model = np.zeros((1, ROWS, COLUMNS), np.int32), np.zeros((1, 1), np.float32)
    logs = np.broadcast_to(np.log(np.arange(256) / 255 + 0.05), (1, 3, 256)).astype(np.float32)
    observations = Observations(
        shown[None], np.ones((1, 3), np.float32), logs, bins, np.zeros(bins.shape, np.float32), colour_model
    )
    flat_px = np.arange(ROWS * COLUMNS, dtype=np.int32).reshape(1, ROWS, COLUMNS)
    visibility = Visibility(flat_px, np.full((1, ROWS, COLUMNS), visible), np.array([RANK], np.int32))
    wide = np.arange(LEFT, RIGHT)
    edges = np.broadcast_to(np.array([FAR, NEAR, FOOT])[:, None], (1, 1, 3, len(wide))).astype(np.float32)
    covers, allowed = np.ones((1, 1, len(wide)), np.bool_), np.ones((1, 1), np.bool_)
    table = OutlineTable(edges, covers, wide, np.array([1]), allowed, True, COLUMN_MM, np.ones(1, np.float32), 0.1)
    labels = np.full((ROWS, COLUMNS), GROUND, np.uint16)
    return surface_log_ratio(observations, visibility, labels, table, (0, np.ones(1, np.bool_), np.array([EDGE])))[0]


def cube(codes, faint, shift=0):
    lit = codes.copy()
    lit[FAR + shift : NEAR + shift, LEFT:RIGHT] *= 1 + faint
    lit[NEAR + shift : FOOT + shift, LEFT:EDGE] *= 1 - 2 * faint
    lit[NEAR + shift : FOOT + shift, EDGE:RIGHT] *= 1 - faint
    return lit


def test_faint_surfaces_where_a_cube_has_them_speak_for_it(ground):
    assert ratio(cube(ground, 0.15)) > 15


def test_a_little_off_its_place_too(ground):
    assert ratio(cube(ground, 0.1, shift=2)) > 15


def test_even_ground_speaks_against_one(ground):
    assert ratio(ground) < -5


def test_soft_shadow_over_the_ground_does_not_speak_for_one(ground):
    assert ratio(ground * np.linspace(0.6, 1, ROWS)[:, None]) < 0
    assert ratio(ground * np.linspace(1, 0.6, COLUMNS)) < 0


def test_nothing_is_said_of_what_is_hidden(ground):
    assert ratio(cube(ground, 0.05), visible=False) == 0
