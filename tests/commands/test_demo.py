"""`companion demo`: the whole system without hardware."""

import json

import pytest

from companion.cli import main
from companion.commands.demo import made_for

pytestmark = pytest.mark.pictures


def demo(tmp_path, *words):
    """Run `companion demo` without waiting, with a store of its own."""
    return main(["demo", "--fast", "--match", str(tmp_path / "m.db"), *words])


def test_a_demonstration_is_refereed_right_and_repeats_exactly(tmp_path, capsys):
    runs = []
    for plies in ("2", "1"):
        assert demo(tmp_path, "--plies", plies, "--seed", "3", "--json") == 0
        runs.append([json.loads(line) for line in capsys.readouterr().out.splitlines()])
    whole, again = runs
    assert whole[: len(again)] == again
    assert sum(row["event"] == "accepted" for row in whole) >= 2
    assert sum(row["event"] == "accepted" for row in again) >= 1
    assert whole[0]["event"] == "start"


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


@pytest.mark.slow
def test_diamond_is_shown_with_the_real_firmware_and_nothing_goes_wrong(tmp_path, capsys):
    """The variant is the one that the kit is made for."""
    assert main(["demo", "diamond", "--fast", "--plies", "3", "--seed", "1", "--match", str(tmp_path / "m.db")]) == 0
    out = capsys.readouterr().out
    assert "The pillar sensors work" in out
    assert "3 accepted as played, 0 lost" in out


def test_a_kit_is_shown_in_the_variant_that_it_is_made_for():
    assert made_for("diamond") == "diamond:table"
    assert made_for("diamond/4") == "diamond:table/4"
    assert made_for("diamond:pairwise") == "diamond:pairwise"
    assert made_for("domination/3") == "domination/3"


@pytest.mark.slow
def test_a_demonstration_ends_with_the_players_own_account(tmp_path, capsys):
    """A verdict before the hand has left is no fault: an illegal promotion is read correctly while it leaves."""
    assert demo(tmp_path, "cheight", "--plies", "2", "--seed", "3") == 0
    out = capsys.readouterr().out
    assert "honest moves played" in out
    assert "0 false accusations" in out
    assert "1 illegal act done: 1 caught" in out
