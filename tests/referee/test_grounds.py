"""The grounds recorded for each verdict."""

from __future__ import annotations

import json
from math import exp

import pytest

from companion.errors import BadText
from companion.games import load_game
from companion.match import Match
from companion.referee.grounds import Explanation, Grounds, SquareSeen, from_json, to_json
from companion.rules.notation import parse_position

START = "domination 4/R,R,G,G,R,R/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/G,G,R,R,G,G/4 R"


@pytest.fixture
def shot(film):
    """Return a film at the start of Domination, seen and accepted."""
    game = load_game("domination")
    shot = film(Match(game, parse_position(game, START)))
    shot.show()
    return shot


def test_the_squares_of_an_act_with_what_was_expected_believed_and_read(shot) -> None:
    """Each changed cell lists what was expected, believed and read; explanations have probabilities.

    The sum of the probabilities does not exceed 1.
    """
    (illegal,) = shot.show(("d7", ""), ("b6", "GG"))
    grounds = shot.referee.grounds(illegal.n)
    squares = {square.cell: square for square in grounds.squares}
    assert squares["d7"] == SquareSeen("d7", "1G", "empty", "empty", 0.0, hidden=False)
    assert squares["b6"] == SquareSeen("b6", "1G", "2G", "2G", 0.0, hidden=False)
    assert grounds.explanations[0].what == "act d7-b6"
    assert sum(exp(told.log_p) for told in grounds.explanations) <= 1.01
    assert grounds.calm_s > 0


def test_a_square_that_contradicts_the_verdict_is_named(shot) -> None:
    """The deviating cell has the log-likelihood of what is believed there."""
    shot.doubts = {"h3": ("R", "", 4.0)}
    (accepted,) = shot.show(("e4", ""), ("e5", "GR"))
    squares = {square.cell: square for square in shot.referee.grounds(accepted.n).squares}
    assert (squares["h3"].believed, squares["h3"].read) == ("empty", "1R")
    assert squares["h3"].log_p == pytest.approx(-4.0, abs=1.0)


def test_changes_that_no_act_makes_are_told_by_their_squares(shot) -> None:
    """Whoever disputes the verdict learns what was taken to stand where."""
    (illegal,) = shot.show(("d7", "R"), ("b6", "GG"), ("h3", "R"))
    assert shot.referee.grounds(illegal.n).explanations[0].what == "h3 1R, b6 2G, d7 1R"


def test_a_legal_move_is_not_named_as_an_act_too(shot) -> None:
    """One name is enough for a table."""
    (accepted,) = shot.show(("e4", ""), ("e5", "GR"))
    assert [told.what for told in shot.referee.grounds(accepted.n).explanations].count("e4-e5") == 1


def test_only_the_last_verdict_is_accounted_for(shot) -> None:
    """Earlier grounds are kept beside the events and need not stay in memory."""
    (illegal,) = shot.show(("d7", ""), ("b6", "GG"))
    later = shot.show()
    assert later
    assert shot.referee.grounds(illegal.n) is None
    assert shot.referee.grounds(later[-1].n) is not None


def test_grounds_survive_being_written_down(shot) -> None:
    """The grounds survive a round trip through JSON."""
    (accepted,) = shot.show(("e4", ""), ("e5", "GR"))
    grounds = shot.referee.grounds(accepted.n)
    assert from_json(json.loads(json.dumps(to_json(grounds)))) == grounds


def test_a_broken_account_is_refused() -> None:
    """The message names the missing or unknown field."""
    row = to_json(Grounds(1.0, 0.5, 2, (Explanation("e4-e5", -0.001),), ()))
    assert from_json(row).explanations[0].what == "e4-e5"
    with pytest.raises(BadText, match="squares"):
        from_json({key: value for key, value in row.items() if key != "squares"})
    with pytest.raises(BadText, match="why"):
        from_json(row | {"explanations": [{"what": "e4-e5", "log_p": 0.0, "why": ""}]})
