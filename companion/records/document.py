"""A match as a JSON document: exact, for programs."""

from __future__ import annotations

import json
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from companion.errors import BadText, CompanionError
from companion.events import Event, from_json, to_json
from companion.games import load_game
from companion.recorder.store import MatchInfo
from companion.records.record import MatchRecord
from companion.referee import grounds
from companion.replay import InvalidRecord
from companion.schema import read

FORMAT = "stacking-games-referee match 1"
"""Identifies the format; a later program may write a higher number."""

KEYS = ("format", "game", "players", "names", "start", "date", "kit", "events", "grounds")


def format_document(record: MatchRecord) -> str:
    """The JSON document of a match, with one line per event, so that two documents can be compared."""
    info = record.info
    head: dict[str, Any] = {
        "format": FORMAT,
        "game": info.game,
        "players": info.players,
        "names": info.names,
        "start": record.start,
        "date": info.started_at.isoformat(),
        "kit": info.kit,
    }
    lines = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items()]
    events = ",\n".join(json.dumps(to_json(event)) for event in record.events)
    accounts = ",\n".join(f'"{n}": {json.dumps(grounds.to_json(told))}' for n, told in record.grounds.items())
    lines += [f'"events": [\n{events}\n]', f'"grounds": {{\n{accounts}\n}}']
    return "{\n" + ",\n".join(lines) + "\n}\n"


def parse_document(text: str) -> MatchRecord:
    """The match in a document.

    Raises:
        BadText: it is not a document, or its match breaks the rules; names the line and column, or the key or event.
    """
    row = _object(text)
    events = row["events"]
    if not isinstance(events, list) or not events:
        raise BadText("events: must be a list that begins with the start")
    record = MatchRecord(_info(row), tuple(map(_event, range(1, len(events) + 1), events)), _grounds(row))
    try:
        for _ in record.stages():
            pass
    except InvalidRecord as error:
        raise BadText(str(error)) from error
    if record.start.split(" ")[0] != record.info.game:
        raise BadText(f"event 1: is no position of {record.info.game}")
    return record


def _object(text: str) -> dict[str, Any]:
    try:
        row = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadText(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise BadText(f"line 1, column 1: not JSON that can be read ({error})") from error
    if not isinstance(row, dict) or row.get("format") != FORMAT:
        raise BadText(f'line 1, column 1: not an object with "format": "{FORMAT}"')
    for key in KEYS:
        if key not in row:
            raise BadText(f"the key {key!r} is missing")
    if unknown := sorted(row.keys() - set(KEYS)):
        raise BadText(f"the key {unknown[0]!r} is not known; known are {', '.join(KEYS)}")
    return row


def _info(row: dict[str, Any]) -> MatchInfo:
    told = {key: row[key] for key in ("game", "players", "names", "start", "kit")} | {"started_at": row["date"]}
    try:
        info = read(MatchInfo, told)
    except BadText as error:
        raise BadText(str(error).replace("started_at", "date")) from error
    try:
        players = load_game(info.game).players
    except CompanionError as error:
        raise BadText(f"game: {error}") from error
    if info.players != players:
        raise BadText(f"players: must be {list(players)}")
    return info if any(info.names) else replace(info, names=())


def _event(n: int, row: object) -> Event:
    if not isinstance(row, dict):
        raise BadText(f"event {n}: not a JSON object")
    try:
        event = from_json(row)
    except BadText as error:
        raise BadText(f"event {n}: {error}") from error
    if event.n != n:
        raise BadText(f"event {n}: is numbered {event.n}")
    return event


def _grounds(row: dict[str, Any]) -> MappingProxyType[int, grounds.Grounds]:
    accounts = row["grounds"]
    if not isinstance(accounts, dict) or not all(key.isascii() and key.isdigit() for key in accounts):
        raise BadText("grounds: must be an object with numbers of events as keys")
    if wrong := [key for key in accounts if len(key) > 9 or not 0 < int(key) <= len(row["events"])]:
        raise BadText(f"grounds: there is no event {wrong[0][:20]}")
    return MappingProxyType({int(key): grounds.from_json(told) for key, told in accounts.items()})
