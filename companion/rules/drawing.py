"""A position drawn as text."""

from __future__ import annotations

from companion.rules.board import FILES
from companion.rules.game import Game, Position
from companion.rules.notation import ranks_downward


def draw_text(game: Game, position: Position) -> str:
    """The board, ranks downward and files to the right; stacks from bottom to top, ``.`` for an empty square.

    Empty squares of raised ground show its level; a pillar's level follows what stands on it.
    """
    layout, table = game.layout, game.table(position)
    ground = [str(level) if level else "." for level in layout.terrain or (0,) * len(layout.cells)]
    words = [stack or bare for stack, bare in zip(table.stacks, ground, strict=True)]
    if table.levels is not None:
        words = [f"{word}{level}" for word, level in zip(words, table.levels, strict=True)]
    width = max(len(word) for word in words) + 1
    lines = []
    for cells in ranks_downward(layout):
        row = [""] * layout.files
        for cell in cells:
            row[layout.places[cell][0]] = words[cell]
        number = layout.places[cells[0]][1] + 1
        lines.append(f"{number:>2} " + "".join(f"{word:<{width}}" for word in row).rstrip())
    lines.append("   " + "".join(f"{name:<{width}}" for name in FILES[: layout.files]).rstrip())
    return "\n".join([*lines, *captions(game, position)])


def captions(game: Game, position: Position) -> list[str]:
    """What the board does not show: who is to move or has won, and the position's keys."""
    outcome = game.outcome(position)
    if outcome is None:
        turn = f"to move: {game.names[position.to_move]}"
    elif outcome.winner is None:
        turn = f"drawn ({outcome.rule})"
    else:
        turn = f"won by: {game.names[outcome.winner]} ({outcome.rule})"
    return [turn, *(f"{key}: {value}" for key, value in game.position_keys(position))]
