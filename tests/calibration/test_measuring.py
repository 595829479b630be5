"""Measuring a board from its four corners in one photograph, for boards of known dimensions."""

import itertools

import cv2
import numpy as np
import pytest

from calibration.board_lens import pinhole, prior_lens
from calibration.camera import Camera
from calibration.errors import ProfileError
from calibration.kit import kit_name, load_kit, read_kit
from calibration.measuring import Field, measure_board
from calibration.own_board import Squares, format_own_kit, own_kit

SIZE = (1280, 720)
PLACES = ((-165, -120, 6), (160, -165, 97), (158, 150, -171), (-101, 166, 28))
EDGE_MM = 25.0


def board(wide, deep):
    """Return the corners of a playing field (4, 2) and of stickers by number, in mm."""
    own = EDGE_MM / 2 * np.array([(-1, 1), (1, 1), (1, -1), (-1, -1)])
    stickers = {}
    for number, (x, y, turn) in enumerate(PLACES, 200):
        c, s = np.cos(np.radians(turn)), np.sin(np.radians(turn))
        stickers[number] = own @ np.array([[c, s], [-s, c]]) + (x, y)
    return np.array([(-wide, -deep), (wide, -deep), (wide, deep), (-wide, deep)]) / 2, stickers


def seen(points_mm, distortion=-0.2):
    """Return where a webcam sees points of the board (k, 2), in px, and that camera."""
    lens = prior_lens(SIZE, 0.9)
    lens[3:] = distortion, -0.3 * distortion
    matrix, bent = pinhole(lens)
    rotation = np.array([2.5, 0.1, -0.1])
    world = np.column_stack([points_mm, np.zeros(len(points_mm))])
    return cv2.projectPoints(world, rotation, np.array([10.0, -5.0, 560.0]), matrix, bent)[0][:, 0], Camera(
        *SIZE, matrix, bent, 0.1
    )


def measured(side_mm=(288.0, None), deep=288.0, order=(0, 1, 2, 3), *, knows_lens=False, marker_mm=EDGE_MM, noise=0.0):
    """Measure a board of 288 mm × ``deep`` mm; return the result and the true sticker corners.

    ``order``: in which the field's corners are given; ``noise``: standard deviation of the corners, in px.
    """
    field, stickers = board(288.0, deep)
    corners, camera = seen(field)
    corners = corners + np.random.default_rng(1).normal(0, noise, (4, 2))
    found = {number: seen(places)[0] for number, places in stickers.items()}
    a, b, c, d = (tuple(corners[i]) for i in order)
    given = Field((a, b, c, d), 8, 8, side_mm, marker_mm)
    return measure_board(given, found, SIZE, camera if knows_lens else None), stickers


def farthest_mm(result, stickers):
    """Return the largest error of a measured sticker corner, in mm."""
    return max(np.abs(np.array(marker.corners_mm) - stickers[marker.id]).max() for marker in result.markers)


@pytest.mark.parametrize("knows_lens", [True, False])
def test_stickers_are_found_where_they_lie(knows_lens):
    """Sticker corners are measured within 0.1 mm with a known lens, within 1 mm without."""
    result, stickers = measured(knows_lens=knows_lens)
    assert result.pitch_mm == pytest.approx((36, 36), abs=0.01)
    assert farthest_mm(result, stickers) < (0.1 if knows_lens else 1.0)
    assert result.is_consistent
    assert result.reprojection_px < 0.2


def test_corners_may_be_given_either_way_round():
    """The direction in which corners are given does not matter."""
    (one, stickers), (other, _) = (measured(order=order) for order in ((0, 1, 2, 3), (0, 3, 2, 1)))
    assert farthest_mm(other, stickers) == pytest.approx(farthest_mm(one, stickers))


def test_the_first_corner_is_that_of_a1():
    """Starting from the opposite corner rotates the board by 180°."""
    result, stickers = measured(order=(2, 3, 0, 1), knows_lens=True)
    turned = {number: -places for number, places in stickers.items()}
    assert farthest_mm(result, turned) < 0.1


def test_the_stickers_alone_tell_the_scale():
    """Without a given side length, the scale follows from the size of the stickers."""
    result, _ = measured(side_mm=(None, None), knows_lens=True)
    assert result.pitch_mm == pytest.approx((36, 36), abs=0.02)
    doubled, _ = measured(side_mm=(None, None), knows_lens=True, marker_mm=2 * EDGE_MM)
    assert doubled.pitch_mm == pytest.approx((72, 72), abs=0.04)


