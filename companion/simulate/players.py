"""Players who know their game, mostly play it honestly, and sometimes do not: what their hands do to the table.

Everything follows from the game's own rules and a random generator; no game is named here.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from companion.match import Match
from companion.rules.board import Cell, Player, Table, View
from companion.rules.game import Game, Move, Position, view
from companion.rules.notation import format_move

MOVE, ILLEGAL, RESTORE, TAKEBACK, OVERFLOW = "move", "illegal", "restore", "takeback", "overflow"

TRIES = 400
"""Attempts looked at when something illegal is wanted; enough to meet every rule that can be broken at all often."""


@dataclass(frozen=True, slots=True)
class Habits:
    """How often (0…1 a turn) players break a rule, take back, act twice at once, or finish an overflow in one go."""

    illegal: float = 0.18
    takeback: float = 0.06
    two_at_once: float = 0.2
    overflow_at_once: float = 0.3


@dataclass(frozen=True, slots=True)
class Act:
    """One visit of a hand to the board.

    Attributes:
        kind: move, illegal, restore, takeback or overflow, as in a recording's truth.
        player: whose hand it is.
        table: what stands on the board afterwards.
        text: the move or the attempt; None where no single move says it.
        rules: ids of the rules broken, the first to be heard in front.
        position: the game's position afterwards; an illegal act and an unfinished turn leave it as it was.
    """

    kind: str
    player: Player
    table: Table
    text: str | None
    rules: tuple[str, ...]
    position: Position


def play(match: Match, rng: random.Random, habits: Habits) -> Iterator[Act]:
    """The acts of a whole match from here on, until it is over."""
    while match.outcome is None:
        wish = rng.random()
        if wish < habits.illegal and (act := _illegal(match, rng, habits)):
            yield act
            yield Act(RESTORE, act.player, match.game.table(match.position), None, (), match.position)
        elif habits.illegal <= wish < habits.illegal + habits.takeback and (undone := _taken_back(match)):
            yield Act(TAKEBACK, match.before.to_move, _table(undone), None, (), undone.position)
            match = undone
        else:
            move = _chosen(match, rng)
            yield from _turn(match, move, rng, habits)
            match = match.play(move)


def _turn(match: Match, move: Move, rng: random.Random, habits: Habits) -> Iterator[Act]:
    """A legal move, with what must be taken off afterwards often as visits of their own."""
    game, position = match.game, match.position
    if rng.random() >= habits.overflow_at_once:
        for stage in game.stages(position, move):
            yield Act(OVERFLOW, position.to_move, stage.table, None, (), position)
            if rng.random() < habits.overflow_at_once:
                break
    after = game.play(position, move)
    yield Act(MOVE, position.to_move, game.table(after), format_move(game, position, move), (), after)


def _chosen(match: Match, rng: random.Random) -> Move:
    """A legal move, rather one that builds high; one that looks like no other where there is such a one."""
    game, position = match.game, match.position
    moves = game.legal_moves(position)
    views = [view(game, game.table(game.play(position, move))) for move in moves]
    often = Counter(views)
    plain = [move for move, seen in zip(moves, views, strict=True) if often[seen] == 1] or list(moves)
    return max(rng.sample(plain, min(2, len(plain))), key=lambda move: _tallest(game, position, move))


def _tallest(game: Game, position: Position, move: Move) -> int:
    """Height of the tallest stack that ``move`` changes."""
    before, after = game.table(position).stacks, game.table(game.play(position, move)).stacks
    return max((len(a) for a, b in zip(after, before, strict=True) if a != b), default=0)


def _taken_back(match: Match) -> Match | None:
    """The match without its last move; None when that cannot be told from going on."""
    if not match.undoable:
        return None
    undone = match.take_back(1)
    return undone if view(match.game, _table(undone)) not in _innocent(match, back=False) else None


def _illegal(match: Match, rng: random.Random, habits: Habits) -> Act | None:
    """Something against the rules that cannot be taken for anything else; None where nothing was found."""
    if rng.random() < habits.two_at_once and (act := _two_at_once(match, rng)):
        return act
    game, position = match.game, match.position
    attempts = list(game.attempts(position))
    by_rule: dict[str, list[Act]] = {}
    for attempt in rng.sample(attempts, min(TRIES, len(attempts))):
        if broken := game.violations(position, attempt.move):
            text = format_move(game, position, attempt.move)
            rules = tuple(violation.rule for violation in broken)
            act = Act(ILLEGAL, attempt.player, attempt.table, text, rules, position)
            by_rule.setdefault(rules[0], []).append(act)
    innocent = _innocent(match, back=True)
    for rule in rng.sample(sorted(by_rule), len(by_rule)):
        for act in by_rule[rule]:
            if view(game, act.table) not in innocent:
                return act
    return None


def _two_at_once(match: Match, rng: random.Random) -> Act | None:
    """A legal move and another one of other squares, in one turn."""
    game, position = match.game, match.position
    before = game.table(position)
    moves = game.legal_moves(position)
    for first, second in (rng.sample(moves, 2) for _ in range(min(len(moves) // 2, 8))):
        tables = [game.table(game.play(position, move)) for move in (first, second)]
        cells = [set(changed(before, table)) for table in tables]
        if cells[0] & cells[1] or before.levels is not None:
            continue
        pairs = zip(before.stacks, tables[0].stacks, tables[1].stacks, strict=True)
        table = Table(tuple(b if b != a else c for a, b, c in pairs))
        if view(game, table) not in _innocent(match, back=True):
            rules = tuple(violation.rule for violation in game.breaches(position, table))
            return Act(ILLEGAL, position.to_move, table, None, rules, position)
    return None


def _innocent(match: Match, *, back: bool) -> set[View]:
    """All that may be seen after something legal: no change, a move, a turn half done; an earlier table if ``back``."""
    game, position = match.game, match.position
    tables = [game.table(position)]
    for move in game.legal_moves(position):
        tables.append(game.table(game.play(position, move)))
        tables.extend(stage.table for stage in game.stages(position, move))
    if back:
        tables.extend(game.table(earlier) for earlier in match.positions())
    return {view(game, table) for table in tables}


def changed(before: Table, after: Table) -> Sequence[Cell]:
    """The cells on which two tables differ: those that lost pieces first."""
    differ = [i for i, (a, b) in enumerate(zip(before.stacks, after.stacks, strict=True)) if a != b]
    if before.levels is not None and after.levels is not None:
        differ += [i for i, (a, b) in enumerate(zip(before.levels, after.levels, strict=True)) if a != b]
    return sorted(dict.fromkeys(differ), key=lambda i: len(after.stacks[i]) >= len(before.stacks[i]))


def _table(match: Match) -> Table:
    return match.game.table(match.position)
