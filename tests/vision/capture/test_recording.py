"""Recordings as frame sources."""

import cv2
import numpy as np
import pytest

from calibration.errors import ProfileError
from vision.capture.frames import SourceLost
from vision.capture.recording import RecordingSource, read_recording

HEAD = 'kit = "domination"\nstart = "domination 4/6/8/8/8/8/6/4 R"\nfps = 10\n'


def recording(folder, more=""):
    """Write a recording file and read it."""
    (folder / "recording.toml").write_text(HEAD + more, encoding="utf-8")
    return read_recording(folder)


def test_a_video_has_times_of_its_own(examples):
    """Frames of a video are numbered and timed by its frame rate."""
    source = RecordingSource(read_recording(examples / "domination-1"))
    frames = [(frame.seq, frame.t_s, frame.image.shape) for frame in source.frames()]
    source.close()
    source.close()
    assert frames[:2] == [(0, 0.0, (720, 1280, 3)), (1, 1 / 12, (720, 1280, 3))]
    assert len(frames) == 168


def test_pictures_have_the_times_of_their_list(tmp_path):
    """Frames of a list have the times given there."""
    (tmp_path / "frames").mkdir()
    for name in ("a.png", "b.png"):
        cv2.imwrite(str(tmp_path / "frames" / name), np.zeros((4, 6, 3), np.uint8))
    (tmp_path / "frames.csv").write_text("file,t_s\na.png,0.5\nb.png,0.75\n", encoding="utf-8")
    frames = list(RecordingSource(recording(tmp_path)).frames())
    assert [(frame.seq, frame.t_s) for frame in frames] == [(0, 0.5), (1, 0.75)]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("file,t_s\nnone.png,0\n", r"none\.png: cannot be read"),
        ("file,time\na.png,0\n", "line 2: expected columns file,t_s"),
        ("file,t_s\na.png,soon\n", "line 2: expected columns file,t_s"),
        ("file,t_s\na.png,inf\n", "line 2: expected columns file,t_s"),
        ("file,t_s\na.png,nan\n", "line 2: expected columns file,t_s"),
        ("file,t_s\na.png\n", "line 2: expected columns file,t_s"),
        ("file,t_s\n\x00,0\n", "cannot be read"),
        ("file,t_s\n", "names no frame"),
    ],
)
def test_a_broken_list_of_pictures(tmp_path, rows, said):
    """Errors in the list are reported with file and line."""
    (tmp_path / "frames.csv").write_text(rows, encoding="utf-8")
    with pytest.raises(SourceLost, match=said):
        list(RecordingSource(recording(tmp_path)).frames())


def test_pictures_whose_time_goes_back(tmp_path):
    """Decreasing times are refused."""
    (tmp_path / "frames").mkdir()
    cv2.imwrite(str(tmp_path / "frames" / "a.png"), np.zeros((4, 6, 3), np.uint8))
    (tmp_path / "frames.csv").write_text("file,t_s\na.png,0.5\na.png,0.25\n", encoding="utf-8")
    with pytest.raises(SourceLost, match="line 3: its time is before that of the line above"):
        list(RecordingSource(recording(tmp_path)).frames())


@pytest.mark.parametrize("fps", ["inf", "nan", "1e-9", "1e9", "-1", "true"])
def test_a_frame_rate_that_no_camera_has(tmp_path, fps):
    """Unusable frame rates are refused."""
    (tmp_path / "recording.toml").write_text(HEAD.replace("fps = 10", f"fps = {fps}"), encoding="utf-8")
    with pytest.raises(ProfileError, match="fps must be"):
        read_recording(tmp_path)


def test_a_video_of_huge_frames_is_refused_before_one_is_read(examples, monkeypatch):
    """A video with oversized frames is refused before decoding."""
    monkeypatch.setattr("vision.capture.recording.MAX_PX", 1280 * 720 - 1)
    with pytest.raises(SourceLost, match="has frames of 921600 pixels"):
        RecordingSource(read_recording(examples / "domination-1"))


def test_recordings_that_are_none(tmp_path):
    """Missing and invalid files are reported by name."""
    with pytest.raises(ProfileError, match=r"recording\.toml: cannot be read"):
        read_recording(tmp_path)
    with pytest.raises(SourceLost, match=r"none\.mp4: there is no such file"):
        RecordingSource(recording(tmp_path, 'video = "none.mp4"\n'))
    (tmp_path / "text.mp4").write_text("hello", encoding="utf-8")
    with pytest.raises(SourceLost, match=r"text\.mp4: (is not a video|holds no frame)"):
        list(RecordingSource(recording(tmp_path, 'video = "text.mp4"\n')).frames())
    with pytest.raises(SourceLost, match=r"frames\.csv: cannot be read"):
        list(RecordingSource(recording(tmp_path)).frames())
