"""Light on a learned board, and the likelihood of its pixels, for a rendered chequered board seen from above."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.board_appearance import BoardAppearance
from calibration.camera import Camera
from calibration.srgb import GAMMA, display, linear_light
from vision.appearance.board_blocks import make_blocks, place_blocks
from vision.appearance.board_light import measure_on_board
from vision.appearance.board_surface import LocalLight, board_log_likelihood, light_around
from vision.appearance.board_view import view_board
from vision.appearance.cell_views import CellViews
from vision.appearance.colour_model import BINS, OUTLIER_SHARE
from vision.appearance.illumination import Illumination
from vision.appearance.light_references import References
from vision.errors import VisionError
from vision.pose.projection import Registration
from vision.scene.crops import make_crops

SIZE_MM = 200
HALF_MM = (SIZE_MM / 2, SIZE_MM / 2)
CAMERA = Camera(400, 400, np.array([[400.0, 0, 199.5], [0, 400, 199.5], [0, 0, 1]]), np.zeros(5), 0.0)
ABOVE = Registration(np.diag([1.0, -1.0, -1.0]), np.array([0.0, 0.0, 400.0]), (), 0.0)
"""From here a millimetre of the board is one pixel wide."""

NO_WHITE = References(np.zeros((0, 3)), np.zeros((0, 3)))
"""A board without markers, on which nothing is known to be white."""

SATURATED_LOG = np.full(3, -np.log(7), np.float32)
"""A channel saturated in full light may lie in any of the last seven bins of the colour model."""

PALE, DARK = np.array([0.85, 0.75, 0.5]), np.array([0.4, 0.3, 0.2])


@pytest.fixture
def board():
    """Return a chequered board of 200 × 200 mm with squares of 25 mm, uncertain only near their edges."""
    y, x = np.mgrid[:SIZE_MM, :SIZE_MM] // 25
    colour = np.where(((x + y) % 2)[..., None], PALE, DARK).astype(np.float32)
    edges = cv2.dilate(cv2.Canny((colour * 200).astype(np.uint8), 50, 100), np.ones((3, 3))) > 0
    return BoardAppearance(colour, np.where(edges, 0.2, 0.01).astype(np.float32), np.ones((SIZE_MM, SIZE_MM), np.uint8))


def photographed(board, light):
    """Return a (400, 400, 3) uint8 BGR picture of the board.

    ``light``: scalar or (200, 200, 3), as a display value, that is as a root of linear light.
    """
    picture = np.zeros((400, 400, 3), np.uint8)
    picture[100:300, 100:300] = np.clip(display(linear_light(board.colour) * light**GAMMA), 0, 1)[..., ::-1] * 255
    return picture


def test_the_light_is_found_though_pieces_cover_a_third(board):
    """Sloping, tinted light is measured within 8 % although dark strips cover a third of the board."""
    slope = np.linspace(0.9, 0.6, SIZE_MM)[None, :, None] * np.array([1.0, 0.9, 0.8])
    picture = photographed(board, np.broadcast_to(slope, (SIZE_MM, SIZE_MM, 3)))
    for x in range(110, 290, 50):
        cv2.rectangle(picture, (x, 100), (x + 16, 300), (60, 20, 120), -1)
    light = measure_on_board(picture, place_blocks(make_blocks(board, NO_WHITE), ABOVE, CAMERA))
    places = np.array([(-80.0, 0, 0), (0, 0, 0), (80, 0, 0)])
    expected = slope[0, [20, 100, 180]] ** GAMMA
    np.testing.assert_allclose(light.at(places), expected, rtol=0.08)


def mirroring(board, white=0.12, wide_mm=35, at=(100, 100)):
    """Return a board with the specular reflection of a lamp at (column, row).

    ``white``: its peak, as a share of the light of white paper; ``wide_mm``: standard deviation.
    """
    y, x = np.mgrid[:SIZE_MM, :SIZE_MM]
    specular = white * np.exp(-((x - at[0]) ** 2 + (y - at[1]) ** 2) / (2 * wide_mm**2))
    return replace(board, colour=display(linear_light(board.colour) + specular[..., None]).astype(np.float32))


def test_a_mirrored_lamp_is_a_sheen_and_no_light(board):
    """The reflection of a lamp is measured as specular light and does not raise the diffuse light."""
    light = measure_on_board(
        photographed(mirroring(board), 0.8), place_blocks(make_blocks(board, NO_WHITE), ABOVE, CAMERA)
    )
    assert light.specular is not None
    assert light.specular[20, 20] == pytest.approx(
        0.12 * 35**2 / (35**2 + 20**2), abs=0.04
    )  # smoothed by the window of the measurement
    assert light.specular[2, 2] < 0.02
    np.testing.assert_allclose(light.at(np.zeros((1, 3)))[0], 0.8**GAMMA, rtol=0.1)


def test_a_lamp_that_was_mirrored_when_the_board_was_learned_is_missed(board):
    """A reflection that was learned as part of the board, but is gone, gives negative specular light."""
    light = measure_on_board(
        photographed(board, 0.8), place_blocks(make_blocks(mirroring(board), NO_WHITE), ABOVE, CAMERA)
    )
    assert light.specular is not None
    assert light.specular[20, 20] < -0.04
    np.testing.assert_allclose(light.at(np.zeros((1, 3)))[0], 0.8**GAMMA, rtol=0.15)


def test_a_lamp_that_made_a_dark_board_pale_when_it_was_learned_is_missed(board):
    """The pale squares may then seem to be in less light instead."""
    learned = mirroring(board, 0.25, 60, (40, 100))
    light = measure_on_board(photographed(board, 0.7), place_blocks(make_blocks(learned, NO_WHITE), ABOVE, CAMERA))
    assert light.specular is not None
    assert light.specular[20, 8] < -0.15
    np.testing.assert_allclose(light.at(np.array([(-60.0, 0, 0), (0, 0, 0), (60, 0, 0)])), 0.7**GAMMA, rtol=0.25)


def marked_white(picture, light):
    """Draw white marks into the corners of a picture in this light; return them as references."""
    corners = [(x, y, 0.0) for x in (-95, -90, 90, 95) for y in (-95, -90, 90, 95)]
    for x, y, _ in corners:
        cv2.circle(
            picture, (int(200 + x), int(200 - y)), 2, (round(float(display(np.array(light**GAMMA))) * 255),) * 3, -1
        )
    return References(np.array(corners), np.ones((len(corners), 3)))


def test_a_lamp_hardly_wider_than_the_window_is_missed_on_dark_squares_of_one_hue(board):
    """A reflection learned on a lake of one hue is found missing, with nothing but white corner marks as reference.

    Block by block the formerly paler part lacks light, as if it were shaded; neighbouring blocks agree with each other.
    """
    sea = board.colour.copy()
    sea[80:] = np.float32([0.3, 0.54, 0.63])
    sea[80::25], sea[80:, ::25] = 0.7, 0.7
    there = replace(board, colour=sea, spread=np.full_like(board.spread, 0.01))
    picture = photographed(there, 0.7)
    blocks = make_blocks(mirroring(there, 0.35, 40, (100, 140)), marked_white(picture, 0.7))
    light = measure_on_board(picture, place_blocks(blocks, ABOVE, CAMERA))
    assert light.specular is not None
    assert light.specular[28, 20] < -0.15


def test_pieces_as_pale_as_a_lamp_had_made_the_board_are_not_taken_for_its_ground(board):
    """Bare ground between pale pieces that stand close together still shows that the reflection is gone."""
    dark = replace(board, colour=(board.colour * 0.5).astype(np.float32))
    picture = photographed(dark, 0.7)
    for middle_px in np.mgrid[160:250:20, 160:250:20].reshape(2, -1).T.tolist():
        cv2.circle(picture, middle_px, 7, (140, 112, 154), -1)
    learned = mirroring(dark, 0.4, 60)
    light = measure_on_board(picture, place_blocks(make_blocks(learned, marked_white(picture, 0.7)), ABOVE, CAMERA))
    assert light.specular is not None
    assert light.specular[20, 20] < -0.13


def test_a_lamp_that_had_hidden_nearly_all_of_the_boards_own_colour_is_missed(board):
    """A reflection that nearly hid the board's own colour when it was learned is recognised as missing."""
    dark = replace(board, colour=(board.colour * 0.5).astype(np.float32))
    picture = photographed(dark, 0.7)
    learned = mirroring(dark, 0.6, 70, (150, 60))
    light = measure_on_board(picture, place_blocks(make_blocks(learned, marked_white(picture, 0.7)), ABOVE, CAMERA))
    assert light.specular is not None
    assert light.specular[12, 30] < -0.4


