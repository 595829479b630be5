"""`companion read`: reads the board in photographs."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired, TypedDict

import cv2
import numpy as np
import numpy.typing as npt

from calibration.board_grid import own_grid_fault
from calibration.kit import load_kit
from calibration.picture import load_picture
from companion.app.ground import parse_levels, start_levels
from companion.commands.options.appearance import appearance_of
from companion.commands.options.lens import add_camera, camera_of
from companion.commands.options.parser import OptionGroup, Subparsers, add_command
from companion.commands.output.codes import DONE, NO
from companion.commands.output.overlay import write_overlay
from companion.commands.output.progress import COMPILING, progress_status
from companion.errors import CompanionError
from companion.languages.english import counted
from vision.capture.frames import Frame
from vision.drawing import OCCLUDED_SHARE
from vision.errors import VisionError
from vision.inference.geometry import Geometry
from vision.pose.diagnosis import warning
from vision.reader import Levels, Reader
from vision.reading import Reading
from vision.warm_up import warm_up


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """Options of `companion read`."""

    kit: str
    images: tuple[Path, ...]
    camera: Path
    appearance: Path | None
    levels: str | None
    overlay: Path | None
    json: bool


class Square(TypedDict):
    """The likeliest state of a square: height (None: no camera sees it), top unless it is empty, probability."""

    height: int | None
    top: NotRequired[str]
    p: float


class Row(TypedDict):
    """The reading of one picture; with ``why`` the mat was not found, and nothing else is known."""

    image: str
    found: bool
    why: NotRequired[str]
    cells: NotRequired[dict[str, Square]]
    ms: NotRequired[float]
    covered: NotRequired[list[str]]
    warning: NotRequired[str]


def add_parser(subparsers: Subparsers) -> None:
    """Add `read`."""
    read = add_command(subparsers, "read", Options, run, help="read the board in photographs")
    read.add_argument("kit", metavar="KIT")
    read.add_argument("images", nargs="+", type=Path, metavar="IMAGE")
    add_camera(read)
    read.add_argument(
        "--set",
        dest="appearance",
        type=Path,
        metavar="SET.toml",
        help="the look of the set (default: the kit's colours)",
    )
    read.add_argument("--levels", help="levels of the pillars, ranks from the highest down joined by /, files by ,")
    read.add_argument(
        "--overlay", type=Path, metavar="FILE.jpg", help="the picture with what is believed drawn over it"
    )
    read.add_argument("--json", action="store_true", help="one JSON object a line")


def run(options: Options) -> int:
    """Read the board in photographs.

    Exit code 1 if in some picture the mat was not found, the lens was not determined, or the board looks different from
    the kit, or has another grid.
    """
    cv2.setNumThreads(1)
    if options.overlay and len(options.images) > 1:
        raise CompanionError("--overlay: give one picture at a time")
    images = [(path, load_picture(path)) for path in options.images]
    kit = load_kit(options.kit)
    camera, is_known = camera_of(options.camera, kit, [image for _, image in images])
    known: Levels | None = parse_levels(options.levels, kit) if options.levels else None
    levels = known or ((None,) * len(kit.cells) if kit.pillars else None)
    reader = Reader(kit, camera, appearance_of(options.appearance, kit), start_levels(kit))
    with progress_status(COMPILING):
        warm_up(reader)
    wrong_grid = own_grid_fault(reader.appearance.board, kit)
    found = is_known and not wrong_grid
    for path, image in images:
        row, read = read_row(reader, path, image, levels)
        if wrong_grid and read is not None:
            row["warning"] = "; ".join(filter(None, (row.get("warning"), wrong_grid)))
        found &= read is not None and not read[0].mismatched
        print(json.dumps(row) if options.json else describe(row), flush=True)
        if options.overlay and read is not None:
            write_overlay(options.overlay, reader, image, *read)
    return DONE if found else NO


def read_row(
    reader: Reader, path: Path, image: npt.NDArray[np.uint8], levels: Levels | None = None
) -> tuple[Row, tuple[Reading, Geometry] | None]:
    """The reading of a picture, (height, width, 3) uint8 BGR, as a row for ``--json``; and the reading itself.

    The second is the reading with its geometry, None if the mat was not found.  ``levels`` are those of the pillars,
    where they are known.
    """
    begun = time.perf_counter()
    try:
        reading, geometry = reader.read_with_geometry(Frame(image, 0, 0.0), levels)
    except VisionError as error:
        return {"image": str(path), "found": False, "why": str(error)}, None
    ms = 1000 * (time.perf_counter() - begun)
    row: Row = {"image": str(path), "found": True, "cells": squares(reading), "ms": round(ms, 1)}
    hidden = [cell for cell, share in zip(reading.cells, reading.outlier_share, strict=True) if share > OCCLUDED_SHARE]
    if hidden and not reading.mismatched:  # what is not understood need not be covered
        row["covered"] = hidden
    badly_seen = warning(image, reader.kit, geometry.pose, reader.camera)
    if wrong := "; ".join(filter(None, (reading.mismatch, badly_seen))):
        row["warning"] = wrong
    return row, (reading, geometry)


def squares(reading: Reading) -> dict[str, Square]:
    """Each cell's likeliest height and top with their probability."""
    rows: dict[str, Square] = {}
    for i, cell in enumerate(reading.cells):
        (height, top), p = reading.best(i)
        rows[cell] = {"height": height, "top": top, "p": round(p, 4)} if top else {"height": height, "p": round(p, 4)}
    return rows


def describe(row: Row) -> str:
    """A reading as text for people: what stands where, with doubtful squares marked."""
    if "why" in row:
        return f"{row['image']}: {row['why']}"
    stacks = [
        f"{name} {square['height'] or '?'}{square['top']}" + ("" if square["p"] >= 0.99 else f"? ({square['p']:.2f})")
        for name, square in row["cells"].items()
        if square.get("top")
    ]
    notes = [f"; something that is no piece covers {', '.join(row['covered'])}"] if "covered" in row else []
    notes += [f"; {row['warning']}"] if "warning" in row else []
    return f"{row['image']}: {counted(len(stacks), 'stack')}: {', '.join(stacks)}{''.join(notes)} ({row['ms']} ms)"
