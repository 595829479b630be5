"""Forged requests to a table's page.  ``make soak``, or ``python -m tools.soak_page --help``.

A page with everything behind it (a match that is being refereed, kept matches, new ones to be started, a phone that is
its camera) is asked by liars: addresses with nonsense in them, bodies whose fields are exchanged, raw bytes, with the
token, with a wrong one, with none.  No answer may be a fault of the server, none may be missing, and after each hundred
a spectator must be served.  What was said on standard error must be none of a library's words.
"""

from __future__ import annotations

import argparse
import http.client
import io
import json
import random
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from typing import Any
from urllib.parse import quote, urlencode

from companion.app.inbox import Inbox, Wish
from companion.app.lobby import Lobby
from companion.commands.options.archive import archive_of
from companion.errors import CompanionError
from companion.events import Event, Start
from companion.games import load_game
from companion.match import Match
from companion.phone.door import Door
from companion.phone.eye import EyeRoutes
from companion.recorder.store import MatchInfo, Store
from companion.referee.orders import Order
from companion.referee.referee import Referee
from companion.rules.notation import format_position
from companion.web.feed import Feed
from companion.web.page import Page
from companion.web.starting import Begin, Playable, Unfinished
from vision.capture.phone import PhoneCamera

REQUESTS, SEED = 10_000, 1
CHECKED_EVERY = 100
TOKEN, CODE = "secret", "code"
LONGEST_S = 60.0
"""No answer takes so long, but on a machine that does something else; the stream of events never ends."""

NONSENSE: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 7, 1.5, 10**12, 10**30, 10**4000, 1e308, float("nan"), float("inf"), "", "x",
    "\ud800", "\x00", "a\nb", "R" * 5000, "9" * 5000, "１", "m", "1m+1s", "99999999999999999999m", "infm", "nanm+1s",
    [], {}, [[]], ["\ud800"], [None], {"a": 1}, {"R": "\ud800"}, {"R": []}, {"R": "x" * 999}, "domination",
    "domination/3", "c3-c5", "domination 4/6/8/8/2,G,5/2,R,5/6/4 R", "citadel 5/5/5/5/5 R", "-", "R", "G",
)  # fmt: skip
"""What a field is exchanged for."""

FIELDS = (
    "option", "move", "moves", "position", "winner", "rule", "by", "game", "names", "clock", "confirm", "leave",
    "match",
)  # fmt: skip

ACTIONS = (
    "answer", "accept", "reject", "take-back", "set-position", "pause", "resume", "end", "done", "start", "go-on", "x",
)  # fmt: skip

PLACES = (
    "/", "/state", "/events", "/board/{}", "/told/{}", "/preview", "/camera.jpg", "/legal", "/arbiter", "/start",
    "/matches", "/matches/{}.{}", "/eye", "/eye/{}/code.svg", "/eye/{}/hello", "/eye/{}/clock", "/eye/{}/picture",
    "/eye/1/hello", "/eye/1/clock", "/eye/1/picture", "/static/{}", "/static/board.js", "/{}",
)  # fmt: skip

KEYS = (
    "after", "with", "view", "option", "position", "token", "code", "phone", "page", "heard", "taken", "remarks",
    "lang",
)  # fmt: skip

