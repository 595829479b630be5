"""The newest picture with the belief drawn over it."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.kit import load_kit
from companion.app.camera_reader import CameraReader
from companion.app.live_preview import DRAWN_S, LivePreview
from companion.games import load_game
from companion.match import Match
from companion.simulate.table import SimulatedTable, enrol_picture
from vision.capture.frames import Frame
from vision.enrolment import enrol

pytestmark = pytest.mark.pictures


@pytest.fixture(scope="module")
def scene() -> tuple[CameraReader, Frame]:
    """Return a camera reader that has processed one frame of a simulated table, and the frame."""
    kit, game = load_kit("domination"), load_game("domination")
    table = SimulatedTable(kit, Match(game, game.start()), 1)
    camera_reader = CameraReader(kit, table.camera, enrol(enrol_picture(kit), kit, table.camera))
    frame = Frame(table.frame(0.0), 0, 0.0)
    camera_reader.moving(frame)
    return camera_reader, frame


class Clock:
    """A clock that only the test advances."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def decoded(data: bytes | None) -> np.ndarray:
    """Decode a JPEG picture."""
    assert data is not None
    picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    return picture


def test_before_the_first_frame_there_is_no_picture(scene: tuple[CameraReader, Frame]) -> None:
    assert LivePreview(scene[0], (), Clock()).picture() is None


def test_the_belief_is_drawn_once_something_was_read(scene: tuple[CameraReader, Frame]) -> None:
    camera_reader, frame = scene
    clock = Clock()
    window = LivePreview(camera_reader, (), clock)
    window.see(frame)
    bare = decoded(window.picture()).astype(int)
    window(frame, camera_reader.look(frame), ())
    window.see(replace(frame, seq=1))
    clock.now_s = DRAWN_S
    drawn = decoded(window.picture()).astype(int)
    assert np.abs(bare - frame.image).mean() < 4
    assert np.abs(drawn - bare).mean() > 1


def test_however_many_look_it_is_drawn_only_now_and_then(scene: tuple[CameraReader, Frame]) -> None:
    camera_reader, frame = scene
    clock = Clock()
    window = LivePreview(camera_reader, (), clock)
    window.see(frame)
    first = window.picture()
    window.see(replace(frame, seq=1, image=255 - frame.image))
    assert window.picture() is first
    clock.now_s = DRAWN_S
    assert window.picture() != first
