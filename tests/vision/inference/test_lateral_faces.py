"""The light on the lateral faces of pyramids is estimated together with their colours."""

import numpy as np
import pytest

from calibration.appearance import nominal_appearance
from calibration.kit import load_kit
from calibration.srgb import display
from companion.simulate.light import WINDOW
from companion.simulate.placement import make_rng, set_up
from companion.simulate.render import Renderer
from companion.simulate.sprite import Scene
from companion.simulate.viewpoint import default_camera, default_pose
from vision.appearance.shading import mirroring
from vision.capture.frames import Frame
from vision.inference.lateral_faces import (
    MAX_OFF,
    _by_colour,
    _by_hue,
    _coarse_sides,
    _light_on_sides,
    _predicted,
    _Sides,
)
from vision.inference.search import infer
from vision.likelihood.hues import hue, hue_of
from vision.likelihood.lateral_faces import TowerFits, fit_towers
from vision.reader import Reader

MISLED_NATS = 12.0
"""More than the margin within which a cell is in doubt, less than the evidence of the close-up view here."""

DARK, PALE = 0, 1
REFLECTANCE = np.array([[0.09, 0.12, 0.14], [0.26, 0.33, 0.35]])[:, ::-1]
"""Reversed from RGB to BGR, because the loops are already compiled for arrays with this memory layout."""
LIGHT = np.log(np.array([[1.0] * 3, [2.4] * 3, [0.4] * 3, [0.7] * 3]))
"""On the second side a dark pyramid is about as bright as a pale one on the first."""


def pyramids(colours, seen):
    """Return the sides of pyramids of ``colours``, of which only those in ``seen`` are visible."""
    means = display(np.exp(LIGHT)[None] * REFLECTANCE[colours][:, None])
    means += np.random.default_rng(5).normal(0, 0.01, means.shape)
    return [_Sides(one[None], np.array([[side in seen for side in range(4)]])) for one in means]


def nats_off(sides, area_mm2=1e6, light=LIGHT):
    """Return (colours,) nats by which each colour of the uppermost pyramid of one tower is unlikely.

    The tower has the given ``sides``, each of ``area_mm2``.
    """
    by_hue = np.zeros((1, len(sides.means), len(REFLECTANCE)))
    area_mm2 = np.where(sides.is_seen, area_mm2, 0.0)
    return -_by_colour(sides.means[None], area_mm2[None], _predicted(light, REFLECTANCE), by_hue)[0]


@pytest.mark.parametrize("seen", [(0, 1), (0, 1, 3), (1, 2)])
def test_colours_follow_from_the_light_on_all_sides(seen):
    """The colours of seven pyramids are recovered together with the light on their sides."""
    colours = np.array([DARK, PALE, PALE, DARK, PALE, DARK, DARK])
    sides = pyramids(colours, seen)
    light = _light_on_sides(sides, REFLECTANCE)
    off = np.array([nats_off(one, light=light) for one in sides])
    assert off.argmin(axis=1).tolist() == colours.tolist()
    assert (np.abs(off[:, DARK] - off[:, PALE]) > 3).all()


def test_a_side_that_nobody_sees_keeps_the_light_that_was_guessed():
    """The light on a side that is never visible stays finite and grey."""
    light = _light_on_sides(pyramids(np.array([DARK, PALE]), (0,)), REFLECTANCE)
    assert np.ptp(light[2]) == 0
    assert np.isfinite(light).all()


def test_one_side_in_a_shadow_speaks_only_so_much_against_a_colour():
    """A single deviating side counts at most MAX_OFF nats against a colour."""
    sides = _Sides(np.zeros((1, 4, 3)), np.array([[True, False, False, False]]))
    assert nats_off(sides) == pytest.approx([MAX_OFF, MAX_OFF], rel=1e-3)


def tower_off(*differences):
    """Return the sides of a tower of dark pyramids, the uppermost first.

    Each differs by one of ``differences`` from the display values that light and colour predict.
    """
    predicted = _predicted(LIGHT, REFLECTANCE)[DARK]
    is_seen = np.array([[True, True, False, False]] * len(differences))
    return _Sides(np.array([predicted + off for off in differences]), is_seen)


def test_what_a_tower_is_off_by_as_a_whole_counts_hardly_twice():
    """A common deviation of two pyramids counts little more than that of one; opposite ones count fully."""
    alone, alike, unlike = (nats_off(tower_off(*off))[DARK] for off in ((0.06,), (0.06, 0.06), (0.06, -0.06)))
    assert alone < alike < 1.3 * alone
    assert unlike > 5 * alone


def test_of_what_lies_on_another_each_has_its_own_colour():
    """The colour of the uppermost pyramid is not affected by the other colour below it."""
    sides = tower_off(0.0, 0.0)
    sides.means[1] = _predicted(LIGHT, REFLECTANCE)[PALE]
    assert nats_off(sides) == pytest.approx([0.0, nats_off(sides)[PALE]])
    assert nats_off(sides)[PALE] > 1


def test_a_small_side_tells_little_of_a_colour():
    """The evidence of a side grows with its area."""
    large, small = (nats_off(tower_off(0.06), area_mm2) for area_mm2 in (300.0, 10.0))
    assert (small < 0.2 * large).all()


