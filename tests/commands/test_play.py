"""`companion play`."""

from __future__ import annotations

from tests.commands.conftest import START, Run, answers


def test_play_gives_the_position_after(run: Run) -> None:
    code, out, _ = run("play", START, "c7-c6", "b6-b7")
    assert code == 0
    assert out.startswith("domination 4/RG,1,G,G,R,R/2,GR,")
    assert out.strip().endswith(" R")


def test_play_stops_at_an_illegal_move(run: Run) -> None:
    code, out, _ = run("play", START, "c7-c6", "c6-c5")
    assert code == 1
    assert out.startswith("c6-c5: G-1: ")
    code, out, _ = run("play", START, "c7-c6", "c6-c5", "--json")
    assert answers(out)[0]["move"] == "c6-c5"