def test_a_shade_is_no_lamp_that_is_missed(board):
    """A slightly shaded square is not taken for a missing reflection."""
    shaded = np.full((SIZE_MM, SIZE_MM, 1), 0.8)
    shaded[70:130, 70:130] = 0.74
    light = measure_on_board(photographed(board, shaded), place_blocks(make_blocks(board, NO_WHITE), ABOVE, CAMERA))
    assert light.specular is not None
    assert light.specular.min() > -0.02


def test_what_is_white_tells_the_light_on_a_board_of_one_hue_that_mirrors_a_lamp(board):
    """On a board of one hue with a reflection, white marks determine the diffuse light within 30 %."""
    green = np.broadcast_to(np.float32([0.12, 0.28, 0.16]), board.colour.shape)
    one_hue = replace(board, colour=green.copy(), spread=np.full_like(board.spread, 0.01))
    picture = photographed(mirroring(one_hue, wide_mm=70), 0.7)
    white = marked_white(picture, 0.7)
    light = measure_on_board(picture, place_blocks(make_blocks(one_hue, white), ABOVE, CAMERA))
    places = np.array([(0.0, 0, 0), (-70, 70, 0), (70, 70, 0)])
    np.testing.assert_allclose(light.at(places), 0.7**GAMMA, rtol=0.3)


