"""Whose hand was it?  The sides from which arms have reached over the board since the table last made sense.

Several legal plies on the table at once may have been made by two players, or all by one, which is against the rules.
The side from which each player's hand comes is learned as the match goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log

from companion.rules.board import Cell, Player

LOG_ONE = log(1 / 4)
"""Prior log odds that one player did what two may have done, in one visit of hands: two would have to follow each
other within a fifth of a second, or one of them acts out of turn, which happens in one turn in thirty."""

LOG_UNSEEN = log(300)
"""Log-likelihood ratio of never seeing a player's arm on its side, assumed: it is seen in 145 of 170 frames with
motion, and was in each of 18 visits (docs/measurements/hands.md), so a visit without it was hardly his."""

LOG_BOTH_SEEN = -8.0
"""Log-likelihood ratio of seeing both players' arms."""

MISSED_S = 0.25
"""Longest gap between two pictures, while arms come and go, at which an arm that is not seen was hardly there: with
longer gaps a visit shows in few pictures or in none, as when a referee reads on a busy computer."""

MIN_FRAMES = 4
"""Number of frames with an arm, a third of a second, from which on sides count."""

USUAL_SHARE = 0.2
"""Share of a player's frames from which on a side counts as his: an arm may cross a corner of the picture."""

CROSSING = 1
"""Number of frames with an arm from one side that say nothing yet."""


@dataclass(frozen=True, slots=True)
class Hands:
    """What is known about arms over the board.

    Attributes:
        visit: for each side, in how many frames an arm has reached in from there since the table last made sense.
        gap_s: the longest gap between two pictures since then while something moved.
        seats: for each player the same counts as ``visit``, over all his moves.
        together: pillars whose sensors saw two or more of them move at the same time in this visit.
    """

    visit: Mapping[str, int] = field(default_factory=dict)
    gap_s: float = 0.0
    seats: Mapping[Player, Mapping[str, int]] = field(default_factory=dict)
    together: frozenset[Cell] = frozenset()


NO_HANDS = Hands()


def add_sides(hands: Hands, sides: Collection[str], gap_s: float = 0.0, turned: frozenset[Cell] = frozenset()) -> Hands:
    """``hands`` after one more frame, ``gap_s`` after the one before, in which arms reached in from ``sides``.

    ``turned`` are the pillars that moved in that frame.
    """
    together = hands.together | turned if len(turned) > 1 else hands.together
    visit = Counter(hands.visit) + Counter(sides)
    return replace(hands, visit=visit, gap_s=max(hands.gap_s, gap_s), together=together)


def end_visit(hands: Hands, movers: Sequence[Player]) -> Hands:
    """``hands`` once the table makes sense and ``movers`` have moved; a single mover's sides are added to his seat."""
    if len(movers) != 1:
        return Hands(seats=hands.seats)
    mover = movers[0]
    seat = Counter(hands.seats.get(mover, {})) + Counter(hands.visit)
    return Hands(seats={**hands.seats, mover: seat})


def has_arms(hands: Hands) -> bool:
    """Whether enough arms have been seen since the table last made sense to tell whose hands they were."""
    return sum(hands.visit.values()) >= MIN_FRAMES


def one_player_log_odds(hands: Hands, players: Collection[Player]) -> float | None:
    """Log odds that one of ``players`` did it all; the prior if no arm was seen; None if there is only one player."""
    if len(set(players)) < 2:
        return None
    if not has_arms(hands):
        return LOG_ONE
    usual = [_usual(hands, player) for player in set(players)]
    if not all(usual):
        return LOG_ONE
    if all(sum(hands.visit.get(side, 0) for side in sides) > CROSSING for sides in usual):
        return LOG_ONE if set.intersection(*usual) else LOG_ONE + LOG_BOTH_SEEN
    return LOG_ONE if hands.gap_s > MISSED_S else LOG_ONE + LOG_UNSEEN


def _usual(hands: Hands, player: Player) -> set[str]:
    """The sides from which a player usually reaches in."""
    seen = hands.seats.get(player, {})
    return {side for side, count in seen.items() if count >= USUAL_SHARE * sum(seen.values())}
