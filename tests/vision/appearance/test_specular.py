"""Specular reflection of lamps on lacquered pieces, in the enrolment photograph and in pictures that are read."""

import random

import cv2
import numpy as np
import pytest

from calibration.kit import load_kit
from companion.app.ground import start_levels
from companion.simulate.light import to_linear, to_srgb
from companion.simulate.placement import make_rng, set_up
from companion.simulate.sprite import Scene, standing_solids
from tools.boards import nearest_pose, random_camera, random_light, rendered
from vision.appearance.specular import PieceColourSample, matt_colours, mirrored_light
from vision.capture.frames import Frame
from vision.enrolment import enrol
from vision.reader import Reader


def photograph(name, seed, stacks, shine=0.0, where=None):
    """Return a picture of these stacks (cell → letters), the kit, and the camera.

    Upper faces reflect the share ``shine`` of the display light of white paper, on all cells or only ``where``.
    """
    rng = random.Random(seed)
    kit, camera = load_kit(name), random_camera(rng)
    visibility = Scene(kit, camera, nearest_pose(kit, camera, 55.0, 200.0), random_light(rng))
    levels = start_levels(kit)
    setup = set_up([stacks.get(cell, "") for cell in kit.cells], levels or None, make_rng("mirrored", seed))
    image = rendered(visibility, setup, seed)
    on_top = np.zeros(image.shape[:2], np.uint8)
    for i, (cell, pile) in enumerate(zip(kit.cells, setup.piles, strict=True)):
        for solid in standing_solids(kit, cell, pile, levels[i] if levels else None)[-1:]:
            if where is not None and cell not in where:
                continue
            cv2.fillConvexPoly(on_top, np.rint(visibility.project(solid.points[list(solid.top)])).astype(np.int32), 1)
    lamp = shine * np.percentile(to_linear(image), 99, axis=(0, 1))  # the 99th percentile is the mat's paper
    shown = to_srgb(to_linear(image) + lamp * on_top[..., None])
    return np.clip(shown, 0, 255).astype(np.uint8), kit, camera


@pytest.mark.parametrize("name", ["citadel", "domination"])
def test_a_lamp_in_the_photograph_of_a_set_does_not_bleach_its_colours(name):
    """Colours enrolled under a lamp agree with those enrolled without it, within 0.08."""
    stacks = load_kit(name).enrol
    plain, shining = (enrol(*photograph(name, 3, stacks, shine), start_levels(load_kit(name))) for shine in (0, 0.2))
    for letter, colour in plain.pieces.items():
        np.testing.assert_allclose(shining.pieces[letter], colour, atol=0.08)


def test_a_black_piece_that_mirrors_a_lamp_is_told_by_its_sides():
    """A black piece under a lamp looks grey, but its sides are much darker relative to its face than usual."""
    wooden, black = (0.58, 0.27, 0.09), (0.23, 0.21, 0.22)
    sides = [(0.29, 0.14, 0.04), (0.3, 0.13, 0.05)]
    dark = [(0.02, 0.015, 0.018), (0.025, 0.02, 0.022)]
    _, colour = matt_colours([PieceColourSample(wooden, sides), PieceColourSample(black, dark)])
    assert max(colour) < 0.08
    gray = [(0.1, 0.1, 0.1), (0.12, 0.11, 0.11)]
    _, colour = matt_colours([PieceColourSample(wooden, sides), PieceColourSample(black, gray)])
    assert colour == black
    assert matt_colours([PieceColourSample(black, dark)]) == [black]


def test_a_lamp_is_told_from_what_tints_the_sides():
    """Specular light is measured only if the sides do not explain a pale face by their own tint."""
    sides = [(0.28, 0.23, 0.20), (0.83, 0.62, 0.59), (0.44, 0.31, 0.28), (0.32, 0.22, 0.21), (0.27, 0.21, 0.19)]
    pink = (0.69, 0.53, 0.53)
    assert mirrored_light(pink, sides) == 0
    red, shining = (0.45, 0.05, 0.05), (0.65, 0.25, 0.25)
    assert mirrored_light(shining, [(0.2, 0.03, 0.03), (0.3, 0.04, 0.05)]) == pytest.approx(0.2, abs=0.05)
    assert mirrored_light(red, [(0.2, 0.03, 0.03), (0.3, 0.04, 0.05)]) == 0
    assert mirrored_light(shining, [(0.003, 0.0, 0.0)]) == 0
    assert mirrored_light((0.0, 0.0, 0.0), sides) == 0
    assert mirrored_light(red, []) == 0


