"""Motion, and arms over the board."""

import numpy as np
import pytest

from tests.vision.conftest import Bench
from vision.source import Frame
from vision.watch import Watch

NAME = "domination-b-103.jpg"


@pytest.fixture
def image(bench: Bench):
    return bench.photos[NAME].image


@pytest.fixture
def watch(bench):
    return Watch(bench.kit, bench.camera)


def noisy(image, sigma, seed):
    noise = np.random.default_rng(seed).normal(0, sigma, image.shape)
    return np.clip(image + noise, 0, 255).astype(np.uint8)


def covered(bench, watch, image):
    reader = bench.reader()
    glimpse = watch.glimpse(image)
    reading, geometry = reader.read_with_geometry(Frame(image, 0, 0.0))
    return watch.covered(reading, glimpse, geometry)


def test_the_first_frame_may_have_moved(watch, image):
    assert watch.glimpse(image).moving


@pytest.mark.parametrize("sigma", [0, 3, 8])
def test_noise_is_not_motion(watch, image, sigma):
    watch.glimpse(noisy(image, sigma, 1))
    assert not watch.glimpse(noisy(image, sigma, 2)).moving


def test_a_piece_that_appears_is_motion(watch, image):
    watch.glimpse(image)
    changed = image.copy()
    changed[480:510, 520:555] = (40, 30, 170)
    assert watch.glimpse(changed).moving
    assert not watch.glimpse(changed).moving


def test_a_resting_arm_covers_the_cells_below_it(bench, watch, image):
    watch.keep_bare(watch.glimpse(image))
    arm = image.copy()
    arm[250:, 560:720] = (110, 140, 190)
    share = covered(bench, watch, arm)
    assert (share[[bench.kit.cells.index(cell) for cell in ("d2", "e2")]] == 1).all()
    assert share[bench.kit.cells.index("a5")] < 0.5


def test_a_piece_put_down_is_no_arm(bench, watch, image):
    watch.keep_bare(watch.glimpse(image))
    changed = image.copy()
    changed[480:510, 520:555] = (40, 30, 170)
    assert (covered(bench, watch, changed) < 0.5).all()


def test_a_thing_laid_at_the_edge_of_the_picture_is_no_arm(bench, watch, image):
    watch.keep_bare(watch.glimpse(image))
    changed = image.copy()
    changed[690:720, 200:300] = 255
    assert (covered(bench, watch, changed) < 0.5).all()
