"""Visible or missing edges where a piece may stand, as evidence for or against it."""

import numpy as np
import pytest

from vision.likelihood.edges import edge_log_ratio
from vision.scene.materials import Materials

ROWS, COLUMNS = 60, 20
FAR, NEAR, FOOT, LEFT, RIGHT = 15.0, 30.0, 45.0, 5, 15
RANK = 7
WALL, GROUND = (RANK << 8) + Materials(5).column_side, (RANK << 8) + Materials(5).column_tops


@pytest.fixture
def surfaces():
    """Return (rows, columns) labels of bare ground."""
    return np.full((ROWS, COLUMNS), GROUND, np.uint16)


@pytest.fixture
def codes():
    """Return (rows, columns, 3) codes of uniform grey with noise."""
    rng = np.random.default_rng(3)
    return np.clip(rng.normal(120, 4, (ROWS, COLUMNS, 1)).repeat(3, axis=2), 0, 255).astype(np.uint8)


@pytest.fixture
def ratio(one_box):
    """Return a function for the log-likelihood ratio of a piece from its edges."""

    def of(codes, surfaces, visible=True):
        """Return the ratio of a box with a face on a cell whose crop shows ``codes`` (rows, columns, 3)."""
        observations, visibility, table = one_box(codes, visible, RANK, (FAR, NEAR, FOOT), np.arange(LEFT, RIGHT))
        return edge_log_ratio(observations, visibility, surfaces, table, np.array([0]), 1)[0, 0]

    return of


def box(codes, factor):
    """Return ``codes`` with the outline of the box scaled in brightness by ``factor``."""
    darker = codes.copy()
    inside = np.s_[int(FAR) : int(FOOT), LEFT:RIGHT]
    darker[inside] = darker[inside] * factor
    return darker


def test_a_visible_outline_is_evidence_of_a_piece_though_it_may_be_a_shadows(ratio, codes, surfaces):
    """An outline with a change in brightness only is moderate evidence, because it may be a shadow's."""
    assert 3 < ratio(box(codes, 0.5), surfaces) < 10
    assert 3 < ratio(box(codes, 1.6), surfaces) < 10


def test_one_of_another_colour_is_no_shadows(ratio, codes, surfaces):
    """An outline with a change in colour is strong evidence."""
    assert ratio(box(codes, np.array([1.0, 0.8, 1.2])), surfaces) > 15
    assert ratio(box(codes, np.array([0.5, 0.5, 0.75])), surfaces) > 15


def test_even_ground_is_evidence_against_one(ratio, codes, surfaces):
    """Uniform ground is evidence against a piece."""
    assert ratio(codes, surfaces) < -10


def test_occluded_pixels_and_the_table_are_no_evidence(ratio, codes, surfaces):
    """Invisible pixels, flat ground, and surfaces nearer than the cell give no evidence."""
    assert ratio(box(codes, 0.5), surfaces, visible=False) == 0
    assert ratio(box(codes, 0.5), np.full_like(surfaces, (RANK << 8) + Materials.FLOOR)) == 0
    assert ratio(box(codes, 0.5), surfaces + (1 << 8)) == 0


def test_a_visible_edge_that_a_piece_would_occlude_is_evidence_against_it(ratio, codes, surfaces):
    """A visible edge that a piece would hide is evidence against it."""
    surfaces[:23] = WALL
    lit = codes.copy()
    lit[23:] = lit[23:] * 1.6
    unseen = ratio(codes, surfaces)
    assert ratio(lit, surfaces) < unseen - 5


def test_a_shadow_across_the_ground_is_no_outline(ratio, codes, surfaces):
    """A shadow edge through the middle gives no positive evidence."""
    shaded = codes.copy()
    shaded[:, : COLUMNS // 2] = shaded[:, : COLUMNS // 2] * 0.5
    assert ratio(shaded, surfaces) < 0
