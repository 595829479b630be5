"""Printed lines between squares: a piece that hides one shows that the cell is not empty."""

import cv2
import numpy as np
import pytest

from calibration.srgb import display
from vision.appearance.illumination import Illumination
from vision.inference.hypothesis import Hypothesis
from vision.inference.picture_view import LINES_SHARE, lines_share, make_view
from vision.inference.render_and_compare import compare
from vision.likelihood.noise import measure_noise
from vision.scene.ground import grid_lines_px
from vision.scene.prisms import LINE

CELL = "d4"
LIGHT, NOISE, INK = 0.6, 2.0, 0.4
HEIGHTS = 3


@pytest.fixture
def picture(reader, geometry):
    """Return a function that renders bare squares.

    The printed lines between them are omitted where ``hidden`` (height, width), or altogether unless ``printed``.
    """

    def of(hidden=None, *, printed=True):
        brightness = np.ones(geometry.size)
        lines = [np.rint(line).astype(np.int32) for line in grid_lines_px(reader.kit, geometry.pose, reader.camera)]
        if printed:
            cv2.polylines(brightness, lines, isClosed=False, color=INK, thickness=2)
        if hidden is not None:
            brightness[hidden] = 1
        codes = brightness[..., None] * 255 * display(LIGHT * np.array(reader.appearance.floor)[::-1])
        noisy = codes + np.random.default_rng(4).normal(0, NOISE, codes.shape)
        return np.clip(noisy, 0, 255).astype(np.uint8)

    return of


def share(image, geometry):
    """Return the share of the points on printed lines that stand out in a picture."""
    prisms = geometry.prisms
    small = np.asarray(
        cv2.resize(image, None, fx=1 / prisms.shrink, fy=1 / prisms.shrink, interpolation=cv2.INTER_AREA)
    )
    noise = measure_noise(small, 2, geometry.mat_px / prisms.shrink)
    return lines_share(small, prisms.lines_px, 2, noise)


def test_lines_are_told_from_a_board_without_any(picture, geometry):
    """The share of visible line points separates a printed board from a plain one."""
    assert share(picture(), geometry) > 0.9
    assert share(picture(printed=False), geometry) < LINES_SHARE / 2


def test_lines_are_expected_only_where_the_board_shows_some(picture, geometry):
    """Lines are labelled only if they are visible in the picture."""
    shown = [make_view(picture(printed=p), geometry, geometry.prisms).ground for p in (True, False)]
    assert (shown[0] == LINE).sum() > 1000
    assert not (shown[1] == LINE).any()


def test_a_cube_of_the_boards_colour_is_told_by_the_lines_that_it_hides(picture, reader, geometry):
    """A cube that hides a line is likelier than the same cube where the line is visible."""
    cell = reader.kit.cells.index(CELL)
    corners = geometry.outlines.corners_px(geometry.crops, cell, 0, np.zeros(2))
    hidden = cv2.fillConvexPoly(np.zeros(geometry.size, np.uint8), cv2.convexHull(np.rint(corners).astype(np.int32)), 1)
    light = Illumination(np.log(LIGHT) * np.eye(3)[:1].T @ np.ones((1, 3)), (1.0, 1.0))

    def gain(image):
        """Return the nats by which one cube is likelier than an empty cell."""
        rim = np.array(reader.appearance.rim, np.float32)
        hypothesis = Hypothesis(reader.observations(image, geometry, light), rim, geometry)
        scores = compare(image, hypothesis, cell, np.arange(1 + len(geometry.configurations.all)) <= HEIGHTS)
        return scores[1] - scores[0]

    assert gain(picture(hidden > 0)) > gain(picture()) + 1.5
