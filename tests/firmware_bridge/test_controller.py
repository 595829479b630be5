"""The complete firmware, under this interpreter and under MicroPython."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from firmware_bridge.firmware import wire
from firmware_bridge.simulated.bench import Bench
from firmware_bridge.simulated.device import Host
from tests.firmware_bridge.conftest import MIXED, WAIT_S


class Console:
    """A host that sends frames and collects the answers."""

    def __init__(self, host: Host) -> None:
        self._host, self._decoder, self._seq = host, wire.Decoder(), 0
        self._begun = time.monotonic()
        self.frames: list[tuple[int, tuple]] = []
        host.start(77, wire.POWER_ON)

    def say(self, message: tuple) -> int:
        """Send a message and return its sequence number."""
        self._seq += 1
        self.type(wire.encode(message, self._seq))
        return self._seq

    def type(self, data: bytes) -> None:
        """Send some bytes."""
        self.frames += self._decoder.feed(self._host.run(time.monotonic() - self._begun, data))

    def hear(self, kind: type, re: int | None = None) -> tuple:
        """Wait for the next message of a kind, as an answer to number ``re`` if given."""
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            while self.frames:
                _, message = self.frames.pop(0)
                if isinstance(message, kind) and re in (None, getattr(message, "re", None)):
                    return message
            time.sleep(0.002)
            self.type(b"")
        raise AssertionError(f"no {kind.__name__}")

    def ask(self, message: tuple, kind: type) -> tuple:
        """Send a message and wait for its answer."""
        return self.hear(kind, self.say(message))


@pytest.fixture
def bench() -> Bench:
    return Bench(MIXED)


@pytest.fixture
def console(host: Callable[[Bench], Host], bench: Bench) -> Iterator[Console]:
    made = host(bench)
    yield Console(made)
    made.close()


def test_it_says_who_it_is(console: Console) -> None:
    """The welcome message is sent once at startup, and in answer to each hello."""
    unasked = console.hear(wire.Welcome)
    assert (unasked.re, unasked.boot, unasked.cause) == (0, 77, wire.POWER_ON)
    welcome = console.ask(wire.Hello(1, 0), wire.Welcome)
    assert welcome == unasked._replace(re=welcome.re)
    assert welcome[1:5] == (wire.MAJOR, wire.MINOR, (1, 0, 0), b"simulate")
    assert (welcome.pillars, welcome.rate_hz, welcome.calibration) == (25, 50, 0)


def test_it_reports_heights_and_levels_once_greeted(console: Console) -> None:
    console.say(wire.Hello(1, 0))
    heights = console.hear(wire.Heights)
    assert heights.heights == pytest.approx([100 * mm for mm in MIXED], abs=60)
    assert heights.states == tuple(i % 7 for i in range(25))
    assert heights.board & ~wire.OVERRUN == wire.UNCALIBRATED


def test_a_greeting_is_heard_through_garbage(console: Console) -> None:
    console.type(bytes(range(256)) * 3 + b"\0")
    console.hear(wire.Welcome)
    assert console.ask(wire.Hello(1, 0), wire.Welcome).boot == 77
    assert console.ask(wire.AskStatus(), wire.Status).bad >= 1


def test_a_ping_brings_both_clocks(console: Console) -> None:
    first = console.ask(wire.Ping(4_000_000_000), wire.Pong)
    assert first.host_ms == 4_000_000_000
    time.sleep(0.1)
    assert console.ask(wire.Ping(5), wire.Pong).ms - first.ms >= 80


def test_other_levels_are_told_and_silly_ones_refused(console: Console) -> None:
    """Halving the step doubles the number of levels; invalid ranges and steps are refused."""
    console.say(wire.Hello(1, 0))
    assert console.ask(wire.Configure(1200, 500, 0, 12), wire.Done).code == wire.DONE
    time.sleep(0.1)
    console.type(b"")
    console.frames.clear()
    # The ends of the potentiometers' travel are always the ends of the range.
    assert console.hear(wire.Heights).states == tuple(2 * (i % 7) for i in range(25))
    assert console.ask(wire.Configure(1200, 500, 6, 6), wire.Done).code == wire.BAD_VALUE
    assert console.ask(wire.Configure(1200, 0, 0, 6), wire.Done).code == wire.BAD_VALUE
    assert console.ask(wire.Configure(1200, 60000, 0, 6), wire.Done).code == wire.BAD_VALUE


def test_calibration_is_kept_over_a_restart(console: Console, bench: Bench) -> None:
    """Calibrated at both ends, potentiometers with another travel give correct heights, also after a restart."""
    bench.lowest_mm, bench.highest_mm = 2.0, 92.0

    def stand(mm: float) -> None:
        bench.heights_mm = [mm] * 25
        console.type(b"")
        time.sleep(0.15)
        console.type(b"")

    console.hear(wire.Welcome)
    stand(12.0)
    assert console.ask(wire.Calibrate(wire.AT_LOWEST), wire.Done).code == wire.DONE
    stand(13.0)
    assert console.ask(wire.Calibrate(wire.AT_HIGHEST), wire.Done).code == wire.NOT_PLAUSIBLE
    assert console.ask(wire.Calibrate(9), wire.Done).code == wire.BAD_VALUE
    stand(72.0)
    assert console.ask(wire.Calibrate(wire.AT_HIGHEST), wire.Done).code == wire.DONE
    stand(42.0)
    console._host.start(78, wire.OTHER_RESET)
    console.frames.clear()
    welcome = console.ask(wire.Hello(1, 0), wire.Welcome)
    assert welcome.calibration != 0
    heights = console.hear(wire.Heights)
    assert heights.heights == pytest.approx([4200] * 25, abs=60)
    assert heights.board & ~wire.OVERRUN == 0


def test_an_open_wire_cannot_be_calibrated(console: Console, bench: Bench) -> None:
    bench.broken = {3: "open"}
    console.hear(wire.Welcome)
    console.type(b"")
    time.sleep(0.15)
    assert console.ask(wire.Calibrate(wire.AT_LOWEST), wire.Done).code == wire.NOT_PLAUSIBLE


def test_the_status_counts(console: Console) -> None:
    console.say(wire.Hello(1, 0))
    console.hear(wire.Heights)
    console.type(b"\x05abc\0")
    status = console.ask(wire.AskStatus(), wire.Status)
    assert status.scans >= 1
    assert 0 < status.scan_us <= status.worst_scan_us
    assert (status.packets, status.bad) == (2, 1)
    assert status.supply_permille == pytest.approx(1000, abs=3)


def test_a_silent_host_gets_no_reports(console: Console) -> None:
    """Reports stop two seconds after the host's last message, and resume with the next one."""
    console.say(wire.Hello(1, 0))
    console.hear(wire.Heights)
    time.sleep(2.2)
    console.type(b"")
    console.frames.clear()
    time.sleep(0.2)
    console.type(b"")
    assert console.frames == []
    console.say(wire.Ping(0))
    console.hear(wire.Heights)


def test_a_torn_calibration_is_as_good_as_none(host: Callable[[Bench], Host], bench: Bench, tmp_path: Path) -> None:
    made = host(bench)
    if hasattr(made, "_flash"):
        made._flash["calibration"] = b"torn"
    else:
        (Path(made._folder.name) / "flash").write_bytes(b"torn")
    console = Console(made)
    assert console.ask(wire.Hello(1, 0), wire.Welcome).calibration == 0
    made.close()
