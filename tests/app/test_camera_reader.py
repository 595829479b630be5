"""Processing of one camera's frames for the referee: motion, registration, partial reading, arms, second looks."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.appearance import read_appearance
from calibration.camera import read_camera
from calibration.kit import load_kit
from companion.app.camera_reader import (
    HAND_REST_S,
    HAND_TIMEOUT_S,
    POSE_CONFIRMATION_S,
    CameraReader,
    LevelPriors,
    certain_levels,
)
from companion.tracker.verification import VerificationQuestion
from vision.capture.frames import Frame
from vision.errors import VisionError
from vision.pose.projection import project

pytestmark = pytest.mark.pictures


@pytest.fixture
def camera_reader(examples):
    """Return a camera reader for the example photographs."""
    kit, folder = load_kit("domination"), examples / "photos"
    return CameraReader(kit, read_camera(folder / "camera.toml"), read_appearance(folder / "set.toml", kit))


@pytest.fixture
def image(examples):
    """Return the example photograph."""
    return cv2.imread(str(examples / "photos" / "domination-b-103.jpg"))


def looked(camera_reader, image, t_s):
    """Process a picture at a time in s, and look at it."""
    frame = Frame(image, round(10 * t_s), t_s)
    camera_reader.moving(frame)
    return camera_reader.look(frame)


def with_arm(image):
    """Return the picture with an arm over the board."""
    arm = image.copy()
    arm[250:, 560:720] = (110, 140, 190)
    return arm


def test_a_calm_board_is_read(camera_reader, image):
    """A calm example board is read without covered cells."""
    look = looked(camera_reader, image, 0.0)
    assert (look.view, look.why) == ("clear", "")
    assert look.reading.best(look.reading.cells.index("g3"))[0] == (5, "R")
    assert (look.reading.outlier_share < 0.5).all()


def pushed(image, dx, dy):
    """Return the picture shifted by ``dx``, ``dy`` px."""
    return cv2.warpAffine(image, np.float32([[1, 0, dx], [0, 1, dy]]), (1280, 720), borderMode=cv2.BORDER_REFLECT)


def test_a_pushed_camera_is_read_anew_once_it_stands_still(camera_reader, image):
    """After a push of the camera, the view is "moved" until the new pose has been confirmed."""
    looked(camera_reader, image, 0.0)
    camera_reader.understood()
    looks = [looked(camera_reader, pushed(image, 7, -5), t_s) for t_s in (1.0, 1.1, 1.0 + POSE_CONFIRMATION_S)]
    assert [look.view for look in looks] == ["moved", "moved", "clear"]
    assert (looks[2].reading.outlier_share < 0.5).all()
    assert looks[2].reading.best(looks[2].reading.cells.index("g3"))[0] == (5, "R")


def read_cells(camera_reader, monkeypatch):
    """Return a list of the cell numbers read in each later look; None for a whole reading."""
    asked = []
    read_at = camera_reader.reader.read_at

    def recorded(frame, geometry, levels, changed, expected):
        asked.append(None if changed is None else np.flatnonzero(changed).tolist())
        return read_at(frame, geometry, levels, changed, expected)

    monkeypatch.setattr(camera_reader.reader, "read_at", recorded)
    return asked


def test_a_table_is_read_whole_where_it_must_be(camera_reader, image, monkeypatch):
    """A frame is read partially by default, and as a whole on request."""
    looked(camera_reader, image, 0.0)
    asked = read_cells(camera_reader, monkeypatch)
    looked(camera_reader, image, 0.1)
    frame = Frame(image, 2, 0.2)
    camera_reader.moving(frame)
    assert not camera_reader.look(frame).is_whole
    assert camera_reader.look(frame, afresh=True).is_whole
    assert asked == [[], [], None]


def noisy(image, number, codes=6.0):
    """Return the picture with Gaussian noise, in codes."""
    noise = np.random.default_rng(number).normal(0, codes, image.shape)
    return np.clip(np.rint(image + noise), 0, 255).astype(np.uint8)


def test_what_is_read_is_the_mean_of_the_frames_since_something_moved(camera_reader, image, monkeypatch):
    """Noise falls as for an average of several frames, and frames from before a motion are not included."""
    read, read_at = [], camera_reader.reader.read_at
    monkeypatch.setattr(
        camera_reader.reader, "read_at", lambda frame, *told: read.append(frame.image) or read_at(frame, *told)
    )
    for k in range(4):
        frame = Frame(noisy(image, k), k, k / 12)
        assert camera_reader.moving(frame) == (k == 0)
    camera_reader.look(frame)
    assert (read[0] - image.astype(np.float32)).std() < 6.0 / np.sqrt(3) * 1.2
    camera_reader.moving(Frame(with_arm(image), 4, 4 / 12))
    for k in (5, 6, 7):  # the second frame is the first one without motion
        frame = Frame(noisy(image, k), k, k / 12)
        is_moving = camera_reader.moving(frame)
    assert not is_moving
    camera_reader.look(frame)
    assert not (np.abs(read[1][300:, 600:700].astype(float) - image[300:, 600:700]).mean(axis=2) > 30).any()


def test_a_review_compares_with_what_was_understood_in_the_calm_before(camera_reader, image):
    """A review compares with the previous calm phase, although a picture of this one was understood as well.

    Its interpretation may have been wrong.
    """
    looked(camera_reader, image, 0.0)
    camera_reader.understood()
    other = image.copy()
    other[300:420, 600:700] = 0.2 * other[300:420, 600:700]
    for t_s in (1.0, 1.1):
        camera_reader.moving(Frame(other, round(10 * t_s), t_s))
    frame = Frame(other, 11, 1.1)
    # Nothing of this calm phase has been understood yet.
    assert not camera_reader.look(frame, is_review=True).is_recalled
    first = camera_reader.look(frame).reading.changed
    camera_reader.understood()
    assert camera_reader.look(frame).reading.changed.max() < 0.01
    review = camera_reader.look(frame, is_review=True)
    assert (review.is_recalled, review.is_whole) == (True, True)
    # The values differ only for pixels no longer in sight, because uncertain cells have been read again.
    np.testing.assert_allclose(review.reading.changed, first, atol=0.005)
    assert first.max() > 0.9


def test_the_first_calm_cannot_be_compared_with_an_earlier_one(camera_reader, image):
    """A review in the first calm phase has nothing to compare with."""
    looked(camera_reader, image, 0.0)
    camera_reader.understood()
    camera_reader.moving(Frame(image, 1, 0.1))
    assert not camera_reader.look(Frame(image, 1, 0.1), is_review=True).is_recalled


def test_a_mat_that_is_being_pushed_is_not_read(camera_reader, image):
    """While the mat keeps moving, the view is "moved"."""
    looked(camera_reader, image, 0.0)
    looks = [looked(camera_reader, pushed(image, dx, 0), 1.0 + dx / 10) for dx in range(4, 16, 3)]
    assert {look.view for look in looks} == {"moved"}


@pytest.fixture
def seen_at(camera_reader, image, monkeypatch):
    """Return a function that looks at a time at a mat whose pose seems slightly tilted each time.

    Its reprojection error is a share of the first pose's.
    """
    looked(camera_reader, image, 0.0)
    first, times = camera_reader.geometry.pose, []

    def seen(t_s, share):
        times.append(t_s)
        tilt = cv2.Rodrigues(np.array([0.0, 0.004 * (-1) ** len(times), 0.0]))[0]
        pose = replace(first, rotation=tilt @ first.rotation, reprojection_px=share * first.reprojection_px)
        monkeypatch.setattr(camera_reader.reader, "register", lambda _image: pose)
        return looked(camera_reader, image, t_s)

    monkeypatch.setattr(camera_reader.reader, "is_pushed", lambda *_: False)
    return seen


def test_poses_that_differ_by_noise_stop_nobody(camera_reader, seen_at):
    """Slightly different poses of no lower error neither change the geometry nor the view."""
    known = camera_reader.geometry
    looks = [seen_at(t_s, 0.9) for t_s in (0.1, 0.5, 0.9, 1.3)]
    assert {look.view for look in looks} == {"clear"}
    assert camera_reader.geometry is known


def test_a_pose_that_is_better_is_taken_once_it_is_seen_again_and_meanwhile_the_known_one_is_read_with(
    camera_reader, seen_at
):
    """A pose with a lower error is adopted after a second confirmation, without a "moved" view."""
    known = camera_reader.geometry
    camera_reader.understood()
    assert seen_at(0.1, 0.5).view == "clear"
    assert camera_reader.geometry is known
    camera_reader.reader.is_same = lambda pose, _other: pose is not known.pose
    again = seen_at(0.1 + POSE_CONFIRMATION_S, 0.5)
    assert again.view == "clear"
    assert camera_reader.geometry is not known
    assert again.reading.changed is not None, "nothing was moved: the picture of the bare table is as good as before"


def test_an_arm_over_a_marker_is_no_push(camera_reader, image):
    """An arm over a marker does not count as a push."""
    looked(camera_reader, image, 0.0)
    camera_reader.understood()
    arm = image.copy()
    arm[:, 150:320] = (110, 140, 190)
    assert looked(camera_reader, arm, 1.0).view == "clear"


def with_marker_beside_itself(camera_reader, image, by_px):
    """Return the picture with one marker shifted away from the centre, as the edge of a shadow makes it appear."""
    marker = camera_reader.reader.kit.mat.markers[0]
    corners = project(
        np.array([(x, y, 0.0) for x, y in marker.corners_mm]), camera_reader.geometry.pose, camera_reader.reader.camera
    )
    (left, top), (right, bottom) = corners.min(axis=0).astype(int) - 12, corners.max(axis=0).astype(int) + 12
    beside = image.copy()
    away = np.sign(corners.mean(axis=0) - camera_reader.geometry.mat_px.mean(axis=0))
    beside[top:bottom, left:right] = pushed(image, *(by_px * away))[top:bottom, left:right]
    return beside


def test_a_shadow_at_one_marker_is_no_push(camera_reader, image):
    """A marker displaced by a shadow does not change the pose."""
    looked(camera_reader, image, 0.0)
    pose = camera_reader.geometry.pose
    beside = with_marker_beside_itself(camera_reader, image, 1.0)
    found = camera_reader.reader.register(beside)
    assert not camera_reader.reader.is_same(camera_reader.geometry.pose, found)
    looks = [looked(camera_reader, beside, t_s) for t_s in (1.0, 1.1 + POSE_CONFIRMATION_S)]
    assert [look.view for look in looks] == ["clear", "clear"]
    assert camera_reader.geometry.pose is pose


def test_a_shadow_at_one_marker_in_the_first_picture_does_not_stay(camera_reader, image):
    """A pose distorted by a shadow in the first picture is replaced later."""
    looked(camera_reader, image, 0.0)
    found = camera_reader.reader.register(with_marker_beside_itself(camera_reader, image, 1.0))
    camera_reader.geometry = camera_reader.reader.geometry(found)
    for t_s in (1.0, 1.1 + POSE_CONFIRMATION_S):
        look = looked(camera_reader, image, t_s)
    assert look.view == "clear"
    assert camera_reader.geometry.pose.reprojection_px < found.reprojection_px


def test_a_resting_arm_is_foreign_until_it_must_be_a_thing(camera_reader, image):
    """A resting arm covers cells until it has stayed for HAND_GIVEN_UP_S."""
    looked(camera_reader, image, 0.0)
    camera_reader.understood()
    early = [looked(camera_reader, with_arm(image), t_s).reading.outlier_share >= 0.5 for t_s in (1.0, 1.2)]
    late = looked(camera_reader, with_arm(image), 1.1 + HAND_TIMEOUT_S).reading.outlier_share
    assert min(cells.sum() for cells in early) > 15
    # What remains are cells that the reading, which does not model arms, cannot explain.
    assert (late >= 0.5).sum() < 3


def with_shadow(image):
    """Return the picture with a hand beside the board whose shadow lies over squares."""
    shaded = image.copy()
    shaded[250:545, 560:720] = np.rint(0.67 * shaded[250:545, 560:720])
    shaded[545:, 600:720] = (110, 140, 190)
    return shaded


def test_the_shadow_of_a_hand_beside_the_board_is_waited_for_no_longer_than_hands_put_down(camera_reader, image):
    """Cells shaded by a hand beside the board count as covered only for PUT_DOWN_S."""
    looked(camera_reader, image, 0.0)
    camera_reader.understood()
    camera_reader.moving(Frame(with_shadow(image), 9, 0.9))
    early, late = (looked(camera_reader, with_shadow(image), t_s).reading for t_s in (1.0, 1.0 + HAND_REST_S))
    assert (early.outlier_share >= 0.5).any()
    assert (late.outlier_share < 0.5).all()


def test_no_mat_and_no_light_are_states_of_the_view(camera_reader, image):
    """A uniform picture gives the view "no-mat" with a reason."""
    gray = looked(camera_reader, np.full_like(image, 128), 0.0)
    assert (gray.reading, gray.view) == (None, "no-mat")
    assert "not in view" in str(gray.why)


def test_a_frame_of_another_size_cannot_be_watched(camera_reader):
    """A frame of another size is refused."""
    with pytest.raises(VisionError, match="the picture is 320 x 200 px"):
        camera_reader.moving(Frame(np.zeros((200, 320, 3), np.uint8), 0, 0.0))


STOOD = (3,) * 25


def shares(**cells):
    """Return the changed shares (25,) of Diamond's cells, 0 where not given."""
    changed = np.zeros(25, np.float32)
    for name, share in cells.items():
        changed[load_kit("diamond").cells.index(name)] = share
    return changed


