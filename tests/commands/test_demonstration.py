"""`companion demo`: the whole system without hardware."""

import json

import pytest

from companion.cli import main
from companion.commands.demonstration import compare
from companion.events import Accepted, Illegal
from companion.rules.board import Table
from companion.rules.game import Position
from companion.simulate.table import Truth


def demo(tmp_path, *words):
    return main(["demo", "--fast", "--match", str(tmp_path / "m.db"), *words])


def test_a_demonstration_is_refereed_right_and_repeats_exactly(tmp_path, capsys):
    runs = []
    for _ in range(2):
        assert demo(tmp_path, "--plies", "4", "--seed", "3", "--json") == 0
        runs.append([json.loads(line) for line in capsys.readouterr().out.splitlines()])
    assert runs[0] == runs[1]
    assert sum(row["event"] == "accepted" for row in runs[0]) >= 4
    assert runs[0][0]["event"] == "start"


def test_a_demonstration_ends_with_the_players_own_account(tmp_path, capsys):
    assert demo(tmp_path, "--plies", "2", "--seed", "5") == 0
    out = capsys.readouterr().out
    assert "honest moves were played" in out
    assert "0 false accusations" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--plies", "0"), "'0' is not a number of moves"),
        (("--plies", "many"), "'many' is not a number of moves"),
        (("--seed", "x"), "invalid int value: 'x'"),
        (("chess",), "there is no game 'chess'"),
    ],
)
def test_what_cannot_be_shown_is_said_in_one_line(tmp_path, capsys, words, said):
    try:
        code = demo(tmp_path, *words)
    except SystemExit as left:
        code = left.code
    assert code == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def done(kind, t_s, text, rules=()):
    return Truth(kind, "R", t_s - 1, t_s, t_s, None, text, rules, Position((), "R"), Table(()))


def accepted(t_s, move):
    return Accepted(t=t_s, n=1, player="R", move=move, position="")


def illegal(t_s, *rules):
    return Illegal(t=t_s, n=1, player="R", attempt=None, rules=rules, reason="", cells=(), seen="", expected="")


def test_the_account_finds_what_was_missed_invented_or_mistaken():
    truth = [done("move", 1.0, "a1-a2"), done("illegal", 2.0, None, ("G-2",)), done("move", 4.0, "a2-a3")]
    assert compare(truth, [accepted(1.1, "a1-a2"), illegal(2.1, "G-2"), accepted(4.1, "a2-a3")]).is_clean
    assert not compare(truth, [accepted(1.1, "a1-a2"), accepted(4.1, "a2-a3")]).is_clean
    assert not compare(truth, [accepted(1.1, "a1-b1"), illegal(2.1, "G-2"), accepted(4.1, "a2-a3")]).is_clean
    assert not compare(truth, [accepted(1.1, "a1-a2"), illegal(2.1, "DOM-4"), accepted(4.1, "a2-a3")]).is_clean
    twice = [illegal(1.5, "G-2"), illegal(2.1, "G-2"), accepted(1.1, "a1-a2"), accepted(4.1, "a2-a3")]
    assert compare(truth, twice).accused == 1
