"""A calibrated camera: intrinsics and distortion of one lens at one picture size."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from calibration.errors import ProfileError
from calibration.files import MAX_PX
from calibration.toml import Table, load

MAX_STRETCH = 3.0
"""Largest factor by which distortion moves the nearer edge of a lens's picture inwards or outwards; the lenses of the
examples do so by less than a hundredth."""

MAX_TANGENT = 0.5
"""Tangential distortion moves that edge by less than this share of its distance from the centre; that of the lenses of
the examples by a thousandth."""


@dataclass(frozen=True, eq=False)
class Camera:
    """Pinhole camera with Brown distortion, in OpenCV's convention; the centre of the first pixel is (0, 0).

    Attributes:
        width_px: picture width.
        height_px: picture height.
        matrix: (3, 3) float64, pixels.
        distortion: (5,) float64, k1 k2 p1 p2 k3.
        reprojection_px: root mean square reprojection error of the calibration.
    """

    width_px: int
    height_px: int
    matrix: npt.NDArray[np.float64]
    distortion: npt.NDArray[np.float64]
    reprojection_px: float

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of its pictures, px."""
        return self.width_px, self.height_px


def read_camera(path: Path) -> Camera:
    """The camera of a TOML file.  Raises ProfileError naming file, key and what is expected."""
    table = Table(load(path), str(path))
    camera = Camera(
        width_px=table.get("width_px", int),
        height_px=table.get("height_px", int),
        matrix=np.array(table.numbers("matrix", 9), np.float64).reshape(3, 3),
        distortion=np.array(table.numbers("distortion", 5), np.float64),
        reprojection_px=table.get("reprojection_px", float),
    )
    table.done()
    if why := _impossibility(camera):
        raise ProfileError(f"{path}: {why}; calibrate the lens again")
    return camera


def _impossibility(camera: Camera) -> str:
    """Why no such camera can exist; empty where one can."""
    (fx, _, cx), (_, fy, cy), last = camera.matrix
    if min(camera.width_px, camera.height_px, fx, fy) <= 0:
        return "sizes and focal lengths must be greater than zero"
    if camera.width_px * camera.height_px > MAX_PX:
        return f"pictures of up to {MAX_PX / 1e6:.0f} megapixels are read"
    if tuple(last) != (0, 0, 1) or camera.matrix[1, 0] != 0:
        return "matrix must be [fx, s, cx, 0, fy, cy, 0, 0, 1]"
    if not (0 <= cx <= camera.width_px and 0 <= cy <= camera.height_px):
        return "the middle of the lens must lie in the picture"
    if camera.reprojection_px < 0:
        return "reprojection_px must be 0 or more"
    reach = min(camera.width_px / fx, camera.height_px / fy) / 2
    return "" if _is_of_a_lens(camera.distortion, reach) else "no lens has this distortion"


def _is_of_a_lens(distortion: npt.NDArray[np.float64], reach: float) -> bool:
    """Whether a distortion is moderate, and keeps the order of the rays out to the nearer edge of the picture.

    Args:
        distortion: (5,) float64, k1 k2 p1 p2 k3.
        reach: half the shorter side of the picture in focal lengths: where that edge is seen.
    """
    k1, k2, p1, p2, k3 = distortion
    radii = np.linspace(0.0, MAX_STRETCH * reach, 1000)
    seen = radii * (1 + radii**2 * (k1 + radii**2 * (k2 + radii**2 * k3)))
    outside = np.flatnonzero(seen >= reach)
    if not outside.size or outside[0] < len(radii) / MAX_STRETCH**2:
        return False
    is_in_order = bool((np.diff(seen[: outside[0] + 1]) > 0).all())
    return is_in_order and max(abs(p1), abs(p2)) * 3 * reach < MAX_TANGENT


def format_camera(camera: Camera) -> str:
    """The camera as TOML, which :func:`read_camera` reads back."""
    matrix = ", ".join(f"{v:.6f}" for v in camera.matrix.ravel())
    distortion = ", ".join(f"{v:.8f}" for v in camera.distortion)
    return (
        "# A calibrated camera, made by `companion calibrate lens`.\n"
        f"width_px = {camera.width_px}\n"
        f"height_px = {camera.height_px}\n"
        f"matrix = [{matrix}]                # 3 x 3, row by row, pixels\n"
        f"distortion = [{distortion}]        # k1 k2 p1 p2 k3\n"
        f"reprojection_px = {camera.reprojection_px:.4f}\n"
    )
