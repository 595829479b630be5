"""A phone as the table's panel in a real browser: display, sound, speech and buttons."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from companion.app.presses import Presses
from companion.app.station import Station
from companion.panel.controller import PanelController
from companion.panel.threaded import ThreadedPanel
from companion.phone.panel import PhonePanel
from companion.phone.panels import PanelBinding, PanelRoutes, panel_url
from companion.phrases import language
from companion.voice.library import Library
from companion.voice.wording import clips
from companion.web.page import Page as WebPage
from tests.web.conftest import WAIT_S, WebTable
from tests.web.test_page import OWN_FIVES

CODE = "panel-code"

PLAY = {"portrait": (390, 844), "landscape": (844, 390)}

HEARD = """
    window.heard = [], window.shaken = [], window.spoken = [], window.tones = 0;
    navigator.vibrate = (pattern) => { window.shaken.push(pattern); return true; };
    const start = AudioBufferSourceNode.prototype.start, target = AudioParam.prototype.setTargetAtTime;
    AudioBufferSourceNode.prototype.start = function () {
      window.spoken.push(this.buffer.duration);
      start.call(this);
    };
    AudioParam.prototype.setTargetAtTime = function (value, ...rest) {
      window.tones += value > 0;
      return target.call(this, value, ...rest);
    };
    speechSynthesis.speak = (words) => {
      window.heard.push([words.lang, words.text]);
      setTimeout(() => words.onend?.(), 20);
    };
"""
"""Replaces loudspeaker and vibration motor, and records how the page uses them."""


class PanelTable(WebTable):
    """A table whose panels are phones, in one language."""

    def __init__(self, code: str = "en", sounds: Path | None = None, start: str | None = None) -> None:
        self.routes = PanelRoutes(CODE, lambda: "secret")
        lang = language(code)
        self.library = None if sounds is None else Library(sounds, lang.voice)
        panel = PhonePanel(lang, code, self.library, self.routes.change_signal.notify_all)
        announcer = ThreadedPanel(PanelController(panel, time.monotonic, lang))
        super().__init__("domination", start, routes=self.routes.routes(), station=Station((announcer,)))
        self.routes.show(PanelBinding(panel, Presses(self.inbox, self.station.note, lang)))
        self.wait_for(lambda: self.referee.snapshot.mode == "watching")

    @property
    def address(self) -> str:
        return panel_url(f"http://127.0.0.1:{self.port}/", CODE)

    def close(self) -> None:
        self.routes.close()
        super().close()


@pytest.fixture
def panel_table() -> Iterator[Callable[..., PanelTable]]:
    """Return a function that opens tables with phones as panels, which are closed after the test."""
    tables = list[PanelTable]()

    def opened(code: str = "en", sounds: Path | None = None, start: str | None = None) -> PanelTable:
        tables.append(PanelTable(code, sounds, start))
        return tables[-1]

    yield opened
    for table in tables:
        table.close()


@pytest.fixture
def hold(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Return a function that opens the panel on a phone."""
    pages, faults = list[Page](), list[str]()

    def opened(table: PanelTable, size: tuple[int, int] = PLAY["portrait"], locale: str = "en-GB") -> Page:
        width, height = size
        page = browser.new_context(viewport={"width": width, "height": height}, locale=locale).new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda line: faults.append(line.text) if "Content Security" in line.text else None)
        page.add_init_script(HEARD)
        page.goto(table.address)
        page.set_default_timeout(1000 * WAIT_S)
        page.locator("#start").click()
        pages.append(page)
        return page

    yield opened
    for page in pages:
        page.context.close()
    assert faults == []


def comes(page: Page, expression: str) -> None:
    """Wait until an expression holds; the page's security policy forbids polling it within the page."""
    until = time.monotonic() + WAIT_S
    while not page.evaluate(expression):
        assert time.monotonic() < until, expression
        page.wait_for_timeout(20)


def what(page: Page, text: str) -> None:
    """Expect this status text on the panel."""
    expect(page.locator(".panel .what")).to_have_text(text, timeout=1000 * WAIT_S)


def test_it_shows_the_verdict_in_form_word_and_colour(
    panel_table: Callable[..., PanelTable], hold: Callable[..., Page]
) -> None:
    table = panel_table()
    page = hold(table)
    assert "code" not in page.url
    what(page, "Red to move")
    expect(page.locator(".lamps .lit")).to_have_text("Red")
    table.play("c3-d3")
    what(page, "Green to move")
    expect(page.locator(".said")).to_have_text("Red played c3-d3. Green to move.")
    expect(page.locator(".panel")).to_have_attribute("data-ground", "green")
    comes(page, "window.tones > 0")
    comes(page, "window.heard.length > 0")
    assert ["en", "Red played c3-d3. Green to move."] in page.evaluate("window.heard")
    assert page.evaluate("window.shaken") == []


def test_an_illegal_act_shakes_and_shows_the_way_back(
    panel_table: Callable[..., PanelTable], hold: Callable[..., Page]
) -> None:
    table = panel_table()
    page = hold(table)
    what(page, "Red to move")
    table.lay(c3="", d4="RR")
    what(page, "Put the board right")
    expect(page.locator(".sign use")).to_have_attribute("href", "/static/icon.svg#no")
    expect(page.locator(".panel")).to_have_attribute("data-ground", "red")
    expect(page.locator(".told .tiny svg")).to_be_visible()
    assert len(page.evaluate("window.shaken")) == 1
    table.restore()
    what(page, "Red to move")
    expect(page.locator(".told")).to_be_empty()


