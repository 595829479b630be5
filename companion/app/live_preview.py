"""The newest picture overlaid with the belief; drawn only if somebody looks, outside the deciding thread.

How to use it::

    preview = LivePreview(camera_reader, levels, time.monotonic)
    table.state_observers.append(preview); table.frame_observers.append(preview)
    preview.picture()                               # any thread: JPEG, or None before the first frame
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

import cv2

from companion.app.camera_reader import CameraReader, ReadResult
from companion.app.multi_camera import MultiCameraReader
from companion.events import Event
from companion.referee.snapshot import Snapshot
from vision.capture.frames import Frame
from vision.drawing import Picture, Viewpoint, draw_belief
from vision.errors import VisionError
from vision.reading import Reading

DRAWN_S = 0.3
"""A picture is drawn no more often than this, however many people look."""

QUALITY = 78
"""JPEG quality: a picture of about 100 kB."""


@dataclass(frozen=True, slots=True)
class Belief:
    """The last reading, its viewpoint and its camera."""

    reading: Reading
    sight: Viewpoint
    camera: int


class LivePreview:
    """Keeps the newest frame and the last reading; a state and frame observer of a table."""

    def __init__(
        self, camera_reader: CameraReader | MultiCameraReader, levels: tuple[int, ...], clock: Callable[[], float]
    ) -> None:
        """``levels``: of the terrain, empty for a flat board; ``clock``: seconds, monotonic."""
        self._camera_reader, self._levels, self._clock = camera_reader, levels, clock
        self._frames: dict[int, Frame] = {}
        self._belief: Belief | None = None
        self._wrong: tuple[str, ...] = ()
        self._drawn: tuple[Frame, bytes] | None = None
        self._drawn_at_s = 0.0
        self._lock = Lock()

    def see(self, frame: Frame) -> None:
        """Take the newest frame."""
        self._frames[frame.camera] = frame

    def follow(self, t_s: float, snapshot: Snapshot, warning: str | None) -> None:  # noqa: ARG002 - others want them
        """Take the squares that are wrong."""
        self._wrong = snapshot.wrong

    def __call__(self, frame: Frame, look: ReadResult, events: tuple[Event, ...]) -> None:  # noqa: ARG002 - likewise
        """Take what was read."""
        geometry, reader = self._camera_reader.geometry, self._camera_reader.reader
        if look.reading is None or geometry is None:
            self._belief = None
        else:
            levels = look.reading.levels or self._levels or None
            self._belief = Belief(
                look.reading, Viewpoint(reader.kit, reader.camera, geometry.pose, levels), frame.camera
            )

    def picture(self) -> bytes | None:
        """The newest picture as JPEG; None: there is none yet."""
        with self._lock:
            drawn, now_s = self._belief, self._clock()
            frame = self._frames.get(0 if drawn is None else drawn.camera)
            if frame is None:
                return None
            if self._drawn is None or (self._drawn[0] is not frame and now_s - self._drawn_at_s >= DRAWN_S):
                self._drawn, self._drawn_at_s = (frame, _jpeg(self._with_belief(frame, drawn))), now_s
            return self._drawn[1]

    def _with_belief(self, frame: Frame, drawn: Belief | None) -> Picture:
        if drawn is None:
            return frame.image
        cells = [cell for cell in self._wrong if cell in drawn.sight.kit.cells]
        try:
            return draw_belief(frame.image, drawn.sight, drawn.reading, "", cells)
        except VisionError:
            return frame.image


def _jpeg(picture: Picture) -> bytes:
    done, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    assert done, "OpenCV encodes every picture of three bytes a pixel"
    return data.tobytes()
