"""How often pixel pairs differ within the table beside the mat, where there are no surface boundaries."""

import numpy as np
import pytest

from vision.likelihood.dissimilarity import FALSE_EDGE, dissimilarity_at, dissimilarity_index, estimate_texture
from vision.likelihood.noise import BANDS, count_pairs, measure_noise, noise_by_brightness

SIZE, STEP, CODE, CONTRAST = (200, 300), 2, 120.0, 60.0
SHADES = (0.4, 0.4), (10.0, CONTRAST)


@pytest.fixture
def picture():
    """Return a function that renders a textured table on the left and a uniform mat on the right.

    ``share`` of the pixel pairs on the table differ by ``contrast``. It returns the image, the mask of the table, and
    the noise.
    """

    def of(share, contrast=CONTRAST):
        rng = np.random.default_rng(6)
        codes = CODE + rng.normal(0, 1, (*SIZE, 3))
        # A line two pixels wide changes two of the pairs in each row that are two pixels apart.
        lines = np.repeat(np.repeat(rng.random((SIZE[0] // STEP, SIZE[1] // STEP)) < share / 2, STEP, 0), STEP, 1)
        codes[lines] += contrast
        is_table = np.zeros(SIZE, np.bool_)
        is_table[:, : SIZE[1] // 2] = True
        codes[~is_table] = CODE + rng.normal(0, 1, (np.count_nonzero(~is_table), 3))
        image = np.clip(codes, 0, 255).astype(np.uint8)
        mat_px = np.array([(SIZE[1] // 2, 0), (SIZE[1], 0), (SIZE[1], SIZE[0]), (SIZE[1] // 2, SIZE[0])], float)
        return image, is_table, np.tile(measure_noise(image, STEP, mat_px), (BANDS, 1))

    return of


@pytest.mark.parametrize("share", [0.2, 0.4])
def test_the_texture_of_a_table_is_measured(picture, share):
    """The share of differing pairs is measured within 0.06."""
    image, is_table, noise = picture(share)
    expected = share * (1 - share / 2)
    found, _ = estimate_texture(image, STEP, is_table, noise)
    assert found + FALSE_EDGE == pytest.approx(expected, abs=0.06)


def test_faint_grain_is_told_from_strong_contrasts(picture):
    """The contrast scale separates faint grain from strong texture."""
    scales = [estimate_texture(image, STEP, is_table, noise)[1] for image, is_table, noise in map(picture, *SHADES)]
    assert scales[0] < 0.5 < scales[1]


def test_an_even_table_changes_no_oftener_than_any_surface(picture):
    """A uniform table has hardly any texture."""
    image, is_table, noise = picture(0.0)
    assert estimate_texture(image, STEP, is_table, noise)[0] < 0.01


def test_a_table_that_is_hardly_seen_is_taken_for_an_even_one(picture):
    """Without visible table the texture is 0."""
    image, _, noise = picture(0.4)
    assert estimate_texture(image, STEP, np.zeros(SIZE, np.bool_), noise)[0] == 0


@pytest.mark.parametrize(("redder", "is_boundary"), [(8, False), (16, True), (60, True)])
def test_colour_that_a_camera_smears_beside_a_piece_is_no_boundary(redder, is_boundary):
    """Some codes more of red than beside it, in a picture without noise, as one disc beside a red one showed it."""
    even, outline = np.full((80, 80, 3), 150, np.uint8), np.array([(0.0, 0.0), (80, 0), (80, 80), (0, 80)])
    dissimilarity = dissimilarity_at(noise_by_brightness(count_pairs(even, 4, outline)))
    even[10, 10] = (150 - redder // 2, 150, 150 + redder // 2)
    band, entry = dissimilarity_index(even, (10, 10), (10, 14), dissimilarity.slopes)
    assert (dissimilarity.log_ratios[band, entry] > 0) == is_boundary
