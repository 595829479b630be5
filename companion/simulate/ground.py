"""The static background: the wooden table with the printed mat on it, as the camera sees it."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import cache, lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Colour, Kit
from calibration.printed import printed_mat
from companion.simulate.light import LINEAR, Light, falloff, to_srgb
from vision.pose.projection import Registration

Picture = npt.NDArray[np.uint8]
Array = npt.NDArray[np.float64]

MAT_PX_PER_MM = 8
"""Resolution of the printed sheet; a marker's module of 4.5 mm is exactly 36 dots, so that no edge is rounded."""

WOOD_MM = 1600
"""Side of the table's texture at 1 px per mm; it is mirrored beyond."""

WOOD: tuple[Colour, ...] = ((150, 104, 66), (136, 92, 58), (160, 113, 74), (143, 97, 60))
PLANK_MM = 120
GRAIN_MM, GRAIN_STEP_MM = 90, 16
SUPERSAMPLING = 3
"""Supersampling: each pixel is the mean of this many by this many samples."""


def ground(kit: Kit, camera: Camera, pose: Registration, light: Light) -> Picture:
    """(height, width, 3) uint8 BGR, which must not be modified: the empty table, without shadows, noise or blur."""
    # A fresh copy of the kit holds its fields only: values cached in it would change the bytes.
    return _ground(pickle.dumps((replace(kit), camera, pose, light)))


@lru_cache(maxsize=4)
def _ground(scene: bytes) -> Picture:
    """Cached, since it takes longest of all; the key is the bytes of ``scene``, since arrays cannot be hashed."""
    kit, camera, pose, light = pickle.loads(scene)  # noqa: S301 - our own bytes
    x, y = places_mm(camera, pose)
    size = (camera.width_px * SUPERSAMPLING, camera.height_px * SUPERSAMPLING)
    fine_x, fine_y = (
        np.asarray(cv2.resize((axis + WOOD_MM / 2).astype(np.float32), size), np.float32) for axis in (x, y)
    )
    table = cv2.remap(wood(), fine_x, fine_y, cv2.INTER_LINEAR, None, cv2.BORDER_REFLECT)
    print_ = sheet(kit)
    _on_sheet(fine_x, MAT_PX_PER_MM, print_.shape[1])
    _on_sheet(fine_y, -MAT_PX_PER_MM, print_.shape[0])
    cv2.remap(print_, fine_x, fine_y, cv2.INTER_LINEAR, table, cv2.BORDER_TRANSPARENT)
    shown = cv2.resize(table, (camera.width_px, camera.height_px), interpolation=cv2.INTER_AREA)
    direct = (light.towards[2] * falloff(light, x, y)).astype(np.float32)
    lens = vignette(camera).astype(np.float32)
    glow = [(direct * of_lamp + of_room) * lens for of_lamp, of_room in zip(light.colour, light.room, strict=True)]
    bright = LINEAR.astype(np.float32)[shown] * cv2.merge(glow)
    return np.ascontiguousarray(np.round(to_srgb(bright)).astype(np.uint8)[..., ::-1])


def _on_sheet(places: npt.NDArray[np.float32], dots_per_mm: int, side_dots: int) -> None:
    """Convert, in place, coordinates in the wood's texture to those in a printed sheet of ``side_dots``."""
    places -= WOOD_MM / 2
    places *= dots_per_mm
    places += side_dots / 2 - 0.5


def places_mm(camera: Camera, pose: Registration) -> tuple[Array, Array]:
    """World x and y in mm, each (height, width), of the point of the plane z = 0 that each pixel shows."""
    u, v = np.meshgrid(np.arange(camera.width_px, dtype=np.float64), np.arange(camera.height_px, dtype=np.float64))
    pixels = np.stack([u.ravel(), v.ravel()], axis=1)
    seen = cv2.undistortPoints(pixels[:, None], camera.matrix, camera.distortion).reshape(-1, 2)
    # A matrix product with so few columns takes four times as long.
    right, down = seen.T.reshape(2, camera.height_px, camera.width_px)
    x, y, z = (right * along[0] + down * along[1] + along[2] for along in pose.rotation.T)
    reach = -pose.centre_mm[2] / np.minimum(z, -1e-6)
    return pose.centre_mm[0] + reach * x, pose.centre_mm[1] + reach * y


def vignette(camera: Camera) -> Array:
    """(height, width) fraction of the light that the lens lets through: 1 in the middle, less towards the corners."""
    u = (np.arange(camera.width_px) - camera.matrix[0, 2]) / camera.matrix[0, 0]
    v = (np.arange(camera.height_px) - camera.matrix[1, 2]) / camera.matrix[1, 1]
    # The cosine-to-the-fourth law of thin lenses, half corrected as in most webcams.
    share: Array = (1 + u[None, :] ** 2 + v[:, None] ** 2) ** -1.0
    return share


def sheet(kit: Kit) -> Picture:
    """(height, width, 3) uint8 RGB, the printed mat at MAT_PX_PER_MM, its far edge in the first row."""
    return _mottled(printed_mat(kit, MAT_PX_PER_MM))


@cache
def wood() -> Picture:
    """(WOOD_MM, WOOD_MM, 3) uint8 RGB, planks along x, 1 px a mm."""
    rng = np.random.default_rng(0)
    # The grain is a hundred times as long as wide, so few columns are enough.
    seeds = rng.normal(0, 1, (WOOD_MM, WOOD_MM // GRAIN_STEP_MM)).astype(np.float32)
    streaks = cv2.GaussianBlur(seeds, (0, 0), sigmaX=GRAIN_MM / GRAIN_STEP_MM, sigmaY=1.6)
    grain = cv2.resize(streaks / streaks.std(), (WOOD_MM, WOOD_MM), interpolation=cv2.INTER_LINEAR)
    planks = np.arange(WOOD_MM) // PLANK_MM
    joints = np.where(np.arange(WOOD_MM) % PLANK_MM == 0, 0.45, 1.0)
    colours = np.array(WOOD, np.float32)[planks % len(WOOD)] * joints[:, None]
    board = colours[:, None, :].astype(np.float32) * (1 + 0.09 * np.asarray(grain)[..., None])
    return np.asarray(np.clip(board, 0, 255), np.uint8)


def _mottled(print_: Picture) -> Picture:
    """``print_`` with the unevenness of paper: slow variations of less than a hundredth."""
    rng = np.random.default_rng(1)
    small = rng.normal(1, 0.006, (print_.shape[0] // 24, print_.shape[1] // 24)).astype(np.float32)
    cloud = cv2.resize(cv2.merge([small] * 3), (print_.shape[1], print_.shape[0]), interpolation=cv2.INTER_CUBIC)
    return np.asarray(cv2.multiply(print_, cloud, dtype=cv2.CV_8U), np.uint8)
