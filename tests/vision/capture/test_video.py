"""Videos without a recording file, and truncated videos."""

import cv2
import numpy as np
import pytest

from calibration.errors import ProfileError
from vision.capture.frames import SourceLost
from vision.capture.recording import RecordingSource, read_recording


@pytest.fixture
def video(tmp_path):
    """Write a video of 40 random frames at 10 frames per second; return its path."""
    file = tmp_path / "bare.avi"
    writer = cv2.VideoWriter(str(file), cv2.VideoWriter.fourcc(*"MJPG"), 10, (64, 48))
    rng = np.random.default_rng(0)
    for _ in range(40):
        writer.write(rng.integers(0, 255, (48, 64, 3), np.uint8))
    writer.release()
    return file


def test_a_bare_video_is_a_recording_without_start_and_kit(video):
    """A video file without further information has only its frame rate and frames."""
    recording = read_recording(video)
    assert (recording.start, recording.kit, recording.fps, recording.camera) == ("", "", 10.0, None)
    frames = list(RecordingSource(recording).frames())
    assert [frame.t_s for frame in frames] == pytest.approx([i / 10 for i in range(40)])


def test_a_video_that_is_cut_short_plays_to_its_end_and_says_so(video):
    """A truncated video is played as far as possible, then an error is raised."""
    data = video.read_bytes()
    video.write_bytes(data[: len(data) // 2])
    recording = read_recording(video)
    frames = []
    with pytest.raises(SourceLost, match=r"bare\.avi: ends after \d+ of 40 frames; is it cut short\?"):
        frames.extend(RecordingSource(recording).frames())


def test_a_file_that_is_no_video(tmp_path):
    file = tmp_path / "text.mp4"
    file.write_text("hello", encoding="utf-8")
    with pytest.raises(ProfileError, match=r"text\.mp4: is not a video that can be read; give a video, or a folder"):
        read_recording(file)
