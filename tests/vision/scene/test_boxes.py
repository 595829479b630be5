"""Boxes that overlap, and groups in which none do."""

import numpy as np

from vision.scene.boxes import grouped, touching

LOW = np.array([[0.0, 0], [10, 0], [5, 5], [30, 30]])
HIGH = LOW + 8


def test_touching_boxes_share_more_than_an_edge():
    assert touching(np.array([0.0, 0, 10, 8]), (LOW, HIGH)).tolist() == [True, False, True, False]


def test_no_two_boxes_of_a_group_overlap():
    low = np.random.default_rng(0).uniform(0, 60, (30, 2))
    groups = grouped((low, low + 12))
    for one in range(30):
        for other in range(one):
            if groups[one] == groups[other]:
                assert (np.abs(low[one] - low[other]) >= 12).any()
    assert 1 < groups.max() + 1 < 30


def test_boxes_apart_are_one_group():
    assert grouped((LOW[[0, 1, 3]], HIGH[[0, 1, 3]])).tolist() == [0, 0, 0]
