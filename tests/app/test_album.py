"""The folder of annotated pictures: which cells are marked."""

from types import SimpleNamespace

import numpy as np
import pytest

from companion.app import album
from companion.app.album import Album
from companion.app.camera_reader import ReadResult
from companion.events import Accepted, GameOver, Illegal, TakenBack, Unfinished
from vision.capture.frames import Frame

FRAME = Frame(np.zeros((8, 8, 3), np.uint8), 7, 0.5)
SEEN = ReadResult(reading=SimpleNamespace(levels=None))


@pytest.fixture
def marked(tmp_path, monkeypatch):
    """Return a function that shows events and returns the cells marked in the picture."""
    drawn = []

    def draw(image, _sight, _reading, _caption, changed):
        drawn.append(changed)
        return image

    monkeypatch.setattr(album, "draw_belief", draw)
    reader = SimpleNamespace(kit=SimpleNamespace(cells=("c3", "c4", "d4")), camera=None)
    camera_reader = SimpleNamespace(reader=reader, geometry=SimpleNamespace(pose=None))
    book = Album(tmp_path / "pictures", camera_reader, ())

    def show(*events):
        book(FRAME, SEEN, events)
        assert (tmp_path / "pictures" / "000007.jpg").stat().st_size > 0
        return drawn[-1]

    return show


def accepted(move):
    return Accepted(t=0, n=1, player="R", move=move, position="domination 8 R")


@pytest.mark.parametrize(
    ("event", "cells"),
    [
        (accepted("c3-c4:2"), ("c3", "c4")),
        (accepted("*d4"), ("d4",)),
        (accepted("c3-z9"), ("c3",)),
        (TakenBack(t=0, n=1, moves=("c3-c4", "c4-d4"), position="domination 8 R"), ("c3", "c4", "d4")),
        (Unfinished(t=0, n=1, todo="take one", cells=("c4",)), ("c4",)),
        (
            Illegal(
                t=0, n=1, player="R", attempt="c3-d4", rules=(), reason="", cells=("c3", "d4"), seen="", expected=""
            ),
            ("c3", "d4"),
        ),
        (GameOver(t=0, n=1, winner="R", rule="DOM-8", position=""), ()),
    ],
)
def test_the_squares_that_an_event_is_about_are_marked(marked, event, cells):
    """The cells of each kind of event are marked."""
    assert marked(event) == cells


def test_squares_stay_marked_until_something_else_is_said(marked):
    """Marks stay until the next event."""
    marked(accepted("c3-c4"))
    assert marked() == ("c3", "c4")
    assert marked(accepted("*d4")) == ("d4",)
