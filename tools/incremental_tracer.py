"""Path tracing of the simulated table that traces only what has changed since the last picture.

The random numbers of a ray depend only on its position, so that unchanged parts of a picture stay identical to the bit.
Traced again are rays that may meet a body which was added or removed, its shadows, or its close surroundings.  Noise is
reduced by an edge-avoiding filter: incident light is smoothed along each surface, not across its edges, and then
multiplied by the surface's colour (Dammertz et al., Edge-avoiding à-trous wavelet transform, 2010).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import cv2
import numba
import numpy as np
import numpy.typing as npt

from calibration.srgb import CURVE_OFFSET, GAMMA, STEEPEST, linear_light
from companion.simulate.light import Array, to_srgb
from companion.simulate.placement import Pile, Setup
from companion.simulate.render import BLUR_PX, NOISE_MARGIN_PX, Box, Painter, Picture, noise_of_frame
from companion.simulate.sprite import Scene
from tools.ray_bodies import Body, as_arrays, bodies_on
from tools.ray_light import LATTICE_PX, SUPERSAMPLING, GBuffer, Room, View, trace
from vision.pose.projection import project
from vision.scene.solids import hull

MARGIN_MM = 14.0
MARGIN_PER_HEIGHT = 0.6
"""Margin around an added or removed body in which indirect light is traced again: MARGIN_MM, plus MARGIN_PER_HEIGHT of
its height."""

MAX_SHADOW_MM = 450.0
"""Maximum distance from the middle of the mat to which shadows are followed."""

MAX_TANGENT = 1.0
"""Tangent of the maximum angle from the optical axis at which the lens model is used."""

STEPS_DIRECT, STEPS_INDIRECT = (1,), (1, 2, 4)
"""Spacings of the filter's taps in rays, for the successive passes over direct and indirect light."""

SMOOTHING_RADIUS = 2 * sum(STEPS_INDIRECT)
"""Number of rays over which smoothing spreads a change."""

KERNEL = np.array([1, 4, 6, 4, 1]) / 16
"""Filter taps: cubic B-spline."""

MIN_COSINE = 0.9
"""Cosine between two normals at which a tap's weight is 0; it increases linearly to 1 for equal normals."""


