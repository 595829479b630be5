"""Tables that no single legal move leaves."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from companion.games import load_game
from companion.match import Match
from companion.rules.game import view
from companion.simulate.mischief import ALL, differing
from companion.simulate.players import ILLEGAL, Habits, play

TAGS = ["domination", "citadel", "cheight", "ziggurat", "diamond:table"]


def middles(tag: str) -> list[Match]:
    """Some matches in full swing."""
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
    """Pieces appear, vanish or stay as many; only pillars move levels."""
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
            assert (table.levels == before.levels) or name in ("two moves", "pillar jumped", "two pillars")


@pytest.mark.parametrize("name", ["pillar jumped", "two pillars"])
def test_pillars_are_left_alone_where_there_are_none(name: str) -> None:
    """And stay within their range where there are."""
    for match in middles("domination"):
        assert ALL[name](match, random.Random(1)) is None
    found = [ALL[name](match, random.Random(seed)) for match in middles("diamond:table") for seed in range(20)]
    levels = [table.levels for table in found if table is not None and table.levels is not None]
    assert levels
    assert all(min(row) >= 0 and max(row) <= 6 for row in levels)


@pytest.mark.parametrize("tag", TAGS)
def test_mischievous_players_do_nothing_that_could_be_legal(tag: str) -> None:
    """Their acts are illegal, of many sorts, and look like no legal move."""
    habits = Habits(illegal=0.6, two_at_once=0.2, mischief=0.8)
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
