"""How long an event takes to a browser, what spectators cost, how heavy the page is: ``python -m tools.bench_web``."""

from __future__ import annotations

import argparse
import asyncio
import gzip
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

from companion.events import Accepted, Event, Start
from companion.games import load_game
from companion.match import Match
from companion.referee.snapshot import Snapshot
from companion.rules.notation import format_move, format_position
from companion.web.answers import STATIC
from companion.web.feed import Feed
from companion.web.page import Page
from tools.chromium import launched

EVENTS, EVENT_S = 200, 0.1
SPECTATORS, MOVE_S, WATCHED_S = 200, 1.0, 30.0
"""One move per second: several times as many as at a real table."""

TABLE_FILES = (
    "table.html",
    "style.css",
    "table.js",
    "parts.js",
    "board.js",
    "arbiter.js",
    "archive.js",
    "start.js",
    "words.js",
    "signs.js",
    "token.js",
    "icon.svg",
)

WATCH = """() => { window.seen = {}; new MutationObserver(() => {
    const n = document.getElementById("board").dataset.n;
    if (n && !(n in window.seen)) window.seen[n] = Date.now();
}).observe(document.body, {childList: true, subtree: true, attributes: true, characterData: true}); }"""


def matches(seed: int = 1) -> tuple[Match, random.Random]:
    """A match of Domination to be played at random."""
    game = load_game("domination")
    return Match(game, game.start()), random.Random(seed)


class Player:
    """Plays random moves into a feed."""

    def __init__(self) -> None:
        self.match, self._rng = matches()
        self.n = 1
        self.feed = Feed(format_position(self.match.game, self.match.position))
        self.tell(Start(t=0.0, n=1, position=format_position(self.match.game, self.match.position)))

    def tell(self, event: Event) -> None:
        """Send one event and the table's state after it to the feed."""
        self.feed(event)
        text = format_position(self.match.game, self.match.position)
        mover = self.match.position.to_move
        self.feed.follow(event.t, Snapshot("watching", "clear", text, mover, "", (), (), None), None)

    def play(self) -> int:
        """One move; the number of its event.  A match that is over begins anew on the board, not in the record."""
        game = self.match.game
        if self.match.outcome is not None:
            self.match = Match(game, game.start())
        move, mover = self._rng.choice(game.legal_moves(self.match.position)), self.match.position.to_move
        text = format_move(game, self.match.position, move)
        self.match = self.match.play(move)
        self.n += 1
        position = format_position(game, self.match.position)
        self.tell(Accepted(t=float(self.n), n=self.n, player=mover, move=text, position=position))
        return self.n


def serve(seconds: float) -> None:
    """A table's page in a process of its own; prints its port, then plays for so long once a line is read."""
    player = Player()
    page = Page(("127.0.0.1", 0), player.feed)
    print(page.server.port, flush=True)
    sys.stdin.readline()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(MOVE_S)
        player.play()
    page.close()


def to_browser() -> None:
    """From the deciding thread's call to the board as drawn on the page, in a real browser."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - of the dev extra

    player, sent = Player(), dict[int, float]()
    page = Page(("127.0.0.1", 0), player.feed)
    with sync_playwright() as playwright:
        browser = launched(playwright)
        tab = browser.new_page()
        tab.goto(page.server.url)
        tab.wait_for_selector("#moves button")
        tab.evaluate(WATCH)
        for _ in range(EVENTS):
            tab.wait_for_timeout(1000 * EVENT_S)
            begun = time.time()
            sent[player.play()] = begun
        tab.wait_for_timeout(500)
        seen = {int(n): at / 1000 for n, at in tab.evaluate("window.seen").items()}
        browser.close()
    page.close()
    took = sorted(1000 * (seen[n] - begun) for n, begun in sent.items() if n in seen)
    middle, high = took[len(took) // 2], took[int(0.95 * len(took))]
    print(f"event to browser: {len(took)} of {EVENTS} seen; ", end="")
    print(f"median {middle:.0f} ms, p95 {high:.0f} ms, worst {took[-1]:.0f} ms", flush=True)


async def _spectate(port: int, counts: list[int]) -> None:
    """One browser: the stream, and the board of each move."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    asking = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /events?with=state HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    while line := await reader.readline():
        if line.startswith(b'data: {"event":"accepted"'):
            counts[0] += 1
            n = re.search(rb'"n":(\d+)', line)
            assert n is not None
            await _board(asking, n[1])
    writer.close()


async def _board(wire: tuple[asyncio.StreamReader, asyncio.StreamWriter], n: bytes) -> None:
    """Fetch one board over a connection that stays open, as browsers do."""
    reader, writer = wire
    writer.write(b"GET /board/%s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" % n)
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head)
    assert length is not None
    await reader.readexactly(int(length[1]))


async def _watch(port: int, count: int) -> int:
    counts = [0]
    await asyncio.gather(*(_spectate(port, counts) for _ in range(count)), return_exceptions=True)
    return counts[0]


def spectators(count: int) -> None:
    """Measure memory and time of a server with ``count`` spectators."""
    command = [sys.executable, "-m", "tools.bench_web", "--serve", str(WATCHED_S)]
    with subprocess.Popen(  # noqa: S603 - this very file
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        port = int(server.stdout.readline())
        alone_mb, before_s = _resident_mb(server.pid), _busy_s(server.pid)
        begun, most_mb = time.monotonic(), 0.0
        server.stdin.write("\n")
        server.stdin.flush()
        pid = os.fork()
        if pid == 0:
            told = asyncio.run(_watch(port, count))
            print(f"spectators: {count}; {told} moves told", flush=True)
            os._exit(0)
        used_s = 0.0
        while server.poll() is None:
            most_mb, used_s = max(most_mb, _resident_mb(server.pid)), max(used_s, _busy_s(server.pid) - before_s)
            time.sleep(0.25)
        lasted_s = time.monotonic() - begun
        os.waitpid(pid, 0)
    share = used_s / lasted_s
    grown_mb = most_mb - alone_mb
    print(f"server: {alone_mb:.0f} MB alone, {most_mb:.0f} MB with {count} spectators (+{grown_mb:.0f}); ", end="")
    print(f"{share:.1%} of a core at a move every {MOVE_S:g} s")


def _resident_mb(pid: int) -> float:
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    found = re.search(r"VmRSS:\s+(\d+) kB", text)
    return int(found[1]) / 1024 if found else 0.0


def _busy_s(pid: int) -> float:
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def weight() -> None:
    """Bytes of everything that a table's page loads, without the camera's picture."""
    data = [(STATIC / name).read_bytes() for name in TABLE_FILES]
    packed = sum(len(gzip.compress(file)) for file in data)
    print(f"page: {sum(map(len, data)) / 1000:.0f} kB in {len(data)} files, {packed / 1000:.0f} kB packed")


def main() -> None:
    """Measure all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.serve)
        return
    weight()
    to_browser()
    spectators(SPECTATORS)


if __name__ == "__main__":
    main()
