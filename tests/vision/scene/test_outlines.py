"""Extents of a wireframe in each column of a crop, and occlusion between its parts."""

import numpy as np

from vision.scene.outlines import extents, stacked_edges

U_MM = np.arange(-6, 7, 2, dtype=np.int32)
DIAMOND = np.array([[0.0, -4.0], [4.0, 0.0], [0.0, 4.0], [-4.0, 0.0]])
AROUND = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])


def test_extents_of_a_square_on_its_tip():
    """Extents of a diamond shape per column; columns outside are infinite."""
    far, near = extents(DIAMOND[None], AROUND, U_MM)
    assert far[0].tolist() == [np.inf, 0, -2, -4, -2, 0, np.inf]
    assert near[0].tolist() == [-np.inf, 0, 2, 4, 2, 0, -np.inf]


def test_a_column_through_a_vertical_line_is_reached_by_the_other_lines():
    """A vertical edge does not disturb the extents."""
    upright = np.array([[-2.0, -1.0], [-2.0, 3.0], [2.0, 3.0], [2.0, -1.0]])
    far, near = extents(upright[None], AROUND, U_MM)
    assert far[0].tolist() == [np.inf, np.inf, -1, -1, -1, np.inf, np.inf]
    assert near[0].tolist() == [-np.inf, -np.inf, 3, 3, 3, -np.inf, -np.inf]


def rows(*values):
    """Return (parts, one cell, columns) float32 from one row of values per part."""
    return np.array(values, np.float32)[:, None]


def test_each_part_begins_where_the_one_above_ends():
    """Each part begins where the one above it ends."""
    far, near = rows([0, 0], [4, 4], [9, 9]), rows([5, 5], [10, 10], [12, 12])
    edges, covers = stacked_edges(far, near, np.array([0, 1, 2]), 4)
    assert edges[0, :, 0].tolist() == [0, 5, 10, 12]
    assert covers.tolist() == [[True, True]]


def test_a_part_that_another_hides_has_no_extent():
    """A part completely hidden by another has an empty extent."""
    far, near = rows([0], [1]), rows([8], [5])
    edges, _ = stacked_edges(far, near, np.array([0, 1]), 4)
    assert edges[0, :, 0].tolist() == [0, 8, 8, 8]


def test_a_column_may_begin_with_a_lower_part_or_with_none():
    """A column may start with a lower part, or contain none."""
    far, near = rows([np.inf, np.inf], [3, np.inf]), rows([-np.inf, -np.inf], [7, -np.inf])
    edges, covers = stacked_edges(far, near, np.array([0, 1]), 3)
    assert edges[0, :, 0].tolist() == [3, 3, 7]
    assert edges[0, :, 1].tolist() == [0, 0, 0]
    assert covers.tolist() == [[True, False]]