WORDS = (
    "", "0", "1", "-1", "2", "01", "9" * 20, "9" * 400, "9" * 5000, "1e9", "inf", "nan", "%00", "%ff", "%ed%a0%80",
    "..", "%2e%2e%2fetc%2fpasswd", "a" * 3000, "space", "plan", "state", "txt", "json", "svg", "pdn", "exe", "\u0661",
    "²", CODE, "phone", "<script>", "c3-c5", "domination 4/6/8/8/2,G,5/2,R,5/6/4 R",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


def forged(chance: random.Random) -> Asked:
    """A request that no page sends; half of them with the token."""
    headers = {"Host": chance.choice(["127.0.0.1"] * 20 + ["evil.example", "[", "a" * 300, ""])}
    if chance.random() < 0.5:
        headers["Authorization"] = f"Bearer {TOKEN}"
    elif chance.random() < 0.5:
        headers["Authorization"] = chance.choice(["Bearer", "Bearer \xff", "Basic x", "Bearer secre", "x" * 4000])
    if chance.random() < 0.2:
        headers["Origin"] = chance.choice(["null", "http://evil.example", "http://127.0.0.1", "\xff"])
    if chance.random() < 0.1:
        headers[chance.choice(["Last-Event-ID", "Accept-Encoding", "If-None-Match", "Sec-Fetch-Site", "Range"])] = (
            chance.choice(["9" * 5000, "-1", "gzip", "x", "\xe9", "bytes=0-"])
        )
    if chance.random() < 0.5:
        headers["Content-Type"] = chance.choice(
            ["application/json"] * 6 + ["text/plain", "application/json; charset=x"]
        )
        path = f"/arbiter/{chance.choice(ACTIONS)}" if chance.random() < 0.9 else _address(chance)
        return Asked("POST", path, headers, _body(chance))
    method = chance.choice(["GET"] * 6 + ["POST"] * 3 + ["HEAD", "PUT", "DELETE", "OPTIONS"])
    return Asked(method, _address(chance), headers, _picture(chance) if method == "POST" else b"")


def _address(chance: random.Random) -> str:
    place = chance.choice(PLACES)
    path = place.format(*(quote(chance.choice(WORDS), safe="%") for _ in range(place.count("{}"))))
    query = {key: chance.choice(WORDS) for key in chance.sample(KEYS, chance.randint(0, 4))}
    if "/eye/" in path and chance.random() < 0.7:
        query |= {"code": CODE, "phone": "p", "page": chance.choice("ab"), chance.choice(["taken", "heard"]): "1"}
    return path + ("?" + urlencode(query, safe="%") if query else "")


def _body(chance: random.Random) -> bytes:
    """The fields of an order, some of them nonsense; or bytes that are no JSON."""
    row = {field: chance.choice(NONSENSE) for field in chance.sample(FIELDS, chance.randint(0, 3))}
    if chance.random() < 0.3:
        row |= {"game": "domination"} if chance.random() < 0.5 else {"match": 7}
    text = json.dumps(row)
    match chance.randrange(8):
        case 0:
            return chance.randbytes(chance.randrange(300))
        case 1:
            return text[: chance.randrange(len(text))].encode()
        case 2:
            return b"[" * chance.randrange(8000)
        case _:
            return text.encode()


def _picture(chance: random.Random) -> bytes:
    """A JPEG picture's header that claims some size, and no picture after it; or other bytes."""
    if chance.random() < 0.3:
        return chance.randbytes(chance.randrange(2000))
    width, height = (chance.choice([0, 1, 720, 1280, 20000, 65535]) for _ in "xy")
    frame = struct.pack(">BHHB", 8, height, width, 3) + bytes.fromhex("011100021101031101")
    return b"\xff\xd8\xff\xc0" + struct.pack(">H", len(frame) + 2) + frame + chance.randbytes(chance.randrange(99))


@contextmanager
def table(folder: Path) -> Iterator[Page]:
    """A page with all that may be behind one."""
    game = load_game("domination")
    start = format_position(game, game.start())
    begun = datetime(2026, 11, 21, tzinfo=UTC)
    with Store.open(folder / "m.db") as store:
        match = store.begin(MatchInfo("domination", game.players, start, begun, "domination", ("Ann", "Bo")))
        store.append(match, Start(t=0.0, n=1, position=start))
    left = Unfinished(7, "domination", ("Ann", "Bo"), begun.isoformat(), 0)
    lobby = Lobby((Playable("domination", is_learned=True),), Begin("domination"), lambda: (left,))
    feed, inbox, over = Feed(start), Inbox(), Flag()
    eyes = EyeRoutes([Door(CODE)], lambda: TOKEN)
    eyes.look([PhoneCamera("phone 1", (1280, 720))])
    archive, routes = archive_of(folder / "m.db"), eyes.routes()
    page = Page(("127.0.0.1", 0), feed, token=TOKEN, starter=lobby, archive=archive, routes=routes)
    page.serve(inbox.put, lambda: b"\xff\xd8\xff\xd9")
    threads = [Thread(target=_referee, args=(Referee(Match(game, game.start())), inbox, feed, over))]
    threads.append(Thread(target=_begin_nothing, args=(lobby, over)))
    for thread in threads:
        thread.start()
    try:
        yield page
    finally:
        over.set()
        for thread in threads:
            thread.join()
        page.close()


def _referee(referee: Referee, inbox: Inbox, feed: Feed, over: Flag) -> None:
    """Take orders until ``over``; one that ends this thread is a fault, for nobody is answered any more."""

    def publish(events: tuple[Event, ...]) -> tuple[Event, ...]:
        for event in events:
            feed(event)
        return events

    def take(t_s: float, order: Order | Wish, by: str) -> tuple[Event, ...]:
        wanted = order if isinstance(order, Order) else order(referee)
        return () if wanted is None else publish(referee.order(t_s, wanted, by))

    publish(referee.begin(0.0))
    begun_s = time.monotonic()
    while not over.wait(0.005):
        inbox.drain(partial(take, time.monotonic() - begun_s))


def _begin_nothing(lobby: Lobby, over: Flag) -> None:
    while not over.is_set():
        if (asked := lobby.take(0.1)) is not None:
            asked.refuse(CompanionError("the camera is in use"))


def answered(port: int, asked: Asked) -> int:
    """The status of the answer; 0: none came, or the connection was dropped."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LONGEST_S)
    try:
        connection.putrequest(asked.method, asked.path, skip_host=True, skip_accept_encoding=True)
        for name, value in {**asked.headers, "Content-Length": str(len(asked.body))}.items():
            connection.putheader(name, value.encode("latin-1"))
        connection.endheaders(asked.body)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def campaign(count: int, seed: int, statuses: Counter[int]) -> Iterator[str]:
    """Every fault in words; ``statuses`` counts the answers."""
    with tempfile.TemporaryDirectory() as folder, table(Path(folder)) as page:
        port = page.server.port
        for k in range(count):
            asked = forged(random.Random(f"{seed} {k}"))
            status = answered(port, asked)
            statuses[status] += 1
            # 503: the table does not answer; its referee's thread has ended.
            if status in (0, 500, 503):
                yield f"request {k}: {status}, {asked.method} {asked.path[:200]} {asked.headers} {asked.body[:300]!r}"
            if k % CHECKED_EVERY == 0 and answered(port, Asked("GET", "/state", {"Host": "127.0.0.1"}, b"")) != 200:
                yield f"after request {k}: a spectator is not served"


def main() -> int:
    """Run the campaign; exit code 1 when there was any fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=REQUESTS, metavar="N")
    parser.add_argument("--seed", type=int, default=SEED, metavar="S")
    told = parser.parse_args()
    statuses, faults, begun = Counter[int](), 0, time.monotonic()
    said = io.StringIO()
    with redirect_stderr(said):
        for fault in campaign(told.requests, told.seed, statuses):
            faults += 1
            print(fault, flush=True)
    if said.getvalue():
        faults += 1
        print(f"standard error:\n{said.getvalue()[-3000:]}")
    ended = ", ".join(f"{count} with {status}" for status, count in sorted(statuses.items()))
    print(f"{told.requests} forged requests answered: {ended}; {faults} faults; {time.monotonic() - begun:.0f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
