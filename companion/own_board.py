"""A game's kit on somebody's own board, from one photograph of that board."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from calibration.board_grid import own_grid_fault
from calibration.camera import Camera
from calibration.errors import ProfileError
from calibration.kit import MIN_MARKERS, Kit, PieceKind, kit_name, load_kit
from calibration.marker_alignment import align_cut
from calibration.measuring import Field, MeasuredBoard, measure_board
from calibration.own_board import Squares, own_kit
from calibration.piece_sizes import Size, with_pieces, with_sizes
from calibration.stickers import DICTIONARY
from companion.rules.game import Game
from vision.drawing import Picture
from vision.enrolment import learn_empty_board
from vision.errors import VisionError
from vision.pose.diagnosis import markers_of_other
from vision.pose.markers import detect
from vision.pose.registration import to_gray
from vision.sizing.measuring import measure_sizes
from vision.sizing.sizes import Sizes

MINE = "mine"

ENOUGH_MARKERS = 3
"""This many markers, unless they lie on one line, show the light all over a board by their white."""

TOO_FEW = "{count} markers do not tell the light all over the board: stick more round the squares, wholly on the board"


@dataclass(frozen=True, slots=True)
class BoardOptions:
    """What the picture does not say about a board.

    Attributes:
        sizes: of pieces, by their letters, as :func:`calibration.piece_sizes.with_sizes` takes them; the others are as
            large, relative to the squares, as those of the game's own kit.
        dictionary: of the markers, a ``cv2.aruco`` name.
        name: of the kit.
    """

    sizes: Mapping[str, Size] = field(default_factory=dict)
    dictionary: str = DICTIONARY
    name: str = MINE


def measure(
    game: Game, picture: Picture, seen: Field, options: BoardOptions, camera: Camera | None = None
) -> tuple[Kit, MeasuredBoard]:
    """The kit for ``game`` on the board in a photograph (height, width, 3) uint8 BGR, and how it was measured.

    On a board of the game's size, squares that the game does not have are missing.

    Raises ProfileError.
    """
    gray = to_gray(picture)
    found = detect(gray, options.dictionary)
    once = {number: places[0] for number, places in found.items() if len(places) == 1}
    if len(once) < MIN_MARKERS and (other := markers_of_other(gray, options.dictionary)):
        raise ProfileError(
            f"the board shows {other}, not of {options.dictionary}: say --dictionary, or use the stickers of "
            "companion mat"
        )
    height, width = picture.shape[:2]
    board = measure_board(seen, align_cut(gray, options.dictionary, once), (width, height), camera)
    layout = game.layout
    alike = (layout.files, layout.ranks) == (seen.files, seen.ranks)
    missing = layout.missing if alike else frozenset[str]()
    squares = Squares(game.tag, seen.files, seen.ranks, missing, tuple(game.pieces))
    kit = own_kit(options.name, squares, board, load_kit(kit_name(game.tag)), options.dictionary)
    return with_sizes(kit, options.sizes), board


def appearance_fault(kit: Kit, camera: Camera, empty: Picture) -> str:
    """Why a board, empty in a photograph (height, width, 3) uint8 BGR, cannot be read; "" if it can.

    Its appearance cannot be learned, or its lines are not those of its kit.  Always "" if the kit describes its
    appearance.
    """
    if kit.board.cell_colour is not None:
        return ""
    try:
        appearance = learn_empty_board([empty], kit, camera)
    except VisionError as error:
        count = len(kit.mat.markers)
        return TOO_FEW.format(count=count) if count < ENOUGH_MARKERS else str(error)
    return own_grid_fault(appearance, kit)


def with_measured_pieces(
    kit: Kit,
    camera: Camera,
    empty: Picture,
    shown: Picture,
    layout: Mapping[str, str],
    levels: tuple[int, ...] = (),
) -> tuple[Kit, tuple[Sizes, ...]]:
    """The kit of a measured board with pieces of the sizes that a photograph shows, and these apparent sizes.

    What the photograph does not show is unchanged.  ``empty`` and ``shown`` (height, width, 3) uint8 BGR are of the
    bare board and of a ``layout``, stacks by cell, from one place; ``levels`` of terrain, one a cell, if any.

    Raises VisionError.
    """
    sizes = measure_sizes(shown, kit, camera, layout, [empty], levels)
    by_letter = {letter: each for each in sizes for letter in each.letters}
    pieces = tuple(_with_measured_size(kind, by_letter.get(kind.letter)) for kind in kit.pieces)
    return with_pieces(kit, pieces), sizes


def _with_measured_size(kind: PieceKind, sizes: Sizes | None) -> PieceKind:
    """A piece kind with the sizes that a photograph shows, as far as it shows them."""
    if sizes is None:
        return kind
    width = round(sizes.width_mm, 1) if sizes.is_width_known else kind.width_mm
    height = round(sizes.height_mm, 1) if sizes.is_height_known else kind.height_mm
    return replace(kind, width_mm=width, height_mm=height)
