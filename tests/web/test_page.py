"""The page's URLs, requested over real connections."""

from __future__ import annotations

import http.client
import json
import re
import socket
import subprocess
import sys
from collections.abc import Callable

import pytest

from companion.errors import BadText, CompanionError
from companion.games import available_games, load_game
from companion.rules.notation import format_position
from companion.web.actions import ACTIONS
from companion.web.address import parse_address
from companion.web.guard import LARGEST_BODY
from companion.web.server import Server
from tests.web.conftest import PICTURE, WAIT_S, Client, WebTable

JSON = {"Content-Type": "application/json", "Authorization": "Bearer secret"}
PAGE_BYTES = 150_000

OWN_FIVES = "domination 4/6/8/1,GGGGR,R,GGGGR,1,G,2/8/8/6/4 R"
"""Red's single piece may go onto either of two towers of five, which look the same afterwards."""


def read_events(port: int, count: int, after: int | None = None, path: str = "/events") -> list[tuple[int, dict]]:  # type: ignore[type-arg]
    """Return the ids and data of the first messages of a stream."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
    connection.request("GET", path, headers={} if after is None else {"Last-Event-ID": str(after)})
    answer, messages, n = connection.getresponse(), [], 0
    assert answer.getheader("content-type", "").startswith("text/event-stream")
    while len(messages) < count:
        line = answer.readline().decode()
        if line.startswith("id: "):
            n = int(line[4:])
        elif line.startswith("data: "):
            messages.append((n, json.loads(line[6:])))
    connection.close()
    return messages


def test_the_stream_tells_the_match_from_its_start_and_goes_on(table: WebTable) -> None:
    table.play("c3-d3")
    (one, start), (two, accepted) = read_events(table.port, 2)
    assert (one, start["event"], two, accepted["event"]) == (1, "start", 2, "accepted")
    assert accepted == {
        "event": "accepted",
        "t": accepted["t"],
        "n": 2,
        "player": "R",
        "move": "c3-d3",
        "position": format_position(table.game, table.referee.match.position),
    }


def test_a_stream_goes_on_after_the_last_event_that_is_known(table: WebTable) -> None:
    table.play("c3-d3")
    table.play("c4-d4")
    assert [n for n, _ in read_events(table.port, 1, after=2)] == [3]


@pytest.mark.parametrize("after", ["99", "-1", "x", "9" * 400, "٣"])
def test_a_number_that_means_nothing_here_gives_the_whole_match(stranger: Client, after: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", stranger.port, timeout=WAIT_S)
    connection.request("GET", "/events", headers={"Last-Event-ID": after.encode().decode("latin-1")})
    lines = [connection.getresponse().readline() for _ in range(1)]
    connection.close()
    assert lines == [b"retry: 1000\n"]
    assert read_events(stranger.port, 1, after=99)[0][0] == 1


def test_the_state_is_whole(table: WebTable, client: Client) -> None:
    table.play("c3-d3")
    state = table.wait_for(lambda: (row := client.state())["to_move"] == "G" and row)
    assert state["position"] == format_position(table.game, table.referee.match.position)
    assert (state["mode"], state["n"], state["view"]) == ("watching", 2, "clear")
    assert [(turn["player"], turn["move"]) for turn in state["turns"]] == [("R", "c3-d3")]
    assert state["log"][-1]["texts"]["de"].startswith("Rot hat c3-d3 gezogen")


def test_an_illegal_move_is_told_with_its_rules_in_words(table: WebTable, client: Client) -> None:
    table.lay(c3="", c5="RR")
    table.said("illegal")
    state = table.wait_for(lambda: (row := client.state())["mode"] == "restoring" and row)
    said = state["log"][-1]
    assert said["event"] == "illegal"
    assert [rule["id"] for rule in said["rules"]] == ["DOM-5"]
    assert said["rules"][0]["text"]
    assert set(state["wrong"]) == {"c3", "c5"}


def test_boards_can_be_leafed_through(table: WebTable, client: Client) -> None:
    table.play("c3-d3")
    start, first = (json.loads(client.ask("GET", f"/board/{n}")[2]) for n in (1, 2))
    assert start["squares"]["c3"]["stack"] == "R"
    assert (first["squares"]["c3"]["stack"], first["squares"]["d3"]["stack"]) == ("", "GR")
    assert first["moved"] == ["c3", "d3"]
    assert 'data-cell="d3"' in first["svg"]
    assert client.ask("GET", "/board/77")[0] == 404


@pytest.mark.parametrize("info", available_games(), ids=lambda info: info.name)
def test_every_game_has_a_page(open_table: Callable[..., WebTable], info: object) -> None:
    tag = info.tags[-1]  # type: ignore[attr-defined]
    table = open_table(tag)
    client = Client(table.port)
    state = client.state()
    assert [player["letter"] for player in state["game"]["players"]] == list(load_game(tag).players)
    assert all(player["names"]["de"] for player in state["game"]["players"])
    cells = [cell for rank in state["game"]["ranks"] for cell in rank]
    assert sorted(cells) == sorted(json.loads(client.ask("GET", "/board/1")[2])["squares"])


def test_the_camera_is_shown(stranger: Client) -> None:
    status, headers, data = stranger.ask("GET", "/camera.jpg")
    assert (status, headers["content-type"], data) == (200, "image/jpeg", PICTURE)


def test_the_page_is_small_and_brings_nothing_from_elsewhere(stranger: Client) -> None:
    status, headers, data = stranger.ask("GET", "/")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "default-src 'none'" in headers["content-security-policy"]
    bodies, wanted = {"": data}, [data]
    while wanted:  # each file names others
        for name in re.findall(rb"/static/([\w.]+)", wanted.pop()):
            if name not in bodies and not name.startswith(b"three."):  # which is loaded only for three dimensions
                bodies[name] = stranger.ask("GET", f"/static/{name.decode()}")[2]
                wanted.append(bodies[name])
    assert {b"space.js", b"words.js", b"icon.svg"} < bodies.keys()
    assert all(b"://" not in body.replace(b"http://www.w3.org/", b"") for body in bodies.values())
    assert sum(map(len, bodies.values())) < PAGE_BYTES


@pytest.mark.parametrize("module", ["companion.web.page", "companion.hall.page"])
def test_a_server_of_boards_loads_nothing_that_sees(module: str) -> None:
    heavy = ("cv2", "numpy", "numba", "cryptography")
    told = f"import sys, {module}; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_files_come_packed_and_only_once(stranger: Client) -> None:
    _, plain, data = stranger.ask("GET", "/static/style.css")
    _, packed, small = stranger.ask("GET", "/static/style.css", headers={"Accept-Encoding": "gzip"})
    assert packed["content-encoding"] == "gzip"
    assert len(small) < len(data) / 2
    assert stranger.ask("GET", "/static/style.css", headers={"If-None-Match": plain["etag"]})[0] == 304


def test_the_arbiter_takes_back_pauses_and_ends(table: WebTable, client: Client) -> None:
    table.play("c3-d3")
    status, answer = client.order("take-back", by="Ann")
    assert (status, answer["events"][0]["event"], answer["events"][0]["by"]) == (200, "corrected", "Ann")
    assert client.order("pause")[0] == 200
    table.wait_for(lambda: client.state()["mode"] == "paused")
    assert client.order("pause")[0] == 409
    assert client.order("resume")[0] == 200
    assert client.order("end", winner="R")[1]["events"][0] == {
        "event": "game-over",
        "t": table.events[-1].t,
        "n": table.events[-1].n,
        "winner": "R",
        "rule": "arbiter",
        "position": format_position(table.game, table.game.start()),
    }


def test_the_arbiter_sets_the_position_and_accepts_a_move(table: WebTable, client: Client) -> None:
    game = table.game
    other = format_position(game, game.play(game.start(), game.legal_moves(game.start())[3]))
    assert client.order("set-position", position=other)[1]["events"][0]["position"] == other
    assert client.order("accept", move="c4-d4")[1]["events"][0]["move"] == "c4-d4"


def test_the_arbiter_overrules_an_accusation(table: WebTable, client: Client) -> None:
    assert client.order("reject")[0] == 409
    table.lay(c3="", c5="RR")
    table.said("illegal")
    assert client.order("reject")[1]["events"][0]["event"] == "corrected"


def test_a_question_is_answered(open_table: Callable[..., WebTable]) -> None:
    table = open_table("domination", OWN_FIVES)
    client = Client(table.port)
    table.wait_for(lambda: table.referee.snapshot.mode == "watching")
    table.lay(c5="")
    table.said("unsure")
    state = table.wait_for(lambda: (row := client.state())["mode"] == "asking" and row)
    assert set(state["options"]) == {"c5-b5", "c5-d5"}
    assert client.order("answer", option="c5-c6")[0] == 409
    assert client.order("answer", option="c5-d5")[1]["events"][0]["move"] == "c5-d5"


@pytest.mark.parametrize("action", ACTIONS)
def test_without_the_token_nothing_is_done(still: WebTable, stranger: Client, action: str) -> None:
    body = json.dumps({"position": "x", "move": "c3-d3", "option": 0})
    plain = {"Content-Type": "application/json"}
    for headers in (plain, plain | {"Authorization": "Bearer secre"}, plain | {"Authorization": "Basic secret"}):
        status, answer, data = stranger.ask("POST", f"/arbiter/{action}", body, headers)
        assert (status, answer["www-authenticate"]) == (401, "Bearer")
        assert "token" in json.loads(data)["error"]
    assert [event.event for event in still.events] == ["start"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_pages_of_other_origins_are_refused_even_with_the_token(stranger: Client, headers: dict[str, str]) -> None:
    assert stranger.ask("POST", "/arbiter/pause", None, JSON | headers)[0] == 403


def test_the_own_page_may_rule(client: Client) -> None:
    own = {"Origin": f"http://127.0.0.1:{client.port}", "Sec-Fetch-Site": "same-origin"}
    assert client.ask("POST", "/arbiter/pause", None, JSON | own)[0] == 200


def test_the_token_may_stand_in_the_address(client: Client) -> None:
    assert client.ask("POST", "/arbiter/pause?token=secret")[0] == 200
    assert client.ask("POST", "/arbiter/pause?token=secres")[0] == 401


def test_a_name_that_is_not_this_machine_is_not_served(stranger: Client) -> None:
    assert stranger.ask("GET", "/state", headers={"Host": "evil.example"})[0] == 421
    assert stranger.ask("GET", "/state", headers={"Host": f"localhost:{stranger.port}"})[0] == 200
    assert stranger.ask("GET", "/state", headers={"Host": "[::1]:80"})[0] == 200
    assert stranger.ask("GET", "/state", headers={"Host": "[::1"})[0] == 421


@pytest.mark.parametrize(
    ("action", "body", "status"),
    [
        ("pause", "{", 400),
        ("pause", "[]", 400),
        ("pause", "[" * 5000, 400),
        ("pause", '{"by": ""}', 400),
        ("pause", '{"by": "\\u0007"}', 400),
        ("pause", '{"by": 5}', 400),
        ("pause", '{"why": 1}', 400),
        ("pause", b"\xff\xfe{}", 400),
        ("pause", "x" * (LARGEST_BODY + 1), 413),
        ("answer", "{}", 400),
        ("answer", '{"option": true}', 400),
        ("answer", '{"option": [1]}', 400),
        ("answer", '{"option": "c3-d3"}', 409),
        ("answer", '{"option": 1e999}', 400),
        ("accept", "{}", 400),
        ("accept", '{"move": "zz"}', 400),
        ("accept", '{"move": "c3-c6"}', 409),
        ("take-back", '{"moves": 0}', 400),
        ("take-back", '{"moves": 1}', 409),
        ("take-back", '{"moves": 99999999999999999999999999}', 409),
        ("set-position", '{"position": "x"}', 400),
        ("set-position", '{"position": "\\ud800"}', 400),
        ("set-position", '{"position": "chess 8 w"}', 400),
        (
            "set-position",
            json.dumps({"position": format_position(load_game("ziggurat"), load_game("ziggurat").start())}),
            409,
        ),
        ("end", '{"winner": "Q"}', 409),
        ("end", '{"winner": 1}', 400),
        ("end", '{"rule": "DOM-8"}', 409),
        ("end", '{"rule": ""}', 400),
        ("resume", "{}", 409),
        ("dance", "{}", 404),
    ],
)
def test_bad_requests_get_one_line_and_change_nothing(
    still: WebTable, stranger: Client, action: str, body: str | bytes, status: int
) -> None:
    answered, _, data = stranger.ask("POST", f"/arbiter/{action}", body, JSON)
    error = json.loads(data)["error"]
    assert answered == status, error
    assert error
    assert "\n" not in error
    assert [event.event for event in still.events] == ["start"]
    assert stranger.ask("GET", "/state")[0] == 200


def test_forms_are_no_orders(stranger: Client) -> None:
    form = JSON | {"Content-Type": "application/x-www-form-urlencoded"}
    assert stranger.ask("POST", "/arbiter/pause", "by=me", form)[0] == 415


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/arbiter/pause", 405),
        ("POST", "/state", 405),
        ("DELETE", "/", 405),
        ("GET", "/nothing", 404),
        ("GET", "/static/../page.py", 404),
        ("GET", "/static/%2e%2e%2fpage.py", 404),
        ("GET", "/board/x", 404),
        ("GET", "/board/-1", 404),
        ("GET", "/board/" + "9" * 5000, 404),
        ("GET", "/preview", 400),
        ("GET", "/preview?position=%00", 400),
        ("GET", "/preview?position=" + "R" * 3000, 400),
    ],
)
def test_other_requests_are_refused_shortly(stranger: Client, method: str, path: str, status: int) -> None:
    answered, _, data = stranger.ask(method, path)
    assert answered == status
    assert len(data) < 400


def test_no_garbage_on_the_wire_stops_the_server_or_is_written_out(
    stranger: Client, capfd: pytest.CaptureFixture[str]
) -> None:
    broken_off = b"POST /arbiter/pause?token=secret HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n\r\n{"
    for garbage in (
        broken_off,
        b"\x00" * 100,
        b"GET / HTTP/9.9\r\n\r\n",
        b"A" * 70_000,
        b"POST /arbiter/pause HTTP/1.1\r\n",
    ):
        with socket.create_connection(("127.0.0.1", stranger.port)) as wire:
            wire.sendall(garbage)
    assert stranger.ask("GET", "/state")[0] == 200
    assert capfd.readouterr().err == ""


def test_a_spectator_who_does_not_read_holds_up_nobody(table: WebTable) -> None:
    deaf = socket.create_connection(("127.0.0.1", table.port))
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.sendall(b"GET /events?with=state HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    client = Client(table.port)
    for _ in range(60):
        assert client.order("pause")[0] == 200
        assert client.order("resume")[0] == 200
    table.restore()
    table.wait_for(lambda: table.referee.snapshot.mode == "watching")
    table.play("c3-d3")
    assert read_events(table.port, 1, after=1)[0][1]["event"] == "accepted"
    deaf.close()


def test_streams_end_with_the_table(table: WebTable) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", table.port, timeout=WAIT_S)
    connection.request("GET", "/events")
    answer = connection.getresponse()
    table.close()
    # Reading a stream that stays open would time out.
    assert b'"event":"start"' in answer.read()
    connection.close()


def test_a_taken_address_is_one_clear_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CompanionError, match=f"--web 127.0.0.1:{port}: cannot listen there"):
            Server(("127.0.0.1", port), lambda *_: None, lambda: None)  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("0.0.0.0:80", ("0.0.0.0", 80)),
        ("8000", ("127.0.0.1", 8000)),
        (":8000", ("127.0.0.1", 8000)),
        ("[::1]:0", ("::1", 0)),
    ],
)
def test_addresses_are_understood(text: str, address: tuple[str, int]) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize("text", ["", "here", "here:", "1.2.3.4:70000", "a:b:c", "x:-1", "x:٣"])
def test_other_texts_are_no_addresses(text: str) -> None:
    with pytest.raises(BadText, match="write HOST:PORT"):
        parse_address(text)
