"""Lens calibration from the lines between squares, for boards whose markers were measured inaccurately."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.board_lens import Sighting, find_lens, pinhole, prior_lens
from calibration.kit import load_kit
from calibration.square_lines import grid_of, roughness_px, view_grid

SIZE = (1280, 720)
LENS = pinhole(prior_lens(SIZE) + np.array([0.1, 6.0, -5.0, -0.18, 0.05]))
POSE = np.array([2.5, 0.15, -0.1]), np.array([5.0, -15.0, 430.0])
ASIDE_PX = np.array([1.0, -0.5])
RULER_MM = 0.4
"""How much larger the markers are than measured, at each corner."""


@pytest.fixture(scope="module")
def kit():
    """Return Domination's board with smaller, nearer markers that count as measured by the user."""
    printed = load_kit("domination")
    markers = (replace(one, is_measured=True, corners_mm=nearer(one.corners_mm)) for one in printed.mat.markers)
    return replace(printed, mat=replace(printed.mat, markers=tuple(markers)))


def nearer(corners_mm):
    """Return corners moved towards the centre of the board."""
    return tuple((0.75 * x, 0.75 * y) for x, y in corners_mm)


def shown(board_mm):
    """Return where the true lens shows places (k, 2) mm on the board, (k, 2) px."""
    return cv2.projectPoints(np.column_stack([board_mm, np.zeros(len(board_mm))]), *POSE, *LENS)[0][:, 0]


HALF_WIDTH_MM = 1.5
"""Half of the width of wide lines between squares."""


@pytest.fixture(scope="module")
def chequered(kit):
    """Return a picture of the chequered board without lines."""
    return drawn(kit, 0.0)


@pytest.fixture(scope="module")
def lined(kit):
    """Return a picture of the board with wide lines between the squares."""
    return drawn(kit, HALF_WIDTH_MM)


def drawn(kit, half_width_mm):
    """Return a (height, width) uint8 picture of the chequered board through the true lens.

    Lines between squares, if any, are as dark as its dark squares.
    """
    width, height = SIZE
    pixels = np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=-1).reshape(-1, 1, 2).astype(np.float64)
    rays = np.column_stack([cv2.undistortPoints(pixels, *LENS)[:, 0], np.ones(width * height)])
    rotation = cv2.Rodrigues(POSE[0])[0]
    along, begin = rays @ rotation, -POSE[1] @ rotation
    x, y = (begin[:2] - along[:, :2] * (begin[2] / along[:, 2])[:, None]).T
    (left, low), (across, up) = kit.board.a1_mm, kit.board.pitch_mm
    files, ranks = np.floor((x - left) / across + 0.5), np.floor((y - low) / up + 0.5)
    inside_x = np.abs(x - left - files * across) < across / 2 - half_width_mm
    inside_y = np.abs(y - low - ranks * up) < up / 2 - half_width_mm
    is_light = ((files + ranks) % 2 == 1) & inside_x & inside_y
    codes = np.where(is_light, 160, 90).astype(np.float64).reshape(height, width)
    noisy = cv2.GaussianBlur(codes, (0, 0), 0.8) + np.random.default_rng(1).normal(0, 3, codes.shape)
    return np.clip(noisy, 0, 255).astype(np.uint8)


def sighting(kit, gray):
    """Return the sighting of markers that are larger than in the kit, which looks like lens distortion."""
    markers_mm = np.array([marker.corners_mm for marker in kit.mat.markers])
    outwards = markers_mm - markers_mm.mean(axis=1, keepdims=True)
    really_mm = markers_mm + RULER_MM * outwards / np.linalg.norm(outwards, axis=2, keepdims=True)
    corners_mm = really_mm.reshape(-1, 2)
    return Sighting(np.arange(len(corners_mm)), shown(corners_mm), SIZE, gray)


def test_lines_are_seen_where_they_are(kit, chequered):
    """The measured offset of lines agrees with a known shift within 0.25 px (median)."""
    view = view_grid(chequered, grid_of(kit), lambda board_mm: shown(board_mm) + ASIDE_PX)
    assert len(view.off_px) == len(grid_of(kit).board_mm)
    apart = np.abs(view.off_px + view.normals @ ASIDE_PX)
    assert np.median(apart) < 0.25
    assert apart.max() < 1


def test_the_edge_of_a_line_tells_on_which_side_of_it_it_is(kit, lined):
    """For wide lines the measured offset is half of their width."""
    view = view_grid(lined, grid_of(kit), shown)
    apart = np.abs(view.off_px - HALF_WIDTH_MM * view.ahead_px)
    assert np.median(np.abs(view.off_px)) > 1.5
    assert np.median(apart) < 0.25
    assert roughness_px(view) < 0.25


@pytest.mark.parametrize("board", ["chequered", "lined"])
def test_lines_tell_a_lens_that_a_ruler_does_not(kit, board, request):
    """With lines, the distortion error is less than half of that from measured markers alone."""
    gray = request.getfixturevalue(board)
    by_markers, by_lines = find_lens([sighting(kit, None)], kit), find_lens([sighting(kit, gray)], kit)
    true_k1 = LENS[1][0]
    assert abs(by_lines.camera.distortion[0] - true_k1) < abs(by_markers.camera.distortion[0] - true_k1) / 2
    assert by_lines.focal_deviation < by_markers.focal_deviation


def test_a_board_of_one_square_has_no_lines(kit, chequered):
    """A board with one square gives no lines and does not change the result."""
    one = replace(kit, board=replace(kit.board, files=1, ranks=1, missing=frozenset()))
    assert not len(grid_of(one).board_mm)
    by_markers = find_lens([sighting(one, None)], one)
    assert np.array_equal(find_lens([sighting(one, chequered)], one).camera.matrix, by_markers.camera.matrix)


def test_of_several_pictures_the_barest_is_asked(kit, chequered):
    """Of two pictures the one with fewer pieces is used for the lines."""
    covered = with_pieces(kit, chequered)
    alone = find_lens([sighting(kit, chequered), sighting(kit, None)], kit)
    both = find_lens([sighting(kit, chequered), sighting(kit, covered)], kit)
    assert np.array_equal(both.camera.matrix, alone.camera.matrix)


@pytest.mark.parametrize("covered", ["nothing shows", "pieces stand"])
def test_a_picture_without_a_bare_board_changes_nothing(kit, chequered, covered):
    """If no bare board is visible, the result from markers is unchanged."""
    gray = np.random.default_rng(3).integers(0, 255, chequered.shape).astype(np.uint8)
    if covered == "pieces stand":
        gray = with_pieces(kit, chequered)
    by_markers = find_lens([sighting(kit, None)], kit)
    assert np.array_equal(find_lens([sighting(kit, gray)], kit).camera.matrix, by_markers.camera.matrix)


def with_pieces(kit, gray):
    """Return the picture with pieces on every second cell."""
    covered = gray.copy()
    for x, y in shown(np.array([kit.centre_mm(cell) for cell in kit.cells[::2]])).astype(int):
        cv2.circle(covered, (x, y - 10), 46, 220, -1)
    return covered
