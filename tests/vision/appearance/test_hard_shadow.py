"""Hard shadows: a board half in the shade is read like one in even light, and an evenly lit one is left as it is."""

import numpy as np
import pytest

from calibration.appearance import nominal_appearance
from calibration.kit import load_kit
from companion.simulate.light import to_linear, to_srgb
from tests.vision.appearance.test_specular import photograph
from tools.shadows import half_shaded
from vision.appearance import hard_shadow
from vision.appearance.hard_shadow import HardShadow
from vision.appearance.shade_map import Levels
from vision.appearance.two_levels import TOLERANCES, fit_two_levels
from vision.capture.frames import Frame
from vision.enrolment import enrol
from vision.pose.registration import register, to_gray
from vision.reader import Reader

SHOWN = {"a4": "R", "b3": "YB", "d5": "B", "e4": "GGR", "f6": "Y", "g3": "B", "d2": "R", "e7": "GY"}
"""Stacks on squares of Domination."""

DIRECTIONS = ("north", "east", "nearly diagonal")
"""Names by which the directions of shadows are drawn."""


@pytest.fixture(scope="module")
def scene():
    """Return a picture of :data:`SHOWN`, a reader of its set, and the pose."""
    enrolment, kit, camera = photograph("domination", 3, load_kit("domination").enrol)
    image, *_ = photograph("domination", 3, SHOWN)
    reader = Reader(kit, camera, enrol(enrolment, kit, camera))
    return image, reader, register(to_gray(image), kit, camera)


@pytest.fixture
def shadow(scene):
    """Return a remover of shadows for the scene's board."""
    _, reader, _ = scene
    return HardShadow(reader.kit, reader.appearance.floor)


def stacks_in(reading, reader):
    """Return what is read: by cell, height and top of the likeliest state."""
    states = (reader.states[number] for number in reading.log_likelihood.argmax(axis=1))
    return {cell: state for cell, state in zip(reader.kit.cells, states, strict=True) if state[0]}


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("share", [0.4, 0.15])
def test_a_shadow_across_the_board_is_removed(scene, shadow, share, direction):
    """What is left differs from the even picture by three codes in the median on the mat, the shaded half by 30."""
    image, reader, pose = scene
    shaded = half_shaded(image, share, direction)
    cleared = shadow.remove(shaded, pose, reader.camera)
    off, before = (np.abs(picture.astype(int) - image).max(axis=2) for picture in (cleared, shaded))
    is_shaded = (before > 0.1 * image.max(axis=2)) & (image.min(axis=2) > 20) & (image.max(axis=2) < 250)
    assert np.median(before[is_shaded]) > 30
    assert np.median(off[is_shaded]) <= 6
    assert np.median(off[~is_shaded]) <= 1


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_board_half_in_the_shade_is_read_as_one_in_even_light(scene, direction):
    image, reader, _ = scene
    even, shaded = (
        stacks_in(reader.read(Frame(picture, 0, 0.0)), reader)
        for picture in (image, half_shaded(image, 0.15, direction))
    )
    assert shaded == even
    assert set(even) == set(SHOWN)


def test_a_round_shadow_is_removed(scene, shadow):
    """As of a head, over a third of the board: what is left is 6 codes off in the median, where 30 were lost."""
    image, reader, pose = scene
    height, width, _ = image.shape
    y, x = np.mgrid[:height, :width]
    beyond_px = np.hypot(x - 0.6 * width, y - 0.25 * height) - 0.27 * height
    light = 0.3 + 0.7 / (1 + np.exp(-beyond_px / 3))
    shaded = np.rint(to_srgb(to_linear(image) * light[..., None])).astype(np.uint8)
    cleared = shadow.remove(shaded, pose, reader.camera)
    is_inside = (beyond_px < -20) & (image.min(axis=2) > 100) & (image.max(axis=2) < 250)
    off, before = (np.abs(picture.astype(int) - image).max(axis=2)[is_inside] for picture in (cleared, shaded))
    assert np.median(before) > 30
    assert np.median(off) <= 6


def test_an_evenly_lit_picture_is_left_as_it_is(scene, shadow):
    """So is one that a gradient lights, to a third from one side to the other, and any where the board is unknown."""
    image, reader, pose = scene
    assert shadow.remove(image, pose, reader.camera) is image
    fading = np.exp(-np.linspace(0, np.log(3), image.shape[1]))[:, None] ** (1 / 2.2)
    dimmer = np.rint(image * fading).astype(np.uint8)
    assert shadow.remove(dimmer, pose, reader.camera) is dimmer
    unknown = HardShadow(reader.kit, None)
    shaded = half_shaded(image, 0.15, "north")
    assert unknown.remove(shaded, pose, reader.camera) is shaded


