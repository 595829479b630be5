"""Motion detection despite the artefacts that a webcam adds to a static scene."""

from __future__ import annotations

import json

import cv2
import numpy as np
import pytest

from calibration.camera import Camera
from calibration.kit import load_kit
from companion.simulate.webcam import Webcam
from tools.gate import WEBCAMS
from vision.differencing import Differencer
from vision.gain_compensation import gain_compensated
from vision.motion import MotionDetector

SIZE = (640, 360)
FPS = 12
LEARNING = 6
"""Frames after which the noise level is known."""


@pytest.fixture(scope="module")
def act(examples):
    """Return frames of a calm table, a hand moving a piece, and the calm table after it; and the hand's frames."""
    folder = examples / "domination-1"
    first = json.loads((folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()[0])
    begin, end, calm_to = (round(first[key] * FPS) for key in ("t_hand_from", "t_hand_to", "t_calm_to"))
    film = cv2.VideoCapture(str(folder / "video.mp4"))
    frames = [cv2.resize(film.read()[1], SIZE, interpolation=cv2.INTER_AREA) for _ in range(calm_to)]
    return frames, begin, end


def watch_of(size):
    """Return a motion watch for pictures of this size, attending to all but their margin."""
    watch = MotionDetector(load_kit("domination"), Camera(*size, np.eye(3), np.zeros(5), 0.0))
    width, height = size
    watch.set_region(np.array([(0.1, 0.1), (0.9, 0.1), (0.9, 0.9), (0.1, 0.9)]) * (width, height))
    return watch


@pytest.mark.parametrize("webcam", WEBCAMS.values(), ids=WEBCAMS)
def test_only_a_hand_is_motion(webcam, act):
    """For each kind of webcam, only the hand is reported as motion."""
    frames, begin, end = act
    watch = watch_of(SIZE)
    moving = [watch.process(webcam.take(frame, number)).moving for number, frame in enumerate(frames)]
    assert not any(moving[LEARNING:begin])
    assert moving[begin + 1]  # in the frame before, it has not reached the mat
    assert sum(moving[begin + 1 : end]) >= (end - begin) / 2
    assert not any(moving[end + 1 :])


def test_steps_of_colour_that_wander_through_compressed_pictures_are_no_motion(act):
    """Under drifting white balance, compression rounds the colour of ever different blocks to the next step."""
    frames, begin, end = act
    watch, moving = watch_of(SIZE), []
    for number, frame in enumerate(frames):
        picture = cv2.cvtColor(frame, cv2.COLOR_BGR2YCrCb).astype(np.int16)
        column = 16 * (4 + number // 2 % 28)
        picture[64:288, column : column + 48, 2] += 2
        blocky = cv2.cvtColor(picture.clip(0, 255).astype(np.uint8), cv2.COLOR_YCrCb2BGR)
        moving.append(watch.process(blocky).moving)
    assert not any(moving[LEARNING:begin])
    assert not any(moving[end + 2 :])  # one frame later than without them


def test_colours_that_compression_puts_right_after_a_hand_are_no_motion():
    """Blocks jump by a step in colour and slightly in brightness; in places noise adds to that."""
    chance, differencer, moving = np.random.default_rng(2), Differencer(), []
    table = np.full((45, 80, 3), 128.0)
    for number in range(60):
        picture = table + chance.normal(0.0, 0.7, (45, 80, 1))
        if number == 40:
            picture[10:30, 10:30] += 60.0
        for row, column in chance.integers((0, 0), (9, 16), (8, 2)) * 5 if number > 41 else ():
            jump = (-2.0, -3.0, 2.0) if table[row, column, 2] < 129 else (2.0, 3.0, -2.0)
            table[row : row + 5, column : column + 5] += jump
            picture[row : row + 5, column : column + 5] += jump
            picture[row + 2, column + 1 : column + 3] += 2 * np.sign(jump[1])
        doubled = np.round(picture).clip(0, 255).astype(np.uint8).repeat(2, axis=0).repeat(2, axis=1)
        difference = differencer.step(doubled, None, 6.0)
        moving.append(difference is not None and difference.moving_px >= 6)
    assert moving[40]
    assert not any(moving[LEARNING:40])
    assert not any(moving[43:])


def test_noise_that_compression_has_hidden_is_no_motion_when_it_shows():
    """Right of column 50 compression has removed all noise until a hand has come and gone."""
    chance, differencer, moving = np.random.default_rng(1), Differencer(), []
    for number in range(60):
        noise = chance.normal(0.0, 0.85, (45, 80))
        noise[:, 50:] = 0.0
        if number == 40:
            noise[10:30, 10:30] += 60.0
        for place in chance.integers((0, 52), (42, 77), (12, 2)) if number > 41 else ():
            noise[place[0] : place[0] + 3, place[1] : place[1] + 3] = 3.0
        picture = np.kron(np.round(128.0 + noise), np.ones((2, 2)))
        difference = differencer.step(np.repeat(picture[..., None], 3, axis=2).astype(np.uint8), None, 10.0)
        moving.append(difference is not None and difference.moving_px >= 10)
    assert moving[40]
    assert not any(moving[LEARNING:40])
    assert not any(moving[42:])


def test_a_shaking_camera_is_told_and_learned(act):
    """Camera shake is measured, reported as motion at first, and learned after some seconds."""
    frames, begin, _ = act
    webcam, watch = Webcam(shake_px=0.5), watch_of(SIZE)
    seen = [watch.process(webcam.take(frames[number % begin], number)) for number in range(80)]
    assert max(watched.difference.shake for watched in seen[1:]) > 1
    assert sum(watched.moving for watched in seen[:20]) > 10
    assert not any(watched.moving for watched in seen[60:])


def test_the_noise_and_the_flicker_of_a_picture_are_measured(act):
    """The measured noise and flicker grow with those of the webcam."""
    frames, begin, _ = act

    def measured(webcam):
        watch = watch_of(SIZE)
        watched_frames = [watch.process(webcam.take(frames[0], number)) for number in range(begin)]
        return [(g.difference.noise, g.difference.flicker) for g in watched_frames[1:]][-1]

    assert measured(Webcam())[0] < measured(Webcam(noise=2))[0] < measured(Webcam(noise=4, sharpening=1))[0]
    assert measured(Webcam())[1] < 0.5
    assert measured(Webcam(flicker=0.1, fps=11.97))[1] > 3


def test_the_noise_of_dark_pieces_is_no_motion_from_the_first_pair_on():
    """In codes it is many times the noise of the paper beside them."""
    rng, deviation = np.random.default_rng(1), np.full((90, 160, 1), 1.5)
    deviation[20:60, 30:60] = 12
    levels = np.where(deviation > 10, 40.0, 180.0)
    frames = [np.clip(levels + deviation * rng.normal(size=(90, 160, 3)), 0, 255).astype(np.uint8) for _ in range(5)]
    differencer = Differencer()
    assert differencer.step(frames[0], None, 20) is None
    assert [differencer.step(frame, None, 20).moving_px for frame in frames[1:]] == [0, 0, 0, 0]
    frames[-1][30:60, 60:100] = 40  # as dark as the pieces, where there was paper before
    assert differencer.step(frames[-1], None, 20).moving_px > 200


def test_the_first_frame_differs_from_nothing():
    """The first frame gives no difference."""
    assert Differencer().step(np.zeros((180, 320, 3), np.uint8), None, 5.0) is None


def test_a_picture_is_brought_into_the_light_of_another(act):
    """The light of one frame is adapted to that of another."""
    picture = act[0][0]
    lit = Webcam(drift=0.2, flicker=0.1).take(picture, 7)
    assert np.abs(lit.astype(float) - picture).mean() > 5
    assert np.abs(lit.astype(float) - gain_compensated(picture, lit)).mean() < 2


def test_what_covers_a_part_of_the_picture_does_not_change_its_light(act):
    """An occluder does not change the adapted light elsewhere."""
    picture = act[0][0]
    covered = picture.copy()
    covered[100:200, :400] = (60, 40, 30)
    assert np.array_equal(gain_compensated(picture, covered)[220:], picture[220:])
