"""Writes a picture with its reading drawn over it."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from companion.commands.output.files import write_file
from companion.errors import CompanionError
from companion.languages.english import counted
from vision.drawing import SURE_P, Viewpoint, draw_belief
from vision.inference.geometry import Geometry
from vision.reader import Reader
from vision.reading import Reading


def write_overlay(
    file: Path, reader: Reader, image: npt.NDArray[np.uint8], reading: Reading, geometry: Geometry
) -> None:
    """Write a picture (height, width, 3) uint8 BGR with grid, outlines of stacks, and doubt in red over it.

    ``reading`` and ``geometry`` are the last that ``reader`` gave for it.  The format follows from the file's suffix.
    Raises CompanionError when it cannot be written.
    """
    sight = Viewpoint(reader.kit, reader.camera, geometry.pose, reader.levels or None)
    picture = draw_belief(image, sight, reading, _caption(reading))
    try:
        done, data = cv2.imencode(file.suffix, picture)
    except cv2.error:
        raise CompanionError(f"{file}: end its name with .jpg or .png") from None
    write_file(file, data.tobytes() if done else b"", "--overlay")


def _caption(reading: Reading) -> str:
    """The number of stacks, and the doubtful squares."""
    best = [reading.best(i) for i in range(len(reading.cells))]
    stacks = sum(top is not None for (_, top), _ in best)
    doubtful = [cell for cell, (_, p) in zip(reading.cells, best, strict=True) if p < SURE_P]
    return counted(stacks, "stack") + (f"; in doubt: {', '.join(doubtful)}" if doubtful else "")
