"""Random but realistic tables, deterministic by seed: camera, lamps, colours of the pieces.

Every third seed has a cheap webcam, every fourth pale pieces, similar to the mat's paper.  Lamps range from a bulb to a
window, and from steeply above to beside the table; a quarter of the tables has a single lamp in a rather dark room.
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
from companion.simulate.placement import make_rng
from companion.simulate.render import Picture
from companion.simulate.sprite import Scene
from companion.simulate.viewpoint import TALLEST_MM, extent, looking_at
from companion.simulate.webcam import Webcam
from tools.incremental_tracer import IncrementalTracer
from tools.ray_light import SHEET_PX_PER_MM, Room
from vision.pose.projection import Registration, project

SIZE = WIDTH_PX, HEIGHT_PX = 1280, 720
MARGIN_PX = 10.0
"""Minimum distance of the board from the edges of the picture."""

TALLEST_TOWER = 1.3
"""Height of the tallest tower of pyramids, relative to that of its largest piece."""

NEAREST_MM, FARTHEST_MM, STEP_MM = 340.0, 1600.0, 6.0
"""Distances of the camera that are tried."""

AIM_STEPS = 4
"""Number of corrections of the aim that centre the board in the picture."""

CHEAP_EVERY, PALE_EVERY, DIM_SHARE = 3, 4, 0.25
"""Every how many seeds there is a cheap webcam, or pale pieces; fraction of tables in dim light."""

PAPER_LEVEL = 0.6
DIM_EXPOSURE = 0.6
"""Approximate exposure: linear value of white paper in the picture, and the factor for dim light."""

WATT_MM2 = 1e4 / math.pi**2
"""Radiance of white paper at 1 mm from a lamp of 1 W, in the unit of the ambient radiance, W/dm²."""

MAX_CODE = 255
"""Standard deviation at middle grey, in codes, for a noise of 1."""


@dataclass(frozen=True, eq=False)
class DrawnTable:
    """A random table: the painter of its pictures, and a description of its parameters."""

    painter: IncrementalTracer
    description: str


@dataclass(frozen=True, eq=False)
class _Lights:
    """The light of a table, and the camera's response to it.

    Attributes:
        lamps, ambient, white: as in :class:`Room`.
        gains: (3,) from radiance r, g, b to linear light on the sensor.
        noise: standard deviation at middle grey, 0…1.
        vignette: fraction of light lost in the corners of the picture.
        hand_light: the same light for the simple renderer, which draws hands.
        description: of the lamps.
    """

    lamps: Array
    ambient: Array
    white: float
    gains: Array
    noise: float
    vignette: float
    hand_light: Light
    description: str


def drawn_table(kit: Kit, levels: tuple[int, ...], seed: int) -> DrawnTable:
    """The table of a seed."""
    is_cheap, rng = seed % CHEAP_EVERY == 0, make_rng(f"traced table {kit.name}", seed)
    camera = _camera(rng, is_cheap=is_cheap)
    pose, pose_text = _pose(kit, camera, levels, rng)
    lights = _lights(rng)
    kit_shown, pieces_text = _recoloured_pieces(kit, seed, rng)
    table = LINEAR[wood()] * rng.uniform(0.4, 1.8) * np.array([rng.uniform(0.8, 1.2) for _ in range(3)])
    sheet_size_px = (round(kit.mat.width_mm * SHEET_PX_PER_MM), round(kit.mat.height_mm * SHEET_PX_PER_MM))
    mat = cv2.resize(LINEAR.astype(np.float32)[sheet(kit)], sheet_size_px, interpolation=cv2.INTER_AREA)
    half_mm = np.array([kit.mat.width_mm, kit.mat.height_mm]) / 2
    paper = np.asarray(mat, np.float32)
    roughness = rng.uniform(0.4, 1.0)
    room = Room(
        lights.lamps,
        lights.ambient,
        lights.white,
        paper,
        np.clip(table, 0, 0.95).astype(np.float32),
        half_mm,
        roughness,
    )
    process, camera_text = _processing(rng, is_cheap=is_cheap)
    noise = lights.noise + (rng.uniform(0, 0.006) if is_cheap else 0.0)
    gains = _vignette(lights.vignette)[..., None] * lights.gains
    painter = IncrementalTracer(
        Scene(kit_shown, camera, pose, lights.hand_light), room, gains, MAX_CODE * noise, process, seed
    )
    return DrawnTable(
        painter, f"{camera_text}, {pose_text}; {lights.description}, noise {MAX_CODE * noise:.1f}; {pieces_text}"
    )


def _camera(rng: random.Random, *, is_cheap: bool) -> Camera:
    """A camera with random field of view, principal point and distortion; cheap ones may be wider."""
    field_of_view_deg = rng.uniform(56, 80 if is_cheap else 70)
    k1 = -(field_of_view_deg - 56) / 24 * rng.uniform(0.1, 0.26) + rng.uniform(-0.03, 0.08)
    distortion = [k1, -k1 * rng.uniform(0.15, 0.6), rng.gauss(0, 6e-4), rng.gauss(0, 6e-4), 0.0]
    focal = WIDTH_PX / 2 / math.tan(math.radians(field_of_view_deg / 2))
    u, v = (WIDTH_PX - 1) / 2 + rng.uniform(-15, 15), (HEIGHT_PX - 1) / 2 + rng.uniform(-15, 15)
    matrix = np.array([[focal, 0, u], [0, focal * 1.0015, v], [0, 0, 1]])
    return Camera(WIDTH_PX, HEIGHT_PX, matrix, np.array(distortion), 0.0)


def _pose(kit: Kit, camera: Camera, levels: tuple[int, ...], rng: random.Random) -> tuple[Registration, str]:
    """The nearest pose in a random direction from which the whole board is visible, and its description.

    Raises ValueError if there is none.
    """
    azimuth = rng.uniform(-180, 180) if rng.random() < 0.2 else rng.choice((-90, -90, 90)) + rng.gauss(0, 25)
    elevation, roll = rng.uniform(50, 70), rng.uniform(-3, 3)
    points, middle = _extent_points(kit, levels), np.array([WIDTH_PX, HEIGHT_PX]) / 2
    for distance in np.arange(NEAREST_MM, FARTHEST_MM, STEP_MM):
        aim = np.zeros(3)
        for _ in range(AIM_STEPS):
            pose = looking_at(aim, float(distance), kit, elevation, azimuth, roll)
            seen = project(points, pose, camera)
            off = (seen.min(axis=0) + seen.max(axis=0)) / 2 - middle
            step = (off * distance / camera.matrix[0, 0]) @ pose.rotation[:2]
            ahead = pose.rotation[2]
            aim = aim + step - ahead * step[2] / ahead[2]
        pose = looking_at(aim, float(distance), kit, elevation, azimuth, roll)
        camera_mm = points @ pose.rotation.T + pose.translation_mm
        seen = project(points, pose, camera)
        is_whole = (seen > MARGIN_PX).all() and (seen < np.array(SIZE) - MARGIN_PX).all()
        if is_whole and (camera_mm[:, 2] > 0).all():
            return pose, f"from {azimuth:.0f}°, {elevation:.0f}° up, {distance:.0f} mm"
    raise ValueError(f"the mat of {kit.name} is too large for this camera")


def _extent_points(kit: Kit, levels: tuple[int, ...]) -> Array:
    """(n, 3) mm points that must be visible: corners of the mat, and of the space above every square."""
    points = extent(kit, levels)
    mat, stacks = points[:4], points[4:]
    extra_mm = max(0.0, TALLEST_TOWER * max(kind.height_mm for kind in kit.pieces) - TALLEST_MM)
    corner_offsets = [
        np.array([*(np.array(sides) * kit.board.pitch_mm / 2), extra_mm]) for sides in product((-1, 1), repeat=2)
    ]
    return np.vstack([mat, *(stacks + by for by in corner_offsets)])


def _lights(rng: random.Random) -> _Lights:
    """One lamp in a dim room, or one to three in a brighter one; exposure and white balance follow from them."""
    is_dim = rng.random() < DIM_SHARE
    lamps, colours, lamp_shares, lamp_poses = [], [], [], []
    for i in range(1 if is_dim else rng.choice((1, 1, 2, 2, 3))):
        distance_mm, elevation, azimuth = (
            rng.uniform(900, 2300),
            math.radians(rng.uniform(28, 80)),
            rng.uniform(0, 2 * math.pi),
        )
        side_mm = math.exp(rng.uniform(math.log(130), math.log(500 if is_dim else 1500)))
        direction = np.array(
            [math.cos(elevation) * math.cos(azimuth), math.cos(elevation) * math.sin(azimuth), math.sin(elevation)]
        )
        watts = (
            (350 if is_dim else 1000)
            * (1.0 if i == 0 else rng.uniform(0.2, 0.8))
            * (distance_mm / 1500) ** 2
            / direction[2]
        )
        colour = _lamp_colour(rng.uniform(2700, 7500))
        right = np.cross(direction, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        edges = side_mm * np.array([right, np.cross(direction, right)])
        # Radiance of white paper in the middle of the mat due to this lamp.
        share = WATT_MM2 * watts * direction[2] / distance_mm**2
        radiance = share / direction[2] * math.pi * distance_mm**2 / side_mm**2 * colour
        lamps.append(np.stack([distance_mm * direction - edges.sum(axis=0) / 2, *edges, radiance]))
        colours.append(colour)
        lamp_shares.append(share)
        lamp_poses.append((distance_mm, math.degrees(elevation), side_mm, direction))
    ambient_white = rng.uniform(0.06, 0.10) if is_dim else rng.uniform(0.10, 0.45)
    ambient = ambient_white * (1 - 0.5 * (1 - colours[0]))
    white = ambient_white + sum(lamp_shares)
    gain = PAPER_LEVEL * (DIM_EXPOSURE if is_dim else 1.0) / white * rng.uniform(0.85, 1.1)
    balance = rng.uniform(0.6, 1.0)
    gains = gain * np.array([(1 / channel) ** balance * rng.uniform(0.97, 1.03) for channel in colours[0]])
    others = sum((share * colour for share, colour in zip(lamp_shares[1:], colours[1:], strict=True)), np.zeros(3))
    lamp_light = lamp_shares[0] / lamp_poses[0][3][2] * colours[0] * gains
    hand_light = Light(tuple(lamp_poses[0][3]), tuple(lamp_light), tuple((ambient + others) * gains), 0.0005, 0.1, 0.0)
    noise = rng.uniform(0.015, 0.028) if is_dim else rng.uniform(0.004, 0.011)
    description = ", ".join(
        f"lamp of {side_mm:.0f} mm {elevation:.0f}° up at {distance_mm:.0f} mm"
        for distance_mm, elevation, side_mm, _ in lamp_poses
    )
    description += f", {100 * ambient_white / white:.0f} % from the room"
    return _Lights(np.array(lamps), ambient, white, gains, noise, rng.uniform(0.05, 0.25), hand_light, description)


def _lamp_colour(kelvin: float) -> Array:
    """(3,) approximate linear r, g, b of a lamp of this colour temperature."""
    x = (kelvin - 6500) / 3800
    return np.array(
        [min(1.0, 0.97 - 0.10 * x), 1.0 if kelvin > 5000 else 0.97 + 0.1 * x, max(0.3, 0.98 + 0.52 * min(x, 0.05))]
    )


def _vignette(share: float) -> Array:
    """(height, width) relative transmission of the lens: 1 in the middle, 1 - ``share`` in the corners."""
    rows, columns = np.mgrid[0:HEIGHT_PX, 0:WIDTH_PX]
    radius2 = (columns - WIDTH_PX / 2) ** 2 + (rows - HEIGHT_PX / 2) ** 2
    falloff: Array = 1 - share * radius2 / (WIDTH_PX**2 / 4 + HEIGHT_PX**2 / 4)
    return falloff


def _processing(rng: random.Random, *, is_cheap: bool) -> tuple[Callable[[Picture, int], Picture], str]:
    """The camera's processing of its frames, and its description."""
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
    return _unchanged, "camera"


