"""What a kit's squares hold: terrain, the pillars of a position, and the stacks of a layout."""

from __future__ import annotations

from collections.abc import Mapping

from calibration.kit import Kit
from companion.errors import CompanionError
from companion.games import load_game
from companion.rules.game import Game, Position


def ground_levels(kit: Kit, game: Game, position: Position) -> tuple[int, ...]:
    """Ground level of each of the kit's cells, in the kit's order; empty for a flat board."""
    levels = game.table(position).levels or game.layout.terrain
    by_name = dict(zip(game.layout.cells, levels, strict=True)) if levels else {}
    return tuple(by_name.get(cell, 0) for cell in kit.cells) if levels else ()


def start_levels(kit: Kit) -> tuple[int, ...]:
    """Levels of terrain, or of pillars at the start of the kit's game; empty for a flat board.

    Raises CompanionError if there is no such game.
    """
    if kit.pillars is None and not kit.board.terrain_step_mm:
        return ()
    game = load_game(kit.game)
    return ground_levels(kit, game, game.start())


def parse_levels(text: str, kit: Kit) -> tuple[int, ...]:
    """Levels written as in a position's ``levels=``: ranks from the highest down joined by /, files by commas.

    Raises CompanionError if there are too few or too many, or if a pillar cannot stand so.
    """
    if kit.pillars is None:
        raise CompanionError(f"--levels: the kit {kit.name} has no pillars")
    ranks = [rank.split(",") for rank in text.split("/")]
    if len(ranks) != kit.board.ranks or any(len(rank) != kit.board.files for rank in ranks):
        raise CompanionError(f"--levels: give {kit.board.ranks} ranks of {kit.board.files} numbers, joined by / and ,")
    lowest, highest = kit.pillars.lowest, kit.pillars.highest
    levels = [number.strip() for rank in reversed(ranks) for number in rank]
    for number in levels:
        if not number.isdecimal() or not lowest <= int(number) <= highest:
            raise CompanionError(f"--levels: {number!r} is no level; pillars stand at {lowest} to {highest}")
    return tuple(map(int, levels))


def parse_layout(text: str, kit: Kit) -> Mapping[str, str]:
    """The stacks by square: ``start`` of the kit's game, ``enrol`` as the kit says, or the text of a board.

    The text is that of a position: ranks from the highest down joined by /, in each the stacks, bottom first, and the
    numbers of empty squares, joined by commas.  Raises CompanionError if it does not fit the kit's board.
    """
    if text == "enrol":
        return kit.enrol
    if text == "start":
        return _start_layout(kit)
    ranks = text.split("/")
    if len(ranks) != kit.board.ranks:
        raise CompanionError(
            f"--layout: give {kit.board.ranks} ranks joined by /, from the highest down; or start, enrol"
        )
    layout: dict[str, str] = {}
    for number, rank in zip(range(kit.board.ranks, 0, -1), ranks, strict=True):
        cells = [cell for cell in kit.cells if int(cell[1:]) == number]
        layout |= _parse_rank(rank, cells, kit)
    return layout


def _start_layout(kit: Kit) -> Mapping[str, str]:
    game = load_game(kit.game)
    stacks = game.table(game.start()).stacks
    layout = {cell: stack for cell, stack in zip(game.layout.cells, stacks, strict=True) if stack}
    if strange := sorted(layout.keys() - set(kit.cells)):
        raise CompanionError(f"--layout start: the kit {kit.name} has no square {strange[0]}")
    return layout


def _parse_rank(text: str, cells: list[str], kit: Kit) -> Mapping[str, str]:
    """The stacks of one rank of a layout, whose squares are ``cells``."""
    letters = {kind.letter for kind in kit.pieces}
    stacks: list[str] = []
    for word in filter(None, text.split(",")):
        if not word.isdecimal() and set(word) - letters:
            raise CompanionError(f"--layout: {word!r} is no stack of this kit's pieces {', '.join(sorted(letters))}")
        stacks += [""] * int(word) if word.isdecimal() else [word]
        if len(stacks) > len(cells):
            break
    if len(stacks) != len(cells):
        raise CompanionError(f"--layout: rank {text!r} does not have {len(cells)} squares")
    return {cell: stack for cell, stack in zip(cells, stacks, strict=True) if stack}
