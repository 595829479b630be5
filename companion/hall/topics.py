"""What tables and hub say to each other by MQTT: topics and messages, and how they are read.

=========================  =========  ==============================================================================
topic                      from       message (JSON)
=========================  =========  ==============================================================================
``stacking/TABLE/online``  table      ``{"online": true, "match": {…}}``; retained; the last will says false
``stacking/TABLE/event``   table      ``{"match": KEY, "event": {…}}``, each event of the match, in order
``stacking/TABLE/want``    hub        ``{"match": KEY, "after": N}``: send what comes after event N (again)
=========================  =========  ==============================================================================

The match's ``key`` is the time at which it began; no table begins two at once.  A table that comes back says so, and
the hub answers with what it wants: nothing depends on what broker or hub have missed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any
from urllib.parse import unquote, urlsplit

from companion.errors import BadText
from companion.events import ClockChanged, Event, from_json, to_json
from companion.games import read_position
from companion.recorder.store import MatchInfo

ROOT = "stacking"
ONLINE, EVENT, WANT = "online", "event", "want"
EVERY_TABLE = "+"

TABLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
LARGEST_MESSAGE = 65536
"""Bytes; the longest event has two positions of 2,000 characters."""

PORTS = {"mqtt": 1883, "mqtts": 8883}


@dataclass(frozen=True, slots=True)
class Broker:
    """Where the broker is; ``table`` is empty where none was named."""

    host: str
    port: int
    is_secure: bool = False
    user: str = ""
    password: str = ""
    table: str = ""

    @property
    def name(self) -> str:
        """For messages, without the password."""
        return f"{self.host}:{self.port}"


def parse_broker(url: str, *, with_table: bool) -> Broker:
    """The broker of ``mqtt://[USER:PASSWORD@]HOST[:PORT][/TABLE]``.  Raises BadText, saying how to write it."""
    form = "mqtt://HOST:PORT" + ("/TABLE" if with_table else "")
    try:
        parts = urlsplit(url)
        port = parts.port or PORTS.get(parts.scheme, 0)
    except ValueError:
        raise BadText(f"{url!r} is no broker's address; write {form}") from None
    table = unquote(parts.path.strip("/"))
    if parts.scheme not in PORTS or not parts.hostname or parts.query or parts.fragment:
        raise BadText(f"{url!r} is no broker's address; write {form}")
    if bool(table) != with_table or (table and TABLE.fullmatch(table) is None):
        what = (
            "a table's name is 1 to 40 letters, digits, - _ or ." if with_table else "leave out what follows the port"
        )
        raise BadText(f"{url!r}: {what}; write {form}")
    secret = unquote(parts.password or "")
    return Broker(parts.hostname, port, parts.scheme == "mqtts", unquote(parts.username or ""), secret, table)


def topic(table: str, kind: str) -> str:
    """The topic of one kind of message of one table."""
    return f"{ROOT}/{table}/{kind}"


def read_topic(text: str) -> tuple[str, str]:
    """Table and kind.  Raises BadText."""
    words = text.split("/")
    if len(words) != 3 or words[0] != ROOT or TABLE.fullmatch(words[1]) is None:
        raise BadText(f"topic {text!r} is not one of ours")
    return words[1], words[2]


def key_of(info: MatchInfo) -> str:
    """What tells this match of a table from its others."""
    return info.started_at.isoformat()


def online_message(info: MatchInfo | None) -> bytes:
    """The table plays this match; None: it is gone."""
    if info is None:
        return _packed({"online": False})
    row = asdict(info) | {"started_at": info.started_at.isoformat()}
    return _packed({"online": True, "match": row})


def event_message(key: str, event: Event) -> bytes:
    """One event of a match."""
    return _packed({"match": key, "event": to_json(event)})


def want_message(key: str, after: int) -> bytes:
    """What comes after event ``after`` is wanted."""
    return _packed({"match": key, "after": after})


def read_online(data: bytes) -> MatchInfo | None:
    """The match that a table plays; None: it is gone.  Raises BadText."""
    row = _unpacked(data)
    if row.get("online") is not True:
        return None
    match = row.get("match")
    if not isinstance(match, dict):
        raise BadText("online: the match is missing")
    try:
        started_at = datetime.fromisoformat(_text(match, "started_at"))
    except ValueError:
        raise BadText("online: started_at is no time") from None
    if started_at.tzinfo is None:
        raise BadText("online: started_at has no time zone")
    game, _ = read_position(_text(match, "start"))
    names = match.get("names", [])
    if not isinstance(names, list) or not all(isinstance(name, str) and len(name) < 100 for name in names):
        raise BadText("online: names must be texts")
    return MatchInfo(game.tag, game.players, _text(match, "start"), started_at, _text(match, "kit"), tuple(names))


def read_event(data: bytes) -> tuple[str, Event]:
    """The match's key and one event.  Raises BadText."""
    row = _unpacked(data)
    event = row.get("event")
    if (
        not isinstance(event, dict)
        or not isinstance(event.get("n"), int)
        or not isinstance(event.get("t"), int | float)
    ):
        raise BadText("event: no event with n and t")
    told = from_json(event)
    _check(told)
    return _text(row, "match"), told


def _check(event: Event) -> None:
    """Raise BadText for a field of the wrong kind: what comes from the network is not what the referee made."""
    for field in fields(event):
        value, kind = getattr(event, field.name), str(field.type)
        many = kind.startswith("tuple[")
        if isinstance(value, tuple) != many or not all(map(CHECKS[kind], value if many else (value,))):
            raise BadText(f"event: {field.name} is of the wrong kind")
    if isinstance(event, ClockChanged) and len(event.left) != len(event.players):
        raise BadText("event: left must be as many as players")
    if (position := getattr(event, "position", None)) is not None:
        read_position(position)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_text_or_none(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST_NUMBER


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -1 < value < LARGEST_NUMBER


LARGEST_NUMBER = 10**9

CHECKS: Mapping[str, Callable[[object], bool]] = {
    "int": _is_count,
    "tuple[int, ...]": _is_count,
    "float": _is_number,
    "tuple[float, ...]": _is_number,
    **dict.fromkeys(("str", "Player", "tuple[str, ...]", "tuple[Player, ...]"), _is_text),
    **dict.fromkeys(("str | None", "Player | None"), _is_text_or_none),
}
"""By the annotation of an event's field: what each value in it must be."""


def read_want(data: bytes) -> tuple[str, int]:
    """The match's key, and after which event.  Raises BadText."""
    row = _unpacked(data)
    after = row.get("after")
    if not isinstance(after, int) or isinstance(after, bool) or after < 0:
        raise BadText("want: after must be a number, 0 or more")
    return _text(row, "match"), after


def _packed(row: Mapping[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode()


def _unpacked(data: bytes) -> dict[str, Any]:
    if len(data) > LARGEST_MESSAGE:
        raise BadText(f"a message has at most {LARGEST_MESSAGE} bytes")
    try:
        row = json.loads(data)
    except (ValueError, RecursionError):
        raise BadText("the message is no JSON") from None
    if not isinstance(row, dict):
        raise BadText("the message is no JSON object")
    return row


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not 0 < len(value) <= 2000:
        raise BadText(f"{key} is missing or no text")
    return value
