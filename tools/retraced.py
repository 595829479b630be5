"""Pictures of the simulated table by path tracing, in which only what has changed is traced again.

A ray's chance depends on its place alone, so a picture in which nothing has changed is the same to the last bit.
Traced anew are the rays that may meet a body which has come or gone, its shadows, and its close surroundings.  What
lamps and room send to a surface is smoothed along that surface, never across its edges, and only then multiplied by its
colour (Dammertz et al., Edge-avoiding à-trous wavelet transform, 2010).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import cv2
import numba
import numpy as np
import numpy.typing as npt

from calibration.srgb import CURVE_OFFSET, GAMMA, STEEPEST, linear_light
from companion.simulate.light import Array, to_srgb
from companion.simulate.render import BLUR_PX, NOISE_MARGIN_PX, Box, Painter, Picture, noise_of_frame
from companion.simulate.sprite import Scene
from companion.simulate.standing import Pile, Setup
from tools.ray_bodies import Body, bodies_on, gathered
from tools.ray_light import FINER, LATTICE_PX, Film, Room, View, expose
from vision.pose.projection import project
from vision.scene.solids import hull

ROUND_MM = 14.0
"""So far round a body that has come or gone the light that it throws back or keeps off is traced anew…"""

ROUND_SHARE = 0.6
"""…and by so much of its height farther."""

FAR_MM = 450.0
"""Largest distance from the middle of the mat to which shadows are followed."""

WIDEST = 1.0
"""Tangent of the largest angle from the optical axis at which the lens model is used."""

STEPS_DIRECT, STEPS_INDIRECT = (1,), (1, 2, 4)
"""Rays between those whose mean is taken, each way, one smoothing after the other."""

REACH = 2 * sum(STEPS_INDIRECT)
"""Rays over which a change spreads by smoothing."""

KERNEL = np.array([1, 4, 6, 4, 1]) / 16
"""Cubic B-spline."""

ALIKE = 0.9
"""Cosine of two normals from which on they count; in full when they agree."""


class Retracer(Painter):
    """Draws tables by tracing light.

    ``gains`` (height, width, 3) turn radiance r, g, b into linear light on the camera's sensor; ``noise`` is the
    deviation of a middle grey's code, 0…255; ``process`` is what the camera makes of a frame and its number.
    """

    def __init__(
        self,
        scene: Scene,
        room: Room,
        gains: Array,
        noise: float,
        process: Callable[[Picture, int], Picture],
        seed: int = 0,
    ) -> None:
        camera, kit = scene.camera, scene.kit
        super().__init__(scene, np.zeros((camera.height_px, camera.width_px, 3), np.uint8))
        self._room, self._process, self._seed = room, process, seed
        self._view = _view(scene)
        shape = (FINER * camera.height_px, FINER * camera.width_px)
        vectors = [np.zeros((*shape, 3), np.float32) for _ in range(5)]
        self._film = Film(np.zeros(shape, np.int32), *vectors)
        self._gains = gains.astype(np.float32)
        self._keys: list[tuple[Pile, int | None] | None] = [None] * len(kit.cells)
        self._bodies: list[list[Body]] = [[] for _ in kit.cells]
        self._is_begun = False
        rng = np.random.default_rng(seed)
        size = (camera.height_px + NOISE_MARGIN_PX, camera.width_px + NOISE_MARGIN_PX, 3)
        self._noise = rng.standard_normal(size, np.float32)
        self._deviations = _deviations(noise)

    def developed(self, clear: Picture, seq: int) -> Picture:
        """``clear`` (height, width, 3) uint8 BGR through the lens' blur, the sensor's noise, the camera's processor."""
        soft = cv2.GaussianBlur(clear, (0, 0), BLUR_PX)
        noise = noise_of_frame(self._noise, seq)
        noisy = cv2.add(soft, cv2.LUT(soft, self._deviations) * noise, dtype=cv2.CV_8U)
        return self._process(np.asarray(noisy, np.uint8), seq)

    def _update(self, setup: Setup) -> None:
        """Trace again what differs from the setup traced last."""
        kit, changed = self._scene.kit, []
        for i, pile in enumerate(setup.piles):
            key = (pile, None if setup.levels is None else setup.levels[i])
            if self._keys[i] != key:
                before, after = self._bodies[i], bodies_on(kit, i, *key)
                changed.append(_differing(before, after))
                self._keys[i], self._bodies[i] = key, after
        height, width = self._film.surfaces.shape
        if not self._is_begun:
            self._is_begun = True
            self._trace(np.full((height, width), 1, np.uint8), (0, 0, width, height))
            return
        touched = np.zeros((height, width), np.uint8)
        boxes = [self._mark(touched, bodies) for bodies in changed if bodies]
        for box in _merged(boxes):
            self._trace(touched, box)

    def _mark(self, touched: npt.NDArray[np.uint8], bodies: Sequence[Body]) -> Box:
        """Mark the rays that may see these bodies, their shadows and surroundings; the box (in rays) round them."""
        low = np.min([body.box[0] for body in bodies], axis=0)
        high = np.max([body.box[1] for body in bodies], axis=0)
        round_mm = ROUND_MM + ROUND_SHARE * (high[2] - low[2])
        around = _corners(low - round_mm, high + np.array([round_mm, round_mm, 0]))
        shapes = [around] + [_shadow(_corners(low, high), lamp) for lamp in self._room.lamps]
        rays = [_rays_at(self._scene, np.maximum(points, [-np.inf, -np.inf, 0])) for points in shapes]
        for points in rays:
            cv2.fillConvexPoly(touched, np.rint(hull(points) * 16).astype(np.int32), 1, cv2.LINE_8, 4)
        everything = np.vstack(rays)
        left, top = np.floor(everything.min(axis=0)).astype(int) - 2
        right, bottom = np.ceil(everything.max(axis=0)).astype(int) + 3
        height, width = touched.shape
        return max(left, 0), max(top, 0), min(right, width), min(bottom, height)

    def _trace(self, touched: npt.NDArray[np.uint8], box: Box) -> None:
        """Trace what is ``touched`` in a box of rays, smooth it, and put it into the picture."""
        left, top, right, bottom = box
        if left >= right or top >= bottom:
            return
        bodies = gathered(self._scene.kit, [body for cell in self._bodies for body in cell])
        asked = np.ascontiguousarray(touched[top:bottom, left:right])
        expose(bodies, self._room, self._view, asked, top, left, self._seed, self._film)
        inner = self._grown(box, REACH)
        part = self._developed(self._grown(inner, REACH))
        (x, y), (u, v) = self._grown(inner, REACH)[:2], inner[:2]
        light = part[v - y : inner[3] - y, u - x : inner[2] - x]
        rows, columns = slice(v // FINER, inner[3] // FINER), slice(u // FINER, inner[2] // FINER)
        coarse = light.reshape(rows.stop - rows.start, FINER, columns.stop - columns.start, FINER, 3).mean(axis=(1, 3))
        codes = np.rint(to_srgb(coarse * self._gains[rows, columns])).astype(np.uint8)
        self._clear = self._clear.copy()
        self._clear[rows, columns] = codes[..., ::-1]

    def _grown(self, box: Box, by: int) -> Box:
        """``box`` larger by so many rays, in whole pixels, inside the film."""
        height, width = self._film.surfaces.shape
        left, top = (max(0, (end - by) // FINER * FINER) for end in box[:2])
        right = min(width, -(-(box[2] + by) // FINER) * FINER)
        return left, top, right, min(height, -(-(box[3] + by) // FINER) * FINER)

    def _developed(self, box: Box) -> npt.NDArray[np.float32]:
        """(rows, columns, 3) linear light of a box of rays, smoothed."""
        here = slice(box[1], box[3]), slice(box[0], box[2])
        film = Film(*(np.ascontiguousarray(layer[here]) for layer in self._film))
        direct, mirrored, indirect = film.direct, film.mirrored, film.indirect
        for step in STEPS_DIRECT:
            direct = _smoothed(direct, film.surfaces, film.normals, step)
            mirrored = _smoothed(mirrored, film.surfaces, film.normals, step)
        for step in STEPS_INDIRECT:
            indirect = _smoothed(indirect, film.surfaces, film.normals, step)
        light: npt.NDArray[np.float32] = film.colours * (direct + indirect) + mirrored
        return light


@numba.njit(cache=True, nogil=True)
def _smoothed(
    light: npt.NDArray[np.float32], surfaces: npt.NDArray[np.int32], normals: npt.NDArray[np.float32], step: int
) -> npt.NDArray[np.float32]:
    """``light`` (rows, columns, 3), each ray's the weighted mean of those ``step`` apart on the same surface."""
    rows, columns = surfaces.shape
    smooth = np.empty_like(light)
    for row in range(rows):
        for column in range(columns):
            surface, normal = surfaces[row, column], normals[row, column]
            red, green, blue, total = 0.0, 0.0, 0.0, 0.0
            for i in range(5):
                y = row + (i - 2) * step
                if not 0 <= y < rows:
                    continue
                for j in range(5):
                    x = column + (j - 2) * step
                    if not 0 <= x < columns or surfaces[y, x] != surface:
                        continue
                    other = normals[y, x]
                    agree = normal[0] * other[0] + normal[1] * other[1] + normal[2] * other[2]
                    weight = KERNEL[i] * KERNEL[j] * max(0.0, (agree - ALIKE) / (1 - ALIKE))
                    red, green = red + weight * light[y, x, 0], green + weight * light[y, x, 1]
                    blue, total = blue + weight * light[y, x, 2], total + weight
            if total > 0:
                smooth[row, column, 0], smooth[row, column, 1] = red / total, green / total
                smooth[row, column, 2] = blue / total
            else:
                smooth[row, column] = light[row, column]
    return smooth


def _view(scene: Scene) -> View:
    camera, pose = scene.camera, scene.pose
    u = np.arange(-LATTICE_PX, camera.width_px + 2 * LATTICE_PX, LATTICE_PX, np.float64)
    v = np.arange(-LATTICE_PX, camera.height_px + 2 * LATTICE_PX, LATTICE_PX, np.float64)
    places = np.stack(np.meshgrid(u, v), axis=-1).reshape(-1, 1, 2)
    precisely = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 100, 1e-9)
    seen = cv2.undistortPointsIter(places, camera.matrix, camera.distortion, np.eye(3), np.eye(3), precisely)
    return View(pose.centre_mm.copy(), np.ascontiguousarray(pose.rotation), seen.reshape(len(v), len(u), 2))


def _deviations(noise: float) -> npt.NDArray[np.float32]:
    """(256,) deviation of each code: shot noise and a little read noise in linear light, through the gamma curve."""
    linear = linear_light(np.arange(256) / 255)
    steep = (1 + CURVE_OFFSET) / GAMMA * np.maximum(linear, 1e-6) ** (1 / GAMMA - 1)
    slope = np.where(linear <= 0.0031308, STEEPEST, steep)
    share = slope * np.sqrt(linear + 0.075)
    return (noise * share / share[188]).astype(np.float32)


def _differing(before: Sequence[Body], after: Sequence[Body]) -> list[Body]:
    """Bodies that are in one of the two only."""
    keys = [{_key(body): body for body in bodies} for bodies in (before, after)]
    return [keys[i][key] for i in (0, 1) for key in keys[i].keys() - keys[1 - i].keys()]


def _key(body: Body) -> bytes:
    parts = (body.planes, body.round, body.box, body.colours, body.onto)
    return b"".join(np.asarray(part).tobytes() for part in parts)


def _corners(low: Array, high: Array) -> Array:
    """(8, 3) of a box."""
    return np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])


def _shadow(points: Array, lamp: Array) -> Array:
    """(n, 3) mm: ``points`` (m, 3), and where the edges of their shadow of a ``lamp`` (4, 3) lie on the mat."""
    corner, one, other, _ = lamp
    found = [points]
    for u, v in ((0, 0), (0, 1), (1, 0), (1, 1)):
        away = points - (corner + u * one + v * other)
        reach = np.where(away[:, 2] < -1e-6, -points[:, 2] / np.minimum(away[:, 2], -1e-6), np.inf)
        farthest = (FAR_MM + np.hypot(points[:, 0], points[:, 1])) / np.hypot(away[:, 0], away[:, 1])
        found.append(points + np.minimum(reach, farthest)[:, None] * away)
    return np.vstack(found)


def _rays_at(scene: Scene, points_mm: Array) -> Array:
    """(n, 2) column and row, in rays, where points (n, 3) are seen, as far as the lens' formula holds."""
    pose = scene.pose
    before = points_mm @ pose.rotation.T + pose.translation_mm
    flat = before[:, :2] / np.maximum(before[:, 2:], 1.0)
    wide = np.hypot(flat[:, 0], flat[:, 1])[:, None]
    flat = flat * np.minimum(1.0, WIDEST / np.maximum(wide, 1e-9))
    inside = (np.column_stack([flat, np.ones(len(flat))]) - pose.translation_mm) @ pose.rotation
    rays: Array = (project(inside, pose, scene.camera) + 0.5) * FINER - 0.5
    return rays


def _merged(boxes: Sequence[Box]) -> list[Box]:
    """Boxes that cover ``boxes``; those that touch each other, including smoothing, are merged."""
    apart: list[Box] = []
    for box in boxes:
        joined = box
        while near := [other for other in apart if _near(other, joined)]:
            apart = [other for other in apart if other not in near]
            corners = np.array([joined, *near])
            low, high = corners[:, :2].min(axis=0), corners[:, 2:].max(axis=0)
            joined = (int(low[0]), int(low[1]), int(high[0]), int(high[1]))
        apart.append(joined)
    return apart


def _near(one: Box, other: Box) -> bool:
    by = 4 * REACH
    return one[0] - by < other[2] and other[0] - by < one[2] and one[1] - by < other[3] and other[1] - by < one[3]
