"""Words of the pages: each trouble with the picture has one in every language, wherever it is shown."""

from __future__ import annotations

import json
import re

import pytest

from companion.panel.cues import VIEWS, Rank
from companion.web.answers import STATIC

TROUBLES = [state for state, cue in VIEWS.items() if cue.rank is not Rank.CALM]
LANGUAGES = 2


@pytest.mark.parametrize("state", TROUBLES)
def test_a_trouble_of_the_picture_has_a_word_in_every_language(state: str) -> None:
    words = (STATIC / "words.js").read_text(encoding="utf-8")
    assert len(set(re.findall(f'"camera {state}": "([^"]+)"', words))) == LANGUAGES


def test_the_list_of_troubles_names_all_of_them() -> None:
    shown = re.search(r"SIGHT_TROUBLE = (\[.*\]);", (STATIC / "signs.js").read_text(encoding="utf-8"))
    assert shown is not None
    assert sorted(json.loads(shown[1])) == sorted(TROUBLES)


@pytest.mark.parametrize("file", ["table.js", "panel.js"])
def test_table_and_panel_show_all_of_them(file: str) -> None:
    page = (STATIC / file).read_text(encoding="utf-8")
    assert re.search(r'import {[^}]*\bSIGHT_TROUBLE\b[^}]*} from "/static/signs.js";', page)
    assert "SIGHT_TROUBLE.includes(state.view)" in page
