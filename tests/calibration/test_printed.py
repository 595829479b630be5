"""The printed mat as pixels, and the board appearance derived from it."""

import numpy as np
import pytest

from calibration.appearance import linear, nominal_appearance
from calibration.kit import load_kit
from calibration.printed import printed_appearance, printed_mat


def test_a_mat_has_its_size_and_its_paper():
    """The picture of the mat has its size, and the paper's colour in the corner."""
    kit = load_kit("domination")
    print_ = printed_mat(kit, 4)
    assert print_.shape == (kit.mat.height_mm * 4, kit.mat.width_mm * 4, 3)
    assert tuple(print_[0, 0]) == kit.mat.paper


@pytest.mark.parametrize("name", ["draughts", "draughts-10"])
def test_the_appearance_of_a_chequer_has_both_colours_and_its_edges_are_uncertain(name):
    """The expected appearance of a chequer has each square's colour, uncertain only at edges."""
    kit = load_kit(name)
    appearance = printed_appearance(kit)
    rows, columns = appearance.seen.shape
    for cell in ("a1", "b1", "d5"):
        x, y = kit.centre_mm(cell)
        row, column = int(rows / 2 - y), int(columns / 2 + x)
        assert appearance.colour[row, column] * 255 == pytest.approx(kit.ground(cell), abs=0.5)
        assert appearance.spread[row, column] < 1e-3
        edge = int(columns / 2 + x + kit.board.pitch_mm[0] / 2)
        assert appearance.spread[row, edge - 1 : edge + 1].max() > 0.05
    assert (appearance.seen == 1).all()


def test_only_a_chequer_promises_the_appearance_of_a_whole_board():
    """Only a chequered kit has an expected appearance of the whole board; others have a floor colour."""
    kit = load_kit("domination")
    assert nominal_appearance(kit).board is None
    assert nominal_appearance(kit).floor == linear(kit.board.cell_colour)
    assert nominal_appearance(load_kit("draughts")).board is not None
    assert nominal_appearance(load_kit("draughts")).floor is None
    assert np.isfinite(printed_appearance(kit).colour).all()
