"""The rule pages in ``docs/rules`` agree with the rules in the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.cli import main
from companion.games import available_games, load_game

DOCS = Path(__file__).parents[2] / "docs" / "rules"


def test_the_pages_are_up_to_date(tmp_path: Path) -> None:
    """To update them, run ``companion games --pages docs/rules``."""
    assert main(["games", "--pages", str(tmp_path)]) == 0
    made = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    kept = {path.name: path.read_text(encoding="utf-8") for path in DOCS.iterdir()}
    assert sorted(made) == sorted(kept)
    for name, text in made.items():
        assert kept[name] == text, f"{name} is out of date: companion games --pages docs/rules"


@pytest.mark.parametrize("name", [info.name for info in available_games()])
def test_a_page_holds_every_rule_and_start(name: str) -> None:
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    info = next(info for info in available_games() if info.name == name)
    for tag in info.tags:
        assert f"### `{tag}`" in text
        for rule in load_game(tag).rules.values():
            assert f"**{rule.id} {rule.title}.** {rule.text}" in text
