"""Measures event-to-browser latency, the cost of spectators and the page's size: ``python -m tools.bench_web``."""

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
"""Number of timed events, and the pause before each."""

SPECTATORS, MOVE_S, WATCHING_S = 200, 1.0, 30.0
"""Number of spectators, time between moves, and duration.  Moves are several times as frequent as at a real table."""

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
"""Files that a table's page loads."""

WATCH = """() => { window.seen = {}; new MutationObserver(() => {
    const n = document.getElementById("board").dataset.n;
    if (n && !(n in window.seen)) window.seen[n] = Date.now();
}).observe(document.body, {childList: true, subtree: true, attributes: true, characterData: true}); }"""
"""JavaScript that stores in ``window.seen`` when the board first shows each event number, in ms since the epoch."""


def new_match(seed: int = 1) -> tuple[Match, random.Random]:
    """A new match of Domination, and the generator for its random moves."""
    game = load_game("domination")
    return Match(game, game.start()), random.Random(seed)


class Player:
    """Plays random moves into a feed."""

    def __init__(self) -> None:
        self.match, self._rng = new_match()
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
        """Play one random move and return its event number.

        After the end of a match the position restarts, while event numbers continue.
        """
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
    """Serve a table's page: print its port, wait for a line on standard input, then play for ``seconds``."""
    player = Player()
    page = Page(("127.0.0.1", 0), player.feed)
    print(page.server.port, flush=True)
    sys.stdin.readline()
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        time.sleep(MOVE_S)
        player.play()
    page.close()


def to_browser() -> None:
    """Measure the time from publishing an event until a real browser shows its board."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - of the dev extra

    player, sent_s = Player(), dict[int, float]()
    page = Page(("127.0.0.1", 0), player.feed)
    with sync_playwright() as playwright:
        browser = launched(playwright)
        tab = browser.new_page()
        tab.goto(page.server.url)
        tab.wait_for_selector("#moves button")
        tab.evaluate(WATCH)
        for _ in range(EVENTS):
            tab.wait_for_timeout(1000 * EVENT_S)
            begun_s = time.time()
            sent_s[player.play()] = begun_s
        tab.wait_for_timeout(500)
        seen_s = {int(n): at / 1000 for n, at in tab.evaluate("window.seen").items()}
        browser.close()
    page.close()
    delays_ms = sorted(1000 * (seen_s[n] - begun_s) for n, begun_s in sent_s.items() if n in seen_s)
    median_ms, p95_ms = delays_ms[len(delays_ms) // 2], delays_ms[int(0.95 * len(delays_ms))]
    print(f"event to browser: {len(delays_ms)} of {EVENTS} seen; ", end="")
    print(f"median {median_ms:.0f} ms, p95 {p95_ms:.0f} ms, worst {delays_ms[-1]:.0f} ms", flush=True)


async def _spectate(port: int, counts: list[int]) -> None:
    """Act as one browser: read the event stream, fetch the board of each move, and count moves in ``counts[0]``."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    board_connection = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /events?with=state HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    while line := await reader.readline():
        if line.startswith(b'data: {"event":"accepted"'):
            counts[0] += 1
            n = re.search(rb'"n":(\d+)', line)
            assert n is not None
            await _board(board_connection, n[1])
    writer.close()


async def _board(connection: tuple[asyncio.StreamReader, asyncio.StreamWriter], n: bytes) -> None:
    """Fetch the board of event ``n`` over a keep-alive connection, as browsers do."""
    reader, writer = connection
    writer.write(b"GET /board/%s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" % n)
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head)
    assert length is not None
    await reader.readexactly(int(length[1]))


async def _watch(port: int, count: int) -> int:
    """Run ``count`` spectators until the server closes; return the number of moves that they received."""
    counts = [0]
    await asyncio.gather(*(_spectate(port, counts) for _ in range(count)), return_exceptions=True)
    return counts[0]


def spectators(count: int) -> None:
    """Measure the server's memory and processor time with ``count`` spectators."""
    command = [sys.executable, "-m", "tools.bench_web", "--serve", str(WATCHING_S)]
    with subprocess.Popen(  # noqa: S603 - this file itself
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        port = int(server.stdout.readline())
        alone_mb, before_s = _resident_mb(server.pid), _busy_s(server.pid)
        begun_s, peak_mb = time.monotonic(), 0.0
        server.stdin.write("\n")
        server.stdin.flush()
        pid = os.fork()
        if pid == 0:
            moves = asyncio.run(_watch(port, count))
            print(f"spectators: {count}; {moves} moves told", flush=True)
            os._exit(0)
        used_s = 0.0
        while server.poll() is None:
            peak_mb, used_s = max(peak_mb, _resident_mb(server.pid)), max(used_s, _busy_s(server.pid) - before_s)
            time.sleep(0.25)
        elapsed_s = time.monotonic() - begun_s
        os.waitpid(pid, 0)
    share = used_s / elapsed_s
    grown_mb = peak_mb - alone_mb
    print(f"server: {alone_mb:.0f} MB alone, {peak_mb:.0f} MB with {count} spectators (+{grown_mb:.0f}); ", end="")
    print(f"{share:.1%} of a core at a move every {MOVE_S:g} s")


def _resident_mb(pid: int) -> float:
    """Resident memory of a process in MiB; 0 after it has ended."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    found = re.search(r"VmRSS:\s+(\d+) kB", text)
    return int(found[1]) / 1024 if found else 0.0


def _busy_s(pid: int) -> float:
    """Processor time that a process has used; 0 after it has ended."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def page_weight() -> None:
    """Print the size of everything that a table's page loads, without the camera's picture."""
    data = [(STATIC / name).read_bytes() for name in TABLE_FILES]
    compressed_bytes = sum(len(gzip.compress(file)) for file in data)
    print(f"page: {sum(map(len, data)) / 1000:.0f} kB in {len(data)} files, {compressed_bytes / 1000:.0f} kB packed")


def main() -> None:
    """Print all measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.serve)
        return
    page_weight()
    to_browser()
    spectators(SPECTATORS)


if __name__ == "__main__":
    main()
