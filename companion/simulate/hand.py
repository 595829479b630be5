"""A model of a hand and forearm: rounded limbs, drawn over the picture, with a soft shadow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.heights import base_heights_mm
from calibration.kit import Colour
from companion.simulate.light import Array, shade, shadow_on_mat, to_srgb
from companion.simulate.render import Picture, visible_box, with_sprite
from companion.simulate.sprite import Scene, Sprite, gathered, piece_polygons
from vision.scene.solids import hull, piece, place_solid

SKINS: tuple[Colour, ...] = ((214, 160, 128), (141, 92, 66), (190, 138, 106), (98, 64, 48))
SLEEVES: tuple[Colour, ...] = ((52, 66, 92), (110, 108, 104), (70, 40, 44), (40, 74, 60))

HOVER_MM = 9.0
"""Height of the fingertips over the piece that they take."""

HAND_SHADOW = 0.9
"""Darkness of a hand's shadow relative to those of pieces: a little lighter, since a hand is high above the mat."""

BANDS = ((1.0, 0.78), (0.82, 0.95), (0.55, 1.06))
"""A round limb is painted as nested bands: (fraction of the width, brightness)."""

WRIST = (105.0, 58.0)
"""Distance of the wrist back from the fingertips, and its height (mm)."""

ELBOW = (330.0, 75.0)
FINGERS = ((-15.0, 12.0, 8.0), (-2.0, 0.0, 8.0), (11.0, 3.0, 7.5), (22.0, 16.0, 6.5))
"""Fingertips: mm to the right of the touched point, mm back from it, radius in mm.  The first is the thumb."""

KNUCKLES_BACK_MM, KNUCKLES_UP_MM = 58.0, 46.0


BEADS = 9
NEAREST_MM = 60.0
WIDEST = 1.1
"""Tangent of the largest angle from the optical axis at which anything is drawn; the picture's corner has 0.7."""


@dataclass(frozen=True, slots=True)
class Hand:
    """A hand: the point (mm) that it touches, the direction of its arm, its colours, and what it holds.

    Attributes:
        at_mm: world x, y, z of the point between the fingertips.
        from_deg: direction, anticlockwise from +x, in which the owner sits.
        skin: sRGB.
        sleeve: sRGB.
        holds: the pieces between the fingers, bottom first.
    """

    at_mm: tuple[float, float, float]
    from_deg: float
    skin: Colour
    sleeve: Colour
    holds: str = ""


@dataclass(frozen=True, eq=False)
class _Limb:
    """A rounded bar from one ball to another: ends (2, 3) mm, radii (2,) mm, its colour."""

    ends: Array
    radii: tuple[float, float]
    colour: Colour


def with_hand(clear: Picture, scene: Scene, hand: Hand) -> Picture:
    """A new picture: ``clear`` (height, width, 3) uint8 BGR, without blur and noise, with the hand over it."""
    sprite = _sprite(scene, hand)
    return clear if sprite is None else with_sprite(clear, scene, sprite, HAND_SHADOW)


def is_in_sight(scene: Scene, hand: Hand) -> bool:
    """Whether any part of the hand or its shadow may be in the picture."""
    sprite = _sprite(scene, hand)
    return sprite is not None and visible_box(scene, sprite) is not None


def _sprite(scene: Scene, hand: Hand) -> Sprite | None:
    """The hand as polygons; None while it is out of sight."""
    polygons = _held(scene, hand)
    shadows: list[Array] = []
    for limb in _limbs(hand):
        colour, (middles, radii) = _lit(scene, limb), _beads(limb)
        rims = _rims(scene, middles)
        for share, bright in BANDS:
            circles = middles[:, None] + (share * radii)[:, None, None] * rims
            if len(seen := _in_sight(scene, circles.reshape(-1, 3))):
                polygons.append((hull(scene.project(seen)), np.minimum(255, colour * bright)))
        balls = np.vstack([_ball(middle, radius) for middle, radius in zip(middles, radii, strict=True)])
        if len(fallen := _in_sight(scene, shadow_on_mat(scene.light, balls))):
            shadows.append(hull(scene.project(fallen)))
    return gathered(polygons, shadows, []) if polygons else None


