"""Clients that keep the server waiting must not keep others from being served."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator

import pytest

from companion.web import connections, guard
from tests.web.conftest import Client, WebTable

PAUSE = "/arbiter/pause"
WAIT_S = 300


@pytest.fixture
def connect(table: WebTable) -> Iterator[Callable[[bytes], socket.socket]]:
    """Return a function that opens a connection and sends some bytes."""
    wires = list[socket.socket]()

    def connected(data: bytes = b"") -> socket.socket:
        wires.append(socket.create_connection(("127.0.0.1", table.port), WAIT_S))
        wires[-1].sendall(data)
        return wires[-1]

    yield connected
    for wire in wires:
        wire.close()


def is_dropped(wire: socket.socket) -> bool:
    """Return whether the server ends the connection."""
    try:
        return wire.recv(1000) == b""
    except ConnectionResetError:
        return True


def served(port: int, path: str = "/state", token: str = "") -> int:
    """Return the HTTP status of a request."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return Client(port).ask("POST" if path == PAUSE else "GET", path, headers=headers)[0]


@pytest.mark.parametrize("sent", [b"", b"GET /state HTTP/1.1\r\n", b"GET /state HTTP/1.1\r\nHost: localhost\r\nX: "])
def test_who_never_ends_his_header_is_dropped(monkeypatch, connect, sent: bytes) -> None:
    monkeypatch.setattr(connections, "HEADER_S", 0.1)
    assert is_dropped(connect(sent))


def test_who_sends_drop_by_drop_is_dropped(monkeypatch, connect) -> None:
    monkeypatch.setattr(connections, "HEADER_S", 0.2)
    wire = connect(b"GET /state HTTP/1.1\r\n")
    wire.settimeout(0.02)
    with contextlib.suppress(ConnectionError):
        for _ in range(10_000):
            wire.sendall(b"X")
            with contextlib.suppress(TimeoutError):
                if is_dropped(wire):
                    return
        pytest.fail("never dropped")


def test_a_second_request_on_a_connection_must_come_too(monkeypatch, table: WebTable, connect) -> None:
    wire = connect(b"GET /state HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert wire.recv(100_000).startswith(b"HTTP/1.1 200")
    monkeypatch.setattr(connections, "HEADER_S", 0.1)
    wire.sendall(b"GET /state HT")
    while not is_dropped(wire):
        pass


def test_who_never_ends_his_body_is_told(monkeypatch, connect) -> None:
    monkeypatch.setattr(guard, "BODY_S", 0.1)
    head = b"POST /arbiter/pause HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n"
    assert connect(head + b"Content-Length: 9\r\n\r\n{").recv(1000).startswith(b"HTTP/1.1 408")


def test_of_those_that_say_nothing_the_first_goes_and_all_others_are_served(table: WebTable, connect) -> None:
    idle = [connect(b"GET ") for _ in range(connections.MAX_WAITING)]
    for _ in range(5):
        assert served(table.port) == 200
    assert is_dropped(idle[0])
    assert served(table.port, PAUSE, "secret") == 200


def test_when_all_places_are_taken_the_token_still_opens_the_door(monkeypatch, table: WebTable, connect) -> None:
    monkeypatch.setattr(connections, "MAX_SERVED", 3)
    for _ in range(3):
        stream = connect(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert stream.recv(1000).startswith(b"HTTP/1.1 200")
    assert served(table.port) == 503
    assert served(table.port, PAUSE, "wrong") == 503
    assert served(table.port, PAUSE, "secret") == 200


def test_one_address_has_not_all_places(monkeypatch, connect) -> None:
    monkeypatch.setattr(connections, "MAX_PER_ADDRESS", 2)
    monkeypatch.setattr(connections, "is_loopback_address", lambda _address: False)
    streams = [connect(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n") for _ in range(2)]
    assert all(stream.recv(1000).startswith(b"HTTP/1.1 200") for stream in streams)
    assert is_dropped(connect(b""))


def test_when_every_connection_is_taken_one_that_waits_makes_room(monkeypatch, table: WebTable, connect) -> None:
    monkeypatch.setattr(connections, "MAX_SERVED", 2)
    monkeypatch.setattr(connections, "RESERVED", 1)
    idle = [connect(b"GET ") for _ in range(3)]
    assert served(table.port) == 200
    assert is_dropped(idle[0])
