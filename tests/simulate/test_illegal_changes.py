"""Simulated illegal changes: tables that no single legal move leads to."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from companion.games import load_game, read_position
from companion.match import Match
from companion.rules.game import view
from companion.rules.notation import format_board
from companion.simulate.illegal_changes import ALL, differing, half_done
from companion.simulate.players import ILLEGAL, Habits, play

TAGS = ["domination", "citadel", "cheight", "ziggurat", "diamond:table", "draughts:russian"]


def middles(tag: str) -> list[Match]:
    """Return some matches after up to 20 random moves."""
    matches = []
    for seed in range(4):
        match, chance = Match(load_game(tag), load_game(tag).start()), random.Random(seed)
        for _ in range(20):
            if match.outcome is None:
                match = match.play(chance.choice(match.game.legal_moves(match.position)))
        matches.append(match)
    return matches


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize("name", ALL)
def test_mischief_changes_the_table_in_the_way_that_it_says(tag: str, name: str) -> None:
    """The number of pieces changes as the name says, and only acts on pillars or with moves change levels."""
    for match in middles(tag):
        before = match.game.table(match.position)
        for seed in range(10):
            table = ALL[name](match, random.Random(seed))
            if table is None:
                continue
            assert differing(before, table)
            surplus = sum(map(len, table.stacks)) - sum(map(len, before.stacks))
            if name in ("swapped", "exchanged", "toppled"):
                assert surplus == 0
            if name in ("added", "removed"):
                assert (surplus > 0) == (name == "added")
            assert (table.levels == before.levels) or name in ("two moves", "half done", "pillar jumped", "two pillars")


@pytest.mark.parametrize("name", ["pillar jumped", "two pillars"])
def test_pillars_are_left_alone_where_there_are_none(name: str) -> None:
    """Where there are pillars, they stay within their range."""
    for match in middles("domination"):
        assert ALL[name](match, random.Random(1)) is None
    found = [ALL[name](match, random.Random(seed)) for match in middles("diamond:table") for seed in range(20)]
    levels = [table.levels for table in found if table is not None and table.levels is not None]
    assert levels
    assert all(min(row) >= 0 and max(row) <= 6 for row in levels)


@pytest.mark.parametrize("tag", TAGS)
def test_mischievous_players_do_nothing_that_could_be_legal(tag: str) -> None:
    """Their acts are illegal, of several kinds, and look like no legal move."""
    habits = Habits(illegal=0.6, two_at_once=0.2, irregular_change=0.8)
    sorts = set()
    for seed in range(2):
        match = Match(load_game(tag), load_game(tag).start())
        for act in islice(play(match, random.Random(seed), habits), 60):
            if act.kind == ILLEGAL:
                game, position = match.game, act.position
                allowed = [game.table(game.play(position, move)) for move in game.legal_moves(position)]
                assert view(game, act.table) not in [view(game, table) for table in allowed]
                assert act.rules
                sorts.add(act.sort)
    assert {"exchanged", "added"} <= sorts


def test_a_jump_is_left_half_done_and_the_other_player_moves() -> None:
    """White's man stops on e5, or its captured men stay; Black's only movable man has moved."""
    game, start = read_position("draughts:russian 1,B,6/8/5,B,2/8/3,B,4/2,W,5/8/8 W")
    found = {half_done(Match(game, start), random.Random(seed)) for seed in range(60)} - {None}
    boards = {format_board(game.layout, table.stacks) for table in found if table is not None}
    assert "8/B,7/5,B,2/4,W,3/3,B,4/8/8/8" in boards  # on e5, and Black went b8-a7
    assert "8/B,5,W,1/5,B,2/8/8/8/8/8" in boards  # on g7, f6 not removed
    act = next(iter(found))
    assert act is not None
    assert game.breaches(start, act)[0].rule == "DRA-5"


def test_nothing_is_left_half_done_where_turns_have_no_steps() -> None:
    match = middles("ziggurat")[0]
    assert half_done(match, random.Random(1)) is None
