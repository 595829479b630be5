"""Live cameras: only the newest frame is used, failures are reported and repaired, two cameras are synchronised."""

import queue
import threading
from contextlib import suppress
from itertools import islice

import numpy as np
import pytest

from vision.capture import live
from vision.capture.frame_buffer import FROZEN_S
from vision.capture.frames import Frame, Outage, SourceLost
from vision.capture.live import SAME_MOMENT_S, LiveSource


class Clock:
    """A clock that advances only when the test sets it."""

    def __init__(self):
        self.now_s = 100.0

    def __call__(self):
        return self.now_s


class Camera:
    """A camera that returns the pictures the test puts into its queue; exceptions in the queue are raised."""

    def __init__(self, name="camera 0", remarks=(), is_there=True):
        self.name, self.remarks, self.is_there = name, remarks, is_there
        self.pictures = queue.Queue()
        self.taken = threading.Semaphore(0)
        self.over = threading.Event()
        self.opened = self.closed = 0

    def open(self):
        if not self.is_there:
            raise SourceLost(f"{self.name}: cannot be opened")
        self.opened += 1
        return self.remarks

    def grab(self):
        self.taken.release()
        while not self.over.is_set():
            with suppress(queue.Empty):
                picture = self.pictures.get(timeout=0.01)
                if isinstance(picture, Exception):
                    raise picture
                return picture
        raise SourceLost(f"{self.name}: the test is over")

    def close(self):
        self.closed += 1

    def give(self, picture):
        """Put a picture into the queue, and wait until it has been grabbed."""
        self.taken.acquire()
        self.pictures.put(picture)
        self.taken.acquire()
        self.taken.release()


def noise(seed):
    """Return a random (72, 128, 3) uint8 picture."""
    return np.random.default_rng(seed).integers(90, 110, (72, 128, 3), np.uint8)


@pytest.fixture
def quick(monkeypatch):
    """Shorten the intervals of reconnection attempts and of reported outages."""
    monkeypatch.setattr(live, "RETRY_S", 0.01)
    monkeypatch.setattr(live, "OUTAGE_REPEAT_S", 0.01)


@pytest.fixture
def table(quick):
    """Return a function that opens a live source on scripted cameras and returns it with its clock."""
    made = []

    def make(*cameras, say=lambda _: None):
        clock = Clock()
        source = LiveSource(cameras, say, clock)
        made.append((source, cameras))
        return source, clock

    yield make
    for source, cameras in made:
        for camera in cameras:
            camera.over.set()
        source.close()


def test_the_newest_frame_wins(table):
    """Only the newest frame is delivered, with its number, time and age."""
    camera = Camera()
    source, clock = table(camera)
    frames = source.frames()
    for i in range(3):
        clock.now_s += 0.1
        camera.give(noise(i))
    frame = next(frames)
    assert (frame.seq, frame.t_s, frame.camera, frame.others) == (2, pytest.approx(0.3), 0, ())
    assert (frame.image == noise(2)).all()
    assert frame.age_s == pytest.approx(0.0)
    clock.now_s += 0.2
    camera.give(noise(8))
    clock.now_s += 0.3
    assert next(frames).age_s == pytest.approx(0.3)
    camera.give(noise(9))
    assert next(frames).seq == 4


def test_a_silent_camera_is_an_outage_until_it_gives_pictures_again(table):
    """A camera without new pictures for FROZEN_S gives outages, and both changes are reported."""
    said = []
    camera = Camera()
    source, clock = table(camera, say=said.append)
    frames = source.frames()
    camera.give(noise(0))
    assert isinstance(next(frames), Frame)
    clock.now_s += FROZEN_S
    outages = list(islice(frames, 3))
    assert {type(outage) for outage in outages} == {Outage}
    assert outages[0].t_s == pytest.approx(FROZEN_S)
    assert outages[0].why == "camera 0: no new picture for 0.75 s"
    camera.give(noise(1))
    assert next(shot for shot in frames if isinstance(shot, Frame)).seq == 1
    assert said == [
        "camera 0: no new picture for 0.75 s; check its cable: it is tried again and again",
        "camera 0: gives pictures again",
    ]


def test_an_unplugged_camera_is_opened_again_by_itself(table):
    """A camera that fails is reopened automatically once it is back."""
    camera = Camera()
    source, clock = table(camera)
    frames = source.frames()
    camera.give(noise(0))
    next(frames)
    camera.is_there = False
    camera.pictures.put(SourceLost("camera 0: gives no more pictures"))
    clock.now_s += FROZEN_S
    assert isinstance(next(frames), Outage)
    camera.is_there = True
    camera.give(noise(5))
    frame = next(shot for shot in frames if isinstance(shot, Frame))
    assert (frame.image == noise(5)).all()
    assert camera.opened == 2


def test_a_frozen_camera_is_an_outage_and_is_opened_again(table):
    """A camera that repeats one picture counts as lost and is reopened."""
    camera = Camera()
    source, clock = table(camera)
    frames = source.frames()
    camera.give(noise(0))
    next(frames)
    clock.now_s += FROZEN_S
    assert isinstance(next(frames), Outage)
    camera.give(noise(0))
    assert camera.opened == 2
    camera.give(noise(1))
    assert next(shot for shot in frames if isinstance(shot, Frame)).seq == 1


def test_what_could_not_be_locked_is_said(table):
    """Controls that could not be locked are reported when the camera is opened."""
    said = []
    table(Camera(remarks=("focus stays automatic",)), say=said.append)
    assert said == ["camera 0: focus stays automatic"]


def test_a_camera_that_cannot_be_opened_at_all(quick):
    """If one of the cameras cannot be opened, the error is raised and the others are closed."""
    first, second = Camera(), Camera("camera 1", is_there=False)
    with pytest.raises(SourceLost, match="camera 1: cannot be opened"):
        LiveSource((first, second))
    assert first.closed == 1


def test_two_cameras_show_one_moment(table):
    """Frames of two cameras are joined only if they are at most SAME_MOMENT_S apart."""
    left, right = Camera(), Camera("camera 1")
    source, clock = table(left, right)
    frames = source.frames()
    right.give(noise(1))
    left.give(noise(0))
    frame = next(frames)
    assert (frame.camera, [other.camera for other in frame.others]) == (0, [1])
    assert (frame.others[0].image == noise(1)).all()
    clock.now_s += SAME_MOMENT_S + 0.01
    left.give(noise(2))
    assert next(frames).others == ()


def test_the_other_camera_goes_on_alone(table):
    """If one camera stops, the frames of the other continue alone."""
    said = []
    left, right = Camera(), Camera("camera 1")
    source, clock = table(left, right, say=said.append)
    frames = source.frames()
    left.give(noise(0))
    next(frames)
    clock.now_s += FROZEN_S
    right.give(noise(1))
    frame = next(frames)
    assert (frame.camera, frame.others) == (1, ())
    assert len(said) == 1
    assert said[0].startswith("camera 0: no new picture")


def test_closing_ends_the_frames(table):
    """Closing the source ends the iteration and closes the camera."""
    camera = Camera()
    source, _ = table(camera)
    frames = source.frames()
    camera.give(noise(0))
    next(frames)
    camera.over.set()
    source.close()
    assert list(frames) == []
    assert camera.closed >= 1
