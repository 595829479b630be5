"""`companion mat`: the printable mat of a kit."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from calibration.errors import ProfileError
from calibration.kit import Kit, load_kit
from calibration.sheets import PAPERS, RULER_MM, mat_pdf, plan
from companion.games import load_game


def add_parsers(subparsers: Any) -> None:
    """Add `mat`."""
    mat = subparsers.add_parser("mat", help="write the printable mat of a kit at true size")
    mat.add_argument("kit", metavar="KIT")
    mat.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.pdf")
    mat.add_argument("--paper", choices=sorted(PAPERS), default="a3", help="a4: two sheets to be joined (default: a3)")
    mat.set_defaults(run=run_mat)


def run_mat(arguments: argparse.Namespace) -> int:
    """`companion mat`."""
    kit = load_kit(arguments.kit)
    data = mat_pdf(kit, arguments.paper, terrain(kit))
    try:
        arguments.output.write_bytes(data)
    except OSError as error:
        raise ProfileError(f"{arguments.output}: cannot be written: {error.strerror or error}") from error
    sheets = len(plan(kit, arguments.paper))
    print(f"written: {arguments.output}, {sheets} sheet{'s' * (sheets > 1)} of {arguments.paper.upper()}")
    print("print it at 100 %, not fitted to the page")
    marker_mm = round(kit.mat.marker_mm, 1)
    print(f"then measure: the ruler is {RULER_MM:.0f} mm long, a marker's black border {marker_mm:g} mm wide")
    return 0


def terrain(kit: Kit) -> tuple[int, ...]:
    """Terrain level of each of a kit's cells, as its game has it; empty for a flat board.  Raises CompanionError."""
    if not kit.board.terrain_step_mm:
        return ()
    layout = load_game(kit.game).layout
    levels = dict(zip(layout.cells, layout.terrain, strict=True))
    return tuple(levels.get(cell, 0) for cell in kit.cells)
