"""Drawing the belief over a picture."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.kit import Kit, load_kit
from companion.simulate.light import WINDOW
from companion.simulate.placement import make_rng, set_up, upright
from companion.simulate.render import Renderer
from companion.simulate.sprite import Scene
from companion.simulate.viewpoint import default_camera, default_pose
from vision import drawing
from vision.pose.projection import project
from vision.reading import CellState, Reading
from vision.scene.solids import cell_corners, hull, pieces

STATES: tuple[CellState, ...] = ((0, None), (1, "R"), (2, "R"), (1, "G"))
GREY = np.full((720, 1280, 3), 120, np.uint8)


@pytest.fixture
def sight() -> drawing.Viewpoint:
    """Return the viewpoint of the simulated camera over the Domination mat."""
    kit = load_kit("domination")
    return drawing.Viewpoint(kit, default_camera(), default_pose(kit))


def reading(kit: Kit, p: float = 0.999, outlier_share: str | None = None, **stacks: int) -> Reading:
    """Return a reading of empty cells except ``stacks`` (cell → index of the state), each with probability ``p``.

    ``outlier_share``: name of a cell to be reported as covered.
    """
    n = len(kit.cells)
    share = np.full((n, len(STATES)), 1e-6)
    share[:, 0] = 1
    for cell, state in stacks.items():
        share[kit.cells.index(cell)] = [p if i == state else (1 - p) / 3 for i in range(len(STATES))]
    covered = np.array([0.9 if cell == outlier_share else 0.0 for cell in kit.cells], np.float32)
    log = np.log(share / share.sum(axis=1, keepdims=True)).astype(np.float32)
    return Reading(kit.cells, STATES, log, covered)


def inks(picture: drawing.Picture) -> set[tuple[int, ...]]:
    """Return the set of colours in a picture."""
    packed = np.unique(picture.reshape(-1, 3).astype(np.uint32) @ np.array([1, 256, 65536], np.uint32))
    return {(int(ink) & 255, int(ink) >> 8 & 255, int(ink) >> 16) for ink in packed}


def inside(picture: drawing.Picture, sight: drawing.Viewpoint, cell: str) -> drawing.Picture:
    """Return the part of the picture well inside a cell's floor."""
    corners = project(cell_corners(sight.kit, cell), sight.pose, sight.camera)
    left, top = np.sort(corners, axis=0)[1].astype(int) + 3
    right, bottom = np.sort(corners, axis=0)[2].astype(int) - 3
    return picture[top:bottom, left:right]


def test_the_picture_itself_is_left_alone(sight: drawing.Viewpoint) -> None:
    """The input is left unchanged; a new picture of the same shape is returned."""
    before = GREY.copy()
    result = drawing.draw_belief(GREY, sight, reading(sight.kit, d4=1), "accepted")
    assert (before == GREY).all()
    assert result.shape == GREY.shape
    assert not (result == GREY).all()


def test_doubt_has_its_own_colours(sight: drawing.Viewpoint) -> None:
    """Certain cells get neither colour of doubt; p = 0.85 is orange, p = 0.5 is red."""
    for p, ink in ((0.999, drawing.SURE), (0.85, drawing.UNSURE), (0.5, drawing.DOUBTFUL)):
        found = inks(drawing.draw_belief(GREY, sight, reading(sight.kit, p, d4=2), ""))
        assert {drawing.UNSURE, drawing.DOUBTFUL} & found == {ink} - {drawing.SURE}


def test_a_doubtful_empty_cell_is_marked(sight: drawing.Viewpoint) -> None:
    """A cell believed empty with a probability of only 0.6 is drawn in the colour of doubt."""
    drawn = drawing.draw_belief(GREY, sight, reading(sight.kit, 0.6, d4=0), "")
    assert drawing.DOUBTFUL in inks(inside(drawn, sight, "d4"))
    assert drawing.DOUBTFUL not in inks(inside(drawn, sight, "e4"))


def test_covered_cells_are_hatched(sight: drawing.Viewpoint) -> None:
    """A covered cell is hatched, its neighbour is not."""
    drawn = drawing.draw_belief(GREY, sight, reading(sight.kit, outlier_share="e5"), "")
    assert drawing.HATCH in inks(inside(drawn, sight, "e5"))
    assert drawing.HATCH not in inks(inside(drawn, sight, "d5"))


def test_higher_stacks_reach_farther_up(sight: drawing.Viewpoint) -> None:
    """The outline of two discs starts at least three rows farther up than that of one."""
    rows = []
    for state in (1, 2):
        with_stack = drawing.draw_belief(GREY, sight, reading(sight.kit, 0.8, d4=state), "")
        empty = drawing.draw_belief(GREY, sight, reading(sight.kit), "")
        rows.append(np.flatnonzero((with_stack != empty).any(axis=(1, 2))).min())
    assert rows[1] < rows[0] - 3


