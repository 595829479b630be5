"""Recording while the referee works: a thread of its own compresses and writes, and never delays a verdict.

How to use it::

    tape = Tape(RecordingWriter(folder, info, space_bytes), say=print)
    tape.take(frame, is_calm=True)      # by the deciding thread, for every frame; returns at once
    tape.close()                        # writes what waits, and says how much was recorded
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import cv2

from companion.errors import RecordingError
from companion.languages.english import counted
from companion.tape.recording_writer import RecordingWriter
from vision.capture.frames import Frame

QUALITY = 95
"""JPEG quality: so close to the camera's picture that it is read the same."""

WAITING = 24
"""Number of frames that may wait for the disk, one or two seconds: 66 MB at 1280 × 720.  More are dropped."""


@dataclass(frozen=True, slots=True)
class _Shot:
    frame: Frame
    is_calm: bool


@dataclass(frozen=True, slots=True)
class _Heights:
    t_s: float
    heights_mm: tuple[float | None, ...]


class Tape:
    """Writes frames to a recording in its own thread.  :meth:`take` and :meth:`close` are called by another one."""

    def __init__(self, writer: RecordingWriter, say: Callable[[str], None], *, is_live: bool = True) -> None:
        """``say`` is told in one line what people should know.

        A source that is not ``is_live``, such as a film, is made to wait for the disk; a live one loses frames.
        """
        self.dropped = 0
        self._writer, self._say, self._is_live = writer, say, is_live
        self._waiting: queue.Queue[_Shot | _Heights | None] = queue.Queue(WAITING)
        self._is_over = False
        self._thread = threading.Thread(target=self._write, name="tape", daemon=True)
        self._thread.start()

    @property
    def folder(self) -> Path:
        """Where the recording lies."""
        return self._writer.folder

    def take(self, frame: Frame, *, is_calm: bool) -> None:
        """Record a frame; ``is_calm``: nothing moved and nobody read it, so that it may be dropped if space is short.

        Of several cameras only the first one's pictures are recorded.
        """
        shot = next((shot for shot in (frame, *frame.others) if shot.camera == 0), None)
        if shot is not None:
            self._put(_Shot(shot, is_calm))

    def sense(self, t_s: float, heights_mm: tuple[float | None, ...]) -> None:
        """Record the heights that the pillars' sensors measured at ``t_s``, in the order of the kit's cells."""
        self._put(_Heights(t_s, heights_mm))

    def _put(self, thing: _Shot | _Heights) -> None:
        if self._is_over:
            return
        try:
            self._waiting.put(thing, block=not self._is_live)
        except queue.Full:
            if self.dropped == 0:
                self._say(f"{self._writer.folder}: the disk is too slow for the recording; frames are being dropped")
            self.dropped += 1

    def close(self) -> None:
        """Write what waits and end the recording; closing twice is fine."""
        if not self._thread.is_alive():
            return
        self._waiting.put(None)
        self._thread.join()
        self._writer.close()
        lost = f", {self.dropped} dropped" if self.dropped else ""
        size = f"{self._writer.used_bytes / 1e6:.0f} MB"
        self._say(f"{self._writer.folder}: {counted(self._writer.frames, 'frame')} recorded{lost}, {size}")

    def _write(self) -> None:
        """The thread: writes until the end comes or the disk fails; after a failure whatever comes is dropped."""
        while (thing := self._waiting.get()) is not None:
            if self._is_over:
                continue
            try:
                self._keep(thing)
            except RecordingError as error:
                self._is_over = True
                self._say(str(error))

    def _keep(self, thing: _Shot | _Heights) -> None:
        if isinstance(thing, _Heights):
            self._writer.add_heights(thing.t_s, thing.heights_mm)
            return
        _, picture = cv2.imencode(".jpg", thing.frame.image, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
        self._writer.add(picture.tobytes(), thing.frame.t_s, is_calm=thing.is_calm)
