"""`companion start`, and its agreement with other commands."""

from __future__ import annotations

import pytest

from companion.games import available_tags
from tests.commands.conftest import START, Run


@pytest.mark.parametrize("tag", available_tags())
def test_start_show_legal_and_perft_agree(run: Run, tag: str) -> None:
    code, start, _ = run("start", tag)
    assert code == 0
    start = start.strip()
    assert start.split()[0] == tag
    assert "to move" in run("show", start)[1]
    moves = run("legal", start)[1].split()
    assert moves == sorted(moves)
    assert run("perft", start, "1")[1].strip() == str(len(moves))
    assert run("play", start, moves[0])[0] == 0


def test_start_takes_two_players_written_out(run: Run) -> None:
    assert run("start", "domination/2")[1].strip() == START


def test_an_unknown_game_is_told_the_nearest(run: Run) -> None:
    assert "did you mean domination?" in run("start", "dominatoin")[2]
