"""Times repeated calls, and prints them in a table with estimates for a Raspberry Pi."""

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
"""Ranges of the factors by which a core of these is slower than one of the server on which the measurements were made:
7-zip and memory bandwidth of published benchmarks give the two ends."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Times of the calls of one stage, in order; ``budget_ms`` is the target for the median, 0 for none."""

    stage: str
    ms: tuple[float, ...]
    budget_ms: float = 0.0

    def row(self) -> str:
        """A row of the table: count, minimum, median, 95th percentile, maximum, target, estimates."""
        ordered = sorted(self.ms)
        median, p95 = statistics.median(ordered), ordered[int(0.95 * (len(ordered) - 1))]
        budget = f"≤ {self.budget_ms:g}" if self.budget_ms else ""
        pi_4, pi_5 = (f"{median * low:.1f}–{median * high:.1f}" for low, high in (PI_4, PI_5))
        spread = f"{ordered[0]:.2f} / **{median:.2f}** / {p95:.2f} / {ordered[-1]:.2f}"
        return f"| {self.stage} | {len(ordered)} | {spread} | {budget} | {pi_4} | {pi_5} |"


HEAD = """| stage | n | min / **median** / p95 / max, ms | aim, ms | Pi 4, ms (estimate) | Pi 5, ms (estimate) |
| --- | --- | --- | --- | --- | --- |"""


def clocked(function: Callable[..., T], *arguments: object) -> tuple[T, float]:
    """The result of a call, and its duration in ms."""
    begun_s = time.perf_counter()
    result = function(*arguments)
    return result, 1000 * (time.perf_counter() - begun_s)


def timed(stage: str, calls: Iterable[Callable[[], object]], budget_ms: float = 0.0) -> Timing:
    """Time each of the calls."""
    return Timing(stage, tuple(clocked(call)[1] for call in calls), budget_ms)


def machine() -> str:
    """Date, processor and Python version of the measurement."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:  # noqa: PTH123 - a device, not a file
            model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), model)
    except OSError:
        pass
    return f"{datetime.now(UTC):%Y-%m-%d}, {model}, Python {platform.python_version()}, one thread"
