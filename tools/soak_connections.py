"""Tests that a browser is served despite a thousand idle connections: ``python -m tools.soak_connections --help``.

Another process opens the connections to a table's page, half of them silent, half with an incomplete request, and
reopens each one that is dropped.  Meanwhile the page is requested repeatedly.  With ``--tls`` it is served over TLS,
and no connection completes its handshake.
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

CONNECTIONS, DURATION_S = 1010, 30.0
HALF_REQUEST = b"GET / HTTP/1.1\r\nHost: local"
INTERVAL_S = 0.2
"""Interval between two requests, and between two checks for dropped connections."""

_GAME = load_game("domination")
START = format_position(_GAME, _GAME.start())


def hold_connections(port: int, count: int) -> None:
    """Keep ``count`` connections open until killed."""
    allow_connections()
    connections: list[socket.socket | None] = [None] * count
    while True:
        for i, connection in enumerate(connections):
            if connection is None or is_closed(connection):
                with suppress(OSError):
                    connections[i] = socket.create_connection(("127.0.0.1", port), 5.0)
                    connections[i].sendall(HALF_REQUEST if i % 2 else b"")  # type: ignore[union-attr]
        time.sleep(INTERVAL_S)


def is_closed(connection: socket.socket) -> bool:
    """Whether the server has closed a connection."""
    connection.settimeout(0.0)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def answer_ms(port: int, tls_context: ssl.SSLContext | None) -> float | None:
    """Response time of the page; None without a response 200 within ten seconds."""
    begun_s = time.perf_counter()
    connection = (
        http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        if tls_context is None
        else http.client.HTTPSConnection("127.0.0.1", port, timeout=10, context=tls_context)
    )
    try:
        connection.request("GET", "/")
        if connection.getresponse().status != 200:
            return None
    except OSError:
        return None
    finally:
        connection.close()
    return 1000 * (time.perf_counter() - begun_s)


def main() -> int:
    """Run the test; return 1 if a request was not answered."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--connections", type=int, default=CONNECTIONS, metavar="N")
    parser.add_argument("--seconds", type=float, default=DURATION_S, metavar="S")
    parser.add_argument("--tls", action="store_true", help="serve the page over TLS")
    parser.add_argument("--hold", type=int, metavar="PORT", help="act as the process that holds the connections")
    options = parser.parse_args()
    if options.hold is not None:
        hold_connections(options.hold, options.connections)
    with tempfile.TemporaryDirectory() as folder:
        certificate = kept_certificate(Path(folder), ("127.0.0.1",), datetime.now(UTC)) if options.tls else None
        tls_context = None if certificate is None else ssl.create_default_context(cafile=str(certificate.certificate))
        page = Page(("127.0.0.1", 0), Feed(START), tls=certificate)
        command = [sys.executable, "-m", "tools.soak_connections", "--connections", str(options.connections)]
        with subprocess.Popen([*command, "--hold", str(page.server.port)]) as holder:  # noqa: S603 — our own program
            try:
                end_s, answers = time.monotonic() + options.seconds, list[float | None]()
                while time.monotonic() < end_s:
                    time.sleep(INTERVAL_S)
                    answers.append(answer_ms(page.server.port, tls_context))
            finally:
                holder.kill()
        page.close()
    times = [ms for ms in answers if ms is not None]
    print(f"{options.connections} waiting connections: {len(times)} of {len(answers)} requests answered", end="")
    print(f", median {median(times):.0f} ms, longest {max(times):.0f} ms" if times else "")
    return 0 if len(times) == len(answers) else 1


if __name__ == "__main__":
    sys.exit(main())
