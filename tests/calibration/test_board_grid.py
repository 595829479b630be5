"""Comparison of the lines on a learned board with the grid of its kit."""

import re
from dataclasses import replace

import numpy as np
import pytest

from calibration.board_appearance import BoardAppearance
from calibration.board_grid import grid_fault, own_grid_fault
from calibration.kit import load_kit

SIZE_MM = 360
PITCH_MM = 36.0


@pytest.fixture(scope="module")
def board():
    """Return a board of 8 × 8 squares whose kit gives no colours."""
    own = replace(load_kit("domination").board, files=8, ranks=8, pitch_mm=(PITCH_MM,) * 2, a1_mm=(-126.0, -126.0))
    return replace(own, missing=frozenset(), cell_colour=None)


def appearance(colour, seen=1):
    """Return the learned appearance of a painting (360, 360, 3), with fine grain."""
    grain = np.random.default_rng(1).normal(0, 0.02, (SIZE_MM, SIZE_MM, 3))
    colour = (np.asarray(colour) + grain).astype(np.float32)
    return BoardAppearance(colour, np.full((SIZE_MM,) * 2, 0.02, np.float32), np.full((SIZE_MM,) * 2, seen, np.uint8))


def wood():
    """Return a (360, 360, 3) painting of plain wood."""
    return np.full((SIZE_MM, SIZE_MM, 3), (0.7, 0.5, 0.3))


def chequer():
    """Return a painting of a chequered board."""
    colour, margin = wood(), round((SIZE_MM - 8 * PITCH_MM) / 2)
    for row in range(8):
        for column in range(row % 2, 8, 2):
            top, left = (margin + round(k * PITCH_MM) for k in (row, column))
            colour[top : top + 36, left : left + 36] = (0.3, 0.2, 0.1)
    return colour


def lines():
    """Return a painting of wood with lines between the squares."""
    colour, margin = wood(), round((SIZE_MM - 8 * PITCH_MM) / 2)
    for k in range(9):
        at = margin + round(k * PITCH_MM)
        colour[margin:-margin, at - 1 : at + 1] = colour[at - 1 : at + 1, margin:-margin] = 0.2
    return colour


def picture():
    """Return a painting of sky, a horizon, and a house with windows."""
    colour = wood()
    colour[:150] = (0.5, 0.7, 0.9)
    colour[90:200, 60:180] = (0.8, 0.3, 0.2)
    for left in range(70, 170, 25):
        colour[110:130, left : left + 12] = 0.9
    return colour


def planks():
    """Return a painting of planks as wide as the squares."""
    colour = wood()
    colour[::36] = colour[1::36] = 0.1
    return colour


@pytest.mark.parametrize("painted", [chequer, lines])
def test_the_board_s_own_grid_is_right(board, painted):
    """The true grid, and one that is off by about 1 mm, are accepted."""
    assert grid_fault(appearance(painted()), board) == ""
    nearly = replace(board, a1_mm=(-125.0, -127.0), pitch_mm=(35.8, 36.2))
    assert grid_fault(appearance(painted()), nearly) == ""


@pytest.mark.parametrize("painted", [chequer, lines])
def test_another_grid_is_said_with_where(board, painted):
    """A wrong pitch, offset or number of squares is reported with the measured distances."""
    shown = appearance(painted())
    wide = replace(board, pitch_mm=(39.6, 36.0), a1_mm=(-138.6, -126.0))
    assert grid_fault(shown, wide).startswith("the lines on the board are about 36 mm apart from file to file, the bor")
    aside = grid_fault(shown, replace(board, a1_mm=(-126.0, -108.0)))
    assert aside.startswith("the lines on the board lie about 1")
    assert "mm beside the borders of the kit's squares from rank to rank: measure the playing field again" in aside
    ten = replace(board, files=10, ranks=10, pitch_mm=(28.8, 28.8), a1_mm=(-129.6, -129.6))
    assert re.search(r"about 3[567] mm apart .*, the borders of the kit's squares 28\.8 mm", grid_fault(shown, ten))


@pytest.mark.parametrize("painted", [wood, picture, planks])
def test_of_a_board_that_shows_no_grid_nothing_is_said(board, painted):
    """Plain wood, a painting, and planks in one direction give no report."""
    for a1 in ((-126.0, -126.0), (-108.0, -117.0)):
        assert grid_fault(appearance(painted()), replace(board, a1_mm=a1)) == ""


def test_of_what_was_not_seen_or_is_printed_by_the_kit_nothing_is_said(board):
    """Nothing is reported for an unseen board, or for one whose colours are given by the kit."""
    aside = replace(board, a1_mm=(-108.0, -126.0))
    assert own_grid_fault(appearance(chequer()), on(aside)) != ""
    assert grid_fault(appearance(chequer(), seen=0), aside) == ""
    assert own_grid_fault(None, on(aside)) == ""
    assert own_grid_fault(appearance(chequer()), on(replace(aside, cell_colour=(200, 180, 150)))) == ""


def test_of_pillars_that_stand_above_the_mat_nothing_is_said(board):
    """Nothing is reported for a kit with pillars."""
    aside = replace(board, a1_mm=(-108.0, -126.0))
    assert own_grid_fault(appearance(chequer()), on(aside, "diamond")) == ""


def on(board, kit="domination"):
    """Return a kit with this board."""
    return replace(load_kit(kit), board=board)
