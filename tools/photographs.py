"""Read folders of photographs in one process: exact boards, wrong squares, and processor times of readings.

    python -m tools.photographs                          # all folders of the collection beside the repository
    python -m tools.photographs --rounds 3 FOLDER…       # times are the minimum of three readings
    python -m tools.photographs --haze 0.1 FOLDER…       # through a lens that scatters a tenth of white paper's light
    python -m tools.photographs --shadow 0.15 FOLDER…    # half of each in a shadow that leaves 0.15 of the light

Cameras and sets are calibrated by the program's own commands, and squares are scored, like in the collection's
score_read.py; a picture that cannot be read counts as not exact.  Times are processor times of one thread: of a full
reading with known pose, and of a verification (``Reader.score``) of the table that was read against two alternatives,
which differ in one of the two least certain squares.  The speed of python-chess, printed first, shows how fast the
machine is.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
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
import numpy.typing as npt

from calibration.camera import read_camera
from calibration.kit import Kit, load_kit
from calibration.picture import load_picture
from companion.app.ground import parse_levels, start_levels
from companion.cli import main as companion
from companion.commands.options.appearance import appearance_of
from companion.commands.read import squares
from companion.simulate.light import to_linear, to_srgb
from tools.score import SHARED
from tools.shadows import half_shaded
from tools.soak import wilson
from tools.visibility import MIN_VISIBLE
from vision.capture.frames import Frame
from vision.errors import VisionError
from vision.reader import Levels, Reader
from vision.reading import CellState, Reading

CERTAIN = 0.99
NESTING = set("qdw")
"""Letters of the pieces that nest and so hide how many of them a stack has."""

HEAD = """| folder | boards exact | squares wrong | with p ≥ 0.99 | full reading, ms: median / worst | verification |
| --- | --- | --- | --- | --- | --- |"""


@dataclass(frozen=True, slots=True)
class Method:
    """How pictures are calibrated and read.

    Attributes:
        lens_of_board: calibrate the lens from the board itself.
        from_start: enrol the set from the start position.
        rounds: number of timed readings of each picture.
        haze: light added to the pictures that are read, as a share of that of a saturated pixel.
        shadow: share of the light that is left in half of each of them; 1 leaves them as they are.
    """

    lens_of_board: bool
    from_start: bool
    rounds: int
    haze: float = 0.0
    shadow: float = 1.0


@dataclass(frozen=True, slots=True)
class Misread:
    """A misread square: picture, cell, true stack, reading and its probability."""

    image: str
    cell: str
    truth: str
    read: str
    p: float


@dataclass(frozen=True, slots=True)
class Shot:
    """Results of a picture.

    Attributes:
        scored: number of scored squares.
        certain: number of those that were read with certainty.
        wrong: the misread ones.
        reading_ms: processor time of a full reading with known pose, NaN if the picture was not read.
        verification_ms: processor time of a verification, NaN if the picture was not read.
        fault: why the picture was not read, "" if it was.
    """

    scored: int
    certain: int
    wrong: tuple[Misread, ...]
    reading_ms: float
    verification_ms: float
    fault: str = ""


def main(argv: Sequence[str] | None = None) -> int:
    """Print a row per folder and all misread squares; return 2 if there is no folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="timed readings of each picture")
    parser.add_argument("--lens", default=None, metavar="board", help="board: calibrate the lens from the board itself")
    parser.add_argument("--from-start", action="store_true", help="enrol the set from start.jpg")
    parser.add_argument(
        "--haze", type=float, default=0.0, metavar="SHARE", help="light added to pictures, 0…1 of white"
    )
    parser.add_argument(
        "--shadow", type=float, default=1.0, metavar="SHARE", help="share of the light left in half of each picture"
    )
    options = parser.parse_args(argv)
    folders = options.folders or sorted(file.parent for file in (SHARED / "photos").glob("*/truth.jsonl"))
    if not folders:
        print(f"{SHARED / 'photos'}: the collection of pictures is not here", file=sys.stderr)
        return 2
    cv2.setNumThreads(1)
    print(f"python-chess, same run: {_chess()}\n\n{HEAD}")
    method = Method(options.lens == "board", options.from_start, options.rounds, options.haze, options.shadow)
    all_shots: list[Shot] = []
    with tempfile.TemporaryDirectory() as work:
        for folder in folders:
            shots = read_folder(folder, Path(work), method)
            print(row(folder.name, shots), flush=True)
            all_shots += shots
    print(row("all", all_shots), "", *_listed(all_shots), sep="\n")
    return 0


