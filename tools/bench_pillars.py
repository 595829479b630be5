"""Tests the pillar controller under load: bytes, cables, delays, a recording.  ``python -m tools.bench_pillars``.

Everything is real except the potentiometers: the firmware, the pseudo-terminal, pyserial, the session.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from calibration.kit import load_kit
from companion.app.sensors import FILE, levels_of, read_heights
from firmware_bridge.firmware.controller import Controller
from firmware_bridge.link import Link
from firmware_bridge.session import Lost, Sample, Session
from firmware_bridge.simulated.bench import Bench
from firmware_bridge.simulated.board import SimulatedBoard
from firmware_bridge.simulated.device import Device
from firmware_bridge.simulated.faults import Fault
from firmware_bridge.simulated.port import Port, serve
from tools.timing import machine

KIT = load_kit("diamond")
LEVELS = levels_of(KIT)
RECORDING = Path(__file__).parent.parent.parent / "shared" / "recordings" / "diamond-1"

BYTE_COUNT, PULL_COUNT, STEP_COUNT = 1_000_000, 100, 300
"""How many bytes are sent, how often the cable is pulled, how many pillar steps are timed."""

UNPLUGGED_S, PLUGGED_S = 0.3, 0.9
"""How long a cable is unplugged, and how long it stays plugged in."""


def main() -> int:
    """Print all results; return 1 if a level was wrong, or a step or an unplugged cable went unnoticed."""
    print(machine())
    faults = [hostile_bytes(BYTE_COUNT), delays(STEP_COUNT), cables(PULL_COUNT)]
    if RECORDING.is_dir():
        faults.append(recording(RECORDING))
    return 1 if any(faults) else 0


def hostile_bytes(count: int) -> int:
    """Send random bytes and damaged frames to both sides; return how many wrong levels were accepted."""
    rng = random.Random(1)
    device = Device(Bench([height_mm(3)] * 25), lambda _: [height_mm(3)] * 25)
    session, board = Session(LEVELS), SimulatedBoard(Bench([height_mm(3)] * 25), 1)
    controller = Controller(board)
    session.opened(0.0)
    fed_bytes = wrong = right = 0
    t_s, sent = 0.0, b""
    while fed_bytes < count:
        t_s += 0.02
        clean = device.run(t_s, sent)
        sent, _ = session.tick(t_s)
        received = damaged(clean, rng) if t_s > 1 else clean
        fed_bytes += len(received)
        for event in session.receive(received, t_s):
            if isinstance(event, Sample):
                right += event.levels == (3,) * 25
                wrong += event.levels != (3,) * 25
        board.inbox += damaged(sent, rng)
        board.now_ms += 20
        controller.step()
        board.outbox = b""
    print(f"{fed_bytes:,} random and damaged bytes: no exception, {session.bad_frames:,} damaged frames thrown away,")
    print(f"  {right:,} reports heard right, {wrong} with a wrong level")
    return wrong


def damaged(data: bytes, rng: random.Random) -> bytes:
    """``data`` followed by garbage, or with bits flipped, bytes dropped and random bytes inserted."""
    if rng.random() < 0.5:
        return data + rng.randbytes(rng.randrange(200))
    result = bytearray()
    for byte in data:
        draw = rng.random()
        if draw < 0.01:
            result.append(byte ^ 1 << rng.randrange(8))
        elif draw < 0.02:
            result += bytes((byte, rng.randrange(256)))
        elif draw > 0.03:
            result.append(byte)
    return bytes(result)


class LoggingPort(Port):
    """A port that logs when its cable is unplugged and plugged in.

    Attributes:
        unplugged_at_s: times of unplugging, monotonic clock.
        plugged_at_s: times of plugging in, likewise; the first is the initial connection.
    """

    def __init__(self, path: Path) -> None:
        self.unplugged_at_s: list[float] = []
        self.plugged_at_s: list[float] = []
        self._is_plugged = False
        super().__init__(path)

    def plug_in(self) -> None:
        """Connect, and log the time if the cable was out."""
        super().plug_in()
        if not self._is_plugged:
            self._is_plugged = True
            self.plugged_at_s.append(time.monotonic())

    def pull_out(self) -> None:
        """Disconnect, and log the time if the cable was in."""
        if self._is_plugged:
            self._is_plugged = False
            self.unplugged_at_s.append(time.monotonic())
        super().pull_out()


class LiveDevice:
    """A simulated device on a pseudo-terminal, running in real time, and a link to it."""

    def __init__(self, heights: Callable[[float], Sequence[float]], faults: Sequence[Fault] = ()) -> None:
        self._folder = tempfile.TemporaryDirectory()
        path = Path(self._folder.name) / "pillars"
        self.port = LoggingPort(path)
        device = Device(Bench(heights(0.0), noise_mm=0.3), heights, faults)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=serve, args=(device, self.port, self._is_over.is_set))
        self._thread.start()
        self.link = Link(str(path), LEVELS)

    def close(self) -> None:
        """Close the link, stop the device and delete its folder."""
        self.link.close()
        self._is_over.set()
        self._thread.join()
        self._folder.cleanup()


def delays(count: int) -> int:
    """Measure the latency from a pillar's step to the event with its new level; return how many steps were missed."""
    rng = random.Random(2)
    step_times_s = [0.0, 0.0]  # planned and actual time of the latest step

    def heights(_: float) -> list[float]:
        if time.monotonic() >= step_times_s[0] > step_times_s[1]:
            step_times_s[1] = time.monotonic()
        return [height_mm(step % 2 + (step_times_s[1] >= step_times_s[0]))] * 25

    step = 0
    live = LiveDevice(heights)
    delays_ms: list[float] = []
    time.sleep(0.5)
    for step in range(count):
        live.link.take()
        step_times_s[0] = time.monotonic() + rng.uniform(0.05, 0.11)
        end = step_times_s[0] + 1.0
        while time.monotonic() < end:
            levels = [event.levels[0] for event in live.link.take() if isinstance(event, Sample)]
            if step_times_s[1] >= step_times_s[0] and (step + 1) % 2 + (step % 2) * 2 in levels:
                delays_ms.append(1000 * (time.monotonic() - step_times_s[1]))
                break
            time.sleep(0.0005)
    live.close()
    text = spread(delays_ms)
    print(f"{count} pillar steps, from the step to the event at the host: {text} ms")
    return count - len(delays_ms)


