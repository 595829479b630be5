"""A table that is being set up: what the camera shows, what has been measured, and what is written when all is right.

Every method may be called from any thread; one at a time works.  What goes wrong is a SetupError or a ProfileError,
one line for people.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import cv2
import numpy as np

from calibration.camera import Camera, format_camera
from calibration.kit import Kit
from calibration.lens import DEFAULT_BOARD, MIN_PHOTOS, LensCalibration, calibrate_lens, covered, find_board
from calibration.looks import SetLook, format_look, nominal_look
from calibration.writing import write_whole
from companion.rules.game import Game
from companion.web.setup.newest import FRESH_S, Newest, SetupError
from vision.capture.frames import Frame, FrameSource
from vision.drawing import Picture, Viewpoint
from vision.enrolment import enrol
from vision.errors import VisionError
from vision.pose.markers import detect
from vision.pose.projection import Registration
from vision.pose.registration import to_gray
from vision.reader import Reader
from vision.reading import Reading

ADVISED_PHOTOS = 8

DARK_CODE, BRIGHT_CODE, BRIGHT_SHARE = 45, 250, 0.12
"""Mean grey code under which a picture is dark; share of pixels over BRIGHT_CODE from which it is too bright."""

GOOD_PX = 0.5
"""Reprojection error up to which a lens is good: heights are told apart by a few pixels."""

SIMULATED = "simulate"
"""A table with this key brings its own camera and set."""

CAMERA_FILE, SET_FILE, TABLE_FILE, PHOTOS = "camera.toml", "set.toml", "table.toml", "lens"


class Scene(Protocol):
    """Told what should be before the camera: a simulated table obeys."""

    def __call__(self, scene: str, taken: int) -> None:
        """Show this step, with so many photographs taken."""
        ...


@dataclass(frozen=True, slots=True)
class Outfit:
    """What is set up.

    Attributes:
        game: its rules.
        kit: the set.
        folder: where files are written.
        keys: of table.toml besides those that the set-up finds out, as TOML text by key.
        cues: tries of panel and voice by name; each shows itself when called.
        sensors: says what the pillars' controller tells now, in one line; None for a kit without pillars.
        levels: of terrain, or of the pillars at the start, in the order of the kit's cells; empty on a flat board.
    """

    game: Game
    kit: Kit
    folder: Path
    keys: Mapping[str, str]
    cues: Mapping[str, Callable[[], None]] = field(default_factory=dict)
    sensors: Callable[[], str] | None = None
    levels: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Checked:
    """The start position as it is read: squares with what they should hold, and what is seen."""

    reading: Reading
    pose: Registration
    rows: tuple[dict[str, Any], ...]

    @property
    def wrong(self) -> tuple[str, ...]:
        """The squares that are not right."""
        return tuple(row["cell"] for row in self.rows if not row["right"])


class Workshop:
    """One table on its way."""

    def __init__(
        self,
        outfit: Outfit,
        source: FrameSource,
        scene: Scene | None = None,
        *,
        patience_s: float = FRESH_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``source`` is closed with the workshop; ``clock``: seconds, from any beginning, as fast as the source's."""
        self.outfit = outfit
        self.camera: Camera | None = None
        self.look: SetLook | None = None
        self.lens: LensCalibration | None = None
        self.is_written = False
        self._newest, self._scene = Newest(source, patience_s, clock), scene or (lambda _scene, _taken: None)
        self._corners: list[np.ndarray[Any, np.dtype[np.float32]]] = []
        self._photos: list[Path] = []
        self._reader: Reader | None = None
        self._tried: list[str] = []
        self._lock = Lock()

    def close(self) -> None:
        """Let the camera go."""
        self._newest.close()

    def frame(self) -> Frame:
        """The newest picture.  Raises SetupError: there is none."""
        return self._newest.frame()

    def fresh(self) -> Frame:
        """A picture taken after this call, which people have posed for.  Raises SetupError: none comes."""
        return self._newest.fresh()

    def enter(self, step: str) -> None:
        """People have come to this step."""
        self._scene(step, len(self._photos))

    def camera_row(self) -> dict[str, Any]:
        """Size, light and sharpness of the newest picture."""
        image = self.frame().image
        gray = to_gray(image)
        mean, bright = float(gray.mean()), float((gray > BRIGHT_CODE).mean())
        why = ""
        if mean < DARK_CODE:
            why = "too dark: switch a lamp on"
        elif bright > BRIGHT_SHARE:
            why = "too bright: lower the exposure, or turn the lamp away"
        # The variance of the Laplacian: the usual measure of focus (Pech-Pacheco et al. 2000).
        sharpness = float(cv2.Laplacian(gray, cv2.CV_64F).var())
        height, width = gray.shape
        return {"done": not why, "why": why, "width": width, "height": height, "sharpness": round(sharpness)}

    def photograph(self) -> dict[str, Any]:
        """Keep the newest picture of the calibration board.  Raises SetupError when it shows too little of it."""
        with self._lock:
            image = self.fresh().image
            corners = find_board(image, DEFAULT_BOARD)
            if corners is None:
                raise SetupError("the calibration board is not seen, or too little of it: hold it flat, sharp and lit")
            folder = self.outfit.folder / PHOTOS
            path = folder / f"lens-{len(self._photos):02}.jpg"
            _write(path, cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 95])[1].tobytes())
            self._photos.append(path)
            self._corners.append(corners)
        self._scene("lens", len(self._photos))
        return self.lens_row()

    def forget_photographs(self) -> dict[str, Any]:
        """Begin the lens anew."""
        with self._lock:
            self._photos, self._corners, self.lens, self.camera = [], [], None, None
        self._scene("lens", 0)
        return self.lens_row()

    def measure_lens(self) -> dict[str, Any]:
        """Calibrate from the photographs and write the camera file.  Raises SetupError, ProfileError."""
        with self._lock:
            if len(self._photos) < MIN_PHOTOS:
                raise SetupError(f"take at least {MIN_PHOTOS} photographs first; {ADVISED_PHOTOS} are better")
            self.lens = calibrate_lens(tuple(self._photos), DEFAULT_BOARD)
            self._take_camera(self.lens.camera)
            _write(self.outfit.folder / CAMERA_FILE, format_camera(self.lens.camera).encode())
        return self.lens_row()

    def use_camera(self, camera: Camera) -> None:
        """Take a lens that was measured before."""
        with self._lock:
            self._take_camera(camera)

    def lens_row(self) -> dict[str, Any]:
        """How many photographs there are, what they cover, and how good the lens is."""
        frame = self._newest.last
        size = (1, 1) if frame is None else (frame.image.shape[1], frame.image.shape[0])
        parts = covered(self._corners, size)
        enough = len(self._photos) >= ADVISED_PHOTOS and parts.all()
        error = None if self.camera is None else round(self.camera.reprojection_px, 3)
        return {
            "done": self.camera is not None,
            "photos": len(self._photos),
            "advised": ADVISED_PHOTOS,
            "least": MIN_PHOTOS,
            "coverage": parts.tolist(),
            "enough": bool(enough),
            "error_px": error,
            "good": error is not None and error <= GOOD_PX,
        }

    def mat_row(self) -> dict[str, Any]:
        """Which markers of the mat are seen, and whether the mat can be measured by them."""
        kit, frame = self.outfit.kit, self.frame()
        found = detect(to_gray(frame.image), kit.mat.dictionary)
        markers = [{"id": marker.id, "found": marker.id in found} for marker in kit.mat.markers]
        try:
            pose = self._need_reader().register(frame.image)
        except VisionError as error:
            return {"done": False, "why": str(error), "markers": markers}
        row = {"why": "", "markers": markers, "error_px": round(pose.reprojection_px, 2)}
        return {**row, "done": all(marker["found"] for marker in markers)}

    def learn_pieces(self) -> dict[str, Any]:
        """Learn the set's look from the pieces on their squares, and write the set file.  Raises VisionError."""
        with self._lock:
            camera = self._need_camera()
            self.look = enrol(self.fresh().image, self.outfit.kit, camera, self.outfit.levels)
            self._reader = Reader(self.outfit.kit, camera, self.look, self.outfit.levels)
            _write(self.outfit.folder / SET_FILE, format_look(self.look).encode())
        return self.pieces_row()

    def pieces_row(self) -> dict[str, Any]:
        """Which piece belongs on which square for learning, and whether the set is known."""
        kit = self.outfit.kit
        colours = {kind.letter: "#" + bytes(kind.colour).hex() for kind in kit.pieces}
        return {"done": self.look is not None, "cells": dict(kit.enrol), "colours": colours}

    def check_start(self) -> Checked:
        """Compare what is seen with the start position.  Raises SetupError, VisionError."""
        with self._lock:
            reader, frame, game = self._need_reader(), self.fresh(), self.outfit.game
            unknown = None if self.outfit.kit.pillars is None else (None,) * len(self.outfit.kit.cells)
            reading, geometry = reader.read_with_geometry(frame, unknown, self.outfit.levels or None)
        stacks = dict(zip(game.layout.cells, game.table(game.start()).stacks, strict=True))
        wanted_levels = self.outfit.levels if reading.levels else ()
        rows = []
        for i, cell in enumerate(reading.cells):
            (sight, p), wanted = reading.best(i), game.sight(stacks[cell])
            expected, seen = _told(wanted), _told(sight)
            if reading.levels and wanted_levels:
                expected, seen = f"{expected}@{wanted_levels[i]}", f"{seen}@{reading.levels[i]}"
            row = {"cell": cell, "expected": expected, "seen": seen, "p": round(p, 3), "right": expected == seen}
            rows.append(row)
        return Checked(reading, geometry.pose, tuple(rows))

    def start_row(self) -> dict[str, Any]:
        """The start position, square by square."""
        try:
            checked = self.check_start()
        except VisionError as error:
            return {"done": False, "why": str(error), "wrong": [], "all": len(self.outfit.kit.cells)}
        wrong = [row for row in checked.rows if not row["right"]]
        return {"done": not wrong, "why": "", "wrong": wrong, "all": len(checked.rows)}

    def panel_row(self) -> dict[str, Any]:
        """What can be tried of the panel, and what the sensors say."""
        sensors = None if self.outfit.sensors is None else self.outfit.sensors()
        return {
            "done": bool(self._tried),
            "cues": list(self.outfit.cues),
            "tried": list(self._tried),
            "sensors": sensors,
        }

    def try_cue(self, name: str) -> dict[str, Any]:
        """Let the panel show something.  Raises SetupError."""
        if name not in self.outfit.cues:
            raise SetupError(f"the panel has no {name!r}; it has {', '.join(self.outfit.cues)}")
        self.outfit.cues[name]()
        self._tried.append(name)
        return self.panel_row()

    def finish(self) -> dict[str, Any]:
        """Write table.toml.  Raises SetupError as long as camera or set are not known."""
        self._need_camera()
        if self.look is None:
            raise SetupError("let the program learn the pieces first")
        keys = {"game": f'"{self.outfit.game.tag}"', **self.outfit.keys}
        if SIMULATED not in keys:
            keys |= {"camera": f'"{CAMERA_FILE}"', "set": f'"{SET_FILE}"'}
        head = "# One table, made by `companion setup`; docs/table.md tells of every key.\n"
        _write(self.outfit.folder / TABLE_FILE, (head + "".join(f"{k} = {v}\n" for k, v in keys.items())).encode())
        self.is_written = True
        return self.done_row()

    def done_row(self) -> dict[str, Any]:
        """What has been written, and how the table is started."""
        folder = self.outfit.folder
        files = [name for name in (CAMERA_FILE, SET_FILE, TABLE_FILE) if (folder / name).is_file()]
        command = f"companion referee {folder / TABLE_FILE}"
        return {"done": self.is_written, "files": files, "folder": str(folder), "command": command}

    def sight(self, image: Picture, levels: tuple[int, ...] | None = None) -> Viewpoint:
        """How this picture was taken; ``levels``: of the pillars as read.  Raises SetupError, VisionError."""
        reader = self._need_reader()
        return Viewpoint(self.outfit.kit, reader.camera, reader.register(image), levels or self.outfit.levels or None)

    def _take_camera(self, camera: Camera) -> None:
        self.camera, self._reader = camera, None

    def _need_camera(self) -> Camera:
        if self.camera is None:
            raise SetupError("measure the lens first")
        return self.camera

    def _need_reader(self) -> Reader:
        """The reader with what is known so far; Raises SetupError without a lens."""
        if self._reader is None:
            self._reader = Reader(
                self.outfit.kit, self._need_camera(), self.look or nominal_look(self.outfit.kit), self.outfit.levels
            )
        return self._reader


def _told(sight: tuple[int | None, str | None]) -> str:
    height, top = sight
    return "" if top is None else f"{'?' if height is None else height}{top}"


def _write(path: Path, data: bytes) -> None:
    """Write a file, its folder made if need be.  Raises SetupError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
    except OSError as error:
        raise SetupError(f"{path}: cannot be written ({error.strerror}); give another folder with -o") from error
