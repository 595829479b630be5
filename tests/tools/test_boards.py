"""Rendered boards seen through cameras that no example has."""

import random

import pytest

from calibration.kit import load_kit
from companion.simulate.light import LAMP
from companion.simulate.placement import PlacedPiece, Setup
from companion.simulate.sprite import Scene
from tools.boards import Cell, nearest_pose, random_camera, read_board, report
from tools.visibility import MIN_VISIBLE, visible_fractions

pytestmark = pytest.mark.pictures


@pytest.mark.parametrize("seed", [110, 117])
def test_stacks_in_a_line_away_from_the_camera_are_told_apart(seed):
    """Tall stacks two squares apart overlap in the picture: each is part of the other's background."""
    cells = read_board(seed, "citadel")
    assert max(len(cell.stack) for cell in cells) > 3
    assert [cell for cell in cells if not cell.right and cell.seen >= MIN_VISIBLE] == []


@pytest.mark.parametrize("seed", [109, 112])
def test_towers_of_one_colour_are_told_from_single_pyramids(seed):
    """Each pyramid of a tower is slightly displaced and turned relative to the one below."""
    cells = read_board(seed, "ziggurat")
    assert {len(set(cell.stack.lower())) for cell in cells} == {0, 1, 2, 3}
    assert [cell for cell in cells if not cell.right] == []


def test_squares_that_cannot_be_seen_are_told_apart():
    seen, hidden = Cell(1, "a1", "", "1R", 0.5, False, 0.5), Cell(2, "a1", "R", "0", 0.5, False, 0.05)
    right = Cell(2, "b1", "R", "1R", 0.995, True, 1.0)
    lines = report([seen, hidden, right], 0)
    assert [line.split(": ")[1].split(" (")[0] for line in lines[:4]] == ["1 of 3", "0 of 2", "1 of 2", "1 of 2"]
    assert [line.split(" (")[0] for line in lines[7:]] == ["| 0.5 to 0.9 | 1 | 0 of 1", "| 0.99 to 0.999 | 1 | 1 of 1"]


def test_of_a_square_behind_a_tower_nothing_is_seen():
    kit, camera = load_kit("citadel"), random_camera(random.Random(1))
    pose = nearest_pose(kit, camera, elevation_deg=48.0, azimuth_deg=-90.0)  # from behind the first player
    tower = tuple(PlacedPiece("R", (0.0, 0.0), 0.0, 0.0) for _ in range(2))
    piles = tuple(tower if cell == "d4" else tower[:1] if cell == "d6" else () for cell in kit.cells)
    seen = dict(zip(kit.cells, visible_fractions(Scene(kit, camera, pose, LAMP), Setup(piles)), strict=True))
    assert seen["d4"] == seen["d6"] == seen["e5"] == 1.0
    assert seen["d5"] < MIN_VISIBLE
