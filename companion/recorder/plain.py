"""JSON texts of the store as plain values, looked at before they are believed: anyone may have written the file."""

from __future__ import annotations

import json
from dataclasses import fields
from functools import cache
from types import UnionType
from typing import Any, get_args, get_type_hints

from companion.errors import BadText

LONGEST_S = 1e9
"""No time within a match is longer; not-a-number and infinity, which JSON texts can bring in, are not below it."""


def json_object(text: str) -> dict[str, Any]:
    """The JSON object that ``text`` is.  Raises BadText."""
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadText(f"not JSON: {error}") from error
    if not isinstance(row, dict):
        raise BadText("not a JSON object")
    return row


def mistyped(value: Any) -> str:
    """The first field of a dataclass's ``value`` that holds something of another type than it says; "" for none."""
    return next((name for name, hint in _hints(value.__class__) if not _is_of_type(getattr(value, name), hint)), "")


@cache
def _hints(kind: type[Any]) -> tuple[tuple[str, Any], ...]:
    """The types of the fields of ``kind``: to work them out takes longer than to read an event."""
    hints = get_type_hints(kind)
    return tuple((field.name, hints[field.name]) for field in fields(kind))


def _is_of_type(value: object, hint: Any) -> bool:
    """Whether ``value`` is of the type of a field: a plain class, a tuple of one, or one or None."""
    if isinstance(value, tuple):
        part_hint, *many = get_args(hint) or (None,)
        return many == [...] and all(_is_of_type(part, part_hint) for part in value)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LONGEST_S
    return type(value) in (get_args(hint) if isinstance(hint, UnionType) else (hint,))
