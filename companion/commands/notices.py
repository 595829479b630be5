"""Lines beside a command's own output, said by whichever thread has something to tell."""

from __future__ import annotations

import sys


def notify(line: str) -> None:
    """Write one line to the standard error, whole: two threads that speak at once do not break each other's lines."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
