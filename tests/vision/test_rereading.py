"""Incremental reading: only changed cells are read again, with the same result as a full reading."""

import numpy as np
import pytest

from calibration.appearance import read_appearance
from calibration.camera import read_camera
from calibration.kit import load_kit
from tests.vision.conftest import left_behind
from vision.capture.frames import Frame
from vision.capture.recording import RecordingSource, read_recording
from vision.motion import MotionDetector
from vision.reader import Reader

CALM_S = (0.5, 2.2, 3.8, 5.4)
"""Times at which nothing moves in the recorded match."""


@pytest.fixture(scope="module")
def frames(examples):
    """Return the frames of the example recording at the calm times."""
    source = RecordingSource(read_recording(examples / "domination-1"))
    return [frame for frame in source.frames() if any(abs(frame.t_s - t_s) < 0.04 for t_s in CALM_S)]


@pytest.fixture
def reader(examples):
    """Return a reader for the example recording."""
    kit, folder = load_kit("domination"), examples / "domination-1"
    return Reader(kit, read_camera(folder / "camera.toml"), read_appearance(folder / "set.toml", kit))


def best(reading):
    """Return the likeliest state of each cell."""
    return [reading.best(i)[0] for i in range(len(reading.cells))]


def test_what_is_read_again_is_what_a_full_reading_finds(reader, frames):
    """Reading only the altered cells gives the same states as a full reading."""
    watch = MotionDetector(reader.kit, reader.camera)
    geometry = reader.geometry(reader.register(frames[0].image))
    looked_at = []
    for frame in frames:
        watched = watch.process(frame.image)
        changed = watch.changed_cells(watched, geometry)
        reading = reader.read_at(frame, geometry, changed=changed)
        watch.keep_read(watched)
        looked_at.append(1.0 if changed is None else changed.mean())
        fresh = Reader(reader.kit, reader.camera, reader.appearance)
        assert best(reading) == best(fresh.read(frame))
    assert looked_at[0] == 1.0
    assert 0 < max(looked_at[1:]) < 0.6


def test_a_picture_in_which_nothing_changed_gives_the_same_reading(reader, frames):
    """Without altered cells the reading is identical."""
    geometry = reader.geometry(reader.register(frames[0].image))
    first = reader.read_at(frames[0], geometry)
    again = reader.read_at(Frame(frames[0].image, 9, 9.0), geometry, changed=np.zeros(52, bool))
    assert again.t_s == 9.0
    np.testing.assert_array_equal(again.log_likelihood, first.log_likelihood)


def test_a_reading_leaves_no_array_behind(reader, frames):
    """A reading does not leak memory of compiled loops."""
    assert left_behind(reader, frames[0].image) == 0


def test_what_was_not_understood_is_read_again_though_it_looks_as_it_did(reader, frames):
    """A hand may have distorted the light measured beside it."""
    geometry = reader.geometry(reader.register(frames[0].image))
    hand = frames[0].image.copy()
    hand[300:420, 600:760] = (190, 20, 190)
    assert (reader.read_at(Frame(hand, 0, 0.0), geometry).outlier_share > 0.5).any()
    again = reader.read_at(frames[0], geometry, changed=np.zeros(52, bool))
    assert (again.outlier_share < 0.2).all()
    assert best(again) == best(Reader(reader.kit, reader.camera, reader.appearance).read(frames[0]))


def test_a_reading_is_not_altered_by_a_later_one(reader, frames):
    """A later reading does not modify the arrays of an earlier one."""
    geometry = reader.geometry(reader.register(frames[0].image))
    first = reader.read_at(frames[0], geometry)
    kept = first.log_likelihood.copy()
    reader.read_at(frames[-1], geometry, changed=np.ones(52, bool))
    np.testing.assert_array_equal(first.log_likelihood, kept)


def test_a_mat_that_was_pushed_is_read_anew(reader, frames):
    """After the mat has moved, all cells are read again."""
    geometry = reader.geometry(reader.register(frames[0].image))
    reader.read_at(frames[0], geometry)
    pushed = np.roll(frames[1].image, 6, axis=1)
    elsewhere = reader.geometry(reader.register(pushed))
    reading = reader.read_at(Frame(pushed, 1, 1.0), elsewhere, changed=np.zeros(52, bool))
    assert best(reading) == best(Reader(reader.kit, reader.camera, reader.appearance).read(frames[1]))
