"""A hue different from the ground's is evidence for a piece, whatever the colour of each pixel suggests."""

import random
from dataclasses import replace

import numpy as np
import pytest

from calibration.kit import load_kit
from companion.simulate.light import to_linear, to_srgb
from companion.simulate.viewpoint import default_camera, default_pose
from tools.boards import picture, random_light
from vision.capture.frames import Frame
from vision.enrolment import enrol
from vision.inference.ground_hue import are_ground_hued, off_hue, pillars_log_ratio
from vision.inference.render_and_compare import rescore_by_rendering
from vision.inference.search import infer
from vision.reader import Reader

SPOT_PX = 130
"""Standard deviation of the spot of a lamp."""

TABLE = {"d4": "R", "e6": "G", "c5": "RG", "f3": "R"}
PALE_RED, PALE_GREEN = (230, 195, 182), (185, 201, 166)
BROWN = (0.41, 0.34, 0.23)
"""What remains of pale red if too much specular reflection was subtracted from it."""


@pytest.fixture(scope="module")
def domination():
    """Return a reader, a picture of a few stacks whose tops are pale red and green, and its pose."""
    printed, camera = load_kit("domination"), default_camera()
    pale = {"R": PALE_RED, "G": PALE_GREEN}
    pieces = tuple(replace(kind, colour=pale.get(kind.letter, kind.colour)) for kind in printed.pieces)
    kit = replace(printed, pieces=pieces)
    pose, light = default_pose(kit, camera), random_light(random.Random(1))
    enrolment = picture(kit, camera, pose, light, [kit.enrol.get(cell, "") for cell in kit.cells], 0, ())
    image = picture(kit, camera, pose, light, [TABLE.get(cell, "") for cell in kit.cells], 3, ())
    return Reader(kit, camera, enrol(enrolment, kit, camera)), image, pose


def test_pieces_have_another_hue_than_the_ground_has(domination):
    """Exactly the occupied cells have a hue different from the floor."""
    reader, image, pose = domination
    geometry = reader.geometry(pose)
    observations = reader.observations(image, geometry, reader.light(image, pose))
    hypothesis = infer(observations, np.zeros(len(reader.appearance.rim), np.float32), geometry)
    off = off_hue(hypothesis, np.array(reader.appearance.floor))
    assert {cell for cell, is_off in zip(reader.kit.cells, off, strict=True) if is_off} == set(TABLE)


def test_a_piece_whose_colour_was_learned_wrongly_is_no_bare_ground(domination):
    """Red was learned as brown: pixel by pixel, pale red would be ground in another light rather than brown."""
    reader, image, _ = domination
    wrong = replace(reader.appearance, pieces=reader.appearance.pieces | {"R": BROWN})
    reading = Reader(reader.kit, reader.camera, wrong).read(Frame(image, 0, 0.0))
    is_empty = np.exp(reading.log_likelihood[[reader.kit.cells.index(cell) for cell in ("d4", "f3")], 0])
    assert is_empty.max() < 0.1


MORE_LIGHT = 1.35
"""Light on the brightest part of the mat relative to the rest, and a pale piece's colour relative to the floor's."""


@pytest.fixture(scope="module")
def beside_a_lamp():
    """Return a reader of a set with pieces of the floor's hue, and a picture in which a lamp lights the middle."""
    printed, camera = load_kit("domination"), default_camera()
    pale = to_srgb(MORE_LIGHT * to_linear(np.array(printed.board.cell_colour, np.uint8)))
    colour = tuple(np.rint(pale).astype(int).tolist())
    kit = replace(
        printed, pieces=tuple(replace(kind, colour=colour) if kind.letter == "Y" else kind for kind in printed.pieces)
    )
    pose, light = default_pose(kit, camera), random_light(random.Random(1))
    enrolment = picture(kit, camera, pose, light, [kit.enrol.get(cell, "") for cell in kit.cells], 0, ())
    image = picture(kit, camera, pose, light, [TABLE.get(cell, "") for cell in kit.cells], 3, ())
    height, width, _ = image.shape
    y, x = np.mgrid[:height, :width]
    near = np.exp(-((x - width / 2) ** 2 + (y - height / 2) ** 2) / (2 * SPOT_PX**2))
    lit = to_srgb(to_linear(image) * (1 + (MORE_LIGHT - 1) * near[..., None]))
    return Reader(kit, camera, enrol(enrolment, kit, camera)), np.rint(lit).astype(np.uint8)


def test_ground_in_more_light_is_no_pale_piece(beside_a_lamp):
    """Where a lamp lights bare squares to the colour of a pale piece, no outline of one is seen."""
    reader, image = beside_a_lamp
    reading = reader.read(Frame(image, 0, 0.0))
    empty = [number for number, cell in enumerate(reader.kit.cells) if cell not in TABLE]
    assert np.exp(reading.log_likelihood[empty, 0]).min() > 0.5


PALE_GREEN_CUBE, STANDING = (176, 196, 168), "c3"


