"""The example photographs with what really stands on them."""

import json
from dataclasses import dataclass

import cv2
import numpy as np
import pytest

from calibration.appearance import SetAppearance, read_appearance
from calibration.camera import Camera, read_camera
from calibration.kit import Kit, load_kit
from vision.capture.frames import Frame
from vision.reader import Reader


@dataclass(frozen=True)
class Photo:
    name: str
    image: np.ndarray
    table: dict[str, str]


@dataclass(frozen=True)
class Bench:
    kit: Kit
    camera: Camera
    appearance: SetAppearance
    photos: dict[str, Photo]

    def reader(self):
        return Reader(self.kit, self.camera, self.appearance)


@pytest.fixture(scope="session")
def bench(examples):
    folder = examples / "photos"
    kit = load_kit("domination")
    rows = [json.loads(line) for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()]
    photos = {row["image"]: Photo(row["image"], cv2.imread(str(folder / row["image"])), row["table"]) for row in rows}
    return Bench(kit, read_camera(folder / "camera.toml"), read_appearance(folder / "set.toml", kit), photos)


def wrong_cells(reader, image, table):
    """Cells whose likeliest state is not what stands there."""
    reading = reader.read(Frame(image, 0, 0.0))
    wrong = {}
    for i, cell in enumerate(reading.cells):
        stack = table.get(cell, "")
        state, p = reading.best(i)
        if state != (len(stack), stack[-1] if stack else None):
            wrong[cell] = (stack, state, round(p, 3))
    return wrong
