"""Incrementally path-traced pictures: only what has changed is traced again."""

import numpy as np
import pytest

from calibration.camera import Camera
from calibration.kit import load_kit
from companion.app.ground import start_levels
from companion.simulate.ground import sheet, wood
from companion.simulate.light import WINDOW, to_linear
from companion.simulate.placement import make_rng, rearranged, set_up, upright
from companion.simulate.sprite import Scene
from companion.simulate.viewpoint import default_camera, looking_at
from tools import path_tracer
from tools.incremental_tracer import IncrementalTracer
from tools.ray_bodies import GROUND, as_arrays, bodies_on, hit
from tools.ray_light import SHEET_PX_PER_MM, Room

pytestmark = pytest.mark.pictures

WIDTH_PX, HEIGHT_PX = 240, 136
AWAY_MM, SIDE_MM = 1200.0, 200.0


def small_camera():
    """Return the default camera at a resolution of 240 × 136 px."""
    usual = default_camera()
    matrix = usual.matrix * (WIDTH_PX / usual.width_px)
    matrix[2, 2] = 1.0
    return Camera(WIDTH_PX, HEIGHT_PX, matrix, usual.distortion, 0.0)


def room_of(kit, towards=(0.6, 0.0, 0.8)):
    """Return a room with one square lamp in the direction ``towards``."""
    towards = np.array(towards)
    across = np.array([0.0, 1.0, 0.0])
    edges = SIDE_MM * np.array([across, np.cross(towards, across)])
    radiance = np.full(3, np.pi * (AWAY_MM / SIDE_MM) ** 2)
    lamp = np.stack([AWAY_MM * towards - edges.sum(axis=0) / 2, *edges, radiance])
    mat = to_linear(sheet(kit)[:: 8 // SHEET_PX_PER_MM, :: 8 // SHEET_PX_PER_MM]).astype(np.float32)
    half_mm = np.array([kit.mat.width_mm, kit.mat.height_mm]) / 2
    return Room(lamp[None], np.full(3, 0.3), 1.1, mat, to_linear(wood()).astype(np.float32), half_mm, 0.7)


def painter(kit, noise=0.0, process=lambda picture, _number: picture):
    """Return an incremental path tracer for a kit with a small camera."""
    camera = small_camera()
    pose = looking_at(np.zeros(3), 620.0, kit)
    gains = np.full((HEIGHT_PX, WIDTH_PX, 3), 0.6)
    return IncrementalTracer(Scene(kit, camera, pose, WINDOW), room_of(kit), gains, noise, process, seed=3)


def setup_of(kit, stacks=None):
    """Return a set-up with these stacks, by default two pieces on every fourth cell."""
    levels = start_levels(kit) or None
    stacks = stacks or [2 * kit.pieces[0].letter if i % 4 == 1 else "" for i in range(len(kit.cells))]
    return set_up(stacks, levels, make_rng("retraced", 1))


def changed_setup(setup):
    """Return the set-up with one stack moved onto another cell."""
    stacks = list(setup.stacks)
    stacks[1], stacks[14] = "", stacks[14] + stacks[1]
    return rearranged(setup, stacks, setup.levels, make_rng("retraced", 2))


@pytest.mark.parametrize("name", ["domination", "diamond", "ziggurat"])
def test_traced_anew_is_as_traced_whole(name):
    kit = load_kit(name)
    before, after = setup_of(kit), changed_setup(setup_of(kit))
    table = painter(kit)
    first = table.clear(before)
    anew, whole = table.clear(after), painter(kit).clear(after)
    assert (anew != first).any()
    off = np.abs(anew.astype(int) - whole)
    assert (off > 4).mean() < 1e-3
    assert off.mean() < 0.05
    np.testing.assert_array_equal(table.clear(before), first)


def test_what_is_far_from_a_change_stays_as_it_was():
    kit = load_kit("domination")
    before = setup_of(kit)
    table = painter(kit)
    first, second = table.clear(before), table.clear(changed_setup(before))
    changed = np.argwhere((first != second).any(axis=2))
    seen = table.scene.project(np.array([[*kit.centres_mm[i], 7.0] for i in (1, 14)]))[:, ::-1]
    away_px = np.linalg.norm(changed[:, None] - seen, axis=2).min(axis=1)
    assert len(changed) < 0.2 * first[..., 0].size
    assert away_px.max() < 40


def test_a_shadow_falls_away_from_the_lamp():
    kit = load_kit("domination")
    stacks = ["RRRRR" if cell == "d4" else "" for cell in kit.cells]
    table = painter(kit)
    bare = table.clear(setup_of(kit, [""] * len(kit.cells))).astype(int)
    shaded = table.clear(upright(setup_of(kit, stacks))).astype(int)
    x, y = kit.centre_mm("d4")
    away, near = np.rint(table.scene.project(np.array([[x - 25, y, 0], [x + 25, y, 0]]))).astype(int)
    loss = (bare - shaded).mean(axis=2)
    assert loss[away[1], away[0]] > 20
    assert loss[near[1], near[0]] < 12


@pytest.mark.parametrize("name", ["diamond", "domination", "ziggurat"])
def test_rays_meet_what_they_meet_among_plain_bodies(name):
    """The reference tracer has discs with 36 sides, and tests all bodies."""
    kit = load_kit(name)
    setup = setup_of(kit)
    levels = setup.levels or [None] * len(kit.cells)
    bodies = [body for i, pile in enumerate(setup.piles) for body in bodies_on(kit, i, pile, levels[i])]
    solids, plain = as_arrays(kit, bodies).solids, path_tracer._bodies(kit, setup)
    rng = np.random.default_rng(1)
    for _ in range(150):
        target, eye = rng.uniform([-120, -120, 0], [120, 120, 30]), rng.uniform([-300, -300, 20], [300, 300, 500])
        towards = tuple((target - eye) / np.linalg.norm(target - eye))
        reach, body, _ = hit(solids, tuple(eye), towards, np.inf)
        expected, plane, number = path_tracer._hit(plain, tuple(eye), towards, np.inf)
        if abs(reach - expected) > 0.3:  # past the edge of a disc, where 36 sides differ from a circle
            continue
        assert (body == GROUND) == (plane == path_tracer.GROUND)
        assert body == (number if plane >= 0 else body)
    assert path_tracer.GROUND == GROUND


def test_noise_and_the_camera_come_after_the_picture():
    kit = load_kit("domination")
    quiet, noisy = painter(kit), painter(kit, 3.0, lambda picture, number: picture + np.uint8(number))
    setup = setup_of(kit)
    np.testing.assert_array_equal(quiet.clear(setup), noisy.clear(setup))
    flat = np.full((HEIGHT_PX, WIDTH_PX, 3), 188, np.uint8)
    codes = noisy.developed(flat, 1).astype(float)
    assert codes.mean() == pytest.approx(189, abs=0.2)
    assert codes.std() == pytest.approx(3.0, rel=0.05)


def test_a_pyramid_on_another_one_ends_above_its_foot():
    kit = load_kit("ziggurat")
    stacks = ["QD", *[""] * (len(kit.cells) - 1)]
    bodies = bodies_on(kit, 0, set_up(stacks, None, make_rng("tower", 1)).piles[0], None)
    (x, y), solids = kit.centre_mm(kit.cells[0]), as_arrays(kit, bodies).solids
    for height_mm, body in ((3.0, 0), (10.0, 0), (20.0, 1)):
        _, found, _ = hit(solids, np.array([x, y - 100, height_mm]), np.array([0.0, 1.0, 0.0]), np.inf)
        assert found == body
