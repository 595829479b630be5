"""The web page of a hall."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from companion.cli import main
from companion.events import GameOver
from companion.hall.page import HallPage
from companion.hall.tournament import Tournament
from tests.hall.test_hub import Room, match_events
from tests.web.conftest import Client
from tests.web.test_page import read_events


class OpenRoom(Room):
    """A hub with its page and two playing tables."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.page = HallPage(("127.0.0.1", 0), self.hub, Tournament(path.with_name("rounds.txt")))
        for table in ("Table-2", "Table-10"):
            self.online(table=table)
        self.hear(*match_events(3), table="Table-2")

    @property
    def port(self) -> int:
        return self.page.server.port


@pytest.fixture
def room(tmp_path: Path) -> Iterator[OpenRoom]:
    room = OpenRoom(tmp_path / "hall.db")
    yield room
    room.page.close()
    room.store.close()


def test_a_table_has_a_code_for_phones_and_results_are_a_table(room: OpenRoom) -> None:
    client = Client(room.port)
    status, headers, picture = client.ask("GET", "/table/Table-2/qr.svg")
    assert (status, headers["content-type"]) == (200, "image/svg+xml")
    assert picture.startswith(b"<svg")
    assert json.loads(client.ask("GET", "/results")[2]) == {"rounds": [], "scores": []}
    position = match_events(3)[-1].position  # type: ignore[attr-defined]
    room.hear(GameOver(t=9.0, n=5, winner="R", rule="arbiter", position=position), table="Table-2")
    results = json.loads(client.ask("GET", "/results")[2])
    assert [match["points"] for match in results["rounds"][0]["matches"]] == [[1.0, 0.0]]
    lines = client.ask("GET", "/results.csv")[2].decode().splitlines()
    assert lines[0] == "round,table,player,points"
    assert [line.split(",")[1::2] for line in lines[1:]] == [["Table-2", "1"], ["Table-2", "0"]]


def test_the_results_of_a_hall_are_exported(room: OpenRoom, tmp_path: Path) -> None:
    position = match_events(3)[-1].position  # type: ignore[attr-defined]
    room.hear(GameOver(t=9.0, n=5, winner="R", rule="arbiter", position=position), table="Table-2")
    rounds = tmp_path / "rounds.txt"
    rounds.write_text("# Round 1\nTable-2: Ann - Bob\nTable-10: Cy - Di\n", encoding="utf-8")
    words = ["export", "--hall", "--store", str(room.store.path), "--rounds", str(rounds), "-o"]
    assert main([*words, str(tmp_path / "r.csv")]) == 0
    assert (tmp_path / "r.csv").read_text(encoding="utf-8").splitlines() == [
        "round,table,player,points",
        "Round 1,Table-2,Ann,1",
        "Round 1,Table-2,Bob,0",
        "Round 1,Table-10,Cy,",
        "Round 1,Table-10,Di,",
    ]
    assert main([*words, str(tmp_path / "r.txt")]) == 2
    rounds.write_text("Table-2: Ann - Bob\n", encoding="utf-8")
    assert main([*words, str(tmp_path / "r.csv")]) == 2


def test_each_table_has_its_addresses(room: OpenRoom) -> None:
    client = Client(room.port)
    assert json.loads(client.ask("GET", "/table/Table-2/state")[2])["turns"][2]["n"] == 4
    assert json.loads(client.ask("GET", "/table/Table-2/board/4")[2])["position"] == match_events(3)[-1].position  # type: ignore[attr-defined]
    assert [n for n, _ in read_events(room.port, 4, path="/table/Table-2/events")] == [1, 2, 3, 4]
    assert b"table.js" in client.ask("GET", "/table/Table-2/")[2]
    for path in ("/table/Table-3/state", "/table/Table-3/events", "/table/Table-2/board/77"):
        assert client.ask("GET", path)[0] == 404
    assert client.ask("POST", "/table/Table-2/state")[0] == 405
    assert client.ask("POST", "/arbiter/pause")[0] == 404


