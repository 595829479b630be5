"""`companion measure`: makes the kit of a user's own board from a photograph."""

from __future__ import annotations

import math
from argparse import ArgumentTypeError
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from calibration.board_lens import GOOD_FOCAL
from calibration.camera import read_camera
from calibration.errors import ProfileError
from calibration.kit import Kit
from calibration.markers import dictionary
from calibration.measuring import Field, MeasuredBoard
from calibration.own_board import format_own_kit
from calibration.picture import load_picture
from calibration.piece_sizes import PieceSize, Size, piece_sizes
from calibration.stickers import DICTIONARY, STICKER_MM
from companion.app.ground import parse_layout, start_levels
from companion.commands.options.lens import AUTO
from companion.commands.options.parser import OptionGroup, Subparsers, add_command
from companion.commands.output.codes import DONE, NO
from companion.commands.output.files import write_file
from companion.games import load_game
from companion.own_board import BoardOptions, appearance_fault, measure, with_measured_pieces
from vision.errors import VisionError
from vision.sizing.sizes import Sizes

LONGEST_MM = 10_000.0
"""Upper limit of lengths, and of coordinates in the photograph."""


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """Options of `companion measure`."""

    game: str
    photo: Path
    field: tuple[tuple[float, float], ...]
    files: int | None
    ranks: int | None
    side_mm: tuple[float, ...]
    marker_mm: float
    piece_mm: list[tuple[str, Size]]
    pieces: Path | None
    layout: str
    dictionary: str
    camera: Path
    output: Path


def add_parser(subparsers: Subparsers) -> None:
    """Add `measure`."""
    what = "measure your own board, with stickers round it, from a photograph: writes its kit"
    measuring = add_command(subparsers, "measure", Options, run, help=what)
    measuring.add_argument("game", metavar="GAME[:variant][/n]")
    measuring.add_argument("photo", type=Path, metavar="PHOTO", help="shows the whole board and its stickers")
    what = "the corners of the playing field in PHOTO, px from its upper left: that of a1 first, then round the field"
    measuring.add_argument("--field", type=_pair, nargs=4, required=True, metavar="X,Y", help=what)
    measuring.add_argument("--files", type=int, metavar="N", help="squares along the first player's side (the game's)")
    measuring.add_argument("--ranks", type=int, metavar="N", help="squares away from the first player (the game's)")
    size = measuring.add_mutually_exclusive_group()
    what = "length of the field's side along the first player; L,M: and of the side away from him"
    size.add_argument("--side-mm", type=_lengths, default=(), metavar="L[,M]", help=what)
    what = f"side of the stickers' black border, where no side was measured (default: {STICKER_MM:g})"
    size.add_argument("--marker-mm", type=_length, default=STICKER_MM, metavar="M", help=what)
    piece = measuring.add_mutually_exclusive_group()
    what = (
        "width and height of a piece, a cube's side alone (default: as large for the squares as in the game's own "
        "kit); where pieces have several sizes, once for each with their letters"
    )
    piece.add_argument("--piece-mm", type=_size, action="append", default=[], metavar="[LETTERS=]W[,H]", help=what)
    what = "a photograph from the same place with pieces on the board, which tells how large they are"
    piece.add_argument("--pieces", type=Path, metavar="PHOTO", help=what)
    what = "what the photograph of --pieces shows: start (of the game, default), or a board's text such as 3,R,RG/7/…"
    measuring.add_argument("--layout", default="start", metavar="LAYOUT", help=what)
    what = f"of the stickers, as cv2.aruco calls it (default: {DICTIONARY})"
    measuring.add_argument("--dictionary", default=DICTIONARY, metavar="NAME", help=what)
    what = f"the lens that took PHOTO (default: {AUTO}, from the stickers)"
    measuring.add_argument("--camera", type=Path, default=AUTO, metavar="CAMERA.toml", help=what)
    measuring.add_argument("-o", "--output", type=Path, required=True, metavar="KIT.toml")


def run(options: Options) -> int:
    """Measure a board; exit code 1 if the corners do not fit the stickers or the board's lines."""
    game, picture = load_game(options.game), load_picture(options.photo)
    camera = None if options.camera == AUTO else read_camera(options.camera)
    dictionary(options.dictionary)
    a1, second, third, fourth = options.field
    side, *other = (*options.side_mm, None)
    field = Field(
        corners_px=(a1, second, third, fourth),
        files=game.layout.files if options.files is None else options.files,
        ranks=game.layout.ranks if options.ranks is None else options.ranks,
        side_mm=(side, other[0] if other else None),
        marker_mm=options.marker_mm,
    )
    wish = BoardOptions(dict(options.piece_mm), options.dictionary, options.output.stem)
    kit, board = measure(game, picture, field, wish, camera)
    sizes = None
    if options.pieces is not None and board.is_consistent:
        layout, shown = parse_layout(options.layout, kit), load_picture(options.pieces)
        try:
            kit, sizes = with_measured_pieces(kit, board.camera, picture, shown, layout, start_levels(kit))
        except VisionError as error:
            raise ProfileError(f"{options.pieces}: {error}") from error
    wrong = appearance_fault(kit, board.camera, picture) if board.is_consistent else ""
    write_file(options.output, format_own_kit(kit))
    print("\n".join([*board_report(kit, board), *pieces_report(kit, dict(options.piece_mm), sizes)]))
    print(f"written: {options.output}")
    if wrong:
        print(wrong)
    return DONE if board.is_consistent and not wrong else NO


