"""The simulated board under MicroPython, as a process of its own: its line is standard input and output.

Runs on MicroPython only: under node (wasm.mjs, which provides the module ``_node``) or as a program of its own.  The
values on the multiplexers are read from a file of 32 × u16 that the parent keeps up to date; another is the flash.
"""

import os
import select
import struct
import sys
import time

from firmware_bridge.firmware.controller import Controller
from firmware_bridge.firmware.pillars import SAMPLES

try:
    import _node
except ImportError:
    _node = None


class NodeFiles:
    """Files and line by way of JavaScript; its arrays have to be copied."""

    def __init__(self) -> None:
        self.sleep_ms = _node.sleep

    def analogue(self) -> bytes:
        """All values."""
        return bytes(_node.analogue())

    def read(self) -> bytes:
        """What has come."""
        return bytes(_node.read())

    def write(self, data: bytes) -> None:
        """Send to the host."""
        _node.write(data.hex())

    def load(self) -> bytes:
        """The flash."""
        return bytes(_node.load())

    def store(self, data: bytes) -> None:
        """Write to the flash."""
        _node.store(data.hex())


class UnixFiles:
    """Files and line of a unix."""

    def __init__(self, analogue: str, flash: str) -> None:
        self._analogue, self._flash = analogue, flash
        self._input = select.poll()
        self._input.register(sys.stdin, select.POLLIN)
        self.sleep_ms = time.sleep_ms

    def analogue(self) -> bytes:
        """All values."""
        return _contents(self._analogue)

    def read(self) -> bytes:
        """What has come; byte by byte, since reading more would wait for it."""
        data = b""
        while self._input.poll(0):
            byte = sys.stdin.buffer.read(1)
            if not byte:
                sys.exit()
            data += byte
        return data

    def write(self, data: bytes) -> None:
        """Send to the host."""
        sys.stdout.buffer.write(data)

    def load(self) -> bytes:
        """The flash; empty where nothing was stored."""
        try:
            return _contents(self._flash)
        except OSError:
            return b""

    def store(self, data: bytes) -> None:
        """Write to the flash."""
        with open(self._flash + ".new", "wb") as file:
            file.write(data)
        os.rename(self._flash + ".new", self._flash)


def _contents(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


class ProcessBoard:
    """See firmware_bridge.board.Board."""

    def __init__(self, files: "NodeFiles | UnixFiles", boot: int, cause: int) -> None:
        self.uid, self.boot, self.cause = b"simulate", boot, cause
        self._files = files
        self._start = time.ticks_ms()
        self._values = b""
        self.read, self.write, self.load = files.read, files.write, files.load

    def millis(self) -> int:
        """Milliseconds since the start."""
        return time.ticks_diff(time.ticks_ms(), self._start)

    def micros(self) -> int:
        """Microseconds, for differences."""
        return time.ticks_us()

    def measure(self, channel: int) -> "tuple[list[int], list[int]]":
        """Samples that the parent's bench has drawn for this scan; channel 0 begins one, and fetches all values."""
        if channel == 0:
            self._values = self._files.analogue()
        one, other = (
            struct.unpack_from("<H", self._values, 2 * channel),
            struct.unpack_from("<H", self._values, 32 + 2 * channel),
        )
        return [one[0]] * SAMPLES, [other[0]] * SAMPLES

    def store(self, data: bytes) -> bool:
        """Write to the flash."""
        self._files.store(data)
        return True

    def feed(self) -> None:
        """Do nothing: whoever runs the process watches it."""


def main(boot: int, cause: int, analogue: str, flash: str) -> None:
    """Run until the line is closed."""
    files = NodeFiles() if _node else UnixFiles(analogue, flash)
    controller = Controller(ProcessBoard(files, boot, cause))
    while True:
        files.sleep_ms(max(1, min(controller.step(), 2)))
