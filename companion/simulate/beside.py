"""What lies or falls beside the board: bodies on the table, and the soft shadow of something outside the picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.kit import Colour
from companion.simulate.light import Array
from companion.simulate.render import Picture, with_sprite
from companion.simulate.sprite import Scene, body_sprite
from vision.pose.projection import back_project
from vision.scene.solids import Solid

COARSE_PX = 8
"""Shadows without edges are reckoned for one pixel in so many each way."""

Body = tuple[Solid, Colour]
"""A body where it stands, world axes, mm; sRGB."""


@dataclass(frozen=True, slots=True)
class Band:
    """A straight soft shadow on the table.

    Attributes:
        from_deg: direction, anticlockwise from +x, in which what throws it stands.
        begin_mm: how far in that direction from the middle of the mat it begins, on the side of the board…
        end_mm: …and ends.
        soft_mm: width of its edges.
        share: of the sRGB values lost in it.
    """

    from_deg: float
    begin_mm: float
    end_mm: float
    soft_mm: float
    share: float


def with_bodies(clear: Picture, scene: Scene, bodies: Sequence[Body]) -> Picture:
    """A new picture: ``clear`` (height, width, 3) uint8 BGR with bodies on it, the farthest from the camera first."""
    sprite = body_sprite(scene, bodies)
    return clear if sprite is None else with_sprite(clear, scene, sprite)


def with_band(clear: Picture, scene: Scene, band: Band) -> Picture:
    """A new picture: ``clear`` (height, width, 3) uint8 BGR with a shadow over it, pieces and all."""
    height, width = clear.shape[:2]
    rows, columns = np.mgrid[0 : height + COARSE_PX : COARSE_PX, 0 : width + COARSE_PX : COARSE_PX]
    places = back_project(np.stack([columns, rows], axis=-1).astype(float), scene.pose, scene.camera)
    angle = np.radians(band.from_deg)
    out_mm = places @ [np.cos(angle), np.sin(angle)]
    dark = _rising((out_mm - band.begin_mm) / band.soft_mm) * _rising((band.end_mm - out_mm) / band.soft_mm)
    # Of a picture made larger, the middles of the corners' pixels stay in the corners.
    across, down = (np.arange(n, dtype=np.float32) / COARSE_PX for n in (width, height))
    fine = cv2.remap(dark.astype(np.float32), *np.meshgrid(across, down), cv2.INTER_LINEAR)
    return np.asarray(np.rint(clear * (1 - band.share * fine)[..., None]), np.uint8)


def _rising(x: Array) -> Array:
    """0 below 0, 1 above 1, smooth between."""
    share = np.clip(x, 0, 1)
    risen: Array = share * share * (3 - 2 * share)
    return risen
