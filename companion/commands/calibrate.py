"""`companion calibrate`: a lens from photographs of a board, the look of a set from a photograph of its pieces."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from calibration.camera import format_camera, read_camera
from calibration.errors import ProfileError
from calibration.kit import load_kit
from calibration.lens import DEFAULT_BOARD, LensCalibration, calibrate_lens, read_board
from calibration.looks import format_look
from calibration.picture import load_picture
from calibration.quality import advice, quality
from companion.app.ground import start_levels
from companion.commands.options.parser import OptionGroup, Subparsers, add_command
from companion.commands.output.codes import DONE
from companion.commands.output.files import write_file
from companion.commands.output.progress import followed
from companion.languages.english import counted
from vision.enrolment import enrol
from vision.errors import VisionError


@dataclass(frozen=True, slots=True)
class LensOptions(OptionGroup):
    """What `companion calibrate lens` is told."""

    images: tuple[Path, ...]
    board: Path | None
    output: Path


@dataclass(frozen=True, slots=True)
class PiecesOptions(OptionGroup):
    """What `companion calibrate pieces` is told."""

    kit: str
    image: Path
    camera: Path
    output: Path


def add_parser(subparsers: Subparsers) -> None:
    """Add `calibrate` with its two kinds."""
    calibrate = subparsers.add_parser("calibrate", help="calibrate the lens, or learn the look of a set")
    kinds = calibrate.add_subparsers(dest="kind", required=True, metavar="lens|pieces", parser_class=type(calibrate))
    what = "intrinsics and distortion from photographs of a ChArUco board"
    lens = add_command(kinds, "lens", LensOptions, run_lens, help=what)
    lens.add_argument("images", nargs="+", type=Path, metavar="IMAGE")
    lens.add_argument("--board", type=Path, help="TOML file that describes the board (default: 9 x 6 squares of 30 mm)")
    lens.add_argument("-o", "--output", type=Path, required=True, metavar="CAMERA.toml")
    what = "a set's look from the kit's [enrol] photograph"
    pieces = add_command(kinds, "pieces", PiecesOptions, run_pieces, help=what)
    pieces.add_argument("kit", metavar="KIT")
    pieces.add_argument("image", type=Path, metavar="IMAGE")
    pieces.add_argument("--camera", type=Path, required=True, metavar="CAMERA.toml")
    pieces.add_argument("-o", "--output", type=Path, required=True, metavar="SET.toml")


def run_lens(options: LensOptions) -> int:
    """`companion calibrate lens`."""
    board = read_board(options.board) if options.board else DEFAULT_BOARD
    result = calibrate_lens(followed(options.images, len(options.images), "looking for the board"), board)
    write_file(options.output, format_camera(result.camera))
    print("\n".join(lens_report(result)))
    print(f"written: {options.output}")
    return DONE


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


def run_pieces(options: PiecesOptions) -> int:
    """`companion calibrate pieces`."""
    kit = load_kit(options.kit)
    camera = read_camera(options.camera)
    image = load_picture(options.image)
    try:
        look = enrol(image, kit, camera, start_levels(kit))
    except VisionError as error:
        raise ProfileError(f"{options.image}: {error}") from error
    write_file(options.output, format_look(look))
    for cell, letter in kit.enrol.items():
        if letter in look.not_found:
            print(f"not found: {letter} on {cell}; it keeps the kit's colour until a photograph shows it there")
    learned = len(look.pieces) - len(look.not_found)
    print(f"learned {counted(learned, 'kind')} of pieces; written: {options.output}")
    return DONE
