"""Read a board from one picture: register, measure the light, look up colours, explain every cell, give probabilities.

The explaining itself is in :mod:`vision.explain`.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit
from calibration.looks import SetLook
from vision import palette
from vision.explain import Evidence, explain
from vision.geometry import TALLEST, Geometry, make_geometry, same_pose
from vision.light import measure_light, references
from vision.reading import EMPTY, Reading, State
from vision.register import Registration, check_size, register, to_gray
from vision.source import Frame

STRAY_LOG = np.log(palette.STRAY / palette.BINS**3) + 0.7
"""A pixel whose likeliest material is no likelier than stray pixels are (twice their density) is unexplained."""

Array = npt.NDArray[np.float32]


class Reader:
    """Reads pictures of one kit through one camera; keeps the geometry while nothing is moved."""

    def __init__(self, kit: Kit, camera: Camera, look: SetLook) -> None:
        self.kit = kit
        self.camera = camera
        self.look = look
        self.letters = tuple(kind.letter for kind in kit.pieces)
        standing = [(height, letter) for height in range(1, TALLEST + 1) for letter in self.letters]
        self.states: tuple[State, ...] = (EMPTY, *standing)
        self._palette = palette.build_palette(look, self.letters)
        self._likeliest = np.delete(self._palette, palette.TABLE, axis=1).max(axis=1)
        self._references = references(kit)
        self._rim = np.array(look.rim, np.float32)
        self._geometry: Geometry | None = None

    def register(self, image: npt.NDArray[np.uint8]) -> Registration:
        """The pose in a picture (height, width, 3) uint8 BGR.  Raises VisionError, MatNotFound."""
        return register(to_gray(image), self.kit, self.camera)

    def is_same(self, geometry: Geometry, pose: Registration) -> bool:
        """Whether ``pose`` sees the mat where ``geometry`` has it."""
        return same_pose(geometry, self.kit, pose, self.camera)

    def geometry(self, pose: Registration) -> Geometry:
        """The geometry for a pose, kept while the mat stays where it is."""
        if self._geometry is None or not self.is_same(self._geometry, pose):
            self._geometry = make_geometry(self.kit, pose, self.camera)
        return self._geometry

    def check_size(self, image: npt.NDArray[np.uint8]) -> None:
        """Raise VisionError for a picture of another size than the camera was calibrated for."""
        check_size(image, self.camera)

    def read(self, frame: Frame) -> Reading:
        """The reading of a frame.  Raises VisionError, MatNotFound."""
        return self.read_with_geometry(frame)[0]

    def read_with_geometry(self, frame: Frame) -> tuple[Reading, Geometry]:
        """The reading of a frame and the geometry that it rests on.  Raises VisionError, MatNotFound."""
        geometry = self.geometry(self.register(frame.image))
        return self.read_at(frame, geometry), geometry

    def read_at(self, frame: Frame, geometry: Geometry) -> Reading:
        """The reading of a frame whose pose is known.  Raises VisionError."""
        shown = self.evidence(frame.image, geometry)
        scores = explain(shown, self._rim, geometry, (self.camera.height_px, self.camera.width_px)).scores
        log_likelihood = (scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)).astype(np.float32)
        return Reading(self.kit.cells, self.states, log_likelihood, shown.foreign, frame.t_s)

    def evidence(self, image: npt.NDArray[np.uint8], geometry: Geometry) -> Evidence:
        """What every crop pixel of a picture (height, width, 3) uint8 BGR shows."""
        light = measure_light(image, self.kit, geometry.pose, self.camera, self._references)
        crops = geometry.crops
        n, rows, columns = crops.flat_px.shape
        x, y = crops.map_px.reshape(2, n * rows, columns)
        codes = np.asarray(cv2.remap(image, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.uint8).reshape(
            n, rows, columns, 3
        )
        local = light.at(crops.centres_mm)[:, None, None]
        middle = light.at(np.zeros((1, 3)))
        around = image.reshape(-1, 3)[geometry.surround_px]
        self._palette[:, palette.TABLE] = palette.table_column(
            np.clip(palette.normalise(around, middle), 0, palette.TOP_VALUE)
        )
        values = palette.normalise(codes, local)
        bins = palette.bin_index(values)
        return Evidence(self._palette[bins], values, self._foreign(bins, geometry))

    def _foreign(self, bins: npt.NDArray[np.int32], geometry: Geometry) -> Array:
        """(n,) share of the pixels round each cell's middle, or of what stands there, that no material explains."""
        is_stray = np.maximum(self._likeliest, self._palette[:, palette.TABLE]) < STRAY_LOG
        rows = np.abs(geometry.crops.v_mm) <= geometry.outlines.radius_mm
        stray = is_stray[bins[:, rows]] & ~geometry.crops.outside[:, rows]
        share: Array = stray.mean(axis=(1, 2)).astype(np.float32)
        return share
