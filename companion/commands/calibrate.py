"""`companion calibrate`: calibrates a lens, and learns the appearance of a board and a set, from photographs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from calibration.appearance import format_appearance
from calibration.board_grid import own_grid_fault
from calibration.board_lens import GOOD_FOCAL, TOO_STEEP, BoardLens, calibrate_on_board
from calibration.camera import Camera, format_camera
from calibration.errors import ProfileError
from calibration.kit import Kit, load_kit
from calibration.lens import DEFAULT_BOARD, LensCalibration, calibrate_lens, read_board
from calibration.picture import load_picture
from calibration.quality import advice, quality
from companion.app.ground import parse_layout, start_levels
from companion.commands.options.lens import add_camera, camera_of
from companion.commands.options.parser import OptionGroup, Subparsers, add_command
from companion.commands.output.codes import DONE, NO
from companion.commands.output.files import write_file
from companion.commands.output.progress import track_progress
from companion.errors import CompanionError
from companion.languages.english import counted
from vision.enrolment import Picture, enrol
from vision.errors import VisionError
from vision.pose.diagnosis import too_few_markers_message
from vision.pose.registration import register, to_gray


@dataclass(frozen=True, slots=True)
class LensOptions(OptionGroup):
    """Options of `companion calibrate lens`."""

    images: tuple[Path, ...]
    board: Path | None
    kit: str | None
    output: Path


@dataclass(frozen=True, slots=True)
class PiecesOptions(OptionGroup):
    """Options of `companion calibrate pieces`."""

    kit: str
    images: tuple[Path, ...]
    camera: Path
    empty: tuple[Path, ...]
    layout: str
    output: Path


def add_parser(subparsers: Subparsers) -> None:
    """Add `calibrate` with its two subcommands."""
    calibrate = subparsers.add_parser("calibrate", help="calibrate the lens, or learn the look of a set")
    kinds = calibrate.add_subparsers(dest="kind", required=True, metavar="lens|pieces", parser_class=type(calibrate))
    what = "intrinsics and distortion from photographs of a ChArUco board, or of a kit's own markers"
    lens = add_command(kinds, "lens", LensOptions, run_lens, help=what)
    lens.add_argument("images", nargs="+", type=Path, metavar="IMAGE")
    target = lens.add_mutually_exclusive_group()
    which = "TOML file that describes the ChArUco board (default: 9 x 6 squares of 30 mm)"
    target.add_argument("--board", type=Path, metavar="BOARD.toml", help=which)
    target.add_argument("--kit", metavar="KIT", help="from the markers of this kit's board, photographed at its place")
    lens.add_argument("-o", "--output", type=Path, required=True, metavar="CAMERA.toml")
    what = "a set's look from a photograph whose layout is known"
    pieces = add_command(kinds, "pieces", PiecesOptions, run_pieces, help=what)
    pieces.add_argument("kit", metavar="KIT")
    pieces.add_argument("images", type=Path, nargs="+", metavar="IMAGE", help="shows the pieces")
    add_camera(pieces)
    which = "a photograph of the board with nothing on it, or several: its look is learned"
    pieces.add_argument("--empty", type=Path, action="append", default=[], metavar="EMPTY", help=which)
    which = "what IMAGE shows: enrol (default), start (of the kit's game), or a board's text such as 3,R,RG/7/…"
    pieces.add_argument("--layout", default="enrol", metavar="LAYOUT", help=which)
    pieces.add_argument("-o", "--output", type=Path, required=True, metavar="SET.toml")


def run_lens(options: LensOptions) -> int:
    """Calibrate a lens."""
    if options.kit:
        return _run_board_lens(options, load_kit(options.kit))
    board = read_board(options.board) if options.board else DEFAULT_BOARD
    result = calibrate_lens(track_progress(options.images, len(options.images), "looking for the board"), board)
    write_file(options.output, format_camera(result.camera))
    print("\n".join(lens_report(result)))
    print(f"written: {options.output}")
    return DONE


def _run_board_lens(options: LensOptions, kit: Kit) -> int:
    """`companion calibrate lens --kit`; exit code 1 if the photographs do not determine the focal length."""
    result = calibrate_on_board(options.images, kit, too_few_markers_message)
    write_file(options.output, format_camera(result.camera))
    print("\n".join(board_lens_report(result)))
    print(f"written: {options.output}")
    return DONE if result.is_known else NO


def board_lens_report(result: BoardLens) -> list[str]:
    """Lines that report the lens found from a board's markers, its accuracy, and what would improve it."""
    camera = result.camera
    k1 = f"k1 {camera.distortion[0]:.3f} to {result.k1_deviation:.3f}"
    lines = [
        *(f"{path}: left out: {why}" for path, why in result.skipped),
        f"reprojection error {camera.reprojection_px:.3f} px over {counted(len(result.used), 'photograph')}",
        result.summary,
        f"principal point known to {result.centre_deviation_px:.0f} px, distortion {k1}",
    ]
    if not result.is_known:
        lines.append(TOO_STEEP)
    elif result.focal_deviation > GOOD_FOCAL:
        lines.append(
            "for a better lens: photograph the board from other sides too, or calibrate with the ChArUco board"
        )
    return lines


