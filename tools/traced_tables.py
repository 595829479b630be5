"""Tables drawn at random, the same for the same seed: camera, lamps, colours of the pieces, as real ones may be.

Every third seed has a cheap webcam, every fourth pieces of nearly the mat's own colours.  Lamps: from a bulb to a
window, from steeply above to beside the table; every fourth light is a single lamp in a rather dark room.
"""

from __future__ import annotations

import colorsys
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

import cv2
import numpy as np

from calibration.camera import Camera
from calibration.kit import Colour, Kit
from companion.simulate.ground import sheet, wood
from companion.simulate.light import LINEAR, Array, Light
from companion.simulate.render import Picture
from companion.simulate.sprite import Scene
from companion.simulate.standing import seeded
from companion.simulate.viewpoint import TALLEST_MM, extent, looking_at
from companion.simulate.webcam import Webcam
from tools.ray_light import SHEET_PX_PER_MM, Room
from tools.retraced import Retracer
from vision.pose.projection import Registration, project

SIZE = WIDTH_PX, HEIGHT_PX = 1280, 720
MARGIN_PX = 10.0
TALLEST = 1.3
"""Height of the highest tower of pyramids, as a share of its largest piece's."""

NEAREST_MM, FARTHEST_MM, STEP_MM = 340.0, 1600.0, 6.0
AIMS = 4
"""So often the aim is corrected until the board is in the middle of the picture."""

CHEAP_EVERY, PALE_EVERY, DIM_SHARE = 3, 4, 0.25

PAPER_AT = 0.6
"""Linear light that the camera's exposure makes of white paper, about; in dark rooms it reaches DARKER of that."""

DARKER = 0.6
WATT_MM2 = 1e4 / math.pi**2
"""Radiance of white paper a millimetre before a lamp of one watt, in the unit of the room's: W/dm²."""

MIDDLE_CODES = 255
"""Deviation of a middle grey's code for a noise of 1."""


@dataclass(frozen=True, eq=False)
class DrawnTable:
    """What stands before the program: a painter of its pictures, and how it came about, in words."""

    painter: Retracer
    words: str


@dataclass(frozen=True, eq=False)
class _Lights:
    """Lamps (l, 4, 3) and glow (3,) as of :class:`Room`; gains (3,), noise and vignette of the camera in them."""

    lamps: Array
    glow: Array
    white: float
    gains: Array
    noise: float
    vignette: float
    hand: Light
    words: str


def drawn_table(kit: Kit, levels: tuple[int, ...], seed: int) -> DrawnTable:
    """The table of this seed."""
    is_cheap, rng = seed % CHEAP_EVERY == 0, seeded(f"traced table {kit.name}", seed)
    camera = _camera(rng, is_cheap=is_cheap)
    pose, where = _pose(kit, camera, levels, rng)
    lights = _lights(rng)
    shown, of_pieces = _other_pieces(kit, seed, rng)
    table = LINEAR[wood()] * rng.uniform(0.4, 1.8) * np.array([rng.uniform(0.8, 1.2) for _ in range(3)])
    small = (round(kit.mat.width_mm * SHEET_PX_PER_MM), round(kit.mat.height_mm * SHEET_PX_PER_MM))
    mat = cv2.resize(LINEAR.astype(np.float32)[sheet(kit)], small, interpolation=cv2.INTER_AREA)
    half_mm = np.array([kit.mat.width_mm, kit.mat.height_mm]) / 2
    paper = np.asarray(mat, np.float32)
    roughness = rng.uniform(0.4, 1.0)
    room = Room(
        lights.lamps, lights.glow, lights.white, paper, np.clip(table, 0, 0.95).astype(np.float32), half_mm, roughness
    )
    process, of_camera = _processor(rng, is_cheap=is_cheap)
    noise = lights.noise + (rng.uniform(0, 0.006) if is_cheap else 0.0)
    gains = _falloff(lights.vignette)[..., None] * lights.gains
    painter = Retracer(Scene(shown, camera, pose, lights.hand), room, gains, MIDDLE_CODES * noise, process, seed)
    return DrawnTable(painter, f"{of_camera}, {where}; {lights.words}, noise {MIDDLE_CODES * noise:.1f}; {of_pieces}")


