"""A match as a film: the board's diagram, what is said, and the camera's picture beside it if one was stored."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import av
import cv2
import numpy as np
from av.error import FFmpegError
from PIL import Image

from calibration.writing import whole_file
from companion.errors import CompanionError
from companion.records.figures import Figure
from companion.records.raster import Picture, board_image, to_bgr, write_lines
from companion.records.shots import Shots, decode, load
from companion.scene.oblique import PAPER

WIDTH, HEIGHT, SIDE = 1024, 432, 384
"""Pixels: width and height of the film, and side of the square for the board on its right."""

CAMERA = (0, 0, WIDTH - SIDE, 360)
"""Left, top, right, bottom: a picture of 1280 × 720 fits at half its size, which is fast to decode."""

TEXT_SIZE, BOARD_TEXT = 18, (WIDTH - SIDE + 16, SIDE + 6, WIDTH - 16, HEIGHT)
TEXT = (16, 366, WIDTH - SIDE - 16, HEIGHT)

FPS = 12
BEFORE_S, AFTER_S = 3.0, 2.0
"""Time of a recording shown before and after every event; longer waits are left out."""

QUALITY, PRESET = "23", "veryfast"
"""H.264 settings: libx264's default quality, and a preset that is fast enough on a Raspberry Pi."""

FIGURE_S = 1.5
"""How long a figure is shown if there is no recording."""


@dataclass
class _Canvas:
    """Draws frames, and redraws only what has changed since the last one."""

    stills: Mapping[int, bytes]
    _figure: Figure | None = None
    _image: Picture = field(default_factory=lambda: np.full((HEIGHT, WIDTH, 3), 255, np.uint8))

    def frame(self, figure: Figure, camera: Picture | None) -> Picture:
        """The frame with a figure and this camera picture, or the figure's own still."""
        if figure is not self._figure:
            self._figure = figure
            self._image = _background(figure)
            still = self.stills.get(figure.event.n)
            if camera is None and still is not None:
                self._paste(decode(still, 2))
        self._paste(camera)
        return self._image

    def _paste(self, camera: Picture | None) -> None:
        if camera is None:
            return
        left, top, right, bottom = CAMERA
        scale = min((right - left) / camera.shape[1], (bottom - top) / camera.shape[0])
        if scale != 1:
            camera = np.asarray(cv2.resize(camera, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
        self._image[top : top + camera.shape[0], left : left + camera.shape[1]] = camera


def _background(figure: Figure) -> Picture:
    image = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    board = board_image(figure.diagram, SIDE, SIDE)
    image.paste(board, (WIDTH - SIDE + (SIDE - board.width) // 2, 0))
    write_lines(image, TEXT, figure.caption, TEXT_SIZE)
    write_lines(image, BOARD_TEXT, figure.title, TEXT_SIZE)
    return to_bgr(image)


def film(shown: list[Figure], shots: Shots, stills: Mapping[int, bytes]) -> Iterator[Picture]:
    """The film's frames, (432, 1024, 3) uint8 BGR, :data:`FPS` per second.

    If there is a recording, it runs in real time, without long waits; else every figure is shown for a while, with the
    picture that was stored with its event.
    """
    if shots.files:
        yield from _played(shown, shots, stills, _lively_times(shown, shots))
        return
    canvas = _Canvas(stills)
    for figure in shown:
        image = canvas.frame(figure, None)
        for _ in range(round(FIGURE_S * FPS)):
            yield image


def film_length(shown: list[Figure], shots: Shots) -> int:
    """Number of frames of :func:`film`."""
    return sum(1 for _ in _lively_times(shown, shots)) if shots.files else len(shown) * round(FIGURE_S * FPS)


def whole_film(shown: list[Figure], shots: Shots) -> Iterator[Picture]:
    """Frames as in :func:`film` for a whole recording, including waits."""
    return _played(shown, shots, {}, _times(shots))


def _played(
    shown: list[Figure], shots: Shots, stills: Mapping[int, bytes], times_s: Iterable[float]
) -> Iterator[Picture]:
    canvas, events_s = _Canvas(stills), [figure.event.t for figure in shown]
    for t_s in times_s:
        figure = shown[max(0, bisect_right(events_s, t_s) - 1)]
        file = shots.at(t_s + 0.5 / FPS)
        yield canvas.frame(figure, None if file is None else load(file, 2))


def _times(shots: Shots) -> Iterator[float]:
    """The times of a film's frames, from the first to the last picture."""
    return (k / FPS for k in range(int(shots.times_s[0] * FPS), int(shots.times_s[-1] * FPS) + 1))


def _lively_times(shown: list[Figure], shots: Shots) -> Iterator[float]:
    """The times of :func:`_times` without long waits."""
    events_s = [figure.event.t for figure in shown]
    return (t_s for t_s in _times(shots) if _is_lively(events_s, t_s))


def _is_lively(events_s: list[float], t_s: float) -> bool:
    """Whether an event follows soon, or has just happened."""
    after = bisect_right(events_s, t_s)
    is_soon = after < len(events_s) and events_s[after] - t_s <= BEFORE_S
    return is_soon or (after > 0 and t_s - events_s[after - 1] <= AFTER_S)


def write_film(file: Path, frames: Iterator[Picture]) -> None:
    """Write frames as H.264 in an MP4 file, which every browser plays; it gets its name only once it is complete.

    Raises:
        CompanionError: it cannot be written.
    """
    first = next(frames, None)
    if first is None:
        raise CompanionError(f"{file}: there is nothing to show")
    try:
        with whole_file(file) as part:
            _encode(part, chain([first], frames))
    except (OSError, FFmpegError) as error:
        raise CompanionError(f"{file}: cannot be written ({error}); check the folder and the disk") from None


def _encode(file: Path, frames: Iterable[Picture]) -> None:
    with av.open(str(file), "w", format="mp4", options={"movflags": "faststart"}) as container:
        stream: av.VideoStream | None = None
        for frame in frames:
            if stream is None:
                stream = container.add_stream("libx264", rate=FPS, options={"crf": QUALITY, "preset": PRESET})
                stream.height, stream.width = frame.shape[:2]
                stream.pix_fmt = "yuv420p"
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="bgr24")))
        if stream is not None:
            container.mux(stream.encode())
