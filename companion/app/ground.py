"""What the pieces stand on: the terrain of a game, or the pillars as its position has them."""

from __future__ import annotations

from calibration.kit import Kit
from companion.errors import CompanionError
from companion.games import load_game
from companion.rules.game import Game, Position


def ground_levels(kit: Kit, game: Game, position: Position) -> tuple[int, ...]:
    """Level of what each of the kit's cells stands on, in the kit's order; empty for a flat board."""
    levels = game.table(position).levels or game.layout.terrain
    by_name = dict(zip(game.layout.cells, levels, strict=True)) if levels else {}
    return tuple(by_name.get(cell, 0) for cell in kit.cells) if levels else ()


def start_levels(kit: Kit) -> tuple[int, ...]:
    """Levels of terrain, or of pillars at the start of the kit's game; empty for a flat board.

    Raises CompanionError when there is no such game.
    """
    if kit.pillars is None and not kit.board.terrain_step_mm:
        return ()
    game = load_game(kit.game)
    return ground_levels(kit, game, game.start())


def parse_levels(text: str, kit: Kit) -> tuple[int, ...]:
    """Levels as a position's ``levels=`` has them: ranks from the highest down joined by /, files by commas.

    Raises CompanionError when there are too few or too many, or when a pillar cannot stand so.
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
