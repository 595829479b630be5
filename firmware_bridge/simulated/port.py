"""The simulated controller's end of a cable: a pseudo-terminal with a name of its own."""

from __future__ import annotations

import contextlib
import os
import select
import time
import tty
from collections.abc import Callable
from pathlib import Path

from firmware_bridge.errors import BridgeError
from firmware_bridge.simulated.device import Device

MAX_BYTES = 4096
TURN_S = 0.002
"""Longest time between two iterations: the firmware's clock runs at least this finely."""


class Port:
    """A pseudo-terminal behind the symbolic link ``path``, as udev makes them for real controllers."""

    def __init__(self, path: Path) -> None:
        """Raises BridgeError when a file of that name exists, or cannot be made."""
        self._path = path
        self._ends: tuple[int, int] | None = None
        if path.is_symlink():
            path.unlink()
        if path.exists():
            raise BridgeError(f"{path}: a file of this name is there already; give another --link")
        self.plug_in()

    def plug_in(self) -> None:
        """Make the pseudo-terminal and its link.  Raises BridgeError."""
        if self._ends is None:
            mine, theirs = os.openpty()
            tty.setraw(theirs)
            os.set_blocking(mine, False)
            self._ends = mine, theirs
            try:
                self._path.symlink_to(os.ttyname(theirs))
            except OSError as error:
                self.pull_out()
                raise BridgeError(f"{self._path}: cannot be made ({error.strerror}); give another --link") from error

    def pull_out(self) -> None:
        """Close it: whoever has it open gets an error at once, and the link is removed."""
        if self._ends is not None:
            self._path.unlink(missing_ok=True)
            for end in self._ends:
                os.close(end)
            self._ends = None

    def read(self, wait_s: float) -> bytes:
        """What the host has sent, after waiting for it no longer than ``wait_s``."""
        if self._ends is None:
            time.sleep(wait_s)
            return b""
        ready, _, _ = select.select([self._ends[0]], [], [], wait_s)
        with contextlib.suppress(OSError):
            return os.read(self._ends[0], MAX_BYTES) if ready else b""
        return b""

    def write(self, data: bytes) -> None:
        """Send to the host; what does not fit, since nobody reads, is lost, as on a real line."""
        if self._ends is not None and data:
            with contextlib.suppress(OSError):
                os.write(self._ends[0], data)


def serve(device: Device, port: Port, is_over: Callable[[], bool]) -> None:
    """Run a device in real time until ``is_over``; closes both."""
    begun = time.monotonic()
    try:
        while not is_over():
            received = port.read(TURN_S)
            sent = device.run(time.monotonic() - begun, received)
            if device.plugged:
                port.plug_in()
            else:
                port.pull_out()
            port.write(sent)
    finally:
        port.pull_out()
        device.close()
