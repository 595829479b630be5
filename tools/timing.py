"""Timing many calls, and saying it in a table with what it means on a Raspberry Pi."""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

T = TypeVar("T")
PI_4, PI_5 = (2.5, 5.5), (1.4, 2.4)
"""How many times slower a core of theirs is than one of the server that the figures were made on: 7-zip and memory
bandwidth of published benchmarks set the two ends."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds of the calls of one stage, in order; ``budget_ms`` is the aim for the median, 0 for none."""

    stage: str
    ms: tuple[float, ...]
    budget_ms: float = 0.0

    def row(self) -> str:
        """A row of the table: median, spread, budget, estimates."""
        ordered = sorted(self.ms)
        median, p95 = statistics.median(ordered), ordered[int(0.95 * (len(ordered) - 1))]
        budget = f"≤ {self.budget_ms:g}" if self.budget_ms else ""
        pi_4, pi_5 = (f"{median * low:.1f}–{median * high:.1f}" for low, high in (PI_4, PI_5))
        spread = f"{ordered[0]:.2f} / **{median:.2f}** / {p95:.2f} / {ordered[-1]:.2f}"
        return f"| {self.stage} | {len(ordered)} | {spread} | {budget} | {pi_4} | {pi_5} |"


HEAD = """| stage | n | min / **median** / p95 / max, ms | aim, ms | Pi 4, ms (estimate) | Pi 5, ms (estimate) |
| --- | --- | --- | --- | --- | --- |"""


def clocked(function: Callable[..., T], *words: object) -> tuple[T, float]:
    """What a call gives, and how many milliseconds it took."""
    begun = time.perf_counter()
    result = function(*words)
    return result, 1000 * (time.perf_counter() - begun)


def timed(stage: str, calls: Iterable[Callable[[], object]], budget_ms: float = 0.0) -> Timing:
    """Run the calls and time each."""
    return Timing(stage, tuple(clocked(call)[1] for call in calls), budget_ms)


def machine() -> str:
    """When, and on what."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:  # noqa: PTH123 - a device, not a file
            model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), model)
    except OSError:
        pass
    return f"{datetime.now(UTC):%Y-%m-%d}, {model}, Python {platform.python_version()}, one thread"
