"""Splits a written sentence into clips: short texts, most of which can be made in advance."""

from __future__ import annotations

import re
from collections.abc import Iterator

from companion.languages.language import Language

RULES = re.compile(r" ?\([A-Z]+-\d+(, [A-Z]+-\d+)*\)")
"""Numbers of rules, which are not spoken; the rule's text follows in words."""

SQUARE = r"[a-z][1-9][0-9]?"
MOVE = re.compile(
    rf"(?<!\w)([A-Za-z]?\*|[+-])?({SQUARE})(?:([-=])({SQUARE}|off)(?:\.\d+)?)?(:\d+)?((?:x{SQUARE})*)(?!\w)"
)
"""A square, or a move as in docs/notation.md: its sign in front, square, sign, square or ``off``, number of pieces, and
what it takes."""

PAUSE = re.compile(r"(?<=[^\d][.:;?!]) ")
"""Where a sentence can be split without being audible; not after an ordinal, as in ``zum 2. Mal``."""


def clips(text: str, lang: Language) -> tuple[str, ...]:
    """The clips for ``text``, in order: squares, signs and parts of sentences."""
    found: list[str] = []
    plain, at = RULES.sub("", text), 0
    for move in MOVE.finditer(plain):
        found += PAUSE.split(plain[at : move.start()])
        found += _move(move, lang)
        at = move.end()
    found += PAUSE.split(plain[at:])
    return tuple(clip for clip in map(_trimmed, found) if any(map(str.isalnum, clip)))


def _move(move: re.Match[str], lang: Language) -> Iterator[str]:
    front, source, sign, target, count, taken = move.groups()
    if front:
        yield lang.signs[front[-1]]
    yield source
    if target == "off":
        yield lang.signs[target]
    elif target:
        yield lang.signs["to" if sign == "-" else sign]
        yield target
    if count:
        yield lang.signs[":"].format(count=count[1:])
    if taken:
        yield lang.signs["x"]
        yield from taken.split("x")[1:]


def _trimmed(clip: str) -> str:
    """A clip without inaudible characters at its ends; a question mark is kept, since it is audible."""
    return " ".join(clip.split()).strip(" .,:;–„“\"'")
