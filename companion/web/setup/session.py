"""A table that is being set up: its camera, what has been measured, and the files that are written.

Every method may be called from any thread; only one works at a time.  Failures are a SetupError or a ProfileError, with
one line for people.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from threading import Event, Lock
from typing import Any

from calibration.appearance import SetAppearance, format_appearance, nominal_appearance
from calibration.board_lens import TOO_STEEP, BoardLens
from calibration.camera import Camera, format_camera
from calibration.kit import Kit
from calibration.measuring import Field, MeasuredBoard
from calibration.own_board import format_own_kit
from calibration.piece_sizes import Size, with_sizes
from companion.own_board import BoardOptions, appearance_fault, measure, with_measured_pieces
from companion.web.setup.calibration_photos import CalibrationPhotos
from companion.web.setup.cameras import CAMERA_KEYS, Cameras, Choice, Missing
from companion.web.setup.config import Scene, SetupConfig
from companion.web.setup.files import write, write_picture, write_table
from companion.web.setup.latest_frame import FRESH_S, LatestFrame, SetupError
from companion.web.setup.lens import lens_from
from companion.web.setup.light import light_row
from companion.web.setup.sizes import UNSIZED, Sizing
from companion.web.setup.start_check import StartCheck, compare
from vision.capture.frames import Frame, FrameSource, SourceLost
from vision.drawing import Picture, Viewpoint
from vision.enrolment import enrol
from vision.errors import VisionError
from vision.pose.markers import detect
from vision.pose.registration import to_gray
from vision.reader import Reader

SIMULATED = "simulate"
"""Key of table.toml for a simulated table, which has its own camera and set."""

CAMERA_FILE, SET_FILE, TABLE_FILE, PHOTOS = "camera.toml", "set.toml", "table.toml", "lens"
KIT_FILE, EMPTY_FILE = "board.toml", "empty.jpg"


class SetupSession:
    """One table that is being set up."""

    def __init__(
        self,
        config: SetupConfig,
        source: FrameSource,
        scene: Scene | None = None,
        *,
        cameras: Cameras | None = None,
        patience_s: float = FRESH_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``cameras`` may replace ``source``; ``clock`` gives seconds from any origin, at the source's rate."""
        self.config = config
        self.camera: Camera | None = None
        self.appearance: SetAppearance | None = None
        self.chosen: Choice | None = None
        self.is_written = self.is_own = False
        self.wants_match = Event()
        self._is_guessed, self._sizing = False, Sizing()
        self._why_no_lens = self._fault = ""
        self._fit: dict[str, Any] = {}
        self._cameras, self._opened = cameras or Cameras(), partial(LatestFrame, patience_s=patience_s, clock=clock)
        self._newest, self._scene = self._opened(source), scene or (lambda _scene, _taken: None)
        self._views = CalibrationPhotos(config.folder / PHOTOS)
        self._reader: Reader | None = None
        self._empty: Picture | None = None
        self._tried: list[str] = []
        self._lock = Lock()

    def close(self) -> None:
        """Release the camera."""
        self._newest.close()

    def frame(self) -> Frame:
        """The newest picture.  Raises SetupError if there is none."""
        return self._newest.frame()

    def fresh(self) -> Frame:
        """A picture taken after this call, for which people have posed.  Raises SetupError if none comes."""
        return self._newest.fresh()

    def enter(self, step: str) -> None:
        """Note that people have reached this step."""
        self._views.is_collecting &= step == "lens"
        self._scene(step, len(self._views.photos))

    def choose(self, choice: Choice) -> dict[str, Any]:
        """Use another camera from now on, and forget what was learned through the previous one.

        Raises SetupError when there is no such camera; then none is in use.
        """
        with self._lock:
            self._newest.close()
            if self.chosen not in (None, choice):
                self._forget()
            try:
                opened = self._cameras.opened(choice, self.camera)
            except SourceLost as error:
                self._newest, self.chosen = self._opened(Missing(str(error))), None
                raise SetupError(str(error)) from error
            self._newest, self.chosen = self._opened(opened.source), choice
            others = {key: value for key, value in self.config.keys.items() if key not in CAMERA_KEYS}
            self.config = replace(self.config, keys={**others, **opened.keys})
        return self.camera_row()

    def _forget(self) -> None:
        self._views, self._empty, self.camera, self.appearance = (
            CalibrationPhotos(self.config.folder / PHOTOS),
            None,
            None,
            None,
        )
        self._reader, self._is_guessed, self._why_no_lens, self._fault = None, False, "", ""
        self._sizing = replace(self._sizing, measured=())

    def camera_row(self) -> dict[str, Any]:
        """The cameras that may be chosen; size, brightness and sharpness of the newest picture."""
        offered = self._cameras.rows(self.chosen)
        try:
            return {**light_row(self.frame().image), "cameras": offered}
        except SetupError as error:
            return {"done": False, "why": str(error), "cameras": offered}

    def photograph(self) -> dict[str, Any]:
        """Keep the newest picture of the calibration board.  Raises SetupError when it shows too little of it."""
        with self._lock:
            self._views.is_collecting = False
            self._views.photograph(self.fresh().image)
        self._scene("lens", len(self._views.photos))
        return self.lens_row()

    def collect(self) -> dict[str, Any]:
        """Start keeping good views of the calibration board automatically until there are enough, or stop it."""
        with self._lock:
            views = self._views
            views.is_collecting, views.trouble = not views.is_collecting, ""
            self._newest.observer = self._collect
        return self.lens_row()

    def _collect(self, frame: Frame) -> None:
        if self._views.is_collecting and self._views.collect(frame):
            self._scene("lens", len(self._views.photos))

    def note(self) -> Mapping[str, int]:
        """Progress for whoever moves the camera (:meth:`CalibrationPhotos.note`)."""
        return self._views.note(None if self._newest.last is None else self._newest.last.image)

    def forget_photographs(self) -> dict[str, Any]:
        """Discard the photographs and the lens."""
        with self._lock:
            self._views, self.camera = CalibrationPhotos(self.config.folder / PHOTOS), None
        self._scene("lens", 0)
        return self.lens_row()

    def measure_lens(self) -> dict[str, Any]:
        """Calibrate from the photographs and write the camera file.  Raises SetupError, ProfileError."""
        with self._lock:
            self._views.is_collecting = False
            camera = self._views.calibrated().camera
            self._is_guessed, self._why_no_lens = False, ""
            self.camera, self._reader = camera, None
            write(self.config.folder / CAMERA_FILE, format_camera(camera).encode())
        return self.lens_row()

    def use_camera(self, camera: Camera) -> None:
        """Use a lens that was measured before."""
        with self._lock:
            self.camera, self._reader = camera, None

    def lens_row(self) -> dict[str, Any]:
        """The number of photographs, what they cover, and the quality of the lens measured from them or read."""
        frame = self._newest.last
        return self._views.row(None if frame is None else frame.image, self._measured_camera())

    def mat_row(self) -> dict[str, Any]:
        """Which markers of the mat are detected, and whether the mat is right."""
        kit, frame = self.config.kit, self.frame()
        found = detect(to_gray(frame.image), kit.mat.dictionary)
        markers = [{"id": marker.id, "found": marker.id in found} for marker in kit.mat.markers]
        done = all(marker["found"] for marker in markers) and not self._fault
        row = {"done": done, "why": self._fault, "markers": markers, "own": self.is_own, **self._fit}
        if self.camera is None:
            return row
        try:
            pose = self._need_reader().register(frame.image)
        except VisionError as error:
            return {**row, "done": False, "why": str(error)}
        return {**row, "error_px": round(pose.reprojection_px, 2)}

    def measure(self, field: Field) -> dict[str, Any]:
        """Make the kit of a user's own board from the corners of its playing field, and write it.

        Raises SetupError, ProfileError.
        """
        with self._lock:
            image = self.fresh().image
            kit, board = measure(self.config.game, image, field, BoardOptions(), self._measured_camera())
            if not board.is_consistent:
                raise SetupError("the four corners do not fit the markers; point at them again")
            self.config = replace(self.config, kit=kit, keys={**self.config.keys, "kit": f'"{KIT_FILE}"'}, levels=())
            write(self.config.folder / KIT_FILE, format_own_kit(kit).encode())
            self.is_own, self._empty, self.appearance = True, None, None
            self._sizing = Sizing()
            self._keep_camera(board)
            self._fault = appearance_fault(kit, self._need_camera(), image)
            self._fit = {"fit_px": round(board.click_px, 1), "pitch_mm": [round(v, 1) for v in board.pitch_mm]}
        return self.mat_row()

    def learn_empty(self) -> dict[str, Any]:
        """Keep a picture of the empty board, and find the lens from its markers if none was measured before.

        Raises SetupError, ProfileError.
        """
        with self._lock:
            image, path = self.fresh().image, self.config.folder / EMPTY_FILE
            write_picture(path, image)
            if self.camera is None:
                self._keep_camera(lens_from(self.config.kit, image))
            self._need_reader().register(image)
            self._empty = image
            self._fault = appearance_fault(self.config.kit, self._need_camera(), image)
        return self.empty_row()

    def empty_row(self) -> dict[str, Any]:
        """Whether the empty board is known, and the lens's reprojection error."""
        error = None if self.camera is None else round(self.camera.reprojection_px, 2)
        done = self._empty is not None and not self._fault
        return {"done": done, "why": self._fault or self._why_no_lens, "error_px": error}

    def learn_start(self) -> dict[str, Any]:
        """Learn the set's appearance from the start position; write the set file.  Raises SetupError, VisionError."""
        with self._lock:
            image = self.fresh().image
            if self._is_guessed and not self.is_own and self._empty is not None:
                self._keep_camera(lens_from(self.config.kit, self._empty, image))
            if self.is_own and not self._sizing.is_given:
                self._size(image)
            self._learn(image, self._start_stacks(), self._empty)
        return self.start_row()

    def resize(self, told: Mapping[str, Size]) -> dict[str, Any]:
        """Set the sizes of an own board's pieces as measured by somebody, and learn the start position again.

        Raises SetupError, ProfileError, VisionError.
        """
        with self._lock:
            if not self.is_own:
                raise SetupError("point at the four corners of the playing field")
            self._use_sizes(with_sizes(self.config.kit, told), Sizing(is_given=True))
        return self.start_row() if self.appearance is None else self.learn_start()

    def _use_sizes(self, kit: Kit, sizing: Sizing) -> None:
        self.config, self._sizing, self._reader = replace(self.config, kit=kit), sizing, None
        write(self.config.folder / KIT_FILE, format_own_kit(kit).encode())

    def _size(self, image: Picture) -> None:
        """Set the pieces' sizes, if nobody has given them, to those measured in the start position."""
        if self._empty is None:
            return
        stacks, config = self._start_stacks(), self.config
        try:
            kit, sizes = with_measured_pieces(
                config.kit, self._need_camera(), self._empty, image, stacks, config.levels
            )
        except VisionError:  # They keep their sizes relative to the squares of the game's own kit; somebody is asked.
            return
        self._use_sizes(kit, Sizing(measured=sizes))

    def learn_pieces(self) -> dict[str, Any]:
        """Learn the set's appearance from the pieces on their squares; write the set file.  Raises VisionError."""
        with self._lock:
            self._learn(self.fresh().image, self.config.kit.enrol, self._empty)
        return self.pieces_row()

    def _learn(self, image: Picture, stacks: Mapping[str, str], empty: Picture | None) -> None:
        """Learn from an image of ``stacks`` by cell, and of the ``empty`` board if the kit has no colours for it."""
        camera, kit = self._need_camera(), self.config.kit
        known = [] if empty is None or kit.board.cell_colour is not None else [empty]
        shown = set("".join(stacks.values()))
        kinds = tuple(kind for kind in kit.pieces if kind.letter in shown or kind.glyph)
        appearance = enrol(image, replace(kit, pieces=kinds), camera, self.config.levels, stacks, known)
        # Kinds that are not in the position keep the kit's colours.
        self.appearance = replace(appearance, pieces={**nominal_appearance(kit).pieces, **appearance.pieces})
        self._reader = Reader(kit, camera, self.appearance, self.config.levels)
        write(self.config.folder / SET_FILE, format_appearance(self.appearance).encode())

    def _start_stacks(self) -> Mapping[str, str]:
        """The stacks of the start position by cell."""
        game = self.config.game
        stacks = zip(game.layout.cells, game.table(game.start()).stacks, strict=True)
        return {cell: stack for cell, stack in stacks if stack}

    def pieces_row(self) -> dict[str, Any]:
        """Which piece belongs on which square for learning, and whether the set's appearance is known."""
        kit = self.config.kit
        colours = {kind.letter: "#" + bytes(kind.colour).hex() for kind in kit.pieces}
        return {"done": self.appearance is not None, "cells": dict(kit.enrol), "colours": colours, **self._doubts()}

    def _doubts(self) -> dict[str, list[str]]:
        """Letters of the kinds of pieces that were not found, and of pairs of kinds that are hardly told apart."""
        appearance = self.appearance
        return {
            "not_found": [] if appearance is None else list(appearance.not_found),
            "alike": [] if appearance is None else list(appearance.alike),
        }

    def check_start(self) -> StartCheck:
        """Compare what the camera sees with the start position.  Raises SetupError, VisionError."""
        with self._lock:
            reader, frame, game = self._need_reader(), self.fresh(), self.config.game
            unknown = None if self.config.kit.pillars is None else (None,) * len(self.config.kit.cells)
            reading, geometry = reader.read_with_geometry(frame, unknown, self.config.levels or None)
        stacks = self._start_stacks()
        wanted = {cell: game.sight(stacks.get(cell, "")) for cell in reading.cells}
        return compare(reading, geometry.pose, wanted, self.config.levels)

    def start_row(self) -> dict[str, Any]:
        """The squares of the start position that are wrong, once the set's appearance is known."""
        known = self.appearance is not None
        cells = len(self.config.kit.cells)
        unknown = {"done": False, "why": "", "wrong": [], "all": cells, "learned": known, **self._doubts()}
        if self.is_own:
            unknown["sizes"] = self._sizing.row(self.config.kit)
        if not known:
            return unknown
        try:
            checked = self.check_start()
        except VisionError as error:
            return {**unknown, "why": str(error)}
        wrong = [row for row in checked.rows if not row["right"]]
        why = checked.reading.mismatch or self._fault
        if self.is_own and not (wrong or why or self._sizing.is_known(self.config.kit)):
            why = UNSIZED
        return {**unknown, "done": not wrong and why != UNSIZED, "wrong": wrong, "why": why}

    def panel_row(self) -> dict[str, Any]:
        """What can be tried on the panel, and the state of the sensors."""
        sensors = None if self.config.sensors is None else self.config.sensors()
        cues, tried = list(self.config.cues), list(self._tried)
        return {"done": bool(tried), "cues": cues, "tried": tried, "sensors": sensors}

    def try_cue(self, name: str) -> dict[str, Any]:
        """Show one of the cues on the panel.  Raises SetupError."""
        if name not in self.config.cues:
            raise SetupError(f"the panel has no {name!r}; it has {', '.join(self.config.cues)}")
        self.config.cues[name]()
        self._tried.append(name)
        return self.panel_row()

    def finish(self) -> dict[str, Any]:
        """Write table.toml.  Raises SetupError unless the camera and the set's appearance are known."""
        self._need_camera()
        if self.appearance is None:
            raise SetupError("let the program learn the pieces first")
        keys = {"game": f'"{self.config.game.tag}"', **self.config.keys}
        if SIMULATED not in keys:
            keys |= {"camera": f'"{CAMERA_FILE}"', "set": f'"{SET_FILE}"'}
        write_table(self.config.folder / TABLE_FILE, keys)
        self.is_written = True
        return self.done_row()

    def done_row(self) -> dict[str, Any]:
        """The files that have been written, and the command that starts the table."""
        folder = self.config.folder
        names = (KIT_FILE,) * self.is_own + (CAMERA_FILE, SET_FILE, TABLE_FILE)
        files = [name for name in names if (folder / name).is_file()]
        command = f"companion referee {folder / TABLE_FILE}"
        return {"done": self.is_written, "files": files, "folder": str(folder), "command": command}

    def sight(self, image: Picture, levels: tuple[int, ...] | None = None) -> Viewpoint:
        """The viewpoint of this picture; ``levels``: of the pillars as read.  Raises SetupError, VisionError."""
        reader = self._need_reader()
        return Viewpoint(self.config.kit, reader.camera, reader.register(image), levels or self.config.levels or None)

    def begin_match(self) -> dict[str, Any]:
        """Write the files and signal that the match may start.  Raises SetupError."""
        row = self.finish()
        self.wants_match.set()
        return row

    def _measured_camera(self) -> Camera | None:
        """The camera, if it was calibrated or given; None if it is unknown or only estimated from the board."""
        return None if self._is_guessed else self.camera

    def _keep_camera(self, found: BoardLens | MeasuredBoard) -> None:
        """Use the camera found from the board's markers, and write its file, unless a measured one is known."""
        if self._measured_camera() is None:
            self._is_guessed = True
            self._why_no_lens = "" if found.is_known else TOO_STEEP
            self.camera = found.camera
            write(self.config.folder / CAMERA_FILE, format_camera(found.camera).encode())
        self._reader = None

    def _need_camera(self) -> Camera:
        if self.camera is None:
            raise SetupError("photograph the empty board first, or measure the lens")
        return self.camera

    def _need_reader(self) -> Reader:
        """The reader with what is known so far.  Raises SetupError without a lens."""
        if self._reader is None:
            appearance = self.appearance or nominal_appearance(self.config.kit)
            self._reader = Reader(self.config.kit, self._need_camera(), appearance, self.config.levels)
        return self._reader
