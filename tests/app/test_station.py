"""The station passes events to panel and voice, reads buttons, and shows pauses."""

import io
import os
from dataclasses import replace

import pytest

from companion.app.station import Station, StationConfig, open_buttons, open_station
from companion.events import Accepted, Restored
from companion.panel.buttons import Press
from companion.panel.gpio import GpioButtons
from companion.phrases import GERMAN
from companion.referee.snapshot import Snapshot

GOING_ON = Snapshot(
    mode="watching", view="clear", position="", to_move="R", todo="", wrong=(), options=(), outcome=None
)
PAUSED = replace(GOING_ON, mode="paused")


def lines(*happenings) -> list[str]:
    """Return the lines that the terminal panel writes."""
    stream = io.StringIO()
    station = open_station(StationConfig("terminal", GERMAN, {"R": "Ann"}), ("R", "G"), stream)
    for happen in happenings:
        happen(station)
    station.close()
    return [line.split("  ", 3)[-1].strip() for line in stream.getvalue().splitlines()]


def test_it_speaks_the_language_and_uses_the_names_of_the_table() -> None:
    moved = Accepted(t=1.0, n=1, player="R", move="c3-d3", position="g b G")
    (line,) = lines(lambda station: station.tell(moved))
    assert line.endswith("Ann hat c3-d3 gezogen. Grün ist am Zug.")


def test_a_pause_is_said_once_and_so_is_its_end() -> None:
    told = lines(
        *(lambda station, s=s: station.follow(1.0, s, None) for s in (GOING_ON, PAUSED, PAUSED, GOING_ON, GOING_ON))
    )
    assert [line.split()[1] for line in told] == ["paused", "resumed"]
    assert "Die Partie ruht" in told[0]


def test_closing_closes_buttons_before_lights_and_all_of_them() -> None:
    closed = []

    class Part:
        def __init__(self, name: str) -> None:
            self.name = name

        def close(self) -> None:
            closed.append(self.name)

    station = Station((Part("panel"), Part("voice")))
    station.listen(Part("buttons"))
    station.close()
    assert closed == ["buttons", "panel", "voice"]


def test_a_voice_that_cannot_speak_does_not_disturb_the_panel(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    stream = io.StringIO()
    station = open_station(StationConfig("terminal", voice=tmp_path / "voice"), ("R", "G"), stream)
    station.tell(Restored(t=1.0, n=1))
    station.warn("NOT SAVED: the disk is full")
    station.note("hello")
    station.close()
    assert stream.getvalue().count("\n") == 3


@pytest.mark.parametrize("kind", ["none", "terminal"])
def test_there_are_no_buttons_where_nobody_can_press(kind: str, monkeypatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert open_buttons(StationConfig(kind), lambda _: None) is None


def test_the_panel_on_pins_has_push_buttons(monkeypatch) -> None:
    monkeypatch.setitem(os.environ, "GPIOZERO_PIN_FACTORY", "mock")
    pressed: list[Press] = []
    buttons = open_buttons(StationConfig("gpio"), pressed.append)
    assert isinstance(buttons, GpioButtons)
    buttons.close()
