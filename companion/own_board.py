"""A game's kit on somebody's own board, from one photograph of it."""

from __future__ import annotations

from dataclasses import dataclass

from calibration.camera import Camera
from calibration.kit import Kit, kit_name, load_kit
from calibration.measuring import Field, MeasuredBoard, measure_board
from calibration.own_board import Squares, own_kit
from calibration.stickers import DICTIONARY
from companion.rules.game import Game
from vision.drawing import Picture
from vision.pose.markers import detect
from vision.pose.registration import to_gray

MINE = "mine"


@dataclass(frozen=True, slots=True)
class Wish:
    """What the picture does not tell of a board.

    Attributes:
        piece_mm: width and height of a piece; None: as large for the squares as those of the game's own kit.
        dictionary: of the markers, a ``cv2.aruco`` name.
        name: of the kit.
    """

    piece_mm: tuple[float, float] | None = None
    dictionary: str = DICTIONARY
    name: str = MINE


def measure(
    game: Game, picture: Picture, field: Field, wish: Wish, camera: Camera | None = None
) -> tuple[Kit, MeasuredBoard]:
    """The kit for ``game`` on the board in a photograph (height, width, 3) uint8 BGR, and how it was measured.

    Squares that the game does not have are missing on a board of the game's size.

    Raises ProfileError.
    """
    found = detect(to_gray(picture), wish.dictionary)
    once = {number: places[0] for number, places in found.items() if len(places) == 1}
    height, width = picture.shape[:2]
    board = measure_board(field, once, (width, height), camera)
    layout = game.layout
    alike = (layout.files, layout.ranks) == (field.files, field.ranks)
    missing = layout.missing if alike else frozenset[str]()
    squares = Squares(game.tag, field.files, field.ranks, missing, tuple(game.pieces))
    return own_kit(wish.name, squares, board, load_kit(kit_name(game.tag)), wish.dictionary, wish.piece_mm), board