def _held(scene: Scene, hand: Hand) -> list[tuple[Array, Array]]:
    """Polygons of the pieces between the fingers that are entirely in sight."""
    kinds = [scene.kit.piece(letter) for letter in hand.holds]
    polygons: list[tuple[Array, Array]] = []
    x, y, z = hand.at_mm
    foot = z - HOVER_MM - sum(kind.height_mm for kind in kinds)
    for kind, rise in zip(kinds, base_heights_mm(scene.kit, hand.holds), strict=True):
        solid = place_solid(piece(kind), np.array([x, y, foot + rise]))
        if len(_in_sight(scene, solid.points)) == len(solid.points):
            polygons += piece_polygons(scene, solid, kind)
    return polygons


def _limbs(hand: Hand) -> list[_Limb]:
    """The limbs in painting order, covered ones first: wrist, sleeve, palm, fingers."""
    back = np.array([np.cos(np.radians(hand.from_deg)), np.sin(np.radians(hand.from_deg)), 0.0])
    right = np.array([-back[1], back[0], 0.0])
    at = np.array(hand.at_mm)
    up = np.array([0.0, 0.0, 1.0])
    wrist, elbow = (at + far * back + high * up for far, high in (WRIST, ELBOW))
    cuff = wrist + 0.25 * (elbow - wrist)
    palm = at + KNUCKLES_BACK_MM * back + KNUCKLES_UP_MM * up
    limbs = [
        _Limb(np.stack([cuff, wrist]), (27.0, 27.0), hand.skin),
        _Limb(np.stack([elbow, cuff]), (52.0, 38.0), hand.sleeve),
        _Limb(np.stack([wrist, palm]), (30.0, 25.0), hand.skin),
    ]
    for side, behind, radius in FINGERS:
        tip = at + side * right + behind * back + radius * up
        knuckle = at + 1.15 * side * right + KNUCKLES_BACK_MM * back + KNUCKLES_UP_MM * up
        limbs.append(_Limb(np.stack([knuckle, tip]), (radius + 3.0, radius), hand.skin))
    return limbs


def _rims(scene: Scene, middles: Array) -> Array:
    """(BEADS, 24, 3), directions from the centres of balls (BEADS, 3) mm to their outlines as the camera sees them."""
    view = scene.pose.centre_mm - middles
    view /= np.linalg.norm(view, axis=1, keepdims=True)
    across = np.cross(view, [0.0, 0.0, 1.0])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    angle = np.linspace(0, 2 * np.pi, 24, endpoint=False)[:, None]
    rims: Array = np.cos(angle) * across[:, None] + np.sin(angle) * np.cross(across, view)[:, None]
    return rims


def _beads(limb: _Limb) -> tuple[Array, Array]:
    """Centres (BEADS, 3) and radii (BEADS,) of balls along a limb, close enough that clipping cuts off little."""
    shares = np.linspace(0, 1, BEADS)
    middles = (1 - shares)[:, None] * limb.ends[0] + shares[:, None] * limb.ends[1]
    return middles, (1 - shares) * limb.radii[0] + shares * limb.radii[1]


def _in_sight(scene: Scene, points_mm: Array) -> Array:
    """Those of points (n, 3) for which the lens model holds: in front of the camera, not far outside the picture."""
    before = points_mm @ scene.pose.rotation.T + scene.pose.translation_mm
    depth = np.maximum(before[:, 2], 1e-6)
    wide = np.abs(before[:, :2]).max(axis=1) / depth
    seen: Array = points_mm[(before[:, 2] > NEAREST_MM) & (wide < WIDEST)]
    return seen


def _ball(middle: Array, radius: float) -> Array:
    """(16, 3) mm, a horizontal circle that stands for a ball when its shadow is computed."""
    angle = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    ring = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros(16)], axis=1)
    return np.maximum(middle + ring, [-np.inf, -np.inf, 1.0])


def _lit(scene: Scene, limb: _Limb) -> Array:
    """(3,) BGR of a limb, as of a horizontal surface facing up at its middle."""
    middle = limb.ends.mean(axis=0, keepdims=True)
    bright = shade(scene.light, limb.colour, np.array([[0.0, 0.0, 1.0]]), middle, scene.pose.centre_mm)
    colour: Array = to_srgb(bright)[0, ::-1]
    return colour
