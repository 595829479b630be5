"""Matches as series of diagrams."""

from __future__ import annotations

import pytest

from companion.records import gallery
from companion.records.figures import figures
from tests.records.conftest import played


def test_a_caption_says_a_move_once(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, captions = figures(played("domination", plies=6)), list[str]()
    monkeypatch.setattr(gallery, "write_lines", lambda _image, _box, text, _size: captions.append(text))
    gallery.gif(shown)
    moves = [getattr(figure.event, "move", None) for figure in shown]
    assert [caption.count(move) for caption, move in zip(captions, moves, strict=True) if move] == [1] * 6