def test_squares_that_are_not_square_are_told_from_those_that_are():
    """Oblong squares are measured as such; nearly square ones, with noise, become exactly square."""
    oblong, _ = measured(deep=320.0)
    assert oblong.pitch_mm == pytest.approx((36, 40), rel=0.01)
    square, _ = measured(noise=1.0)
    assert square.pitch_mm[0] == square.pitch_mm[1]
    both, _ = measured(side_mm=(288.0, 320.0), deep=320.0)
    assert both.pitch_mm == pytest.approx((36, 40))


def test_two_pixels_of_a_hand_move_the_stickers_by_two_millimetres_at_most():
    """Noise of 2 px in the corners displaces the stickers by less than 2.5 mm."""
    result, stickers = measured(noise=2.0)
    assert farthest_mm(result, stickers) < 2.5
    assert result.is_consistent


def test_corners_of_another_field_do_not_fit():
    """Corners of a distorted field are reported as not fitting."""
    field, stickers = board(288.0, 288.0)
    corners, camera = seen(field * (1.0, 0.8) + (20, 0))
    corners[2] += (60, 40)
    found = {number: seen(places)[0] for number, places in stickers.items()}
    result = measure_board(Field(tuple(map(tuple, corners)), 8, 8, (288.0, None), EDGE_MM), found, SIZE, camera)
    assert not result.is_consistent


@pytest.mark.parametrize("order", [(0, 2, 1, 3), (0, 0, 1, 2), (0, 1, 1, 2)])
def test_points_that_are_no_field_are_refused(order):
    """Crossed or repeated corners are refused."""
    with pytest.raises(ProfileError, match="no field"):
        measured(order=order)


def test_at_least_two_stickers_are_needed():
    """Fewer than two stickers are refused."""
    field = Field(((0.0, 9.0), (9.0, 9.0), (9.0, 0.0), (0.0, 0.0)), 8, 8, (1.0, None), 1.0)
    for markers, said in (({}, r"are seen \(0\)"), ({7: np.zeros((4, 2))}, r"are seen \(1\)")):
        with pytest.raises(ProfileError, match=said):
            measure_board(field, markers, SIZE)


@pytest.mark.parametrize("name", ["domination", "draughts", "ziggurat", "cheight", "citadel"])
def test_the_kit_of_a_measured_board_is_read_back(tmp_path, name):
    """The kit of a measured board survives a round trip for each game."""
    base = load_kit(kit_name(name))
    result, _ = measured()
    letters = tuple(kind.letter for kind in base.pieces)
    squares = Squares(name, 8, 8, frozenset({"a8"}), letters)
    kit = own_kit("mine", squares, result, base, "DICT_APRILTAG_36h11")
    path = tmp_path / "mine.toml"
    path.write_text(format_own_kit(kit), encoding="utf-8")
    again = read_kit(path)
    assert (again.name, again.game, again.cells, again.pieces) == (kit.name, kit.game, kit.cells, kit.pieces)
    assert again.enrol == kit.enrol
    assert again.mat.colour is None
    assert again.board.cell_colour is None
    assert kit.board.chequer_colour is None
    assert again.board.a1_mm == pytest.approx(kit.board.a1_mm, abs=0.01)
    for marker, read in zip(kit.mat.markers, again.mat.markers, strict=True):
        assert np.array(read.corners_mm) == pytest.approx(np.array(marker.corners_mm), abs=0.01)
        assert (np.abs(read.corners_mm).max(axis=0) < [kit.mat.width_mm / 2, kit.mat.height_mm / 2]).all()


def test_the_squares_keep_their_place_among_the_stickers():
    """In the resulting kit, cells and stickers have their true relative positions."""
    result, stickers = measured(knows_lens=True)
    squares = Squares("domination", 8, 8, frozenset(), ("R", "G"))
    kit = own_kit("mine", squares, result, load_kit("domination"), "DICT_APRILTAG_36h11")
    by_number = {marker.id: np.array(marker.corners_mm) for marker in kit.mat.markers}
    for number, cell in itertools.product(stickers, ("a1", "h8")):
        away = {"a1": -126.0, "h8": 126.0}[cell]
        assert by_number[number] - kit.centre_mm(cell) == pytest.approx(stickers[number] - away, abs=0.1)


def test_a_board_of_pillars_is_refused():
    """A kit with pillars is refused."""
    result, _ = measured()
    base = load_kit("diamond")
    squares = Squares("diamond", 8, 8, frozenset(), tuple(kind.letter for kind in base.pieces))
    with pytest.raises(ProfileError, match="pillars"):
        own_kit("mine", squares, result, base, "DICT_APRILTAG_36h11")
