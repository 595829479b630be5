"""Learning a board's appearance from a photograph with pieces, and what they covered from a later one."""

from dataclasses import replace

import numpy as np
import pytest

from calibration.kit import load_kit
from companion.simulate.light import WINDOW
from companion.simulate.placement import make_rng, set_up
from companion.simulate.render import Renderer
from companion.simulate.sprite import Scene
from companion.simulate.viewpoint import default_camera, default_pose
from vision.appearance.board_view import to_texels
from vision.capture.frames import Frame
from vision.enrolment import enrol
from vision.reader import Reader

PRINTED = load_kit("draughts")
OWN = replace(
    PRINTED,
    mat=replace(PRINTED.mat, colour=None, patches=()),
    board=replace(PRINTED.board, cell_colour=None, chequer_colour=None, line_colour=None),
)
"""The same board, with no colours given by the kit."""

BEGUN = {"a1": "W", "c3": "W", "e3": "WW", "f6": "B", "h8": "B", "d6": "BB"}


def photographed(layout):
    """Render a layout (cell → stack)."""
    camera = default_camera()
    scene = Scene(PRINTED, camera, default_pose(PRINTED, camera), WINDOW)
    return Renderer(scene).picture(set_up(tuple(layout.get(c, "") for c in PRINTED.cells), None, make_rng("own", 2)), 0)


@pytest.fixture(scope="module")
def reader():
    """Return a reader enrolled from a picture with pieces on the board."""
    return Reader(OWN, default_camera(), enrol(photographed(BEGUN), OWN, default_camera(), (), BEGUN))


def seen_on(board, cell):
    """Return the share of a square's texels that have been seen, and their mean display value."""
    corners = np.array(OWN.centre_mm(cell)) + np.array([[-8.0, -8.0], [8.0, 8.0]])
    row, column = (np.rint(axis).astype(int).ravel() for axis in to_texels(corners, board.seen.shape))
    part = np.s_[row[1] : row[0] + 1, column[0] : column[1] + 1]
    seen = board.seen[part] > 0
    return seen.mean(), board.colour[part][seen].mean(axis=0) if seen.any() else None


def test_what_a_move_lays_bare_is_learned_and_nothing_else(reader):
    """After a move from c3, the texels there are learned, while texels under pieces and known ones are unchanged."""
    before = reader.appearance.board
    assert seen_on(before, "c3")[0] < 0.2
    moved = {**{cell: stack for cell, stack in BEGUN.items() if cell != "c3"}, "d4": "W"}
    image = photographed(moved)
    reading = reader.read(Frame(image, 1, 1.0))
    assert reading.best(reading.cells.index("c3"))[0] == (0, None)
    assert reader.learn_bare(image, moved)
    board = reader.appearance.board
    share, colour = seen_on(board, "c3")
    assert share > 0.8
    assert np.abs(colour - seen_on(before, "e5")[1]).max() < 0.05, "a square of the same colour"
    assert seen_on(board, "e3")[0] == seen_on(before, "e3")[0], "a king stands there"
    known = before.seen > 0
    assert np.array_equal(board.colour[known], before.colour[known])
    again = reader.read(Frame(image, 2, 2.0))
    assert {cell: again.best(again.cells.index(cell))[0] for cell in moved} == {
        cell: (len(stack), stack[-1]) for cell, stack in moved.items()
    }


def test_a_square_that_looks_otherwise_than_the_match_says_teaches_nothing(reader):
    """If a piece is visible on a cell that should be empty, the texels there are not learned."""
    image = photographed(BEGUN)
    reader.read(Frame(image, 3, 3.0))
    before = reader.appearance.board
    reader.learn_bare(image, {cell: stack for cell, stack in BEGUN.items() if cell != "a1"})
    assert seen_on(reader.appearance.board, "a1")[0] == seen_on(before, "a1")[0]
