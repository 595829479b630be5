"""Lateral faces in crops: of towers rendered with uniform faces, the true one is the likeliest at any offset."""

import numpy as np
import pytest

from tests.vision.likelihood.two_pyramids import ALONE, TOWER, two_pyramids
from vision.likelihood.crop_faces import (
    FACE_DEVIATION,
    UNEXPLAINED_LOG,
    _blunted,
    _log_likelihood,
    _sum_values,
    crop_face_log_likelihood,
    face_rows,
)
from vision.likelihood.lateral_runs import (
    LATERAL_FACES,
    SLOPE_PRIOR,
    SLOPE_SCALE_MM,
    SUMS,
    add_sums,
    gradient_residual,
    make_lateral_faces,
    make_walk,
    visible_runs,
)
from vision.likelihood.observations import Background, Observations
from vision.scene.configurations import SEAT_MM, TURNS_DEG, Wireframe
from vision.scene.crops import INDEPENDENT_MM2
from vision.scene.outlines import extents

ROWS, COLUMNS, MIDDLE = 60, 41, 20
LARGE, SMALL = (20.0, 50.0, 12), (8.0, 35.0, 6)
"""First row, last row, and half of the width in columns, of a pyramid alone and of one placed on top of it."""


@pytest.fixture
def crop_faces():
    """Return the faces of a large pyramid, and of a tower of it and a small one, the same in all rotations."""
    return two_pyramids(LARGE, SMALL, COLUMNS)


def drawing(pyramids, right=0, down=0):
    """Return observations and background of rendered ``pyramids``, the lowest first, all shifted by whole pixels."""
    rng = np.random.default_rng(4)
    codes, base = np.full((ROWS, COLUMNS), 200.0), np.full((ROWS, COLUMNS), -5.0)
    for number, (first, last, half) in enumerate(pyramids):
        rows = slice(round(first) + down, round(last) + down)
        for face, left in enumerate((MIDDLE - half, MIDDLE)):
            columns = slice(left + right, left + half + right)
            codes[rows, columns], base[rows, columns] = 60 + 70 * face + 30 * number, -14.0
    codes = (codes + rng.normal(0, 3, codes.shape)).clip(0, 255).astype(np.uint8)
    observations = Observations(
        codes[None, ..., None].repeat(3, axis=3),
        np.full((1, 3), 1 / 255, np.float32),
        np.zeros((1, 3, 256), np.float32),
        np.zeros((1, 3, 256), np.int32),
        np.zeros((1, ROWS, COLUMNS), np.int32),
        np.zeros((1, ROWS, COLUMNS), np.float32),
        np.zeros((1, 1), np.float32),
    )
    return observations, Background(base[None].astype(np.float32), np.ones((1, ROWS, COLUMNS), np.bool_))


def uneven(values, rows):
    """Return the sum of squared deviations of ``values`` (k, 3) left after fitting a slope along ``rows`` (k,).

    The slope is the same in all channels and has a Gaussian prior.
    """
    apart, along = values - values.mean(axis=0), (rows - rows.mean())[:, None]
    slope = (apart * along).sum() / (3 * (along**2).sum() + 3 * SLOPE_PRIOR * SLOPE_SCALE_MM**2)
    return (apart**2).sum() - slope * (apart * along).sum()


def ratios(crop_faces, pyramids, right=0, down=0):
    """Return (2,) log-likelihood ratios of both towers for a drawing."""
    observations, behind = drawing(pyramids, right, down)
    likely = crop_face_log_likelihood(observations, behind, crop_faces, np.array([0]), np.zeros((1, 2), np.float32))
    return likely.log_ratio.reshape(2, len(TURNS_DEG)).max(axis=1)


@pytest.mark.parametrize(("right", "down"), [(0, 0), (1, -1), (-1, 2)])
def test_the_tower_that_was_drawn_is_the_likeliest(crop_faces, right, down):
    """The rendered tower is the likeliest at several offsets."""
    alone, tower = ratios(crop_faces, [LARGE], right, down), ratios(crop_faces, [LARGE, SMALL], right, down)
    assert alone[ALONE] == 0
    assert alone[TOWER] < -3
    assert tower[TOWER] == 0
    assert tower[ALONE] < -10


@pytest.mark.parametrize(("right", "down"), [(0, 0), (2, -3)])
def test_a_tower_is_scored_by_the_variance_of_each_face(crop_faces, right, down):
    """The reference is painted from far to near: the shifted small pyramid over the large one.

    Each face scores its variance, less what a slope along it explains.
    """
    observations, behind = drawing([LARGE, SMALL])
    placement = np.array([[0, right, down], [0, 0, 0]], np.float32)  # the uppermost first
    painted = np.zeros((ROWS, COLUMNS), int)
    for number, ((first, last, half), (x, y)) in enumerate(((LARGE, (0, 0)), (SMALL, (right, down)))):
        rows = slice(round(first) + y, round(last) + y)
        painted[rows, MIDDLE - half + x : MIDDLE + x] = 1 + 2 * number
        painted[rows, MIDDLE + x : MIDDLE + half + x] = 2 + 2 * number
    values = observations.codes[0] / 255
    squares = sum(uneven(values[painted == i], np.nonzero(painted == i)[0]) for i in range(1, 5))
    usual = behind.base[0][behind.base[0] > UNEXPLAINED_LOG].mean()
    bare = (behind.base[0] - usual)[painted > 0].sum()
    expected = (-squares / (2 * FACE_DEVIATION**2) - bare) / INDEPENDENT_MM2 - 0.5 * (right**2 + down**2) / SEAT_MM**2

    integrals = _sum_values(observations, behind, np.array([0]))[0]
    faces = make_lateral_faces(crop_faces.far[0], crop_faces.near[0])
    work = np.zeros((2 * len(LATERAL_FACES), SUMS), np.float32)
    walk = make_walk(2, COLUMNS)
    assert _log_likelihood(integrals, faces, walk, crop_faces.towers[TOWER], placement, work, 1) == pytest.approx(
        expected, abs=0.1
    )


