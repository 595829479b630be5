"""Statistics as one SVG: rows of bars, each with its value beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from companion.games import load_game
from companion.languages.english import counted
from companion.records.stats import GameStats
from companion.scene.oblique import FAINT, INK, PAPER

WIDTH, ROW, LABEL, BARS, MARGIN = 820, 24, 320, 380, 24
"""Width of the picture, height of a row, width of the labels and of the longest bar, width of the border."""

COLOUR = "#1769c2"
MAX_ROWS = 12
"""Largest number of bars in a group: a club may have many members, and the rest is in the printed numbers."""


@dataclass(frozen=True, slots=True)
class Bars:
    """A group of bars: a heading and, for each bar, label, value and the value in words."""

    heading: str
    rows: tuple[tuple[str, float, str], ...]


def groups(stats: GameStats) -> Iterator[Bars]:
    """The groups of bars to draw; players are labelled by their names or colours, rules by number and title."""
    game = load_game(stats.game)
    called = {**game.names, "drawn": "Drawn"}

    def name(who: str) -> str:
        return called.get(who, who)

    def titled(rule: str) -> str:
        return f"{rule} {game.rules[rule].title}" if rule in game.rules else rule

    yield Bars("Results", _rows((f"{name(who)}: {titled(rule)}", n, str(n)) for who, rule, n in stats.results))
    yield Bars("Rules broken", _rows((titled(rule), count, str(count)) for rule, count in stats.illegal))
    yield Bars("Illegal acts by player", _rows((name(who), count, str(count)) for who, count in stats.offenders))
    times = ((name(who), found.median, f"{found.median:.1f} s") for who, found in stats.thinking_s)
    yield Bars("Time for a move (median)", _rows(times))


def _rows(rows: Iterator[tuple[str, float, str]]) -> tuple[tuple[str, float, str], ...]:
    return tuple(rows)[:MAX_ROWS]


def plot(every: Sequence[GameStats]) -> str:
    """The SVG with the bars of all games, one below the other."""
    lines: list[str] = []
    y = MARGIN
    for stats in every:
        title = f"{stats.game}: {counted(stats.matches, 'match', 'matches')}, {stats.open} open"
        lines.append(_text(MARGIN, y + 18, title, 20, INK, bold=True))
        y += 2 * ROW
        for group in groups(stats):
            if group.rows:
                lines += _drawn(group, y)
                y += ROW * (len(group.rows) + 2)
        y += ROW
    size = f"0 0 {WIDTH} {y}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" font-family="sans-serif">'
    title = "<title>Statistics of a match store</title>"
    return "\n".join([head, title, f'<rect width="100%" height="100%" fill="{PAPER}"/>', *lines, "</svg>", ""])


def _drawn(group: Bars, y: int) -> Iterator[str]:
    yield _text(MARGIN, y + 14, group.heading, 15, FAINT, bold=True)
    longest = max((value for _, value, _ in group.rows), default=0.0) or 1.0
    for k, (label, value, words) in enumerate(group.rows, start=1):
        top = y + k * ROW
        length = max(1.0, BARS * value / longest)
        yield f'<rect x="{MARGIN + LABEL}" y="{top + 4}" width="{length:.1f}" height="{ROW - 8}" fill="{COLOUR}"/>'
        yield _text(MARGIN, top + 17, label, 14, INK)
        yield _text(MARGIN + LABEL + length + 8, top + 17, words, 14, INK)


def _text(x: float, y: float, text: str, size: int, fill: str, *, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{fill}"{weight}>{escape(text)}</text>'
