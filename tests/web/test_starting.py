"""Starting matches on the page: permitted requests, authorisation, and results."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from companion.app.match_requests import MatchRequestQueue
from companion.errors import CompanionError
from companion.referee.clock import TimeControl
from companion.web.feed import Feed
from companion.web.page import Page
from companion.web.starting import ContinueMatch, NewMatch, Playable, Unfinished
from tests.web.conftest import WAIT_S, Client, WebTable
from tests.web.test_command import NOTICE

START = "domination 4/R,R,G,G,R,R/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/G,G,R,R,G,G/4 R"
LEFT = Unfinished(7, "citadel", ("Cy", "Di"), "2026-11-21T19:30:00+00:00", 12)


def match_requests() -> MatchRequestQueue:
    """Return a request queue with two games, a preset match, and one unfinished match."""
    games = Playable("domination", is_learned=True), Playable("domination/3", is_learned=False)
    return MatchRequestQueue(games, NewMatch("domination", ("Ann", "Bo"), TimeControl(600, 5)), lambda: (LEFT,))


@pytest.fixture
def waiting() -> Iterator[tuple[Page, MatchRequestQueue]]:
    """Return the page of a table without a match, and its request queue."""
    feed, starter = Feed(START), match_requests()
    feed.rest()
    page = Page(("127.0.0.1", 0), feed, token="secret", starter=starter)
    yield page, starter
    page.close()


def test_a_page_without_a_match_says_so(waiting: tuple[Page, MatchRequestQueue]) -> None:
    client = Client(waiting[0].server.port)
    state = client.state()
    assert (state["mode"], state["n"], state["turns"]) == ("idle", 0, [])
    assert client.order("pause") == (409, {"error": "no match is being played; start one"})


def test_only_who_has_the_token_starts_matches(waiting: tuple[Page, MatchRequestQueue]) -> None:
    page, starter = waiting
    client = Client(page.server.port)
    assert client.ask("GET", "/start")[0] == 401
    assert client.order("start", "wrong", game="domination")[0] == 401
    assert client.order("go-on", "wrong", match=7)[0] == 401
    assert not starter.has_request


@pytest.mark.parametrize(
    ("action", "fields", "why"),
    [
        ("start", {"game": "chess"}, "cannot be played at this table"),
        ("start", {}, "cannot be played at this table"),
        ("start", {"game": "domination", "names": {"X": "Ann"}}, "names"),
        ("start", {"game": "domination", "names": {"R": "A\nB"}}, "names"),
        ("start", {"game": "domination", "names": {"R": 5}}, "names"),
        ("start", {"game": "domination", "clock": "soon"}, "is no time control"),
        ("start", {"game": "domination", "confirm": "yes"}, "confirm"),
        ("start", {"game": "domination", "leave": 1}, "leave"),
        ("start", {"game": "domination", "colour": "red"}, "unknown field 'colour'"),
        ("go-on", {"match": "7"}, "number of a kept match"),
        ("go-on", {"match": -1}, "number of a kept match"),
        ("go-on", {"match": 99}, "there is no match 99 that can go on"),
    ],
)
def test_what_cannot_be_started_is_refused(
    waiting: tuple[Page, MatchRequestQueue], action: str, fields: dict[str, Any], why: str
) -> None:
    status, row = Client(waiting[0].server.port).order(action, **fields)
    assert status == 400
    assert why in row["error"]
    assert not waiting[1].has_request


def test_what_the_table_cannot_begin_is_told(
    waiting: tuple[Page, MatchRequestQueue], answering: Callable[..., None]
) -> None:
    page, starter = waiting
    answering(starter, CompanionError("the camera is in use"))
    assert Client(page.server.port).order("start", game="domination") == (400, {"error": "the camera is in use"})


def test_a_match_that_is_going_on_is_left_only_if_one_says_so(
    table: WebTable, client: Client, answering: Callable[..., list[Any]]
) -> None:
    starter = match_requests()
    table.page._starter = starter
    asked = answering(starter, None)
    table.play("c3-d3")
    table.wait_for(lambda: client.state()["turns"])
    status, row = client.order("start", game="domination/3")
    assert status == 409
    assert "a match is going on" in row["error"]
    assert client.order("go-on", match=7, leave=True)[0] == 200
    assert asked == [ContinueMatch(7)]


@pytest.fixture
def answering() -> Iterator[Callable[..., list[Any]]]:
    """Return a function that answers one queued request: begun, or refused with an error.

    It returns a list that receives what was asked for.
    """
    threads = list[Thread]()

    def answer(starter: MatchRequestQueue, error: Exception | None) -> list[Any]:
        found = list[Any]()

        def run() -> None:
            asked = starter.take(WAIT_S)
            assert asked is not None
            found.append(asked.wanted)
            asked.begun() if error is None else asked.refuse(error)

        threads.append(Thread(target=run))
        threads[-1].start()
        return found

    yield answer
    for thread in threads:
        thread.join()


def test_another_match_begins_on_the_same_stream(waiting: tuple[Page, MatchRequestQueue]) -> None:
    page, _ = waiting
    connection = http.client.HTTPConnection("127.0.0.1", page.server.port, timeout=WAIT_S)
    connection.request("GET", "/events?with=state")
    answer = connection.getresponse()
    feed = page._feed
    first = next_state(answer)
    assert (first["match"], first["mode"]) == (feed.page_state.match, "idle")
    feed.begin(START, people=("Ann", "Bo"))
    second = next_state(answer)
    assert second["match"] not in ("", first["match"])
    assert [player["names"]["de"] for player in second["game"]["players"]] == ["Ann", "Bo"]
    connection.close()


def next_state(answer: http.client.HTTPResponse) -> dict[str, Any]:
    """Return the next state from a stream."""
    while answer.readline() != b"event: state\n":
        pass
    row: dict[str, Any] = json.loads(answer.readline().removeprefix(b"data: "))
    return row


def test_the_form_starts_a_match(
    waiting: tuple[Page, MatchRequestQueue], browser: Browser, answering: Callable[..., list[Any]]
) -> None:
    served, starter = waiting
    asked = answering(starter, None)
    page = browser.new_page(locale="en-GB")
    page.goto(f"{served.server.url}#token=secret")
    expect(page.locator("#said")).to_have_text("No match is being played.")
    page.locator("#camera").evaluate("(camera) => { camera.open = true; }")
    expect(page.locator("#camera p")).to_have_text("There is no picture.")
    expect(page.locator("#picture")).to_be_hidden()
    page.locator("#new").click()
    expect(page.locator("#people input").first).to_have_value("Ann")
    expect(page.locator("#clock")).to_have_value("10m+5s")
    expect(page.locator("#unfinished li")).to_contain_text("Cy – Di")
    page.locator("#game").select_option("domination/3")
    expect(page.locator("#people input")).to_have_count(3)
    expect(page.locator("#unlearned")).to_be_visible()
    page.locator("#people input").nth(2).fill("Flo")
    page.locator("#confirm").check()
    page.locator('#starting button[value="ok"]').click()
    expect(page.locator("#starting")).to_be_hidden()
    assert asked == [NewMatch("domination/3", ("", "", "Flo"), TimeControl(600, 5), confirms=True)]
    page.close()


def test_spectators_see_no_form(waiting: tuple[Page, MatchRequestQueue], browser: Browser) -> None:
    page = browser.new_page(locale="de-DE")
    page.goto(waiting[0].server.url)
    expect(page.locator("#said")).to_have_text("Es wird keine Partie gespielt.")
    expect(page.locator("#new")).to_be_hidden()
    page.close()


@pytest.mark.soak
def test_a_table_plays_one_match_after_the_other(tmp_path: Path, started: Callable[..., subprocess.Popen[str]]) -> None:
    command = [sys.executable, "-m", "companion.cli", "referee", "domination", "--simulate", "--wait", "--json"]
    process = started(
        [*command, "--web", "127.0.0.1:0", "--match", str(tmp_path / "m.db")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    found = NOTICE.search(process.stderr.readline())
    assert found is not None
    client, token = Client(int(found[1])), found[2]
    assert client.state()["mode"] == "idle"
    assert client.order("start", token, game="domination/3")[0] == 200  # left at once, before a picture was read
    names = {"R": "Ann", "G": "Bo"}
    assert client.order("start", token, game="domination", names=names, clock="5m")[0] == 200
    wait_until(lambda: client.state()["game"]["tag"] == "domination" and client.state()["turns"])
    assert client.order("start", token, game="citadel")[0] == 409
    assert client.order("start", token, game="citadel", leave=True)[0] == 200
    wait_until(lambda: client.state()["game"]["tag"] == "citadel")
    assert client.order("go-on", token, match=2, leave=True)[0] == 200
    wait_until(lambda: client.state()["game"]["tag"] == "domination")
    state = client.state()
    assert [player["names"]["en"] for player in state["game"]["players"]] == ["Ann", "Bo"]
    assert state["turns"]
    status, row = client.order("go-on", token, match=99, leave=True)
    assert status == 400
    assert "no match 99" in row["error"]


def wait_until(what: Callable[[], object]) -> None:
    """Wait until the condition holds."""
    until = time.monotonic() + WAIT_S
    while not what():
        assert time.monotonic() < until
        time.sleep(0.05)
