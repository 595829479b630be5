"""Statistics of matches, such as a club may want."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

from companion.events import Accepted, Corrected, Event, Illegal, Start, TakenBack, withdrawn
from companion.languages.english import counted
from companion.records.record import MatchRecord

TURNS = Start | Accepted | TakenBack | Corrected
"""Events after which a player begins to think."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The distribution of a quantity over ``n`` cases: least, median, 90th percentile, most."""

    n: int
    least: float
    median: float
    p90: float
    most: float


@dataclass(frozen=True)
class GameStats:
    """Statistics of all matches of one game.

    Attributes:
        game: its tag.
        matches: number of matches, ``open`` of them unfinished.
        results: winner (name if known, else letter; or ``drawn``), rule, and how often.
        moves: moves that stand, per match.
        duration_s: time from the first to the last event, per match.
        illegal: how often each rule was broken.
        offenders: number of illegal acts by player.
        thinking_s: time from the turn before to the player's own move, by player.
    """

    game: str
    matches: int
    open: int
    results: tuple[tuple[str, str, int], ...]
    moves: Spread | None
    duration_s: Spread | None
    illegal: tuple[tuple[str, int], ...]
    offenders: tuple[tuple[str, int], ...]
    thinking_s: tuple[tuple[str, Spread], ...]


def spread(values: Sequence[float]) -> Spread | None:
    """The distribution of values; None if there are none."""
    if not values:
        return None
    p90 = quantiles(values, n=10, method="inclusive")[-1] if len(values) > 1 else values[0]
    return Spread(len(values), min(values), median(values), p90, max(values))


def game_stats(game: str, records: Iterable[MatchRecord]) -> GameStats:
    """The statistics of one game's matches."""
    results, illegal, offenders = Counter[tuple[str, str]](), Counter[str](), Counter[str]()
    moves: list[float] = []
    durations_s: list[float] = []
    thinking_s: defaultdict[str, list[float]] = defaultdict(list)
    matches = is_open = 0
    for record in records:
        matches += 1
        result = record.result
        is_open += result is None
        if result is not None:
            results[record.called(result.winner) if result.winner else "drawn", result.rule] += 1
        moves.append(standing_moves(record.events))
        durations_s.append(record.events[-1].t - record.events[0].t)
        false = withdrawn(record.events)
        for event in record.events:
            if isinstance(event, Illegal) and event.n not in false:
                illegal.update(event.rules)
                offenders[record.called(event.player)] += 1
        for player, seconds in thinking_times(record.events):
            thinking_s[record.called(player)].append(seconds)
    return GameStats(
        game=game,
        matches=matches,
        open=is_open,
        results=tuple((winner, rule, count) for (winner, rule), count in results.most_common()),
        moves=spread(moves),
        duration_s=spread(durations_s),
        illegal=tuple(illegal.most_common()),
        offenders=tuple(offenders.most_common()),
        thinking_s=tuple((who, found) for who, times in sorted(thinking_s.items()) if (found := spread(times))),
    )


def standing_moves(events: Iterable[Event]) -> int:
    """Number of moves accepted or ruled, less those taken back."""
    count = 0
    for event in events:
        if isinstance(event, TakenBack):
            count -= len(event.moves)
        elif isinstance(event, Accepted) or (isinstance(event, Corrected) and event.move is not None):
            count += 1
    return count


def thinking_times(events: Iterable[Event]) -> Iterable[tuple[str, float]]:
    """Player of each accepted move, and seconds since the turn before: thinking, moving, and correcting mistakes."""
    since_s = 0.0
    for event in events:
        if isinstance(event, Accepted):
            yield event.player, event.t - since_s
        if isinstance(event, TURNS):
            since_s = event.t


def to_row(stats: GameStats) -> dict[str, Any]:
    """The statistics as a JSON object."""

    def spread_row(found: Spread | None) -> dict[str, Any] | None:
        if found is None:
            return None
        row = {"least": found.least, "median": found.median, "p90": found.p90, "most": found.most}
        return {"n": found.n, **{key: round(value, 3) for key, value in row.items()}}

    return {
        "game": stats.game,
        "matches": stats.matches,
        "open": stats.open,
        "results": [{"winner": who, "rule": rule, "count": count} for who, rule, count in stats.results],
        "moves": spread_row(stats.moves),
        "duration_s": spread_row(stats.duration_s),
        "illegal": dict(stats.illegal),
        "offenders": dict(stats.offenders),
        "thinking_s": {who: spread_row(found) for who, found in stats.thinking_s},
    }


def lines(stats: GameStats) -> list[str]:
    """The statistics as lines of text for people."""
    made = [f"{stats.game}: {counted(stats.matches, 'match', 'matches')}, {stats.open} open"]
    if stats.moves is not None and stats.duration_s is not None:
        made.append(f"  moves         {_range(stats.moves, '')}")
        made.append(f"  duration      {_range(stats.duration_s, ' s')}")
    for who, rule, count in stats.results:
        made.append(f"  {count:>5} x  {f'{who} won' if who != 'drawn' else who} ({rule})")
    if stats.illegal:
        made.append("  broken rules  " + ", ".join(f"{rule} {count}" for rule, count in stats.illegal))
        made.append("  illegal acts  " + ", ".join(f"{who} {count}" for who, count in stats.offenders))
    made += [f"  thinking time {who}: {_range(found, ' s')}" for who, found in stats.thinking_s]
    return made


def _range(found: Spread, unit: str) -> str:
    words = (f"{value:.1f}".removesuffix(".0") for value in (found.least, found.median, found.p90, found.most))
    least, middle, p90, most = words
    return f"median {middle}{unit}, nine of ten up to {p90}{unit}, from {least} to {most}{unit} (n = {found.n})"
