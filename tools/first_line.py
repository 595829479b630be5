"""Run a command; standard error says when its first line came, and its memory (RSS) then and at its largest."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path


def main() -> int:
    """The command's own exit code."""
    begun = time.monotonic()
    with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True) as running:  # noqa: S603 - as it is told
        assert running.stdout is not None
        first = running.stdout.readline()
        first_s, held_kb = time.monotonic() - begun, resident_kb(running.pid)
        sys.stdout.write(first + running.stdout.read())
    most_kb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    told = f"first line after {first_s:.1f} s, {held_kb / 1024:.0f} MB then, {most_kb / 1024:.0f} MB at most"
    print(told, file=sys.stderr)
    return running.returncode


def resident_kb(pid: int) -> int:
    """Memory that a process holds now; 0 where it has ended."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)


if __name__ == "__main__":
    sys.exit(main())
