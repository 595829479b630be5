"""How brightly the bare ground is lit, place by place, relative to its usual light: where shadows lie."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calibration.appearance import SetAppearance, linear
from calibration.camera import Camera
from calibration.kit import Kit
from calibration.srgb import CURVE_OFFSET, GAMMA, display
from vision.appearance.board_learning import codes_at
from vision.appearance.board_surface import specular_at
from vision.appearance.board_view import sample_board, variance_of
from vision.appearance.illumination import Illumination
from vision.appearance.light_references import on_squares
from vision.appearance.tone_curve import add_light, codes_to_values, gain_at
from vision.pose.projection import Points, Registration, project
from vision.scene.ground import has_paper

Array = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]

STEP_MM = 2.5
"""Spacing of the sampled places."""

INSET_MM = 2.0
"""How far inside a printed square its floor is sampled: lines are printed between squares."""

BRIGHTEST = 1.6
"""Share of the usual light at which brighter places are clipped."""

MAX_HUE_DEVIATION = 25.0
"""Half the squared deviation of a place's hue from the ground's, in variances, above which it is no bare ground."""


class Ground(NamedTuple):
    """Places (k) on the bare ground whose appearance is known, one square after the other.

    Attributes:
        places_mm: (k, 2).
        values: (k, 3) float32, display values b g r relative to white paper, without specular reflection.
        variance: (k, 3) float32, of these.
        square: (k,) number of the square: a cell, or a patch of the same size beside the cells.
        squares: number of squares of the whole ground.
        is_sample: (k,) bool, every second place, evenly spread.
        pixels: (k, 2) px, x and y where the picture shows the places; (0, 2) before :func:`view_ground`.
    """

    places_mm: Points
    values: Array
    variance: Array
    square: Indices
    squares: int
    is_sample: Mask
    pixels: Points = np.zeros((0, 2))

    def select(self, numbers: Indices) -> Ground:
        """The places with these ``numbers`` (l,), as seen."""
        look = self.places_mm[numbers], self.values[numbers], self.variance[numbers], self.square[numbers]
        return Ground(*look, self.squares, self.is_sample[numbers], self.pixels[numbers])


class GroundLight(NamedTuple):
    """The light at such places in one picture.

    Attributes:
        share: (k,) of the usual light there.
        deviation: (k,) standard deviation of that, due to noise and grain.
        is_ground: (k,) bool, whether by its hue the place may show the ground.
    """

    share: Floats
    deviation: Floats
    is_ground: Mask


def map_ground(kit: Kit, appearance: SetAppearance) -> Ground:
    """The ground of a kit's squares, or of all of a learned board, seen by no camera yet."""
    centres, pitch = np.array([kit.centre_mm(cell) for cell in kit.cells]), np.array(kit.board.pitch_mm)
    half = np.array([kit.mat.width_mm, kit.mat.height_mm]) / 2
    axes = [np.arange(-side + STEP_MM / 2, side, STEP_MM) for side in half]
    grid = np.stack(np.meshgrid(*axes), axis=-1)
    places = grid.reshape(-1, 2)
    corner = centres.min(axis=0) - pitch / 2
    column_row = np.floor((places - corner) / pitch).astype(np.intp)
    if appearance.board is None:
        assert appearance.floor is not None, "the ground's colour is learned with the set"
        is_floor = on_squares(kit, axes)
        inside = (np.abs(places - corner - (column_row + 0.5) * pitch) < pitch / 2 - INSET_MM).all(axis=1)
        is_known = inside & ((places > corner) & (places < centres.max(axis=0) + pitch / 2)).all(axis=1)
        is_known &= is_floor | has_paper(kit)
        floor, paper = (display(np.array(colour))[::-1] for colour in (appearance.floor, linear(kit.mat.paper)))
        values = np.where(is_floor[:, None], floor, paper).astype(np.float32)
        variance = variance_of(values, np.zeros(len(places), np.float32))
    else:
        values, variance, is_known = sample_board(appearance.board, grid)
        values, variance, is_known = values.reshape(-1, 3), variance.reshape(-1, 3), is_known.ravel()
    known = np.flatnonzero(is_known)
    column, row = column_row[known].T
    squares, square = np.unique(column * (np.ptp(row) + 1 if len(row) else 1) + row, return_inverse=True)
    by_square = np.argsort(square, kind="stable")
    known, is_sample = known[by_square], np.indices(grid.shape[:2]).sum(axis=0).ravel() % 2 == 0
    look = places[known], values[known], variance[known]
    return Ground(*look, square[by_square].astype(np.intp), len(squares), is_sample[known])


def view_ground(ground: Ground, pose: Registration, camera: Camera) -> Ground:
    """What of ``ground`` a camera sees from ``pose``."""
    pixels = project(np.column_stack([ground.places_mm, np.zeros(len(ground.places_mm))]), pose, camera)
    is_seen = ((pixels > 1) & (pixels < (camera.width_px - 2, camera.height_px - 2))).all(axis=1)
    whole = ground._replace(pixels=pixels)
    return whole if is_seen.all() else whole.select(np.flatnonzero(is_seen))


def measure_ground(image: Picture, ground: Ground, light: Illumination) -> GroundLight:
    """The light on ``ground`` in a picture (height, width, 3) uint8 BGR, relative to the board's overall ``light``."""
    codes = codes_at(image, ground.pixels)
    at = np.column_stack([ground.places_mm, np.zeros(len(codes))])
    shown, expected = codes_to_values(codes, gain_at(light.at(at))[:, ::-1]), ground.values
    if light.specular is not None:
        expected = np.maximum(add_light(expected, specular_at(light.specular, light.half_mm, at)), np.float32(1e-3))
    # Sums over three values are many times faster as matrix products.
    weight, each = 1 / ground.variance, np.ones(3, np.float32)
    precision = np.maximum((expected**2 * weight) @ each, 1e-6)
    display_share = (expected * shown * weight) @ each / precision
    across = ((shown - display_share[:, None] * expected) ** 2 * weight) @ each
    # A display value is a power of light, apart from an offset.
    bright = expected @ (each / 3)
    offset = CURVE_OFFSET * (1 - display_share) / (bright + CURVE_OFFSET)
    curve = np.maximum(display_share + offset, 0)
    share, deviation = curve**GAMMA, GAMMA * np.clip(curve, 0.3, 1) ** (GAMMA - 1) / np.sqrt(precision)
    return GroundLight(
        np.minimum(share, BRIGHTEST).astype(np.float64), deviation.astype(np.float64), across / 2 < MAX_HUE_DEVIATION
    )
