"""Stacks in a line away from the camera, and towers, which can look alike."""

import random

import cv2
import numpy as np
import pytest

from calibration.kit import load_kit
from companion.app.ground import start_levels
from companion.games import load_game
from companion.simulate.viewpoint import default_camera, default_pose, looking_at
from tools.boards import nearest_pose, picture, random_camera, random_light, read_board
from vision.capture.frames import Frame
from vision.enrolment import enrol
from vision.reader import Reader

RANKS = ("ab,cp,c,", "rp,n,nka,rp", ",p,p,", "b,,,", ",,,", ",BP,PB,K", "RP,N,N,RP", "A,CP,C,A")
"""A Cheight board, farthest rank first."""


@pytest.mark.parametrize(
    ("kit", "seed", "cells"),
    [
        pytest.param("cheight", 139, ("c5", "c6"), id="two stacks that look like a tower"),
        pytest.param("citadel", 304, ("b4",), id="a tower that looks like a cube before a stack"),
        pytest.param("citadel", 310, ("f1", "g1"), id="a tower half hidden by one that is not there"),
    ],
)
def test_a_line_of_stacks_and_a_tower_are_told_apart(kit, seed, cells):
    """Look-alike lines and towers in random rendered boards are read correctly."""
    told = {cell.name: cell for cell in read_board(seed, kit)}
    for name in cells:
        assert told[name].right, f"{name}: {told[name].stack} was read as {told[name].read}"


def test_what_a_face_tells_of_one_stack_is_used_for_the_one_behind_it():
    """A piece just behind a stack of three looks like a fourth one on it, until the third one's face is found."""
    kit, camera = load_kit("cheight"), default_camera()
    pose, light = default_pose(kit, camera), random_light(random.Random(1))
    singles = [kit.enrol.get(cell, "") for cell in kit.cells]
    appearance = enrol(picture(kit, camera, pose, light, singles, 0, ()), kit, camera)
    stacks = [dict(zip("abcd", rank.split(","), strict=True)) for rank in RANKS]
    for seed in (1, 6, 9):
        table = [stacks[8 - int(cell[1])][cell[0]] for cell in kit.cells]
        image = picture(kit, camera, pose, light, table, seed, ())
        reading = Reader(kit, camera, appearance).read(Frame(image, 0, 0.0))
        assert [reading.best(kit.cells.index(cell))[0] for cell in ("c8", "c7")] == [(1, "c"), (3, "a")]


def test_towers_are_read_that_are_higher_than_any_believed_at_first():
    """On the far rank, no stack behind the tower triggers a second look at it."""
    kit, camera = load_kit("domination"), default_camera()
    pose, light = default_pose(kit, camera), random_light(random.Random(2))
    singles = [kit.enrol.get(cell, "") for cell in kit.cells]
    appearance = enrol(picture(kit, camera, pose, light, singles, 0, ()), kit, camera)
    for stack in ("RGRGRGR", "RGRGRGRG", "RGRGRGRGR"):
        table = [stack if cell == "c8" else "" for cell in kit.cells]
        reading = Reader(kit, camera, appearance).read(Frame(picture(kit, camera, pose, light, table, 3, ()), 0, 0.0))
        assert reading.best(kit.cells.index("c8"))[0] == (len(stack), stack[-1])


@pytest.mark.parametrize(
    ("seed", "trial"),
    [
        pytest.param(2, 2, id="of which three blocks explain more than four"),
        pytest.param(5, 1, id="that looks like a block before a stack of three"),
    ],
)
def test_towers_of_blocks_that_stand_far_apart_are_read(seed, trial):
    """Each tower fits best only as a whole, and no stack behind it triggers a second look."""
    rng, kit = random.Random(seed), load_kit("citadel")
    camera, ground = random_camera(rng), start_levels(kit)
    pose, light = nearest_pose(kit, camera, rng.uniform(45, 65), rng.uniform(0, 360)), random_light(rng)
    singles = [kit.enrol.get(cell, "") for cell in kit.cells]
    appearance = enrol(picture(kit, camera, pose, light, singles, seed, ground), kit, camera, ground)
    for _ in range(trial + 1):
        towers = {cell: "".join(rng.choices("RB", k=rng.choice((3, 4, 5)))) for cell in rng.sample(kit.cells, 4)}
    image = picture(kit, camera, pose, light, [towers.get(c, "") for c in kit.cells], 10 * seed + trial, ground)
    reading = Reader(kit, camera, appearance, ground).read(Frame(image, 0, 0.0))
    read = {cell: reading.best(kit.cells.index(cell))[0] for cell in towers}
    assert read == {cell: (len(tower), tower[-1]) for cell, tower in towers.items()}


@pytest.mark.parametrize(
    ("name", "cell", "stack"),
    [
        pytest.param("citadel", "f8", "B", id="a block before a red thing"),
        pytest.param("domination", "d8", "GB", id="two discs before a red thing"),
    ],
)
def test_a_thing_on_the_table_is_no_upper_part_of_a_stack_before_it(name, cell, stack):
    """It has the colour of a piece where a tower would show it, but not the outline of a tower."""
    kit, camera, light = load_kit(name), default_camera(), random_light(random.Random(2))
    ground, pose = start_levels(kit), looking_at(np.array([0.0, 30.0, 0.0]), 760.0, kit, 57.0, 250.0)
    singles = [kit.enrol.get(one, "") for one in kit.cells]
    enrolled = picture(kit, camera, pose, light, singles, 0, ground)
    reader = Reader(kit, camera, enrol(enrolled, kit, camera, ground), ground)
    boxes_px = reader.geometry(reader.register(enrolled)).outlines.boxes_px.astype(int)
    left, top, right, bottom = boxes_px[singles.index("R"), 0]
    red = enrolled[(top + bottom) // 2, (left + right) // 2].tolist()
    number = kit.cells.index(cell)
    image = picture(kit, camera, pose, light, [stack if one == cell else "" for one in kit.cells], 1, ground)
    (left, bottom, right, _), highest = boxes_px[number, 0], boxes_px[number, 4:9, 1].min()
    cv2.rectangle(image, (int(left) - 20, int(highest) - 30), (int(right) + 20, int(bottom) - 4), red, cv2.FILLED)
    assert reader.read(Frame(image, 0, 0.0)).best(number)[0] == (len(stack), stack[-1])


def test_a_pyramid_on_another_of_its_size_is_seen_to_be_two():
    """Two pyramids of equal size on each other are read as two."""
    kit, camera = load_kit("ziggurat"), default_camera()
    pose, light = default_pose(kit, camera), random_light(random.Random(1))
    singles = [kit.enrol.get(cell, "") for cell in kit.cells]
    appearance = enrol(picture(kit, camera, pose, light, singles, 0, ()), kit, camera)
    pairs = {"b2": "Qq", "d3": "dD", "e5": "Ww", "a4": "qq", "c5": "Q", "f1": "d", "b6": "W"}
    image = picture(kit, camera, pose, light, [pairs.get(cell, "") for cell in kit.cells], 1, ())
    reading = Reader(kit, camera, appearance).read(Frame(image, 0, 0.0))
    read = {cell: reading.best(kit.cells.index(cell))[0] for cell in pairs}
    sight = load_game("ziggurat").sight
    assert read == {cell: sight(stack) for cell, stack in pairs.items()}
