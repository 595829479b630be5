"""Fusion of several cameras: log-likelihoods add, and covered cells of a camera are ignored."""

import cv2
import numpy as np
import pytest

from calibration.appearance import nominal_appearance
from calibration.kit import load_kit
from companion.app.camera_reader import CameraReader, ReadResult
from companion.app.multi_camera import MultiCameraReader, combined
from companion.simulate.light import WINDOW
from companion.simulate.placement import make_rng, set_up, upright
from companion.simulate.render import Renderer
from companion.simulate.sprite import Scene
from companion.simulate.viewpoint import default_camera, looking_at
from vision.capture.frames import Frame
from vision.reading import EMPTY, Reading

pytestmark = pytest.mark.pictures

STATES = (EMPTY, (1, "R"), (2, "R"))
KIT = load_kit("domination")
STACKS = {"d5": "RGBYR", "d6": "G", "f4": "B"}


def reading(*rows, outlier_share=None, changed=None, unseen=None, levels=None):
    """Return a reading whose rows are proportional to these probabilities."""
    log = np.log(np.array(rows, np.float32))
    n = len(rows)
    return Reading(
        tuple(f"a{i + 1}" for i in range(n)),
        STATES,
        log - np.logaddexp.reduce(log, axis=1, keepdims=True),
        np.array(outlier_share or [0] * n, np.float32),
        changed=None if changed is None else np.array(changed, np.float32),
        unseen=None if unseen is None else np.array(unseen),
        level_log_likelihood=levels,
    )


class OneEye:
    """Stub of one camera's reader that returns a given answer to every look."""

    def __init__(self, answer):
        self.answer = answer

    def look(self, *_asked, **_how):
        return self.answer


def test_a_camera_that_knows_no_earlier_calm_does_not_say_in_a_review_what_has_changed():
    """In a review, the changed shares come from the cameras that know the previous calm phase, if any does."""
    rows = ((0.5, 0.4, 0.1), (0.5, 0.4, 0.1))
    knows = ReadResult(reading(*rows, changed=[0.1, 0.4]), is_recalled=True)
    new = ReadResult(reading(*rows, changed=[0.9, 0.9]))
    image = np.zeros((2, 2, 3), np.uint8)
    frame = Frame(image, 0, 0.0, others=(Frame(image, 0, 0.0, camera=1),))
    for answers, shares in (((knows, new), [0.1, 0.4]), ((new, new), [0.9, 0.9])):
        look = MultiCameraReader([OneEye(answer) for answer in answers]).look(frame, is_review=True)
        assert look.is_recalled == (knows in answers)
        assert look.reading.changed == pytest.approx(shares)


def test_likelihoods_add_and_are_probabilities_again():
    """Probabilities of two cameras are multiplied and normalised."""
    both = combined([reading((0.6, 0.3, 0.1)), reading((0.2, 0.6, 0.2))])
    assert np.exp(both.log_likelihood[0]) == pytest.approx(np.array([0.12, 0.18, 0.02]) / 0.32, abs=1e-5)
    assert both.best(0)[0] == (1, "R")


def test_one_camera_is_left_as_it_is():
    """The reading of a single camera is returned unchanged."""
    only = reading((0.6, 0.3, 0.1))
    assert combined([only]) is only


def test_a_covered_cell_takes_the_other_cameras_word():
    """A cell covered for one camera is read from the other camera alone."""
    left = reading((0.98, 0.01, 0.01), (0.01, 0.98, 0.01), outlier_share=[0.9, 0.0])
    right = reading((0.1, 0.1, 0.8), (0.3, 0.3, 0.4), outlier_share=[0.0, 0.8])
    both = combined([left, right])
    assert both.log_likelihood[0] == pytest.approx(right.log_likelihood[0], abs=1e-5)
    assert both.log_likelihood[1] == pytest.approx(left.log_likelihood[1], abs=1e-5)
    assert both.outlier_share.tolist() == [0.0, 0.0]


def test_a_cell_that_is_covered_for_all_stays_foreign():
    """A cell covered for all cameras keeps the smallest outlier share."""
    both = combined([reading((0.5, 0.4, 0.1), outlier_share=[0.9]), reading((0.2, 0.7, 0.1), outlier_share=[0.6])])
    assert both.outlier_share[0] == pytest.approx(0.6)
    assert both.best(0)[0] == (1, "R")


def test_what_has_changed_is_told_by_who_sees_it():
    """The changed share comes from the cameras for which a cell is neither covered nor unknown."""
    rows = ((0.5, 0.4, 0.1), (0.5, 0.4, 0.1))
    both = combined([reading(*rows, changed=[0.9, 0.1], outlier_share=[0.9, 0]), reading(*rows, changed=[0.2, 0.4])])
    assert both.changed == pytest.approx([0.2, 0.4])
    assert combined([reading(*rows), reading(*rows, changed=[0.2, 0.4])]).changed == pytest.approx([0.2, 0.4])
    unknown = reading(*rows, changed=[np.nan, np.nan])
    assert combined([unknown, reading(*rows, changed=[0.2, 0.4])]).changed == pytest.approx([0.2, 0.4])
    assert combined([reading(*rows), reading(*rows)]).changed is None