def board_report(kit: Kit, board: MeasuredBoard) -> list[str]:
    """Lines that report the measurements of the board and their accuracy."""
    across, up = board.pitch_mm
    numbers = ", ".join(str(marker.id) for marker in board.markers)
    lines = [
        f"markers {numbers}; {len(kit.cells)} squares of {across:.1f} x {up:.1f} mm",
        f"reprojection error {board.reprojection_px:.2f} px of the markers, {board.click_px:.2f} px of the corners",
    ]
    if not board.is_consistent:
        lines.append("the four corners do not fit the markers: give them again; all markers must lie flat on the board")
    if not board.is_known:
        lines.append("the board is seen too steeply to tell the lens: put the camera lower, or give --camera")
    elif board.focal_deviation > GOOD_FOCAL:
        lines.append(f"focal length known to {board.focal_deviation:.1%}: more stickers, far apart, tell more")
    return lines


def pieces_report(kit: Kit, told: Mapping[str, Size], sizes: Sequence[Sizes] | None = None) -> list[str]:
    """Lines that report the measured sizes of pieces, and ask for those that are not in ``told`` (by letters)."""
    groups = piece_sizes(kit.pieces)
    known = set("".join(letters or "".join(kind.letter for kind in kit.pieces) for letters in told))
    lines = []
    if sizes is not None:
        lines += [f"pieces{_named(each.letters, groups)} look {_said(each, kit)}" for each in sizes]
        known.update(letter for each in sizes if each.is_known for letter in each.letters)
        if not known.issuperset(kind.letter for kind in kit.pieces):
            lines.append("the picture does not tell it well enough")
    for each in groups:
        if not known.issuperset(each.letters):
            option = f"{each.letters}=" if len(groups) > 1 else ""
            size = f"{each.width_mm:g}" if each.shape == "cube" else f"{each.width_mm:g},{each.height_mm:g}"
            lines.append(
                f"pieces{_named(each.letters, groups)} are taken to be {size.replace(',', ' x ')} mm: measure one, "
                f"and say it by --piece-mm {option}{size}"
            )
    return lines


def _named(letters: str, groups: Sequence[PieceSize]) -> str:
    """The letters to add after the word "pieces", if the pieces have several sizes."""
    return f" {letters}" if len(groups) > 1 else ""


def _said(sizes: Sizes, kit: Kit) -> str:
    """The measured size of pieces with its accuracy; for a cube without the height, which is the width."""
    wide = f"{sizes.width_mm:.1f} mm wide, to {sizes.width_deviation_mm:.1f} mm"
    if kit.piece(sizes.letters[0]).shape == "cube":
        return wide
    return f"{wide}, and {sizes.height_mm:.1f} mm high, to {sizes.height_deviation_mm:.1f} mm"


def _length(text: str) -> float:
    """Parse a length, for argparse."""
    try:
        length = float(text)
    except ValueError:
        length = math.nan
    if not 0 < length <= LONGEST_MM:
        raise ArgumentTypeError(f"{text!r} is no length in millimetres")
    return length


def _lengths(text: str) -> tuple[float, ...]:
    """Parse one length, or two joined by a comma."""
    words = text.split(",")
    if len(words) > 2:
        raise ArgumentTypeError(f"{text!r}: give one length or two, such as 288 or 288,300")
    return tuple(map(_length, words))


def _size(text: str) -> tuple[str, Size]:
    """Parse letters of pieces (none for all) and their width and height (none for cubes)."""
    letters, _, lengths = text.rpartition("=")
    width, *heights = _lengths(lengths)
    return letters, (width, heights[0] if heights else None)


def _pair(text: str) -> tuple[float, float]:
    """Parse two numbers, 0 or more, joined by a comma."""
    try:
        x, y = map(float, text.split(","))
    except ValueError:
        x = y = math.nan
    if not (0 <= x <= LONGEST_MM and 0 <= y <= LONGEST_MM):
        raise ArgumentTypeError(f"{text!r} is not a pair of numbers such as 412,655")
    return x, y