def _chess() -> str:
    """The speed of python-chess, if it is installed (``make bench``)."""
    try:
        from tools.rules_bench import chess_plies_per_s  # noqa: PLC0415 - its libraries are installed for benchmarks only
    except ImportError:
        return "not installed"
    return f"{chess_plies_per_s():,.0f} plies/s"


def read_folder(folder: Path, work: Path, method: Method) -> list[Shot]:
    """Read all pictures of a folder except enrol.jpg; calibration files are kept in ``work``."""
    truths = [json.loads(line) for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()]
    nesting = {letter for truth in truths for stack in truth["table"].values() for letter in stack.lower()} <= NESTING
    shots = []
    for truth in truths:
        if truth["image"] == "enrol.jpg":
            continue
        kit_name = folder / "kit.toml" if (folder / "kit.toml").exists() else truth["kit"]
        camera = _camera(folder, kit_name, truth["rig"], work, method)
        appearance = _appearance(folder, kit_name, camera, work, method)
        kit = load_kit(str(kit_name))

        def reader(kit: Kit = kit, camera: Path = camera, appearance: Path = appearance) -> Reader:
            return Reader(kit, read_camera(camera), appearance_of(appearance, kit), start_levels(kit))

        image = hazy(load_picture(folder / truth["image"]), method.haze)
        if method.shadow < 1:
            image = half_shaded(image, method.shadow, truth["image"])
        try:
            shots.append(shoot(reader, image, _levels(truth, kit), (truth, nesting), method.rounds))
        except VisionError as error:
            shots.append(Shot(0, 0, (), math.nan, math.nan, f"{truth['image']}: {error}"))
    return shots


def hazy(image: npt.NDArray[np.uint8], haze: float) -> npt.NDArray[np.uint8]:
    """A picture (height, width, 3) uint8 with veiling glare, as a share of the light of a saturated pixel."""
    return np.rint(to_srgb(to_linear(image) + haze)).astype(np.uint8) if haze else image


def _camera(folder: Path, kit: object, rig: str, work: Path, method: Method) -> Path:
    """Path of the camera file, calibrated from the rig's calibration board or from the folder's own board."""
    file = work / (f"{folder.name}.camera.toml" if method.lens_of_board else f"{rig}.camera.toml")
    if not file.exists():
        lens = folder.parent / f"lens-{rig}"
        photos = (
            [folder / name for name in ("empty.jpg", "start.jpg", "enrol.jpg")]
            if method.lens_of_board
            else lens.iterdir()
        )
        known = ("--kit", kit) if method.lens_of_board else ("--board", lens / "charuco.toml")
        pictures = sorted(photo for photo in photos if photo.suffix in {".jpg", ".png"} and photo.exists())
        _run("calibrate", "lens", *known, *pictures, "-o", file)
    return file


def _appearance(folder: Path, kit: object, camera: Path, work: Path, method: Method) -> Path:
    """Path of the set file, enrolled from single pieces or the start position; own boards also use empty.jpg."""
    file = work / f"{folder.name}.set.toml"
    if not file.exists():
        empty = ("--empty", folder / "empty.jpg") if isinstance(kit, Path) and (folder / "empty.jpg").exists() else ()
        photo_arguments = ("--layout", "start", folder / "start.jpg") if method.from_start else (folder / "enrol.jpg",)
        _run("calibrate", "pieces", kit, "--camera", camera, *empty, *photo_arguments, "-o", file)
    return file


def _run(*arguments: object) -> None:
    """Run a command of the program; raise SystemExit if it fails."""
    with contextlib.redirect_stdout(io.StringIO()):
        code = companion([str(word) for word in arguments])
    if code:
        sys.exit(f"companion {' '.join(map(str, arguments))}: exit code {code}")


