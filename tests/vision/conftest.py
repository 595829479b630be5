"""The example photographs with their ground truth, and checks of readings against it."""

import json
from dataclasses import dataclass

import cv2
import numpy as np
import pytest
from numba.core.runtime import rtsys
from numba.core.runtime._nrt_python import memsys_enable_stats

from calibration.appearance import SetAppearance, read_appearance
from calibration.camera import Camera, read_camera
from calibration.kit import Kit, load_kit
from vision.capture.frames import Frame
from vision.reader import Reader


@dataclass(frozen=True)
class Photo:
    """A photograph with its ground truth: ``table`` maps cells to stacks."""

    name: str
    image: np.ndarray
    table: dict[str, str]


@dataclass(frozen=True)
class Bench:
    """A kit, its camera and enrolled appearance, and the photographs made with them by name."""

    kit: Kit
    camera: Camera
    appearance: SetAppearance
    photos: dict[str, Photo]

    def reader(self):
        return Reader(self.kit, self.camera, self.appearance)


@pytest.fixture(scope="session")
def bench(examples):
    """Load the example photographs of Domination with their ground truth."""
    folder = examples / "photos"
    kit = load_kit("domination")
    rows = [json.loads(line) for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()]
    photos = {row["image"]: Photo(row["image"], cv2.imread(str(folder / row["image"])), row["table"]) for row in rows}
    return Bench(kit, read_camera(folder / "camera.toml"), read_appearance(folder / "set.toml", kit), photos)


def wrong_cells(reader, image, table):
    """Return the cells whose most likely state differs from the ground truth ``table`` (cell → stack).

    Each maps to the true stack, the state that was read, and its probability.
    """
    reading = reader.read(Frame(image, 0, 0.0))
    wrong = {}
    for i, cell in enumerate(reading.cells):
        stack = table.get(cell, "")
        state, p = reading.best(i)
        if state != (len(stack), stack[-1] if stack else None):
            wrong[cell] = (stack, state, round(p, 3))
    return wrong


def left_behind(reader, image, levels=None):
    """Return how many allocations of compiled loops one reading leaks; a referee reads for hours."""
    geometry = reader.read_with_geometry(Frame(image, 0, 0.0), levels)[1]
    memsys_enable_stats()
    held = []
    for number in range(2):
        reader.read_at(Frame(image, 1 + number, 1.0 + number), geometry, levels)
        stats = rtsys.get_allocation_stats()
        held.append(stats.mi_alloc - stats.mi_free)
    return held[1] - held[0]
