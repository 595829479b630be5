"""Fuzzes a table's page with forged requests.  ``make soak``, or ``python -m tools.soak_page --help``.

A page with all its functions (a running match, stored matches, the start of new ones, a phone as camera) receives
forged requests: paths and queries with nonsense, bodies with replaced fields, raw bytes; with the token, with a wrong
one, or without.  No response may be a server error or missing, every hundredth time a spectator must be served, and
nothing may be written to standard error.
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

from companion.app.inbox import DeferredOrder, Inbox
from companion.app.match_requests import MatchRequestQueue
from companion.commands.options.archive import archive_of
from companion.errors import CompanionError
from companion.events import Event, Start
from companion.games import load_game
from companion.match import Match
from companion.phone.access import PhoneAccess
from companion.phone.camera_routes import PhoneCameraRoutes
from companion.recorder.store import MatchInfo, Store
from companion.referee.orders import Order
from companion.referee.referee import Referee
from companion.rules.notation import format_position
from companion.web.feed import Feed
from companion.web.page import Page
from companion.web.starting import NewMatch, Playable, Unfinished
from vision.capture.phone import PhoneCamera

REQUESTS, SEED = 10_000, 1
CHECKED_EVERY = 100
"""Number of requests between two checks that a spectator is served."""

TOKEN, CODE = "secret", "code"
TIMEOUT_S = 60.0
"""Timeout of a response, long enough for a busy machine."""

NONSENSE: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 7, 1.5, 10**12, 10**30, 10**4000, 1e308, float("nan"), float("inf"), "", "x",
    "\ud800", "\x00", "a\nb", "R" * 5000, "9" * 5000, "１", "m", "1m+1s", "99999999999999999999m", "infm", "nanm+1s",
    [], {}, [[]], ["\ud800"], [None], {"a": 1}, {"R": "\ud800"}, {"R": []}, {"R": "x" * 999}, "domination",
    "domination/3", "c3-c5", "domination 4/6/8/8/2,G,5/2,R,5/6/4 R", "citadel 5/5/5/5/5 R", "-", "R", "G",
)  # fmt: skip
"""Replacements of fields."""

FIELDS = (
    "option", "move", "moves", "position", "winner", "rule", "by", "game", "names", "clock", "confirm", "leave",
    "match",
)  # fmt: skip

ACTIONS = (
    "answer", "accept", "reject", "take-back", "set-position", "pause", "resume", "end", "done", "start", "go-on", "x",
)  # fmt: skip

PATHS = (
    "/", "/state", "/events", "/board/{}", "/told/{}", "/preview", "/camera.jpg", "/legal", "/arbiter", "/start",
    "/matches", "/matches/{}.{}", "/eye", "/eye/{}/code.svg", "/eye/{}/hello", "/eye/{}/clock", "/eye/{}/picture",
    "/eye/1/hello", "/eye/1/clock", "/eye/1/picture", "/static/{}", "/static/board.js", "/{}",
)  # fmt: skip

QUERY_KEYS = (
    "after", "with", "view", "option", "position", "token", "code", "phone", "page", "heard", "taken", "remarks",
    "lang",
)  # fmt: skip

QUERY_VALUES = (
    "", "0", "1", "-1", "2", "01", "9" * 20, "9" * 400, "9" * 5000, "1e9", "inf", "nan", "%00", "%ff", "%ed%a0%80",
    "..", "%2e%2e%2fetc%2fpasswd", "a" * 3000, "space", "plan", "state", "txt", "json", "svg", "pdn", "exe", "\u0661",
    "²", CODE, "phone", "<script>", "c3-c5", "domination 4/6/8/8/2,G,5/2,R,5/6/4 R",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


def forged_request(rng: random.Random) -> Request:
    """A request that no page sends; half of all have the right token."""
    headers = {"Host": rng.choice(["127.0.0.1"] * 20 + ["evil.example", "[", "a" * 300, ""])}
    if rng.random() < 0.5:
        headers["Authorization"] = f"Bearer {TOKEN}"
    elif rng.random() < 0.5:
        headers["Authorization"] = rng.choice(["Bearer", "Bearer \xff", "Basic x", "Bearer secre", "x" * 4000])
    if rng.random() < 0.2:
        headers["Origin"] = rng.choice(["null", "http://evil.example", "http://127.0.0.1", "\xff"])
    if rng.random() < 0.1:
        headers[rng.choice(["Last-Event-ID", "Accept-Encoding", "If-None-Match", "Sec-Fetch-Site", "Range"])] = (
            rng.choice(["9" * 5000, "-1", "gzip", "x", "\xe9", "bytes=0-"])
        )
    if rng.random() < 0.5:
        headers["Content-Type"] = rng.choice(["application/json"] * 6 + ["text/plain", "application/json; charset=x"])
        path = f"/arbiter/{rng.choice(ACTIONS)}" if rng.random() < 0.9 else _forged_path(rng)
        return Request("POST", path, headers, _forged_body(rng))
    method = rng.choice(["GET"] * 6 + ["POST"] * 3 + ["HEAD", "PUT", "DELETE", "OPTIONS"])
    return Request(method, _forged_path(rng), headers, _forged_picture(rng) if method == "POST" else b"")


def _forged_path(rng: random.Random) -> str:
    """A random path with a random query; those of a phone often have the right code."""
    template = rng.choice(PATHS)
    path = template.format(*(quote(rng.choice(QUERY_VALUES), safe="%") for _ in range(template.count("{}"))))
    query = {key: rng.choice(QUERY_VALUES) for key in rng.sample(QUERY_KEYS, rng.randint(0, 4))}
    if "/eye/" in path and rng.random() < 0.7:
        query |= {"code": CODE, "phone": "p", "page": rng.choice("ab"), rng.choice(["taken", "heard"]): "1"}
    return path + ("?" + urlencode(query, safe="%") if query else "")


def _forged_body(rng: random.Random) -> bytes:
    """The fields of an order with random values, or bytes that are not valid JSON."""
    row = {field: rng.choice(NONSENSE) for field in rng.sample(FIELDS, rng.randint(0, 3))}
    if rng.random() < 0.3:
        row |= {"game": "domination"} if rng.random() < 0.5 else {"match": 7}
    text = json.dumps(row)
    match rng.randrange(8):
        case 0:
            return rng.randbytes(rng.randrange(300))
        case 1:
            return text[: rng.randrange(len(text))].encode()
        case 2:
            return b"[" * rng.randrange(8000)
        case _:
            return text.encode()


def _forged_picture(rng: random.Random) -> bytes:
    """A JPEG header that claims some size, followed by garbage; or garbage only."""
    if rng.random() < 0.3:
        return rng.randbytes(rng.randrange(2000))
    width, height = (rng.choice([0, 1, 720, 1280, 20000, 65535]) for _ in "xy")
    frame = struct.pack(">BHHB", 8, height, width, 3) + bytes.fromhex("011100021101031101")
    return b"\xff\xd8\xff\xc0" + struct.pack(">H", len(frame) + 2) + frame + rng.randbytes(rng.randrange(99))


@contextmanager
def table(folder: Path) -> Iterator[Page]:
    """Run a page with all its functions."""
    game = load_game("domination")
    start = format_position(game, game.start())
    begun_s = datetime(2026, 11, 21, tzinfo=UTC)
    with Store.open(folder / "m.db") as store:
        match = store.begin(MatchInfo("domination", game.players, start, begun_s, "domination", ("Ann", "Bo")))
        store.append(match, Start(t=0.0, n=1, position=start))
    left = Unfinished(7, "domination", ("Ann", "Bo"), begun_s.isoformat(), 0)
    match_requests = MatchRequestQueue(
        (Playable("domination", is_learned=True),), NewMatch("domination"), lambda: (left,)
    )
    feed, inbox, is_over = Feed(start), Inbox(), Flag()
    phone_cameras = PhoneCameraRoutes([PhoneAccess(CODE)], lambda: TOKEN)
    phone_cameras.look([PhoneCamera("phone 1", (1280, 720))])
    archive, routes = archive_of(folder / "m.db"), phone_cameras.routes()
    page = Page(("127.0.0.1", 0), feed, token=TOKEN, starter=match_requests, archive=archive, routes=routes)
    page.serve(inbox.put, lambda: b"\xff\xd8\xff\xd9")
    threads = [Thread(target=_referee, args=(Referee(Match(game, game.start())), inbox, feed, is_over))]
    threads.append(Thread(target=_refuse_starts, args=(match_requests, is_over)))
    for thread in threads:
        thread.start()
    try:
        yield page
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
        page.close()


def _referee(referee: Referee, inbox: Inbox, feed: Feed, is_over: Flag) -> None:
    """Execute orders until ``is_over``.  If an order ended this thread, no further ones would be answered: a fault."""

    def publish(events: tuple[Event, ...]) -> tuple[Event, ...]:
        for event in events:
            feed(event)
        return events

    def take(t_s: float, order: Order | DeferredOrder, by: str) -> tuple[Event, ...]:
        wanted = order if isinstance(order, Order) else order(referee)
        return () if wanted is None else publish(referee.order(t_s, wanted, by))

    publish(referee.begin(0.0))
    begun_s = time.monotonic()
    while not is_over.wait(0.005):
        inbox.drain(partial(take, time.monotonic() - begun_s))


def _refuse_starts(match_requests: MatchRequestQueue, is_over: Flag) -> None:
    """Refuse all requests to start a match until ``is_over``."""
    while not is_over.is_set():
        if (wanted := match_requests.take(0.1)) is not None:
            wanted.refuse(CompanionError("the camera is in use"))


def status_of(port: int, request: Request) -> int:
    """The HTTP status of the response; 0 if none came or the connection was dropped."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    try:
        connection.putrequest(request.method, request.path, skip_host=True, skip_accept_encoding=True)
        for name, value in {**request.headers, "Content-Length": str(len(request.body))}.items():
            connection.putheader(name, value.encode("latin-1"))
        connection.endheaders(request.body)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def campaign(count: int, seed: int, statuses: Counter[int]) -> Iterator[str]:
    """Run the campaign; yield every fault as text, and count the responses in ``statuses``."""
    with tempfile.TemporaryDirectory() as folder, table(Path(folder)) as page:
        port = page.server.port
        for k in range(count):
            request = forged_request(random.Random(f"{seed} {k}"))
            status = status_of(port, request)
            statuses[status] += 1
            # 503: the table does not answer, because its referee's thread has ended.
            if status in (0, 500, 503):
                text = f"{request.method} {request.path[:200]} {request.headers} {request.body[:300]!r}"
                yield f"request {k}: {status}, {text}"
            if k % CHECKED_EVERY == 0 and status_of(port, Request("GET", "/state", {"Host": "127.0.0.1"}, b"")) != 200:
                yield f"after request {k}: a spectator is not served"


def main() -> int:
    """Run the campaign; return 1 if there was any fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=REQUESTS, metavar="N")
    parser.add_argument("--seed", type=int, default=SEED, metavar="S")
    options = parser.parse_args()
    statuses, faults, begun_s = Counter[int](), 0, time.monotonic()
    stderr_text = io.StringIO()
    with redirect_stderr(stderr_text):
        for fault in campaign(options.requests, options.seed, statuses):
            faults += 1
            print(fault, flush=True)
    if stderr_text.getvalue():
        faults += 1
        print(f"standard error:\n{stderr_text.getvalue()[-3000:]}")
    endings = ", ".join(f"{count} with {status}" for status, count in sorted(statuses.items()))
    print(
        f"{options.requests} forged requests answered: {endings}; {faults} faults; {time.monotonic() - begun_s:.0f} s"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
