"""Whether a picture can be explained, from the number and the location of unexplained pixels."""

import numpy as np
import pytest

from vision.inference.outliers import UNLIKE_SHARE, covered_cells, is_wrong_board, temper

PITCH_MM = 30.0
PLACES = np.array([(PITCH_MM * file, PITCH_MM * rank, 0.0) for rank in range(8) for file in range(8)])


def shares(*places, share=2 * UNLIKE_SHARE):
    """Return (64,) unexplained shares of 8 × 8 cells: ``share`` at these (file, rank), small elsewhere."""
    unexplained = np.full(64, 0.02, np.float32)
    for file, rank in places:
        unexplained[8 * rank + file] = share
    return unexplained


EVERY_THIRD = [(cell % 8, cell // 8) for cell in range(0, 64, 3)]
ARM = [(file, rank) for file in (3, 4) for rank in range(6)]


@pytest.mark.parametrize(
    ("places", "is_other"), [((), False), (EVERY_THIRD, True), (ARM, False), (EVERY_THIRD[:4], False)]
)
def test_what_is_unlike_all_over_a_board_is_another_board(places, is_other):
    """Unexplained cells all over the board mean a wrong board; an arm or a few cells do not."""
    assert is_wrong_board(shares(*places), PLACES) is is_other


def test_cells_side_by_side_are_covered_and_single_ones_are_not():
    """Adjacent unexplained cells are reported as covered, isolated ones are not."""
    hidden = covered_cells(shares(*ARM, (0, 7), (6, 6), (7, 7)), PLACES, PITCH_MM)
    assert {(cell % 8, cell // 8) for cell in np.flatnonzero(hidden)} == set(ARM)


def test_what_is_not_understood_is_less_sure():
    """The probabilities of unexplained cells are tempered, and of all cells on a wrong board."""
    sure = np.log(np.array([[0.998, 0.001, 0.001]] * 64)).astype(np.float32)
    here = np.exp(temper(sure, shares((2, 2)), otherwise=False))
    assert here[18, 0] < 0.5
    assert here[18].sum() == pytest.approx(1, abs=1e-5)
    assert np.array_equal(np.delete(here, 18, axis=0), np.delete(np.exp(sure), 18, axis=0))
    assert (np.exp(temper(sure, shares(), otherwise=True))[:, 0] < 0.7).all()
