"""The simulated camera's pictures of the table: perspective, lens, light, shadows, blur, noise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeVar

import cv2
import numpy as np
import numpy.typing as npt

from companion.simulate.ground import ground
from companion.simulate.light import Array
from companion.simulate.placement import Pile, Setup
from companion.simulate.sprite import SHADOW_BLUR_PX, Scene, Sprite, cell_sprite
from vision.scene.terrain import far_first

Picture = npt.NDArray[np.uint8]
Noise = TypeVar("Noise", np.int16, np.float32)
Box = tuple[int, int, int, int]
"""Left, top, right, bottom in whole pixels, the last two exclusive."""

SUPERSAMPLING = 4
"""Supersampling: bodies are painted at this many times the resolution each way, then averaged.  (OpenCV also fills the
pixels that an outline only touches, so bodies come out 1/8 px too large all round.)"""

SUBPIXEL_BITS = 4
CONTACT = 0.5
"""Darkness of the floor close around a foot, relative to that of a full shadow."""

BLUR_PX = 0.55
NOISE_MARGIN_PX = 64
"""The noise of each picture is a window of one field that is larger by this, at a different offset each time."""


class Painter(ABC):
    """Draws the board in one scene, without hands, and keeps the picture, so that only changes are drawn again."""

    def __init__(self, scene: Scene, clear: Picture) -> None:
        """``clear`` (height, width, 3) uint8 BGR: the picture drawn so far; it is updated in place."""
        self._scene, self._clear = scene, clear

    @property
    def scene(self) -> Scene:
        """The kit with its appearance, the camera, its pose, and the light that falls on hands."""
        return self._scene

    def clear(self, setup: Setup) -> Picture:
        """The board, (height, width, 3) uint8 BGR without blur and noise; the caller must not modify it."""
        self._update(setup)
        return self._clear

    def picture(self, setup: Setup, seq: int) -> Picture:
        """The board as the camera gives it, (height, width, 3) uint8 BGR; ``seq`` chooses the noise."""
        return self.developed(self.clear(setup), seq)

    @abstractmethod
    def developed(self, clear: Picture, seq: int) -> Picture:
        """``clear`` (height, width, 3) uint8 BGR with the camera's blur and noise, as a new picture."""

    @abstractmethod
    def _update(self, setup: Setup) -> None:
        """Draw what differs from the setup drawn last."""


class Renderer(Painter):
    """Draws tables by painting bodies as polygons."""

    def __init__(self, scene: Scene, seed: int = 0, empty_table: Picture | None = None) -> None:
        """``empty_table`` (height, width, 3) uint8 BGR replaces that of :func:`companion.simulate.ground.ground`."""
        self._ground = ground(scene.kit, scene.camera, scene.pose, scene.light) if empty_table is None else empty_table
        super().__init__(scene, self._ground.copy())
        self._order = tuple(far_first(scene.kit, scene.pose).tolist())
        empty: Sequence[Pile] = [()] * len(scene.kit.cells)
        self._keys: list[tuple[Pile, int | None] | None] = [None] * len(scene.kit.cells)
        self._sprites: list[Sprite | None] = [None] * len(scene.kit.cells)
        rng = np.random.default_rng(seed)
        size = (scene.camera.height_px + NOISE_MARGIN_PX, scene.camera.width_px + NOISE_MARGIN_PX, 3)
        self._noise = np.round(rng.normal(0, scene.light.noise, size)).astype(np.int16)
        self._update(Setup(tuple(empty)))

    def developed(self, clear: Picture, seq: int) -> Picture:
        """``clear`` (height, width, 3) uint8 BGR with the lens's blur and the sensor's noise."""
        soft = cv2.GaussianBlur(clear, (0, 0), BLUR_PX)
        # Shot noise after the gamma curve is nearly the same at every brightness, so one field serves all.
        return np.asarray(cv2.add(soft, noise_of_frame(self._noise, seq), dtype=cv2.CV_8U), np.uint8)

    def _update(self, setup: Setup) -> None:
        """Paint the cells whose contents differ from those painted last."""
        boxes = []
        for i, (cell, pile) in enumerate(zip(self._scene.kit.cells, setup.piles, strict=True)):
            level = None if setup.levels is None else setup.levels[i]
            if self._keys[i] == (pile, level):
                continue
            before, after = self._sprites[i], cell_sprite(self._scene, cell, pile, level)
            self._keys[i], self._sprites[i] = (pile, level), after
            boxes += [sprite.box for sprite in (before, after) if sprite is not None]
        for box in _merged([self._whole(box) for box in boxes]):
            self._paint(box)

    def _paint(self, box: Box) -> None:
        left, top, right, bottom = box
        sprites = [sprite for i in self._order if (sprite := self._sprites[i]) and _touches(sprite.box, box)]
        ground_here = self._ground[top:bottom, left:right]
        floor = darkened(ground_here, sprites, box, self._scene.light.shadow_share)
        self._clear[top:bottom, left:right] = painted(floor, sprites, box)

    def _whole(self, box: tuple[float, float, float, float]) -> Box:
        """``box`` rounded outward to whole pixels and clipped to the picture."""
        camera = self._scene.camera
        left, top = max(0, int(box[0])), max(0, int(box[1]))
        return (
            left,
            top,
            max(left, min(camera.width_px, int(box[2]) + 2)),
            max(top, min(camera.height_px, int(box[3]) + 2)),
        )


