"""From the text of a stored event to the event, believing nothing: the file may be damaged or written by anyone."""

from __future__ import annotations

import json
from dataclasses import fields
from types import UnionType
from typing import Any, get_args, get_type_hints

from companion.errors import BadText
from companion.events import KINDS, Event, from_json

LONGEST_S = 1e9
"""No time within a match is longer; not-a-number and infinity, which JSON texts can bring in, are not below it."""

HINTS = {name: get_type_hints(kind) for name, kind in KINDS.items()}
"""The types of the fields of each event: to work them out takes longer than to read an event."""


def event_of(text: str) -> Event:
    """The event of its :func:`companion.recorder.chain.event_text`.

    Raises:
        BadText: the text is no event, or a field has a value of the wrong type.
    """
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadText(f"not JSON: {error}") from error
    if not isinstance(row, dict) or not isinstance(row.get("event"), str):
        raise BadText("not a JSON object that names its event")
    event = from_json(row)
    hints = HINTS[event.event]
    for field in fields(event):
        value = getattr(event, field.name)
        if not _is_of_type(value, hints[field.name]):
            raise BadText(f"event {event.event!r} cannot have {field.name} {ascii(value)[:40]}")
    return event


def _is_of_type(value: object, hint: Any) -> bool:
    """Whether ``value`` is of the type of an event's field: str, int, float, a tuple of one of them, or one or None."""
    if isinstance(value, tuple):
        part_hint, *many = get_args(hint) or (None,)
        return many == [...] and all(_is_of_type(part, part_hint) for part in value)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LONGEST_S
    return type(value) in (get_args(hint) if isinstance(hint, UnionType) else (hint,))
