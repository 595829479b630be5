"""The simulated players: their acts are as they declare."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import islice, pairwise

import pytest

from calibration.heights import shows_top
from calibration.kit import load_kit
from companion.games import load_game
from companion.match import Match
from companion.rules.board import Table
from companion.rules.game import view
from companion.rules.notation import parse_move
from companion.simulate.players import ILLEGAL, MOVE, OVERFLOW, RESTORE, TAKEBACK, Act, Habits, changed, play

TAGS = ["domination", "domination/4", "citadel", "cheight", "ziggurat", "diamond"]
NAUGHTY = Habits(illegal=0.4, takeback=0.15, two_at_once=0.3, overflow_at_once=0.3)


def acts(tag: str, seed: int, count: int, habits: Habits = NAUGHTY) -> tuple[Match, list[Act]]:
    """Return a match at its start, and the first acts of it."""
    game = load_game(tag)
    match = Match(game, game.start())
    return match, list(islice(play(match, random.Random(seed), habits), count))


@pytest.fixture(scope="module")
def script() -> list[Act]:
    """Return the acts of three long matches of Domination."""
    return [act for seed in range(3) for act in acts("domination", seed, 80)[1]]


@pytest.mark.parametrize("tag", TAGS)
def test_scripts_follow_the_rules(tag: str) -> None:
    """Moves are legal and lead to the declared table; other acts leave the position as they should."""
    match, script = acts(tag, 1, 60)
    game = match.game
    for before, act in zip([None, *script], script, strict=False):
        position = match.position
        if act.kind == MOVE:
            assert act.text is not None
            move = parse_move(game, position, act.text)
            assert game.violations(position, move) == ()
            assert act.player == position.to_move
            match = match.play(move)
        elif act.kind == TAKEBACK:
            assert act.player == match.before.to_move
            match = match.take_back(1)
        elif act.kind == RESTORE:
            assert before is not None
            assert (before.kind, before.player) == (ILLEGAL, act.player)
        elif act.kind == OVERFLOW:
            tables = [stage.table for m in game.legal_moves(position) for stage in game.stages(position, m)]
            assert act.table in tables
        assert act.position == match.position
        if act.kind in (MOVE, TAKEBACK, RESTORE):
            assert act.table == game.table(match.position)


@pytest.mark.parametrize("tag", TAGS)
def test_illegal_acts_are_illegal_and_restored(tag: str) -> None:
    """Illegal acts break the rules they name, look like no legal move, and are restored by the same player."""
    match, script = acts(tag, 2, 80)
    game = match.game
    illegal = [i for i, act in enumerate(script[:-1]) if act.kind == ILLEGAL]
    assert len(illegal) > 10
    for i in illegal:
        act, position = script[i], script[i].position
        if act.text is None:
            broken = game.breaches(position, act.table)
        else:
            broken = game.violations(position, parse_move(game, position, act.text))
        assert act.rules == tuple(violation.rule for violation in broken) != ()
        allowed = [game.table(position)] + [game.table(game.play(position, m)) for m in game.legal_moves(position)]
        assert view(game, act.table) not in [view(game, table) for table in allowed]
        assert script[i + 1].kind == RESTORE
        assert script[i + 1].table == game.table(position)


@pytest.mark.slow
def test_every_kind_of_act_comes_up(script: list[Act]) -> None:
    """A few long matches of Domination contain all five kinds, several rules, and acts with and without a text."""
    assert Counter(act.kind for act in script).keys() == {MOVE, ILLEGAL, RESTORE, TAKEBACK, OVERFLOW}
    assert {"G-1", "G-2", "DOM-4", "DOM-5"} <= {act.rules[0] for act in script if act.rules}
    assert {act.text is None for act in script if act.kind == ILLEGAL} == {True, False}


@pytest.mark.slow
def test_overflow_is_finished_by_the_same_player(script: list[Act]) -> None:
    """After a stack that is too high comes another stage or the move, which takes pieces off its bottom only."""
    pairs = [(a, b) for a, b in pairwise(script) if a.kind == OVERFLOW]
    assert pairs
    for a, b in pairs:
        assert b.kind in (OVERFLOW, MOVE)
        assert b.player == a.player
        (cell,) = changed(a.table, b.table)
        assert a.table.stacks[cell].endswith(b.table.stacks[cell])


def test_no_act_looks_like_one_that_breaks_other_rules() -> None:
    """An attempt that looks the same but breaks other rules shares at least one rule with the act.

    A pyramid put on another of the same look cannot be told from one taken off the board.
    """
    _, script = acts("ziggurat", 3, 120)
    for act in script:
        if act.kind == ILLEGAL and act.text is not None:
            game = load_game("ziggurat")
            there = view(game, act.table)
            cells = frozenset(changed(game.table(act.position), act.table))
            for attempt in game.attempts(act.position, cells):
                if view(game, attempt.table) == there and (broken := game.violations(act.position, attempt.move)):
                    assert {violation.rule for violation in broken} & set(act.rules)


def test_same_seed_same_script() -> None:
    """Another seed gives another script."""
    script = acts("domination", 5, 40)
    assert acts("domination", 5, 40) == script
    assert acts("domination", 6, 40) != script


def test_honest_players_only_play() -> None:
    """Without bad habits there are only moves and overflows, up to the end of the match."""
    match, script = acts("domination", 4, 2000, Habits(illegal=0, takeback=0))
    assert {act.kind for act in script} <= {MOVE, OVERFLOW}
    for act in script:
        if act.kind == MOVE and act.text is not None:
            match = match.play(parse_move(match.game, match.position, act.text))
    assert match.outcome is not None


def test_changed_cells_are_named_sources_first() -> None:
    """One piece moves from the second cell onto the first; in another table a pillar rises."""
    assert changed(Table(("A", "B", "C")), Table(("AB", "", "C"))) == [1, 0]
    assert changed(Table(("", ""), (1, 1)), Table(("", ""), (1, 2))) == [1]


def test_no_pillar_is_turned_farther_than_it_goes() -> None:
    """The rules forbid it, but the mechanics do not allow it either, so it would not test the camera."""
    travel = range(7)
    _, script = acts("diamond:table", 13, 100, replace(NAUGHTY, travel=travel))
    levels = [act.table.levels or () for act in script]
    assert {level for row in levels for level in row} <= set(travel)
    _, wilder = acts("diamond:table", 13, 100)
    assert any(7 in (act.table.levels or ()) for act in wilder)


def test_no_pyramid_is_put_where_nothing_is_seen_of_it() -> None:
    """The smallest pyramid lies wholly within the largest, because the kit has one rise for all sizes."""
    habits = replace(NAUGHTY, shows_top=partial(shows_top, load_kit("ziggurat")))
    wilder, seen = (acts("ziggurat", 1, 100, of)[1] for of in (NAUGHTY, habits))
    assert any(stack.upper().endswith("QW") for act in wilder for stack in act.table.stacks)
    assert not any(stack.upper().endswith("QW") for act in seen for stack in act.table.stacks)
