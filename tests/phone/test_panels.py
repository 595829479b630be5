"""Phones as panels: what they are sent, and which of their messages are accepted, with real HTTP requests."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest

from companion.panel import cues
from companion.panel.buttons import Button, Press
from companion.panel.cue_player import Lights
from companion.panel.cues import GREEN, OFF, Cue, Rank, Topic
from companion.panel.panel import Announcement, PanelDisplay
from companion.phone.panel import COLOURS, KEPT, PhonePanel
from companion.phone.panels import PanelBinding, PanelRoutes
from companion.phrases import ENGLISH, GERMAN
from companion.web.feed import Feed
from companion.web.page import Page
from tests.hall.test_hub import START


def panel() -> PhonePanel:
    return PhonePanel(GERMAN, "de", None, lambda: None)


def said(text: str, t: float | None = 1.0) -> PanelDisplay:
    """Return what is shown with a sentence said at time ``t``."""
    return PanelDisplay(
        Lights(GREEN, ("R",), 440.0), ("G",), Announcement("accepted", text, t, GREEN, Topic.TABLE, Rank.CALM)
    )


def test_every_colour_of_the_cues_has_a_name() -> None:
    found = [getattr(cues, name) for name in dir(cues)]
    tables = [cue for table in found if isinstance(table, dict) for cue in table.values() if isinstance(cue, Cue)]
    steps = [step for cue in (*tables, *found) if isinstance(cue, Cue) for step in (*cue.intro, *cue.hold)]
    assert {step.colour for step in steps} <= set(COLOURS)
    assert COLOURS[OFF] == "off"


def test_a_phone_is_told_the_lights_and_each_sentence_once() -> None:
    shown = panel()
    first = said("one")
    shown.show(first)
    shown.show(first)
    row = shown.row()
    assert (row["light"], row["lit"], row["turn"], row["tone"], row["language"]) == ("green", ["R"], ["G"], 440.0, "de")
    assert [(each["n"], each["text"]) for each in row["said"]] == [(1, "one")]
    shown.show(said("one"))
    assert [each["n"] for each in shown.row(1)["said"]] == [2]
    assert shown.row(2)["said"] == []


def test_a_phone_that_was_long_away_hears_the_last_ones() -> None:
    shown = panel()
    for i in range(2 * KEPT):
        shown.show(said(str(i)))
    assert [each["n"] for each in shown.row()["said"]] == list(range(KEPT + 1, 2 * KEPT + 1))


def test_a_closed_panel_is_dark() -> None:
    shown = panel()
    shown.show(said("one"))
    shown.close()
    assert (shown.row()["light"], shown.row()["tone"]) == ("off", None)


class Table:
    """A page with the panel of one match."""

    def __init__(self) -> None:
        self.told, self.pressed = list[str](), list[Press]()
        self.routes = PanelRoutes("secret", lambda: "token", self.told.append)
        self.panel = PhonePanel(ENGLISH, "en", None, self.routes.change_signal.notify_all)
        self.routes.show(PanelBinding(self.panel, self.pressed.append))
        self.page = Page(("127.0.0.1", 0), Feed(START), token="token", routes=self.routes.routes())

    def ask(self, path: str, body: Any = None, method: str = "POST", **headers: str) -> tuple[int, bytes]:
        wire = http.client.HTTPConnection("127.0.0.1", self.page.server.port, timeout=300)
        try:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            wire.request(method, path, data, {"Content-Type": "application/json", **headers})
            answer = wire.getresponse()
            return answer.status, answer.read()
        finally:
            wire.close()

    def close(self) -> None:
        self.routes.close()
        self.page.close()


@pytest.fixture
def table() -> Iterator[Table]:
    table = Table()
    yield table
    table.close()


PRESS = "/panel/press?code=secret"


def test_a_press_is_that_of_the_button(table: Table) -> None:
    assert table.ask(PRESS, {"button": "done", "number": 2})[0] == 200
    assert table.ask(PRESS, {"button": "arbiter", "held": True})[0] == 200
    assert table.pressed == [Press(Button.DONE, number=2), Press(Button.ARBITER, is_held=True)]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/panel/press", {"button": "done"}, 403),
        ("/panel/press?code=guess", {"button": "done"}, 403),
        (PRESS, {"button": "fire"}, 400),
        (PRESS, {}, 400),
        (PRESS, [], 400),
        (PRESS, b"{", 400),
        (PRESS, {"button": "done", "number": 99}, 400),
        (PRESS, {"button": "done", "number": True}, 400),
        (PRESS, {"button": "done", "held": 1}, 400),
        (PRESS, b" " * 10_000, 413),
    ],
)
def test_what_is_forged_is_refused_and_presses_nothing(table: Table, path: str, body: Any, status: int) -> None:
    assert table.ask(path, body)[0] == status
    assert table.pressed == []


def test_only_its_own_page_presses_and_only_the_arbiter_sees_the_code(table: Table) -> None:
    assert table.ask(PRESS, {"button": "done"}, origin="https://elsewhere.example")[0] == 403
    assert table.ask("/panel/code.svg", method="GET")[0] == 401
    assert b"<svg" in table.ask("/panel/code.svg", method="GET", authorization="Bearer token")[1]
    assert table.ask("/panel/shown?code=guess", method="GET")[0] == 403
    assert table.pressed == []
    assert table.told == ["panel: messages refused so far: 1"]


def test_between_matches_nobody_is_pressed(table: Table) -> None:
    table.routes.show(None)
    status, told = table.ask(PRESS, {"button": "done"})
    assert (status, json.loads(told)["reason"]) == (409, "idle")


def test_the_stream_tells_what_changes_and_ends_with_the_page(table: Table) -> None:
    wire = http.client.HTTPConnection("127.0.0.1", table.page.server.port, timeout=300)
    wire.request("GET", "/panel/shown?code=secret")
    stream = wire.getresponse()

    def next_row() -> dict[str, Any]:
        while not (line := stream.readline()).startswith(b"data: "):
            assert line, "the stream has ended"
        row: dict[str, Any] = json.loads(line[6:])
        return row

    assert next_row()["light"] == "off"
    table.panel.show(said("one"))
    row = next_row()
    assert (row["light"], [each["text"] for each in row["said"]]) == ("green", ["one"])
    table.routes.show(None)
    while row["panel"]:
        row = next_row()
    table.routes.close()
    assert stream.read().strip() == b""
    stream.close()
    wire.close()


def test_no_sound_is_given_but_those_of_what_was_said(table: Table) -> None:
    assert table.ask("/panel/clip/..%2Fpage.pem?code=secret", method="GET")[0] == 404
    assert table.ask("/panel/clip/any.wav?code=secret", method="GET")[0] == 404