def lens_report(result: LensCalibration) -> list[str]:
    """Lines that report the quality of a lens calibration and what would improve it."""
    error, deviation = result.camera.reprojection_px, result.focal_deviation
    known = f"focal length known to {deviation:.2%}: {quality(result)}"
    return [
        *(f"{path}: left out: {why}" for path, why in result.skipped),
        f"reprojection error {error:.3f} px over {len(result.used)} photographs, {known}",
        f"the board was seen in {result.coverage.sum()} of {result.coverage.size} parts of the picture",
        *(f"for a better lens: {line}" for line in advice(result)),
    ]


def _check_mat(path: Path, picture: Picture, kit: Kit, camera: Camera) -> None:
    """Check that a photograph shows the mat.  Raises ProfileError, which names the photograph, if it does not."""
    try:
        register(to_gray(picture), kit, camera)
    except VisionError as error:
        raise ProfileError(f"{path}: {error}") from error


def run_pieces(options: PiecesOptions) -> int:
    """Learn the appearance of a set.

    Exit code 1 if the photographs do not determine the lens that was asked for, or show another grid than the kit has.
    """
    kit = load_kit(options.kit)
    # Further pictures after --empty show the empty board too; the last shows the pieces.
    *more, shown = options.images
    if more and not options.empty:
        raise CompanionError(f"calibrate pieces: one IMAGE shows the pieces, not {len(options.images)}; or use --empty")
    layout = parse_layout(options.layout, kit)
    pictures = [load_picture(path) for path in (*options.empty, *more, shown)]
    camera, is_known = camera_of(options.camera, kit, pictures)
    for path, picture in zip((*options.empty, *more), pictures, strict=False):
        _check_mat(path, picture, kit, camera)
    try:
        appearance = enrol(pictures[-1], kit, camera, start_levels(kit), layout, pictures[:-1])
    except VisionError as error:
        raise ProfileError(f"{shown}: {error}") from error
    write_file(options.output, format_appearance(appearance))
    for cell, stack in layout.items():
        if stack[-1] in appearance.not_found:
            print(f"not found: {stack[-1]} on {cell}; it keeps the kit's colour until a photograph shows it there")
    for pair in appearance.alike:
        print(
            f"{' and '.join(pair)} are hardly told apart by their colours here: they will often be in doubt; "
            "better take pieces whose colours differ more, or other light"
        )
    learned = len(appearance.pieces) - len(appearance.not_found)
    print(f"learned {counted(learned, 'kind')} of pieces; written: {options.output}")
    if wrong := own_grid_fault(appearance.board, kit):
        print(wrong)
    return DONE if is_known and not wrong else NO