def test_german(panel_table: Callable[..., PanelTable], hold: Callable[..., Page]) -> None:
    table = panel_table("de")
    page = hold(table)
    what(page, "Rot ist am Zug")
    table.play("c3-d3")
    expect(page.locator(".said")).to_have_text("Rot hat c3-d3 gezogen. Grün ist am Zug.")
    assert page.evaluate("window.heard").pop()[0] == "de"
    expect(page.locator('[data-key="undo"]')).to_have_text("Zurücknehmen")


def test_the_buttons_are_those_of_the_panel(panel_table: Callable[..., PanelTable], hold: Callable[..., Page]) -> None:
    table = panel_table()
    page = hold(table)
    table.play("c3-d3")
    what(page, "Green to move")
    page.locator('[data-key="undo"]').click()
    assert table.said("corrected").by == "panel"
    table.restore()
    what(page, "Red to move")
    page.locator('[data-key="arbiter"]').click()
    expect(page.locator(".reply")).to_have_text("Hold the button for a second and a half.")
    page.locator('[data-key="arbiter"]').click(delay=1700)
    what(page, "Paused")
    page.locator('[data-key="done"]').click()
    expect(page.locator(".said")).to_contain_text("paused")
    page.locator('[data-key="arbiter"]').click(delay=1700)
    what(page, "Red to move")


def test_the_voices_own_files_are_heard_where_they_were_made(
    panel_table: Callable[..., PanelTable], hold: Callable[..., Page], tmp_path: Path
) -> None:
    table = panel_table(sounds=tmp_path / "voice")
    assert table.library is not None
    parts = clips("Red played c3-d3. Green to move.", language("en"))
    for part in parts:
        table.library.make(part)
    page = hold(table)
    what(page, "Red to move")
    table.play("c3-d3")
    expect(page.locator(".said")).to_contain_text("c3-d3")
    table.wait_for(lambda: page.evaluate("window.spoken.length") == len(parts))
    assert not any("played" in text for _, text in page.evaluate("window.heard"))


def test_it_turns_to_who_sits_opposite_and_falls_silent(
    panel_table: Callable[..., PanelTable], hold: Callable[..., Page]
) -> None:
    table = panel_table()
    page = hold(table)
    what(page, "Red to move")
    page.locator('[data-do="flip"]').click()
    expect(page.locator(".panel")).to_have_css("transform", "matrix(-1, 0, 0, -1, 0, 0)")
    page.locator('[data-do="sound"]').click()
    page.evaluate("window.heard = [], window.tones = 0")
    table.play("c3-d3")
    what(page, "Green to move")
    assert page.evaluate("[window.heard.length, window.tones]") == [0, 0]


@pytest.mark.parametrize("size", PLAY.values(), ids=PLAY)
def test_nothing_is_cut_off(
    panel_table: Callable[..., PanelTable], hold: Callable[..., Page], size: tuple[int, int]
) -> None:
    table = panel_table("de")
    page = hold(table, size)
    table.lay(c3="", d4="RR")
    what(page, "Bitte richtigstellen")
    width, height = size
    for part in (".sign", ".what", ".said", ".told", ".keys", ".lamps", ".corner"):
        box = page.locator(f".panel {part}").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["y"] >= 0
        assert box["x"] + box["width"] <= width + 1
        assert box["y"] + box["height"] <= height + 1
    for key in page.locator(".panel .keys button").all():
        assert key.evaluate("(key) => key.scrollWidth <= key.clientWidth"), key.text_content()


def test_a_question_is_answered_by_touching_the_move(
    panel_table: Callable[..., PanelTable], hold: Callable[..., Page]
) -> None:
    table = panel_table(start=OWN_FIVES)
    page = hold(table)
    table.lay(c5="")
    what(page, "Waiting for an answer")
    expect(page.locator('[data-key="undo"]')).to_have_text("None of these")
    expect(page.locator('[data-key="done"]')).to_be_disabled()
    expect(page.locator(".told svg .mark.moved")).to_have_count(4)
    page.locator(".told button", has_text="Red moved a piece from c5 to d5?").click()
    expect(page.locator(".said")).to_contain_text("played c5-d5")
    assert table.said("accepted").move == "c5-d5"  # type: ignore[attr-defined]


def test_none_of_the_moves(panel_table: Callable[..., PanelTable], hold: Callable[..., Page]) -> None:
    table = panel_table(start=OWN_FIVES)
    page = hold(table)
    table.lay(c5="")
    what(page, "Waiting for an answer")
    page.locator('[data-key="undo"]').click()
    table.wait_for(lambda: table.referee.snapshot.mode != "asking")
    assert not any(event.event == "accepted" for event in table.events)


@pytest.mark.soak
def test_a_connection_that_was_lost_comes_back_and_says_nothing_twice(
    panel_table: Callable[..., PanelTable], hold: Callable[..., Page]
) -> None:
    table = panel_table()
    page = hold(table)
    table.play("c3-d3")
    what(page, "Green to move")
    port = table.port
    table.routes.close()
    table.page.close()
    what(page, "no connection")
    table.feed._is_closed = table.routes._is_closed = False
    table.page = WebPage(("127.0.0.1", port), table.feed, token="secret", routes=table.routes.routes())
    what(page, "Green to move")
    table.play("c4-d4")
    expect(page.locator(".said")).to_contain_text("c4-d4")
    texts = [text for _, text in page.evaluate("window.heard")]
    assert len(texts) == len(set(texts))
