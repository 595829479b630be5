"""A position as people look at it: with characters, and as a picture."""

from __future__ import annotations

from companion.rules.board import FILES
from companion.rules.game import Game, Position
from companion.rules.notation import ranks_downward


def draw_text(game: Game, position: Position) -> str:
    """The board with ranks downward and files to the right; stacks bottom to top, ``.`` for an empty square."""
    layout, table = game.layout, game.table(position)
    words = [stack or "." for stack in table.stacks]
    if table.levels is not None:
        words = [f"{word}{level}" for word, level in zip(words, table.levels, strict=True)]
    width = max(len(word) for word in words) + 1
    lines = []
    for cells in ranks_downward(layout):
        rank = layout.places[cells[0]][1]
        row = [""] * layout.files
        for cell in cells:
            row[layout.places[cell][0]] = words[cell]
        lines.append(f"{rank + 1:>2} " + "".join(f"{word:<{width}}" for word in row).rstrip())
    lines.append("   " + "".join(f"{name:<{width}}" for name in FILES[: layout.files]).rstrip())
    return "\n".join([*lines, *(f"{key}: {value}" for key, value in _captions(game, position))])


def _captions(game: Game, position: Position) -> list[tuple[str, str]]:
    outcome = game.outcome(position)
    if outcome is None:
        turn = ("to move", game.names[position.to_move])
    else:
        turn = ("won by" if outcome.winner else "drawn", f"{game.names.get(outcome.winner or '', '')} ({outcome.rule})")
    return [turn, *game.position_keys(position)]


def draw_svg(game: Game, position: Position) -> str:
    """The board as an SVG picture."""
    raise NotImplementedError(game.tag, position)
