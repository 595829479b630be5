"""`companion mat`: the printable mat of a kit, and the board for calibrating the lens."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from calibration.chessboard import chessboard_pdf
from calibration.kit import load_kit
from calibration.lens import DEFAULT_BOARD, read_board
from calibration.sheets import PAPERS, RULER_MM, mat_pdf, plan
from companion.app.ground import start_levels
from companion.commands.writing import writing

CHARUCO = "charuco"


def add_parsers(subparsers: Any) -> None:
    """Add `mat`."""
    mat = subparsers.add_parser("mat", help="write the printable mat of a kit at true size")
    mat.add_argument("kit", metavar="KIT", help=f"name or file of a kit; {CHARUCO}: the board for calibrating the lens")
    mat.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.pdf")
    mat.add_argument("--paper", choices=sorted(PAPERS), default="a3", help="a4: two sheets to be joined (default: a3)")
    mat.add_argument(
        "--board", type=Path, help=f"TOML file that describes the {CHARUCO} board (default: 9 x 6 of 30 mm)"
    )
    mat.set_defaults(run=run_mat)


def run_mat(arguments: argparse.Namespace) -> int:
    """`companion mat`."""
    if arguments.kit == CHARUCO:
        return _print_board(arguments)
    kit = load_kit(arguments.kit)
    pdf = mat_pdf(kit, arguments.paper, start_levels(kit))
    with writing(arguments.output):
        arguments.output.write_bytes(pdf)
    sheets = len(plan(kit, arguments.paper))
    print(f"written: {arguments.output}, {sheets} sheet{'s' * (sheets > 1)} of {arguments.paper.upper()}")
    print("print it at 100 %, not fitted to the page")
    marker_mm = round(kit.mat.marker_mm, 1)
    print(f"then measure: the ruler is {RULER_MM:.0f} mm long, a marker's black border {marker_mm:g} mm wide")
    return 0


def _print_board(arguments: argparse.Namespace) -> int:
    board = read_board(arguments.board) if arguments.board else DEFAULT_BOARD
    pdf = chessboard_pdf(board, arguments.paper)
    with writing(arguments.output):
        arguments.output.write_bytes(pdf)
    print(f"written: {arguments.output}, 1 sheet of {arguments.paper.upper()}")
    print("print it at 100 %, not fitted to the page, and glue it to a plate: it must be flat")
    print(f"then measure: the ruler is {RULER_MM:.0f} mm long, a square {board.square_mm:g} mm wide")
    return 0
