"""The printed calibration board: its corners are found by the program, at the right positions in mm."""

from dataclasses import replace

import numpy as np
import pypdfium2
import pytest

from calibration.chessboard import chessboard_pdf
from calibration.errors import ProfileError
from calibration.lens import DEFAULT_BOARD, find_board

PX_PER_MM = 4
SCALE = PX_PER_MM * 25.4 / 72 * (1 - 1e-5)


def raster(data):
    """Return the single page of a PDF as a picture."""
    (page,) = pypdfium2.PdfDocument(data)
    return np.ascontiguousarray(page.render(scale=SCALE).to_numpy()[..., :3])


@pytest.mark.parametrize(
    ("board", "paper", "size_mm"),
    [
        (DEFAULT_BOARD, "a4", (297, 210)),
        (DEFAULT_BOARD, "a3", (297, 420)),
        (replace(DEFAULT_BOARD, squares_x=6, squares_y=8, legacy_pattern=True), "a3", (297, 420)),
    ],
)
def test_all_corners_are_found_where_they_belong(board, paper, size_mm):
    """The corners of the printed board are found, with distances correct within 0.1 mm."""
    picture = raster(chessboard_pdf(board, paper))
    assert picture.shape[:2] == (size_mm[1] * PX_PER_MM, size_mm[0] * PX_PER_MM)
    corners = find_board(picture, board) / PX_PER_MM
    assert len(corners) == (board.squares_x - 1) * (board.squares_y - 1)
    steps = np.diff(corners.reshape(board.squares_y - 1, board.squares_x - 1, 2), axis=1)
    assert steps == pytest.approx(np.broadcast_to([board.square_mm, 0], steps.shape), abs=0.1)


def test_a_board_that_is_too_large():
    """A board larger than the paper is refused."""
    with pytest.raises(ProfileError, match="a board of 360 x 180 mm does not fit on A4; make it smaller"):
        chessboard_pdf(replace(DEFAULT_BOARD, squares_x=12), "a4")
