"""How much of a face nearer stacks leave visible."""

import numpy as np
import pytest

from vision.glyphs.face_visibility import are_visible, sample_places, visible_shares
from vision.glyphs.faces import Faces
from vision.scene.label_buffer import RANK_BITS

MIDDLE_PX, RADIUS_MM, RANK = (60.0, 50.0), 12.0, 3


def face():
    """Return one face, seen obliquely."""
    return Faces(np.array([MIDDLE_PX]), np.array([[[3.0, 0.2], [0.0, 2.0]]]), np.array([RADIUS_MM]), np.array([RANK]))


@pytest.mark.parametrize(("rank", "is_hidden"), [(RANK - 1, False), (RANK, False), (RANK + 1, True)])
def test_only_what_is_nearer_hides_a_face(rank, is_hidden):
    """What stands farther away, or on the same cell, hides nothing."""
    labels = np.full((100, 120), rank << RANK_BITS, np.uint16)
    assert visible_shares(labels, face()) == (0 if is_hidden else 1)


def test_the_part_that_a_nearer_stack_covers_is_hidden():
    """Places to the right of the edge of a nearer stack are hidden, those to the left are not."""
    labels = np.zeros((100, 120), np.uint16)
    labels[:, 65:] = (RANK + 1) << RANK_BITS
    np.testing.assert_array_equal(are_visible(labels, face()), np.rint(sample_places(face())[..., 0]) < 65)
    assert 0.4 < visible_shares(labels, face())[0] < 0.8


def test_beyond_the_edge_of_the_picture_its_last_pixels_tell():
    """A face that extends beyond the picture is sampled at its edge."""
    labels = np.zeros((40, 50), np.uint16)
    assert visible_shares(labels, face()) == 1
