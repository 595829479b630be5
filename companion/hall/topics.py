"""The MQTT protocol between tables and hub: topics and messages, and how they are parsed.

=========================  =========  ==============================================================================
topic                      from       message (JSON)
=========================  =========  ==============================================================================
``stacking/TABLE/online``  table      ``{"online": true, "match": {…}}``; retained; the last will says false
``stacking/TABLE/event``   table      ``{"match": KEY, "event": {…}}``, each event of the match, in order
``stacking/TABLE/want``    hub        ``{"match": KEY, "after": N}``: send what comes after event N (again)
=========================  =========  ==============================================================================

The match's ``key`` is the time at which it began; no table begins two at once.  A table that comes back announces it,
and the hub answers with the events that it wants, so that nothing is lost if broker or hub have missed messages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from companion.errors import BadText
from companion.events import Event, from_json, to_json
from companion.games import read_position
from companion.recorder.store import MatchInfo
from companion.schema import json_object, read

ROOT = "stacking"
ONLINE, EVENT, WANT = "online", "event", "want"
EVERY_TABLE = "+"

TABLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
LARGEST_MESSAGE = 65536
"""Largest message in bytes; the longest event has two positions of 2,000 characters."""

PORTS = {"mqtt": 1883, "mqtts": 8883}


@dataclass(frozen=True, slots=True)
class Broker:
    """The broker's address; ``table`` is empty if none was given."""

    host: str
    port: int
    is_secure: bool = False
    user: str = ""
    password: str = ""
    table: str = ""

    @property
    def name(self) -> str:
        """The address without the password, for messages."""
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
    """The topic for one kind of message of one table."""
    return f"{ROOT}/{table}/{kind}"


def read_topic(text: str) -> tuple[str, str]:
    """The table and kind of a topic.  Raises BadText."""
    words = text.split("/")
    if len(words) != 3 or words[0] != ROOT or TABLE.fullmatch(words[1]) is None:
        raise BadText(f"topic {text!r} is not one of ours")
    return words[1], words[2]


def key_of(info: MatchInfo) -> str:
    """The key that distinguishes this match of a table from its others."""
    return info.started_at.isoformat()


def online_message(info: MatchInfo | None) -> bytes:
    """The message that a table plays this match; None: that it is offline."""
    if info is None:
        return _packed({"online": False})
    row = asdict(info) | {"started_at": info.started_at.isoformat()}
    return _packed({"online": True, "match": row})


def event_message(key: str, event: Event) -> bytes:
    """The message with one event of a match."""
    return _packed({"match": key, "event": to_json(event)})


def want_message(key: str, after: int) -> bytes:
    """The message that requests all events after number ``after``."""
    return _packed({"match": key, "after": after})


def read_online(data: bytes) -> MatchInfo | None:
    """The match that a table plays; None if it is offline.  Raises BadText."""
    row = _unpacked(data)
    if row.get("online") is not True:
        return None
    match = row.get("match")
    if not isinstance(match, dict):
        raise BadText("online: the match is missing")
    info = read(MatchInfo, match)
    game, _ = read_position(info.start)
    if (info.game, info.players) != (game.tag, game.players):
        raise BadText(f"online: this is a start of {game.tag}, not of {info.game}")
    return info


def read_event(data: bytes) -> tuple[str, Event]:
    """The match's key and the event of a message.  Raises BadText."""
    row = _unpacked(data)
    event = row.get("event")
    if not isinstance(event, dict):
        raise BadText("event: the event is missing")
    return _text(row, "match"), from_json(event)


def read_want(data: bytes) -> tuple[str, int]:
    """The match's key, and the number after which events are requested.  Raises BadText."""
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
    return json_object(data)


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not 0 < len(value) <= 2000:
        raise BadText(f"{key} is missing or no text")
    return value
