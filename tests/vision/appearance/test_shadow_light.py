"""Lamps are located by the shadows of stacks of known height."""

import numpy as np
import pytest

from vision.appearance.ground_light import Ground, GroundLight
from vision.appearance.shadow_light import fit_shadow_light
from vision.scene.shadows import occluded

RADIUS_MM, PIECE_MM = 12.0, 8.0
CAMERA = np.array([[0.0, -300.0, 600.0]])
STACKS = np.array([[-60, -40, 1], [20, 10, 3], [70, -70, 2], [-30, 60, 4], [60, 65, 2]]) * (1, 1, PIECE_MM)
SURE = np.ones(len(STACKS), bool)
LAMP, OTHER = np.array([[-700.0, 500, 900]]), np.array([[800.0, 100, 1500]])


@pytest.fixture(scope="module")
def ground():
    """Return a 200 × 200 mm ground sampled every 2.5 mm, with squares of 40 mm."""
    axis = np.arange(-100, 100, 2.5) + 1.25
    places = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    square = (np.floor(places / 40) @ (1, 5) + 12).astype(np.intp)
    none = np.zeros((len(places), 3), np.float32)
    square -= square.min()
    order = np.argsort(square, kind="stable")
    every = np.ones(len(places), bool)
    return Ground(places[order], none, none, square[order], square.max() + 1, every, np.zeros_like(places))


def lit(ground, lamps, power, seed=0):
    """Return the noisy light on the ground under some lamps, and the true share of the light there."""
    open_ = 1 - occluded(ground.places_mm, STACKS, RADIUS_MM, lamps) @ power
    noise = 0.02 * np.random.default_rng(seed).normal(size=len(open_))
    everywhere = np.ones(len(open_), bool)
    return GroundLight(open_ + noise, np.full(len(open_), 0.02), everywhere), open_


def fitted(ground, light, stacks=STACKS, is_sure=SURE):
    """Fit the shadow light; return it, and the share of light that it predicts at each place."""
    found = fit_shadow_light(ground, light, stacks, is_sure, RADIUS_MM, CAMERA)
    return found, 1 - occluded(ground.places_mm, STACKS, RADIUS_MM, found.lamps_mm) @ found.power


def seen(ground):
    """Return the mask of places that no stack hides from the camera."""
    return ~occluded(ground.places_mm, STACKS, RADIUS_MM + 3, CAMERA)[:, 0]


@pytest.mark.parametrize(("lamps", "power"), [(LAMP, [0.7]), (OTHER, [0.5]), (np.vstack([LAMP, OTHER]), [0.45, 0.35])])
def test_shadows_are_predicted_where_they_are(ground, lamps, power):
    """The predicted light agrees with the true one at visible places, for one lamp and for two."""
    light, open_ = lit(ground, lamps, np.array(power))
    _, predicted = fitted(ground, light)
    off = np.abs(predicted - open_)[seen(ground)]
    assert off.mean() < 0.03
    assert (off > 0.2).mean() < 0.03


def test_most_light_comes_from_where_the_lamp_is(ground):
    """The fitted power is concentrated within 20° of the lamp's true direction."""
    found, _ = fitted(ground, lit(ground, LAMP, np.array([0.7]))[0])
    units = found.lamps_mm / np.linalg.norm(found.lamps_mm, axis=1, keepdims=True)
    near = units @ (LAMP[0] / np.linalg.norm(LAMP)) > np.cos(np.radians(20))
    assert found.power[near].sum() == pytest.approx(0.7, abs=0.1)


def test_a_square_that_is_always_darker_is_in_no_shadow(ground):
    """A constant local error is fitted per square instead of a shadow.

    It may come from a lamp reflected when the board was learned.
    """
    light, open_ = lit(ground, LAMP, np.array([0.6]))
    darker = np.where(ground.square == ground.square[0], 0.6, 1.0)
    found, predicted = fitted(ground, light._replace(share=light.share * darker))
    own = seen(ground) & (ground.square == ground.square[0]) & (open_ == 1)
    assert found.level[ground.square[own]].mean() == pytest.approx(0.6, abs=0.08)
    assert (predicted[own] > 0.9).mean() > 0.9


def test_what_is_believed_of_a_doubtful_stack_is_not_its_own_proof(ground):
    """A wrong height that is marked as unsure distorts the fitted light less than one that is trusted."""
    light, _ = lit(ground, LAMP, np.array([0.7]))
    wrong = STACKS.copy()
    wrong[3, 2] = 8 * PIECE_MM
    is_sure = np.arange(len(STACKS)) != 3
    trusting, doubting = (fitted(ground, light, wrong, sure)[1] for sure in (SURE, is_sure))
    true = 1 - occluded(ground.places_mm, STACKS, RADIUS_MM, LAMP) @ np.array([0.7])
    off = [np.abs(predicted - true)[seen(ground)].mean() for predicted in (trusting, doubting)]
    assert off[1] < off[0]
    assert off[1] < 0.03
