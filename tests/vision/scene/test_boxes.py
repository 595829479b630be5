"""Overlapping boxes, and partitions into groups without overlap."""

import numpy as np

from vision.scene.boxes import group_boxes, overlaps

BOXES = np.array([[0, 0, 8, 8], [10, 0, 18, 8], [5, 5, 13, 13], [30, 30, 38, 38]], np.float32)


def test_touching_boxes_share_more_than_an_edge():
    """Boxes that share only an edge do not count as overlapping."""
    assert overlaps(np.array([0, 0, 10, 8], np.float32), BOXES).tolist() == [True, False, True, False]


def test_no_two_boxes_of_a_group_overlap():
    """Boxes of one group do not overlap, and fewer groups than boxes are needed."""
    low = np.random.default_rng(0).uniform(0, 60, (30, 2))
    groups = group_boxes(np.hstack([low, low + 12]).astype(np.float32))
    for one in range(30):
        for other in range(one):
            if groups[one] == groups[other]:
                assert (np.abs(low[one] - low[other]) >= 12).any()
    assert 1 < groups.max() + 1 < 30


def test_boxes_apart_are_one_group():
    """Separate boxes form one group."""
    assert group_boxes(BOXES[[0, 1, 3]]).tolist() == [0, 0, 0]
