"""Splits a score sheet into words, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from companion.errors import BadText
from companion.records.fields import TEXT, VALUE


class SheetError(BadText):
    """An error in a score sheet, with line and column, both from 1."""

    def __init__(self, text: str, at: int, why: str) -> None:
        """``at`` is the index in ``text`` of the first wrong character."""
        line, column = 1 + text.count("\n", 0, at), at - text.rfind("\n", 0, at)
        super().__init__(f"line {line}, column {column}: {why}")


class Kind(Enum):
    """The kind of a word."""

    HEADER = r"\[\s*(?P<name>[A-Za-z]+)\s+(?P<value>" + TEXT + r")\s*\]"
    TIME = r"@(?P<seconds>[0-9]{1,9}(?:\.[0-9]{1,9})?)(?![^\s}])"
    NUMBER = r"(?P<number>[0-9]{1,6})\.(?![^\s])"
    FIELD = r"(?P<field>[a-z_]+)=(?P<given>" + VALUE + r")(?![^\s}])"
    OPEN = r"\{"
    CLOSE = r"\}"
    WORD = r"[^\s{}\[\]\";]+"


@dataclass(frozen=True, slots=True)
class Word:
    """One word; ``parts`` are the name and value of a header or field, the seconds of a time, or the number."""

    kind: Kind
    text: str
    at: int
    parts: tuple[str, ...]


_SPACE = re.compile(r"(?:\s+|;[^\n]*)*")
_WORDS = {kind: re.compile(kind.value) for kind in Kind}
_IN_COMMENT = (Kind.OPEN, Kind.CLOSE, Kind.TIME, Kind.FIELD, Kind.WORD)
_OUTSIDE = (Kind.HEADER, Kind.OPEN, Kind.CLOSE, Kind.TIME, Kind.NUMBER, Kind.WORD)


def words(text: str) -> Iterator[Word]:
    """The words of a sheet.  Raises SheetError where the text is not a valid word."""
    at, is_inside = _past_space(text, 0), False
    while at < len(text):
        word = _word(text, at, _IN_COMMENT if is_inside else _OUTSIDE)
        is_inside = word.kind is Kind.OPEN or (is_inside and word.kind is not Kind.CLOSE)
        yield word
        at = _past_space(text, at + len(word.text))


def _past_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _word(text: str, at: int, kinds: tuple[Kind, ...]) -> Word:
    for kind in kinds:
        if found := _WORDS[kind].match(text, at):
            return Word(kind, found[0], at, tuple(part for part in found.groups() if part is not None))
    if text[at] == "[":
        raise SheetError(text, at, 'a header is written [Name "value"], on one line')
    if text[at] == '"':
        raise SheetError(text, at, 'a text in quotation marks belongs to a field, name="text", and to one line')
    raise SheetError(text, at, f"{text[at]!a} cannot stand here")
