"""Live cameras: each is read in its own thread, the newest picture wins, and a camera that fails is opened again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from vision.capture.frame_buffer import FROZEN_S, FrameBuffer
from vision.capture.frames import Frame, Outage, SourceLost

RETRY_S = 1.0
"""Pause between two tries to open a camera that is gone."""

OUTAGE_REPEAT_S = 0.25
"""How often an outage is repeated, so that the consumer can do other things meanwhile."""

SAME_MOMENT_S = 0.15
"""Pictures of two cameras that are no further apart in time show the same moment: hands move by less than a square."""


class Device(Protocol):
    """A camera's driver.  ``name`` identifies it to people."""

    name: str

    def open(self) -> tuple[str, ...]:
        """Open the camera and lock what would drift; returns what could not be locked, in words.  Raises SourceLost."""
        ...

    def grab(self) -> npt.NDArray[np.uint8]:
        """The next picture, (height, width, 3) uint8 BGR; waits for it.  Raises SourceLost."""
        ...

    def close(self) -> None:
        """Release the camera; closing twice is fine."""
        ...


@runtime_checkable
class Timed(Protocol):
    """A camera that knows when its last picture was taken: ``taken_s``, by the clock of the source."""

    taken_s: float


class LiveSource:
    """Frames of one or more cameras on one table; times count from when they were opened."""

    def __init__(
        self,
        devices: Sequence[Device],
        say: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open all cameras.

        Args:
            devices: the cameras; frames carry their indices in this list.
            say: is called, in any thread, with news for people: what could not be locked, a camera that is gone.
            clock: seconds, from any origin.

        Raises SourceLost when one cannot be opened.
        """
        self._devices, self._say, self._clock = tuple(devices), say, clock
        self._buffers = [FrameBuffer(i) for i in range(len(devices))]
        self._why = [""] * len(devices)
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._opened: list[Device] = []
        try:
            for device in self._devices:
                self._open(device)
        except SourceLost:
            self._release()
            raise
        self._begun_s = clock()
        self._threads = [
            threading.Thread(target=self._fetch, args=(i,), name=device.name, daemon=True)
            for i, device in enumerate(self._devices)
        ]
        for thread in self._threads:
            thread.start()

    def frames(self) -> Iterator[Frame | Outage]:
        """The newest frame each time; while no camera gives any, an outage every OUTAGE_REPEAT_S."""
        seen = [-1] * len(self._devices)
        lost = [False] * len(self._devices)
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closing.is_set() or self._has_news(seen), timeout=OUTAGE_REPEAT_S)
                now = self._now()
                moment = self._synchronised(seen, now)
                gone = [buffer.is_lost(now) for buffer in self._buffers]
            if self._closing.is_set():
                return
            self._report_outages(lost, gone)
            if moment is not None:
                yield moment
            elif all(gone):
                yield Outage(now, "; ".join(map(self._reason, range(len(gone)))))

    def close(self) -> None:
        """Stop fetching and release the cameras."""
        self._closing.set()
        with self._changed:
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(timeout=2 * FROZEN_S)
        self._release()

    def _now(self) -> float:
        return self._clock() - self._begun_s

    def _has_news(self, seen: list[int]) -> bool:
        """Whether the first camera that works has a new picture."""
        now = self._now()
        leader = self._leader(now)
        return leader is not None and self._buffers[leader].newer_than(seen[leader], now) is not None

    def _leader(self, t_s: float) -> int | None:
        return next((i for i, buffer in enumerate(self._buffers) if not buffer.is_lost(t_s)), None)

    def _synchronised(self, seen: list[int], t_s: float) -> Frame | None:
        """The newest picture of the first camera that works, with those of the others; updates ``seen``."""
        leader = self._leader(t_s)
        if leader is None or (frame := self._buffers[leader].newer_than(seen[leader], t_s)) is None:
            return None
        seen[leader] = frame.seq
        others = (buffer.newer_than(-1, t_s) for i, buffer in enumerate(self._buffers) if i != leader)
        beside = (other for other in others if other is not None and abs(other.t_s - frame.t_s) <= SAME_MOMENT_S)
        return Frame(frame.image, frame.seq, frame.t_s, leader, tuple(beside), t_s - frame.t_s)

    def _reason(self, i: int) -> str:
        why, name = self._why[i] or f"no new picture for {FROZEN_S:g} s", self._devices[i].name
        return why if why.startswith(f"{name}: ") else f"{name}: {why}"

    def _report_outages(self, lost: list[bool], gone: list[bool]) -> None:
        """Say which cameras have gone or come back since ``lost``, and update that."""
        for i, (before, now) in enumerate(zip(lost, gone, strict=True)):
            if now and not before:
                hint = "" if self._why[i] else "check its cable: "
                self._say(f"{self._reason(i)}; {hint}it is tried again and again")
            elif before and not now:
                self._say(f"{self._devices[i].name}: gives pictures again")
            lost[i] = now

    def _fetch(self, i: int) -> None:
        device, buffer = self._devices[i], self._buffers[i]
        while not self._closing.is_set():
            try:
                image = device.grab()
            except SourceLost as error:
                self._reopen(i, str(error))
                continue
            with self._changed:
                taken_s = device.taken_s - self._begun_s if isinstance(device, Timed) else self._now()
                is_fresh = buffer.put(image, min(taken_s, self._now()))
                is_stuck = not is_fresh and buffer.is_lost(self._now())
                self._why[i] = "" if is_fresh else "gives the same picture again and again"
                self._changed.notify_all()
            if is_stuck:
                self._reopen(i, self._why[i])

    def _reopen(self, i: int, why: str) -> None:
        """Close a camera and open it again, trying until it works or everything is closed."""
        device = self._devices[i]
        self._why[i] = why
        device.close()
        while not self._closing.wait(RETRY_S):
            try:
                self._open(device)
            except SourceLost as error:
                self._why[i] = str(error)
                continue
            with self._changed:
                self._buffers[i].reopened(self._now() - FROZEN_S)
            return

    def _open(self, device: Device) -> None:
        remarks = device.open()
        if device not in self._opened:
            self._opened.append(device)
            for remark in remarks:
                self._say(f"{device.name}: {remark}")

    def _release(self) -> None:
        for device in self._opened:
            device.close()
