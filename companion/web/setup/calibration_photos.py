"""Photographs of the calibration board: taken one at a time, or automatically while the camera is moved around it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.lens import (
    DEFAULT_BOARD,
    MIN_PHOTOS,
    BoardView,
    LensCalibration,
    calibrate_lens,
    corner_coverage,
    find_view,
)
from companion.web.setup.files import write_picture
from companion.web.setup.latest_frame import SetupError
from vision.capture.frames import Frame
from vision.drawing import Picture

ADVISED_PHOTOS = 8

MAX_VIEWS = 40
"""Largest number of views taken automatically; calibrating from more takes long and is no better."""

GOOD_PX = 0.5
"""Reprojection error up to which a lens is good: heights differ by only a few pixels."""

STILL_SHARE_S = 0.05
"""Speed up to which the board counts as still, in picture widths per second: 64 px of 1280, a smear of about one pixel
in the 1/60 s that a camera exposes indoors."""

NEAR_S = 0.5
"""Largest time between two pictures from which motion is judged."""

NEW_SHARE = 0.06
"""Smallest mean distance of the board's corners from those of every kept view, as a fraction of the picture's width:
a view closer to one of them adds little."""


class CalibrationPhotos:
    """The kept views of the board, as pictures in a folder."""

    def __init__(self, folder: Path) -> None:
        self.photos: list[Path] = []
        self.is_collecting = False
        self.trouble = ""
        self._folder = folder
        self._kept: list[BoardView] = []
        self._before: tuple[BoardView, float] | None = None
        self._keeping = Lock()

    @property
    def corners(self) -> list[npt.NDArray[np.float32]]:
        """(n, 2) px, the corners of each view."""
        return [view.pixels for view in self._kept]

    def photograph(self, image: Picture) -> None:
        """Keep this picture.  Raises SetupError when it shows too little of the board, or cannot be written."""
        view = find_view(image, DEFAULT_BOARD)
        if view is None:
            raise SetupError("the calibration board is not seen, or too little of it: hold it flat, sharp and lit")
        self._keep(view, image)

    def collect(self, frame: Frame) -> bool:
        """Keep the next picture of a moving camera if it is useful; return whether it was.

        It is useful when board and camera are still for a moment and the view differs from every kept one.
        """
        view = find_view(frame.image, DEFAULT_BOARD)
        before, self._before = self._before, None if view is None else (view, frame.t_s)
        if not self.is_collecting or view is None or before is None:
            return False
        width, lasted_s = frame.image.shape[1], frame.t_s - before[1]
        if lasted_s > NEAR_S:
            return False
        slowly = STILL_SHARE_S * width * lasted_s
        if before[0].shift_px(view) > slowly or any(kept.shift_px(view) < NEW_SHARE * width for kept in self._kept):
            return False
        try:
            self._keep(view, frame.image)
        except SetupError as error:
            self.is_collecting, self.trouble = False, str(error)
            return False
        self.is_collecting = len(self.photos) < MAX_VIEWS and not self.is_enough(frame.image)
        return True

    def is_enough(self, image: Picture) -> bool:
        """Whether there are as many views as advised, and every part of a picture of this size is covered."""
        return len(self.photos) >= ADVISED_PHOTOS and bool(self.coverage(image).all())

    def coverage(self, image: Picture | None) -> npt.NDArray[np.bool_]:
        """(rows, columns) bool, which parts of a picture of this size have had corners in some view."""
        return corner_coverage(self.corners, (1, 1) if image is None else (image.shape[1], image.shape[0]))

    def calibrated(self) -> LensCalibration:
        """The lens calibrated from all views.  Raises SetupError, ProfileError."""
        if len(self.photos) < MIN_PHOTOS:
            raise SetupError(f"take at least {MIN_PHOTOS} photographs first; {ADVISED_PHOTOS} are better")
        return calibrate_lens(tuple(self.photos), DEFAULT_BOARD)

    def row(self, image: Picture | None, camera: Camera | None) -> dict[str, Any]:
        """The number of views, the parts of pictures like ``image`` that they cover, and the lens's quality."""
        error = None if camera is None else round(camera.reprojection_px, 3)
        return {
            "done": camera is not None,
            "why": self.trouble,
            "photos": len(self.photos),
            "collecting": self.is_collecting,
            "advised": ADVISED_PHOTOS,
            "least": MIN_PHOTOS,
            "coverage": self.coverage(image).tolist(),
            "enough": image is not None and self.is_enough(image),
            "error_px": error,
            "good": error is not None and error <= GOOD_PX,
        }

    def note(self, image: Picture | None) -> Mapping[str, int]:
        """Progress for whoever moves the camera; empty unless views are being collected or there are enough."""
        if image is None or not (self.is_collecting or self.is_enough(image)):
            return {}
        parts = self.coverage(image)
        return {"views": len(self.photos), "advised": ADVISED_PHOTOS, "parts": int(parts.sum()), "all": parts.size}

    def _keep(self, view: BoardView, image: Picture) -> None:
        with self._keeping:
            path = self._folder / f"lens-{len(self.photos):02}.jpg"
            write_picture(path, image)
            self.photos.append(path)
            self._kept.append(view)
