"""Things beside the board: bodies on the table, and the soft shadow of something outside the picture."""

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
"""Soft shadows are computed for one pixel in this many each way, and interpolated."""

Body = tuple[Solid, Colour]
"""A body at its place (world coordinates, mm), and its sRGB colour."""


@dataclass(frozen=True, slots=True)
class Band:
    """A straight soft shadow on the table.

    Attributes:
        from_deg: direction, anticlockwise from +x, in which the object that casts it stands.
        begin_mm: distance from the middle of the mat in that direction at which it begins, on the board's side.
        end_mm: distance at which it ends.
        soft_mm: width of its soft edges.
        share: fraction of the sRGB values that is lost in it.
    """

    from_deg: float
    begin_mm: float
    end_mm: float
    soft_mm: float
    share: float


def with_bodies(clear: Picture, scene: Scene, bodies: Sequence[Body]) -> Picture:
    """A new picture: ``clear`` (height, width, 3) uint8 BGR with ``bodies`` drawn in this order: farthest first."""
    sprite = body_sprite(scene, bodies)
    return clear if sprite is None else with_sprite(clear, scene, sprite)


def with_band(clear: Picture, scene: Scene, band: Band) -> Picture:
    """A new picture: ``clear`` (height, width, 3) uint8 BGR with a shadow over everything, pieces included."""
    height, width = clear.shape[:2]
    rows, columns = np.mgrid[0 : height + COARSE_PX : COARSE_PX, 0 : width + COARSE_PX : COARSE_PX]
    places = back_project(np.stack([columns, rows], axis=-1).astype(float), scene.pose, scene.camera)
    angle = np.radians(band.from_deg)
    out_mm = places @ [np.cos(angle), np.sin(angle)]
    dark = _rising((out_mm - band.begin_mm) / band.soft_mm) * _rising((band.end_mm - out_mm) / band.soft_mm)
    # Sample i of the coarse grid is exactly pixel i * COARSE_PX, which cv2.resize would not keep.
    across, down = (np.arange(n, dtype=np.float32) / COARSE_PX for n in (width, height))
    fine = cv2.remap(dark.astype(np.float32), *np.meshgrid(across, down), cv2.INTER_LINEAR)
    return np.asarray(np.rint(clear * (1 - band.share * fine)[..., None]), np.uint8)


def _rising(x: Array) -> Array:
    """Smoothstep: 0 below 0, 1 above 1, smooth between."""
    share = np.clip(x, 0, 1)
    risen: Array = share * share * (3 - 2 * share)
    return risen
