"""A table that is being set up: what the camera shows, what has been measured, and what is written when all is right.

Every method may be called from any thread; one at a time works.  What goes wrong is a SetupError or a ProfileError,
one line for people.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event, Lock
from typing import Any, Protocol

import cv2
import numpy as np

from calibration.board_lens import TOO_STEEP, USABLE_FOCAL, BoardLens
from calibration.camera import Camera, format_camera
from calibration.kit import Kit
from calibration.lens import DEFAULT_BOARD, MIN_PHOTOS, LensCalibration, calibrate_lens, covered, find_board
from calibration.looks import SetLook, format_look, nominal_look
from calibration.measuring import Field, MeasuredBoard
from calibration.own_board import format_own_kit
from calibration.writing import write_whole
from companion.own_board import Wish, measure
from companion.rules.game import Game
from companion.web.setup.checked import Checked, told
from companion.web.setup.lens import lens_from
from companion.web.setup.newest import FRESH_S, Newest, SetupError
from vision.capture.frames import Frame, FrameSource
from vision.drawing import Picture, Viewpoint
from vision.enrolment import enrol
from vision.errors import VisionError
from vision.pose.markers import detect
from vision.pose.registration import to_gray
from vision.reader import Reader

ADVISED_PHOTOS = 8

DARK_CODE, BRIGHT_CODE, BRIGHT_SHARE = 45, 250, 0.12
"""Mean grey code under which a picture is dark; share of pixels over BRIGHT_CODE from which it is too bright."""

GOOD_PX = 0.5
"""Reprojection error up to which a lens is good: heights are told apart by a few pixels."""

SIMULATED = "simulate"
"""A table with this key brings its own camera and set."""

CAMERA_FILE, SET_FILE, TABLE_FILE, PHOTOS = "camera.toml", "set.toml", "table.toml", "lens"
KIT_FILE, EMPTY_FILE = "board.toml", "empty.jpg"


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
        self.is_written = self.is_own = False
        self.wants_match = Event()
        self._is_guessed = False
        self._why_no_lens = ""
        self._newest, self._scene = Newest(source, patience_s, clock), scene or (lambda _scene, _taken: None)
        self._corners: list[np.ndarray[Any, np.dtype[np.float32]]] = []
        self._photos: list[Path] = []
        self._reader: Reader | None = None
        self._empty: Picture | None = None
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
            self._is_guessed, self._why_no_lens = False, ""
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
        row = {"done": all(marker["found"] for marker in markers), "why": "", "markers": markers, "own": self.is_own}
        if self.camera is None:
            return row
        try:
            pose = self._need_reader().register(frame.image)
        except VisionError as error:
            return {**row, "done": False, "why": str(error)}
        return {**row, "error_px": round(pose.reprojection_px, 2)}

    def measure(self, field: Field, wish: Wish) -> dict[str, Any]:
        """Make the kit of somebody's own board from the corners of its playing field, and write it.

        Raises SetupError, ProfileError.
        """
        with self._lock:
            kit, board = measure(self.outfit.game, self.fresh().image, field, wish, self._measured_camera())
            if not board.fits:
                raise SetupError("the four corners do not fit the markers; point at them again")
            self.outfit = replace(self.outfit, kit=kit, keys={**self.outfit.keys, "kit": f'"{KIT_FILE}"'}, levels=())
            _write(self.outfit.folder / KIT_FILE, format_own_kit(kit).encode())
            self.is_own, self._empty, self.look = True, None, None
            self._keep_camera(board)
        return {**self.mat_row(), "fit_px": round(board.click_px, 1), "pitch_mm": [round(v, 1) for v in board.pitch_mm]}

    def learn_empty(self) -> dict[str, Any]:
        """Keep a picture of the empty board, and find the lens by its markers where none was measured before.

        Raises SetupError, ProfileError.
        """
        with self._lock:
            image, path = self.fresh().image, self.outfit.folder / EMPTY_FILE
            _write(path, cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 95])[1].tobytes())
            if self.camera is None:
                self._keep_camera(lens_from(self.outfit.kit, image))
            self._need_reader().register(image)
            self._empty = image
        return self.empty_row()

    def empty_row(self) -> dict[str, Any]:
        """Whether the empty board is known, and how well the lens is."""
        error = None if self.camera is None else round(self.camera.reprojection_px, 2)
        return {"done": self._empty is not None, "why": self._why_no_lens, "error_px": error}

    def learn_start(self) -> dict[str, Any]:
        """Learn the set's look from the start position, and write the set file.  Raises SetupError, VisionError."""
        with self._lock:
            image = self.fresh().image
            if self._is_guessed and not self.is_own and self._empty is not None:
                self._keep_camera(lens_from(self.outfit.kit, self._empty, image))
            self._learn(image, self._start_stacks(), self._empty)
        return self.start_row()

    def learn_pieces(self) -> dict[str, Any]:
        """Learn the set's look from the pieces on their squares, and write the set file.  Raises VisionError."""
        with self._lock:
            self._learn(self.fresh().image, self.outfit.kit.enrol, self._empty)
        return self.pieces_row()

    def _learn(self, image: Picture, stacks: Mapping[str, str], empty: Picture | None) -> None:
        """Learn from an image of ``stacks`` by cell, and the ``empty`` board where the kit names no colours of it."""
        camera, kit = self._need_camera(), self.outfit.kit
        known = [] if empty is None or kit.board.cell_colour is not None else [empty]
        shown = set("".join(stacks.values()))
        kinds = tuple(kind for kind in kit.pieces if kind.letter in shown or kind.glyph)
        look = enrol(image, replace(kit, pieces=kinds), camera, self.outfit.levels, stacks, known)
        # Kinds that the position lacks keep the kit's colours.
        self.look = replace(look, pieces={**nominal_look(kit).pieces, **look.pieces})
        self._reader = Reader(kit, camera, self.look, self.outfit.levels)
        _write(self.outfit.folder / SET_FILE, format_look(self.look).encode())

    def _start_stacks(self) -> Mapping[str, str]:
        """The stacks of the start position by cell."""
        game = self.outfit.game
        stacks = zip(game.layout.cells, game.table(game.start()).stacks, strict=True)
        return {cell: stack for cell, stack in stacks if stack}

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
        stacks = self._start_stacks()
        wanted_levels = self.outfit.levels if reading.levels else ()
        rows = []
        for i, cell in enumerate(reading.cells):
            (sight, p), wanted = reading.best(i), game.sight(stacks.get(cell, ""))
            expected, seen = told(wanted), told(sight)
            if reading.levels and wanted_levels:
                expected, seen = f"{expected}@{wanted_levels[i]}", f"{seen}@{reading.levels[i]}"
            row = {"cell": cell, "expected": expected, "seen": seen, "p": round(p, 3), "right": expected == seen}
            rows.append(row)
        return Checked(reading, geometry.pose, tuple(rows))

    def start_row(self) -> dict[str, Any]:
        """The start position, square by square, once the set is known."""
        known = self.look is not None
        unknown = {"done": False, "why": "", "wrong": [], "all": len(self.outfit.kit.cells), "learned": known}
        if not known:
            return unknown
        try:
            checked = self.check_start()
        except VisionError as error:
            return {**unknown, "why": str(error)}
        wrong = [row for row in checked.rows if not row["right"]]
        return {**unknown, "done": not wrong, "wrong": wrong, "all": len(checked.rows)}

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
        names = (KIT_FILE,) * self.is_own + (CAMERA_FILE, SET_FILE, TABLE_FILE)
        files = [name for name in names if (folder / name).is_file()]
        command = f"companion referee {folder / TABLE_FILE}"
        return {"done": self.is_written, "files": files, "folder": str(folder), "command": command}

    def sight(self, image: Picture, levels: tuple[int, ...] | None = None) -> Viewpoint:
        """How this picture was taken; ``levels``: of the pillars as read.  Raises SetupError, VisionError."""
        reader = self._need_reader()
        return Viewpoint(self.outfit.kit, reader.camera, reader.register(image), levels or self.outfit.levels or None)

    def begin_match(self) -> dict[str, Any]:
        """Write the files and let whoever started the set-up go on with the match.  Raises SetupError."""
        row = self.finish()
        self.wants_match.set()
        return row

    def _measured_camera(self) -> Camera | None:
        """The camera, where a calibration board or somebody before has told it."""
        return None if self._is_guessed else self.camera

    def _keep_camera(self, found: BoardLens | MeasuredBoard) -> None:
        """Take the camera that the board's markers have told, and write its file, unless a better one is known."""
        if self._measured_camera() is None:
            self._is_guessed = True
            self._why_no_lens = TOO_STEEP if found.focal_deviation > USABLE_FOCAL else ""
            self._take_camera(found.camera)
            _write(self.outfit.folder / CAMERA_FILE, format_camera(found.camera).encode())
        self._reader = None

    def _take_camera(self, camera: Camera) -> None:
        self.camera, self._reader = camera, None

    def _need_camera(self) -> Camera:
        if self.camera is None:
            raise SetupError("photograph the empty board first, or measure the lens")
        return self.camera

    def _need_reader(self) -> Reader:
        """The reader with what is known so far; Raises SetupError without a lens."""
        if self._reader is None:
            self._reader = Reader(
                self.outfit.kit, self._need_camera(), self.look or nominal_look(self.outfit.kit), self.outfit.levels
            )
        return self._reader


def _write(path: Path, data: bytes) -> None:
    """Write a file, its folder made if need be.  Raises SetupError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
    except OSError as error:
        raise SetupError(f"{path}: cannot be written ({error.strerror}); give another folder with -o") from error
