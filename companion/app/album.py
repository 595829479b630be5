"""What the camera saw, overlaid with what the program believed, as a folder of pictures."""

from __future__ import annotations

import re
from pathlib import Path

import cv2

from companion.app.camera_reader import CameraReader, ReadResult
from companion.app.multi_camera import MultiCameraReader
from companion.errors import CompanionError
from companion.events import Accepted, Event
from companion.phrases import ENGLISH, Language, sentence
from vision.capture.frames import Frame
from vision.drawing import Viewpoint, draw_belief

CELL = re.compile(r"[a-z]\d+")
"""A word that may be a square's name in the text of a move."""


class Album:
    """Writes every frame that was read to a folder: ``000123.jpg`` is frame 123."""

    def __init__(
        self,
        folder: Path,
        camera_reader: CameraReader | MultiCameraReader,
        levels: tuple[int, ...],
        lang: Language = ENGLISH,
    ) -> None:
        """``levels``: of the terrain, empty for a flat board; ``lang``: language of the captions.

        Raises CompanionError if the folder cannot be made.
        """
        self._folder, self._camera_reader, self._levels, self._lang = folder, camera_reader, levels, lang
        self._caption = ""
        self._marked: tuple[str, ...] = ()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CompanionError(
                f"{folder}: cannot make this folder ({error.strerror}); give --pictures DIR"
            ) from error

    def __call__(self, frame: Frame, look: ReadResult, events: tuple[Event, ...]) -> None:
        """Write one picture.  Raises CompanionError if the disk refuses it."""
        if events:
            self._caption = sentence(events[-1], self._lang)
            self._marked = self._cells(events[-1])
        picture = frame.image
        if look.reading is not None and self._camera_reader.geometry is not None:
            reader, levels = self._camera_reader.reader, look.reading.levels or self._levels or None
            sight = Viewpoint(reader.kit, reader.camera, self._camera_reader.geometry.pose, levels)
            picture = draw_belief(frame.image, sight, look.reading, self._caption, self._marked)
        file = self._folder / f"{frame.seq:06d}.jpg"
        done, data = cv2.imencode(".jpg", picture)
        try:
            file.write_bytes(data.tobytes() if done else b"")
        except OSError as error:
            raise CompanionError(
                f"{file}: cannot be written ({error.strerror}); free the disk or drop --pictures"
            ) from error

    def _cells(self, event: Event) -> tuple[str, ...]:
        """The squares that an event is about: those it names, or those that its moves go from and to."""
        texts = (event.move,) if isinstance(event, Accepted) else getattr(event, "moves", ())
        moved = dict.fromkeys(cell for text in texts for cell in CELL.findall(text))
        return (*getattr(event, "cells", ()), *(cell for cell in moved if cell in self._camera_reader.reader.kit.cells))
