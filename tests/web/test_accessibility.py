"""Accessibility of every page by axe: dark on a phone in one language, light on a screen in another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from companion.events import GameOver, Start
from companion.games import available_games
from companion.phone.access import PhoneAccess
from companion.phone.camera_routes import PhoneCameraRoutes
from companion.records.page import page as match_page
from companion.web.feed import Feed
from companion.web.page import Page as WebPage
from companion.web.setup.cameras import DEVICE, PHONE, Cameras, Choice
from companion.web.setup.page import STEPS, SetupPage
from tests.hall.test_hub import match_events
from tests.hall.test_page import OpenRoom
from tests.phone.test_panel_browser import PanelTable
from tests.records.conftest import played
from tests.web.conftest import WAIT_S
from tests.web.test_archive import page as archived  # noqa: F401 - a fixture
from tests.web.test_setup import Bench
from tests.web.test_starting import START, match_requests
from tools.scripted_match import ScriptedMatch

PLIES = 14
LOOKS = (((390, 844), "dark"), ((1280, 900), "light"))

OF_A_LOOK = ["color-contrast", "target-size", "scrollable-region-focusable", "meta-viewport", "valid-lang"]
"""The rules that depend on colours, sizes and languages; the others check the structure, which is always the same."""

pytestmark = [pytest.mark.pictures, pytest.mark.slow]


def findings(page: Page) -> list[str]:
    """Return axe's findings for the page's current state, in each look, with the language switched in between."""
    found: list[str] = []
    page.evaluate(Axe().axe_script)
    for number, ((width, height), scheme) in enumerate(LOOKS):
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        page.evaluate("document.getElementById('language')?.click()")  # a dialog may lie over it
        which = {"runOnly": OF_A_LOOK} if number else {}
        told = page.evaluate("(which) => axe.run(document, which)", {"resultTypes": ["violations"], **which})
        for one in told["violations"]:
            places = ", ".join(str(node["target"]) + node["failureSummary"] for node in one["nodes"][:3])
            found.append(f"{width}x{height} {scheme}: {one['id']}: {places}")
    return found


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[[str], Page]]:
    """Return a function that opens a page, which is closed after the test."""
    pages: list[Page] = []

    def opened(url: str) -> Page:
        page = browser.new_page(locale="en-GB")
        page.set_default_timeout(1000 * WAIT_S)
        pages.append(page)
        page.goto(url)
        return page

    yield opened
    for page in pages:
        page.close()


STATES: dict[str, Callable[[ScriptedMatch], None]] = {
    "well": lambda _: None,
    "illegal": ScriptedMatch.play_illegal,
    "unfinished": ScriptedMatch.leave_unfinished,
    "setting up": ScriptedMatch.begin_setup,
    "unsure": ScriptedMatch.ask_question,
    "over": ScriptedMatch.end_by_ruling,
}


@pytest.mark.parametrize("state", STATES)
def test_the_page_of_a_table(state: str, visit: Callable[[str], Page]) -> None:
    scripted = ScriptedMatch("domination")
    for _ in range(PLIES):
        scripted.play()
    STATES[state](scripted)
    page = visit(f"{scripted.page.server.url}#token={scripted.page.token}")
    expect(page.locator("#board .square")).to_have_count(52)
    page.locator("#history summary").click()
    page.locator("#camera").evaluate("(camera) => { camera.open = true; }")
    assert findings(page) == []
    scripted.page.close()


def test_the_dialogs_of_the_arbiter(visit: Callable[[str], Page]) -> None:
    scripted = ScriptedMatch("cheight")
    page = visit(scripted.page.server.url)
    page.locator("#unlock").click()
    assert findings(page) == []
    page.goto(f"{scripted.page.server.url}#token={scripted.page.token}")
    page.reload()
    page.locator("#set-position").click()
    expect(page.locator("#palette button").first).to_be_visible()
    assert findings(page) == []
    page.locator("#leave").click()
    page.locator("#end").click()
    assert findings(page) == []
    scripted.page.close()


def test_the_form_of_a_new_match(visit: Callable[[str], Page]) -> None:
    feed = Feed(START)
    feed.rest()
    served = WebPage(("127.0.0.1", 0), feed, token="secret", starter=match_requests())
    page = visit(f"{served.server.url}#token=secret")
    page.locator("#new").click()
    expect(page.locator("#people input")).to_have_count(2)
    page.locator("#game").select_option("domination/3")
    assert findings(page) == []
    served.close()


def test_the_list_of_kept_matches(archived: Any, visit: Callable[[str], Page]) -> None:  # noqa: F811
    page = visit(f"{archived.server.url}#token=secret")
    page.locator("#kept").click()
    expect(page.locator("#archive li")).to_have_count(1)
    assert findings(page) == []


def test_the_replay_of_a_match(tmp_path: Path, visit: Callable[[str], Page]) -> None:
    file = tmp_path / "m.html"
    file.write_text(match_page("A match", played("diamond", plies=9), {}), encoding="utf-8")
    page = visit(file.as_uri())
    expect(page.locator("#board .square")).to_have_count(25)
    page.locator("#moves button", has_text="Not allowed").click()
    assert findings(page) == []


def test_the_page_of_a_hall_and_its_form(tmp_path: Path, visit: Callable[[str], Page]) -> None:
    room = OpenRoom(tmp_path / "hall.db")
    position = match_events(3)[-1].position  # type: ignore[attr-defined]
    room.hear(GameOver(t=9.0, n=5, winner="R", rule="arbiter", position=position), table="Table-2")
    page = visit(f"http://127.0.0.1:{room.port}/#token={room.page.token}")
    expect(page.locator(".tables .square").first).to_be_visible()
    assert findings(page) == []
    page.locator("#arrange").click()
    expect(page.locator("#pairs li")).to_have_count(2)
    assert findings(page) == []
    room.page.close()
    room.store.close()


def test_an_empty_hall(tmp_path: Path, visit: Callable[[str], Page]) -> None:
    room = OpenRoom(tmp_path / "hall.db")
    room.hub.seats.clear()
    page = visit(f"http://127.0.0.1:{room.port}/")
    expect(page.locator("#none")).to_be_visible()
    assert findings(page) == []
    room.page.close()
    room.store.close()


def test_every_step_of_the_set_up(tmp_path: Path, visit: Callable[[str], Page]) -> None:
    bench = Bench(tmp_path, cameras=Cameras(lambda: (Choice(DEVICE, "0"),)))
    bench.session.chosen = Choice(PHONE)
    served = SetupPage(("127.0.0.1", 0), bench.session, token="secret")
    page = visit(f"{served.server.url}setup#token=secret")
    expect(page.locator(".steps button")).to_have_count(len(STEPS))
    expect(page.locator("#cameras figure")).to_be_visible()
    for i in range(len(STEPS)):
        page.locator(".steps button").nth(i).click()
        expect(page.locator(".steps button").nth(i)).to_have_attribute("aria-current", "step")
        assert findings(page) == []
    bench.session.is_own = True
    page.locator(".steps button", has_text="Start").click()
    expect(page.get_by_label("Diameter, mm")).to_have_value("27")
    assert findings(page) == []
    served.close()
    bench.session.close()


def test_a_step_of_the_set_up_keeps_the_focus_while_answers_come(tmp_path: Path, visit: Callable[[str], Page]) -> None:
    """A press while an answer arrives is not lost either, because the button element stays the same."""
    bench = Bench(tmp_path)
    served = SetupPage(("127.0.0.1", 0), bench.session, token="secret")
    page = visit(f"{served.server.url}setup#token=secret")
    step = page.locator(".steps button").nth(1)
    step.click()
    expect(step).to_have_attribute("aria-current", "step")
    for number in range(4):
        with page.expect_response("**/setup/state?step=mat"):
            pass
        if number == 1:  # the first answers mark finished steps
            step.focus()
    expect(step).to_be_focused()
    served.close()
    bench.session.close()


def test_the_page_of_a_phone(visit: Callable[[str], Page]) -> None:
    phone_cameras = PhoneCameraRoutes([PhoneAccess("secret")], lambda: "token")
    feed = Feed(START)
    feed(Start(t=0.0, n=1, position=START))
    served = WebPage(("127.0.0.1", 0), feed, token="token", routes=phone_cameras.routes())
    page = visit(f"{served.server.url}eye#code=secret")
    expect(page.locator("#start")).to_be_visible()
    assert findings(page) == []
    served.close()


def test_a_phone_as_panel(visit: Callable[[str], Page]) -> None:
    table = PanelTable()
    page = visit(table.address)
    assert findings(page) == []
    page.locator("#start").click()
    expect(page.locator(".lamps .lit")).to_have_count(1)
    page.wait_for_function("document.fullscreenElement !== null")  # it is asked for, and comes later
    page.evaluate("document.exitFullscreen()")  # a page in full screen has no other size
    assert findings(page) == []
    table.lay(c3="", d4="RR")
    expect(page.locator(".panel")).to_have_attribute("data-ground", "red", timeout=1000 * WAIT_S)
    assert findings(page) == []
    table.close()


CONTRASTS = """() => {
    const light = (colour) => {
        const pen = document.createElement("canvas").getContext("2d");
        pen.fillStyle = colour;
        pen.fillRect(0, 0, 1, 1);
        const [red, green, blue] = [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3).map((value) => value / 255)
            .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const next = document.querySelector(".players .next"), style = getComputedStyle(next);
    const [dark, bright] = [style.backgroundColor, style.borderTopColor].map(light).sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
}"""
"""Contrast between the frame that marks the turn and its inside (WCAG 2.1: 3 at least)."""


@pytest.mark.parametrize("name", [info.name for info in available_games()])
def test_whose_turn_it_is_is_seen_by_the_frame(name: str, visit: Callable[[str], Page]) -> None:
    scripted = ScriptedMatch(name)
    page = visit(scripted.page.server.url)
    for n in range(2):
        expect(page.locator("#moves li")).to_have_count(n + 1)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
            assert page.evaluate(CONTRASTS) >= 3
        scripted.play()
    scripted.page.close()