def cables(count: int) -> int:
    """Pull the cable repeatedly and move a pillar meanwhile; return the number of unnoticed pulls and wrong levels."""
    period_s = UNPLUGGED_S + PLUGGED_S
    faults = [Fault("cable", 0, 1 + i * period_s, 1 + i * period_s + UNPLUGGED_S) for i in range(count)]

    def pull_count(t_s: float) -> int:
        return max(0, int((t_s - 1 - UNPLUGGED_S / 2) // period_s) + 1)

    live = LiveDevice(lambda t_s: [height_mm(pull_count(t_s) % 7)] * 25, faults)
    losses_s: list[float] = []
    samples: list[tuple[float, int | None]] = []
    end = time.monotonic() + 1.5 + count * period_s
    while time.monotonic() < end:
        for event in live.link.take():
            if isinstance(event, Lost):
                losses_s.append(time.monotonic())
            elif isinstance(event, Sample):
                samples.append((time.monotonic(), event.levels[0]))
        time.sleep(0.001)
    port = live.port
    live.close()
    noticed = [
        1000 * (min(t for t in losses_s if t >= pull) - pull)
        for pull in port.unplugged_at_s[:count]
        if max(losses_s) >= pull
    ]
    recovered, right = [], 0
    for i, back in enumerate(port.plugged_at_s[1 : count + 1], start=1):
        at_s, level = next((row for row in samples if row[0] >= back), (float("inf"), None))
        recovered.append(1000 * (at_s - back))
        right += level == i % 7
    print(f"{len(noticed)} of {count} pulled cables noticed, after {spread(noticed)} ms; heard again")
    print(f"  {spread(recovered)} ms after they were back; {right} moves of a pillar meanwhile known at once")
    return count - right + count - len(noticed)


def recording(folder: Path) -> int:
    """Send a recording's heights through the firmware; return how many levels were wrong while the board was calm."""
    rows = read_heights(folder / FILE, KIT.cells)
    truth = [json.loads(line) for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()]
    heights_mm = [height_mm(0)] * 25
    timeline = []
    for row in rows:
        heights_mm = [
            previous if height is None else height for height, previous in zip(row.heights_mm, heights_mm, strict=True)
        ]
        timeline.append((row.t_s, heights_mm))

    def heights(t_s: float) -> Sequence[float]:
        return next((height for start, height in reversed(timeline) if start <= t_s), timeline[0][1])

    live = LiveDevice(heights)
    samples: list[Sample] = []
    begun_s = time.monotonic()
    while time.monotonic() - begun_s < rows[-1].t_s:
        samples += [event for event in live.link.take() if isinstance(event, Sample)]
        time.sleep(0.01)
    live.close()
    wrong = total = 0
    for interval in truth:
        expected = tuple(interval["levels"][cell] for cell in KIT.cells)
        calm = [
            sample
            for sample in samples
            if interval["t_calm_from"] + 0.1 <= sample.t_s - begun_s <= interval["t_calm_to"] - 0.1
        ]
        total += 25 * len(calm)
        wrong += sum(
            level != expected_level
            for sample in calm
            for level, expected_level in zip(sample.levels, expected, strict=True)
        )
    text = f"{len(samples)} reports of {rows[-1].t_s:.0f} s, {total:,} levels in {len(truth)} calms"
    print(f"{folder.name} through firmware, pseudo-terminal and pyserial: {text}, {wrong} of them wrong")
    return wrong


def height_mm(level: int) -> float:
    """Height of a pillar at ``level``."""
    return LEVELS.base_mm + level * LEVELS.step_mm


def spread(values: Sequence[float]) -> str:
    """Median, 95th percentile and maximum as text."""
    ordered = sorted(values)
    if not ordered:
        return "none"
    p95 = ordered[int(0.95 * (len(ordered) - 1))]
    return f"median {statistics.median(ordered):.0f}, p95 {p95:.0f}, worst {ordered[-1]:.0f}"


if __name__ == "__main__":
    sys.exit(main())