def test_pixels_near_edges_are_of_no_face_and_of_no_ground(crop_faces):
    """One row on either side of each edge is left out of the sums of a face.

    Where two faces meet, none of it counts as ground.
    """
    observations, behind = drawing([LARGE, SMALL])
    integrals = _sum_values(observations, behind, np.array([0]))[0]
    faces, walk = make_lateral_faces(crop_faces.far[0], crop_faces.near[0]), make_walk(2, COLUMNS)
    tower = crop_faces.towers[TOWER]
    count = visible_runs(walk, faces, tower, np.zeros((2, 3), np.float32), ROWS, 1)
    runs = walk.runs[:count].copy()
    sums, inside = np.zeros((2, 2 * len(LATERAL_FACES), SUMS), np.float32)
    add_sums(integrals, runs, sums)
    mixed = add_sums(integrals, runs, inside, 1)
    np.testing.assert_array_equal(runs, walk.runs[:count])
    assert inside[:, 0].sum() == sums[:, 0].sum() - 2 * count
    columns = len(np.unique(runs[:, 0]))
    assert mixed == 2 * count + 2 * columns
    assert inside[:, 5].sum() == pytest.approx(sums[:, 5].sum() + 2 * columns * (-5 - mean_of_ground(behind)), rel=1e-3)


def mean_of_ground(behind):
    """Return the mean log-likelihood of the pixels that the ground explains."""
    return behind.base[0][behind.base[0] > UNEXPLAINED_LOG].mean()


def test_lateral_faces_are_as_wide_as_the_tip_at_its_height():
    """The corners of a lateral face follow the blunted tip."""
    pyramid = Wireframe(np.array([[-5.0, -5, 0], [5, -5, 0], [5, 5, 0], [-5, 5, 0], [0, 0, 20]]), np.zeros((0, 2), int))
    corners_mm = _blunted(pyramid, 2.0)
    a, b, c, middle, d = corners_mm[list(LATERAL_FACES[0])]
    assert [a.tolist(), b.tolist()] == [[-5, -5, 0], [5, -5, 0]]
    assert [c.tolist(), d.tolist()] == [[1, -1, 20], [-1, -1, 20]]
    assert middle.tolist() == [0, 0, 20]


def test_a_face_may_be_darker_at_its_foot_but_in_all_channels_alike():
    """A gradient common to all channels is explained by the slope, one that differs between channels is not."""
    rows = np.repeat(np.arange(40.0), 20)
    shaded = np.array([0.2, 0.3, 0.4]) - 0.004 * rows[:, None]
    tinted = np.array([0.2, 0.3, 0.4]) - 0.004 * rows[:, None] * (1, 0, -1)
    left = []
    for values in (shaded, tinted):
        squares = ((values - values.mean(axis=0)) ** 2).sum()
        along = (rows * values.sum(axis=1)).sum()
        sums = [len(rows), *values.sum(axis=0), (values**2).sum(), 0, rows.sum(), (rows**2).sum(), along]
        left.append(gradient_residual(np.array(sums), 0.5) / squares)
    assert left[0] < 0.1
    assert left[1] == pytest.approx(1.0)


def test_visible_faces_cover_the_outline_of_their_pyramid():
    """Seen from a corner; visible faces are ordered from the most oblique to the least."""
    base, tip = [[-10.0, 0], [8, 6], [12, -4], [-7, -9]], [[-1.0, -30], [1, -29], [2, -31], [0, -32], [0.5, -30.5]]
    corners = np.array([base + tip])
    facing = np.array([[0.7, 0.3, -0.2, -0.6]])
    u_mm, v_mm = np.arange(-15, 16, dtype=np.int32), np.arange(-40, 16, dtype=np.int32)
    far, near = (rows[0, 0] for rows in face_rows(corners[None], facing[None], u_mm, v_mm))
    np.testing.assert_array_equal(np.isfinite(far).any(axis=1), [False, False, True, True])
    order = np.argsort(facing[0])[2:]
    for number, face in zip((2, 3), order, strict=True):
        lines = np.column_stack([LATERAL_FACES[face], np.roll(LATERAL_FACES[face], 1)])
        rows = np.array((far[number], near[number])) + (v_mm[0] - 0.5)
        np.testing.assert_allclose(rows, np.array(extents(corners, lines, u_mm))[:, 0], atol=1e-5)