class IncrementalTracer(Painter):
    """Paints tables by path tracing.

    ``gains`` (height, width, 3) convert radiance r, g, b to linear light on the camera's sensor; ``noise`` is the
    standard deviation at middle grey, in codes of 0…255; ``process`` maps a frame and its number to the camera's
    output.
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
        shape = (SUPERSAMPLING * camera.height_px, SUPERSAMPLING * camera.width_px)
        vectors = [np.zeros((*shape, 3), np.float32) for _ in range(5)]
        self._gbuffer = GBuffer(np.zeros(shape, np.int32), *vectors)
        self._gains = gains.astype(np.float32)
        self._keys: list[tuple[Pile, int | None] | None] = [None] * len(kit.cells)
        self._bodies: list[list[Body]] = [[] for _ in kit.cells]
        self._is_begun = False
        rng = np.random.default_rng(seed)
        size = (camera.height_px + NOISE_MARGIN_PX, camera.width_px + NOISE_MARGIN_PX, 3)
        self._noise = rng.standard_normal(size, np.float32)
        self._deviations = _deviations(noise)

    def developed(self, clear: Picture, seq: int) -> Picture:
        """``clear`` (height, width, 3) uint8 BGR with lens blur, sensor noise and the camera's processing."""
        blurred = cv2.GaussianBlur(clear, (0, 0), BLUR_PX)
        noise = noise_of_frame(self._noise, seq)
        noisy = cv2.add(blurred, cv2.LUT(blurred, self._deviations) * noise, dtype=cv2.CV_8U)
        return self._process(np.asarray(noisy, np.uint8), seq)

    def _update(self, setup: Setup) -> None:
        """Trace what differs from the last setup; the first time, everything."""
        kit, changed = self._scene.kit, []
        for i, pile in enumerate(setup.piles):
            key = (pile, None if setup.levels is None else setup.levels[i])
            if self._keys[i] != key:
                before, after = self._bodies[i], bodies_on(kit, i, *key)
                changed.append(_changed_bodies(before, after))
                self._keys[i], self._bodies[i] = key, after
        height, width = self._gbuffer.surfaces.shape
        if not self._is_begun:
            self._is_begun = True
            self._retrace(np.full((height, width), 1, np.uint8), (0, 0, width, height))
            return
        mask = np.zeros((height, width), np.uint8)
        boxes = [self._mark_affected(mask, bodies) for bodies in changed if bodies]
        for box in _merged_boxes(boxes):
            self._retrace(mask, box)

    def _mark_affected(self, mask: npt.NDArray[np.uint8], bodies: Sequence[Body]) -> Box:
        """Mark in ``mask`` the rays that may see ``bodies``, their shadows or surroundings; return the box of those."""
        low = np.min([body.box[0] for body in bodies], axis=0)
        high = np.max([body.box[1] for body in bodies], axis=0)
        margin_mm = MARGIN_MM + MARGIN_PER_HEIGHT * (high[2] - low[2])
        around = _corners(low - margin_mm, high + np.array([margin_mm, margin_mm, 0]))
        shapes = [around] + [_with_shadow(_corners(low, high), lamp) for lamp in self._room.lamps]
        rays = [_ray_positions(self._scene, np.maximum(points, [-np.inf, -np.inf, 0])) for points in shapes]
        for points in rays:
            cv2.fillConvexPoly(mask, np.rint(hull(points) * 16).astype(np.int32), 1, cv2.LINE_8, 4)
        everything = np.vstack(rays)
        left, top = np.floor(everything.min(axis=0)).astype(int) - 2
        right, bottom = np.ceil(everything.max(axis=0)).astype(int) + 3
        height, width = mask.shape
        return max(left, 0), max(top, 0), min(right, width), min(bottom, height)

    def _retrace(self, mask: npt.NDArray[np.uint8], box: Box) -> None:
        """Trace the rays of ``mask`` in a box of rays, smooth the result, and update the picture there."""
        left, top, right, bottom = box
        if left >= right or top >= bottom:
            return
        bodies = as_arrays(self._scene.kit, [body for cell in self._bodies for body in cell])
        region_mask = np.ascontiguousarray(mask[top:bottom, left:right])
        trace(bodies, self._room, self._view, region_mask, top, left, self._seed, self._gbuffer)
        inner = self._padded(box, SMOOTHING_RADIUS)
        part = self._smoothed_light(self._padded(inner, SMOOTHING_RADIUS))
        (x, y), (u, v) = self._padded(inner, SMOOTHING_RADIUS)[:2], inner[:2]
        light = part[v - y : inner[3] - y, u - x : inner[2] - x]
        rows, columns = (
            slice(v // SUPERSAMPLING, inner[3] // SUPERSAMPLING),
            slice(u // SUPERSAMPLING, inner[2] // SUPERSAMPLING),
        )
        per_pixel = light.reshape(
            rows.stop - rows.start, SUPERSAMPLING, columns.stop - columns.start, SUPERSAMPLING, 3
        ).mean(axis=(1, 3))
        codes = np.rint(to_srgb(per_pixel * self._gains[rows, columns])).astype(np.uint8)
        self._clear = self._clear.copy()
        self._clear[rows, columns] = codes[..., ::-1]

    def _padded(self, box: Box, by: int) -> Box:
        """``box`` enlarged by ``by`` rays on each side, aligned to pixels, and clipped to the picture."""
        height, width = self._gbuffer.surfaces.shape
        left, top = (max(0, (end - by) // SUPERSAMPLING * SUPERSAMPLING) for end in box[:2])
        right = min(width, -(-(box[2] + by) // SUPERSAMPLING) * SUPERSAMPLING)
        return left, top, right, min(height, -(-(box[3] + by) // SUPERSAMPLING) * SUPERSAMPLING)

    def _smoothed_light(self, box: Box) -> npt.NDArray[np.float32]:
        """(rows, columns, 3) smoothed linear light of a box of rays."""
        here = slice(box[1], box[3]), slice(box[0], box[2])
        gbuffer = GBuffer(*(np.ascontiguousarray(layer[here]) for layer in self._gbuffer))
        direct, mirrored, indirect = gbuffer.direct, gbuffer.mirrored, gbuffer.indirect
        for step in STEPS_DIRECT:
            direct = _atrous_pass(direct, gbuffer.surfaces, gbuffer.normals, step)
            mirrored = _atrous_pass(mirrored, gbuffer.surfaces, gbuffer.normals, step)
        for step in STEPS_INDIRECT:
            indirect = _atrous_pass(indirect, gbuffer.surfaces, gbuffer.normals, step)
        light: npt.NDArray[np.float32] = gbuffer.colours * (direct + indirect) + mirrored
        return light


@numba.njit(cache=True, nogil=True)
def _atrous_pass(
    light: npt.NDArray[np.float32], surfaces: npt.NDArray[np.int32], normals: npt.NDArray[np.float32], step: int
) -> npt.NDArray[np.float32]:
    """One pass of the à-trous filter over ``light`` (rows, columns, 3): weighted mean of 5 × 5 rays on one surface.

    ``surfaces`` (rows, columns) and ``normals`` (rows, columns, 3) are those of the rays; taps are ``step`` rays apart.
    """
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
                    weight = KERNEL[i] * KERNEL[j] * max(0.0, (agree - MIN_COSINE) / (1 - MIN_COSINE))
                    red, green = red + weight * light[y, x, 0], green + weight * light[y, x, 1]
                    blue, total = blue + weight * light[y, x, 2], total + weight
            if total > 0:
                smooth[row, column, 0], smooth[row, column, 1] = red / total, green / total
                smooth[row, column, 2] = blue / total
            else:
                smooth[row, column] = light[row, column]
    return smooth


def _view(scene: Scene) -> View:
    """The camera of a scene, with its lattice of undistorted directions."""
    camera, pose = scene.camera, scene.pose
    u = np.arange(-LATTICE_PX, camera.width_px + 2 * LATTICE_PX, LATTICE_PX, np.float64)
    v = np.arange(-LATTICE_PX, camera.height_px + 2 * LATTICE_PX, LATTICE_PX, np.float64)
    pixels = np.stack(np.meshgrid(u, v), axis=-1).reshape(-1, 1, 2)
    criteria = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 100, 1e-9)
    undistorted = cv2.undistortPointsIter(pixels, camera.matrix, camera.distortion, np.eye(3), np.eye(3), criteria)
    return View(pose.centre_mm.copy(), np.ascontiguousarray(pose.rotation), undistorted.reshape(len(v), len(u), 2))


def _deviations(noise: float) -> npt.NDArray[np.float32]:
    """(256,) float32 noise standard deviation of each sRGB code: shot noise and a little read noise in linear light."""
    linear = linear_light(np.arange(256) / 255)
    steep = (1 + CURVE_OFFSET) / GAMMA * np.maximum(linear, 1e-6) ** (1 / GAMMA - 1)
    slope = np.where(linear <= 0.0031308, STEEPEST, steep)
    share = slope * np.sqrt(linear + 0.075)
    return (noise * share / share[188]).astype(np.float32)


def _changed_bodies(before: Sequence[Body], after: Sequence[Body]) -> list[Body]:
    """Bodies that are only in one of the two sequences."""
    keys = [{_key(body): body for body in bodies} for bodies in (before, after)]
    return [keys[i][key] for i in (0, 1) for key in keys[i].keys() - keys[1 - i].keys()]


def _key(body: Body) -> bytes:
    """A key that is equal for bodies of the same shape, pose and colours."""
    parts = (body.planes, body.disc, body.box, body.colours, body.texture_transform)
    return b"".join(np.asarray(part).tobytes() for part in parts)


def _corners(low: Array, high: Array) -> Array:
    """(8, 3) corners of an axis-aligned box."""
    return np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])


def _with_shadow(points: Array, lamp: Array) -> Array:
    """(5 m, 3) mm: ``points`` (m, 3) and their shadows on the ground, cast from each corner of a ``lamp`` (4, 3)."""
    corner, one, other, _ = lamp
    projected = [points]
    for u, v in ((0, 0), (0, 1), (1, 0), (1, 1)):
        direction = points - (corner + u * one + v * other)
        t_ground = np.where(direction[:, 2] < -1e-6, -points[:, 2] / np.minimum(direction[:, 2], -1e-6), np.inf)
        t_limit = (MAX_SHADOW_MM + np.hypot(points[:, 0], points[:, 1])) / np.hypot(direction[:, 0], direction[:, 1])
        projected.append(points + np.minimum(t_ground, t_limit)[:, None] * direction)
    return np.vstack(projected)


def _ray_positions(scene: Scene, points_mm: Array) -> Array:
    """(n, 2) image positions of points (n, 3): column and row in rays.

    Points beyond MAX_TANGENT from the optical axis, where the lens model is not valid, are moved to it.
    """
    pose = scene.pose
    camera_mm = points_mm @ pose.rotation.T + pose.translation_mm
    normalized = camera_mm[:, :2] / np.maximum(camera_mm[:, 2:], 1.0)
    tangent = np.hypot(normalized[:, 0], normalized[:, 1])[:, None]
    normalized = normalized * np.minimum(1.0, MAX_TANGENT / np.maximum(tangent, 1e-9))
    world_mm = (np.column_stack([normalized, np.ones(len(normalized))]) - pose.translation_mm) @ pose.rotation
    rays: Array = (project(world_mm, pose, scene.camera) + 0.5) * SUPERSAMPLING - 0.5
    return rays


def _merged_boxes(boxes: Sequence[Box]) -> list[Box]:
    """Boxes that cover ``boxes``: those that are so close that smoothing would mix them are merged."""
    apart: list[Box] = []
    for box in boxes:
        joined = box
        while near := [other for other in apart if _are_close(other, joined)]:
            apart = [other for other in apart if other not in near]
            corners = np.array([joined, *near])
            low, high = corners[:, :2].min(axis=0), corners[:, 2:].max(axis=0)
            joined = (int(low[0]), int(low[1]), int(high[0]), int(high[1]))
        apart.append(joined)
    return apart


def _are_close(one: Box, other: Box) -> bool:
    """Whether two boxes are less than four smoothing radii apart."""
    by = 4 * SMOOTHING_RADIUS
    return one[0] - by < other[2] and other[0] - by < one[2] and one[1] - by < other[3] and other[1] - by < one[3]
