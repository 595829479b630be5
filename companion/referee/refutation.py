"""An accusation that later play refutes: a square was misread, and the match went on by the rules.  Pure.

From the accusation on, a few other matches are kept in mind beside the accepted one: those in which the alleged
violation was a legal move, or no change at all, with one square misread.  Each new table is judged as if such a match
were the true one, ignoring that square.  The match gains if play goes on legally, since nobody plays on over an
opponent's illegal move, and if the square looks right in the end though nobody has touched it.  The same holds if one
square of a match's initial position looks wrong, people have been told so, and play anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf, log

from companion.match import Match
from companion.rules.board import Cell, Sight
from companion.rules.game import Move
from companion.tracker.evidence import Evidence, mask_places
from companion.tracker.hypotheses import LOG_PRIOR_ACT, CompleteMove, Hypothesis, NoChange, Prediction, predict
from companion.tracker.interpret import Interpretation, Judgement, Played, Unchanged, interpret
from companion.tracker.scoring import Context
from companion.tracker.sights import Changes, Place

LOG_PLAYED_ON = log(100)
"""Log-likelihood ratio of one more legal move on the table: made by people who see no fault there, against people who
have been told of one and leave it."""

MIN_PLAYED = 2
"""Number of moves, by both sides, before that counts: a single one may come from somebody who did not listen."""

MISREAD_NATS = 8.5
"""Limit of what one square can say against a match at the accusation: one in 4,900 of those read with p >= 0.99 is
wrong, within what was measured, 0.4 to 3.8 in 10,000 (docs/measurements/mats.md)."""

LOG_REFUTED = log(30)
"""Log odds from which an accusation is withdrawn: only once it is nearly certain to be false."""

AGREEING_READINGS = 2
"""A legal move counts once two pictures in a row show it."""

MAX_RIVALS = 3


@dataclass(frozen=True, slots=True)
class Rival:
    """A match without a violation, in which one square was misread.

    Attributes:
        match: what has been played in it.
        moves: the moves by which it is ahead of the accepted match.
        place: the square that was misread.
        prediction: of ``match``.
        claimed: what the accusation takes to be on ``place``.
        log_odds: that this match is the true one, against the accusation, by what was seen then and played since.
        first_gap: log-likelihood ratio of ``claimed`` to the expected sight, by the reading at the accusation.
        gap: the same ratio by the last reading.
        moved: whether anything has moved since the accusation.
        touched: whether the picture of ``place`` has changed since then.
        played_on: how many of ``moves`` have been made since the accusation.
        seen: the next move and in how many pictures in a row it was seen, while these are too few to count.
        fits: whether this match explains the last picture, apart from ``place``.
    """

    match: Match
    moves: tuple[Move, ...]
    place: Place
    claimed: Sight
    prediction: Prediction
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
        # What was bounded at the accusation still is: the square looks right once little speaks for what it claims.
        gain = min(self.first_gap, MISREAD_NATS) - min(self.gap, MISREAD_NATS)
        if not self.may_be_repair and self.log_odds + gain >= LOG_REFUTED:
            return True
        return self.played_on >= MIN_PLAYED and self.log_odds + min(gain, 0.0) >= LOG_REFUTED

    @property
    def expected_log_odds(self) -> float:
        """``log_odds`` if the next move, seen in too few pictures so far, is confirmed."""
        return self.log_odds + (0.0 if self.seen[0] is None else LOG_PLAYED_ON)

    @property
    def may_be_repair(self) -> bool:
        """Whether ``place`` may look right by now because it was put right; not if play went on after that."""
        if not self.played_on:
            return self.moved
        return self.touched and len(self.moves) == self.played_on

    @property
    def explains_more(self) -> bool:
        """Whether what has come since the accusation is legal play in this match, and not a further illegal act."""
        return self.fits and (self.played_on > 0 or self.seen[0] is not None)


def rivals_to(prediction: Prediction, evidence: Evidence, judgement: Judgement) -> tuple[Rival, ...]:
    """The matches that the accused view of ``judgement`` may show if one square is misread, the likeliest first."""
    posterior = {ranked.changes: ranked.posterior for ranked in judgement.ranked}
    found = []
    for hypothesis, place in _one_square_apart(prediction, judgement.changes):
        share = posterior.get(hypothesis.changes, 0.0)
        looked = log(share / judgement.posterior) if share else -inf
        found.append((max(looked, hypothesis.prior - LOG_PRIOR_ACT - MISREAD_NATS), hypothesis, place))
    found.sort(key=lambda row: -row[0])
    return tuple(_rival(prediction, evidence, judgement.changes, *row) for row in found[:MAX_RIVALS])


def merge_rivals(match: Match, before: tuple[Rival, ...], found: tuple[Rival, ...]) -> tuple[Rival, ...]:
    """The rivals ``found`` at a further accusation in a ``match``, joined with those of earlier ones, ``before``.

    A further act does not make the earlier accusation true: that act may be undone, and play go on.
    """
    kept = [ahead for rival in before if (ahead := _ahead_of(match, rival)) is not None]
    known = {(rival.match.plies, rival.place) for rival in kept}
    new = [rival for rival in found if (rival.match.plies, rival.place) not in known]
    return tuple(sorted((*kept, *new), key=lambda rival: -rival.log_odds)[:MAX_RIVALS])


def _ahead_of(match: Match, rival: Rival) -> Rival | None:
    """``rival`` relative to ``match``, which may have gone on meanwhile; None if it went another way."""
    count = len(match.plies)
    if rival.match.plies[:count] != match.plies:
        return None
    moves = tuple(ply.move for ply in rival.match.plies[count:] if ply.move is not None)
    return replace(rival, moves=moves, played_on=min(rival.played_on, len(moves)))


def rivals_to_complaint(prediction: Prediction, evidence: Evidence, judgement: Judgement) -> tuple[Rival, ...]:
    """The rivals to a complaint that one square is set up wrong: matches in which all is as it should be."""
    return tuple(rival for rival in rivals_to(prediction, evidence, judgement) if not rival.moves)


def _rival(
    prediction: Prediction, evidence: Evidence, accused: Changes, log_odds: float, hypothesis: Hypothesis, place: Place
) -> Rival:
    moves = (hypothesis.cause.move,) if isinstance(hypothesis.cause, CompleteMove) else ()
    match = prediction.match.play(moves[0]) if moves else prediction.match
    claimed = dict(accused).get(place, prediction.sights[place])
    ahead = predict(match) if moves else prediction
    gap = _gap(evidence, place, claimed, ahead.sights[place])
    return Rival(match, moves, place, claimed, ahead, log_odds, gap, gap)


def _one_square_apart(prediction: Prediction, accused: Changes) -> Iterator[tuple[Hypothesis, Place]]:
    """The legal hypotheses that differ from the ``accused`` view in one square, not a pillar, with that square."""
    seen = dict(accused)
    for hypothesis in prediction.expected.hypotheses:
        if isinstance(hypothesis.cause, (NoChange, CompleteMove)):
            due = dict(hypothesis.changes)
            places = {place for place in seen.keys() | due.keys() if seen.get(place) != due.get(place)}
            if len(places) == 1 and (place := next(iter(places))) < len(prediction.table.stacks):
                yield hypothesis, place


def _gap(evidence: Evidence, place: Place, claimed: Sight, expected: Sight) -> float:
    """Log-likelihood ratio of two sights of a place, in nats, from its look alone.

    That its picture has changed since the last accepted table stays true, though it is compared with another one soon.
    """
    row, columns = evidence.pictured[place], evidence.columns
    return float(row[columns.of(claimed)] - row[columns.of(expected)])


def after_motion(rival: Rival) -> Rival:
    """``rival`` once something has moved."""
    return replace(rival, moved=True)


def find_proved(rivals: tuple[Rival, ...]) -> Rival | None:
    """The rival that refutes the accusation, unless another one fits as well and leads to a different match.

    In that case more of the table must be seen to tell which square was misread; until then no move is accepted.
    """
    return next((rival for rival in rivals if rival.is_proved and _is_distinguished(rival, rivals)), None)


def _is_distinguished(rival: Rival, rivals: tuple[Rival, ...]) -> bool:
    """Whether all ``rivals`` that fit, and lead to another position, are much less likely than ``rival``."""
    others = (other for other in rivals if other.fits and other.match.position != rival.match.position)
    return all(rival.log_odds - other.expected_log_odds >= LOG_REFUTED for other in others)


def find_confirmed(rivals: tuple[Rival, ...], meaning: Interpretation) -> Rival | None:
    """The match whose ``moves`` are exactly what the table shows by the accepted one, ``meaning``.

    Then the square looks right, and nobody has put it right.
    """
    moves = meaning.moves if isinstance(meaning, Played) else () if isinstance(meaning, Unchanged) else None
    return next((rival for rival in rivals if rival.fits and rival.moves == moves and not rival.may_be_repair), None)


def after_reading(rival: Rival, evidence: Evidence, touched: frozenset[Cell]) -> Rival:
    """``rival`` after one more picture; ``touched`` are the cells that look as if somebody had been there."""
    judgement = interpret(mask_places(evidence, frozenset({rival.place})), rival.prediction, Context())
    if not evidence.hidden[rival.place]:
        rival = replace(rival, gap=_gap(evidence, rival.place, rival.claimed, rival.prediction.sights[rival.place]))
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
        prediction=predict(match),
        log_odds=rival.log_odds + LOG_PLAYED_ON,
        played_on=rival.played_on + 1,
        seen=(None, 0),
    )
