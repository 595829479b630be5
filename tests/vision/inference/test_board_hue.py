"""Which squares of a learned board are looked at for pieces that colours do not find."""

from types import SimpleNamespace

import numpy as np

from vision.inference.ground_hue import OFF_HUE, hue_from_board

ROWS, COLUMNS = 12, 9
BOARD = np.array([110.0, 80.0, 85.0])
MAROON = np.array([85.0, 68.0, 100.0])


def shown(*colours, known=True):
    """Cells that show these colours (b g r, codes) on a board of one colour, where that is ``known``."""
    codes = np.array([np.broadcast_to(colour, (ROWS, COLUMNS, 3)) for colour in colours]).astype(np.uint8)
    board = np.broadcast_to(BOARD[:, None, None] / 255, (len(colours), 3, ROWS, COLUMNS)).astype(np.float32)
    observations = SimpleNamespace(
        codes=codes,
        gain=np.full((len(colours), 3), 1 / 255, np.float32),
        expected=board if known else np.full_like(board, np.nan),
    )
    return SimpleNamespace(observations=observations, geometry=SimpleNamespace(rows_round=(2, 10)))


def test_another_hue_of_the_boards_brightness_is_told_from_shade():
    piece, shade = hue_from_board(shown(MAROON, 0.6 * BOARD), np.arange(2))
    assert piece > 2 * OFF_HUE
    assert shade < OFF_HUE


def test_where_the_board_is_not_known_no_hue_is_off():
    assert hue_from_board(shown(MAROON, known=False), np.arange(1)) == 0


def test_of_no_squares_none_is_off():
    assert hue_from_board(shown(MAROON), np.arange(0)).shape == (0,)
