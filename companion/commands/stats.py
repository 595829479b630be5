"""`companion stats`: statistics of the stored matches."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from companion.commands.options.parser import OptionGroup, Subparsers
from companion.commands.options.store import add_store_command, is_default_missing
from companion.commands.output.codes import DONE
from companion.commands.output.files import write_file
from companion.commands.output.lines import report_no_matches, say
from companion.errors import CompanionError
from companion.games import load_game
from companion.recorder.place import open_store
from companion.recorder.store import MatchId, Store
from companion.records.plot import plot
from companion.records.record import MatchRecord, load_record
from companion.records.stats import GameStats, game_stats, lines, to_row


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """Options of `companion stats`."""

    game: str | None
    file: Path | None
    store: Path | None
    json: bool


def add_parser(subparsers: Subparsers) -> None:
    """Add `stats`."""
    what = "Show matches in numbers: results, lengths, broken rules, times."
    stats = add_store_command(subparsers, "stats", Options, run, what)
    stats.add_argument("--game", metavar="GAME[:variant][/n]", help="only this game")
    stats.add_argument("-o", dest="file", type=Path, metavar="FILE.svg", help="draw them as well")


def run(options: Options) -> int:
    """Print the statistics of every game in the store."""
    file = options.file
    if file is not None and file.suffix.lower() != ".svg":
        raise CompanionError(f"{file}: this form is not known; end the name with .svg")
    if options.game is not None:
        load_game(options.game)
    if is_default_missing(options.store):
        return report_no_matches()
    with open_store(options.store, read_only=True) as store:
        every = collect(store, options.game)
    for stats in every:
        for line in [json.dumps(to_row(stats))] if options.json else lines(stats):
            say(line)
    if file is not None:
        write_file(file, plot(every))
    return DONE


def collect(store: Store, game: str | None) -> list[GameStats]:
    """Statistics of each game played, by tag; matches that are damaged or have not begun are named and left out."""
    matches: defaultdict[str, list[MatchId]] = defaultdict(list)
    left_out: list[MatchId] = []
    for match in store.match_ids():
        try:
            tag = store.info(match).game
        except CompanionError:
            left_out.append(match)
        else:
            matches[tag].append(match)
    tags = sorted(matches) if game is None else [game]
    every = [game_stats(tag, _readable(store, matches[tag], left_out)) for tag in tags]
    if left_out:
        numbers = ", ".join(map(str, left_out[:10])) + (" …" if len(left_out) > 10 else "")
        print(f"left out, damaged or not begun: {numbers}", file=sys.stderr)
    return [stats for stats in every if stats.matches]


def _readable(store: Store, matches: Iterable[MatchId], left_out: list[MatchId]) -> Iterator[MatchRecord]:
    """The matches that can be read; the numbers of the others are added to ``left_out``."""
    for match in matches:
        try:
            yield load_record(store, match)
        except CompanionError:
            left_out.append(match)
