"""Typical violations at draughts in demonstrations."""

from __future__ import annotations

import pytest

from companion.cli import main
from companion.games import load_game
from companion.match import Match
from companion.rules.game import Game
from companion.rules.notation import parse_move
from companion.simulate.placement import make_rng
from companion.simulate.players import ILLEGAL, Act, Habits, play

SEEDS = (8, 10, 12, 13, 16)
"""Seeds of matches that together show most violations."""

MOST_FIRST = "draughts:brazilian 7,B/8/1,B,3,B,2/W,7/3,B,4/2,W,5/8/8 W"
"""The man on a5 could take b6, but the one on c3 takes d4 and f6."""

CROWN = "draughts:russian 8/2,W,5/8/W,7/8/6,B,1/1,B,6/8 W"
"""The man on c7 is one step from being crowned."""


def named(game: Game, act: Act) -> str:
    """Return the kind of illegal act in players' words; empty for others."""
    if act.text is None:
        (first, *_) = game.breaches(act.position, act.table)
        unfinished = ("take what was jumped", "the jump goes on", "crown the man")
        return next((said for said in unfinished if said in first.text), act.sort)
    move = parse_move(game, act.position, act.text)
    if act.rules[0] == "DRA-2" and move.source is not None and move.target is not None:
        (_, before), (_, after) = (game.layout.places[cell] for cell in (move.source, move.target))
        is_man, is_up = len(act.position.board[move.source]) == 1, act.player == game.players[0]
        return "a man goes backward" if is_man and after != before and (after < before) == is_up else ""
    return {"DRA-3": "one man too many", "DRA-4": "a capture overlooked"}.get(act.rules[0], "")


@pytest.mark.slow
def test_demonstrations_show_what_people_do_wrong() -> None:
    """A few whole matches with the players, seeds and habits of `companion demo draughts`, without a camera."""
    game = load_game("draughts")
    matches = [play(Match(game, game.start()), make_rng("players", seed), Habits()) for seed in SEEDS]
    shown = {named(game, act) for acts in matches for act in acts if act.kind == ILLEGAL}
    assert shown >= {
        "a capture overlooked",
        "a man goes backward",
        "take what was jumped",
        "one man too many",
        "crown the man",
        "the jump goes on",
        "two moves",
    }


@pytest.mark.soak
@pytest.mark.parametrize(
    ("rule", "game", "start", "seed"),
    [
        pytest.param("DRA-6", "draughts:brazilian", MOST_FIRST, 16, marks=pytest.mark.rule("DRA-6")),
        pytest.param("DRA-7", "draughts:russian", CROWN, 17, marks=pytest.mark.rule("DRA-7")),
    ],
)
def test_a_demonstration_begins_where_a_rare_rule_can_be_broken(rule, game, start, seed, tmp_path, capsys) -> None:
    words = ["--fast", "--start", start, "--seed", str(seed), "--plies", "1", "--match", str(tmp_path / "m.db")]
    assert main(["demo", game, *words]) == 0
    out = capsys.readouterr().out
    assert f"is not allowed ({rule}" in out
    assert "1 illegal act done: 1 caught" in out
