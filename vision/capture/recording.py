"""A recording: a folder with recording.toml and a video, or pictures with their times."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from calibration.errors import ProfileError
from calibration.files import MAX_PX, number, read_text
from calibration.picture import load_picture
from calibration.toml import Table, load
from vision.capture.frames import Frame, SourceLost

MIN_FPS = 0.01
"""One frame in a hundred seconds: what is slower shows no play."""

MAX_FPS = 1000.0
"""A video that claims more has no frame rate: some containers count clock ticks instead."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What a player needs of recording.toml.

    Attributes:
        folder: where it lies.
        start: text of the start position; "" where it is not said.
        kit: name of the kit; "" likewise.
        fps: frames a second of the video.
        video: the video file; None where the frames are pictures in ``frames/``.
        camera: the camera file, None where the recording has none.
        appearance: the file of the set's appearance, None likewise.
    """

    folder: Path
    start: str
    kit: str
    fps: float
    video: Path | None
    camera: Path | None
    appearance: Path | None


def read_recording(folder: Path) -> Recording:
    """The recording in a folder, or a bare video file, which has no start and no kit.

    Raises ProfileError when recording.toml is missing or broken, or the file is no video.
    """
    if folder.is_file():
        return Recording(folder.parent, "", "", _frame_rate(folder), folder, None, None)
    table = Table(load(folder / "recording.toml"), str(folder / "recording.toml"))

    def file(key: str) -> Path | None:
        return folder / table.get(key, str) if table.has(key) else None

    return Recording(
        folder=folder,
        start=table.get("start", str),
        kit=table.get("kit", str),
        fps=_fps(table),
        video=file("video"),
        camera=file("camera"),
        appearance=file("set"),
    )


def _fps(table: Table) -> float:
    fps = table.length("fps")
    if not MIN_FPS <= fps <= MAX_FPS:
        raise ProfileError(f"{table.where}: fps must be {MIN_FPS:g} to {MAX_FPS:g}, got {fps:g}")
    return fps


def _frame_rate(video: Path) -> float:
    capture = _opened(video)
    fps = capture.get(cv2.CAP_PROP_FPS) if capture.isOpened() else 0.0
    capture.release()
    if not 0 < fps <= MAX_FPS:
        raise ProfileError(f"{video}: is not a video that can be read; give a video, or a folder with recording.toml")
    return fps


def _opened(video: Path) -> cv2.VideoCapture:
    """A video, decoded in one thread: several would each hold frames in memory, and take time from those who read."""
    return cv2.VideoCapture(str(video), cv2.CAP_FFMPEG, (cv2.CAP_PROP_N_THREADS, 1))


def _pixels(capture: cv2.VideoCapture) -> float:
    """Number of pixels of a frame."""
    return float(capture.get(cv2.CAP_PROP_FRAME_WIDTH) * capture.get(cv2.CAP_PROP_FRAME_HEIGHT))


class RecordingSource:
    """Plays a recording as fast as frames are requested; times are the recording's own."""

    def __init__(self, recording: Recording) -> None:
        """Raises SourceLost when the video cannot be opened."""
        self._recording = recording
        self._capture: cv2.VideoCapture | None = None
        if recording.video is not None:
            if not recording.video.is_file():
                raise SourceLost(f"{recording.video}: there is no such file")
            self._capture = _opened(recording.video)
            if not self._capture.isOpened():
                raise SourceLost(f"{recording.video}: is not a video that can be read")
            if not 0 < (px := _pixels(self._capture)) <= MAX_PX:
                raise SourceLost(f"{recording.video}: has frames of {px:.0f} pixels; at most {MAX_PX} are read")

    def frames(self) -> Iterator[Frame]:
        """All frames.  Raises SourceLost when the first frame or a picture cannot be read, or a video is cut short."""
        if self._recording.video is None:
            yield from self._pictures()
            return
        seq = 0
        while self._capture is not None:
            done, image = self._capture.read()
            if not done:
                break
            yield Frame(np.asarray(image, np.uint8), seq, seq / self._recording.fps)
            seq += 1
        if seq == 0:
            raise SourceLost(f"{self._recording.video}: holds no frame that can be read")
        if (
            self._capture is not None
            and seq < (count := self._capture.get(cv2.CAP_PROP_FRAME_COUNT)) - self._recording.fps
        ):
            raise SourceLost(f"{self._recording.video}: ends after {seq} of {count:.0f} frames; is it cut short?")

    def close(self) -> None:
        """Release the file."""
        if self._capture is not None:
            self._capture.release()
            self._capture = None

    def _pictures(self) -> Iterator[Frame]:
        index = self._recording.folder / "frames.csv"
        try:
            rows = list(csv.DictReader(read_text(index).splitlines()))
        except OSError as error:
            raise SourceLost(f"{index}: cannot be read: {error.strerror}") from error
        except (UnicodeDecodeError, csv.Error) as error:
            raise SourceLost(f"{index}: cannot be read: {error}") from error
        if not rows:
            raise SourceLost(f"{index}: names no frame; give a video or frames")
        before_s = -math.inf
        for seq, row in enumerate(rows):
            try:
                name, t_s = str(row["file"]), number(row["t_s"])
            except (KeyError, TypeError, ValueError):
                raise SourceLost(f"{index}: line {seq + 2}: expected columns file,t_s") from None
            if t_s < before_s:
                raise SourceLost(f"{index}: line {seq + 2}: its time is before that of the line above")
            before_s = t_s
            try:
                image = load_picture(self._recording.folder / "frames" / name)
            except ProfileError as error:
                raise SourceLost(str(error)) from error
            yield Frame(image, seq, t_s)
