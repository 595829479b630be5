"""Readable game transcripts, replayed line by line: ``transcripts/<game>.txt``.

An unindented line is a command: ``start GAME`` or ``start POSITION``, ``move``, ``try`` (an illegal move), ``show``,
``# remark``. The indented lines below it are the program's output, which must match exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.games import load_game, read_position
from companion.rules.drawing import draw_text
from companion.rules.game import Game, Position
from companion.rules.notation import format_position, parse_move

FOLDER = Path(__file__).parent / "transcripts"


def replayed(text: str) -> Iterator[str]:
    """Yield the transcript of the commands in ``text``, with the program's output after each."""
    table: tuple[Game, Position] | None = None
    for line in text.splitlines():
        if line.startswith("  "):
            continue
        yield line
        verb, _, rest = line.partition(" ")
        if verb == "start" and " " in rest:
            table = read_position(rest)
        elif verb == "start":
            game = load_game(rest)
            table = game, game.start()
        elif verb in ("move", "try", "show"):
            assert table is not None
            said, table = answer(*table, verb, rest)
            yield from (f"  {line}" for line in said)


def answer(game: Game, position: Position, verb: str, text: str) -> tuple[list[str], tuple[Game, Position]]:
    """Return the program's output for one command, and the game and position after it."""
    if verb == "show":
        return draw_text(game, position).splitlines(), (game, position)
    move = parse_move(game, position, text)
    broken = game.violations(position, move)
    assert bool(broken) == (verb == "try"), f"{verb} {text}: {[violation.rule for violation in broken]}"
    if broken:
        return [f"{violation.rule}: {violation.text}" for violation in broken], (game, position)
    todo = [stage.todo for stage in game.stages(position, move)[:1]]
    after = game.play(position, move)
    due = game.due(after)
    return [*todo, format_position(game, after), *([due.todo] if due else [])], (game, after)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_transcript(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "\n".join(replayed(text)) + "\n" == text