def test_a_board_out_of_sight_gives_no_light(board):
    """A black picture contains too little of the board to measure the light."""
    with pytest.raises(VisionError, match="too little of the bare board"):
        measure_on_board(np.zeros((400, 400, 3), np.uint8), place_blocks(make_blocks(board, NO_WHITE), ABOVE, CAMERA))


@pytest.fixture
def crops():
    """Return the crops of two cells, for pieces up to 20 mm wide and 10 mm high."""
    return make_crops(np.array([(12.5, 12.5, 0.0), (-37.5, 12.5, 0.0)]), ABOVE, replace(CAMERA), (20.0, 10.0), 2)


def logs_of(board, crops, code, light=None):
    """Return log-likelihoods (2, rows, columns) of crops that show one BGR colour; −99 where none was computed."""
    view = view_board(board, crops, ABOVE, CAMERA)
    shape = crops.flat_px.shape
    codes = np.full((*shape, 3), np.array(code, np.uint8))
    logs = np.full(shape, -99, np.float32)
    gain = np.full((2, 3), 1 / 255, np.float32)
    even = LocalLight(gain, np.zeros((2, 2, 3), np.float32), np.zeros((2, 3), np.float32), SATURATED_LOG)
    local = light or even
    board_log_likelihood(view, np.arange(2), codes, local, (logs, np.zeros((2, 3, *shape[1:]), np.float32)))
    return logs


def middle(logs, crops):
    """Return the values in the centre of each crop."""
    return logs[:, np.abs(crops.v_mm).argmin(), np.abs(crops.u_mm).argmin()]


def test_what_the_board_shows_is_likely_and_what_it_cannot_show_is_an_outlier(board, crops):
    """The board's own colour is more likely than its shaded colour; any other colour is an outlier."""
    square = board.colour[87, 112]
    own, shaded, other = (
        middle(logs_of(board, crops, colour[::-1] * 255), crops)[0] for colour in (square, square * 0.7, square[::-1])
    )
    assert own > shaded > other
    assert other == pytest.approx(np.log(OUTLIER_SHARE / BINS**3), abs=0.1)


def test_a_sheen_makes_a_paler_square_likely(board, crops):
    """Known specular light makes a correspondingly paler square more likely."""
    paler = display(linear_light(board.colour[87, 112]) + 0.1)[::-1] * 255
    plain = middle(logs_of(board, crops, paler), crops)[0]
    specular = np.zeros((2, 3), np.float32)
    specular[:, 0] = 0.1
    gain, slope = np.full((2, 3), 1 / 255, np.float32), np.zeros((2, 2, 3), np.float32)
    light = LocalLight(gain, slope, specular, SATURATED_LOG)
    assert middle(logs_of(board, crops, paler, light), crops)[0] > plain + 2


