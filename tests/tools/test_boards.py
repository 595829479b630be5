"""Boards that the program renders itself, through cameras that no example has."""

import pytest

from tools.boards import read_board


@pytest.mark.parametrize("seed", [110, 117])
def test_stacks_in_a_line_away_from_the_camera_are_told_apart(seed):
    """Tall stacks two squares apart reach into each other's picture: each is the other's background."""
    cells = read_board(seed, "citadel")
    assert max(len(cell.stack) for cell in cells) > 3
    assert [cell for cell in cells if not cell.right] == []
