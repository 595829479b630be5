"""The diagnosis of a table that no legal act explains: the act, the rules it breaks, and the squares concerned."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from companion.rules.board import Player, Sight, Stack, Table
from companion.rules.game import Attempt, Move, Violation
from companion.tracker.hypotheses import Prediction
from companion.tracker.sights import Changes, apply_changes, is_pillar, names_of, stack_of

MAX_CLAUSES = 2
"""Number of broken rules that a spoken sentence names at most: nobody listens to a longer one."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was done wrong.

    ``move`` is None when no single act explains the table; ``violations`` is never empty; ``cells`` are the names of
    the squares that differ, then those that the violations name.
    """

    move: Move | None
    player: Player
    violations: tuple[Violation, ...]
    cells: tuple[str, ...]

    @property
    def rules(self) -> tuple[str, ...]:
        """The ids of the broken rules without duplicates, in the order in which they are to be named."""
        return tuple(dict.fromkeys(violation.rule for violation in self.violations))

    @property
    def reason(self) -> str:
        """One sentence for people, naming only the first broken rules, which matter most."""
        clauses = list(dict.fromkeys(violation.text.rstrip(".") for violation in self.violations))
        return "; ".join(clauses[:MAX_CLAUSES]) + "."


def diagnose(prediction: Prediction, changes: Changes, attempts: Iterable[Attempt]) -> Diagnosis:
    """The likeliest of the ``attempts`` that lead to this table; if there is none, what is wrong with the table itself.

    Acts by the player to move are preferred, then those that break the fewest rules: of two ways to explain what
    stands there, the charitable one.
    """
    game, position = prediction.match.game, prediction.match.position
    judged = [(attempt, game.violations(position, attempt.move)) for attempt in attempts]
    broken = [(attempt, violations) for attempt, violations in judged if violations]
    if broken:
        attempt, violations = min(broken, key=lambda pair: (pair[0].player != position.to_move, len(pair[1])))
        return Diagnosis(attempt.move, attempt.player, violations, _cells(prediction, changes, violations))
    violations = game.breaches(position, table_as_seen(prediction, changes))
    return Diagnosis(None, position.to_move, violations, _cells(prediction, changes, violations))


def table_as_seen(prediction: Prediction, changes: Changes) -> Table:
    """The last accepted table with ``changes`` applied; hidden pieces of changed stacks are ``?``, the rest known."""
    stacks = list(prediction.table.stacks)
    for cell, sight in changes:
        if not is_pillar(sight):
            stacks[cell] = _nearest(stacks[cell], sight)
    pillars = view_of(prediction, changes)[len(stacks) :]
    return Table(tuple(stacks), tuple(level or 0 for level, _ in pillars) if pillars else None)


def _nearest(known: Stack, sight: Sight) -> Stack:
    """The stack behind ``sight``: what is left of the ``known`` one if that fits, else its lower pieces are hidden."""
    height, top = sight
    left = known[:height]
    return left if height and len(left) == height and left[-1] == top else stack_of(sight)


def view_of(prediction: Prediction, changes: Changes) -> tuple[Sight, ...]:
    """The whole view that differs from the last accepted one by ``changes``."""
    return apply_changes(prediction.sights, changes)


def _cells(prediction: Prediction, changes: Changes, violations: tuple[Violation, ...]) -> tuple[str, ...]:
    names = names_of(prediction.match.game.layout, changes)
    return tuple(dict.fromkeys([*names, *(name for violation in violations for name in violation.cells)]))