@pytest.mark.parametrize(
    ("told", "changed", "judged"),
    [
        (LevelPriors(STOOD, STOOD), shares(), set()),
        (LevelPriors(None, STOOD), shares(), set()),
        (LevelPriors(None, STOOD), shares(c3=0.1), {12}),
        (LevelPriors((*STOOD[:12], None, *STOOD[13:]), STOOD), shares(c3=0.1), {12}),
        (LevelPriors((*STOOD[:12], 4, *STOOD[13:]), STOOD), shares(), {12}),
        (LevelPriors(STOOD, STOOD), shares(c1=0.5, d1=0.6, e1=0.7), {3, 4}),
        (LevelPriors(None, (*STOOD[:12], None, *STOOD[13:])), shares(), {12}),
        (LevelPriors(None, None), shares(), set(range(25))),
        (LevelPriors((*STOOD[:12], None, *STOOD[13:]), None, STOOD), None, {12}),
        (LevelPriors((*STOOD[:12], 4, *STOOD[13:]), None, STOOD), None, {12}),
        (LevelPriors(None, None, STOOD), None, set(range(25))),
        (LevelPriors(None, None, STOOD), shares(), set(range(25))),
        (LevelPriors((*STOOD[:12], None, *STOOD[13:]), STOOD, doubted=frozenset({12})), shares(), {12}),
    ],
)
def test_the_picture_tells_the_levels_that_are_in_doubt(told, changed, judged):
    """A level is left to the picture if its sensor is silent, doubted or reports a change.

    It is also if the last level is unknown, or if much of the cell's picture has changed.
    """
    known = certain_levels(told, 25, changed)
    assert {cell for cell, level in enumerate(known) if level is None} == judged
    assert set(known) <= {None, 3}


