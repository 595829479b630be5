"""Running controllers: the real firmware under this interpreter and under MicroPython, in simulated or real time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from firmware_bridge.errors import BridgeError
from firmware_bridge.session import Event, Levels, Session
from firmware_bridge.simulated.bench import Bench
from firmware_bridge.simulated.device import Device, Host, InProcess
from firmware_bridge.simulated.faults import parse_fault
from firmware_bridge.simulated.micropython import UnderMicroPython, interpreter
from firmware_bridge.simulated.port import Port, serve

LEVELS = Levels(12.0, 10.0, 0, 6)
MIXED = tuple(12.0 + 10.0 * (i % 7) for i in range(25))
TURN_S = 0.005
WAIT_S = 300.0
"""Timeout that is long enough for a busy machine."""


class Rig:
    """A device and a session connected by a perfect line, in simulated time."""

    def __init__(self, *faults: str, heights: Callable[[float], Sequence[float]] = lambda _: MIXED) -> None:
        self.device = Device(Bench(MIXED), heights, [parse_fault(text) for text in faults])
        self.session = Session(LEVELS)
        self.t_s = 0.0
        self.events: list[Event] = []
        self.session.opened(0.0)
        self.sent = b""

    def run(self, until_s: float) -> list[Event]:
        """Run until that time; return the session's events."""
        begun = len(self.events)
        while self.t_s < until_s:
            self.t_s = round(self.t_s + TURN_S, 6)
            data = self.device.run(self.t_s, self.sent)
            self.events += self.session.receive(data, self.t_s)
            self.sent, events = self.session.tick(self.t_s)
            self.events += events
        return self.events[begun:]


@pytest.fixture
def rig() -> Callable[..., Rig]:
    """Return the class of rigs, to be called with faults."""
    return Rig


def _hosts() -> list[object]:
    """Return the hosts that can run the firmware here; MicroPython is skipped if it is missing."""
    try:
        name = Path(interpreter()[0]).name
    except BridgeError as error:
        return [InProcess, pytest.param(UnderMicroPython, marks=pytest.mark.skip(reason=str(error)))]
    return [pytest.param(InProcess, id="cpython"), pytest.param(UnderMicroPython, id=f"micropython-{name}")]


@pytest.fixture(params=_hosts())
def host(request: pytest.FixtureRequest) -> Callable[[Bench], Host]:
    """Return the class that runs the firmware: each such test runs on both interpreters."""
    made: Callable[[Bench], Host] = request.param
    return made


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Return a function that serves a controller on a pseudo-terminal in real time and returns its path."""
    over = threading.Event()
    threads: list[threading.Thread] = []

    def begin(
        *faults: str,
        heights: Callable[[float], Sequence[float]] = lambda _: MIXED,
        host: Callable[[Bench], Host] = InProcess,
    ) -> Path:
        bench = Bench(MIXED, noise_mm=0.2)
        path = tmp_path / "pillars"
        device = Device(bench, heights, [parse_fault(text) for text in faults], host(bench))
        threads.append(threading.Thread(target=serve, args=(device, Port(path), over.is_set)))
        threads[-1].start()
        return path

    yield begin
    over.set()
    for thread in threads:
        thread.join()


def until(link: object, *kinds: type[object]) -> list[Event]:
    """Return the events up to the first of these kinds; fail if none arrives."""
    events: list[Event] = []
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        for event in link.take():  # type: ignore[attr-defined]
            events.append(event)
            if isinstance(event, kinds):
                return events
        time.sleep(0.002)
    raise AssertionError(f"no {kinds} within {WAIT_S} s, but {events[-3:]}")
