"""Run a command; report on standard error the time to its first line, and its memory (RSS) then and at peak."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path


def main() -> int:
    """Run the command and return its exit code."""
    begun_s = time.monotonic()
    with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - the given command
        assert process.stdout is not None
        first = process.stdout.readline()
        first_s, rss_kb = time.monotonic() - begun_s, resident_kb(process.pid)
        sys.stdout.write(first + process.stdout.read())
    peak_kb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    summary = f"first line after {first_s:.1f} s, {rss_kb / 1024:.0f} MB then, {peak_kb / 1024:.0f} MB at most"
    print(summary, file=sys.stderr)
    return process.returncode


def resident_kb(pid: int) -> int:
    """Resident memory of a process in kB; 0 if it has ended but not been reaped."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)


if __name__ == "__main__":
    sys.exit(main())
