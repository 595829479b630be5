"""The panel controller: events become lights and one sentence at once; routine events have no sentence."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from companion.errors import BadText
from companion.events import Accepted, Event, Illegal, Restored, Start, ViewChanged
from companion.panel.choice import open_panel
from companion.panel.controller import PanelController
from companion.panel.cues import AMBER, GREEN, MAGENTA, OFF, RED, Rank, Topic
from companion.panel.panel import Announcement, PanelDisplay, PanelError
from companion.phrases import GERMAN

START = Start(t=0.0, n=1, position="g b R")
ACCEPTED = Accepted(t=4.5, n=2, player="R", move="c3-d3", position="g b G")
ILLEGAL = Illegal(t=9.0, n=3, player="G", attempt="a1-a9", rules=("X-1",), reason="no.", cells=(), seen="", expected="")


@dataclass
class Screen:
    """A panel that records everything it was shown."""

    shown: list[PanelDisplay] = field(default_factory=list)
    closed: int = 0

    def show(self, shown: PanelDisplay) -> None:
        self.shown.append(shown)

    def close(self) -> None:
        self.closed += 1

    @property
    def said(self) -> list[str]:
        """Every sentence once, in order."""
        sentences: list[Announcement] = []
        for shown in self.shown:
            if shown.said is not None and (not sentences or shown.said is not sentences[-1]):
                sentences.append(shown.said)
        return [said.text for said in sentences]


@pytest.fixture
def screen() -> Screen:
    return Screen()


@pytest.fixture
def announcer(screen: Screen, clock: Callable[[], float]) -> PanelController:
    return PanelController(screen, clock)


def view(state: str) -> ViewChanged:
    return ViewChanged(t=0.0, n=9, state=state)


def test_an_event_is_shown_within_the_call(announcer: PanelController, screen: Screen) -> None:
    announcer.tell(ILLEGAL)
    assert len(screen.shown) == 1
    assert screen.shown[0].lights.colour == RED
    assert screen.shown[0].said == Announcement(
        "illegal", "Green: a1-a9 is not allowed (X-1): no. Put it back.", 9.0, RED, Topic.TABLE, Rank.ALARM
    )


def test_the_turn_is_shown_with_the_sentence(announcer: PanelController, screen: Screen) -> None:
    announcer.tell(START)
    announcer.tell(ACCEPTED)
    assert [shown.turn for shown in screen.shown] == [("R",), ("G",)]
    assert screen.shown[1].said == Announcement("accepted", "Red played c3-d3. Green to move.", 4.5, GREEN, Topic.TABLE)


def test_ticks_go_through_the_steps_of_a_cue_and_say_when_the_next_is_due(
    announcer: PanelController, screen: Screen, clock: Any
) -> None:
    announcer.tell(START)
    clock.t = 20.0
    announcer.tell(ACCEPTED)
    waits = []
    for _ in range(4):
        wait_s = announcer.tick()
        waits.append(wait_s)
        clock.t += (wait_s or 0.0) + 1e-9
    assert waits == [pytest.approx(0.06), pytest.approx(0.14), None, None]
    assert [(shown.lights.colour, shown.lights.tone_hz) for shown in screen.shown[2:]] == [
        (OFF, None),
        (GREEN, 783.99),
        (GREEN, None),
        (GREEN, None),
    ]


def test_hands_that_come_and_go_are_not_talked_about(announcer: PanelController, screen: Screen) -> None:
    for event in (START, view("hand"), view("clear"), ACCEPTED, view("hand"), view("clear")):
        announcer.tell(event)
    assert screen.said == ["The match begins. Red to move.", "Red played c3-d3. Green to move."]


def test_trouble_with_the_view_is_said_and_so_is_its_end(announcer: PanelController, screen: Screen) -> None:
    for event in (START, view("dark"), view("clear"), view("clear")):
        announcer.tell(event)
    assert screen.said[1:] == ["It is too dark to see; switch on a light.", "The board is in view."]


def test_the_same_sentence_again_is_said_again(announcer: PanelController, screen: Screen) -> None:
    for event in (Restored(t=1.0, n=1), Restored(t=1.0, n=1)):
        announcer.tell(event)
    assert screen.said == ["The table is right again."] * 2


def test_a_state_that_has_no_cue_is_said_all_the_same(announcer: PanelController, screen: Screen) -> None:
    announcer.tell(START)
    announcer.tell(view("upside-down"))
    assert screen.shown[-1].said == Announcement("view", "Camera: upside-down.", 0.0, OFF)
    assert screen.shown[-1].lights == screen.shown[-2].lights


def test_a_standing_warning_is_said_once_and_its_end_once(announcer: PanelController, screen: Screen) -> None:
    for warning in (None, "NOT SAVED: 1 event", "NOT SAVED: 2 events", None, None, "NOT SAVED: 1 event"):
        announcer.warn(warning)
    assert screen.said == ["NOT SAVED: 1 event", "Everything is saved again.", "NOT SAVED: 1 event"]
    assert screen.shown[0].said is not None
    assert screen.shown[0].said.colour in (GREEN, MAGENTA)


def test_another_language_and_names(screen: Screen, clock: Callable[[], float]) -> None:
    announcer = PanelController(screen, clock, GERMAN, {"G": "Schwarz"})
    announcer.tell(ACCEPTED)
    announcer.warn("x")
    announcer.warn(None)
    assert screen.said == ["Rot hat c3-d3 gezogen. Schwarz ist am Zug.", "x", "Alles ist wieder gesichert."]


def test_closing_closes_the_panel(announcer: PanelController, screen: Screen) -> None:
    announcer.close()
    assert screen.closed == 1


def test_a_trouble_is_known_by_its_colour(announcer: PanelController, screen: Screen) -> None:
    announcer.tell(view("blocked"))
    assert screen.shown[0].said is not None
    assert screen.shown[0].said.colour == AMBER


@pytest.mark.parametrize("kind", ["gpio", "terminal", "none"])
def test_every_kind_of_panel_shows_a_match(
    kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "mock")
    announcer = open_panel(kind, ("R", "G"), sys.stdout)
    events: tuple[Event, ...] = (START, ACCEPTED, ILLEGAL, Restored(t=12.0, n=4))
    for event in events:
        announcer.tell(event)
        announcer.warn(None)
    announcer.close()
    announcer.close()
    assert capsys.readouterr().out.count("\n") == (4 if kind == "terminal" else 0)
    assert getattr(announcer, "failure", "") == ""


def test_an_unknown_kind_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(BadText, match="there is no panel 'lamp'; write one of gpio terminal none"):
        open_panel("lamp", ("R", "G"), sys.stdout)


def test_too_many_players_for_the_pins_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "mock")
    with pytest.raises(PanelError, match="5 players but only 4 player pins"):
        open_panel("gpio", ("R", "G", "B", "Y", "X"), sys.stdout)
