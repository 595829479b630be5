"""Separation of a piece's own colour from the light of a lamp that its lacquer mirrors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calibration.appearance import Reflectance
from calibration.kit import PieceKind
from calibration.srgb import GAMMA
from vision.appearance.shading import SENSOR_NOISE
from vision.pose.projection import Points
from vision.scene.solids import Solid, faces_towards, piece, place_solid

SAMPLED_SHARE = 0.7
"""Share of a face's radius that is sampled: a piece may be 1.5 mm off, and rims are lit differently.  Chosen by eye."""

SIDE_TINT_DEVIATION = 0.08
"""Standard deviation of the logarithm of each channel of a side: its light comes from the board and the room.  As
in :mod:`vision.appearance.colour_model`, chosen by eye."""

LAMP_PRIOR = 0.2
"""Prior probability that an upper face mirrors a lamp.  As there."""

LAMP_STEPS = 80
"""Number of amounts of mirrored light that are tried, from none to all the white that a face shows."""

SIDE_SHADE = 0.5
"""Standard deviation of the logarithm of how bright sides are relative to their own faces, among the pieces of one
photograph: all are turned the same ways to lamp and camera, but neighbours shade and light them."""

SHADES = np.exp(np.linspace(-2, 2, 33) * SIDE_SHADE)
"""How bright sides are relative to the usual: values that are tried, spaced evenly in log within two deviations."""

DARKEST = 0.01
"""Reflectance below which noise decreases no further: dark pixels are rounded, compressed, and sharpened.  Chosen by
eye."""

MIN_FACING_COSINE = 0.2
"""Cosine of the viewing angle up to which a face is seen no wider than its piece may be off its place.  Chosen by
eye."""

MAX_NORMAL_Z = 0.01
"""Largest vertical component of the unit normal of an upright face.  Chosen by eye."""


class PieceColourSample(NamedTuple):
    """What a photograph shows of one piece.

    Attributes:
        face: colour of its upper face…
        sides: …and of the upright faces below it that are visible, none of a pyramid.
    """

    face: Reflectance
    sides: list[Reflectance]


def paleness(colour: Reflectance) -> float:
    """Share of white in a colour, 0…1; a face that mirrors a lamp is paler than its paint."""
    return min(colour) / max(*colour, 1e-6)


def mirrored_light(face: Reflectance, sides: list[Reflectance], usual: float | None = None) -> float:
    """White light of a lamp that an upper face mirrors, as a share of white paper's, given the sides below it.

    ``usual``: how bright sides are relative to their own faces in this photograph; None where that is not known.  With
    a black piece nothing else reveals that its face mirrors a lamp: all that it shows is grey.

    Sides mirror no lamp, but are lit by their surroundings, in their tint.  Each has the noise of a pixel, which in
    linear light is less the darker it is: with a lamp behind the board sides are dark, and the most informative.  So
    a lamp is believed only where no lamp at all is less likely than all lamps together (a spike-and-slab prior:
    Mitchell and Beauchamp, 1988); then the posterior mean is returned.
    """
    if not sides:
        return 0.0
    white = np.linspace(0, min(face), LAMP_STEPS)
    paint = np.array(face) - white[:, None]
    # The median, as some sides lie beyond the piece's outline.  Their noise averages out, their common tint does not.
    side = np.median(sides, axis=0)
    noise = SENSOR_NOISE * GAMMA * np.maximum(side, DARKEST) ** (1 - 1 / GAMMA)
    variance = noise**2 / len(sides) + (SIDE_TINT_DEVIATION * side) ** 2
    if usual is None:
        share = (paint * side / variance).sum(axis=1) / np.maximum((paint**2 / variance).sum(axis=1), 1e-9)
        likely = np.exp(-((side - share[:, None] * paint) ** 2 / variance).sum(axis=1) / 2)
    else:
        predicted = usual * SHADES[:, None, None] * paint
        prior = np.exp(-0.5 * (np.log(SHADES) / SIDE_SHADE) ** 2)
        likely = prior @ np.exp(-((side - predicted) ** 2 / variance).sum(axis=2) / 2)
    has_lamp = LAMP_PRIOR * likely.mean() > (1 - LAMP_PRIOR) * likely[0]
    return float(np.average(white, weights=likely)) if has_lamp else 0.0


