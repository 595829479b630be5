"""Statistics of a club's matches."""

from dataclasses import replace
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

from companion.events import Accepted, Corrected, Event, GameOver, Illegal, Restored, Start, TakenBack
from companion.recorder.store import MatchInfo
from companion.records.plot import plot
from companion.records.record import MatchRecord
from companion.records.stats import Spread, game_stats, spread, thinking_times

INFO = MatchInfo("domination", ("R", "G"), "p", datetime(2026, 11, 21, tzinfo=UTC), "kit", ("Ada", ""))


def accepted(t: float, n: int, player: str) -> Event:
    return Accepted(t=t, n=n, player=player, move="c3-d3", position="p")


def illegal(t: float, n: int, player: str, *rules: str) -> Event:
    return Illegal(t=t, n=n, player=player, attempt=None, rules=rules, reason="", cells=(), seen="", expected="")


EVENTS: tuple[Event, ...] = (
    Start(t=0.0, n=1, position="p"),
    accepted(4.0, 2, "R"),
    illegal(6.0, 3, "G", "DOM-4", "DOM-5"),
    Restored(t=8.0, n=4),
    accepted(14.0, 5, "G"),
    TakenBack(t=20.0, n=6, moves=("c3-d3",), position="p"),
    accepted(21.0, 7, "G"),
    illegal(22.0, 8, "R", "DOM-4"),
    Corrected(t=30.0, n=9, by="arbiter", move="c3-d3"),
    GameOver(t=31.0, n=10, winner="R", rule="DOM-8", position="p"),
)


def test_matches_are_counted() -> None:
    stats = game_stats("domination", [MatchRecord(INFO, EVENTS), MatchRecord(INFO, EVENTS[:2])])
    assert (stats.matches, stats.open) == (2, 1)
    assert stats.results == (("Ada", "DOM-8", 1),)
    assert stats.illegal == (("DOM-4", 2), ("DOM-5", 1))
    assert dict(stats.offenders) == {"Ada": 1, "G": 1}
    assert stats.moves == Spread(2, 1, 2, 2.8, 3)
    assert stats.duration_s is not None
    assert (stats.duration_s.least, stats.duration_s.most) == (4.0, 31.0)
    assert {who: (found.n, found.most) for who, found in stats.thinking_s} == {"Ada": (2, 4.0), "G": (2, 10.0)}


def test_time_runs_from_the_turn_before_also_through_repairs() -> None:
    assert list(thinking_times(EVENTS)) == [("R", 4.0), ("G", 10.0), ("G", 1.0)]


def test_a_draw_is_nobodys() -> None:
    end = replace(EVENTS[-1], winner=None, rule="G-4")
    assert game_stats("domination", [MatchRecord(INFO, (*EVENTS[:-1], end))]).results == (("drawn", "G-4", 1),)


def test_one_value_is_its_own_spread() -> None:
    assert spread([3.0]) == Spread(1, 3.0, 3.0, 3.0, 3.0)
    assert spread([]) is None


def test_every_bar_is_drawn_with_its_number() -> None:
    root = ET.fromstring(plot([game_stats("domination", [MatchRecord(INFO, EVENTS)])]))
    bars = [part for part in root if part.tag.endswith("rect")][1:]
    words = [part.text for part in root if part.tag.endswith("text")]
    assert len(bars) == 1 + 2 + 2 + 2
    assert {"Ada: DOM-8 End", "DOM-5 Distance", "4.0 s"} <= set(words)
