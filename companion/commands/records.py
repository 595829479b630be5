"""Kept matches at the command line: ``matches``, ``verify``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from companion.errors import StoreError
from companion.events import Accepted, Event, GameOver
from companion.recorder.place import open_store
from companion.recorder.proof import broken_at
from companion.recorder.store import MatchId, Store
from companion.recorder.summary import Summary, summaries
from companion.replay import first_fault

DONE, NO = 0, 1
LAST, ALL = "last", "all"
Json = dict[str, Any]
Run = Callable[[argparse.Namespace], int]


def add_parsers(subparsers: argparse._SubParsersAction[Any]) -> None:
    """Add the commands of this module."""
    add_command(subparsers, "matches", run_matches, "List the matches: game, players, date, moves, result.")
    verify = add_command(
        subparsers, "verify", run_verify, "Play matches through the rules again, and check their chains."
    )
    verify.add_argument(
        "match", nargs="?", default=ALL, metavar="MATCH", help=f"number of a match, {LAST}, or {ALL} (the default)"
    )


def add_command(
    subparsers: argparse._SubParsersAction[Any], name: str, run: Run, description: str
) -> argparse.ArgumentParser:
    """Add a command on the match store."""
    parser: argparse.ArgumentParser = subparsers.add_parser(name, help=description, description=description)
    parser.add_argument("--store", type=Path, metavar="FILE", help="the match store; default: the user's own")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    parser.set_defaults(run=run)
    return parser


def run_matches(arguments: argparse.Namespace) -> int:
    """Print a line for each match; of damaged ones as much as can be read, then fail."""
    damage = ""
    with open_store(arguments.store, read_only=True) as store:
        for summary in summaries(store):
            say(json.dumps(_summary_row(summary)) if arguments.json else _summary_line(summary))
            damage = damage or summary.damage
    if damage:
        raise StoreError(f"{damage}; `companion verify MATCH` says more")
    return DONE


def _summary_row(summary: Summary) -> Json:
    info, result = summary.info, summary.result
    row: Json = {"match": summary.match}
    if info is not None:
        row |= {"game": info.game, "players": info.players, "names": info.names, "date": info.started_at.isoformat()}
    row |= {"moves": summary.moves, "result": None}
    if result is not None:
        row["result"] = {"winner": result.winner, "rule": result.rule}
    return row | ({"damage": summary.damage} if summary.damage else {})


def _summary_line(summary: Summary) -> str:
    info = summary.info
    if summary.damage or info is None:
        return f"{summary.match:>4}  damaged"
    players = ", ".join(info.names) if info.names else "".join(info.players)
    date = info.started_at.astimezone().strftime("%Y-%m-%d %H:%M")
    moves = f"{summary.moves} move{'' if summary.moves == 1 else 's'}"
    return f"{summary.match:>4}  {info.game:<20} {players:<20} {date}  {moves:>10}  {result_words(summary.result)}"


def result_words(result: GameOver | None) -> str:
    """How a match ended, for people."""
    if result is None:
        return "open"
    return f"{result.winner} won ({result.rule})" if result.winner else f"drawn ({result.rule})"


def run_verify(arguments: argparse.Namespace) -> int:
    """Print whether the records of one match or of all hold, or where they break."""
    broken = 0
    with open_store(arguments.store, read_only=True) as store:
        matches = store.match_ids() if arguments.match == ALL else (find_match(store, arguments.match),)
        for match in matches:
            faults = _faults(store, match)
            broken += bool(faults)
            for line in _verified(store, match, faults, is_json=arguments.json, is_brief=arguments.match == ALL):
                say(line)
    if arguments.match == ALL and not arguments.json:
        say(f"{len(matches)} matches: {len(matches) - broken} hold, {broken} break")
    return NO if broken else DONE


def _verified(store: Store, match: MatchId, faults: list[Json], *, is_json: bool, is_brief: bool) -> Iterator[str]:
    """What is said of one match; where there are many, only of those that break."""
    if faults and not is_json:
        yield from (f"match {match} breaks at event {fault['n']}: {fault['why']}" for fault in faults)
    elif is_json or not is_brief:
        events = sum(1 for _ in store.records(match))
        moves = sum(1 for _ in store.records(match, (Accepted.event,)))
        told = {"match": match, "events": events, "ok": not faults, "faults": faults}
        holds = f"match {match} holds: {events} events, {moves} accepted moves, all by the rules, chain whole"
        yield json.dumps(told) if is_json else holds


def say(line: str) -> None:
    """Print a line that may hold anything that was found in a file: no control characters, nothing unprintable."""
    clean = "".join(letter if letter.isprintable() else "\ufffd" for letter in line)
    encoding = sys.stdout.encoding or "utf-8"
    print(clean.encode(encoding, "replace").decode(encoding))


def find_match(store: Store, name: str) -> MatchId:
    """The match that is meant.  Raises StoreError when there is none."""
    matches = store.match_ids()
    if name == LAST and matches:
        return matches[-1]
    if name.isascii() and name.isdigit() and len(name) < 10 and MatchId(int(name)) in matches:
        return MatchId(int(name))
    what = "no match yet" if not matches else f"matches {matches[0]} to {matches[-1]} and no {ascii(name)[:40]}"
    raise StoreError(f"{store.path}: holds {what}; `companion matches` lists them")


def _faults(store: Store, match: MatchId) -> list[Json]:
    """Where the chain breaks and where the rules contradict the record, if they do."""
    broken = broken_at(store, match)
    fault = first_fault(_readable_events(store, match))
    faults: list[Json] = [] if broken is None else [{"n": broken.n, "why": broken.why}]
    return faults + ([] if fault is None else [{"n": fault.n, "why": fault.why}])


def _readable_events(store: Store, match: MatchId) -> Iterator[Event]:
    """The events up to the first that cannot be read; the chain names that one."""
    for record in store.records(match):
        try:
            yield store.read(match, record)
        except StoreError:
            return
