"""From a broken rule to the sentence that a player hears."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from companion.rules.board import Layout, Table
from companion.rules.game import Rule, Violation

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def number(n: int) -> str:
    """``n`` as a word, ``three``; as digits where people would write digits."""
    return NUMBERS[n] if 0 <= n < len(NUMBERS) else str(n)


def counted(n: int, noun: str) -> str:
    """``one piece``, ``two pieces``, ``no pieces``."""
    return f"{number(n)} {noun}" if n == 1 else f"{number(n)} {noun}s"


def listed(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1]))) if words else "nothing"


def cite(rule: Rule, cells: Iterable[str], **particulars: str) -> Violation:
    """The violation of ``rule`` on ``cells`` (names, each once), its sentence filled in with ``particulars``."""
    return Violation(rule.id, rule.refusal.format(**particulars), tuple(dict.fromkeys(cells)))


def cite_together(rules: Sequence[Rule], cells: Sequence[str], what: str) -> tuple[Violation, ...]:
    """Violations of ``rules`` by one and the same thing, all with the last rule's sentence, so that it is said once."""
    said = cite(rules[-1], cells, what=what)
    return tuple(replace(said, rule=rule.id) for rule in rules)


def is_same_stack(known: str, seen: str) -> bool:
    """Whether ``seen``, in which ``?`` stands for a hidden piece, may be ``known``."""
    return len(known) == len(seen) and all(b in (a, "?") for a, b in zip(known, seen, strict=True))


def changed_cells(layout: Layout, before: Table, after: Table) -> tuple[str, ...]:
    """Names of the cells whose stack or pillar differs; a ``?`` in ``after`` differs from nothing."""
    stacks = zip(before.stacks, after.stacks, strict=True)
    changed = {i for i, (known, seen) in enumerate(stacks) if not is_same_stack(known, seen)}
    if before.levels is not None and after.levels is not None:
        levels = zip(before.levels, after.levels, strict=True)
        changed |= {i for i, (old, new) in enumerate(levels) if old != new}
    return tuple(layout.cells[i] for i in sorted(changed))


def surplus(before: Table, after: Table) -> int:
    """How many pieces more lie in ``after`` than in ``before``; negative if some have gone."""
    return sum(map(len, after.stacks)) - sum(map(len, before.stacks))


def are_two_moves(before: Table, after: Table) -> bool:
    """Whether more than one pillar or piece has moved, and no piece has come or gone."""
    taken = sum(max(0, len(old) - len(new)) for old, new in zip(before.stacks, after.stacks, strict=True))
    pillars = sum(old != new for old, new in zip(before.levels or (), after.levels or (), strict=True))
    return surplus(before, after) == 0 and taken + pillars > 1


def jumped_pillars(layout: Layout, before: Table, after: Table) -> tuple[str, ...]:
    """Names of the pillars that moved by more than one level."""
    if before.levels is None or after.levels is None:
        return ()
    levels = zip(layout.cells, before.levels, after.levels, strict=True)
    return tuple(name for name, old, new in levels if abs(new - old) > 1)


def disturbance(cells: Sequence[str], surplus: int) -> str:
    """What no single act explains, in words: ``surplus`` pieces too many or (negative) too few, or only changes."""
    where = listed(cells)
    if surplus > 0:
        return f"{counted(surplus, 'piece')} too many on the board ({where})"
    if surplus < 0:
        return f"{counted(-surplus, 'piece')} {'is' if surplus == -1 else 'are'} gone from the board ({where})"
    if len(cells) == 1:
        return f"the pieces of {where} are not the ones that stood there"
    return f"{where} have changed at once"
