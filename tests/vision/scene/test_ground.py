"""Materials of the empty mat and its surroundings."""

import numpy as np

from calibration.kit import load_kit
from vision.pose.projection import project
from vision.pose.registration import register, to_gray
from vision.scene.ground import ground_labels
from vision.scene.materials import Materials


def shown(labels, place_mm, pose, camera):
    """Return the label of the pixel that shows a place on the mat, in mm."""
    x, y = np.rint(project(np.array([[*place_mm, 0.0]]), pose, camera))[0].astype(int)
    return labels[y, x]


def test_squares_paper_and_table_are_told_apart(bench):
    """Cells, paper and the surrounding table get the right labels."""
    image = next(iter(bench.photos.values())).image
    pose = register(to_gray(image), bench.kit, bench.camera)
    labels = ground_labels(bench.kit, pose, bench.camera)
    for cell in bench.kit.cells:
        assert shown(labels, bench.kit.centre_mm(cell), pose, bench.camera) == Materials.FLOOR
    right_mm = bench.kit.mat.width_mm / 2
    assert shown(labels, (right_mm - 4, 0), pose, bench.camera) == Materials.PAPER
    assert shown(labels, (right_mm + 4, 0), pose, bench.camera) == Materials.TABLE


def test_beside_pillars_there_is_but_paper(bench):
    """Between pillars the mat counts as floor, so there are no pixels of paper."""
    image = next(iter(bench.photos.values())).image
    pose = register(to_gray(image), bench.kit, bench.camera)
    assert not (ground_labels(load_kit("diamond"), pose, bench.camera) == Materials.PAPER).any()
