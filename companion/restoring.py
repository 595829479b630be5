"""The way back from an illegal act, derived from the seen and the expected board.  Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from companion.errors import BadText
from companion.events import Illegal
from companion.rules.board import Cell, Layout, Piece, Sight
from companion.rules.game import Game
from companion.rules.notation import OFF_MOVE, PILLAR_MOVE, RESERVE_MOVE, STACK_MOVE, ranks_downward

SIGHT = re.compile(r"(\d+|\?)(\D)")
"""One occupied square of a board text of tops and heights: ``3R``, ``?Q``."""

LEVELS = " levels="


@dataclass(frozen=True, slots=True)
class RepairStep:
    """One step in restoring the table.

    Attributes:
        source: the square from whose top pieces are taken; empty: from beside the board.
        target: the square onto whose top they go, or whose pillar is moved; empty: off the board.
        count: how many pieces; 0 for a pillar.
        piece: the uppermost of them; empty if it is not known.
        level: where the pillar belongs; None for pieces.
        now: where it stands; None for pieces.
        replaced: how many pieces of ``source`` have gone and been replaced by others that stand there now.
    """

    source: str
    target: str
    count: int
    piece: Piece = ""
    level: int | None = None
    now: int | None = None
    replaced: int = 0


@dataclass(frozen=True, slots=True)
class _Seen:
    """The content of a board text: tops and heights by cell, and levels if there are pillars."""

    sights: tuple[Sight, ...]
    levels: tuple[int, ...]


def repair_steps(game: Game, event: Illegal) -> tuple[RepairStep, ...]:
    """The steps back to the accepted position, in an order in which they can be done.

    Empty if the texts of ``event`` do not fit ``game``, or imply nothing that could be done.
    """
    layout = game.layout
    try:
        seen, expected = _read(layout, event.seen), _read(layout, event.expected)
    except BadText:
        return ()
    single = _undo(layout, event.attempt or "", seen, expected)
    return (single,) if single is not None else (*_pillars(layout, seen, expected), *_pieces(layout, seen, expected))


def _undo(layout: Layout, attempt: str, seen: _Seen, expected: _Seen) -> RepairStep | None:
    """The one step that undoes ``attempt``; None if it is not an act that a single step undoes."""
    cells = layout.index
    if found := STACK_MOVE.fullmatch(attempt):
        source, target, part, taken = found.groups()
        if source in cells and target in cells and not taken:
            count = int(part) if part else expected.sights[cells[source]][0]
            return RepairStep(target, source, count or 1, seen.sights[cells[target]][1] or "")
    if (found := RESERVE_MOVE.fullmatch(attempt)) and found[2] in cells:
        return RepairStep(found[2], "", 1, seen.sights[cells[found[2]]][1] or "")
    if (found := OFF_MOVE.fullmatch(attempt)) and found[1] in cells:
        return RepairStep("", found[1], 1, expected.sights[cells[found[1]]][1] or "")
    if (found := PILLAR_MOVE.fullmatch(attempt)) and found[2] in cells and seen.levels:
        cell = cells[found[2]]
        return RepairStep("", found[2], 0, level=expected.levels[cell], now=seen.levels[cell])
    return None


def _pillars(layout: Layout, seen: _Seen, expected: _Seen) -> Iterator[RepairStep]:
    for name, now, level in zip(layout.cells, seen.levels, expected.levels, strict=False):
        if now != level:
            yield RepairStep("", name, 0, level=level, now=now)


def _pieces(layout: Layout, seen: _Seen, expected: _Seen) -> Iterator[RepairStep]:
    """Surplus pieces go where the same are missing, else off; pieces still missing come from beside the board."""
    surplus, missing = list[RepairStep](), list[RepairStep]()
    for cell, (now, was) in enumerate(zip(seen.sights, expected.sights, strict=True)):
        over, under = _difference(layout.cells[cell], now, was)
        surplus += [over] if over else []
        missing += [under] if under else []
    for over in surplus:
        fits = (under for under in missing if (under.count, under.piece) == (over.count, over.piece))
        under = next(fits, None)
        if under is None:
            yield over
        else:
            missing.remove(under)
            yield replace(over, target=under.target)
    yield from missing


def _difference(name: str, now: Sight, was: Sight) -> tuple[RepairStep | None, RepairStep | None]:
    """The surplus of one square, and what it lacks; both if a different piece is on top.

    Of a stack that hides how high it is, one piece is told.
    """
    if now == was:
        return None, None
    (high, top), (due, due_top) = now, was
    by = (due_top is None) - (top is None) if high is None or due is None else high - due
    if by > 0:
        return RepairStep(name, "", by, top or ""), None
    if by < 0:
        return None, RepairStep("", name, -by, due_top or "")
    return RepairStep(name, "", 1, top or "", replaced=1), RepairStep("", name, 1, due_top or "")


def _read(layout: Layout, text: str) -> _Seen:
    """The content of ``text``.  Raises BadText if it does not fit this layout."""
    board, _, levels = text.partition(LEVELS)
    sights: dict[Cell, Sight] = {}
    ranks = list(ranks_downward(layout))
    if len(ranks) != len(board.split("/")):
        raise BadText(f"{text!r} has not {len(ranks)} ranks")
    for rank, part in zip(ranks, board.split("/"), strict=True):
        found = list(_rank(part))
        if len(found) != len(rank):
            raise BadText(f"{part!r} has not {len(rank)} squares")
        sights |= dict(zip(rank, found, strict=True))
    heights = [int(level) for part in levels.split("/") for level in part.split(",")] if levels else []
    order = [cell for rank in ranks for cell in rank]
    by_cell = dict(zip(order, heights, strict=False))
    cells = range(len(layout.cells))
    return _Seen(tuple(sights[cell] for cell in cells), tuple(by_cell[cell] for cell in cells) if levels else ())


def _rank(text: str) -> Iterator[Sight]:
    for part in text.split(","):
        if part.isascii() and part.isdigit():
            yield from [(0, None)] * int(part)
        elif found := SIGHT.fullmatch(part):
            yield None if found[1] == "?" else int(found[1]), found[2]
        else:
            raise BadText(f"{part!r} is no square's height and top")