def test_changed_cells_are_highlighted(sight: drawing.Viewpoint) -> None:
    """Cells are highlighted only if they are passed as changed."""
    assert drawing.CHANGED in inks(drawing.draw_belief(GREY, sight, reading(sight.kit), "", ("c3",)))
    assert drawing.CHANGED not in inks(drawing.draw_belief(GREY, sight, reading(sight.kit), ""))


def test_caption_is_ascii_and_fits(sight: drawing.Viewpoint) -> None:
    """Characters that OpenCV cannot draw become question marks; a long caption is cut and leaves the margin free."""
    as_written = drawing.draw_belief(GREY, sight, reading(sight.kit), "5 × 5")
    as_ascii = drawing.draw_belief(GREY, sight, reading(sight.kit), "5 ? 5")
    assert (as_written == as_ascii).all()
    long = drawing.draw_belief(GREY, sight, reading(sight.kit), "W" * 500)
    bar = long[-drawing.CAPTION_HEIGHT_PX :]
    assert len(inks(bar[:, -drawing.CAPTION_MARGIN_PX :])) == 1
    assert len(inks(bar)) > 1


def test_what_stands_below_is_what_can_look_so() -> None:
    """The assumed lower pieces are equal discs under a disc, and pyramids of decreasing size under a pyramid.

    Nothing is assumed under the largest one, which would hide it.
    """
    discs, pyramids = load_kit("domination"), load_kit("ziggurat")
    assert drawing.likely_stack(discs, 3, "R") == "RRR"
    assert drawing.likely_stack(pyramids, None, "Q") == "Q"
    sizes = [pyramids.piece(letter).width_mm for letter in drawing.likely_stack(pyramids, 3, "w")]
    assert sizes == [25.4, 19.8, 14.3]
    assert drawing.likely_stack(pyramids, 2, "w")[1:] == "w"
    assert drawing.likely_stack(pyramids, 2, "Q") == "Q"


def mask(picture: drawing.Picture, other: drawing.Picture) -> drawing.Picture:
    """Return (height, width) uint8, 1 where two pictures differ clearly, with small gaps closed."""
    differ = (np.abs(picture.astype(int) - other.astype(int)).max(axis=2) > 25).astype(np.uint8)
    return np.asarray(cv2.morphologyEx(differ, cv2.MORPH_CLOSE, np.ones((9, 9), np.uint8)), np.uint8)


@pytest.mark.parametrize(
    ("name", "cell", "stack", "level"),
    [
        ("domination", "d4", "RGBYR", 0),
        ("cheight", "b5", "K", 0),
        ("citadel", "d7", "RBR", 2),
        ("diamond", "c3", "R", 4),
        ("ziggurat", "c4", "QDW", 0),
    ],
)
def test_outlines_lie_on_the_pieces_of_every_kit(name: str, cell: str, stack: str, level: int) -> None:
    """The outline of the believed stack contains what the renderer paints of it, and little more."""
    kit, camera = load_kit(name), default_camera()
    pose, number = default_pose(kit), kit.cells.index(cell)
    levels = [level if other == cell else 0 for other in kit.cells]
    empty = tuple("" for _ in kit.cells)
    full = (*empty[:number], stack, *empty[number + 1 :])
    # Uniform ambient light casts no shadows, so the difference is the stack itself.
    renderer = Renderer(Scene(kit, camera, pose, replace(WINDOW, colour=(0.0, 0.0, 0.0), room=(0.8, 0.8, 0.8))))
    pictures = [
        renderer.clear(upright(set_up(what, tuple(levels), make_rng("draw", 0)))).copy() for what in (empty, full)
    ]
    rendered = mask(*pictures)
    sight = drawing.Viewpoint(kit, camera, pose, levels)
    letters = drawing.likely_stack(kit, len(stack), stack[-1])
    points = np.vstack([body.points for body in pieces(kit, cell, letters, level)])
    outline = np.zeros(rendered.shape, np.uint8)
    cv2.fillConvexPoly(outline, np.rint(hull(sight.polygon(points))).astype(np.int32), 1)
    assert (rendered & outline).sum() > 0.9 * rendered.sum()
    assert (rendered & outline).sum() > 0.8 * outline.sum()
    states: tuple[CellState, ...] = ((0, None), (len(stack), stack[-1]))
    log = np.log(np.array([[0.01, 0.99] if other == cell else [0.99, 0.01] for other in kit.cells], np.float32))
    drawn = drawing.draw_belief(
        pictures[1], sight, Reading(kit.cells, states, log, np.zeros(len(kit.cells), np.float32)), ""
    )
    rows, columns = np.nonzero((drawn != pictures[1]).any(axis=2) & (outline > 0))
    assert len(rows) > 100
    assert len(set(columns.tolist())) > 5