def _camera(rng: random.Random, *, is_cheap: bool) -> Camera:
    wide_deg = rng.uniform(56, 80 if is_cheap else 70)
    k1 = -(wide_deg - 56) / 24 * rng.uniform(0.1, 0.26) + rng.uniform(-0.03, 0.08)
    bent = [k1, -k1 * rng.uniform(0.15, 0.6), rng.gauss(0, 6e-4), rng.gauss(0, 6e-4), 0.0]
    focal = WIDTH_PX / 2 / math.tan(math.radians(wide_deg / 2))
    u, v = (WIDTH_PX - 1) / 2 + rng.uniform(-15, 15), (HEIGHT_PX - 1) / 2 + rng.uniform(-15, 15)
    matrix = np.array([[focal, 0, u], [0, focal * 1.0015, v], [0, 0, 1]])
    return Camera(WIDTH_PX, HEIGHT_PX, matrix, np.array(bent), 0.0)


def _pose(kit: Kit, camera: Camera, levels: tuple[int, ...], rng: random.Random) -> tuple[Registration, str]:
    """The nearest place in a drawn direction from which the whole board is seen."""
    azimuth = rng.uniform(-180, 180) if rng.random() < 0.2 else rng.choice((-90, -90, 90)) + rng.gauss(0, 25)
    elevation, roll = rng.uniform(50, 70), rng.uniform(-3, 3)
    points, middle = _to_be_seen(kit, levels), np.array([WIDTH_PX, HEIGHT_PX]) / 2
    for distance in np.arange(NEAREST_MM, FARTHEST_MM, STEP_MM):
        aim = np.zeros(3)
        for _ in range(AIMS):
            pose = looking_at(aim, float(distance), kit, elevation, azimuth, roll)
            seen = project(points, pose, camera)
            off = (seen.min(axis=0) + seen.max(axis=0)) / 2 - middle
            step = (off * distance / camera.matrix[0, 0]) @ pose.rotation[:2]
            ahead = pose.rotation[2]
            aim = aim + step - ahead * step[2] / ahead[2]
        pose = looking_at(aim, float(distance), kit, elevation, azimuth, roll)
        before = points @ pose.rotation.T + pose.translation_mm
        seen = project(points, pose, camera)
        is_whole = (seen > MARGIN_PX).all() and (seen < np.array(SIZE) - MARGIN_PX).all()
        if is_whole and (before[:, 2] > 0).all():
            return pose, f"from {azimuth:.0f}°, {elevation:.0f}° up, {distance:.0f} mm"
    raise ValueError(f"the mat of {kit.name} is too large for this camera")


def _to_be_seen(kit: Kit, levels: tuple[int, ...]) -> Array:
    """(n, 3) mm: the mat, what may stand on every square, and as wide as the square."""
    points = extent(kit, levels)
    mat, stacks = points[:4], points[4:]
    high = max(0.0, TALLEST * max(kind.height_mm for kind in kit.pieces) - TALLEST_MM)
    wide = [np.array([*(np.array(sides) * kit.board.pitch_mm / 2), high]) for sides in product((-1, 1), repeat=2)]
    return np.vstack([mat, *(stacks + by for by in wide)])


def _lights(rng: random.Random) -> _Lights:
    is_dim = rng.random() < DIM_SHARE
    lamps, colours, shares, places = [], [], [], []
    for i in range(1 if is_dim else rng.choice((1, 1, 2, 2, 3))):
        away, up, round_ = rng.uniform(900, 2300), math.radians(rng.uniform(28, 80)), rng.uniform(0, 2 * math.pi)
        size = math.exp(rng.uniform(math.log(130), math.log(500 if is_dim else 1500)))
        towards = np.array([math.cos(up) * math.cos(round_), math.cos(up) * math.sin(round_), math.sin(up)])
        watts = (350 if is_dim else 1000) * (1.0 if i == 0 else rng.uniform(0.2, 0.8)) * (away / 1500) ** 2 / towards[2]
        colour = _warm(rng.uniform(2700, 7500))
        across = np.cross(towards, [0.0, 0.0, 1.0])
        across /= np.linalg.norm(across)
        edges = size * np.array([across, np.cross(towards, across)])
        # Of white paper in the middle of the mat, before the lamp is tilted.
        share = WATT_MM2 * watts * towards[2] / away**2
        radiance = share / towards[2] * math.pi * away**2 / size**2 * colour
        lamps.append(np.stack([away * towards - edges.sum(axis=0) / 2, *edges, radiance]))
        colours.append(colour)
        shares.append(share)
        places.append((away, math.degrees(up), size, towards))
    ambient = rng.uniform(0.06, 0.10) if is_dim else rng.uniform(0.10, 0.45)
    glow = ambient * (1 - 0.5 * (1 - colours[0]))
    white = ambient + sum(shares)
    gain = PAPER_AT * (DARKER if is_dim else 1.0) / white * rng.uniform(0.85, 1.1)
    balance = rng.uniform(0.6, 1.0)
    gains = gain * np.array([(1 / channel) ** balance * rng.uniform(0.97, 1.03) for channel in colours[0]])
    others = sum((share * colour for share, colour in zip(shares[1:], colours[1:], strict=True)), np.zeros(3))
    facing = shares[0] / places[0][3][2] * colours[0] * gains
    hand = Light(tuple(places[0][3]), tuple(facing), tuple((glow + others) * gains), 0.0005, 0.1, 0.0)
    noise = rng.uniform(0.015, 0.028) if is_dim else rng.uniform(0.004, 0.011)
    words = ", ".join(f"lamp of {size:.0f} mm {up:.0f}° up at {away:.0f} mm" for away, up, size, _ in places)
    words += f", {100 * ambient / white:.0f} % from the room"
    return _Lights(np.array(lamps), glow, white, gains, noise, rng.uniform(0.05, 0.25), hand, words)


