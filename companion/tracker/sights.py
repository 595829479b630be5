"""What can be seen of a table, place by place, and the text format for tops and heights, both seen and expected.

Places are numbered: first the cells of the layout, for what stands on each; then, if there are pillars, the same
cells once more for the pillars under them.  A pillar's sight is its level, with :data:`PILLAR` as its top.

The text is like the board of a position (docs/notation.md): ranks from the highest down, joined by ``/``; in a rank the
cells from file a on, joined by ``,``; a run of n empty cells is the number n.  An occupied cell is its height and its
top piece: ``3R``; a height that no camera can count is ``?``: ``?Q``.  The start of Domination for two begins
``4/1R,1R,1G,1G,1R,1R/1,1G,...``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from companion.rules.board import Cell, Layout, Sight, Stack, Table
from companion.rules.game import Game, Position, view
from companion.rules.notation import ranks_downward

EMPTY_SIGHT: Sight = (0, None)
"""What a cell without pieces shows."""

PILLAR = "|"
"""Stands in for the piece in the sight of a pillar."""

HIDDEN = "?"
"""A piece, or a height, that the camera cannot see."""

Place = int
"""A cell; for the pillar under it, the cell plus the number of cells."""

Changes = tuple[tuple[Place, Sight], ...]
"""How one view differs from another: the places that differ, in order, with what they show instead."""


def table_sights(game: Game, table: Table) -> tuple[Sight, ...]:
    """The sights of all places of ``table``: its cells, then its pillars."""
    perfect = view(game, table)
    return perfect.sights + tuple((level, PILLAR) for level in perfect.levels or ())


def position_sights(game: Game, position: Position) -> tuple[Sight, ...]:
    """The sights of all places of the table on which a position stands."""
    return table_sights(game, game.table(position))


def cell_of(layout: Layout, place: Place) -> Cell:
    """The cell of a place, or the one above a pillar."""
    return place % len(layout.cells)


def name_of(layout: Layout, place: Place) -> str:
    """The name of a place's cell."""
    return layout.cells[cell_of(layout, place)]


def names_of(layout: Layout, changes: Changes) -> tuple[str, ...]:
    """The names of the cells that differ, without duplicates."""
    return tuple(dict.fromkeys(name_of(layout, place) for place, _ in changes))


def is_pillar(sight: Sight) -> bool:
    """Whether it is the sight of a pillar."""
    return sight[1] == PILLAR


def format_sight(sight: Sight) -> str:
    """One place as text: ``3R``, ``?Q``; an empty cell is ``empty``, a pillar ``level 4``, as people say it."""
    height, top = sight
    if is_pillar(sight):
        return f"level {height}"
    return "empty" if sight == EMPTY_SIGHT else f"{HIDDEN if height is None else height}{top}"


def format_changes(layout: Layout, changes: Changes) -> str:
    """Changes as text: ``c6 1p, c7 empty``; ``no change`` if there are none."""
    return ", ".join(f"{name_of(layout, place)} {format_sight(sight)}" for place, sight in changes) or "no change"


def format_sights(layout: Layout, sights: Sequence[Sight]) -> str:
    """The whole board; then, if there are pillars, their levels as in a position: ``… levels=5,5,3,1,1/…``."""
    board = "/".join(_format_rank([sights[cell] for cell in rank]) for rank in ranks_downward(layout))
    pillars = sights[len(layout.cells) :]
    if not pillars:
        return board
    levels = "/".join(",".join(str(pillars[cell][0]) for cell in rank) for rank in ranks_downward(layout))
    return f"{board} levels={levels}"


def _format_rank(sights: list[Sight]) -> str:
    parts: list[str] = []
    for is_empty, run in groupby(sights, key=lambda sight: sight == EMPTY_SIGHT):
        cells = list(run)
        parts.extend([str(len(cells))] if is_empty else map(format_sight, cells))
    return ",".join(parts)


def apply_changes(sights: tuple[Sight, ...], changes: Changes) -> tuple[Sight, ...]:
    """``sights`` with ``changes`` applied."""
    result = list(sights)
    for place, sight in changes:
        result[place] = sight
    return tuple(result)


def stack_of(sight: Sight) -> Stack:
    """A stack of which only ``sight`` is known: hidden pieces are ``?``."""
    height, top = sight
    return HIDDEN * ((height or 1) - 1) + top if top is not None else ""