def test_pyramids_that_are_not_in_doubt_show_their_light_in_the_crops(monkeypatch):
    """Light measured in the crops agrees with that of the close-up view within 0.03 (median)."""
    kit, camera = load_kit("ziggurat"), default_camera()
    stacks = {"b2": "Q", "c4": "d", "e3": "W", "d5": "q"}
    scene = Scene(kit, camera, default_pose(kit), WINDOW)
    picture = Renderer(scene).picture(set_up([stacks.get(cell, "") for cell in kit.cells], None, make_rng("lit", 1)), 1)
    closely, means = [], {}

    def fitted(image, close_up, seen, *others):
        fits = fit_towers(image, close_up, seen, *others)
        closely.append(seen[0])
        best = int(fits.log_likelihood.argmax())
        means[seen[0]] = np.where(fits.area_mm2[best][..., None] > 0, fits.means[best], np.nan)
        return fits

    monkeypatch.setattr("vision.inference.lateral_faces.fit_towers", fitted)
    reader = Reader(kit, camera, nominal_appearance(kit))
    _, geometry = reader.read_with_geometry(Frame(picture, 0, 0.0))
    monkeypatch.setattr("vision.inference.lateral_faces.DOUBT_NATS", 1e9)
    monkeypatch.setattr("vision.inference.lateral_faces.TRIED_NATS", -1.0)  # only the likeliest
    before = set(closely)
    reader.read_at(Frame(picture, 0, 1.0), geometry)
    assert len(before) < len(stacks) == len(set(closely))
    hypothesis, off = reader._last.hypothesis, []
    for cell in set(closely) - before:
        coarse = _coarse_sides(hypothesis, cell, geometry.close_up)
        off += np.abs(coarse.means - means[cell])[coarse.is_seen & np.isfinite(means[cell][..., 0])].tolist()
    assert len(off) >= 2
    assert np.median(off) < 0.03, "a side that is narrow in the crops may show its neighbours, too"


def test_what_colours_found_is_looked_at_closely_where_edges_in_crops_prefer_another(monkeypatch):
    """A cell is examined in the close-up view where the edges in crops prefer another colour than the colour model.

    This happens with pale pyramids on the last rank, whose tips are seen in front of a dark cloth.
    """
    kit, camera = load_kit("ziggurat"), default_camera()
    stacks = {"b2": "Q", "c4": "d", "e3": "W", "d5": "q"}
    scene = Scene(kit, camera, default_pose(kit), WINDOW)
    picture = Renderer(scene).picture(set_up([stacks.get(cell, "") for cell in kit.cells], None, make_rng("lit", 1)), 1)

    def misled(*given):
        hypothesis = infer(*given)
        standing = np.flatnonzero(hypothesis.state)
        # The first configurations are those of the smallest pyramid.
        hypothesis.scores[standing, 1] = hypothesis.scores[standing].max(axis=1) + MISLED_NATS
        return hypothesis

    monkeypatch.setattr("vision.reader.infer", misled)
    reading = Reader(kit, camera, nominal_appearance(kit)).read(Frame(picture, 0, 0.0))
    read = {cell: reading.best(row)[0][1] for row, cell in enumerate(reading.cells)}
    assert {cell: top for cell, top in read.items() if top} == stacks


def test_a_hue_tells_the_colour_of_each_pyramid_in_any_shade_and_not_whether_it_is_there():
    """Hue decides between colours in light and shade; the best colour always scores 0."""
    gray, sand = np.array([0.7, 0.7, 0.7]), np.array([0.6, 0.68, 0.85])
    means = np.zeros((2, 2, 4, 3))
    means[0, 0, :2], means[0, 1, :2] = (gray, 0.4 * gray), (0.5 * sand, 0.3 * sand)
    area_mm2 = np.zeros((2, 2, 4))
    area_mm2[0, :, :2] = 50
    hues = hue(np.array([sand, gray]))[:, None]
    ratio = _by_hue(TowerFits(np.zeros(2), means, area_mm2), hues, np.array([0.03, 0.05]))
    assert ratio[0].argmax(axis=1).tolist() == [1, 0]
    assert ratio[0].min(axis=1).max() < -2
    assert (ratio.max(axis=2) == 0).all()
    assert not ratio[1].any()


def test_a_dark_blue_pyramid_that_mirrors_some_white_light_is_still_blue():
    """White light that faces mirror is part of the expected hue: it makes dark blue look nearly like brown."""
    blue, brown = np.array([0.018, 0.006, 0.218]), np.array([0.046, 0.047, 0.096])
    means, area_mm2 = np.zeros((1, 1, 4, 3)), np.zeros((1, 1, 4))
    means[0, 0, 0], area_mm2[0, 0, 0] = 0.8 * display(blue + 0.06)[::-1], 200
    fit, spreads = TowerFits(np.zeros(1), means, area_mm2), np.array([0.35, 0.08])
    assert _by_hue(fit, hue_of(mirroring(np.array([blue, brown]))), spreads).argmax() == 0
    assert _by_hue(fit, hue_of(np.array([blue, brown]))[:, None], spreads).argmax() == 1