def test_sides_in_deep_shade_before_a_lamp_tell_what_a_face_mirrors():
    """Deeply shaded sides still reveal the specular light on the face."""
    green = np.array([0.06, 0.14, 0.11])
    sides = [tuple(shade * green) for shade in np.linspace(0.15, 0.35, 16)]
    assert mirrored_light(tuple(green + 0.35), sides) == pytest.approx(0.3, abs=0.08)
    assert mirrored_light(tuple(green), sides) == 0


def test_characters_are_read_though_a_lamp_takes_their_contrast():
    """Characters are read correctly under a reflection of 28 % of white."""
    enrolled = load_kit("cheight").enrol
    image, kit, camera = photograph("cheight", 8, enrolled)
    reader = Reader(kit, camera, enrol(image, kit, camera))
    stacks = dict(zip(enrolled, reversed(enrolled.values()), strict=True))
    pale, _, _ = photograph("cheight", 8, stacks, 0.28)
    reading = reader.read(Frame(pale, 0, 0.0))
    for cell, letter in stacks.items():
        assert reading.best(kit.cells.index(cell))[0] == (1, letter)


def test_characters_are_learned_though_a_lamp_takes_the_contrast_of_some():
    """The characters learned from such a photograph are then read under other light."""
    enrolled = load_kit("cheight").enrol
    pale = [cell for cell, letter in enrolled.items() if letter >= "a"]
    image, kit, camera = photograph("cheight", 8, enrolled, 0.45, pale)
    reader = Reader(kit, camera, enrol(image, kit, camera))
    stacks = dict(zip(enrolled, reversed(enrolled.values()), strict=True))
    reading = reader.read(Frame(photograph("cheight", 8, stacks)[0], 0, 0.0))
    for cell, letter in stacks.items():
        assert reading.best(kit.cells.index(cell))[0] == (1, letter)


def test_a_face_as_pale_as_the_paper_behind_it_is_detected_by_its_character():
    """The colours alone leave it open whether the cell is empty."""
    image, kit, camera = photograph("cheight", 8, load_kit("cheight").enrol)
    reader, rng = Reader(kit, camera, enrol(image, kit, camera)), random.Random(1)
    stacks = {cell: rng.choice("RNBACPKrnbacpk") for cell in kit.cells if rng.random() < 0.6}
    reading = reader.read(Frame(photograph("cheight", 8, stacks, 0.3)[0], 0, 0.0))
    for row, cell in enumerate(kit.cells):
        letter = stacks.get(cell)
        assert reading.best(row)[0] == ((1, letter) if letter else (0, None))


def test_what_a_face_mirrors_need_not_be_white():
    """A pale red disc reflects a tinted window, a green one beside it nothing (values from a path-traced picture)."""
    green = PieceColourSample((0.608, 0.661, 0.480), [(0.396, 0.390, 0.275)])
    pink = PieceColourSample((0.869, 0.802, 0.692), [(0.531, 0.382, 0.267)])
    assert mirrored_light(*pink) > 0.4
    seen_green, seen_pink = matt_colours([green, pink])
    assert seen_green == green.face
    np.testing.assert_allclose(seen_pink, (0.795, 0.568, 0.457), atol=0.1)
    assert max(matt_colours([pink])[0]) < 0.5


def test_a_face_whose_sides_are_lit_more_than_others_is_not_taken_for_a_paler_one():
    """Measured: an orange disc that mirrors a window (0.2), with more light on its sides than red, green and blue."""
    seen = [
        ((0.976, 0.067, 0.034), (0.361, 0.033, 0.013)),
        ((0.106, 0.233, 0.129), (0.033, 0.075, 0.032)),
        ((0.195, 0.296, 0.853), (0.036, 0.059, 0.203)),
        ((1.005, 0.327, 0.238), (0.604, 0.059, 0.022)),
    ]
    colours = matt_colours([PieceColourSample(face, [side] * 17) for face, side in seen])
    assert colours[:3] == [face for face, _ in seen[:3]]
    np.testing.assert_allclose(colours[3][1:], (0.124, 0.035), atol=0.03)


def test_pyramids_show_no_sides_below_their_faces():
    """Without visible sides the face colours are kept."""
    faces = [(0.3, 0.2, 0.1), (0.5, 0.5, 0.5)]
    assert matt_colours([PieceColourSample(face, []) for face in faces]) == faces
