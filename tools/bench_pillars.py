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

BYTES, PULLS, STEPS = 1_000_000, 100, 300
OUT_S, BACK_S = 0.3, 0.9
"""How long a cable is unplugged, and how long it stays plugged in."""


def main() -> int:
    """Print all results; exit code 1 if a level was wrong or an unplugged cable went unnoticed."""
    print(machine())
    faults = [hostile_bytes(BYTES), delays(STEPS), cables(PULLS)]
    if RECORDING.is_dir():
        faults.append(recording(RECORDING))
    return 1 if any(faults) else 0


def hostile_bytes(count: int) -> int:
    """Send random bytes and damaged frames to both sides; return how many wrong levels were accepted."""
    rng = random.Random(1)
    device = Device(Bench([mm(3)] * 25), lambda _: [mm(3)] * 25)
    session, board = Session(LEVELS), SimulatedBoard(Bench([mm(3)] * 25), 1)
    controller = Controller(board)
    session.opened(0.0)
    fed = wrong = right = 0
    t_s, sent = 0.0, b""
    while fed < count:
        t_s += 0.02
        clean = device.run(t_s, sent)
        sent, _ = session.tick(t_s)
        hurt = damaged(clean, rng) if t_s > 1 else clean
        fed += len(hurt)
        for event in session.receive(hurt, t_s):
            if isinstance(event, Sample):
                right += event.levels == (3,) * 25
                wrong += event.levels != (3,) * 25
        board.inbox += damaged(sent, rng)
        board.now_ms += 20
        controller.step()
        board.outbox = b""
    print(f"{fed:,} random and damaged bytes: no exception, {session.bad_frames:,} damaged frames thrown away,")
    print(f"  {right:,} reports heard right, {wrong} with a wrong level")
    return wrong


def damaged(data: bytes, rng: random.Random) -> bytes:
    """``data`` with bytes flipped, lost, doubled and inserted, or only garbage."""
    if rng.random() < 0.5:
        return data + rng.randbytes(rng.randrange(200))
    result = bytearray()
    for byte in data:
        luck = rng.random()
        if luck < 0.01:
            result.append(byte ^ 1 << rng.randrange(8))
        elif luck < 0.02:
            result += bytes((byte, rng.randrange(256)))
        elif luck > 0.03:
            result.append(byte)
    return bytes(result)


class Watched(Port):
    """A port that records when its cable was unplugged and plugged in."""

    def __init__(self, path: Path) -> None:
        self.pulled: list[float] = []
        self.back: list[float] = []
        self._is_in = False
        super().__init__(path)

    def plug_in(self) -> None:
        """Note the first moment of each time."""
        super().plug_in()
        if not self._is_in:
            self._is_in = True
            self.back.append(time.monotonic())

    def pull_out(self) -> None:
        """Likewise."""
        if self._is_in:
            self._is_in = False
            self.pulled.append(time.monotonic())
        super().pull_out()


class Served:
    """A device on a pseudo-terminal in real time, and a link to it."""

    def __init__(self, heights: Callable[[float], Sequence[float]], faults: Sequence[Fault] = ()) -> None:
        self._folder = tempfile.TemporaryDirectory()
        path = Path(self._folder.name) / "pillars"
        self.port = Watched(path)
        device = Device(Bench(heights(0.0), noise_mm=0.3), heights, faults)
        self._over = threading.Event()
        self._thread = threading.Thread(target=serve, args=(device, self.port, self._over.is_set))
        self._thread.start()
        self.link = Link(str(path), LEVELS)

    def close(self) -> None:
        """End all."""
        self.link.close()
        self._over.set()
        self._thread.join()
        self._folder.cleanup()


