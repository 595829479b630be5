"""The account of a verdict as stored: one line of JSON, written once, and checked by whoever reads it."""

from __future__ import annotations

import json

from companion.errors import BadText
from companion.referee.grounds import Grounds, from_json, to_json
from companion.schema import json_object


def grounds_text(grounds: Grounds) -> str:
    """The account as it is stored and hashed: one line of ASCII JSON without spaces."""
    return json.dumps(to_json(grounds), separators=(",", ":"), allow_nan=False)


def grounds_of(text: str) -> Grounds:
    """The account in its :func:`grounds_text`.  Raises BadText: the text is none."""
    try:
        row = json_object(text)
    except BadText as error:
        raise BadText(f"grounds of a verdict: {error}") from error
    return from_json(row)
