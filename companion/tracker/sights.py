"""Tops and heights as text: what the referee says it saw and what it expected.

Like the board of a position (notation.md): ranks from the highest down, joined by ``/``; in a rank the cells from
file a on, joined by ``,``; a run of n empty cells is the number n.  An occupied cell is its height and its top piece:
``3R``; a height that no camera can count is ``?``: ``?Q``.  The start of Domination for two begins
``4/1R,1R,1G,1G,1R,1R/1,1G,...``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from companion.rules.board import Cell, Layout, Sight, Stack
from companion.rules.notation import ranks_downward

EMPTY_SIGHT: Sight = (0, None)
"""What a cell without pieces shows."""

HIDDEN = "?"
"""A piece, or a height, that the camera cannot see."""

Changes = tuple[tuple[Cell, Sight], ...]
"""How one view differs from another: the cells that differ, in their order, with what they show instead."""


def format_sight(sight: Sight) -> str:
    """One cell: ``3R``, ``?Q``; an empty one is ``empty``, as people say it."""
    height, top = sight
    return "empty" if sight == EMPTY_SIGHT else f"{HIDDEN if height is None else height}{top}"


def format_sights(layout: Layout, sights: Sequence[Sight]) -> str:
    """The whole board."""
    return "/".join(_format_rank([sights[cell] for cell in rank]) for rank in ranks_downward(layout))


def _format_rank(sights: list[Sight]) -> str:
    parts: list[str] = []
    for is_empty, run in groupby(sights, key=lambda sight: sight == EMPTY_SIGHT):
        cells = list(run)
        parts.extend([str(len(cells))] if is_empty else map(format_sight, cells))
    return ",".join(parts)


def altered(sights: tuple[Sight, ...], changes: Changes) -> tuple[Sight, ...]:
    """``sights`` with ``changes`` made."""
    result = list(sights)
    for cell, sight in changes:
        result[cell] = sight
    return tuple(result)


def stack_of(sight: Sight) -> Stack:
    """A stack of which only ``sight`` is known: hidden pieces are ``?``."""
    height, top = sight
    return HIDDEN * ((height or 1) - 1) + top if top is not None else ""