def _warm(kelvin: float) -> Array:
    """(3,) linear r, g, b of a lamp, about."""
    x = (kelvin - 6500) / 3800
    return np.array(
        [min(1.0, 0.97 - 0.10 * x), 1.0 if kelvin > 5000 else 0.97 + 0.1 * x, max(0.3, 0.98 + 0.52 * min(x, 0.05))]
    )


def _falloff(share: float) -> Array:
    """(height, width) of the light that the lens lets through; in the corners ``share`` less."""
    rows, columns = np.mgrid[0:HEIGHT_PX, 0:WIDTH_PX]
    away2 = (columns - WIDTH_PX / 2) ** 2 + (rows - HEIGHT_PX / 2) ** 2
    falloff: Array = 1 - share * away2 / (WIDTH_PX**2 / 4 + HEIGHT_PX**2 / 4)
    return falloff


def _processor(rng: random.Random, *, is_cheap: bool) -> tuple[Callable[[Picture, int], Picture], str]:
    """What the camera makes of its frames."""
    webcam = Webcam(
        smear_codes=255 * rng.uniform(0.02, 0.09),
        contrast=rng.uniform(0, 0.3),
        sharpening=rng.uniform(0.5, 1.6),
        chroma_px=rng.uniform(1.0, 2.2),
        saturation=rng.uniform(0.8, 1.35),
        quality=rng.randint(60, 88),
        drift=rng.uniform(0, 0.07),
    )
    if is_cheap:
        return webcam.take, f"cheap webcam (sharpening {webcam.sharpening:.1f}, quality {webcam.quality})"
    return _as_it_is, "camera"


def _as_it_is(picture: Picture, _number: int) -> Picture:
    return picture


def _other_pieces(kit: Kit, seed: int, rng: random.Random) -> tuple[Kit, str]:
    """The kit as its pieces really look, which the program learns from the enrolment."""
    if seed % PALE_EVERY == 1:
        return kit, "the kit's colours"
    is_pale = seed % PALE_EVERY == 0
    known: dict[Colour, Colour] = {}
    for kind in kit.pieces:
        if kind.colour not in known:
            new = _varied(kind.colour, rng)
            share = rng.uniform(0.55, 0.85) if is_pale else 0.0
            mixed = (1 - share) * new + share * np.array(kit.mat.paper) / 255
            red, green, blue = (round(255 * channel) for channel in mixed)
            known[kind.colour] = (red, green, blue)
    pieces = tuple(replace(kind, colour=known[kind.colour]) for kind in kit.pieces)
    words = ", ".join("#{:02x}{:02x}{:02x}".format(*colour) for colour in known.values())
    return replace(kit, pieces=pieces), f"{'pale' if is_pale else 'other'} pieces {words}"


def _varied(colour: Colour, rng: random.Random) -> Array:
    """(3,) 0…1 sRGB of another paint of about this colour."""
    hue, saturation, value = colorsys.rgb_to_hsv(*(channel / 255 for channel in colour))
    saturation = min(1.0, saturation * rng.uniform(0.7, 1.2))
    value = min(0.93, max(0.06, value * rng.uniform(0.75, 1.25)))
    return np.array(colorsys.hsv_to_rgb((hue + rng.gauss(0, 0.035)) % 1, saturation, value))
