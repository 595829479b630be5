"""The light over the simulated table: brightness and colour of a surface, from its orientation.

Computed in linear light; kits and pictures have their colours in sRGB.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.kit import Colour
from calibration.srgb import display, linear_light

Array = npt.NDArray[np.float64]

SHINE_EXPONENT = 30.0
"""Specular exponent of lacquered wood: the larger, the narrower the highlight."""


@dataclass(frozen=True)
class Light:
    """A lamp or window, and the light that the room reflects.

    Attributes:
        direction: towards the light, world axes, any length.
        colour: linear (r, g, b) of the direct light times its strength: the look of a white surface that faces it.
        room: linear (r, g, b) of the ambient light.
        fall_per_mm: fraction by which the direct light weakens for each mm away from the light's side.
        shine: strength of highlights.
        noise: standard deviation of a pixel, in 8-bit steps.
    """

    direction: tuple[float, float, float]
    colour: tuple[float, float, float]
    room: tuple[float, float, float]
    fall_per_mm: float
    shine: float
    noise: float

    @property
    def towards(self) -> Array:
        """(3,) unit vector towards the light."""
        direction = np.array(self.direction)
        unit: Array = direction / np.linalg.norm(direction)
        return unit

    @property
    def shadow_share(self) -> float:
        """Fraction of a floor's sRGB value that is lost where the direct light does not reach it."""
        room, direct = np.mean(self.room), np.mean(self.colour) * self.towards[2]
        return float(1 - (room / (room + direct)) ** (1 / 2.2))


WINDOW = Light((-0.55, 0.35, 0.75), (0.68, 0.69, 0.70), (0.37, 0.375, 0.38), 0.0005, 0.10, 1.6)
LAMP = Light((0.5, 0.45, 0.8), (0.80, 0.70, 0.55), (0.24, 0.21, 0.17), 0.0008, 0.16, 2.2)
LIGHTS = {"window": WINDOW, "lamp": LAMP}


def to_linear(colour: npt.ArrayLike) -> Array:
    """Linear light 0…1 of sRGB values 0…255."""
    return linear_light(np.asarray(colour, np.float64) / 255)


LINEAR = to_linear(np.arange(256))
"""(256,) linear light of each sRGB value."""


def light_ratio(colour: npt.ArrayLike, other: npt.ArrayLike) -> Array:
    """(3,) ratio of the linear light that surfaces of the sRGB colours ``colour`` and ``other`` reflect."""
    return to_linear(colour) / np.maximum(to_linear(other), 1e-3)


def to_srgb(linear: Array) -> Array:
    """SRGB values 0…255 of linear light, clipped as a sensor clips."""
    return 255 * display(np.clip(linear, 0, 1))


def falloff(light: Light, x_mm: Array, y_mm: Array) -> Array:
    """Fraction of the direct light that reaches places (…) of the table; 1 in the middle."""
    side = light.towards[:2] / np.linalg.norm(light.towards[:2])
    share: Array = np.clip(1 + light.fall_per_mm * (x_mm * side[0] + y_mm * side[1]), 0.3, 1.7)
    return share


def shade(light: Light, colour: Colour, normals: Array, places_mm: Array, eye_mm: Array) -> Array:
    """The colours that surfaces show to an observer.

    Args:
        light: the light.
        colour: sRGB of the material.
        normals: (m, 3) unit normals.
        places_mm: (m, 3) their places.
        eye_mm: (3,) place of the observer.

    Returns:
        (m, 3) linear (r, g, b).
    """
    direct = np.clip(normals @ light.towards, 0, None) * falloff(light, places_mm[:, 0], places_mm[:, 1])
    room = 0.7 + 0.3 * normals[:, 2]
    glow = direct[:, None] * np.array(light.colour) + room[:, None] * np.array(light.room)
    view = eye_mm - places_mm
    half = light.towards + view / np.linalg.norm(view, axis=1, keepdims=True)
    half /= np.linalg.norm(half, axis=1, keepdims=True)
    facing = np.clip(np.einsum("ij,ij->i", normals, half), 0, 1)
    shine = light.shine * facing**SHINE_EXPONENT
    result: Array = to_linear(colour) * glow + shine[:, None] * np.array(light.colour)
    return result


def shadow_on_mat(light: Light, points_mm: Array) -> Array:
    """(n, 3) mm, where the shadow of points (n, 3) falls on the plane z = 0."""
    towards = light.towards
    fallen: Array = points_mm - points_mm[:, 2:] / towards[2] * towards
    return fallen