def test_a_pillar_stands_a_priori_as_it_was_told_last():
    """The likely level comes from the sensor, else from the last understood picture, else from the position."""
    should = (*STOOD[:11], 5, *STOOD[12:])
    told = LevelPriors((None,) * 12 + STOOD[12:], (*STOOD[:10], None, None, *STOOD[12:]), should)
    assert told.likely == should
    assert LevelPriors().likely is None


def test_an_arm_is_told_by_the_side_of_the_mat_from_which_it_reaches(camera_reader, image):
    """The side from which an arm reaches in is reported; a shadow is not."""
    looked(camera_reader, image, 0.0)
    assert camera_reader.reaching_from == frozenset()
    camera_reader.understood()
    camera_reader.moving(Frame(image, 1, 1.0))
    assert camera_reader.reaching_from == frozenset()
    camera_reader.moving(Frame(with_arm(image), 2, 2.0))
    assert camera_reader.reaching_from == {"S"}
    camera_reader.moving(Frame(np.ascontiguousarray(with_arm(image[::-1])[::-1]), 3, 3.0))
    assert camera_reader.reaching_from == {"N"}
    camera_reader.moving(Frame(from_the_left(image), 4, 4.0))
    assert camera_reader.reaching_from == frozenset()


def from_the_left(image):
    """Return the picture with the shadow of somebody who stands on the left."""
    shaded = image.copy()
    shaded[300:500, :560] = np.rint(0.67 * shaded[300:500, :560])
    return shaded


