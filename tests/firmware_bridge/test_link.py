"""The serial port: pyserial on pseudo-terminals, firmware on both interpreters, and unplugged cables."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from firmware_bridge.errors import BridgeError
from firmware_bridge.firmware import wire
from firmware_bridge.link import Link
from firmware_bridge.session import Connected, Lost, Refused, Sample
from firmware_bridge.simulated.bench import Bench
from firmware_bridge.simulated.faults import parse_fault
from firmware_bridge.simulated.port import Port
from tests.firmware_bridge.conftest import LEVELS, until

PULLS = ("cable@0.7+0.3", *(f"cable@{at_s}+0.3" for at_s in range(10, 300, 10)))
"""Unplug repeatedly: on a busy machine the first time may come before the first message, and is then no loss."""


@pytest.fixture
def linked() -> Iterator[object]:
    """Return a function that opens links, which are closed after the test."""
    links: list[Link] = []

    def opened(url: object) -> Link:
        links.append(Link(str(url), LEVELS))
        return links[-1]

    yield opened
    for link in links:
        link.close()


def test_heights_arrive(served, linked, host) -> None:
    """Heights arrive from either interpreter over a pseudo-terminal."""
    link = linked(served(host=host))
    sample = until(link, Sample)[-1]
    assert sample.levels == tuple(i % 7 for i in range(25))
    assert isinstance(until(link, Sample)[0], Sample)
    link.request(wire.AskStatus())
    assert until(link, wire.Status)[-1].scans > 0


@pytest.mark.slow
def test_a_pulled_cable_comes_back(served, linked, host) -> None:
    """The loss is reported, and the reconnection together with the controller's restart."""
    link = linked(served(*PULLS, host=host))
    assert isinstance(until(link, Lost)[0], Connected)
    found = until(link, Connected)[-1]
    assert found.rebooted
    until(link, Sample)


def test_a_port_has_one_owner(served, linked) -> None:
    path = served()
    until(linked(path), Sample)
    with pytest.raises(BridgeError, match="in use by another program"):
        Link(str(path), LEVELS)


@pytest.mark.parametrize(
    ("url", "says"), [("/dev/no-such-pillars", "is the pillar controller plugged in"), ("nonsense://x", "pyserial")]
)
def test_a_port_that_cannot_be_opened_is_one_clear_line(url: str, says: str) -> None:
    with pytest.raises(BridgeError, match=says) as caught:
        Link(url, LEVELS)
    assert str(caught.value).startswith(f"{url}: ")
    assert "\n" not in str(caught.value)


def test_any_url_of_pyserial_will_do(linked) -> None:
    """This controller is behind a network socket, which then closes."""
    server = socket.create_server(("127.0.0.1", 0))
    welcome = wire.Welcome(0, 9, 0, (1, 0, 0), bytes(8), 5, 25, 50, 0, 0)

    def answer() -> None:
        peer, _ = server.accept()
        with peer:
            peer.recv(64)
            peer.sendall(wire.encode(welcome, 0))

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    link = linked(f"socket://127.0.0.1:{server.getsockname()[1]}")
    assert isinstance(until(link, Refused)[-1], Refused)
    thread.join()
    server.close()


def test_closing_twice_is_fine(served) -> None:
    link = Link(str(served()), LEVELS)
    link.close()
    link.close()


def test_a_file_is_not_overwritten_by_a_port(tmp_path) -> None:
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(BridgeError, match="give another --link"):
        Port(tmp_path / "notes")
    with pytest.raises(BridgeError, match="cannot be made"):
        Port(tmp_path / "no" / "folder")
    assert (tmp_path / "notes").read_text() == "mine"


def test_faults_are_written_in_one_way() -> None:
    fault = parse_fault("open:b2@1.5+2")
    assert (fault.name, fault.pillar, fault.from_s, fault.to_s) == ("open", 6, 1.5, 3.5)
    assert parse_fault("cable@3").to_s == 5.0
    assert parse_fault("freeze@3").to_s == float("inf")
    for wrong in ("open", "melt@3", "open:z9@3", "cable:a1@3", "open@x", "open@3+"):
        with pytest.raises(BridgeError, match="--fault"):
            parse_fault(wrong)


def test_a_bench_repeats_itself() -> None:
    """Equal seeds give equal samples."""
    benches = [Bench([42.0] * 25, noise_mm=0.5) for _ in range(2)]
    for bench in benches:
        bench.next_scan()
    assert [benches[0].raw(0, c) for c in range(16)] == [benches[1].raw(0, c) for c in range(16)]