@pytest.fixture(scope="module")
def diamond():
    """Return a reader of cubes, a picture of a pale green one on c3, and its pose.

    Its hue is close to the grey of the pillars.
    """
    printed, camera = load_kit("diamond"), default_camera()
    pieces = tuple(replace(kind, colour=PALE_GREEN_CUBE) if kind.letter == "G" else kind for kind in printed.pieces)
    kit = replace(printed, pieces=pieces)
    levels = (3,) * len(kit.cells)
    pose, light = default_pose(kit, camera), random_light(random.Random(1))
    singles = [kit.enrol.get(cell, "") for cell in kit.cells]
    enrolment = picture(kit, camera, pose, light, singles, 0, levels)
    image = picture(kit, camera, pose, light, ["G" if cell == STANDING else "" for cell in kit.cells], 3, levels)
    return Reader(kit, camera, enrol(enrolment, kit, camera, levels), levels), image, pose


def ratios(diamond, pieces):
    """Return the log-likelihood ratio for each visible cell, given the colours ``pieces`` may have."""
    reader, image, pose = diamond
    geometry = reader.geometry(pose)
    observations = reader.observations(image, geometry, reader.light(image, pose))
    hypothesis = infer(observations, np.array(reader.appearance.rim, np.float32), geometry)
    told = pillars_log_ratio(hypothesis, np.array(reader.appearance.column.top), np.array(pieces))
    return {cell: one for cell, one in zip(reader.kit.cells, told, strict=True) if one != 0}


def test_the_hue_of_a_pillar_tells_whether_anything_stands_on_it(diamond):
    """The hue of the occupied pillar is evidence for a piece, that of all others against it."""
    told = ratios(diamond, list(diamond[0].appearance.pieces.values()))
    assert told.pop(STANDING) > 3
    assert max(told.values()) < 0


def test_the_hue_of_a_piece_speaks_more_for_it_than_one_that_no_piece_has(diamond):
    """The green ratio resembles what is seen around the middle of the cube, which includes part of the pillar."""
    pale_green = np.array(diamond[0].appearance.column.top) * (0.76, 1, 0.86)
    own, others = (ratios(diamond, [colour])[STANDING] for colour in (pale_green, (0.5, 0.01, 0.02)))
    assert own > others + 1


def test_hue_speaks_for_a_cube_beside_boundaries(diamond):
    """Evidence from hue is added to that of boundaries."""
    reader, image, pose = diamond
    geometry, row = reader.geometry(pose), reader.kit.cells.index("b2")
    rim, told = np.array(reader.appearance.rim, np.float32), np.arange(len(reader.kit.cells)) == row
    found = []
    for ratio in (0.0, 4.0):
        observations = reader.observations(image, geometry, reader.light(image, pose))
        hypothesis = infer(observations, rim, geometry)
        scores = hypothesis.scores[[row]]
        scores[0, 1:] -= scores[0, 1:].max() + 10
        hypothesis.set_scores(np.array([row]), scores)
        hypothesis.assign(row, 0)
        hypothesis.set_off_hue(told & (ratio > 0), np.where(told, ratio, 0.0))
        rescore_by_rendering(image, hypothesis)
        found.append(hypothesis.scores[row, 1:].max())
    assert found[1] > found[0] + 4


def test_gray_pieces_have_the_hue_of_gray_pillars():
    """A paler or darker gray is of the pillars' own hue, a green or a blue is not."""
    gray = np.array([0.5, 0.5, 0.48])
    told = are_ground_hued(gray, np.array([gray * 1.6, gray * 0.3, gray * (0.8, 1.0, 0.8), gray * (0.8, 0.9, 1.2)]))
    assert told.tolist() == [True, True, False, False]


@pytest.mark.parametrize(("nats", "is_ground_hued", "stands"), [
    (60.0, True, True),
    (60.0, False, False),
    (100.0, True, False),
])  # fmt: skip
def test_boundaries_are_asked_for_pieces_of_the_pillars_hue_whatever_colours_say(diamond, nats, is_ground_hued, stands):
    """A cube in full sight is found of which colours say that its pillar is bare, as it has the pillar's hue."""
    reader, image, pose = diamond
    geometry, row = reader.geometry(pose), reader.kit.cells.index(STANDING)
    observations = reader.observations(image, geometry, reader.light(image, pose))
    hypothesis = infer(observations, np.array(reader.appearance.rim, np.float32), geometry)
    scores = hypothesis.scores[[row]]
    scores[0, 1:] -= scores[0, 1:].max() + nats
    hypothesis.set_scores(np.array([row]), scores)
    hypothesis.isolated.scores[row, 1:] = -99
    hypothesis.assign(row, 0)
    of_green = np.array([letters == ("G",) for letters in geometry.configurations.colours])
    assert of_green.any()
    hypothesis.set_ground_hued(of_green & is_ground_hued)
    rescore_by_rendering(image, hypothesis)
    assert (hypothesis.scores[row].argmax() > 0) == stands