def test_a_hall_is_watched_in_a_browser(room: OpenRoom, browser: Browser) -> None:
    page = browser.new_page(locale="en-GB")
    page.goto(f"http://127.0.0.1:{room.port}/")
    expect(page.locator(".tables strong")).to_have_text(["Table-2", "Table-10"])
    room.hear(*match_events(4)[4:], table="Table-2")
    last = match_events(4)[-1]
    expect(page.locator("#table-Table-2 .word")).to_contain_text(f"played {last.move}")  # type: ignore[attr-defined]
    expect(page.locator("#table-Table-2 .square")).to_have_count(52)
    room.online(None, table="Table-10")
    expect(page.locator("#table-Table-10 small")).to_contain_text("away")
    page.locator("#table-Table-2 a").click()
    expect(page.locator("#moves button")).to_have_count(5)
    expect(page.locator("#unlock")).to_be_hidden()
    page.locator("#hall").click()
    expect(page.locator(".tables li[id]")).to_have_count(2)
    page.close()


def test_only_who_has_the_token_arranges_rounds(room: OpenRoom) -> None:
    client, headers = Client(room.port), {"Content-Type": "application/json"}
    body = {"title": "Round 1", "matches": [{"table": "Table-2", "names": ["Ann", "Bob"]}]}
    assert client.ask("POST", "/rounds/0", json.dumps(body), headers)[0] == 401
    known = {**headers, "Authorization": f"Bearer {room.page.token}"}
    assert client.ask("POST", "/rounds/0", json.dumps(body), {**known, "Origin": "http://elsewhere"})[0] == 403
    assert client.ask("POST", "/rounds/1", json.dumps(body), known)[0] == 400
    assert client.ask("POST", f"/rounds/{'9' * 5000}", json.dumps(body), known)[0] == 404
    assert client.ask("POST", "/rounds/0", json.dumps({**body, "title": " "}), known)[0] == 400
    assert json.loads(client.ask("GET", "/rounds")[2]) == {"rounds": []}
    assert client.ask("POST", "/rounds/0", json.dumps(body), known)[0] == 200
    assert json.loads(client.ask("GET", "/rounds")[2]) == {"rounds": [body]}


def test_a_round_is_arranged_on_the_page_and_fills_in_by_itself(room: OpenRoom, browser: Browser) -> None:
    page = browser.new_page(locale="en-GB", viewport={"width": 1280, "height": 900})
    spectator = browser.new_page(locale="en-GB")
    spectator.goto(f"http://127.0.0.1:{room.port}/")
    expect(spectator.locator(".tables strong")).to_have_count(2)
    expect(spectator.locator("#arrange")).to_be_hidden()
    page.goto(f"http://127.0.0.1:{room.port}/#token={room.page.token}")
    expect(page.locator(".tables strong")).to_have_count(2)
    page.locator("#arrange").click()
    expect(page.locator("#pairs li")).to_have_count(2)
    lines = page.locator("#pairs li")
    assert lines.first.locator(".seats span").all_inner_texts() == ["Red", "Green"]
    lines.first.locator(".seats input").nth(0).fill("Bob")
    lines.first.locator(".seats input").nth(1).fill("Ann")
    lines.first.get_by_role("button", name="Swap colours").click()
    lines.nth(1).get_by_role("button", name="Remove this match").click()
    page.locator('#arranging button[value="ok"]').click()
    expect(page.locator("#arranging")).to_be_hidden()
    for seen in (page, spectator):
        expect(seen.locator("#rounds li")).to_contain_text("Ann – Bob")
    position = match_events(3)[-1].position  # type: ignore[attr-defined]
    room.hear(GameOver(t=9.0, n=5, winner="R", rule="arbiter", position=position), table="Table-2")
    expect(spectator.locator("#rounds li")).to_contain_text("1 : 0")
    page.locator("#arrange").click()
    page.locator("#round").select_option("Round 1")
    page.locator("#remove-round").click()
    expect(spectator.locator("#rounds h3")).to_have_text("Finished")
    page.close()
    spectator.close()
