"""`companion mat`: the printable mat of a kit, and the board for calibrating the lens."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from calibration.chessboard import chessboard_pdf
from calibration.kit import load_kit
from calibration.lens import DEFAULT_BOARD, read_board
from calibration.sheets import PAPERS, RULER_MM, mat_pdf, plan
from companion.app.ground import start_levels
from companion.commands.options.parser import OptionGroup, Subparsers, add_command
from companion.commands.output.codes import DONE
from companion.commands.output.files import write_file
from companion.languages.english import counted

CHARUCO = "charuco"


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """What `companion mat` is told."""

    kit: str
    output: Path
    paper: str
    board: Path | None


def add_parser(subparsers: Subparsers) -> None:
    """Add `mat`."""
    mat = add_command(subparsers, "mat", Options, run, help="write the printable mat of a kit at true size")
    mat.add_argument("kit", metavar="KIT", help=f"name or file of a kit; {CHARUCO}: the board for calibrating the lens")
    mat.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.pdf")
    mat.add_argument("--paper", choices=sorted(PAPERS), default="a3", help="a4: two sheets to be joined (default: a3)")
    mat.add_argument(
        "--board", type=Path, help=f"TOML file that describes the {CHARUCO} board (default: 9 x 6 of 30 mm)"
    )


def run(options: Options) -> int:
    """`companion mat`."""
    if options.kit == CHARUCO:
        return _print_board(options)
    kit = load_kit(options.kit)
    pdf = mat_pdf(kit, options.paper, start_levels(kit))
    write_file(options.output, pdf)
    sheets = len(plan(kit, options.paper))
    print(f"written: {options.output}, {counted(sheets, 'sheet')} of {options.paper.upper()}")
    print("print it at 100 %, not fitted to the page")
    marker_mm = round(kit.mat.marker_mm, 1)
    print(f"then measure: the ruler is {RULER_MM:.0f} mm long, a marker's black border {marker_mm:g} mm wide")
    return DONE


def _print_board(options: Options) -> int:
    board = read_board(options.board) if options.board else DEFAULT_BOARD
    pdf = chessboard_pdf(board, options.paper)
    write_file(options.output, pdf)
    print(f"written: {options.output}, 1 sheet of {options.paper.upper()}")
    print("print it at 100 %, not fitted to the page, and glue it to a plate: it must be flat")
    print(f"then measure: the ruler is {RULER_MM:.0f} mm long, a square {board.square_mm:g} mm wide")
    return DONE
