"""The account of a verdict as it lies in the store: one line of JSON, written once, believed by nobody who reads it."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any, get_type_hints

from companion.errors import BadText
from companion.referee.grounds import Explanation, Grounds, SquareSeen, from_json, to_json

HINTS = {kind: get_type_hints(kind) for kind in (Grounds, Explanation, SquareSeen)}
"""The types of the fields of each part of an account."""


def grounds_text(grounds: Grounds) -> str:
    """The account as it is stored and hashed: one line of ASCII JSON without spaces."""
    return json.dumps(to_json(grounds), separators=(",", ":"), allow_nan=False)


def grounds_of(text: str) -> Grounds:
    """The account of its :func:`grounds_text`.

    Raises:
        BadText: the text is no account, or a field has a value of the wrong type.
    """
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadText(f"grounds of a verdict: not JSON: {error}") from error
    if not isinstance(row, dict):
        raise BadText("grounds of a verdict: not a JSON object")
    grounds = from_json(row)
    for part in (grounds, *grounds.explanations, *grounds.squares):
        _require_plain_types(part)
    return grounds


def _require_plain_types(part: Any) -> None:
    hints = HINTS[type(part)]
    for field in fields(part):
        value, hint = getattr(part, field.name), hints[field.name]
        is_number = hint is float and isinstance(value, int | float) and not isinstance(value, bool)
        if not (is_number or hint not in (str, int, float, bool) or type(value) is hint):
            raise BadText(f"grounds of a verdict: {field.name} cannot be {ascii(value)[:40]}")