def matt_colours(samples: Sequence[PieceColourSample]) -> list[Reflectance]:
    """The colour of each piece without what its face mirrors.

    That is white, see :func:`mirrored_light`; but as it may be a window, or blue sky, a colour is no darker than its
    sides suggest, given how much brighter than their sides those faces are that mirror nothing: the least of them, as
    some sides are lit more than others.
    """
    shades = [_shade(one) for one in samples if one.sides]
    # A face that mirrors something is brighter relative to its sides: the others show what is usual.
    usual = max(shades) if len(shades) > 1 else None
    white = [mirrored_light(face, sides, usual) for face, sides in samples]
    free = [sample for sample, amount in zip(samples, white, strict=True) if sample.sides and amount == 0]
    ratios = [np.array(face) / np.maximum(np.median(sides, axis=0), DARKEST) for face, sides in free]
    # Where all faces mirror something nothing is known: 0.
    brighter = np.min(ratios, axis=0) if ratios else np.zeros(3)
    colours = []
    for (face, sides), amount in zip(samples, white, strict=True):
        r, g, b = subtract_white(face, amount)
        if amount > 0:
            r, g, b = np.maximum((r, g, b), np.minimum(face, brighter * np.median(sides, axis=0))).tolist()
        colours.append((r, g, b))
    return colours


def _shade(sample: PieceColourSample) -> float:
    """How bright the sides of a piece are relative to its face."""
    return float(np.median(sample.sides, axis=0).sum() / max(sum(sample.face), 1e-6))


def subtract_white(colour: Reflectance, white: float) -> Reflectance:
    """A colour less the amount ``white`` in each channel, at least 0."""
    red, green, blue = (max(channel - white, 0.0) for channel in colour)
    return red, green, blue


def faces_of(kind: PieceKind, floor_mm: Points, eye_mm: Points) -> dict[int, Points]:
    """Points on the inner parts of the faces from which a piece's colour is learned, (k, 3) float64 mm, by face number.

    That is the upper face, or of a pyramid each lateral face that is visible from ``eye_mm`` (3,).  The centre of the
    piece's base is at ``floor_mm`` (3,).  Faces with the same number are turned the same way.
    """
    solid = place_solid(piece(kind), floor_mm)
    if kind.shape != "pyramid":
        corners, chosen = _corners(solid, solid.is_top), solid.is_top
    else:
        chosen = _is_broadside(solid, eye_mm) & ~solid.is_top
        # From the tip's middle: nearer to its corners a pyramid put down a little aside is missed.
        corners = [np.vstack([face[:2], face[2:].mean(axis=0)]) for face in _corners(solid, chosen)]
    return dict(zip(np.flatnonzero(chosen).tolist(), _inner(corners), strict=True))


def _is_broadside(solid: Solid, eye_mm: Points) -> npt.NDArray[np.bool_]:
    """(faces,) bool, which faces are turned towards ``eye_mm`` (3,), without edge-on ones if there are others."""
    rays = eye_mm - solid.middles
    turned = (solid.normals * rays).sum(axis=1) / np.linalg.norm(rays, axis=1)
    is_broadside: npt.NDArray[np.bool_] = turned > MIN_FACING_COSINE
    return is_broadside if (is_broadside & ~solid.is_top).any() else faces_towards(solid, eye_mm)


def sides_of(kind: PieceKind, floor_mm: Points, eye_mm: Points) -> list[Points]:
    """As :func:`faces_of`, for the upright faces that are visible from ``eye_mm``."""
    solid = place_solid(piece(kind), floor_mm)
    return _inner(_corners(solid, faces_towards(solid, eye_mm) & (np.abs(solid.normals[:, 2]) < MAX_NORMAL_Z)))


def _corners(solid: Solid, chosen: npt.NDArray[np.bool_]) -> list[Points]:
    """(k, 3) mm each, the corners of the ``chosen`` (faces,) bool faces of a body."""
    return [solid.points[list(solid.faces[number])] for number in np.flatnonzero(chosen)]


def _inner(polygons: Sequence[Points]) -> list[Points]:
    """(k, 3) float64 mm each: points of the inner part of polygons (c, 3)."""
    faces = []
    for corners in polygons:
        middle = corners.mean(axis=0)
        shares = np.linspace(0, SAMPLED_SHARE, 6)[:, None, None]
        faces.append((middle + shares * (corners - middle)).reshape(-1, 3))
    return faces
