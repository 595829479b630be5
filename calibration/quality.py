"""How good a lens calibration is, in words, and what would make it better."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from calibration.lens import LensCalibration

GOOD_REPROJECTION_PX, USABLE_REPROJECTION_PX = 0.5, 1.0
"""Heights differ by only a few pixels."""

GOOD_FOCAL, USABLE_FOCAL = 0.002, 0.01
"""Standard deviation of the focal length as a share of it.  Three photographs of a rendered board give 0.003, five
0.001, and the focal length was then that far from the true one."""


def quality(result: LensCalibration) -> str:
    """``good``, ``usable`` or ``poor``."""
    error, deviation = result.camera.reprojection_px, result.focal_deviation
    if error <= GOOD_REPROJECTION_PX and deviation <= GOOD_FOCAL and result.coverage.all():
        return "good"
    return "usable" if error <= USABLE_REPROJECTION_PX and deviation <= USABLE_FOCAL else "poor"


def advice(result: LensCalibration) -> tuple[str, ...]:
    """What to do for a better one, one line each; nothing when it is good."""
    lines = []
    if result.camera.reprojection_px > GOOD_REPROJECTION_PX:
        lines.append("take sharper pictures of a board that is quite flat, glued to a plate")
    if places := gaps(result.coverage):
        lines.append(f"take more pictures with the board {' and '.join(places)} of the picture")
    if result.focal_deviation > GOOD_FOCAL:
        lines.append("take more pictures, near and far, with the board tilted every way")
    return tuple(lines)


def gaps(coverage: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    """Where in the picture the board was never seen, from a coverage (rows, columns) as in :class:`LensCalibration`."""
    return tuple(dict.fromkeys(_gaps(coverage.copy())))


def _gaps(coverage: npt.NDArray[np.bool_]) -> Iterator[str]:
    edges = {"left": coverage[:, 0], "right": coverage[:, -1], "top": coverage[0], "bottom": coverage[-1]}
    if not coverage.any():
        coverage[:] = True
        yield "in every part"
    for name, edge in edges.items():
        if not edge.any():
            edge[:] = True  # said as a whole
            yield f"at the {name} edge"
    last_row, last_column = coverage.shape[0] - 1, coverage.shape[1] - 1
    for row, column in np.argwhere(~coverage):
        down = {0: "top", last_row: "bottom"}.get(int(row), "")
        across = {0: "left", last_column: "right"}.get(int(column), "")
        yield (
            f"in the {down} {across} corner"
            if down and across
            else (f"at the {down or across} edge" if down or across else "in the middle")
        )
