"""Writes a match as a score sheet: text for people, similar to chess's PGN.  docs/score-sheet.md defines it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from companion.events import Accepted, Event, GameOver, Start
from companion.match import Match
from companion.records.fields import format_fields, quoted
from companion.records.record import MatchRecord

WIDTH = 100
"""Largest line length in columns; only a single word may be longer."""

INDENT = 5
OPEN, DRAWN = "*", "-"
"""Results for an unfinished match, and for a draw."""


def format_sheet(record: MatchRecord) -> str:
    """The score sheet of a match.

    Raises:
        InvalidRecord: the rules contradict the record, so that its moves do not lead to its positions.
    """
    head = [f"[{name} {quoted(value)}]" for name, value in _headers(record)]
    lines: list[str] = []
    before: Match | None = None
    for event, after in record.stages():
        lines += _lines(event, before or after)
        before = after
    return "\n".join([*head, "", *lines, ""])


def _headers(record: MatchRecord) -> Iterator[tuple[str, str]]:
    info = record.info
    yield "Game", info.game
    yield "Date", info.started_at.isoformat()
    yield "Kit", info.kit
    for letter, name in zip(info.players, info.names, strict=False):
        yield "Player", f"{letter} {name}"
    yield "Start", record.start
    yield "Result", format_result(record.result)


def format_result(result: GameOver | None) -> str:
    """The result of a match: winner and rule, with ``-`` as the winner of a draw; ``*`` while it is unfinished."""
    return OPEN if result is None else f"{result.winner or DRAWN} {result.rule}"


def _lines(event: Event, before: Match) -> list[str]:
    """The lines of one event; the start is in the headers, moves have numbers, everything else is a comment."""
    if isinstance(event, Start):
        return []
    if isinstance(event, Accepted):
        return [f"{move_number(before):>3}. {event.player} {event.move:<11} {format_time(event.t)}"]
    words = [f"{{{format_time(event.t)}", event.event, *format_fields(event)]
    return _wrapped(f"{' '.join(words)}}}", words)


def _wrapped(whole: str, words: list[str]) -> list[str]:
    """A comment on one line or, if that is too long, with its quoted fields on separate lines."""
    pad = " " * INDENT
    if len(whole) + INDENT <= WIDTH:
        return [pad + whole]
    short = [word for word in words if '"' not in word]
    long = [word for word in words if '"' in word]
    first = textwrap.wrap(
        " ".join(short),
        WIDTH,
        initial_indent=pad,
        subsequent_indent=pad + " ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    lines = [*first, *(f"{pad} {word}" for word in long)]
    return [*lines[:-1], lines[-1] + "}"]


def move_number(match: Match) -> int:
    """The number of the next move; moves that were taken back do not count."""
    return 1 + sum(ply.move is not None for ply in match.plies)


def format_time(t_s: float) -> str:
    """A time in the match, to the millisecond: ``@3.500``."""
    return f"@{t_s:.3f}"
