"""`companion calibrate` and `companion read`: from photographs to camera, set and board readings."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import cv2

from calibration.camera import format_camera, read_camera
from calibration.errors import ProfileError
from calibration.kit import load_kit
from calibration.lens import DEFAULT_BOARD, LensCalibration, calibrate_lens, read_board
from calibration.looks import format_look, load_look
from calibration.picture import load_picture
from calibration.quality import advice, quality
from companion.app.ground import parse_levels, start_levels
from companion.commands.overlay import write_overlay
from companion.commands.writing import writing
from companion.errors import CompanionError
from vision.capture.frames import Frame
from vision.drawing import FOREIGN_SHARE
from vision.enrolment import enrol
from vision.errors import VisionError
from vision.inference.geometry import Geometry
from vision.pose.diagnosis import warning
from vision.reader import Levels, Reader
from vision.reading import Reading
from vision.warm_up import warm_up


def add_parsers(subparsers: Any) -> None:
    """Add `calibrate` and `read`."""
    calibrate = subparsers.add_parser("calibrate", help="calibrate the lens, or learn the look of a set")
    kinds = calibrate.add_subparsers(dest="kind", required=True, metavar="lens|pieces", parser_class=type(calibrate))
    lens = kinds.add_parser("lens", help="intrinsics and distortion from photographs of a ChArUco board")
    lens.add_argument("images", nargs="+", type=Path, metavar="IMAGE")
    lens.add_argument("--board", type=Path, help="TOML file that describes the board (default: 9 x 6 squares of 30 mm)")
    lens.add_argument("-o", "--output", type=Path, required=True, metavar="CAMERA.toml")
    lens.set_defaults(run=run_lens)
    pieces = kinds.add_parser("pieces", help="a set's look from the kit's [enrol] photograph")
    pieces.add_argument("kit", metavar="KIT")
    pieces.add_argument("image", type=Path, metavar="IMAGE")
    pieces.add_argument("--camera", type=Path, required=True, metavar="CAMERA.toml")
    pieces.add_argument("-o", "--output", type=Path, required=True, metavar="SET.toml")
    pieces.set_defaults(run=run_pieces)
    read = subparsers.add_parser("read", help="read the board in photographs")
    read.add_argument("kit", metavar="KIT")
    read.add_argument("images", nargs="+", type=Path, metavar="IMAGE")
    read.add_argument("--camera", type=Path, required=True, metavar="CAMERA.toml")
    read.add_argument("--set", type=Path, metavar="SET.toml", help="the look of the set (default: the kit's colours)")
    read.add_argument("--levels", help="levels of the pillars, ranks from the highest down joined by /, files by ,")
    read.add_argument(
        "--overlay", type=Path, metavar="FILE.jpg", help="the picture with what is believed drawn over it"
    )
    read.add_argument("--json", action="store_true", help="one JSON object a line")
    read.set_defaults(run=run_read)


def run_lens(arguments: argparse.Namespace) -> int:
    """`companion calibrate lens`."""
    board = read_board(arguments.board) if arguments.board else DEFAULT_BOARD
    result = calibrate_lens(tuple(arguments.images), board)
    with writing(arguments.output):
        arguments.output.write_text(format_camera(result.camera), encoding="utf-8")
    print("\n".join(lens_report(result)))
    print(f"written: {arguments.output}")
    return 0


def lens_report(result: LensCalibration) -> list[str]:
    """Lines that say how good a lens calibration is and what would make it better."""
    error, deviation = result.camera.reprojection_px, result.focal_deviation
    known = f"focal length known to {deviation:.2%}: {quality(result)}"
    return [
        *(f"{path}: left out: {why}" for path, why in result.skipped),
        f"reprojection error {error:.3f} px over {len(result.used)} photographs, {known}",
        f"the board was seen in {result.coverage.sum()} of {result.coverage.size} parts of the picture",
        *(f"for a better lens: {line}" for line in advice(result)),
    ]


def run_pieces(arguments: argparse.Namespace) -> int:
    """`companion calibrate pieces`."""
    kit = load_kit(arguments.kit)
    camera = read_camera(arguments.camera)
    image = load_picture(arguments.image)
    try:
        look = enrol(image, kit, camera, start_levels(kit))
    except VisionError as error:
        raise ProfileError(f"{arguments.image}: {error}") from error
    with writing(arguments.output):
        arguments.output.write_text(format_look(look), encoding="utf-8")
    print(f"learned {len(look.pieces)} kinds of pieces; written: {arguments.output}")
    return 0


def run_read(arguments: argparse.Namespace) -> int:
    """`companion read`: exit code 1 when the mat was not found in some picture."""
    cv2.setNumThreads(1)
    kit = load_kit(arguments.kit)
    camera = read_camera(arguments.camera)
    known: Levels | None = parse_levels(arguments.levels, kit) if arguments.levels else None
    levels = known or ((None,) * len(kit.cells) if kit.pillars else None)
    reader = Reader(kit, camera, load_look(arguments.set, kit), start_levels(kit))
    warm_up(reader)
    images = [(path, load_picture(path)) for path in arguments.images]
    if arguments.overlay and len(images) > 1:
        raise CompanionError("--overlay: give one picture at a time")
    found = True
    for path, image in images:
        row, read = read_row(reader, path, image, levels)
        found &= read is not None
        print(json.dumps(row) if arguments.json else describe(row), flush=True)
        if arguments.overlay and read is not None:
            write_overlay(arguments.overlay, reader, image, *read)
    return 0 if found else 1


def read_row(
    reader: Reader, path: Path, image: Any, levels: Levels | None = None
) -> tuple[dict[str, Any], tuple[Reading, Geometry] | None]:
    """One reading as a line of JSON, and itself with its geometry, None where the mat was not found.

    ``levels`` of the pillars, where they are known.
    """
    begun = time.perf_counter()
    try:
        reading, geometry = reader.read_with_geometry(Frame(image, 0, 0.0), levels)
    except VisionError as error:
        return {"image": str(path), "found": False, "why": str(error)}, None
    ms = 1000 * (time.perf_counter() - begun)
    row = {"image": str(path), "found": True, "cells": cells_row(reading), "ms": round(ms, 1)}
    hidden = [cell for cell, share in zip(reading.cells, reading.foreign, strict=True) if share > FOREIGN_SHARE]
    wrong = warning(image)
    row |= ({"covered": hidden} if hidden else {}) | ({"warning": wrong} if wrong else {})
    return row, (reading, geometry)


def cells_row(reading: Reading) -> dict[str, dict[str, Any]]:
    """Every cell's likeliest height and top with their probability."""
    rows: dict[str, dict[str, Any]] = {}
    for i, cell in enumerate(reading.cells):
        (height, top), p = reading.best(i)
        rows[cell] = {"height": height} | ({"top": top} if top else {}) | {"p": round(p, 4)}
    return rows


def describe(row: dict[str, Any]) -> str:
    """A reading for people: what stands where, doubtful squares marked."""
    if not row["found"]:
        return f"{row['image']}: {row['why']}"
    stacks = [
        f"{name} {cell['height'] or '?'}{cell['top']}" + ("" if cell["p"] >= 0.99 else f"? ({cell['p']:.2f})")
        for name, cell in row["cells"].items()
        if cell.get("top")
    ]
    notes = [f"; something that is no piece covers {', '.join(row['covered'])}"] if "covered" in row else []
    notes += [f"; {row['warning']}"] if "warning" in row else []
    return f"{row['image']}: {len(stacks)} stacks: {', '.join(stacks)}{''.join(notes)} ({row['ms']} ms)"
