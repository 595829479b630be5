"""The constraints on text and numbers from a wire, a file or a person, and the one place that checks them.

A dataclass whose fields have the types below fully defines its JSON: :func:`read` accepts nothing else.  Constraints
across several fields are checked by ``__post_init__``, also for values that the program makes itself.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from companion.errors import BadText

LONGEST_TEXT = 4000
"""Characters; the longest text that the program writes, a position of Diamond with every ban, has about 400."""

LONGEST_NAME = 100
"""Maximum characters of a person's name."""

LONGEST_PICTURE = 200_000
"""Maximum characters of a small picture inside a text: some squares as a camera saw them take about 10,000."""

LONGEST_S = 1e9
"""No time within a match is longer (32 years)."""

LARGEST_COUNT = 10**9
"""No number of events, moves or levels is larger."""

_PRINTABLE = r"\A[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]*\Z"
"""No control characters, no line breaks, no half of a surrogate pair, which is no character and cannot be written."""

Text = Annotated[str, Meta(max_length=LONGEST_TEXT, pattern=_PRINTABLE)]
Name = Annotated[str, Meta(max_length=LONGEST_NAME, pattern=_PRINTABLE)]
Base64 = Annotated[str, Meta(max_length=LONGEST_PICTURE, pattern=r"\A[A-Za-z0-9+/]*={0,2}\Z")]
Letter = Annotated[str, Meta(pattern=r"\A[A-Za-z-]\Z")]
CellName = Annotated[str, Meta(pattern=r"\A[a-z][1-9][0-9]?\Z")]
Count = Annotated[int, Meta(ge=0, lt=LARGEST_COUNT)]
Seconds = Annotated[float, Meta(gt=-1.0, lt=LONGEST_S)]
"""A clock's last tick may go below zero by less than a second."""

T = TypeVar("T")


def read(kind: type[T], row: object) -> T:
    """The dataclass ``kind`` from a JSON object, every field checked; lists become tuples.

    Raises:
        BadText: a field is missing, unknown, of the wrong kind or out of range; names the field.
    """
    if not isinstance(row, dict):
        raise BadText("not a JSON object")
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    if unknown := sorted(row.keys() - known, key=str):
        raise BadText(f"no field {ascii(unknown[0])[:40]} is known")
    try:
        return msgspec.convert(row, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        what, _, place = str(error).partition(" - at `$.")
        raise BadText(f"{place.rstrip('`')}: {what}" if place else what) from error


def checked(value: T) -> T:
    """``value``, a dataclass that the program has made, checked against the same types.  Raises BadText."""
    return read(type(value), asdict(value))  # type: ignore[call-overload]


def json_object(text: str | bytes) -> dict[str, Any]:
    """The JSON object in ``text``.  Raises BadText."""
    try:
        row = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadText(f"not JSON: {error}") from error
    if not isinstance(row, dict):
        raise BadText("not a JSON object")
    return row
