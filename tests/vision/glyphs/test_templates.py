"""Rotated and displaced characters are recognised under any light."""

import cv2
import numpy as np
import pytest

from vision.glyphs.faces import Faces
from vision.glyphs.templates import bare_wood_log_likelihood, compare, empty_label_buffer, make_alphabet, unrolled
from vision.scene.label_buffer import RANK_BITS

RADIUS_MM, PX_PER_MM, SIZE_PX, MIDDLE_PX = 12.0, 5.0, 160, 80.0
LETTERS = ("R", "K", "N")


def face(count=1):
    """Return ``count`` identical faces in the middle of the picture, seen from above."""
    return Faces(
        np.full((count, 2), MIDDLE_PX),
        np.broadcast_to(PX_PER_MM * np.eye(2), (count, 2, 2)).copy(),
        np.full(count, RADIUS_MM),
        np.ones(count, np.intp),
    )


def drawn(letter, turn_deg=0.0, offset_mm=(0.0, 0.0), light=1.0, contrast=1.0):
    """Return a (height, width, 3) picture of a wooden face with a character, rotated anticlockwise by ``turn_deg``."""
    ink = np.zeros((SIZE_PX, SIZE_PX), np.float32)
    (width, height), _ = cv2.getTextSize(letter, cv2.FONT_HERSHEY_DUPLEX, 2.4, 8)
    corner = (round(MIDDLE_PX - width / 2), round(MIDDLE_PX + height / 2))
    cv2.putText(ink, letter, corner, cv2.FONT_HERSHEY_DUPLEX, 2.4, 1.0, 8, cv2.LINE_AA)
    turn = cv2.getRotationMatrix2D((MIDDLE_PX, MIDDLE_PX), turn_deg, 1.0)
    turn[:, 2] += PX_PER_MM * np.array(offset_mm)
    ink = cv2.GaussianBlur(cv2.warpAffine(ink, turn, (SIZE_PX, SIZE_PX)), (0, 0), 1.5)[..., None]
    wood = np.array([90.0, 140, 180])
    image = light * (wood - contrast * ink * 0.75 * wood)
    return np.clip(image + np.random.default_rng(1).normal(0, 2, image.shape), 0, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def alphabet():
    """Return the templates of all letters, learned from drawn faces."""
    return make_alphabet({letter: unrolled(drawn(letter), face())[0] for letter in LETTERS})


def likelihoods(alphabet, image, **options):
    """Return the log-likelihood of each letter, and the fitted placement."""
    likely, placed = compare(image, face(), empty_label_buffer(image), alphabet, **options)
    return dict(zip(alphabet.letters, likely[0].tolist(), strict=True)), placed


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize(
    ("turn_deg", "offset_mm", "light"), [(0, (0, 0), 1.0), (47, (0.3, -0.2), 0.5), (201, (-0.6, 0.4), 1.3)]
)
def test_a_character_is_known_turned_and_displaced(alphabet, letter, turn_deg, offset_mm, light):
    """A rotated, displaced character is recognised, and located within 0.2 mm, under any light."""
    likely, placed = likelihoods(alphabet, drawn(letter, turn_deg, offset_mm, light))
    others = [value for other, value in likely.items() if other != letter]
    assert likely[letter] > max(others) + 5
    assert (placed.centres_px[0] - MIDDLE_PX) / PX_PER_MM == pytest.approx(offset_mm, abs=0.2)


def test_bare_wood_is_likelier_blank_and_a_character_is_not(alphabet):
    """The model of bare wood wins exactly on a blank face."""
    for letter, is_blank in (("R", False), (" ", True)):
        image = drawn(letter)
        likely, _ = likelihoods(alphabet, image)
        bare = bare_wood_log_likelihood(image, face(), empty_label_buffer(image))[0]
        assert (bare > max(likely.values()) + 5) == is_blank


def test_a_faint_character_is_known_when_its_contrast_is_fitted(alphabet):
    """Fitting the contrast improves the likelihood of a faint character."""
    image = drawn("K", 100, contrast=0.5)
    usual, _ = likelihoods(alphabet, image)
    faint, _ = likelihoods(alphabet, image, is_faint=True)
    assert max(faint, key=faint.get) == "K"
    assert faint["K"] > usual["K"] + 2


@pytest.mark.parametrize("front", [20, 250])
def test_what_occludes_a_face_is_not_compared(alphabet, front):
    """A piece in front hides the lower half of a face in the shade; without its label those pixels count against it.

    However dark or bright it is: the wood of the face is what is visible of it.
    """
    image, labels = (0.5 * drawn("R", 30)).astype(np.uint8), empty_label_buffer(drawn("R"))
    image[85:] = front
    labels[85:] = 2 << RANK_BITS
    occluded, _ = compare(image, face(), labels, alphabet)
    in_front, _ = compare(image, face(), empty_label_buffer(image), alphabet)
    assert alphabet.letters[occluded[0].argmax()] == "R"
    assert occluded[0].max() > max(in_front[0].max() + 20, -5)
