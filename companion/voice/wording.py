"""From a written sentence to the clips that say it: short texts, most of which can be known, and made, ahead."""

from __future__ import annotations

import re
from collections.abc import Iterator

from companion.languages.language import Language

RULES = re.compile(r" ?\([A-Z]+-\d+(, [A-Z]+-\d+)*\)")
"""Numbers of rules are for the eye; what the rule says follows in words."""

SQUARE = r"[a-z][1-9][0-9]?"
MOVE = re.compile(
    rf"(?<!\w)([A-Za-z]?\*|[+-])?({SQUARE})(?:([-=])({SQUARE}|off)(?:\.\d+)?)?(:\d+)?((?:x{SQUARE})*)(?!\w)"
)
"""A square, or a move as in docs/notation.md: its sign in front, square, sign, square or ``off``, number of pieces, and
what it takes."""

PAUSE = re.compile(r"(?<=[^\d][.:;?!]) ")
"""Where a sentence can be cut without being heard to be; not after an ordinal, as in ``zum 2. Mal``."""


def clips(text: str, tongue: Language) -> tuple[str, ...]:
    """What is to be said for ``text``, one clip after the other; squares, signs and parts of sentences are clips."""
    found: list[str] = []
    plain, at = RULES.sub("", text), 0
    for move in MOVE.finditer(plain):
        found += PAUSE.split(plain[at : move.start()])
        found += _move(move, tongue)
        at = move.end()
    found += PAUSE.split(plain[at:])
    return tuple(clip for clip in map(_trimmed, found) if any(map(str.isalnum, clip)))


def _move(move: re.Match[str], tongue: Language) -> Iterator[str]:
    front, source, sign, target, count, taken = move.groups()
    if front:
        yield tongue.signs[front[-1]]
    yield source
    if target == "off":
        yield tongue.signs[target]
    elif target:
        yield tongue.signs["to" if sign == "-" else sign]
        yield target
    if count:
        yield tongue.signs[":"].format(count=count[1:])
    if taken:
        yield tongue.signs["x"]
        yield from taken.split("x")[1:]


def _trimmed(clip: str) -> str:
    """A clip without what is not heard at its ends; a question keeps its mark, which is."""
    return " ".join(clip.split()).strip(" .,:;–„“\"'")
