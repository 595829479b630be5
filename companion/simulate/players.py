"""Simulated players who mostly play by the rules and sometimes break them: what their hands do to the table.

Everything follows from the game's own rules and a random generator; no game is named here.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from companion.match import Match
from companion.rules.board import Cell, Player, Stack, Table, View
from companion.rules.game import Attempt, Game, Move, Position, view
from companion.rules.notation import format_move
from companion.simulate import illegal_changes as mischiefs
from companion.tracker.hypotheses import QUICK_PLIES, predict, replays_within, sequences_within
from companion.tracker.sights import apply_changes, table_sights

MOVE, ILLEGAL, RESTORE, TAKEBACK, OVERFLOW = "move", "illegal", "restore", "takeback", "overflow"

TRIES = 400
"""Attempts sampled when something illegal is wanted, besides those that take pieces, which are few and all examined;
enough to find every rule that can be broken at all often."""

HALF_DONE = "half done"
AT_ONCE = (HALF_DONE, "two moves")
SINGLE_CHANGES = tuple(name for name in mischiefs.ALL if name not in AT_ONCE)


@dataclass(frozen=True, slots=True)
class Habits:
    """Probabilities (0…1) of what players do, and what their table lets them do.

    Attributes:
        illegal: breaking a rule, per turn.
        takeback: taking back a move, per turn.
        two_at_once: breaking a rule by two moves in one turn: the first left half done, or both of one player.
        irregular_change: breaking a rule by anything else that no single move describes.
        overflow_at_once: finishing an overflow in one go.
        alike: choosing a move without regard to whether another one looks the same.
        travel: levels that pillars can be turned to: none sinks into the table, or rises out of it.
        shows_top: whether the top piece of a stack is visible; no illegal act leaves one where it is not.
    """

    illegal: float = 0.18
    takeback: float = 0.06
    two_at_once: float = 0.2
    overflow_at_once: float = 0.3
    irregular_change: float = 0.0
    alike: float = 0.0
    travel: range = range(100)
    shows_top: Callable[[Stack], bool] = lambda _stack: True


@dataclass(frozen=True, slots=True)
class Act:
    """One visit of a hand to the board.

    Attributes:
        kind: move, illegal, restore, takeback or overflow, as in a recording's ground truth.
        player: whose hand it is.
        table: what stands on the board afterwards.
        text: the move or the attempt; None where no single move describes it.
        rules: ids of the rules broken, the one to be reported first in front.
        position: the game's position afterwards; an illegal act and an unfinished turn leave it unchanged.
        sort: name of the illegal change (:data:`companion.simulate.illegal_changes.ALL`) that made it; else empty.
    """

    kind: str
    player: Player
    table: Table
    text: str | None
    rules: tuple[str, ...]
    position: Position
    sort: str = ""


def play(match: Match, rng: random.Random, habits: Habits) -> Iterator[Act]:
    """The acts of a match from its present position until it is over."""
    broken: Counter[str] = Counter()
    while match.outcome is None:
        wish = rng.random()
        if wish < habits.illegal and (act := _illegal(match, rng, habits, broken)):
            broken.update(act.rules[:1])
            yield act
            yield Act(RESTORE, act.player, match.game.table(match.position), None, (), match.position)
        elif habits.illegal <= wish < habits.illegal + habits.takeback and (undone := _taken_back(match)):
            yield Act(TAKEBACK, match.before.to_move, _table(undone), None, (), undone.position)
            match = undone
        else:
            move = _chosen(match, rng, habits)
            yield from _turn(match, move, rng, habits)
            match = match.play(move)


def _turn(match: Match, move: Move, rng: random.Random, habits: Habits) -> Iterator[Act]:
    """A legal move; pieces to be taken off afterwards are often taken in separate visits of the hand."""
    game, position = match.game, match.position
    if rng.random() >= habits.overflow_at_once:
        for stage in game.stages(position, move):
            yield Act(OVERFLOW, position.to_move, stage.table, None, (), position)
            if rng.random() < habits.overflow_at_once:
                break
    after = game.play(position, move)
    yield Act(MOVE, position.to_move, game.table(after), format_move(game, position, move), (), after)


def _chosen(match: Match, rng: random.Random, habits: Habits) -> Move:
    """A legal move, preferably one that builds high, and one that looks like no other where there is one."""
    game, position = match.game, match.position
    moves = game.legal_moves(position)
    if habits.alike and rng.random() < habits.alike:
        return rng.choice(moves)
    views = [view(game, game.table(game.play(position, move))) for move in moves]
    often = Counter(views)
    plain = [move for move, seen in zip(moves, views, strict=True) if often[seen] == 1] or list(moves)
    return max(rng.sample(plain, min(2, len(plain))), key=lambda move: _tallest(game, position, move))


def _tallest(game: Game, position: Position, move: Move) -> int:
    """Height of the tallest stack that ``move`` changes."""
    before, after = game.table(position).stacks, game.table(game.play(position, move)).stacks
    return max((len(a) for a, b in zip(after, before, strict=True) if a != b), default=0)


def _taken_back(match: Match) -> Match | None:
    """The match without its last move; None if there is none, or if that would look like something legal."""
    if not match.undoable:
        return None
    undone = match.take_back(1)
    return undone if view(match.game, _table(undone)) not in _innocent(match, back=False) else None


def _illegal(match: Match, rng: random.Random, habits: Habits, broken: Counter[str]) -> Act | None:
    """An illegal act that cannot be mistaken for anything else; None where none was found.

    Of the rules that a single move or a turn left half done can break, one that has been ``broken`` least often so far
    is chosen, so that rules that can be broken in few positions are broken there.
    """
    if rng.random() < habits.two_at_once:
        found = (_changed_illegally(match, rng, habits, name) for name in AT_ONCE)
        if act := next(filter(None, found), None):
            return act
    if (
        habits.irregular_change
        and rng.random() < habits.irregular_change
        and (act := _changed_illegally(match, rng, habits, rng.choice(SINGLE_CHANGES)))
    ):
        return act
    by_rule = _attempted(match, rng, habits)
    if act := _changed_illegally(match, rng, habits, HALF_DONE):
        by_rule.setdefault(act.rules[0], []).append(act)
    innocent = _innocent(match, back=True)
    for rule in sorted(rng.sample(sorted(by_rule), len(by_rule)), key=broken.__getitem__):
        for act in by_rule[rule]:
            if view(match.game, act.table) not in innocent and not _looks_like_another(match, act):
                return act
    return None


def _looks_like_another(match: Match, act: Act) -> bool:
    """Whether an act that breaks none of the rules of ``act`` leaves the same view, as with equal pyramids."""
    game, position = match.game, match.position
    others = (game.violations(position, attempt.move) for attempt in _leaving(match, act.table))
    return any({violation.rule for violation in broken}.isdisjoint(act.rules) for broken in others)


def _attempted(match: Match, rng: random.Random, habits: Habits) -> dict[str, list[Act]]:
    """Illegal acts of a single move, by the first rule that they break."""
    game, position = match.game, match.position
    attempts = list(game.attempts(position))
    some = rng.sample(attempts, min(TRIES, len(attempts)))
    by_rule: dict[str, list[Act]] = {}
    for attempt in dict.fromkeys([*some, *(attempt for attempt in attempts if attempt.move.taken)]):
        if not _is_possible(attempt.table, habits):
            continue
        if broken := game.violations(position, attempt.move):
            text = format_move(game, position, attempt.move)
            rules = tuple(violation.rule for violation in broken)
            act = Act(ILLEGAL, attempt.player, attempt.table, text, rules, position)
            by_rule.setdefault(rules[0], []).append(act)
    return by_rule


def _is_possible(table: Table, habits: Habits) -> bool:
    """Whether pillars and stacks can be as on ``table``, and the top of each stack is visible."""
    return all(level in habits.travel for level in table.levels or ()) and all(map(habits.shows_top, table.stacks))


def _changed_illegally(match: Match, rng: random.Random, habits: Habits, name: str) -> Act | None:
    """The illegal act of this name in :data:`companion.simulate.illegal_changes.ALL`; None if it is not possible."""
    game, position = match.game, match.position
    table = mischiefs.ALL[name](match, rng)
    if table is None or not _is_possible(table, habits):
        return None
    if view(game, table) in _innocent(match, back=True) or _is_sequence(match, table):
        return None
    single = next(_leaving(match, table), None)
    if single is None:
        broken, player, text = game.breaches(position, table), position.to_move, None
    else:
        broken, player = game.violations(position, single.move), single.player
        text = format_move(game, position, single.move)
    return Act(ILLEGAL, player, table, text, tuple(violation.rule for violation in broken), position, name)


def _is_sequence(match: Match, table: Table) -> bool:
    """Whether quick plies, or another move in place of one of the last, would also look like ``table``."""
    prediction = predict(match)
    cells = frozenset(mischiefs.differing(prediction.table, table))
    seen = table_sights(match.game, table)
    causes = (*sequences_within(prediction, cells, QUICK_PLIES), *replays_within(prediction, cells))
    return any(apply_changes(prediction.sights, cause.changes) == seen for cause in causes)


def _leaving(match: Match, table: Table) -> Iterator[Attempt]:
    """Illegal single moves after which the board looks like ``table``."""
    game, position = match.game, match.position
    cells = frozenset(mischiefs.differing(game.table(position), table))
    there = view(game, table)
    for attempt in game.attempts(position, cells):
        if view(game, attempt.table) == there and game.violations(position, attempt.move):
            yield attempt


def _innocent(match: Match, *, back: bool) -> set[View]:
    """All views after something legal: no change, a move, a turn half done; with ``back`` also earlier tables."""
    game, position = match.game, match.position
    tables = [game.table(position)]
    for move in game.legal_moves(position):
        tables.append(game.table(game.play(position, move)))
        tables.extend(stage.table for stage in game.stages(position, move))
    if back:
        tables.extend(game.table(earlier) for earlier in match.positions())
    return {view(game, table) for table in tables}


def changed(before: Table, after: Table) -> Sequence[Cell]:
    """The cells on which two tables differ; those that lost pieces come first."""
    cells = sorted(mischiefs.differing(before, after))
    return sorted(cells, key=lambda i: len(after.stacks[i]) >= len(before.stacks[i]))


def _table(match: Match) -> Table:
    return match.game.table(match.position)
