"""Calibration of an unknown lens from the board during a match."""

import cv2
import numpy as np
import pytest

from calibration.appearance import read_appearance
from calibration.board_lens import TOO_STEEP, prior_camera
from calibration.kit import load_kit
from companion.app.camera_reader import POSE_CONFIRMATION_S, CameraReader
from companion.app.lens import PICTURES_A_PLACE, LensFinder
from companion.simulate.light import WINDOW
from companion.simulate.placement import make_rng, set_up
from companion.simulate.render import Renderer
from companion.simulate.sprite import Scene
from companion.simulate.viewpoint import ELEVATION_DEG, default_camera, looking_at
from vision.capture.frames import Frame

pytestmark = pytest.mark.pictures

KIT = load_kit("domination")


@pytest.fixture
def image(examples):
    return cv2.imread(str(examples / "photos" / "domination-b-103.jpg"))


def seen_from(azimuth_deg, elevation_deg=ELEVATION_DEG):
    """Render the empty board from this direction."""
    camera, nothing = default_camera(), ("",) * len(KIT.cells)
    pose = looking_at(np.zeros(3), 600.0, KIT, elevation_deg, azimuth_deg)
    return Renderer(Scene(KIT, camera, pose, WINDOW)).picture(set_up(nothing, None, make_rng("lens", 1)), 0)


def test_a_board_tells_the_lens_and_from_another_place_more_of_it():
    """The focal length is found from one position within 10 %, from two within 3 %."""
    said = []
    finder = LensFinder(KIT, said.append)
    front, side = seen_from(-84.0), seen_from(-30.0, 45.0)
    assert finder.take(np.full_like(front, 200)) is None
    cameras = [finder.take(front) for _ in range(PICTURES_A_PLACE)]
    assert said[0].startswith("lens from the board: focal length ")
    assert len(said) == 1
    assert finder.take(side) is None, "nothing has moved"
    finder.moved()
    better = finder.take(side)
    true = default_camera().matrix[0, 0]
    assert abs(np.log(cameras[0].matrix[0, 0] / true)) < 0.1
    assert abs(np.log(better.matrix[0, 0] / true)) < 0.03


def test_a_board_seen_from_straight_above_is_told_once(image):
    """A view from directly above is reported once as too steep."""
    said = []
    finder = LensFinder(KIT, said.append)
    above = np.full((720, 1280, 3), 230, np.uint8)
    size = round(2.2 * KIT.mat.marker_mm)
    for marker in KIT.mat.markers:
        left, top = (round(middle - size / 2) for middle in (640 + 2.2 * marker.at_mm[0], 360 - 2.2 * marker.at_mm[1]))
        drawn = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_APRILTAG_36h11).generateImageMarker(marker.id, size)
        above[top : top + size, left : left + size] = drawn[..., None]
    assert finder.take(above) is not None
    finder.take(above)
    assert said == [f"lens from the board: {TOO_STEEP}"]


def test_eyes_whose_lens_is_not_known_find_it_and_read(examples, image):
    """A reader whose lens is unknown calibrates it and then reads the board, also after a push."""
    camera_reader = CameraReader(
        KIT,
        prior_camera((640, 480)),
        read_appearance(examples / "photos" / "set.toml", KIT),
        (),
        LensFinder(KIT, print),
    )

    def look(picture, t_s):
        frame = Frame(picture, round(10 * t_s), t_s)
        camera_reader.moving(frame)
        return camera_reader.look(frame)

    seen = [look(image, 0.1 * k) for k in range(PICTURES_A_PLACE)][-1]
    assert seen.view == "clear"
    assert seen.reading.best(seen.reading.cells.index("g3"))[0] == (5, "R")
    assert camera_reader.reader.camera.size == (1280, 720)
    camera_reader.understood()
    pushed = cv2.warpAffine(image, np.float32([[1, 0, 7], [0, 1, -5]]), (1280, 720), borderMode=cv2.BORDER_REFLECT)
    views = [look(pushed, t_s).view for t_s in (1.0, 1.1, 1.0 + POSE_CONFIRMATION_S)]
    assert views == ["moved", "moved", "clear"]
    again = look(pushed, 2.0)
    assert again.reading.best(again.reading.cells.index("g3"))[0] == (5, "R")
