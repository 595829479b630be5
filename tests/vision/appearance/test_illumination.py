"""Light measured from paper and patches."""

import numpy as np
import pytest

from calibration.looks import linear
from vision.appearance.illumination import measure_illumination, paper_points
from vision.errors import VisionError
from vision.pose.registration import register, to_gray

NAME = "domination-b-103.jpg"


@pytest.fixture
def pose(bench):
    return register(to_gray(bench.photos[NAME].image), bench.kit, bench.camera)


def test_light_falls_off_away_from_the_lamp(bench, pose):
    light = measure_illumination(bench.photos[NAME].image, bench.kit, pose, bench.camera)
    far, near = light.at(np.array([[-185.0, -60, 0], [185.0, 60, 0]]))
    assert near[0] > 1.2 * far[0]
    assert (near[0], far[0]) == (pytest.approx(1.05, rel=0.12), pytest.approx(0.7, rel=0.12))


def test_what_covers_a_third_of_the_paper_does_not_pull_the_light(bench, pose):
    image = bench.photos[NAME].image.copy()
    before = measure_illumination(image, bench.kit, pose, bench.camera).at(np.zeros((1, 3)))
    image[:, 900:] = (20, 30, 60)
    after = measure_illumination(image, bench.kit, pose, bench.camera).at(np.zeros((1, 3)))
    assert after == pytest.approx(before, rel=0.1)


@pytest.mark.parametrize(("level", "said"), [(0, "too dark"), (255, "overexposed")])
def test_a_picture_without_light_or_with_too_much(bench, pose, level, said):
    with pytest.raises(VisionError, match=said):
        measure_illumination(np.full((720, 1280, 3), level, np.uint8), bench.kit, pose, bench.camera)


def test_paper_is_sampled_where_nothing_is_printed(bench):
    points = paper_points(bench.kit)
    assert len(points) > 40
    for x, y, _ in points:
        assert all(abs(x - p.at_mm[0]) > 9 or abs(y - p.at_mm[1]) > 9 for p in bench.kit.mat.patches)
    assert linear(bench.kit.mat.colour)[0] > 0.8
