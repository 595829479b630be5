"""The learned appearance of a board follows dust and stains on empty squares, but no piece, shadow or light."""

from dataclasses import replace

import numpy as np
import pytest

from calibration.kit import load_kit
from companion.simulate.ground import places_mm
from companion.simulate.light import LINEAR, WINDOW, to_srgb
from companion.simulate.placement import make_rng, set_up
from companion.simulate.render import Renderer
from companion.simulate.sprite import Scene
from companion.simulate.viewpoint import default_camera, default_pose
from vision.appearance.board_following import STEP
from vision.appearance.board_learning import cell_texels
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

STANDING = {"a1": "W", "c3": "W", "e3": "WW", "f6": "B", "h8": "B", "d6": "BB"}
STAINED = "b5", "c5"
CAMERA = default_camera()
POSE = default_pose(PRINTED, CAMERA)
PLACES = places_mm(CAMERA, POSE)
PLIES = 14


@pytest.fixture(scope="module")
def renderer():
    """Return a renderer of the printed board by the window."""
    return Renderer(Scene(PRINTED, CAMERA, POSE, WINDOW))


@pytest.fixture(scope="module")
def appearance(renderer):
    """Enrol set and board from a picture with pieces and one of the empty board."""
    return enrol(photographed(renderer, STANDING), OWN, CAMERA, (), STANDING, [photographed(renderer, {})])


def photographed(renderer, layout, number=0):
    """Render a layout (cell → stack)."""
    return renderer.picture(set_up(tuple(layout.get(c, "") for c in PRINTED.cells), None, make_rng("own", 2)), number)


def lit(image, share):
    """Return ``image`` with its light multiplied by ``share`` (…, 3), BGR."""
    return np.clip(np.rint(to_srgb(LINEAR[image] * share)), 0, 255).astype(np.uint8)


def stained(image, amount):
    """Return ``image`` with wine spilt over two squares; ``amount``, 0 to 1, is how strong the stain is."""
    x, y = PLACES
    middle = np.mean([OWN.centre_mm(cell) for cell in STAINED], axis=0)
    wet = 1 / (1 + np.exp((np.hypot(x - middle[0], y - middle[1]) - 18) / 1.5))
    return lit(image, 1 - amount * wet[..., None] * np.array([0.15, 0.75, 0.65]))


def read(reader, image, number):
    """Read a picture; return the best (state, probability) of each cell."""
    reading = reader.read(Frame(image, number, float(number)))
    return {cell: reading.best(row) for row, cell in enumerate(reading.cells)}


def colours(reader, cell):
    """Return the learned display values of a cell's texels."""
    board = reader.appearance.board
    return board.colour[cell_texels(OWN, cell, board.seen.shape)]


def seem_empty(seen):
    """Return whether the stained cells are read as empty with certainty."""
    return all(seen[cell][0] == (0, None) and seen[cell][1] > 0.99 for cell in STAINED)


def test_a_stain_that_spreads_slowly_is_followed(renderer, appearance):
    """A stain that grows over 14 plies is learned in small steps, and the cells stay read as empty.

    Without following it, the final picture would not be read as empty.
    """
    reader = Reader(OWN, CAMERA, appearance)
    for ply in range(1, PLIES + 1):
        image = stained(photographed(renderer, STANDING, ply), ply / PLIES)
        assert seem_empty(read(reader, image, ply)), ply
        before = colours(reader, STAINED[0])
        reader.learn_bare(image, STANDING)
        assert np.abs(colours(reader, STAINED[0]) - before).max() <= STEP + 1e-6
    assert {cell: seen[0] for cell, seen in read(reader, image, PLIES + 1).items() if seen[0][0]} == {
        cell: (len(stack), stack[-1]) for cell, stack in STANDING.items()
    }
    assert not seem_empty(read(Reader(OWN, CAMERA, appearance), image, 0)), "nor was there need to follow it"


def test_what_stands_where_nothing_should_is_never_learned(renderer, appearance):
    """A piece on a cell that should be empty is read as such, and never becomes part of the board's appearance."""
    reader = Reader(OWN, CAMERA, appearance)
    before = colours(reader, "b4").copy()
    for number in range(PLIES):
        image = photographed(renderer, STANDING | {"b4": "B"}, number)
        assert read(reader, image, number)["b4"][0] == (1, "B")
        reader.learn_bare(image, STANDING)
    assert np.array_equal(colours(reader, "b4"), before)


@pytest.mark.parametrize(
    ("share", "reach_mm"), [((0.5, 0.5, 0.5), 45.0), ((0.7, 0.9, 1.1), np.inf)], ids=["a shade", "warm light"]
)
def test_neither_shade_nor_light_is_learned(renderer, appearance, share, reach_mm):
    """A shadow over the middle, or warmer light everywhere, changes neither the reading nor the learned board."""
    reader = Reader(OWN, CAMERA, appearance)
    x, y = PLACES
    where = ((np.abs(x) < reach_mm) & (np.abs(y) < reach_mm))[..., None]
    for ply in range(1, 5):
        image = lit(photographed(renderer, STANDING, ply), np.where(where, 1 + (np.array(share) - 1) * ply / 4, 1.0))
        seen = read(reader, image, ply)
        assert {cell for cell in seen if seen[cell][0][0]} == set(STANDING)
        assert not reader.learn_bare(image, STANDING)
