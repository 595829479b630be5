"""`companion matches`: lists the stored matches."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from companion.commands.options.parser import OptionGroup, Subparsers
from companion.commands.options.store import add_store_command, is_default_missing
from companion.commands.output.codes import DONE
from companion.commands.output.lines import report_no_matches, result_words, say
from companion.errors import StoreError
from companion.languages.english import counted
from companion.recorder.place import open_store
from companion.recorder.summary import Summary, summaries

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """Options of `companion matches`."""

    store: Path | None
    json: bool


def add_parser(subparsers: Subparsers) -> None:
    """Add `matches`."""
    what = "List the matches: game, players, date, moves, result."
    add_store_command(subparsers, "matches", Options, run, what)


def run(options: Options) -> int:
    """Print a line for each match, for damaged ones as far as they can be read; then fail if any is damaged."""
    damage = ""
    if is_default_missing(options.store):
        return report_no_matches()
    with open_store(options.store, read_only=True) as store:
        for summary in summaries(store):
            say(json.dumps(_row(summary)) if options.json else _line(summary))
            damage = damage or summary.damage
    if damage:
        raise StoreError(f"{damage}; `companion verify MATCH` says more")
    return DONE


def _row(summary: Summary) -> Json:
    info, result = summary.info, summary.result
    row: Json = {"match": summary.match}
    if info is not None:
        row |= {"game": info.game, "players": info.players, "names": info.names, "date": info.started_at.isoformat()}
    row |= {"moves": summary.moves, "result": None}
    if result is not None:
        row["result"] = {"winner": result.winner, "rule": result.rule}
    return row | ({"damage": summary.damage} if summary.damage else {})


def _line(summary: Summary) -> str:
    info = summary.info
    if summary.damage or info is None:
        return f"{summary.match:>4}  damaged"
    players = ", ".join(info.names) if info.names else "".join(info.players)
    date = info.started_at.astimezone().strftime("%Y-%m-%d %H:%M")
    moves = counted(summary.moves, "move")
    return f"{summary.match:>4}  {info.game:<20} {players:<20} {date}  {moves:>10}  {result_words(summary.result)}"
