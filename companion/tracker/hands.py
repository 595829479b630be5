"""Whose hand was it?  The sides from which arms have reached over the board since it last made sense.

Several legal plies on the table at once may be two players', or one player's who did both, which is against the rules.
Where each player's hand comes from is learned as the match goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log

from companion.rules.board import Cell, Player

LOG_ONE = log(1 / 4)
"""Prior log odds that one player did what two may have done, in one visit of hands: they would have to follow each
other within a fifth of a second, or one of them acts out of turn, which one turn in thirty is."""

LOG_UNSEEN = log(300)
"""Log-likelihood ratio of never seeing a player's arm from where it comes, assumed: it is seen in 145 of 170 frames
that move, and was in each of 18 visits (docs/measurements/hands.md), so that a visit without it was hardly his."""

LOG_BOTH_SEEN = -8.0
"""The same of seeing both players' arms."""

MISSED_S = 0.25
"""Longest time between two pictures while arms come and go up to which an arm that is not seen was hardly there: with
longer ones a visit shows in few pictures or in none, as where a referee reads on a busy computer."""

LEAST_FRAMES = 4
"""So many frames with an arm, a third of a second, before sides count."""

USUAL_SHARE = 0.2
"""Share of a player's frames from which on a side is one of his: an arm may cross a corner of the picture."""

CROSSING = 1
"""Frames with an arm from a side that say nothing yet."""


@dataclass(frozen=True, slots=True)
class Hands:
    """What is known of arms.

    Attributes:
        visit: frames in which an arm reached in from each side since the table last made sense.
        gap_s: the longest time since then that passed between two pictures, while something moved.
        seats: the same of each player, over all his moves.
        together: pillars of which two or more were seen by their sensors to move at the same time, in this visit.
    """

    visit: Mapping[str, int] = field(default_factory=dict)
    gap_s: float = 0.0
    seats: Mapping[Player, Mapping[str, int]] = field(default_factory=dict)
    together: frozenset[Cell] = frozenset()


NOBODY_CAME = Hands()


def reached(hands: Hands, sides: Collection[str], gap_s: float = 0.0, turned: frozenset[Cell] = frozenset()) -> Hands:
    """``hands`` after one more frame, ``gap_s`` after the one before, in which arms reached in from ``sides``.

    ``turned`` are the pillars that moved then.
    """
    together = hands.together | turned if len(turned) > 1 else hands.together
    visit = Counter(hands.visit) + Counter(sides)
    return replace(hands, visit=visit, gap_s=max(hands.gap_s, gap_s), together=together)


def settled(hands: Hands, movers: Sequence[Player]) -> Hands:
    """``hands`` once the table makes sense and ``movers`` have moved; whose hands these were is plain if it was one."""
    if len(movers) != 1:
        return Hands(seats=hands.seats)
    mover = movers[0]
    seat = Counter(hands.seats.get(mover, {})) + Counter(hands.visit)
    return Hands(seats={**hands.seats, mover: seat})


def are_seen(hands: Hands) -> bool:
    """Whether arms were seen that tell whose hands were over the board since it last made sense."""
    return sum(hands.visit.values()) >= LEAST_FRAMES


def log_odds_of_one(hands: Hands, players: Collection[Player]) -> float | None:
    """Log odds that one of ``players`` did all, a priori where no arm was seen; None where there is but one player."""
    if len(set(players)) < 2:
        return None
    if not are_seen(hands):
        return LOG_ONE
    usual = [_usual(hands, player) for player in set(players)]
    if not all(usual):
        return LOG_ONE
    if all(sum(hands.visit.get(side, 0) for side in sides) > CROSSING for sides in usual):
        return LOG_ONE if set.intersection(*usual) else LOG_ONE + LOG_BOTH_SEEN
    return LOG_ONE if hands.gap_s > MISSED_S else LOG_ONE + LOG_UNSEEN


def _usual(hands: Hands, player: Player) -> set[str]:
    seen = hands.seats.get(player, {})
    return {side for side, count in seen.items() if count >= USUAL_SHARE * sum(seen.values())}
