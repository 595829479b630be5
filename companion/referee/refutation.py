"""An accusation that what people do next refutes: a square was misread, and the match went on by the rules.  Pure.

Beside the accepted match a few others are kept in mind from the accusation on: those in which what was said to be
against the rules was a legal move, or nothing at all, of which one square was misread.  Each new table is judged as if
such a match were the true one, and that square not to be believed.  It gains where play goes on legally, since nobody
plays on over an opponent's illegal move, and where the square looks right in the end though nobody has touched it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import log

from companion.match import Match
from companion.rules.board import Cell
from companion.rules.game import Move
from companion.tracker.contest import Context
from companion.tracker.evidence import Evidence, without
from companion.tracker.hypotheses import LOG_ACT, Batch, Hypothesis, Other, Outlook, Same, Turn, base_columns, foresee
from companion.tracker.interpret import Interpretation, Played, Unchanged, interpret
from companion.tracker.sights import Changes, Place

LOG_PLAYED_ON = log(100)
"""Log-likelihood ratio of one more legal move on the table: by people who see no fault there, against by people who
have been told of one and leave it."""

LEAST_PLAYED = 2
"""So many moves, by both sides, before that counts: one alone may come from somebody who did not listen."""

MISREAD_NATS = 8.5
"""All that one square can say against a match: of 23,336 squares that were read with p >= 0.99 five were wrong
(docs/measurements.md)."""

LOG_REFUTED = log(30)
"""Log odds from which an accusation is withdrawn: what has been said is taken back once that is nearly certain."""

AGREEING_READINGS = 2
"""A legal move counts once two pictures in a row show it."""

MOST_RIVALS = 3


@dataclass(frozen=True, slots=True)
class Rival:
    """A match in which nobody did anything wrong, but for one misread square.

    Attributes:
        match: what has been played in it.
        moves: the moves by which it is ahead of the accepted match.
        place: the square that was misread.
        outlook: of ``match``.
        log_odds: that it is the true one, against the accusation, apart from what ``place`` looks like now.
        first_gap: log-likelihood ratio by which ``place`` spoke against it at the accusation.
        gap: the same in the last picture.
        moved: whether anything has moved since the accusation.
        touched: whether the picture of ``place`` has changed since then.
        played_on: how many of ``moves`` have been made since the accusation.
        seen: the next move, seen in so many pictures in a row, while they are too few to count.
        fits: whether it explains the last picture, but for ``place``.
    """

    match: Match
    moves: tuple[Move, ...]
    place: Place
    outlook: Outlook
    log_odds: float
    first_gap: float
    gap: float
    moved: bool = False
    touched: bool = False
    played_on: int = 0
    seen: tuple[Move | None, int] = (None, 0)
    fits: bool = True

    @property
    def is_proved(self) -> bool:
        """Whether the accusation is refuted."""
        if not self.fits:
            return False
        if not self.may_be_repair and self.log_odds - self.gap >= LOG_REFUTED:
            return True
        return self.played_on >= LEAST_PLAYED and self.log_odds - max(self.gap, self.first_gap) >= LOG_REFUTED

    @property
    def may_be_repair(self) -> bool:
        """Whether ``place`` may look right by now since it has been put right; not if it was then played on."""
        if not self.played_on:
            return self.moved
        return self.touched and len(self.moves) == self.played_on

    @property
    def explains_more(self) -> bool:
        """Whether what has come since the accusation is play in it, and no further act against the rules."""
        return self.fits and (self.played_on > 0 or self.seen[0] is not None)


def rivals_to(outlook: Outlook, evidence: Evidence, accused: Changes) -> tuple[Rival, ...]:
    """The matches that the accused view may show with one square misread, the likeliest first."""
    base = base_columns(evidence.columns, outlook.sights)
    near = tuple(_near(outlook, accused))
    hypotheses = [Hypothesis(Other(), LOG_ACT, accused), *(hypothesis for hypothesis, _ in near)]
    against, *scores = Batch(hypotheses).score(evidence, base).tolist()
    likeliest = sorted(range(len(near)), key=lambda i: -scores[i])[:MOST_RIVALS]
    return tuple(_rival(outlook, evidence, *near[i], scores[i] - against) for i in likeliest)


def _rival(outlook: Outlook, evidence: Evidence, hypothesis: Hypothesis, place: Place, log_odds: float) -> Rival:
    moves = (hypothesis.story.move,) if isinstance(hypothesis.story, Turn) else ()
    match = outlook.match.play(moves[0]) if moves else outlook.match
    ahead = foresee(match) if moves else outlook
    uncapped = _contradiction(evidence, ahead, place)
    gap = min(uncapped, MISREAD_NATS)
    return Rival(match, moves, place, ahead, log_odds + uncapped, gap, gap)


def _near(outlook: Outlook, accused: Changes) -> Iterator[tuple[Hypothesis, Place]]:
    """What may legally lie there if one square, that of no pillar, was misread, and which."""
    seen = dict(accused)
    for hypothesis in outlook.expected.hypotheses:
        if isinstance(hypothesis.story, (Same, Turn)):
            due = dict(hypothesis.changes)
            places = {place for place in seen.keys() | due.keys() if seen.get(place) != due.get(place)}
            if len(places) == 1 and (place := next(iter(places))) < len(outlook.table.stacks):
                yield hypothesis, place


def _contradiction(evidence: Evidence, outlook: Outlook, place: Place) -> float:
    """By how much ``place`` looks like something else than it should, in nats."""
    row = evidence.log_p[place]
    return float(row.max() - row[evidence.columns.of(outlook.sights[place])])


def disturbed(rival: Rival) -> Rival:
    """``rival`` once something has moved."""
    return replace(rival, moved=True)


def confirmed(rivals: tuple[Rival, ...], meaning: Interpretation) -> Rival | None:
    """The match in which ``meaning``, what the table shows by the accepted one, is all that has come since.

    Then the square looks right, and nobody has put it right.
    """
    moves = meaning.moves if isinstance(meaning, Played) else () if isinstance(meaning, Unchanged) else None
    return next((rival for rival in rivals if rival.fits and rival.moves == moves and not rival.may_be_repair), None)


def after_reading(rival: Rival, evidence: Evidence, touched: frozenset[Cell]) -> Rival:
    """``rival`` after one more picture; ``touched`` are the cells that look as if somebody had been there."""
    judgement = interpret(without(evidence, frozenset({rival.place})), rival.outlook, Context())
    if not evidence.hidden[rival.place]:
        rival = replace(rival, gap=min(_contradiction(evidence, rival.outlook, rival.place), MISREAD_NATS))
    rival = replace(rival, touched=rival.touched or rival.place in touched)
    match judgement.interpretation:
        case Played((move,)):
            count = rival.seen[1] + 1 if rival.seen[0] == move else 1
            rival = replace(rival, seen=(move, count), fits=True)
            return _played(rival, move) if count >= AGREEING_READINGS else rival
        case meaning:
            return replace(rival, seen=(None, 0), fits=isinstance(meaning, Unchanged))


def _played(rival: Rival, move: Move) -> Rival:
    match = rival.match.play(move)
    return replace(
        rival,
        match=match,
        moves=(*rival.moves, move),
        outlook=foresee(match),
        log_odds=rival.log_odds + LOG_PLAYED_ON,
        played_on=rival.played_on + 1,
        seen=(None, 0),
    )
