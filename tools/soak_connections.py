"""A thousand connections that say nothing: is a browser still served?  ``python -m tools.soak_connections --help``.

Another process opens the connections to a hall's page, some silent, some with half a request, and opens each anew when
it is dropped.  Meanwhile the page is asked again and again.
"""

from __future__ import annotations

import argparse
import http.client
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from statistics import median

from companion.hall.hub import Hub
from companion.hall.page import HallPage
from companion.hall.tournament import Tournament
from companion.recorder.store import Store
from companion.web.connections import allow_connections
from companion.web.feed import Bell

CONNECTIONS, LASTING_S = 1010, 30.0
HALF = b"GET / HTTP/1.1\r\nHost: local"
EVERY_S = 0.2


def hold(port: int, count: int) -> None:
    """Keep so many connections open, until killed."""
    allow_connections()
    wires: list[socket.socket | None] = [None] * count
    while True:
        for i, wire in enumerate(wires):
            if wire is None or is_over(wire):
                with suppress(OSError):
                    wires[i] = socket.create_connection(("127.0.0.1", port), 5.0)
                    wires[i].sendall(HALF if i % 2 else b"")  # type: ignore[union-attr]
        time.sleep(EVERY_S)


def is_over(wire: socket.socket) -> bool:
    """Whether the server has dropped a connection."""
    wire.settimeout(0.0)
    try:
        return wire.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def answer_ms(port: int) -> float | None:
    """How long the page takes to answer; None: it does not within ten seconds."""
    begun = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", "/")
        if connection.getresponse().status != 200:
            return None
    except OSError:
        return None
    finally:
        connection.close()
    return 1000 * (time.perf_counter() - begun)


def main() -> int:
    """Run it; exit code 1 when a request was not answered."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections", type=int, default=CONNECTIONS, metavar="N")
    parser.add_argument("--seconds", type=float, default=LASTING_S, metavar="S")
    parser.add_argument("--hold", type=int, metavar="PORT", help="be the process that holds the connections")
    told = parser.parse_args()
    if told.hold is not None:
        hold(told.hold, told.connections)
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "hall.db") as store:
        tournament = Tournament(Path(folder) / "rounds.txt")
        page = HallPage(("127.0.0.1", 0), Hub(store, lambda *_: None, Bell()), tournament)
        words = [sys.executable, "-m", "tools.soak_connections", "--connections", str(told.connections)]
        with subprocess.Popen([*words, "--hold", str(page.server.port)]) as holder:  # noqa: S603 — our own program
            try:
                until, answers = time.monotonic() + told.seconds, list[float | None]()
                while time.monotonic() < until:
                    time.sleep(EVERY_S)
                    answers.append(answer_ms(page.server.port))
            finally:
                holder.kill()
        page.close()
    times = [ms for ms in answers if ms is not None]
    print(f"{told.connections} waiting connections: {len(times)} of {len(answers)} requests answered", end="")
    print(f", median {median(times):.0f} ms, longest {max(times):.0f} ms" if times else "")
    return 0 if len(times) == len(answers) else 1


if __name__ == "__main__":
    sys.exit(main())
