"""Stacks whose pieces are displaced in all directions."""

import pytest

from tools.boards import read_board


@pytest.mark.parametrize(
    ("seed", "cell"),
    [
        pytest.param(127, "b7", id="off the middle by half a column"),
        pytest.param(303, "h6", id="discs that step to all sides"),
        pytest.param(1034, "f4", id="two higher than it would be if it stood straight"),
    ],
)
def test_heights_of_stacks_that_stand_askew(seed, cell):
    """Stacks with displaced pieces in random rendered boards are read correctly."""
    told = {one.name: one for one in read_board(seed)}[cell]
    assert told.right, f"{told.stack} was read as {told.read}"