def _levels(truth: dict[str, Any], kit: Kit) -> Levels | None:
    """The pillars' levels, all unknown (None) if the truth gives none; None for a kit without pillars."""
    if kit.pillars is None:
        return None
    if not truth.get("levels"):
        return (None,) * len(kit.cells)
    ranks = ("".join(f"{truth['levels'][file + rank]}," for file in "abcde").rstrip(",") for rank in "54321")
    return parse_levels("/".join(ranks), kit)


def shoot(
    make_reader: Callable[[], Reader],
    image: Any,
    levels: Levels | None,
    known: tuple[dict[str, Any], bool],
    rounds: int,
) -> Shot:
    """Read, time and score a picture; ``known``: its ground truth, and whether all pieces of its folder nest.

    Raises VisionError if it cannot be read.
    """
    reader = make_reader()
    reading, geometry = reader.read_with_geometry(Frame(image, 0, 0.0), levels)
    tables = _competing_tables(reading)
    reading_ms, verification_ms = [], []
    for number in range(rounds):
        frame = Frame(image, 0, 1.0 + number)
        reading_ms.append(_cpu_ms(lambda frame=frame: reader.read_at(frame, geometry, levels)))
        verification_ms.append(_cpu_ms(lambda frame=frame: reader.score(frame, tables)))
    scored, certain, wrong = _compared(reading, known[0], nesting=known[1])
    return Shot(scored, certain, wrong, min(reading_ms), min(verification_ms))


def _cpu_ms(call: Callable[[], object]) -> float:
    """Processor time of one call."""
    begun_s = time.process_time()
    call()
    return 1000 * (time.process_time() - begun_s)


def _competing_tables(reading: Reading) -> list[list[CellState]]:
    """The likeliest table, and two in which one of the two least certain squares has its second likeliest state."""
    order = np.argsort(-reading.log_likelihood, axis=1)
    best_table = [reading.states[row[0]] for row in order]
    least_certain = np.argsort(reading.log_likelihood.max(axis=1))[:2]
    others = (
        [*best_table[:cell], reading.states[order[cell, 1]], *best_table[cell + 1 :]] for cell in least_certain.tolist()
    )
    return [best_table, *others]


def _compared(reading: Reading, truth: dict[str, Any], *, nesting: bool) -> tuple[int, int, tuple[Misread, ...]]:
    """Number of scored squares of a reading, of the certain ones among them, and the wrong ones.

    ``nesting``: an unknown height counts as right; otherwise as wrong.
    """
    wrong, scored, certain = [], 0, 0
    for cell, seen in squares(reading).items():
        if truth["seen"].get(cell, 1.0) < MIN_VISIBLE:
            continue
        stack, height, top = truth["table"].get(cell, ""), seen["height"], seen.get("top")
        is_height = nesting if height is None else height == len(stack)
        scored, certain = scored + 1, certain + (seen["p"] >= CERTAIN)
        if not is_height or top != (stack[-1] if stack else None):
            wrong.append(Misread(truth["image"], cell, stack or "-", f"{height or '-'}{top or ''}", seen["p"]))
    return scored, certain, tuple(wrong)


def row(name: str, shots: Sequence[Shot]) -> str:
    """A row of the table in Markdown."""
    exact = sum(not (shot.wrong or shot.fault) for shot in shots)
    wrong = [square for shot in shots for square in shot.wrong]
    low, high = wilson(exact, len(shots))
    times = [shot.reading_ms for shot in shots if not shot.fault] or [math.nan]
    checks = [shot.verification_ms for shot in shots if not shot.fault] or [math.nan]
    return (
        f"| {name} | {exact} of {len(shots)} ({100 * low:.1f}–{100 * high:.1f} %) "
        f"| {len(wrong)} of {sum(shot.scored for shot in shots):,} "
        f"| {sum(square.p >= CERTAIN for square in wrong)} of {sum(shot.certain for shot in shots):,} "
        f"| {statistics.median(times):.0f} / {max(times):.0f} | {statistics.median(checks):.0f} / {max(checks):.0f} |"
    )


def _listed(shots: Sequence[Shot]) -> list[str]:
    """Faults of the pictures that were not read, and all misread squares."""
    return [shot.fault for shot in shots if shot.fault] + [
        f"{square.image} {square.cell}: {square.truth} read as {square.read}, p {square.p:.3f}"
        for shot in shots
        for square in shot.wrong
    ]


if __name__ == "__main__":
    sys.exit(main())