def _unchanged(picture: Picture, _number: int) -> Picture:
    return picture


def _recoloured_pieces(kit: Kit, seed: int, rng: random.Random) -> tuple[Kit, str]:
    """The kit with the real colours of its pieces, which the program learns by enrolment, and their description."""
    if seed % PALE_EVERY == 1:
        return kit, "the kit's colours"
    is_pale = seed % PALE_EVERY == 0
    new_colours: dict[Colour, Colour] = {}
    for kind in kit.pieces:
        if kind.colour not in new_colours:
            new = _varied_colour(kind.colour, rng)
            share = rng.uniform(0.55, 0.85) if is_pale else 0.0
            mixed = (1 - share) * new + share * np.array(kit.mat.paper) / 255
            red, green, blue = (round(255 * channel) for channel in mixed)
            new_colours[kind.colour] = (red, green, blue)
    pieces = tuple(replace(kind, colour=new_colours[kind.colour]) for kind in kit.pieces)
    description = ", ".join("#{:02x}{:02x}{:02x}".format(*colour) for colour in new_colours.values())
    return replace(kit, pieces=pieces), f"{'pale' if is_pale else 'other'} pieces {description}"


def _varied_colour(colour: Colour, rng: random.Random) -> Array:
    """(3,) 0…1 sRGB of a random paint similar to ``colour``."""
    hue, saturation, value = colorsys.rgb_to_hsv(*(channel / 255 for channel in colour))
    saturation = min(1.0, saturation * rng.uniform(0.7, 1.2))
    value = min(0.93, max(0.06, value * rng.uniform(0.75, 1.25)))
    return np.array(colorsys.hsv_to_rgb((hue + rng.gauss(0, 0.035)) % 1, saturation, value))
