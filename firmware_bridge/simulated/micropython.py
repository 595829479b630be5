"""MicroPython itself as the host of the firmware: the unix program where there is one, else WebAssembly under node."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import struct
import subprocess
import tempfile
from pathlib import Path

from firmware_bridge.errors import BridgeError
from firmware_bridge.firmware.pillars import SAMPLES
from firmware_bridge.simulated.bench import Bench

ROOT = Path(__file__).parent.parent.parent
PACKAGE = Path("node_modules/@micropython/micropython-webassembly-pyscript/micropython.mjs")
FOLDERS = (ROOT / ".venv" / "micropython", ROOT)
"""Where the npm package may lie; tools/micropython.sh puts it into the first."""

MAX_BYTES = 65536
HEAP = "128k"
"""Heap that is requested, of the Pico's 264 KB; unix MicroPython gives no more."""


def interpreter() -> tuple[str, ...]:
    """The command that runs MicroPython, as far as its own arguments go.  Raises BridgeError where there is none."""
    if program := shutil.which("micropython"):
        return (program, "-X", f"heapsize={HEAP}")
    node = shutil.which("node")
    package = next((folder / PACKAGE for folder in FOLDERS if (folder / PACKAGE).is_file()), None)
    if node is None or package is None:
        raise BridgeError("there is no MicroPython here; run tools/micropython.sh, which asks apt and npm for it")
    return (node, str(Path(__file__).parent / "wasm.mjs"), str(package))


class UnderMicroPython:
    """Runs the firmware in a process of its own; see :class:`firmware_bridge.simulated.device.Host`."""

    def __init__(self, bench: Bench) -> None:
        """Raises BridgeError where there is no MicroPython."""
        self._bench, self._command = bench, interpreter()
        self._folder = tempfile.TemporaryDirectory(prefix="pillars")
        self._analogue = Path(self._folder.name) / "analogue"
        self._process: subprocess.Popen[bytes] | None = None
        self._values = -1

    def start(self, boot: int, cause: int) -> None:
        """A new process; the flash is a file and stays."""
        self._end()
        self._analogue.write_bytes(bytes(64))
        self._values = os.open(self._analogue, os.O_WRONLY)
        self._put_values()
        inside, ours = os.pipe()
        os.set_blocking(inside, False)
        flash = str(Path(self._folder.name) / "flash")
        words = (str(boot), str(cause), str(self._analogue), flash)
        if self._command[0].endswith("micropython"):
            code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); "
            code += "from firmware_bridge.simulated.micropython_board import main; "
            command = [*self._command, "-c", f"{code} main({boot}, {cause}, {words[2]!r}, {flash!r})"]
        else:
            command = [*self._command, str(ROOT), *words]
        self._process = subprocess.Popen(command, stdin=inside, stdout=subprocess.PIPE)  # noqa: S603 - our own command
        os.close(inside)
        self._input = ours
        assert self._process.stdout is not None
        os.set_blocking(self._process.stdout.fileno(), False)

    def run(self, t_s: float, received: bytes) -> bytes:  # noqa: ARG002 - it has a clock of its own
        """Give it bytes and fresh values; returns what it has sent meanwhile."""
        self._put_values()
        assert self._process is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            os.write(self._input, received)
        with contextlib.suppress(BlockingIOError):
            return os.read(self._process.stdout.fileno(), MAX_BYTES)
        return b""

    def freeze(self, *, frozen: bool) -> None:
        """Stop the process, or let it continue."""
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP if frozen else signal.SIGCONT)

    def close(self) -> None:
        """End the process and delete its flash."""
        self._end()
        self._folder.cleanup()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            assert self._process.stdout is not None
            self._process.stdout.close()
            os.close(self._input)
            os.close(self._values)
            self._process = None

    def _put_values(self) -> None:
        """Write the mean samples of all channels, as one scan will see them."""
        self._bench.next_scan()
        values = [
            sum(self._bench.raw(mux, channel) for _ in range(SAMPLES)) // SAMPLES
            for mux in (0, 1)
            for channel in range(16)
        ]
        os.pwrite(self._values, struct.pack("<32H", *values), 0)
