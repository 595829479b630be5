"""The option ``--camera``: a camera's file, or a request to find the lens from the board in the pictures."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from calibration.board_lens import TOO_STEEP, find_lens, find_markers, prior_camera
from calibration.camera import Camera, read_camera
from calibration.kit import Kit
from companion.commands.output.lines import notify
from companion.settings import keys

AUTO = Path(keys.AUTO)
"""Value of ``--camera`` in place of a file: find the lens from the board."""


def add_camera(parser: argparse.ArgumentParser) -> None:
    """Add ``--camera`` for a command that takes pictures."""
    what = f"the calibrated camera's file; {AUTO}: its lens is found from the board in the pictures"
    parser.add_argument("--camera", type=Path, required=True, metavar="CAMERA.toml", help=what)


def camera_of(file: Path, kit: Kit, pictures: Sequence[npt.NDArray[np.uint8]]) -> tuple[Camera, bool]:
    """The camera that took pictures (height, width, 3) uint8 BGR of a kit's board, and whether its lens is known.

    If none shows the board, it is a default camera; the missing board is reported when the picture is read.  Raises
    ProfileError.
    """
    if file != AUTO:
        return read_camera(file), True
    seen = [find_markers(picture, kit) for picture in pictures]
    size = seen[0].size
    enough = [one for one in seen if one.is_enough and one.size == size]
    if not enough:
        return prior_camera(size), False
    lens = find_lens(enough, kit)
    notify(f"lens from the board: {lens.summary if lens.is_known else TOO_STEEP}")
    return lens.camera, lens.is_known
