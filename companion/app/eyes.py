"""One camera's frames turned into what the referee needs: did it move, and what lies there."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit
from calibration.looks import SetLook
from vision.errors import MatNotFound, VisionError
from vision.geometry import Geometry
from vision.reader import Reader
from vision.reading import Reading
from vision.source import Frame
from vision.watch import Glimpse, Watch

HAND_GIVEN_UP_S = 3.0
"""A change that looks like an arm but has not moved for so long is a thing on the table: a hand trembles."""


@dataclass(frozen=True, eq=False)
class Look:
    """A reading that was tried.

    Attributes:
        reading: what was read; None when nothing could be.
        view: state of the view: ``clear``, ``moved`` when camera or mat was pushed since the last reading; ``no-mat``
            or ``dark`` when there is no reading.
        why: why there is none.
    """

    reading: Reading | None
    view: str = "clear"
    why: str = ""


class Eyes:
    """Reader and watch of one camera."""

    def __init__(self, kit: Kit, camera: Camera, look: SetLook) -> None:
        self.reader = Reader(kit, camera, look)
        self._watch = Watch(kit, camera)
        self._glimpse: Glimpse | None = None
        self._geometry: Geometry | None = None
        self._still_since_s = 0.0

    def moving(self, frame: Frame) -> bool:
        """Whether anything moved since the frame before.  Raises VisionError for a frame of the wrong size."""
        self.reader.check_size(frame.image)
        self._glimpse = self._watch.glimpse(frame.image)
        if self._glimpse.moving:
            self._still_since_s = frame.t_s
        return self._glimpse.moving

    def look(self, frame: Frame) -> Look:
        """Read the frame that :meth:`moving` was asked about last."""
        assert self._glimpse is not None, "look() follows moving()"
        try:
            reading, geometry = self.reader.read_with_geometry(frame)
        except MatNotFound as error:
            return Look(None, "no-mat", str(error))
        except VisionError as error:
            return Look(None, "dark", str(error))
        was_pushed = self._geometry is not None and self._geometry is not geometry
        self._geometry = geometry
        if was_pushed:
            self._watch.forget_bare()
        foreign = self._foreign(frame, reading, geometry)
        return Look(replace(reading, foreign=foreign), "moved" if was_pushed else "clear")

    def _foreign(self, frame: Frame, reading: Reading, geometry: Geometry) -> npt.NDArray[np.float32]:
        assert self._glimpse is not None
        covered = self._watch.covered(reading, self._glimpse, geometry)
        is_thing = frame.t_s - self._still_since_s >= HAND_GIVEN_UP_S
        if is_thing or float(covered.max()) < 0.5:
            self._watch.keep_bare(self._glimpse)
            return reading.foreign
        return covered
