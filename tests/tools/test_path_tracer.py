"""Geometry of the bodies for path tracing."""

import numpy as np
import pytest

from calibration.heights import floor_mm
from calibration.kit import load_kit
from companion.app.ground import start_levels
from companion.simulate.placement import make_rng, set_up
from companion.simulate.sprite import marks_mm, standing_solids, upright
from tools import path_tracer

pytestmark = pytest.mark.pictures


@pytest.fixture(scope="module", params=["diamond", "domination", "ziggurat"])
def board(request):
    """Return each kit, a set-up with single pieces, and its bodies."""
    kit = load_kit(request.param)
    stacks = [kit.pieces[0].letter if i % 3 == 0 else "" for i in range(len(kit.cells))]
    setup = set_up(stacks, start_levels(kit) or None, make_rng("traced", 1))
    return kit, setup, path_tracer._bodies(kit, setup)


def test_every_face_is_outside_its_body_and_the_ball_round_it(board):
    _, _, bodies = board
    for number, (x, y, z, radius2) in enumerate(bodies.spheres):
        faces = bodies.planes[bodies.first_plane[number] : bodies.first_plane[number + 1]]
        inside_mm = faces[:, 3] - faces[:, :3] @ (x, y, z)
        assert (inside_mm > 0).all()
        assert inside_mm.max() ** 2 <= radius2 + 1e-6
        np.testing.assert_allclose(np.linalg.norm(faces[:, :3], axis=1), 1)


def test_a_ray_from_above_meets_what_stands_there(board):
    kit, setup, bodies = board
    for i, cell in enumerate(kit.cells):
        (x, y), level = kit.centre_mm(cell), None if setup.levels is None else setup.levels[i]
        reach_mm, _, body = path_tracer._hit.py_func(bodies, (x, y, 500.0), (0.0, 0.0, -1.0), np.inf)
        height_mm = floor_mm(kit, level)
        if setup.piles[i]:
            height_mm += kit.pieces[0].height_mm
            assert bodies.is_glossy[body]
        assert reach_mm == pytest.approx(500 - height_mm, abs=kit.pieces[0].height_mm / 4)


def test_what_is_painted_on_a_disc_turns_with_it():
    kit = load_kit("cheight")
    setup = set_up([kind.letter for kind in kit.pieces] * 2 + [""] * 4, None, make_rng("traced", 2))
    bodies = path_tracer._bodies(kit, setup)
    for body, (cell, pile) in enumerate(zip(kit.cells, setup.piles, strict=True)):
        for standing, solid in zip(pile, standing_solids(kit, cell, pile, None), strict=True):
            kind = kit.piece(standing.letter)
            centre, axes = upright(solid)
            bar = marks_mm(kind)[-1][0].mean(axis=0) @ axes
            rim = 0.95 * kind.width_mm / 2 * axes[0]
            colour = path_tracer._textured_colour.py_func
            red, green, blue = colour(bodies, body, tuple(centre + bar), (1.0, 1.0, 1.0))
            assert min(red, green, blue) < 0.5
            assert colour(bodies, body, tuple(centre + rim), (1.0, 1.0, 1.0)) == (1.0, 1.0, 1.0)