def test_of_texels_that_nobody_has_seen_nothing_is_said(board, crops):
    """Texels never seen have no log-likelihood."""
    unseen = replace(board, seen=np.zeros_like(board.seen))
    assert (logs_of(unseen, crops, PALE * 255) == -99).all()


def test_the_light_round_a_place_is_that_of_the_whole_board():
    """The local light of a cell has the slope of the fitted plane, and no specular light."""
    plane = np.log([[0.5, 0.5, 0.5], [1.2, 1.2, 1.2], [1.0, 1.0, 1.0]])
    light = light_around(Illumination(plane, HALF_MM), np.ones((1, 3), np.float32), np.zeros((1, 3)))
    np.testing.assert_allclose(light.slope[0, 0], np.log(1.2) / 100 / GAMMA, rtol=1e-3)
    np.testing.assert_allclose(light.slope[0, 1], 0, atol=1e-6)
    assert not light.specular.any()


def test_what_a_cell_shows_is_the_board_in_the_light_there(board, crops):
    """The expected picture of a cell is the board in the local light plus specular light, with its variance."""
    half_dark = Illumination(
        np.log(np.full((1, 3), 0.5)) * [[1], [0], [0]], HALF_MM, np.full((10, 10), 0.1, np.float32)
    )
    view = view_board(board, crops, ABOVE, CAMERA)
    every = CellViews().predict(board, (ABOVE, CAMERA), half_dark, [crops.only(cell) for cell in (1, 0)])
    for cell, (shown, variance) in zip((1, 0), every, strict=True):
        middle = (slice(None), *(np.array(variance.shape) // 2))
        np.testing.assert_allclose(shown[middle], display(linear_light(view.values[cell][middle]) + 0.1), rtol=0.01)
        assert variance[middle[1:]] == pytest.approx((view.scale[cell][middle] ** -2.0).mean(), rel=1e-3)


def test_what_a_cell_shows_changes_with_the_light_and_with_what_is_learned(board, crops):
    """The expected picture of a cell follows both the light and the learned board."""
    views, view, first = CellViews(), (ABOVE, CAMERA), [crops.only(0)]
    even, glossy = (
        Illumination(np.zeros((3, 3)), HALF_MM, np.full((10, 10), specular, np.float32)) for specular in (0, 0.1)
    )
    [(before, _)] = views.predict(board, view, even, first)
    assert (views.predict(board, view, glossy, first)[0][0] > before).all()
    np.testing.assert_array_equal(views.predict(board, view, even, first)[0][0], before)
    paler = replace(board, colour=1.1 * board.colour)
    np.testing.assert_allclose(views.predict(paler, view, even, first)[0][0], 1.1 * before, rtol=1e-5)


def test_what_was_never_seen_shows_nothing(board, crops):
    """A board never seen gives an expected picture of NaN."""
    unseen = replace(board, seen=np.zeros_like(board.seen))
    even = Illumination(np.zeros((3, 3)), HALF_MM)
    [(shown, _)] = CellViews().predict(unseen, (ABOVE, CAMERA), even, [crops.only(0)])
    assert np.isnan(shown).all()


def test_a_saturated_channel_may_have_shown_more(board, crops):
    """A saturated channel fits a square that is brighter than the camera can measure.

    It does not fit a square that is too dark to saturate it.
    """
    red = np.where(board.colour == np.float32(PALE[0]), np.float32(1.15), board.colour)
    saturated, paler = (np.array([0.5, 0.75, 1.0]) * 255, np.array([0.5, 0.75, 0.98]) * 255)
    as_shown = middle(logs_of(board, crops, board.colour[87, 112][::-1] * 255), crops)[0]
    reddish = replace(board, colour=red)
    bright, no_more = (middle(logs_of(reddish, crops, code), crops)[0] for code in (saturated, paler))
    assert bright == pytest.approx(as_shown + SATURATED_LOG[0], abs=1.5)
    assert no_more < bright - 3
    outlier = np.log(OUTLIER_SHARE / BINS**3)
    assert middle(logs_of(board, crops, np.array([60, 100, 255])), crops)[1] == pytest.approx(outlier, abs=0.1)
