"""Tables and hub over a real MQTT broker, which is also killed."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from companion.hall.publisher import Publisher
from companion.hall.topics import Broker, parse_broker
from companion.recorder.store import Store
from tests.hall.test_hub import INFO, match_events

MOSQUITTO = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
WAIT_S = 300

pytestmark = pytest.mark.skipif(
    not Path(MOSQUITTO).exists(), reason="needs Debian's mosquitto, which `make test` installs as root"
)


def wait_for(what: Callable[[], Any]) -> Any:
    """Wait for the first truthy value of ``what`` and return it."""
    until = time.monotonic() + WAIT_S
    while not (value := what()):
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.02)
    return value


class LocalBroker:
    """A mosquitto process that can be killed and restarted."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._config = folder / "mosquitto.conf"
        self._config.write_text(f"listener {self.port} 127.0.0.1\nallow_anonymous true\n")
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"mqtt://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._process = subprocess.Popen([MOSQUITTO, "-c", str(self._config)], stderr=subprocess.DEVNULL)

        def answers() -> bool:
            with socket.socket() as wire:
                return wire.connect_ex(("127.0.0.1", self.port)) == 0

        wait_for(answers)

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()


class HallProcess:
    """A `companion hall` process, as started by a user."""

    def __init__(self, started: Callable[..., subprocess.Popen[str]], broker: LocalBroker, store: Path) -> None:
        command = [sys.executable, "-m", "companion.cli", "hall", "--broker", broker.url, "--web", "127.0.0.1:0"]
        self._process = started(
            [*command, "--match", str(store)],
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        assert self._process.stderr is not None
        lines = iter(self._process.stderr.readline, "")
        url = next(line for line in lines if line.startswith("hall: http"))
        self.port = int(url.split("#")[0].rsplit(":", 1)[1].strip().rstrip("/"))

    def get(self, path: str) -> dict[str, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        connection.request("GET", path)
        row: dict[str, Any] = json.loads(connection.getresponse().read())
        connection.close()
        return row

    def n(self, table: str) -> int:
        """Return the number of the last event of a table; 0 if the table is unknown."""
        return int(self.get(f"/table/{table}/state").get("n", 0))

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()


@pytest.fixture
def open_hall(
    started: Callable[..., subprocess.Popen[str]], broker: LocalBroker, tmp_path: Path
) -> Callable[[str], HallProcess]:
    """Return a function that starts `companion hall` with a store of the given name."""
    return lambda store: HallProcess(started, broker, tmp_path / store)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[LocalBroker]:
    """Start a broker, which is killed after the test."""
    broker = LocalBroker(tmp_path)
    yield broker
    broker.kill()


@pytest.fixture
def publish(broker: LocalBroker) -> Iterator[Callable[[str], Publisher]]:
    """Return a function that creates the publisher of a table."""
    publishers = list[Publisher]()

    def begun(table: str) -> Publisher:
        publishers.append(Publisher(parse_broker(f"{broker.url}/{table}", with_table=True), replace(INFO, kit=table)))
        return publishers[-1]

    yield begun
    for publisher in publishers:
        publisher.close()


@pytest.mark.slow
def test_a_hall_shows_and_keeps_all_tables_through_every_failure(
    tmp_path: Path,
    broker: LocalBroker,
    publish: Callable[[str], Publisher],
    open_hall: Callable[[str], HallProcess],
) -> None:
    """All events arrive: live, with the hub stopped, with the broker killed, and with a hub that has lost its store."""
    events = match_events(8)
    hall = open_hall("hall.db")
    tables = {name: publish(name) for name in ("one", "two")}
    for event in events[:3]:
        for table in tables.values():
            table(event)
    wait_for(lambda: [hall.n(name) for name in tables] == [3, 3])
    hall.close()
    tables["one"](events[3])
    hall = open_hall("hall.db")
    wait_for(lambda: hall.n("one") == 4)
    broker.kill()
    tables["one"](events[4])
    tables["two"](events[3])
    broker.start()
    tables["one"](events[5])
    wait_for(lambda: [hall.n(name) for name in tables] == [6, 4])
    hall.close()
    hall = open_hall("new.db")
    wait_for(lambda: [hall.n(name) for name in tables] == [6, 4])
    tables["two"].close()
    hall.close()
    for path in ("hall.db", "new.db"):
        with Store.open(tmp_path / path, read_only=True) as store:
            kept = {store.info(number).kit: store.events(number) for number in store.match_ids()}
        assert kept == {"one at one": tuple(events[:6]), "two at two": tuple(events[:4])}


def test_a_broker_that_is_not_there_costs_the_table_nothing() -> None:
    said = list[str]()
    publisher = Publisher(Broker("127.0.0.1", 9, table="x"), INFO, say=said.append)
    for event in match_events(50):
        publisher(event)
    wait_for(lambda: said)
    publisher.close()
    assert len(said) == 1
    assert "the match goes on" in said[0]


def test_a_broker_that_never_answers_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        publisher = Publisher(Broker("127.0.0.1", deaf.getsockname()[1], table="x"), INFO)
        match = Thread(target=lambda: [publisher(event) for event in match_events(50)], daemon=True)
        match.start()
        match.join(WAIT_S)
        assert not match.is_alive()
        publisher.close()
