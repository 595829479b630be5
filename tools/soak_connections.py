"""A thousand connections that say nothing: is a browser still served?  ``python -m tools.soak_connections --help``.

Another process opens the connections to a table's page, some silent, some with half a request, and opens each anew when
it is dropped.  Meanwhile the page is asked again and again.  With ``--tls`` it is served over TLS, and half of the
connections never agree on it.
"""

from __future__ import annotations

import argparse
import http.client
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from companion.games import load_game
from companion.rules.notation import format_position
from companion.web.certificate import kept_certificate
from companion.web.connections import allow_connections
from companion.web.feed import Feed
from companion.web.page import Page

CONNECTIONS, LASTING_S = 1010, 30.0
HALF = b"GET / HTTP/1.1\r\nHost: local"
EVERY_S = 0.2
_GAME = load_game("domination")
START = format_position(_GAME, _GAME.start())


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


def answer_ms(port: int, trusting: ssl.SSLContext | None) -> float | None:
    """How long the page takes to answer; None: it does not within ten seconds."""
    begun = time.perf_counter()
    connection = (
        http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        if trusting is None
        else http.client.HTTPSConnection("127.0.0.1", port, timeout=10, context=trusting)
    )
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
    parser.add_argument("--tls", action="store_true", help="serve the page over TLS")
    parser.add_argument("--hold", type=int, metavar="PORT", help="be the process that holds the connections")
    told = parser.parse_args()
    if told.hold is not None:
        hold(told.hold, told.connections)
    with tempfile.TemporaryDirectory() as folder:
        proof = kept_certificate(Path(folder), ("127.0.0.1",), datetime.now(UTC)) if told.tls else None
        trusting = None if proof is None else ssl.create_default_context(cafile=str(proof.certificate))
        page = Page(("127.0.0.1", 0), Feed(START), tls=proof)
        words = [sys.executable, "-m", "tools.soak_connections", "--connections", str(told.connections)]
        with subprocess.Popen([*words, "--hold", str(page.server.port)]) as holder:  # noqa: S603 — our own program
            try:
                until, answers = time.monotonic() + told.seconds, list[float | None]()
                while time.monotonic() < until:
                    time.sleep(EVERY_S)
                    answers.append(answer_ms(page.server.port, trusting))
            finally:
                holder.kill()
        page.close()
    times = [ms for ms in answers if ms is not None]
    print(f"{told.connections} waiting connections: {len(times)} of {len(answers)} requests answered", end="")
    print(f", median {median(times):.0f} ms, longest {max(times):.0f} ms" if times else "")
    return 0 if len(times) == len(answers) else 1


if __name__ == "__main__":
    sys.exit(main())
