"""Simulated pictures of a table that is being set up: calibration board, mat, pieces, start position."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from functools import cache
from threading import Lock

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit
from calibration.lens import DEFAULT_BOARD, charuco
from companion.rules.game import Game
from companion.simulate.ground import Picture
from companion.simulate.light import WINDOW
from companion.simulate.placement import make_rng, set_up, upright
from companion.simulate.render import Renderer
from companion.simulate.sprite import Scene
from companion.simulate.viewpoint import default_camera, default_pose
from vision.capture.frames import Frame

FPS = 5.0
TEXELS_PER_MM = 4
WALL = 150
"""Grey code of the background behind the board."""

NOISE_CODES = 2.0
SHIFTS = 64
"""The noise of a picture is a window of a larger field, at one of this many offsets in each direction: drawing a new
field takes over ten times as long."""

HOLDS = (
    # x, y and distance of the board's middle from the lens in mm; rotation about x, y, z in degrees
    (0, 0, 420, 0, 0, 0),
    (-110, -50, 420, 18, -20, 4),
    (110, -50, 420, 18, 22, -5),
    (-110, 55, 420, -20, -20, 8),
    (110, 55, 420, -20, 20, 2),
    (0, 0, 330, 8, 12, 30),
    (-60, 20, 560, 30, 5, 0),
    (60, -20, 560, -28, -12, 12),
    (-130, 0, 480, 4, 32, 90),
    (130, 0, 480, 6, -32, 88),
)
"""Poses in which the board is held, one for each photograph in turn."""


class Photographer:
    """A :class:`vision.capture.frames.FrameSource` that shows the stage of the setup named by ``scene``."""

    def __init__(
        self,
        kit: Kit,
        game: Game,
        wait: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``wait`` sleeps this many seconds between frames; ``clock`` gives seconds from any origin."""
        self.camera = default_camera()
        self.scene, self.taken = "camera", 0
        self._kit, self._game, self._wait, self._clock = kit, game, wait, clock
        self._drawing = Lock()
        self._rng = np.random.default_rng(1)
        field = (self.camera.height_px + SHIFTS, self.camera.width_px + SHIFTS, 1)
        self._noise = np.repeat(np.rint(self._rng.normal(0, NOISE_CODES, field)).astype(np.int16), 3, axis=2)
        self._closed = False

    def show(self, scene: str, taken: int) -> None:
        """Set what the camera sees from now on: ``lens`` after ``taken`` photographs, ``mat``, or others."""
        self.scene, self.taken = scene, taken

    def frames(self) -> Iterator[Frame]:
        """Frames until the source is closed."""
        begun_s = self._clock()
        for seq in itertools.count():
            if self._closed:
                return
            taken_s = self._clock() - begun_s
            yield Frame(self._noisy(self.still()), seq, taken_s)
            self._wait(1 / FPS)

    def close(self) -> None:
        """End :meth:`frames`."""
        self._closed = True

    def still(self) -> Picture:
        """The present scene without the camera's noise; the first call for each scene takes a while."""
        scene, taken = self.scene, self.taken
        with self._drawing:
            return self._still(scene, taken if scene == "lens" else 0)

    @cache  # noqa: B019 - no more pictures than scenes, for one set-up
    def _still(self, scene: str, taken: int) -> Picture:
        if scene == "lens":
            return board_held(self.camera, taken)
        start = self._game.table(self._game.start())
        levels = start.levels if start.levels is not None else self._game.layout.terrain or None
        stacks = {
            "pieces": tuple(self._kit.enrol.get(cell, "") for cell in self._kit.cells),
            "start": tuple(dict(zip(self._game.layout.cells, start.stacks, strict=True))[c] for c in self._kit.cells),
        }.get(scene, ("",) * len(self._kit.cells))
        pose = default_pose(self._kit, self.camera, levels or ())
        renderer = Renderer(Scene(self._kit, self.camera, pose, WINDOW))
        return renderer.picture(upright(set_up(stacks, levels, make_rng("still", 0))), 0)

    def _noisy(self, still: Picture) -> Picture:
        """``still`` with noise that differs from call to call, as a camera's does."""
        (top, left), (height, width) = self._rng.integers(SHIFTS, size=2), still.shape[:2]
        noise = self._noise[top : top + height, left : left + width]
        return np.asarray(cv2.add(still, noise, dtype=cv2.CV_8U), np.uint8)


def board_held(camera: Camera, number: int) -> Picture:
    """(height, width, 3) uint8 BGR: the calibration board in the ``number``-th of :data:`HOLDS`, through the lens."""
    x, y, distance, *turns = HOLDS[number % len(HOLDS)]
    width_mm = DEFAULT_BOARD.squares_x * DEFAULT_BOARD.square_mm
    height_mm = DEFAULT_BOARD.squares_y * DEFAULT_BOARD.square_mm
    size = (round(width_mm * TEXELS_PER_MM), round(height_mm * TEXELS_PER_MM))
    texture = np.asarray(charuco(DEFAULT_BOARD).generateImage(size), np.float32)
    rotation = np.eye(3)
    for axis, degrees in enumerate(turns):
        rotation = cv2.Rodrigues(np.eye(3)[axis] * np.radians(degrees))[0] @ rotation
    middle = np.array([width_mm / 2, height_mm / 2, 0.0])
    translation = np.array([x, y, distance]) - rotation @ middle
    # Board coordinates (mm) of the point that each pixel shows: the inverse of the board plane's homography.
    plane = np.linalg.inv(np.column_stack([rotation[:, 0], rotation[:, 1], translation]))
    rays = _rays(camera) @ plane.T
    u, v = ((rays[..., i] / rays[..., 2] * TEXELS_PER_MM - 0.5).astype(np.float32) for i in (0, 1))
    seen = cv2.remap(texture, u, v, cv2.INTER_AREA, borderMode=cv2.BORDER_CONSTANT, borderValue=(WALL,))
    soft = cv2.GaussianBlur(np.asarray(seen), (0, 0), 0.7)
    return np.repeat(np.clip(soft * 0.85 + 15, 0, 255).astype(np.uint8)[:, :, None], 3, axis=2)


def _rays(camera: Camera) -> npt.NDArray[np.float64]:
    """(height, width, 3) the viewing direction of each pixel, z = 1."""
    columns, rows = np.meshgrid(
        np.arange(camera.width_px, dtype=np.float64), np.arange(camera.height_px, dtype=np.float64)
    )
    pixels = np.stack([columns.ravel(), rows.ravel()], axis=1).reshape(-1, 1, 2)
    flat = np.asarray(cv2.undistortPoints(pixels, camera.matrix, camera.distortion)).reshape(-1, 2)
    rays = np.column_stack([flat, np.ones(len(flat))])
    return np.asarray(rays.reshape(camera.height_px, camera.width_px, 3), np.float64)
