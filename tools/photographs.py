"""Read folders of photographs in one process: boards exact, squares wrong, and how long readings take.

    python -m tools.photographs                          # all folders of the collection beside the repository
    python -m tools.photographs --rounds 3 FOLDER…       # times are the least of three readings of a picture

Cameras and sets are calibrated by the program's own commands, and squares are asked for, as the collection's
score_read.py does it.  Times are processor time, of one thread: of a full reading whose pose is known, and of a
verification (``Reader.score``) of what was read against two tables in which the two squares least sure are other.
python-chess, timed before, tells how fast the machine is.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from calibration.camera import read_camera
from calibration.kit import Kit, load_kit
from calibration.picture import load_picture
from companion.app.ground import parse_levels, start_levels
from companion.cli import main as companion
from companion.commands.options.appearance import appearance_of
from companion.commands.read import squares
from tools.hidden import HIDDEN
from tools.score import SHARED
from tools.soak import wilson
from vision.capture.frames import Frame
from vision.reader import Levels, Reader
from vision.reading import CellState, Reading

SURE = 0.99
NESTING = set("qdw")
"""Pieces that hide how many of them a stack has."""

HEAD = """| folder | boards exact | squares wrong | with p ≥ 0.99 | full reading, ms: median / worst | verification |
| --- | --- | --- | --- | --- | --- |"""


@dataclass(frozen=True, slots=True)
class Way:
    """How pictures are read: lens from the board itself, set from the start position, readings of each picture."""

    lens_of_board: bool
    from_start: bool
    rounds: int


@dataclass(frozen=True, slots=True)
class Wrong:
    """A square that was misread: of which picture, what stands there, what was read, and with which probability."""

    image: str
    cell: str
    truth: str
    read: str
    p: float


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture: how many squares were asked for, how many of them are sure, which are wrong, and processor times."""

    asked: int
    sure: int
    wrong: tuple[Wrong, ...]
    reading_ms: float
    verification_ms: float


def main(words: Sequence[str] | None = None) -> int:
    """Print a row a folder, and the squares that were misread; 2 when there is no folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="readings of each picture")
    parser.add_argument("--lens", default=None, metavar="board", help="board: the lens from the board itself")
    parser.add_argument("--from-start", action="store_true", help="learn the set from start.jpg")
    told = parser.parse_args(words)
    folders = told.folders or sorted(file.parent for file in (SHARED / "photos").glob("*/truth.jsonl"))
    if not folders:
        print(f"{SHARED / 'photos'}: the collection of pictures is not here", file=sys.stderr)
        return 2
    cv2.setNumThreads(1)
    print(f"python-chess, same run: {_chess()}\n\n{HEAD}")
    way, of_all = Way(told.lens == "board", told.from_start, told.rounds), list[Shot]()
    with tempfile.TemporaryDirectory() as work:
        for folder in folders:
            shots = read_folder(folder, Path(work), way)
            print(row(folder.name, shots), flush=True)
            of_all += shots
    print(row("all", of_all), "", *_listed(of_all), sep="\n")
    return 0


def _chess() -> str:
    """How fast python-chess is, where it is installed (``make bench``)."""
    try:
        from tools.rules_bench import chess_plies_per_s  # noqa: PLC0415 - its libraries are of the benchmarks only
    except ImportError:
        return "not installed"
    return f"{chess_plies_per_s():,.0f} plies/s"


def read_folder(folder: Path, work: Path, way: Way) -> list[Shot]:
    """All pictures of a folder but those that it is calibrated from; ``work`` keeps cameras and sets."""
    truths = [json.loads(line) for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()]
    nests = {letter for truth in truths for stack in truth["table"].values() for letter in stack.lower()} <= NESTING
    shots = []
    for truth in truths:
        if truth["image"] == "enrol.jpg":
            continue
        kit_name = folder / "kit.toml" if (folder / "kit.toml").exists() else truth["kit"]
        camera = _camera(folder, kit_name, truth["rig"], work, way)
        appearance = _appearance(folder, kit_name, camera, work, way)
        kit = load_kit(str(kit_name))

        def reader(kit: Kit = kit, camera: Path = camera, appearance: Path = appearance) -> Reader:
            return Reader(kit, read_camera(camera), appearance_of(appearance, kit), start_levels(kit))

        shots.append(
            shoot(reader, load_picture(folder / truth["image"]), _levels(truth, kit), (truth, nests), way.rounds)
        )
    return shots


def _camera(folder: Path, kit: object, rig: str, work: Path, way: Way) -> Path:
    """The camera file, from the calibration board of the rig, or from the folder's own board."""
    file = work / (f"{folder.name}.camera.toml" if way.lens_of_board else f"{rig}.camera.toml")
    if not file.exists():
        lens = folder.parent / f"lens-{rig}"
        photos = (
            [folder / name for name in ("empty.jpg", "start.jpg", "enrol.jpg")] if way.lens_of_board else lens.iterdir()
        )
        known = ("--kit", kit) if way.lens_of_board else ("--board", lens / "charuco.toml")
        pictures = sorted(photo for photo in photos if photo.suffix in {".jpg", ".png"} and photo.exists())
        _run("calibrate", "lens", *known, *pictures, "-o", file)
    return file