def noise_of_frame(field: npt.NDArray[Noise], seq: int) -> npt.NDArray[Noise]:
    """The window of a noise ``field`` for frame ``seq``: smaller than it by NOISE_MARGIN_PX each way."""
    dy, dx = (seq * 37) % NOISE_MARGIN_PX, (seq * 23 + seq // NOISE_MARGIN_PX * 7) % NOISE_MARGIN_PX
    return field[dy : dy + field.shape[0] - NOISE_MARGIN_PX, dx : dx + field.shape[1] - NOISE_MARGIN_PX]


def with_sprite(clear: Picture, scene: Scene, sprite: Sprite, shadow: float = 1.0) -> Picture:
    """A new picture: ``clear`` (height, width, 3) uint8 BGR with a sprite over it.

    Its shadows are ``shadow`` times as dark as those of pieces.
    """
    box = visible_box(scene, sprite)
    if box is None:
        return clear
    left, top, right, bottom = box
    result = clear.copy()
    floor = darkened(clear[top:bottom, left:right], [sprite], box, shadow * scene.light.shadow_share)
    result[top:bottom, left:right] = painted(floor, [sprite], box)
    return result


def visible_box(scene: Scene, sprite: Sprite) -> Box | None:
    """The part of the picture that a sprite may change; None if there is none."""
    left, top = max(0, int(sprite.box[0])), max(0, int(sprite.box[1]))
    right = min(scene.camera.width_px, int(sprite.box[2]) + 2)
    bottom = min(scene.camera.height_px, int(sprite.box[3]) + 2)
    return (left, top, right, bottom) if left < right and top < bottom else None


def darkened(floor: Picture, sprites: Sequence[Sprite], box: Box, share: float) -> Picture:
    """``floor``, the part of the picture in ``box``, with soft shadows that remove ``share`` of its sRGB values."""
    mask = np.zeros(floor.shape[:2], np.uint8)
    contacts = [(polygon, round(255 * CONTACT)) for sprite in sprites for polygon in sprite.contacts]
    shadows = [(polygon, 255) for sprite in sprites for polygon in sprite.shadows]
    for polygon, dark in contacts + shadows:
        cv2.fillConvexPoly(mask, _fixed(polygon - box[:2], 1), dark, cv2.LINE_8, SUBPIXEL_BITS)
    soft = cv2.GaussianBlur(mask, (0, 0), SHADOW_BLUR_PX)
    keep = (255 - share * soft).astype(np.uint8)
    return np.asarray(cv2.multiply(floor, cv2.merge([keep, keep, keep]), scale=1 / 255), np.uint8)


def painted(floor: Picture, sprites: Sequence[Sprite], box: Box) -> Picture:
    """``floor``, the part of the picture in ``box``, with sprites painted over it in their order."""
    if not sprites or not floor.size:
        return floor
    size = (floor.shape[1] * SUPERSAMPLING, floor.shape[0] * SUPERSAMPLING)
    fine = cv2.resize(floor, size, interpolation=cv2.INTER_NEAREST)
    for sprite in sprites:
        corners, begin = _fixed(sprite.points - box[:2], SUPERSAMPLING), 0
        for end, colour in zip(sprite.ends, sprite.colours, strict=True):
            cv2.fillConvexPoly(fine, corners[begin:end], colour.tolist(), cv2.LINE_8, SUBPIXEL_BITS)
            begin = end
    small = cv2.resize(fine, (floor.shape[1], floor.shape[0]), interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.uint8)


def _fixed(points_px: Array, finer: int) -> npt.NDArray[np.int32]:
    """Points in OpenCV's fixed-point coordinates, in a picture of ``finer`` times the resolution."""
    return np.round((points_px * finer + (finer - 1) / 2) * (1 << SUBPIXEL_BITS)).astype(np.int32)


def _touches(box: tuple[float, float, float, float], other: Box) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]


def _merged(boxes: Sequence[Box]) -> list[Box]:
    """Boxes that do not overlap and together cover ``boxes``."""
    apart: list[Box] = []
    for box in boxes:
        joined = box
        while touching := [other for other in apart if _touches(other, joined)]:
            apart = [other for other in apart if other not in touching]
            corners = np.array([joined, *touching])
            low, high = corners[:, :2].min(axis=0), corners[:, 2:].max(axis=0)
            joined = (int(low[0]), int(low[1]), int(high[0]), int(high[1]))
        apart.append(joined)
    return apart
