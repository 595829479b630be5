"""Reading boards from photographs: every square correct, with honest probabilities."""

import json

import cv2
import numpy as np
import pytest

from calibration.appearance import nominal_appearance
from calibration.kit import load_kit
from calibration.lens import calibrate_lens, read_board
from tests.vision.conftest import wrong_cells
from vision.capture.frames import Frame
from vision.enrolment import enrol
from vision.errors import VisionError
from vision.reader import Reader
from vision.reading import EMPTY, Reading

HARD = ("domination-b-103.jpg", "domination-b-107.jpg")


@pytest.mark.parametrize("name", HARD)
def test_every_square_of_a_board_in_hard_light_is_read(bench, name):
    """All cells of two difficult photographs are read correctly."""
    photo = bench.photos[name]
    assert wrong_cells(bench.reader(), photo.image, photo.table) == {}


def test_a_reading_is_made_of_distributions(bench):
    """Rows of a reading are normalised, with the documented shape and fields."""
    reading = bench.reader().read(Frame(bench.photos[HARD[0]].image, 7, 3.5))
    assert reading.t_s == 3.5
    assert reading.cells == bench.kit.cells
    assert reading.states[0] == EMPTY
    assert reading.log_likelihood.shape == (52, 41)
    np.testing.assert_allclose(np.exp(reading.log_likelihood).sum(axis=1), 1, atol=1e-4)
    assert (reading.outlier_share < 0.2).all()


def test_the_same_picture_gives_the_same_reading(bench):
    """Reading the same picture twice gives identical results."""
    photo = bench.photos[HARD[0]]
    one, two = (bench.reader().read(Frame(photo.image, 0, 0.0)) for _ in range(2))
    np.testing.assert_array_equal(one.log_likelihood, two.log_likelihood)


@pytest.mark.parametrize("gain", [(0.6, 0.6, 0.6), (0.8, 1.0, 1.15), (1.1, 0.95, 0.75)])
def test_light_and_white_balance_do_not_matter(bench, gain):
    """Changed brightness and white balance do not cause errors."""
    photo = bench.photos[HARD[0]]
    linear = (photo.image / 255.0) ** 2.2 * gain
    changed = np.clip(255 * linear ** (1 / 2.2), 0, 255).astype(np.uint8)
    assert wrong_cells(bench.reader(), changed, photo.table) == {}


def test_without_enrolment_the_colours_of_the_kit_do(bench):
    """With nominal colours at most one cell is misread."""
    photo = bench.photos[HARD[0]]
    reader = Reader(bench.kit, bench.camera, nominal_appearance(bench.kit))
    assert len(wrong_cells(reader, photo.image, photo.table)) <= 1


def test_geometry_is_kept_while_nothing_is_moved_and_made_anew_when_the_mat_is(bench):
    """The geometry is reused while the mat stays, and rebuilt when it has moved."""
    reader, photo = bench.reader(), bench.photos[HARD[0]]
    first = reader.geometry(reader.register(photo.image))
    assert reader.geometry(reader.register(photo.image)) is first
    push = np.float32([[1, 0, 6], [0, 1, -4]])
    pushed = cv2.warpAffine(photo.image, push, (1280, 720), borderMode=cv2.BORDER_REFLECT)
    assert reader.geometry(reader.register(pushed)) is not first
    assert wrong_cells(reader, pushed, photo.table) == {}


def test_in_a_gray_picture_of_coloured_pieces_no_square_is_sure(bench):
    """In a grey picture no cell has a probability of 0.9 or more."""
    image = bench.photos[HARD[0]].image
    gray = cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR)
    coloured, colourless = (bench.reader().read(Frame(shown, 0, 0.0)) for shown in (image, gray))
    surest = [max(reading.best(i)[1] for i in range(len(reading.cells))) for reading in (coloured, colourless)]
    assert surest[0] > 0.99
    assert surest[1] < 0.9


def test_a_dark_picture_is_said_to_be_dark(bench):
    """A dark picture is refused."""
    dark = (bench.photos[HARD[0]].image * 0.04).astype(np.uint8)
    with pytest.raises(VisionError, match=r"dark|not in view"):
        bench.reader().read(Frame(dark, 0, 0.0))


def test_a_reading_of_the_wrong_shape_cannot_be_made():
    """Arrays of the wrong shape are refused."""
    with pytest.raises(ValueError, match=r"log_likelihood: expected \(2, 1\), got \(1, 2\)"):
        Reading(("a1", "b1"), (EMPTY,), np.zeros((1, 2), np.float32), np.zeros(2, np.float32))
    with pytest.raises(ValueError, match=r"outlier_share: expected \(2,\), got \(1,\)"):
        Reading(("a1", "b1"), (EMPTY,), np.zeros((2, 1), np.float32), np.zeros(1, np.float32))


@pytest.mark.slow
def test_every_board_of_the_collection_is_read_exactly(shared):
    """All cells of all shared photographs of Domination are read correctly."""
    kit = load_kit("domination")
    lens, folder = shared / "photos" / "lens-b", shared / "photos" / "domination"
    camera = calibrate_lens(tuple(sorted(lens.glob("*.jpg"))), read_board(lens / "charuco.toml")).camera
    reader = Reader(kit, camera, enrol(cv2.imread(str(folder / "enrol.jpg")), kit, camera))
    for row in map(json.loads, (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()):
        assert wrong_cells(reader, cv2.imread(str(folder / row["image"])), row["table"]) == {}, row["image"]
