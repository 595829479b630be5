"""Event fields as words of a score sheet: ``cells=b4,a5 reason="Not straight."``.  See docs/score-sheet.md."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from math import isfinite
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from companion.errors import BadText
from companion.events import Event

TEXT = r'"(?:[^"\\\x00-\x1f]|\\.)*"'
PLAIN = r"[A-Za-z0-9*+:./_=-]+"
VALUE = rf"(?:{TEXT}|{PLAIN})(?:,(?:{TEXT}|{PLAIN}))*"
_PART = re.compile(rf"{TEXT}|{PLAIN}")
_IS_PLAIN = re.compile(PLAIN)

IMPLIED = ("t", "n", "position")
"""Fields that are not written: the time comes first, the number follows from the order, the position from the moves."""

IMPLYING = ("start", "accepted", "taken-back", "repeated", "game-over")
"""Events whose position is the accepted one after them; that of a ruling is written."""


def quoted(text: str) -> str:
    """``text`` in quotation marks, escaped as in JSON; on one line and printable."""
    return json.dumps(text, ensure_ascii=not text.isprintable())


def unquoted(word: str) -> str:
    """The inverse of :func:`quoted`; a word without quotation marks is returned unchanged.  Raises BadText."""
    if not word.startswith('"'):
        return word
    try:
        return str(json.loads(word))
    except ValueError as error:
        raise BadText(f"the text {ascii(word)[:40]} is not written as in JSON") from error


def format_fields(event: Event) -> list[str]:
    """The words of an event's own fields; those that are empty or have their default are left out."""
    words = []
    for field in fields(event):
        value = getattr(event, field.name)
        if value in (None, (), field.default) or is_implied(type(event), field.name):
            continue
        parts = value if isinstance(value, tuple) else (value,)
        words.append(f"{field.name}={','.join(map(_format, parts))}")
    return words


def is_implied(kind: type[Event], name: str) -> bool:
    """Whether a field of events of ``kind`` is not written."""
    return name in IMPLIED and (name != "position" or kind.event in IMPLYING)


def _format(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if _IS_PLAIN.fullmatch(text) else quoted(text)


def parse_fields(kind: type[Event], given: Mapping[str, str]) -> dict[str, Any]:
    """The values of the written fields of ``kind``, from name and text; those left out have their defaults.

    Raises:
        BadText: a field is unknown, is missing, or cannot have this value.
    """
    hints = get_type_hints(kind)
    written = {field.name: field for field in fields(kind) if not is_implied(kind, field.name)}
    for name in given:
        if name not in written:
            raise BadText(f"{kind.event} has no field {name!r}; it has {', '.join(written) or 'none'}")
    return {
        name: _parse(kind, name, hints[name], given.get(name))
        for name, field in written.items()
        if name in given or field.default is MISSING
    }


def _parse(kind: type[Event], name: str, hint: Any, text: str | None) -> Any:
    parts = [] if text is None else _PART.findall(text)
    if get_origin(hint) is tuple:
        return tuple(_value(kind, name, get_args(hint)[0], part) for part in parts)
    if not parts and NoneType in get_args(hint):
        return None
    if not parts:
        raise BadText(f"{kind.event} needs the field {name}=")
    if len(parts) > 1:
        raise BadText(f"{kind.event}: {name} is one value, not {len(parts)}; quote a text with commas")
    return _value(kind, name, next(iter(get_args(hint)), hint), parts[0])


def _value(kind: type[Event], name: str, hint: Any, part: str) -> Any:
    text = unquoted(part)
    if hint is str:
        return text
    try:
        value = hint(text)
    except ValueError as error:
        raise BadText(f"{kind.event}: {name} must be a number, not {ascii(text)[:40]}") from error
    if not isfinite(value):
        raise BadText(f"{kind.event}: {name} must be a finite number")
    return value
