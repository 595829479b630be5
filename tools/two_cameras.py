"""Compares readings of random rendered boards by one camera and by two on opposite sides."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence

import cv2

from calibration.kit import load_kit
from companion.app.multi_camera import combined
from tools import boards
from tools.boards import Cell
from vision.capture.frames import Frame
from vision.enrolment import enrol
from vision.errors import VisionError
from vision.reader import Reader
from vision.reading import Reading

HEIGHTS = (1, 2, 3, 4, 5)
EMPTY_SHARE = 0.35
"""Stack heights and fraction of empty squares: with such tall and dense stacks, many squares are occluded."""

ELEVATIONS_DEG = (40.0, 55.0)
OPPOSITE_DEG = (150.0, 210.0)
"""Range of the angle around the table between the two cameras."""

CAMERAS = ("the first alone", "the second alone", "both")


def main(argv: Sequence[str] | None = None) -> int:
    """Print how many squares and boards were read correctly, for each camera alone and for both."""
    parser = argparse.ArgumentParser(prog="tools.two_cameras", description=__doc__)
    parser.add_argument("--boards", type=int, default=40)
    parser.add_argument("--first", type=int, default=1, help="first seed")
    arguments = parser.parse_args(argv)
    cv2.setNumThreads(1)
    cells: dict[str, list[Cell]] = {name: [] for name in CAMERAS}
    refused = 0
    for seed in range(arguments.first, arguments.first + arguments.boards):
        try:
            for name, camera_cells in zip(CAMERAS, read_board(seed), strict=True):
                cells[name] += camera_cells
        except VisionError as error:
            refused += 1
            print(f"board {seed}: {error}", flush=True)
    for name, camera_cells in cells.items():
        print(f"{name}:")
        print("\n".join(f"  {line}" for line in boards.report(camera_cells, refused)[:2]))
    return 0


def read_board(seed: int) -> tuple[list[Cell], list[Cell], list[Cell]]:
    """Read one board of Domination from two sides, with equal cameras in the same light: each alone, and both combined.

    Raises VisionError.
    """
    rng = random.Random(seed)
    kit, camera = load_kit("domination"), boards.random_camera(rng)
    azimuth_deg = rng.uniform(0, 360)
    azimuths_deg = (azimuth_deg, azimuth_deg + rng.uniform(*OPPOSITE_DEG))
    poses = [boards.nearest_pose(kit, camera, rng.uniform(*ELEVATIONS_DEG), side) for side in azimuths_deg]
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
    """Compare a reading with the true stacks."""
    cells = []
    for i, stack in enumerate(stacks):
        (height, top), p = reading.best(i)
        right = (height, top) == (len(stack), stack[-1] if stack else None)
        cells.append(Cell(seed, reading.cells[i], stack, f"{height}{top or ''}", p, right))
    return cells


if __name__ == "__main__":
    sys.exit(main())