def asked(camera_reader, reading, *tables):
    """Return a question about the table that was read, and about others that differ from it in some cells."""
    read = {cell: reading.best(i)[0] for i, cell in enumerate(reading.cells)}
    whole = tuple(tuple((read | table).values()) for table in ({}, *tables))
    return VerificationQuestion(0.0, tuple(read), ((), *(((0, (1, "R")),) for _ in tables)), whole)


def test_the_table_that_is_there_wins_the_second_look_and_is_kept_in_pictures(camera_reader, image):
    """The true table scores highest, and the answer contains pictures of all tables."""
    reading = looked(camera_reader, image, 0.0).reading
    answer = camera_reader.compare(asked(camera_reader, reading, {"g3": (4, "R")}, {"g3": (0, None)}))
    assert max(answer.log_p) == answer.log_p[0]
    pictures = [cv2.imdecode(np.frombuffer(data, np.uint8), 1) for data in (answer.picture, *answer.renderings)]
    assert len(pictures) == 4
    assert len({picture.shape for picture in pictures}) == 1


def test_tables_that_are_the_same_tell_nothing(camera_reader, image):
    """A comparison without differing tables has no result."""
    reading = looked(camera_reader, image, 0.0).reading
    assert camera_reader.compare(asked(camera_reader, reading, {})) is None
