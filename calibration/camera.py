"""A calibrated camera: intrinsics and distortion of one lens at one picture size."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from calibration.errors import ProfileError
from calibration.toml import Table, load


@dataclass(frozen=True, eq=False)
class Camera:
    """Pinhole camera with Brown distortion, as OpenCV has it; the middle of the first pixel is (0, 0).

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


def read_camera(path: Path) -> Camera:
    """The camera of a TOML file.  Raises ProfileError naming file, key and what is expected."""
    table = Table(load(path), str(path))
    camera = Camera(
        width_px=table.get("width_px", int),
        height_px=table.get("height_px", int),
        matrix=_numbers(table, "matrix", 9).reshape(3, 3),
        distortion=_numbers(table, "distortion", 5),
        reprojection_px=table.get("reprojection_px", float),
    )
    table.done()
    if camera.width_px <= 0 or camera.height_px <= 0 or camera.matrix[0, 0] <= 0 or camera.matrix[1, 1] <= 0:
        raise ProfileError(f"{path}: sizes and focal lengths must be greater than zero; calibrate the lens again")
    return camera


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


def _numbers(table: Table, key: str, count: int) -> npt.NDArray[np.float64]:
    values = table.get(key, list)
    if len(values) != count or not all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        raise ProfileError(f"{table.where}: {key} must be {count} numbers")
    array = np.array(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ProfileError(f"{table.where}: {key} must be finite numbers")
    return array
