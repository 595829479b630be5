"""`companion verify`: checks that stored matches follow the rules and have not been altered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from companion.commands.options.parser import OptionGroup, Subparsers
from companion.commands.options.store import ALL, LAST, add_store_command, find_match, is_default_missing
from companion.commands.output.codes import DONE, NO
from companion.commands.output.lines import report_no_matches, say
from companion.commands.output.progress import track_progress
from companion.errors import StoreError
from companion.events import Accepted, Event
from companion.languages.english import counted
from companion.recorder.place import open_store
from companion.recorder.proof import find_break
from companion.recorder.store import MatchId, Store
from companion.replay import first_fault


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """Options of `companion verify`."""

    match: str
    store: Path | None
    json: bool


@dataclass(frozen=True, slots=True)
class Break:
    """The event ``n`` at which a record is not valid, and why."""

    n: int
    why: str


def add_parser(subparsers: Subparsers) -> None:
    """Add `verify`."""
    what = "Play matches through the rules again, and check their chains."
    verify = add_store_command(subparsers, "verify", Options, run, what)
    verify.add_argument(
        "match", nargs="?", default=ALL, metavar="MATCH", help=f"number of a match, {LAST}, or {ALL} (the default)"
    )


def run(options: Options) -> int:
    """Print whether the records of one match or of all are valid, or where they are not."""
    if options.match == ALL and is_default_missing(options.store):
        return report_no_matches()
    with open_store(options.store, read_only=True) as store:
        matches = store.match_ids() if options.match == ALL else (find_match(store, options.match),)
        checked = track_progress(matches, len(matches), "playing matches through the rules")
        found = {match: _breaks(store, match) for match in checked}
        for match, breaks in found.items():
            for line in _lines(store, match, breaks, is_json=options.json, is_brief=options.match == ALL):
                say(line)
    broken = sum(map(bool, found.values()))
    if options.match == ALL and not options.json:
        whole = len(matches) - broken
        verbs = ("holds" if whole == 1 else "hold", "breaks" if broken == 1 else "break")
        say(f"{counted(len(matches), 'match', 'matches')}: {whole} {verbs[0]}, {broken} {verbs[1]}")
    return NO if broken else DONE


def _lines(store: Store, match: MatchId, breaks: list[Break], *, is_json: bool, is_brief: bool) -> Iterator[str]:
    """The lines on one match; with ``is_brief`` and without JSON only if its record is not valid."""
    if breaks and not is_json:
        yield from (f"match {match} breaks at event {each.n}: {each.why}" for each in breaks)
    elif is_json or not is_brief:
        events = sum(1 for _ in store.records(match))
        moves = sum(1 for _ in store.records(match, (Accepted.event,)))
        faults = [{"n": each.n, "why": each.why} for each in breaks]
        row = {"match": match, "events": events, "ok": not breaks, "faults": faults}
        size = f"{counted(events, 'event')}, {counted(moves, 'accepted move')}"
        holds = f"match {match} holds: {size}, all by the rules, chain whole"
        yield json.dumps(row) if is_json else holds


def _breaks(store: Store, match: MatchId) -> list[Break]:
    """Where the hash chain breaks and where the rules contradict the record, if they do."""
    found = (find_break(store, match), first_fault(_readable_events(store, match)))
    return [Break(each.n, each.why) for each in found if each is not None]


def _readable_events(store: Store, match: MatchId) -> Iterator[Event]:
    """The events up to the first that cannot be read, which the check of the chain reports."""
    for record in store.records(match):
        try:
            yield store.read(match, record)
        except StoreError:
            return