def test_an_even_board_is_looked_at_closely_only_once(scene, shadow, monkeypatch):
    """Until some of it has become darker, or brighter: then a shadow is found, and found gone."""
    image, reader, pose = scene
    shaded, calls = half_shaded(image, 0.15, "north"), []
    dim = np.rint(to_srgb(0.15 * to_linear(image))).astype(np.uint8)
    monkeypatch.setattr(hard_shadow, "fit_two_levels", lambda *told: calls.append(1) or fit_two_levels(*told))
    seen = (image, True, 1), (image, True, 1), (shaded, False, 2), (dim, True, 3), (shaded, False, 4), (image, True, 5)
    for picture, is_even, so_far in seen:
        assert (shadow.remove(picture, pose, reader.camera) is picture) == is_even
        assert len(calls) == so_far


def test_pieces_all_over_one_half_of_a_board_are_no_shadow(shadow, scene):
    """Black discs on every second square of a half are as dark as a shade, but bare squares lie between them."""
    _, reader, _ = scene
    black = {cell: "B" * 3 for cell in reader.kit.cells if cell[0] in "abcd"}
    image, kit, camera = photograph("domination", 3, black)
    assert shadow.remove(image, register(to_gray(image), kit, camera), camera) is image


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_set_is_learned_from_a_photograph_half_in_the_shade(scene, direction):
    """Colours agree with those learned in even light within 0.06; learned in the shadow some are 0.12 to 0.24 off."""
    _, reader, _ = scene
    photo, *_ = photograph("domination", 3, reader.kit.enrol)
    shaded = enrol(half_shaded(photo, 0.15, direction), reader.kit, reader.camera)
    for letter, colour in reader.appearance.pieces.items():
        np.testing.assert_allclose(shaded.pieces[letter], colour, atol=0.06)


def test_pictures_of_pillars_are_left_as_they_are():
    """Pillars cover the board, and shade each other."""
    image, kit, camera = photograph("diamond", 3, {})
    pose = register(to_gray(image), kit, camera)
    shaded = half_shaded(image, 0.15, "north")
    remover = HardShadow(kit, nominal_appearance(kit).floor)
    assert remover.remove(shaded, pose, camera) is shaded


def on_levels(step, noise, seed=1):
    """Return terms and log light of 250 references on a sloping plane, the right half darker by ``step``."""
    rng = np.random.default_rng(seed)
    terms = np.column_stack([np.ones(250), rng.uniform(-1, 1, (250, 2))])
    logs = terms @ np.array([[-0.3, -0.2, -0.1], [0.2, 0.2, 0.2], [-0.1, -0.1, -0.1]])
    logs = logs - step * (terms[:, 1] > 0)[:, None] + rng.normal(0, noise, (250, 1))
    covered = rng.random(250) < 0.3
    return terms, np.where(covered[:, None], logs - rng.uniform(0, 3, (250, 1)), logs)


@pytest.mark.parametrize("step", [0.6, 1.5, 3.0])
def test_the_step_between_two_levels_is_found(step):
    """Three references in ten are covered by something dark, and those left scatter by 0.03."""
    best = min(fit_two_levels(*on_levels(step, 0.03)), key=lambda fit: abs(fit.steps.mean() - step))
    np.testing.assert_allclose(best.steps, step, atol=0.03)
    np.testing.assert_allclose(best.plane[0], (-0.3, -0.2, -0.1), atol=0.03)


def test_one_level_is_not_taken_for_two():
    """Neither is a step that is smaller than the tolerances."""
    assert fit_two_levels(*on_levels(0.0, 0.03)) == []
    assert fit_two_levels(*on_levels(TOLERANCES[0], 0.03)) == []


@pytest.mark.parametrize(
    ("own", "step", "is_shadow"),
    [((0.05, 0.4), 0.6, False), ((0.05, 0.4), 1.6, True), ((0.4, 0.4), 0.6, True), ((0.4, 0.05), 0.6, False)],
)
def test_what_a_board_mirrors_on_its_dark_half_is_no_shadow_on_the_other(own, step, is_shadow):
    """Or lacks there, if it was learned with it; but not so much as a shadow takes, nor on ground of one brightness.

    A picture board, half dark sea and half pale land, was taken to be half in the shade: light green discs were brown.
    """
    rows, columns = 40, 40
    is_upper = np.repeat([True, False], rows // 2)[:, None] & np.ones((1, columns), np.bool_)
    upper = is_upper.ravel()
    is_square = np.zeros((rows, columns), np.bool_)
    is_square[5:-5, 5:-5] = True
    light = np.where(upper, *own)
    ground = hard_shadow._Ground(
        np.zeros((rows, columns, 4, 3)),
        np.ones((rows * columns, 3)),
        np.log(np.tile(light, (3, 1))).astype(np.float32),
        np.ones(rows * columns, np.bool_),
        is_square.ravel(),
    )
    share = np.where(upper, 0, 1).astype(np.float32)
    above = np.tile(-share * step, (3, 1)).astype(np.float32)
    levels = Levels(above, share, upper, ~upper, np.ones(rows * columns, np.bool_), step)
    assert (hard_shadow._purity(levels, ground) > 0) is is_shadow