def delays(count: int) -> int:
    """Measure the time from a pillar's move to its new level; return how many steps were not reported."""
    rng, moved = random.Random(2), [0.0, 0.0]

    def heights(_: float) -> list[float]:
        if time.monotonic() >= moved[0] > moved[1]:
            moved[1] = time.monotonic()
        return [mm(step % 2 + (moved[1] >= moved[0]))] * 25

    step = 0
    served = Served(heights)
    waits: list[float] = []
    time.sleep(0.5)
    for step in range(count):
        served.link.take()
        moved[0] = time.monotonic() + rng.uniform(0.05, 0.11)
        end = moved[0] + 1.0
        while time.monotonic() < end:
            levels = [event.levels[0] for event in served.link.take() if isinstance(event, Sample)]
            if moved[1] >= moved[0] and (step + 1) % 2 + (step % 2) * 2 in levels:
                waits.append(1000 * (time.monotonic() - moved[1]))
                break
            time.sleep(0.0005)
    served.close()
    told = spread(waits)
    print(f"{count} pillar steps, from the step to the event at the host: {told} ms")
    return count - len(waits)


def cables(count: int) -> int:
    """Unplug the cable repeatedly and move a pillar meanwhile; return how often something went wrong."""
    period_s = OUT_S + BACK_S
    faults = [Fault("cable", 0, 1 + i * period_s, 1 + i * period_s + OUT_S) for i in range(count)]

    def pulls(t_s: float) -> int:
        return max(0, int((t_s - 1 - OUT_S / 2) // period_s) + 1)

    served = Served(lambda t_s: [mm(pulls(t_s) % 7)] * 25, faults)
    lost: list[float] = []
    heard: list[tuple[float, int | None]] = []
    end = time.monotonic() + 1.5 + count * period_s
    while time.monotonic() < end:
        for event in served.link.take():
            if isinstance(event, Lost):
                lost.append(time.monotonic())
            elif isinstance(event, Sample):
                heard.append((time.monotonic(), event.levels[0]))
        time.sleep(0.001)
    port = served.port
    served.close()
    noticed = [1000 * (min(t for t in lost if t >= pull) - pull) for pull in port.pulled[:count] if max(lost) >= pull]
    recovered, right = [], 0
    for i, back in enumerate(port.back[1 : count + 1], start=1):
        at_s, level = next((row for row in heard if row[0] >= back), (float("inf"), None))
        recovered.append(1000 * (at_s - back))
        right += level == i % 7
    print(f"{len(noticed)} of {count} pulled cables noticed, after {spread(noticed)} ms; heard again")
    print(f"  {spread(recovered)} ms after they were back; {right} moves of a pillar meanwhile known at once")
    return count - right + count - len(noticed)


def recording(folder: Path) -> int:
    """Send a recording's heights through the firmware; return how many levels in calms were received wrong."""
    rows = read_heights(folder / FILE, KIT.cells)
    truth = [json.loads(line) for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()]
    before = [mm(0)] * 25
    table = []
    for row in rows:
        before = [was if at is None else at for at, was in zip(row.heights_mm, before, strict=True)]
        table.append((row.t_s, before))

    def heights(t_s: float) -> Sequence[float]:
        return next((at for start, at in reversed(table) if start <= t_s), table[0][1])

    served = Served(heights)
    samples: list[Sample] = []
    begun = time.monotonic()
    while time.monotonic() - begun < rows[-1].t_s:
        samples += [event for event in served.link.take() if isinstance(event, Sample)]
        time.sleep(0.01)
    served.close()
    wrong = total = 0
    for act in truth:
        expected = tuple(act["levels"][cell] for cell in KIT.cells)
        calm = [s for s in samples if act["t_calm_from"] + 0.1 <= s.t_s - begun <= act["t_calm_to"] - 0.1]
        total += 25 * len(calm)
        wrong += sum(a != b for s in calm for a, b in zip(s.levels, expected, strict=True))
    told = f"{len(samples)} reports of {rows[-1].t_s:.0f} s, {total:,} levels in {len(truth)} calms"
    print(f"{folder.name} through firmware, pseudo-terminal and pyserial: {told}, {wrong} of them wrong")
    return wrong


def mm(level: int) -> float:
    """Height of a level."""
    return LEVELS.base_mm + level * LEVELS.step_mm


def spread(values: Sequence[float]) -> str:
    """Median, 95th percentile, worst."""
    ordered = sorted(values)
    if not ordered:
        return "none"
    p95 = ordered[int(0.95 * (len(ordered) - 1))]
    return f"median {statistics.median(ordered):.0f}, p95 {p95:.0f}, worst {ordered[-1]:.0f}"


if __name__ == "__main__":
    sys.exit(main())
