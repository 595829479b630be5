"""`companion mat`: writes the printable mat of a kit, stickers for an own board, or the calibration board."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from calibration.chessboard import chessboard_pdf
from calibration.kit import load_kit
from calibration.lens import DEFAULT_BOARD, read_board
from calibration.sheets import PAPERS, RULER_MM, mat_pdf, plan
from calibration.stickers import STICKER_MM, stickers_pdf
from companion.app.ground import start_levels
from companion.commands.options.parser import OptionGroup, Subparsers, add_command
from companion.commands.output.codes import DONE
from companion.commands.output.files import write_file
from companion.languages.english import counted

CHARUCO, STICKERS = "charuco", "stickers"


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """Options of `companion mat`."""

    kit: str
    output: Path
    paper: str | None
    board: Path | None
    marker_mm: float


def add_parser(subparsers: Subparsers) -> None:
    """Add `mat`."""
    mat = add_command(subparsers, "mat", Options, run, help="write the printable mat of a kit at true size")
    what = f"name or file of a kit; {STICKERS}: markers to stick round any board; {CHARUCO}: the board for the lens"
    mat.add_argument("kit", metavar="KIT", help=what)
    mat.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.pdf")
    which = f"a mat on a4: two sheets to be joined (default: a3; {STICKERS}: a4)"
    mat.add_argument("--paper", choices=sorted(PAPERS), help=which)
    mat.add_argument(
        "--board", type=Path, help=f"TOML file that describes the {CHARUCO} board (default: 9 x 6 of 30 mm)"
    )
    which = f"side of the black border of {STICKERS} (default: {STICKER_MM:g})"
    mat.add_argument("--marker-mm", type=float, default=STICKER_MM, metavar="M", help=which)


def run(options: Options) -> int:
    """Write the sheets to a PDF file."""
    if options.kit == STICKERS:
        return _print_stickers(options)
    paper = options.paper or "a3"
    if options.kit == CHARUCO:
        return _print_board(options, paper)
    kit = load_kit(options.kit)
    pdf = mat_pdf(kit, paper, start_levels(kit))
    write_file(options.output, pdf)
    sheets = len(plan(kit, paper))
    print(f"written: {options.output}, {counted(sheets, 'sheet')} of {paper.upper()}")
    print("print it at 100 %, not fitted to the page")
    marker_mm = round(kit.mat.marker_mm, 1)
    print(f"then measure: the ruler is {RULER_MM:.0f} mm long, a marker's black border {marker_mm:g} mm wide")
    return DONE


def _print_stickers(options: Options) -> int:
    paper = options.paper or "a4"
    write_file(options.output, stickers_pdf(paper, options.marker_mm))
    print(f"written: {options.output}, 1 sheet of {paper.upper()}")
    print("print it at 100 %, not fitted to the page; cut along the dashed lines, stick four or more round the squares")
    print(f"then measure: the ruler is {RULER_MM:.0f} mm long, a marker's black border {options.marker_mm:g} mm wide")
    return DONE


def _print_board(options: Options, paper: str) -> int:
    board = read_board(options.board) if options.board else DEFAULT_BOARD
    pdf = chessboard_pdf(board, paper)
    write_file(options.output, pdf)
    print(f"written: {options.output}, 1 sheet of {paper.upper()}")
    print("print it at 100 %, not fitted to the page, and glue it to a plate: it must be flat")
    print(f"then measure: the ruler is {RULER_MM:.0f} mm long, a square {board.square_mm:g} mm wide")
    return DONE
