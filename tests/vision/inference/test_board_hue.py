"""Hue differences from a learned board as evidence for pieces that the colour model does not find."""

from types import SimpleNamespace

import numpy as np
import pytest

from calibration.srgb import display, linear_light
from vision.inference.ground_hue import (
    BOARD_HUE_PROBABILITY,
    OFF_HUE,
    board_log_ratio,
    faces_log_ratio,
    hue_from_board,
    store_hue_evidence,
)
from vision.scene.label_buffer import RANK_BITS

ROWS, COLUMNS = 12, 9
BOARD = np.array([110.0, 80.0, 85.0])
MAROON = np.array([85.0, 68.0, 100.0])

FACES = np.array([[6, 12, 12], [0, 6, 12]], np.float32)
"""Rows in which the face and the side of a low and of a high stack begin, and in which the side ends."""
EDGES = np.repeat(FACES[:, :, None], COLUMNS, axis=2)


def shown(*colours, known=True):
    """Return a hypothesis whose cells each show one colour (BGR codes) on a uniform board; unknown unless ``known``."""
    codes = np.array([np.broadcast_to(colour, (ROWS, COLUMNS, 3)) for colour in colours]).astype(np.uint8)
    board = np.broadcast_to(BOARD[:, None, None] / 255, (len(colours), 3, ROWS, COLUMNS)).astype(np.float32)
    observations = SimpleNamespace(
        codes=codes,
        gain=np.full((len(colours), 3), 1 / 255, np.float32),
        expected=board if known else np.full_like(board, np.nan),
    )
    places = np.arange(len(codes) * ROWS * COLUMNS, dtype=np.intp).reshape(codes.shape[:3])
    geometry = SimpleNamespace(
        rows_round=(2, 10),
        crops=SimpleNamespace(u_mm=4 * np.arange(COLUMNS) - 16, flat_px=places),
        outlines=SimpleNamespace(edges=np.repeat(EDGES[None], len(codes), axis=0)),
        configurations=SimpleNamespace(all=(SimpleNamespace(size=SimpleNamespace(width_mm=30.0)),)),
        rank=np.arange(1, len(codes) + 1),
    )
    return SimpleNamespace(
        observations=observations,
        geometry=geometry,
        labels=lambda: np.zeros(places.shape, np.int32),
    )


def test_another_hue_of_the_boards_brightness_is_told_from_shade():
    """A piece of the board's brightness differs in hue; a shaded square does not."""
    piece, shade = hue_from_board(shown(MAROON, 0.6 * BOARD), np.arange(2))
    assert piece > 2 * OFF_HUE
    assert shade < OFF_HUE


def test_where_the_board_is_not_known_no_hue_is_off():
    """Without a learned appearance no hue difference is reported."""
    assert hue_from_board(shown(MAROON, known=False), np.arange(1)) == 0


def test_of_no_squares_none_is_off():
    """An empty selection of cells gives an empty result."""
    assert hue_from_board(shown(MAROON), np.arange(0)).shape == (0,)


PIECES = linear_light(np.array([MAROON[::-1], (200, 190, 40)]) / 255)
"""Reflectances, RGB."""

A_LITTLE_OFF = BOARD * np.array([1.05, 1.0, 0.96])


def test_hue_tells_a_piece_from_the_board():
    """A piece in light or shade has a positive ratio, bare board a negative one, and a stray colour about 0."""
    piece, shaded_piece, bare, shade, neither = board_log_ratio(
        shown(MAROON, 0.8 * MAROON, BOARD, 0.6 * BOARD, [60, 90, 60]), PIECES
    )
    assert min(piece, shaded_piece) > 4
    assert max(bare, shade) < -1
    assert neither == pytest.approx(0, abs=2)


def test_a_piece_that_mirrors_a_lamp_may_have_the_boards_hue():
    """If a piece has the board's hue, the ratio is bounded by LIKE_BOARD."""
    assert board_log_ratio(shown(BOARD), PIECES)[0] == pytest.approx(np.log(BOARD_HUE_PROBABILITY), abs=0.1)


def test_a_dark_piece_that_mirrors_some_white_light_is_still_told_by_its_hue():
    """White light that is mirrored is part of what a piece's hue is expected to be."""
    navy = np.array([0.017, 0.02, 0.045])
    assert board_log_ratio(shown(255 * display(navy + 0.03)[::-1]), navy[None])[0] > 2


def test_shade_and_reflected_light_may_be_of_another_hue():
    """A small hue difference is weaker evidence in shade than in light."""
    alike = linear_light(A_LITTLE_OFF[None, ::-1] / 255)
    lit, shaded = board_log_ratio(shown(A_LITTLE_OFF, 0.5 * A_LITTLE_OFF), alike)
    assert lit > shaded + 1


def test_hue_tells_nothing_of_what_is_hidden_or_not_known():
    """Hidden cells, and boards without a learned appearance, give no evidence."""
    hidden = shown(MAROON, MAROON)
    labels = hidden.labels()
    labels[0] = 2 << RANK_BITS
    hidden.labels = lambda: labels
    assert (board_log_ratio(hidden, PIECES) > 1).tolist() == [False, True]
    assert not board_log_ratio(shown(MAROON, known=False), PIECES).any()


def test_boundaries_are_asked_of_what_seems_empty_but_has_a_pieces_hue():
    """Empty cells with a piece's hue are marked for comparison by boundaries, standing stacks for their faces."""
    hypothesis = shown(MAROON, BOARD, MAROON)
    told = []
    hypothesis.state = np.array([0, 0, 1])
    hypothesis.updated = np.ones(3, np.bool_)
    hypothesis.off_hue = np.zeros(3, np.bool_)
    hypothesis.set_off_hue = lambda _off, ratio: told.append(ratio)
    hypothesis.camouflaged = np.zeros(3, np.bool_)
    hypothesis.mark_camouflaged = told.append
    hypothesis.set_face_hues = lambda cells, ratio: told.append((cells, ratio))
    store_hue_evidence(hypothesis, PIECES)
    ratio, asked, (standing, of_faces) = told
    assert (ratio > 1).tolist() == [True, False, True]
    assert asked.tolist() == [0]
    assert standing.tolist() == [2]
    assert (of_faces > 1).all()


def test_hue_tells_where_a_stack_has_its_face():
    """The hue at each height's face gives evidence for and against that height; hidden cells give none."""
    board = shown(BOARD, BOARD, BOARD)
    board.observations.codes[:2, :6] = MAROON
    labels = board.labels()
    labels[1] = 3 << RANK_BITS
    board.labels = lambda: labels
    tall, hidden, bare = faces_log_ratio(board, np.arange(3), PIECES)
    assert tall[0] < -1 < 4 < tall[1]
    assert not hidden.any()
    assert (bare < -1).all()
    assert not faces_log_ratio(shown(MAROON, known=False), np.arange(1), PIECES).any()
    assert faces_log_ratio(board, np.arange(0), PIECES).shape == (0, 2)
