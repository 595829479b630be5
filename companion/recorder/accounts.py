"""The account of a verdict as it lies in the store: one line of JSON, written once, believed by nobody who reads it."""

from __future__ import annotations

import json

from companion.errors import BadText
from companion.recorder.plain import json_object, mistyped
from companion.referee.grounds import Grounds, from_json, to_json


def grounds_text(grounds: Grounds) -> str:
    """The account as it is stored and hashed: one line of ASCII JSON without spaces."""
    return json.dumps(to_json(grounds), separators=(",", ":"), allow_nan=False)


def grounds_of(text: str) -> Grounds:
    """The account of its :func:`grounds_text`.

    Raises:
        BadText: the text is no account, or a field has a value of the wrong type.
    """
    try:
        row = json_object(text)
    except BadText as error:
        raise BadText(f"grounds of a verdict: {error}") from error
    grounds = from_json(row)
    for part in (grounds, *grounds.explanations, *grounds.squares):
        if name := mistyped(part):
            raise BadText(f"grounds of a verdict: {name} cannot be {ascii(getattr(part, name))[:40]}")
    return grounds
