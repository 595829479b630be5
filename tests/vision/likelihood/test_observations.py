"""Observations of small pictures: the lookup values of pixels, and the background behind a cell."""

import numpy as np
import pytest

from vision.appearance import colour_model
from vision.appearance.illumination import Illumination
from vision.appearance.tone_curve import OFFSET
from vision.likelihood.observations import Observations, background, log_likelihood, observe, update_observations
from vision.scene.crops import Crops
from vision.scene.label_buffer import RANK_BITS
from vision.scene.visibility import Visibility

ROWS, COLUMNS, CELLS = 6, 4, 3
NONE = np.zeros(0)


@pytest.fixture
def crops():
    """Return side-by-side crops of a picture 20 px wide and 10 px high, mapped pixel to pixel."""
    x, y = np.meshgrid(np.arange(COLUMNS), np.arange(ROWS))
    maps = np.array([[x + 5 * cell, y + 2] for cell in range(CELLS)], np.float32).transpose(1, 0, 2, 3)
    centres = np.array([[-1.0, 0, 0], [0, 0, 0], [1, 0, 0]])
    return Crops(NONE, NONE, NONE, 1, NONE, NONE, np.ascontiguousarray(maps), NONE, NONE, NONE, centres)


@pytest.fixture
def light():
    """Return reddish light that doubles from left to right."""
    plane = np.log(np.array([[0.5, 0.4, 0.3], [np.sqrt(2)] * 3, [1.0] * 3]))
    return Illumination(plane, (1.0, 1.0))


@pytest.fixture
def image():
    """Return a random (10, 20, 3) uint8 picture."""
    return np.random.default_rng(2).integers(0, 256, (10, 20, 3)).astype(np.uint8)


def test_crops_are_looked_up_with_their_light_divided_out(image, crops, light):
    """Lookup values and logarithms have the local light divided out."""
    cells = np.array([0, 2])
    observed = observe(image, crops, cells, light, np.zeros((colour_model.BINS**3, 1), np.float32))
    for k, cell in enumerate(cells):
        codes = image[2 : 2 + ROWS, 5 * cell : 5 * cell + COLUMNS]
        values = colour_model.normalise(codes, light.at(crops.centres_mm[[cell]]))
        np.testing.assert_array_equal(observed.codes[k], codes)
        np.testing.assert_array_equal(observed.bins[k], colour_model.bin_index(values))
        blue = values[..., 2]
        np.testing.assert_allclose(np.exp(observed.logs[k, 0])[codes[..., 0]], blue + OFFSET, rtol=1e-5)
    assert observed.gain[0, 2] == pytest.approx(2 ** (1 / colour_model.GAMMA) * observed.gain[1, 2])


def test_only_some_cells_are_observed_anew(image, crops, light):
    """Renewing one cell leaves the observations of the others unchanged."""
    table = np.zeros((colour_model.BINS**3, 1), np.float32)
    before, after = observe(image, crops, slice(None), light, table), 255 - image
    latest, every = (
        observe(after, crops, np.array([1]), light, table),
        observe(after, crops, slice(None), light, table),
    )
    kept = [part.copy() for part in before[:4]]
    update_observations(before, np.array([1]), latest)
    for part, old, new in zip(before[:4], kept, every[:4], strict=True):
        np.testing.assert_array_equal(part[1], new[1])
        np.testing.assert_array_equal(part[[0, 2]], old[[0, 2]])


def test_the_background_is_the_nearest_surface_that_does_not_occlude_the_cell():
    """The crop has one row of five pixels.

    They show the mat, the piece of a farther cell, that of a nearer cell, a nearer column, and what is outside the
    picture.
    """
    rank, likely = 3, np.array([[-1.0, -2.0, -4.0]], np.float32)
    labels = np.array([[0, (2 << RANK_BITS) + 1, (4 << RANK_BITS) + 2, (4 << RANK_BITS) + 1, 0]], np.uint16)
    visible = np.array([[[True, True, True, False, False]]])
    floor = np.full((1, 1, 5), -8, np.float32)
    observations = Observations(NONE, NONE, NONE, NONE, np.zeros((1, 1, 5), np.int32), floor, likely)
    visibility = Visibility(np.arange(5, dtype=np.int32).reshape(1, 1, 5), visible, np.array([rank], np.int32))
    behind = background(observations, visibility, labels, np.array([0]))
    np.testing.assert_array_equal(behind.base[0, 0], [-8, -2, -4, -2, -8])
    np.testing.assert_array_equal(behind.visible[0, 0], [True, True, False, False, False])
    assert log_likelihood(observations, visibility, labels, np.array([0]), 0) == -8 - 2 - 4
    assert log_likelihood(observations, visibility, labels, np.array([0]), 1) == 0
