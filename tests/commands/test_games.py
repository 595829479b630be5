"""`companion games`."""

from __future__ import annotations

from companion.games import available_games
from tests.commands.conftest import Run, answers


def test_games_lists_every_game_with_its_kit(run: Run) -> None:
    code, out, _ = run("games", "--json")
    assert code == 0
    assert [row["game"] for row in answers(out)] == [info.name for info in available_games()]
    assert all(row["kit"] and row["players"] for row in answers(out))
    assert len(run("games")[1].splitlines()) == len(available_games())