def _appearance(folder: Path, kit: object, camera: Path, work: Path, way: Way) -> Path:
    """The set file, from single pieces or from the start position; of an own board with its empty photograph."""
    file = work / f"{folder.name}.set.toml"
    if not file.exists():
        empty = ("--empty", folder / "empty.jpg") if isinstance(kit, Path) and (folder / "empty.jpg").exists() else ()
        shown = ("--layout", "start", folder / "start.jpg") if way.from_start else (folder / "enrol.jpg",)
        _run("calibrate", "pieces", kit, "--camera", camera, *empty, *shown, "-o", file)
    return file


def _run(*words: object) -> None:
    """A command of the program; ends the run where it fails."""
    with contextlib.redirect_stdout(io.StringIO()):
        code = companion([str(word) for word in words])
    if code:
        sys.exit(f"companion {' '.join(map(str, words))}: exit code {code}")


def _levels(truth: dict[str, Any], kit: Kit) -> Levels | None:
    """The pillars' levels, unknown where the truth gives none; None for a kit without pillars."""
    if kit.pillars is None:
        return None
    if not truth.get("levels"):
        return (None,) * len(kit.cells)
    ranks = ("".join(f"{truth['levels'][file + rank]}," for file in "abcde").rstrip(",") for rank in "54321")
    return parse_levels("/".join(ranks), kit)


def shoot(
    make: Callable[[], Reader], image: Any, levels: Levels | None, known: tuple[dict[str, Any], bool], rounds: int
) -> Shot:
    """Read a picture; ``known``: what its truth says, and whether its pieces hide how many they are."""
    reader = make()
    reading, geometry = reader.read_with_geometry(Frame(image, 0, 0.0), levels)
    tables = _competing(reading)
    reading_ms, verification_ms = [], []
    for number in range(rounds):
        frame = Frame(image, 0, 1.0 + number)
        reading_ms.append(_spent_ms(lambda frame=frame: reader.read_at(frame, geometry, levels)))
        verification_ms.append(_spent_ms(lambda frame=frame: reader.score(frame, tables)))
    asked, sure, wrong = _held_against(reading, known[0], nests=known[1])
    return Shot(asked, sure, wrong, min(reading_ms), min(verification_ms))


def _spent_ms(call: Callable[[], object]) -> float:
    begun = time.process_time()
    call()
    return 1000 * (time.process_time() - begun)


def _competing(reading: Reading) -> list[list[CellState]]:
    """The table that was read, and two in which one of the two squares least sure is as the next likeliest state."""
    order = np.argsort(-reading.log_likelihood, axis=1)
    believed = [reading.states[row[0]] for row in order]
    doubtful = np.argsort(reading.log_likelihood.max(axis=1))[:2]
    others = ([*believed[:cell], reading.states[order[cell, 1]], *believed[cell + 1 :]] for cell in doubtful.tolist())
    return [believed, *others]


def _held_against(reading: Reading, truth: dict[str, Any], *, nests: bool) -> tuple[int, int, tuple[Wrong, ...]]:
    """How many squares of a reading were asked for, how many of those are sure, and which of them are wrong."""
    wrong, asked, sure = [], 0, 0
    for cell, seen in squares(reading).items():
        if truth["seen"].get(cell, 1.0) < HIDDEN:
            continue
        stack, height, top = truth["table"].get(cell, ""), seen["height"], seen.get("top")
        is_height = nests if height is None else height == len(stack)
        asked, sure = asked + 1, sure + (seen["p"] >= SURE)
        if not is_height or top != (stack[-1] if stack else None):
            wrong.append(Wrong(truth["image"], cell, stack or "-", f"{height or '-'}{top or ''}", seen["p"]))
    return asked, sure, tuple(wrong)


def row(name: str, shots: Sequence[Shot]) -> str:
    """A row of the table."""
    exact, wrong = sum(not shot.wrong for shot in shots), [one for shot in shots for one in shot.wrong]
    low, high = wilson(exact, len(shots))
    times = [shot.reading_ms for shot in shots]
    checks = [shot.verification_ms for shot in shots]
    return (
        f"| {name} | {exact} of {len(shots)} ({100 * low:.1f}–{100 * high:.1f} %) "
        f"| {len(wrong)} of {sum(shot.asked for shot in shots):,} "
        f"| {sum(one.p >= SURE for one in wrong)} of {sum(shot.sure for shot in shots):,} "
        f"| {statistics.median(times):.0f} / {max(times):.0f} | {statistics.median(checks):.0f} / {max(checks):.0f} |"
    )


def _listed(shots: Sequence[Shot]) -> list[str]:
    return [
        f"{one.image} {one.cell}: {one.truth} read as {one.read}, p {one.p:.3f}" for shot in shots for one in shot.wrong
    ]


if __name__ == "__main__":
    sys.exit(main())
