"""Stored matches on the page: access, and every output format."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from companion.commands.options.archive import archive_of
from companion.events import Accepted, GameOver, Start
from companion.recorder.store import MatchInfo, Store
from companion.web.archive import FORMS
from companion.web.feed import Feed
from companion.web.page import Page
from tests.web.conftest import WAIT_S, Client

BEFORE = "domination 4/6/8/8/2,G,5/2,R,5/6/4 R"
AFTER = "domination 4/6/8/8/2,GR,5/8/6/4 -"
KNOWN = {"Authorization": "Bearer secret"}


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    """Return a page with a store that holds one match."""
    path = tmp_path / "m.db"
    begun = datetime(2026, 11, 21, 19, 30, tzinfo=UTC)
    with Store.open(path) as store:
        match = store.begin(MatchInfo("domination", ("R", "G"), BEFORE, begun, "domination", ("Ann", "Bo")))
        store.append(match, Start(t=0.0, n=1, position=BEFORE))
        store.append(match, Accepted(t=2.5, n=2, player="R", move="c3-c4", position=AFTER))
        store.append(match, GameOver(t=2.5, n=3, winner="R", rule="DOM-8", position=AFTER))
    feed = Feed(BEFORE)
    feed.rest()
    served = Page(("127.0.0.1", 0), feed, token="secret", archive=archive_of(path))
    yield served
    served.close()


def test_only_who_has_the_token_sees_kept_matches(page: Page) -> None:
    client = Client(page.server.port)
    assert client.ask("GET", "/matches")[0] == 401
    assert client.ask("GET", "/matches/1.txt")[0] == 401


def test_a_page_without_a_store_has_none(stranger: Client) -> None:
    assert stranger.ask("GET", "/matches", None, KNOWN)[0] == 404


@pytest.mark.parametrize(("form", "begins"), [("txt", b"[Game"), ("json", b"{\n"), ("svg", b"<svg")])
def test_a_match_is_handed_out(page: Page, form: str, begins: bytes) -> None:
    status, headers, data = Client(page.server.port).ask("GET", f"/matches/1.{form}", None, KNOWN)
    assert (status, headers["content-type"].partition(";")[0]) == (200, FORMS[form])
    assert headers["content-disposition"] == f'attachment; filename="match-1.{form}"'
    assert data.startswith(begins)


def test_what_is_not_there_is_one_line(page: Page) -> None:
    client = Client(page.server.port)
    for path in ("/matches/1.exe", "/matches/x.txt", f"/matches/{'9' * 5000}.txt"):
        assert client.ask("GET", path, None, KNOWN)[0] == 404
    status, _, data = client.ask("GET", "/matches/9.txt", None, KNOWN)
    assert status == 400
    assert b"holds matches 1 to 1 and no '9'" in data
    assert b"companion export" not in data


def test_a_match_is_taken_from_the_page(page: Page, browser: Browser) -> None:
    shown = browser.new_page(locale="en-GB")
    shown.set_default_timeout(1000 * WAIT_S)
    shown.goto(f"{page.server.url}#token=secret")
    shown.locator("#kept").click()
    expect(shown.locator("#archive li")).to_contain_text("1. Domination (Focus) · Ann – Bo")
    expect(shown.locator("#archive li")).to_contain_text("1 move · Ann won")
    with shown.expect_download() as told:
        shown.get_by_role("button", name="1: txt").click()
    assert told.value.suggested_filename == "match-1.txt"
    assert "c3-c4" in told.value.path().read_text(encoding="utf-8")
    shown.close()


def test_a_match_is_replayed_at_the_table(page: Page, browser: Browser) -> None:
    shown = browser.new_page(locale="en-GB")
    shown.set_default_timeout(1000 * WAIT_S)
    shown.goto(f"{page.server.url}#token=secret")
    shown.locator("#kept").click()
    shown.get_by_role("link", name="Replay: 1").click()
    expect(shown.locator("#title")).to_have_text("Domination (Focus): Ann – Bo", timeout=1000 * WAIT_S)
    shown.keyboard.press("ArrowRight")
    expect(shown.locator("#moves [aria-current]")).to_contain_text("c3-c4")
    shown.keyboard.press("End")
    expect(shown.locator(".players .winner")).to_contain_text("Ann")
    shown.get_by_role("link", name="To the table").click()
    expect(shown.locator("#said")).to_have_text("No match is being played.")
    shown.close()


def test_who_has_no_token_is_told_so(page: Page, browser: Browser) -> None:
    shown = browser.new_page(locale="en-GB")
    shown.goto(f"{page.server.url}replay?match=1")
    expect(shown.locator("#said")).to_have_text("This token is not right.")
    shown.close()