def test_out_of_sight_is_what_no_camera_that_can_compare_sees():
    """A camera with nothing to compare with does not count; one that does not know makes the answer unknown."""
    rows, same = ((0.5, 0.4, 0.1),) * 3, [0.0, 0.0, 0.0]
    one = reading(*rows, changed=same, unseen=[True, True, False])
    other = reading(*rows, changed=same, unseen=[True, False, False])
    covered = reading(*rows, changed=same, unseen=[False, False, False], outlier_share=[0.9, 0, 0])
    assert combined([one, other]).unseen.tolist() == [True, False, False]
    assert combined([one, covered]).unseen.tolist() == [True, False, False]
    assert combined([one, reading(*rows)]).unseen.tolist() == [True, True, False]
    assert combined([one, reading(*rows, changed=same)]).unseen is None


def test_levels_add_too():
    """Likelihoods of levels are multiplied as well."""
    levels = np.log(np.array([[0.25, 0.75]], np.float32))
    both = combined([reading((0.5, 0.4, 0.1), levels=levels)] * 2)
    assert np.exp(both.level_log_likelihood[0]) == pytest.approx([0.1, 0.9], abs=1e-5)
    assert combined([reading((0.5, 0.4, 0.1))] * 2).level_log_likelihood is None


@pytest.fixture(scope="module")
def pictures():
    """Return pictures of a table from two sides; d6 is hidden behind a tower for the first camera only."""
    camera = default_camera()
    setup = upright(set_up(tuple(STACKS.get(cell, "") for cell in KIT.cells), None, make_rng("several", 0)))
    poses = [looking_at(np.zeros(3), 700.0, KIT, 37.0, azimuth) for azimuth in (-90.0, 90.0)]
    return [Renderer(Scene(KIT, camera, pose, WINDOW)).picture(setup, 0) for pose in poses]


@pytest.fixture
def camera_reader():
    """Return a reader of two cameras with nominal appearance."""
    return MultiCameraReader([CameraReader(KIT, default_camera(), nominal_appearance(KIT)) for _ in range(2)])


def looked(camera_reader, frame):
    """Process a frame and look at it."""
    camera_reader.moving(frame)
    return camera_reader.look(frame)


def moment(pictures, t_s=0.0):
    """Return one frame of both cameras at the same time."""
    return Frame(pictures[0], 0, t_s, others=(Frame(pictures[1], 0, t_s, 1),))


def test_two_cameras_see_what_one_cannot(camera_reader, pictures):
    """A piece hidden from one camera is read by both together."""
    look = looked(camera_reader, moment(pictures))
    seen = {cell: look.reading.best(i)[0] for i, cell in enumerate(KIT.cells) if look.reading.best(i)[0] != EMPTY}
    assert seen == {cell: (len(stack), stack[-1]) for cell, stack in STACKS.items()}
    alone = looked(CameraReader(KIT, default_camera(), nominal_appearance(KIT)), Frame(pictures[0], 0, 0.0)).reading
    d6 = KIT.cells.index("d6")
    hidden, seen_by_both = (
        np.exp(reading.log_likelihood[d6, reading.index[(1, "G")]]) for reading in (alone, look.reading)
    )
    assert hidden < 0.5
    assert seen_by_both > 0.99


def test_one_camera_goes_on_where_the_other_is_gone_or_blind(camera_reader, pictures):
    """If one camera is missing or does not see the mat, the other one is used."""
    assert looked(camera_reader, Frame(pictures[1], 0, 0.0, camera=1)).view == "clear"
    assert camera_reader.geometry.pose.centre_mm[1] > 0
    blind = looked(camera_reader, moment([np.full_like(pictures[0], 128), pictures[1]], 1.0))
    assert (blind.view, blind.reading is None) == ("clear", False)
    both = looked(camera_reader, moment([np.full_like(pictures[0], 128)] * 2, 2.0))
    assert (both.view, both.reading) == ("no-mat", None)


def test_anything_that_moves_for_one_camera_moves(camera_reader, pictures):
    """Motion in one camera's picture counts as motion."""
    camera_reader.moving(moment(pictures))
    assert not camera_reader.moving(moment(pictures, 0.1))
    hand = pictures[1].copy()
    cv2.rectangle(hand, (500, 0), (640, 500), (110, 140, 190), -1)
    assert camera_reader.moving(moment([pictures[0], hand], 0.2))
    camera_reader.look(moment(pictures, 0.3))
    camera_reader.understood()
