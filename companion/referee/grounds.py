"""Why an event was announced: what was read on the squares concerned, and how each explanation fared.

A compact account of one verdict that can be kept beside its event and read years later: words, numbers, and a few small
pictures if there was a second look.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import asdict, dataclass
from math import log
from typing import Annotated, Any

from msgspec import Meta

from companion.errors import BadText
from companion.rules.board import Layout
from companion.schema import LONGEST_PICTURE, Base64, CellName, Count, Seconds, Text, read
from companion.tracker.evidence import Evidence
from companion.tracker.hypotheses import Prediction, base_columns
from companion.tracker.interpret import Judgement
from companion.tracker.sights import apply_changes, format_changes, format_sight, name_of
from companion.tracker.verification import SecondLook

DIGITS = 3
"""Decimals of seconds and of natural logarithms: a thousandth is more than anybody will dispute."""

LogProbability = Annotated[float, Meta(gt=-1e9, lt=1e9)]


@dataclass(frozen=True, slots=True)
class Explanation:
    """One thing that may have happened, in words: a move, ``no change``, ``act d7-b6``.

    What is none of these is told by the places that have changed: ``c6 1p, c7 empty``.

    ``log_p`` is the natural logarithm of its posterior, at most 0.
    """

    what: Text
    log_p: LogProbability


@dataclass(frozen=True, slots=True)
class SquareSeen:
    """One square that mattered; sights are given as text of height and top, ``2R``, ``empty``, ``?Q``.

    Attributes:
        cell: its name.
        expected: what the last accepted position shows there.
        believed: what the verdict takes to be there.
        read: what the pictures alone say; the same as ``believed`` where it is hidden.
        log_p: natural logarithm of p(pictures | believed) / p(pictures | read), at most 0: how much the pictures of
            this square speak against the verdict.
        hidden: whether no picture showed it.
    """

    cell: CellName
    expected: Text
    believed: Text
    read: Text
    log_p: LogProbability
    hidden: bool


@dataclass(frozen=True, slots=True)
class TableCompared:
    """One of the tables that a second look compared.

    Attributes:
        what: the explanation that predicts this table, in words.
        log_p: natural logarithm of p(pictures | this table) / p(pictures | the best of them), at most 0.
        rendering: the squares in question as this table would show them, JPEG in base64; empty where there is none.
    """

    what: Text
    log_p: LogProbability
    rendering: Base64 = ""


@dataclass(frozen=True, slots=True)
class Grounds:
    """The account of one verdict.

    Attributes:
        t_s: time of the decisive frame, in seconds since the start.
        calm_s: how long nothing had moved.
        readings: how many pictures were weighed together.
        explanations: the likeliest ones, the best first.
        squares: those in which the explanations differ from the accepted position, or that contradict the verdict.
        compared: the tables that a second look compared, the best first; empty if there was none.
        picture: the squares in which they differ as the camera saw them, JPEG in base64; empty if there was none.
    """

    t_s: Seconds
    calm_s: Seconds
    readings: Count
    explanations: tuple[Explanation, ...]
    squares: tuple[SquareSeen, ...]
    compared: tuple[TableCompared, ...] = ()
    picture: Base64 = ""


def grounds_of_verdict(
    prediction: Prediction,
    evidence: Evidence,
    judgement: Judgement,
    t_s: float,
    calm_s: float,
    look: SecondLook | None = None,
) -> Grounds:
    """The grounds of ``judgement``, to which ``evidence`` and ``look`` led at ``t_s``, in a calm of ``calm_s`` s."""
    told = tuple(Explanation(ranked.what, round(log(ranked.posterior), DIGITS)) for ranked in judgement.ranked)
    squares = _squares(prediction, evidence, judgement)
    compared = () if look is None else _compared(prediction.match.game.layout, judgement, look)
    picture = _base64(look.picture) if look else ""
    return Grounds(round(t_s, DIGITS), round(calm_s, DIGITS), evidence.readings, told, squares, compared, picture)


def _compared(layout: Layout, judgement: Judgement, look: SecondLook) -> tuple[TableCompared, ...]:
    what = {ranked.changes: ranked.what for ranked in judgement.ranked}
    best = max(one.log_p for one in look.compared)
    rows = (
        TableCompared(
            what.get(one.view) or format_changes(layout, one.view),
            round(one.log_p - best, DIGITS),
            _base64(one.rendering),
        )
        for one in look.compared
    )
    return tuple(sorted(rows, key=lambda row: -row.log_p))


def _base64(picture: bytes) -> str:
    """A picture as base64 text; empty if it would be too long to be kept."""
    text = b64encode(picture).decode()
    return text if len(text) <= LONGEST_PICTURE else ""


def _squares(prediction: Prediction, evidence: Evidence, judgement: Judgement) -> tuple[SquareSeen, ...]:
    layout = prediction.match.game.layout
    concerned = {cell for ranked in judgement.ranked for cell, _ in ranked.changes}
    concerned |= {place for place, _ in judgement.odd}
    believed = apply_changes(prediction.sights, judgement.changes)
    columns = base_columns(evidence.columns, believed)
    best = evidence.best()
    squares = []
    for cell in sorted(concerned):
        hidden = bool(evidence.hidden[cell])
        read = believed[cell] if hidden else evidence.sight(int(best[cell]))
        gap = 0.0 if hidden else float(evidence.log_p[cell, columns[cell]] - evidence.log_p[cell, best[cell]])
        expected, there, seen = map(format_sight, (prediction.sights[cell], believed[cell], read))
        squares.append(SquareSeen(name_of(layout, cell), expected, there, seen, round(gap, DIGITS), hidden))
    return tuple(squares)


def to_json(grounds: Grounds) -> dict[str, Any]:
    """The grounds as a JSON object; nested tuples become lists of objects."""
    row = asdict(grounds)
    return {key: list(value) if isinstance(value, tuple) else value for key, value in row.items()}


def from_json(row: Any) -> Grounds:
    """The grounds in a JSON object.  Raises BadText if it is none, and for every field that does not fit."""
    if not isinstance(row, dict):
        raise BadText("grounds of a verdict: must be an object")
    try:
        explanations = [asdict(read(Explanation, told)) for told in _listed(row, "explanations")]
        squares = [asdict(read(SquareSeen, square)) for square in _listed(row, "squares")]
        compared = [asdict(read(TableCompared, one)) for one in _listed({"compared": []} | row, "compared")]
        return read(Grounds, row | {"explanations": explanations, "squares": squares, "compared": compared})
    except BadText as error:
        raise BadText(f"grounds of a verdict: {error}") from error


def _listed(row: dict[str, Any], key: str) -> list[Any]:
    told = row.get(key)
    if not isinstance(told, list):
        raise BadText(f"{key}: must be a list")
    return told
