"""Readiness and watchdog messages to systemd, as real datagrams during a real match."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.app.heartbeat import Heartbeat, heartbeat
from companion.cli import main
from companion.games import load_game
from companion.match import Match
from companion.referee.referee import Referee
from companion.referee.snapshot import Snapshot
from tests.app.test_resumption import part

pytestmark = pytest.mark.pictures


@pytest.fixture
def snapshot() -> Snapshot:
    game = load_game("domination")
    return Referee(Match(game, game.start())).snapshot


def test_it_is_ready_once_and_beats_as_often_as_is_wanted(snapshot: Snapshot) -> None:
    """READY is sent once, and WATCHDOG at less than the requested interval."""
    sent: list[str] = []
    t = [100.0]
    beat = Heartbeat(sent.append, 3.0, lambda: t[0])
    for _ in range(80):
        beat.follow(t[0] - 100, snapshot, None)
        t[0] += 0.125
    assert [message.startswith("READY=1\n") for message in sent] == [True, False, False, False]
    assert all("WATCHDOG=1\n" in message for message in sent)


def test_a_loop_that_hangs_does_not_beat(snapshot: Snapshot) -> None:
    """Without progress of the loop no further heartbeat is sent."""
    sent: list[str] = []
    t = [0.0]
    beat = Heartbeat(sent.append, 3.0, lambda: t[0])
    beat.follow(0.0, snapshot, None)
    t[0] = 60.0
    assert len(sent) == 1


def test_the_status_says_how_it_stands_and_the_stores_warning_first(snapshot: Snapshot) -> None:
    """The status shows the state, or else the store's warning."""
    sent: list[str] = []
    Heartbeat(sent.append, 3.0, lambda: 0.0).follow(7.0, snapshot, None)
    Heartbeat(sent.append, 3.0, lambda: 0.0).follow(7.0, snapshot, "NOT SAVED: the disk is full")
    assert "STATUS=setting up, view clear, 7 s\n" in sent[0]
    assert "STATUS=NOT SAVED: the disk is full\n" in sent[1]


@pytest.mark.parametrize("environment", [{}, {"NOTIFY_SOCKET": ""}])
def test_without_systemd_there_is_none(environment: dict[str, str]) -> None:
    assert heartbeat(environment, lambda: 0.0) is None


def test_a_systemd_that_has_gone_does_no_harm(tmp_path: Path, snapshot: Snapshot) -> None:
    """A missing socket and an invalid interval cause no error."""
    beat = heartbeat({"NOTIFY_SOCKET": str(tmp_path / "none"), "WATCHDOG_USEC": "soon"}, lambda: 0.0)
    assert beat is not None
    beat.follow(0.0, snapshot, None)


@pytest.fixture
def systemd(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[str, socket.socket]]:
    """Return the address of the notification socket, and its receiving end."""
    address = str(tmp_path / "notify") if request.param == "a path" else f"@companion-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as wire:
        wire.bind(address.replace("@", "\0", 1) if address.startswith("@") else address)
        wire.settimeout(300)
        yield address, wire


@pytest.mark.parametrize("systemd", ["a path", "an abstract name"], indirect=True)
def test_systemd_hears_it(systemd: tuple[str, socket.socket], snapshot: Snapshot) -> None:
    """Messages arrive at path and abstract sockets."""
    address, wire = systemd
    beat = heartbeat({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "3000000"}, lambda: 0.0)
    assert beat is not None
    beat.follow(2.0, snapshot, None)
    assert wire.recv(4096).decode() == "READY=1\nWATCHDOG=1\nSTATUS=setting up, view clear, 2 s\n"


@pytest.mark.parametrize("systemd", ["a path"], indirect=True)
def test_a_match_is_reported_and_does_not_wait_for_who_does_not_listen(
    systemd: tuple[str, socket.socket], tmp_path: Path, examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """During a match messages are sent, and a full socket buffer does not block it."""
    address, wire = systemd
    recording, store = part(examples / "domination-1", tmp_path / "part", 0.0, 2.5), tmp_path / "m.db"
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    monkeypatch.setenv("WATCHDOG_USEC", "3000")  # one heartbeat per picture: more than the socket buffers unread
    assert main(["referee", "domination", "--recording", str(recording), "--match", str(store), "--json"]) == 0
    wire.setblocking(False)
    messages = []
    try:
        while True:
            messages.append(wire.recv(4096).decode())
    except BlockingIOError:
        pass
    assert messages[0].startswith("READY=1\n")
    assert len(messages) > 2
