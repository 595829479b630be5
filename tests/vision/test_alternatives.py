"""Comparison of whole tables against one picture, and cut-outs that show the alternatives."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from calibration.appearance import read_appearance
from calibration.camera import read_camera
from calibration.kit import load_kit
from vision.alternatives import cut_outs
from vision.capture.frames import Frame
from vision.drawing import Viewpoint
from vision.reader import Reader
from vision.reading import EMPTY


@pytest.fixture(scope="module")
def seen(examples):
    """Return a reader that has read a picture, the picture, the table it shows, and the geometry."""
    folder, kit = examples / "photos", load_kit("domination")
    reader = Reader(kit, read_camera(folder / "camera.toml"), read_appearance(folder / "set.toml", kit))
    image = cv2.imread(str(folder / "domination-b-103.jpg"))
    reading, geometry = reader.read_with_geometry(Frame(image, 0, 0.0))
    return reader, image, [reading.best(i)[0] for i in range(len(kit.cells))], geometry


def altered(reader, table, **cells):
    """Return the table with the states of some cells replaced."""
    return [cells.get(cell, state) for cell, state in zip(reader.kit.cells, table, strict=True)]


@pytest.mark.parametrize(("other", "nats"), [((4, "R"), 9), ((5, "G"), 10), (EMPTY, 10)])
def test_the_table_that_is_there_is_likelier_than_another(seen, other, nats) -> None:
    """The true table is likelier by 10 nats than one with another stack on g3, by 9 than one with a disc less."""
    reader, image, table, _ = seen
    true, wrong = reader.score(Frame(image, 0, 0.0), [table, altered(reader, table, g3=other)])
    assert true - wrong > nats


def test_a_piece_moved_to_the_next_square_is_seen_in_the_whole(seen) -> None:
    """Moving one stack to the next cell makes the table less likely by 10 nats."""
    reader, image, table, _ = seen
    moved = altered(reader, table, g3=EMPTY, g4=(5, "R"))
    true, wrong = reader.score(Frame(image, 0, 0.0), [table, moved])
    assert true - wrong > 10


def test_a_comparison_leaves_the_reader_as_it_was(seen) -> None:
    """Repeating a comparison gives the same scores."""
    reader, image, table, _ = seen
    frame = Frame(image, 0, 0.0)
    before = reader.score(frame, [table, altered(reader, table, g3=EMPTY)])
    assert np.allclose(reader.score(frame, [table, altered(reader, table, g3=EMPTY)]), before)


def test_cut_outs_show_the_picture_and_each_table_there(seen) -> None:
    """The first cut-out is the picture itself, the others show the tables.

    A stack that is drawn changes the picture clearly, an empty cell hardly, and different stacks look different.
    """
    reader, image, table, geometry = seen
    sight = Viewpoint(reader.kit, reader.camera, geometry.pose)
    tables = [table, altered(reader, table, g3=EMPTY), altered(reader, table, g3=(2, "G"))]
    own, *drawn = cut_outs(image, sight, reader.appearance.pieces, tables, ["g3"])
    assert len({picture.shape for picture in (own, *drawn)}) == 1
    assert own.shape[0] < 300
    shares = [float((picture != own).any(axis=2).mean()) for picture in drawn]
    assert shares[0] > 0.2
    assert shares[1] < 0.1
    assert (drawn[0] != drawn[2]).any()
