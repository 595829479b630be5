"""Read random rendered boards with one camera and with a second on the other side: what the second brings."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence

import cv2

from calibration.kit import load_kit
from companion.app.several import combined
from tools import boards
from tools.boards import Cell
from vision.capture.frames import Frame
from vision.enrolment import enrol
from vision.errors import VisionError
from vision.reader import Reader
from vision.reading import Reading

HEIGHTS = (1, 2, 3, 4, 5)
EMPTY_SHARE = 0.35
"""Boards as full as this, of stacks as high as these, hide much of themselves."""

ELEVATIONS_DEG = (40.0, 55.0)
OPPOSITE_DEG = (150.0, 210.0)
"""How far round the table the second camera stands."""

CAMERAS = ("the first alone", "the second alone", "both")


def main(argv: Sequence[str] | None = None) -> int:
    """Print squares and boards right, for each camera alone and for both."""
    parser = argparse.ArgumentParser(prog="tools.two_cameras", description=__doc__)
    parser.add_argument("--boards", type=int, default=40)
    parser.add_argument("--first", type=int, default=1, help="first seed")
    arguments = parser.parse_args(argv)
    cv2.setNumThreads(1)
    cells: dict[str, list[Cell]] = {name: [] for name in CAMERAS}
    refused = 0
    for seed in range(arguments.first, arguments.first + arguments.boards):
        try:
            for name, row in zip(CAMERAS, read_board(seed), strict=True):
                cells[name] += row
        except VisionError as error:
            refused += 1
            print(f"board {seed}: {error}", flush=True)
    for name, rows in cells.items():
        print(f"{name}:")
        print("\n".join(f"  {line}" for line in boards.report(rows, refused)[:2]))
    return 0


def read_board(seed: int) -> tuple[list[Cell], list[Cell], list[Cell]]:
    """One board of Domination from two sides, through one kind of lens in one light.  Raises VisionError."""
    rng = random.Random(seed)
    kit, camera = load_kit("domination"), boards.random_camera(rng)
    azimuth_deg = rng.uniform(0, 360)
    sides = (azimuth_deg, azimuth_deg + rng.uniform(*OPPOSITE_DEG))
    poses = [boards.placed(kit, camera, rng.uniform(*ELEVATIONS_DEG), side) for side in sides]
    light = boards.random_light(rng)
    letters = [kind.letter for kind in kit.pieces]
    stacks = [
        "" if rng.random() < EMPTY_SHARE else "".join(rng.choices(letters, k=rng.choice(HEIGHTS))) for _ in kit.cells
    ]
    enrolled = [kit.enrol.get(cell, "") for cell in kit.cells]
    readings: list[Reading] = []
    for pose in poses:
        appearance = enrol(boards.picture(kit, camera, pose, light, enrolled, seed), kit, camera)
        image = boards.picture(kit, camera, pose, light, stacks, seed)
        readings.append(Reader(kit, camera, appearance).read(Frame(image, 0, 0.0)))
    first, second, both = (_judged(seed, reading, stacks) for reading in (*readings, combined(readings)))
    return first, second, both


def _judged(seed: int, reading: Reading, stacks: Sequence[str]) -> list[Cell]:
    cells = []
    for i, stack in enumerate(stacks):
        (height, top), p = reading.best(i)
        right = (height, top) == (len(stack), stack[-1] if stack else None)
        cells.append(Cell(seed, reading.cells[i], stack, f"{height}{top or ''}", p, right))
    return cells


if __name__ == "__main__":
    sys.exit(main())
