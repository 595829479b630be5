"""One camera's frames turned into what the referee needs: did it move, and what lies there."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from calibration.camera import Camera
from calibration.kit import Kit
from calibration.looks import SetLook
from vision.errors import MatNotFound, VisionError
from vision.geometry import Geometry
from vision.reader import Levels, Reader
from vision.reading import Reading
from vision.register import Registration
from vision.source import Frame
from vision.watch import Glimpse, Watch

HAND_GIVEN_UP_S = 3.0
"""A change that looks like an arm but has not moved for so long is a thing on the table: a hand trembles."""

NEW_LIGHT_SHARE = 0.02
"""When half of all cells have changed by more than this, it was the light that changed, not the board."""

PUSH_CONFIRMED_S = 0.3
"""A new pose must be seen again after so long: an arm over a marker, or a mat that is just being pushed, moves on."""


@dataclass(frozen=True, eq=False)
class Look:
    """A reading that was tried.

    Attributes:
        reading: what was read; None when nothing could be.
        view: state of the view: ``clear``; ``moved`` while camera or mat seem to be pushed; ``no-mat``; ``dark``.
        why: why there is no reading.
    """

    reading: Reading | None
    view: str = "clear"
    why: str = ""


class Eyes:
    """Reader and watch of one camera."""

    def __init__(self, kit: Kit, camera: Camera, look: SetLook, levels: tuple[int, ...] = ()) -> None:
        """``levels``: of terrain, or of the pillars at the start, a cell; empty on a flat board."""
        self.reader = Reader(kit, camera, look, levels)
        self.geometry: Geometry | None = None
        self._watch = Watch(kit, camera)
        self._glimpse: Glimpse | None = None
        self._still_since_s = 0.0
        self._pushed: tuple[Geometry, float] | None = None

    def moving(self, frame: Frame) -> bool:
        """Whether anything moved since the frame before.  Raises VisionError for a frame of the wrong size."""
        self.reader.check_size(frame.image)
        self._glimpse = self._watch.glimpse(frame.image)
        if self._glimpse.moving:
            self._still_since_s = frame.t_s
        return self._glimpse.moving

    def look(self, frame: Frame, levels: Levels | None = None) -> Look:
        """Read the frame that :meth:`moving` was asked about last; ``levels`` as in :meth:`Reader.read_at`."""
        try:
            geometry = self._place(self.reader.register(frame.image), frame.t_s)
            if geometry is None:
                return Look(None, "moved", "camera or mat was pushed")
            reading = self.reader.read_at(frame, geometry, levels)
        except MatNotFound as error:
            return Look(None, "no-mat", str(error))
        except VisionError as error:
            return Look(None, "dark", str(error))
        return Look(self._compared(frame, reading, geometry))

    def understood(self) -> None:
        """The frame that was looked at last shows a table that makes sense: no hand is over it."""
        assert self._glimpse is not None, "understood() follows look()"
        self._watch.keep_bare(self._glimpse)

    def _place(self, pose: Registration, t_s: float) -> Geometry | None:
        """The geometry to read with; None while the mat seems to lie elsewhere than it did and may move on."""
        if self.geometry is None or self.reader.is_same(self.geometry, pose):
            self._pushed = None
            self.geometry = self.geometry or self.reader.geometry(pose)
        elif len(pose.markers) >= len(self.geometry.pose.markers):
            return self._moved_to(pose, t_s)
        # With a marker covered the pose is less certain than the one that is known.
        return self.geometry

    def _moved_to(self, pose: Registration, t_s: float) -> Geometry | None:
        """The geometry of a new pose, once it has been seen twice."""
        if self._pushed is None or not self.reader.is_same(self._pushed[0], pose):
            self._pushed = (self.reader.geometry(pose), t_s)
        geometry, since_s = self._pushed
        if t_s - since_s < PUSH_CONFIRMED_S:
            return None
        self._watch.forget_bare()
        self.geometry, self._pushed = geometry, None
        return geometry

    def _compared(self, frame: Frame, reading: Reading, geometry: Geometry) -> Reading:
        """``reading`` with what the last picture that made sense adds to it."""
        assert self._glimpse is not None, "look() follows moving()"
        seen = self._watch.compare(self._glimpse, geometry)
        if seen is None:
            return reading
        is_thing = frame.t_s - self._still_since_s >= HAND_GIVEN_UP_S
        foreign = reading.foreign if is_thing else np.maximum(reading.foreign, seen.covered)
        is_new_light = float(np.median(seen.changed)) > NEW_LIGHT_SHARE
        return replace(reading, foreign=foreign.astype(np.float32), changed=None if is_new_light else seen.changed)
