"""Stacks in a line away from the camera, and towers: each can look like the other."""

import pytest

from tools.boards import read_board


@pytest.mark.parametrize(
    ("kit", "seed", "cells"),
    [
        pytest.param("cheight", 139, ("c5", "c6"), id="two stacks that look like a tower"),
        pytest.param("citadel", 304, ("b4",), id="a tower that looks like a cube before a stack"),
    ],
)
def test_a_line_of_stacks_and_a_tower_are_told_apart(kit, seed, cells):
    told = {cell.name: cell for cell in read_board(seed, kit)}
    for name in cells:
        assert told[name].right, f"{name}: {told[name].stack} was read as {told[name].read}"
