"""Low frame rates: they are reported, and apparent violations then become questions."""

from __future__ import annotations

from companion.events import Illegal, Unsure, ViewChanged
from companion.games import load_game
from companion.match import Match
from companion.referee import pace
from companion.referee.pace import AVERAGED_GAPS, BLIND_S, BRISK_S, OUTAGE_S, SLOW_S, Pace
from tests.referee.conftest import FRAME_S, Film

SELDOM_S = 0.4
CALM_S = 4.0
NOTHING_YET = Pace()


class Paced(Film):
    """A film with an adjustable frame interval."""

    def __init__(self, match: Match) -> None:
        self.now_s = 0.0
        super().__init__(match)

    @property
    def t_s(self) -> float:
        return self.now_s

    @property
    def frame(self) -> int:
        return self._frame

    @frame.setter
    def frame(self, frame: int) -> None:
        self._frame, self.now_s = frame, self.now_s + (self.gap_s if frame else 0.0)

    gap_s = FRAME_S

    def report_unrest(self) -> None:
        """Let the referee report what is wrong with the picture."""
        self.events += self.referee.report_picture_quality(self.t_s, "")

    def turn(self, *stacks: tuple[str, str]) -> list[str]:
        """Show a hand for three seconds, then these stacks for four; return the kinds of events."""
        begun = len(self.events)
        self.sweep(frames=round(3.0 / self.gap_s))
        self.report_unrest()
        self.show(*stacks, frames=round(CALM_S / self.gap_s))
        return [event.event for event in self.events[begun:]]


def paced() -> Paced:
    """Return a film at the start of Domination, with the table seen once."""
    film = Paced(Match(load_game("domination"), load_game("domination").start()))
    film.keep_still(film.table.stacks)
    return film


def after(gaps_s: list[float], before: Pace = NOTHING_YET, *, moving: bool = False, read: bool = False) -> Pace:
    """Return the pace after frames with these intervals, in s."""
    t_s = before.last_s or 0.0
    for gap_s in gaps_s:
        before = pace.step(before, t_s, moving=moving, read=read)
        t_s += gap_s
    return pace.step(before, t_s, moving=moving, read=read)


def test_too_few_are_too_few_on_average_and_enough_when_clearly_so() -> None:
    """The frame rate is too low if the average interval exceeds SLOW_S, and enough again below BRISK_S.

    Single gaps and short sequences do not count.
    """
    slow = after([SLOW_S + 0.01] * AVERAGED_GAPS)
    assert slow.is_slow
    assert not after([SLOW_S + 0.01] * (AVERAGED_GAPS - 1)).is_slow
    assert not after([FRAME_S] * AVERAGED_GAPS + [0.7] + [FRAME_S] * (AVERAGED_GAPS - 1)).is_slow
    assert after([(SLOW_S + BRISK_S) / 2] * AVERAGED_GAPS, slow).is_slow
    assert not after([BRISK_S - 0.01] * AVERAGED_GAPS, slow).is_slow


def test_neither_outages_nor_what_is_read_count() -> None:
    """Gaps longer than OUTAGE_S, and delays by readings, do not count."""
    assert not after([OUTAGE_S + 1] * 2 * AVERAGED_GAPS).is_slow
    assert not after([2 * SLOW_S] * 2 * AVERAGED_GAPS, read=True).is_slow


def test_that_too_few_pictures_come_is_said_once_until_enough_come() -> None:
    """A low frame rate is reported once, and so is its end."""
    film = paced()
    film.gap_s = SELDOM_S
    film.turn()
    film.report_unrest()
    film.gap_s = FRAME_S
    film.keep_still(film.table.stacks, frames=2 * AVERAGED_GAPS)
    film.report_unrest()
    views = [event.state for event in film.events if isinstance(event, ViewChanged)]
    assert views == ["slow", "clear"]


def test_an_accusation_becomes_a_question_where_pictures_were_missing() -> None:
    """At a low frame rate an illegal act leads to a question instead of an accusation."""
    film = paced()
    film.gap_s = SELDOM_S
    assert film.turn(("c3", ""), ("c5", "RR")) == ["view", "unsure"]
    asked = film.events[-1]
    assert isinstance(asked, Unsure)
    assert (asked.options, asked.cells) == ((), ("c3", "c5"))
    assert film.turn() == ["restored"]


def test_after_a_long_gap_only_what_a_single_act_explains_is_accused() -> None:
    """After a gap of BLIND_S only changes that a single act explains are reported as illegal."""
    many = (("c3", ""), ("c4", ""), ("e4", ""), ("e5", "RGR"))
    film = paced()
    assert isinstance(film.turn(*many) and film.events[-1], Illegal)
    for stacks, kind in ((many, Unsure), ((("c3", ""), ("c5", "RR")), Illegal)):
        film = paced()
        film.now_s += BLIND_S
        film.show(*stacks, frames=30)
        assert isinstance(film.events[-1], kind)


def test_legal_moves_are_accepted_at_any_pace() -> None:
    """A legal move is accepted at a low frame rate."""
    film = paced()
    film.gap_s = SELDOM_S
    assert film.turn(("c3", ""), ("d3", "GR")) == ["view", "accepted"]


def test_what_was_missed_while_few_came_is_asked_about_when_enough_come_again() -> None:
    """An act during a low frame rate is asked about; a later one at a normal rate is illegal."""
    film = paced()
    film.gap_s = SELDOM_S
    film.turn()
    film.sweep(frames=AVERAGED_GAPS)
    film.gap_s = FRAME_S
    assert film.turn(("c3", ""), ("c5", "RR"))[-1] == "unsure"
    film.turn()
    film.show(("c3", ""), ("c5", "RR"))
    assert isinstance(film.events[-1], Illegal)
