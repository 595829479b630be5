"""A USB camera through Video4Linux: a thread fetches, the newest frame wins, and exposure and focus are locked."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from functools import partial

import cv2
import numpy as np

from vision.source import Frame, SourceLost

FROZEN_S = 1.0
"""Without a new frame for so long the camera is taken to be gone."""

LOCKS = ((cv2.CAP_PROP_AUTO_EXPOSURE, 1), (cv2.CAP_PROP_AUTO_WB, 0), (cv2.CAP_PROP_AUTOFOCUS, 0))
"""Controls that would otherwise drift during a match (1 is manual exposure in the V4L2 driver)."""


class Video4LinuxSource:
    """Frames of camera number ``device`` at the size that the camera file is for."""

    def __init__(self, device: int, width_px: int, height_px: int) -> None:
        """Raises SourceLost when there is no such camera."""
        self._device = device
        self._capture = cv2.VideoCapture(device, cv2.CAP_V4L2)
        if not self._capture.isOpened():
            raise SourceLost(f"camera {device}: cannot be opened; is it plugged in? (ls /dev/video*)")
        self._capture.set(cv2.CAP_PROP_FRAME_WIDTH, width_px)
        self._capture.set(cv2.CAP_PROP_FRAME_HEIGHT, height_px)
        for control, value in LOCKS:
            self._capture.set(control, value)
        self._newest: Frame | None = None
        self._arrived = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._fetch, name=f"camera {device}", daemon=True)
        self._thread.start()

    def frames(self) -> Iterator[Frame]:
        """The newest frame each time; raises SourceLost when none has come for a second."""
        seen = -1
        while not self._closed:
            with self._arrived:
                fresh = self._arrived.wait_for(partial(self._has_news_for, seen), timeout=FROZEN_S)
                frame = self._newest
            if self._closed:
                return
            if not fresh or frame is None:
                raise SourceLost(f"camera {self._device}: no picture for {FROZEN_S:.0f} s; is it still plugged in?")
            seen = frame.seq
            yield frame

    def close(self) -> None:
        """Stop fetching and release the camera."""
        self._closed = True
        with self._arrived:
            self._arrived.notify_all()
        self._thread.join(timeout=2 * FROZEN_S)
        self._capture.release()

    def _has_news_for(self, seen: int) -> bool:
        return self._closed or (self._newest is not None and self._newest.seq > seen)

    def _fetch(self) -> None:
        begun, seq = time.monotonic(), 0
        while not self._closed:
            done, image = self._capture.read()
            if not done:
                return
            with self._arrived:
                self._newest = Frame(np.asarray(image, np.uint8), seq, time.monotonic() - begun)
                self._arrived.notify_all()
            seq += 1
