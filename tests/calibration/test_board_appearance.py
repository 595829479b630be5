"""Storage of a board's appearance in a set file."""

import base64

import cv2
import numpy as np
import pytest

from calibration.board_appearance import BoardAppearance, format_board, read_board, unknown_board
from calibration.errors import ProfileError
from calibration.toml import Table


@pytest.fixture
def board():
    """Return a random appearance of 7 × 9 texels."""
    rng = np.random.default_rng(5)
    colour = rng.uniform(0, 1.2, (7, 9, 3)).astype(np.float32)
    return BoardAppearance(
        colour, rng.uniform(0, 0.4, (7, 9)).astype(np.float32), rng.integers(0, 4, (7, 9)).astype(np.uint8)
    )


def table(board):
    """Return the appearance as a parsed table of a set file."""
    return Table({key: text.strip('"') for key, text in format_board(board).items()}, "set.toml: board")


def test_what_is_written_is_read_back(board):
    """Colour and spread survive a round trip within 0.003, the counts exactly."""
    again = read_board(table(board))
    np.testing.assert_allclose(again.colour, board.colour, atol=0.003)
    np.testing.assert_allclose(again.spread, board.spread, atol=0.002)
    np.testing.assert_array_equal(again.seen, board.seen)


def test_a_board_of_which_nothing_is_known_has_a_texel_a_millimetre():
    """An unknown board has one unseen texel per mm."""
    board = unknown_board(30.0, 20.0)
    assert board.colour.shape == (20, 30, 3)
    assert not board.seen.any()


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        ("colour", "no base64", "colour is no picture"),
        ("spread", "AAAA", "spread is no picture"),
        ("seen", None, "seen is missing"),
    ],
)
def test_a_broken_board_is_named(board, key, text, said):
    """A missing or undecodable layer is named."""
    rows = {name: value.strip('"') for name, value in format_board(board).items()} | {key: text}
    with pytest.raises(ProfileError, match=f"set.toml: board: {said}"):
        read_board(Table({name: value for name, value in rows.items() if value is not None}, "set.toml: board"))


def test_layers_of_different_size_are_refused(board):
    """Layers of different sizes are refused."""
    rows = {name: value.strip('"') for name, value in format_board(board).items()}
    rows["seen"] = format_board(unknown_board(3.0, 2.0))["seen"].strip('"')
    with pytest.raises(ProfileError, match="colour, spread and seen differ in size"):
        read_board(Table(rows, "set.toml: board"))


def test_layers_of_other_depth_are_read_as_what_they_must_be(board):
    """Images with other depths or channels are converted to the required ones."""
    rows = {name: value.strip('"') for name, value in format_board(board).items()}
    for name, shape in {"colour": (7, 9, 4), "spread": (7, 9, 3), "seen": (7, 9)}.items():
        png = cv2.imencode(".png", np.full(shape, 257, np.uint16))[1]
        rows[name] = base64.b64encode(png.tobytes()).decode()
    again = read_board(Table(rows, "set.toml: board"))
    assert (again.colour.shape, again.spread.shape, again.seen.shape) == ((7, 9, 3), (7, 9), (7, 9))
    assert (again.seen == 1).all()
