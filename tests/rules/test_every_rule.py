"""Every rule has a test marked with it, and every mark names an existing rule."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from companion.games import available_games, load_game

MARK = re.compile(r"""pytest\.mark\.rule\("([A-Z]+-\d+)"\)""")
MARKED = {rule for path in Path(__file__).parents[1].rglob("test_*.py") for rule in MARK.findall(path.read_text())}
RULES = {rule for info in available_games() for rule in load_game(info.name).rules}


@pytest.mark.parametrize("rule", sorted(RULES))
def test_the_rule_has_a_test(rule: str) -> None:
    assert rule in MARKED


def test_every_mark_names_a_rule() -> None:
    assert MARKED <= RULES


@pytest.mark.parametrize("name", [info.name for info in available_games()])
def test_every_game_has_its_tests_and_its_transcript(name: str) -> None:
    games = Path(__file__).parents[1] / "games"
    assert (games / f"test_{name}.py").exists()
    assert (games / "transcripts" / f"{name}.txt").exists()


@pytest.mark.parametrize("name", [info.name for info in available_games()])
def test_game_files_read_in_the_same_order(name: str) -> None:
    text = (Path(load_game.__wrapped__.__code__.co_filename).parent / f"{name}.py").read_text()
    parts = [
        "\nTITLE =",
        "\nRULES =",
        "\ndef build(",
        "    def start(",
        "    def parse_position(",
        "    def legal_moves(",
        "    def violations(",
        "    def play(",
        "    def outcome(",
        "    def acts(",
    ]
    places = [text.index(part) for part in parts if part in text]
    assert len(places) >= len(parts) - 1
    assert places == sorted(places)
