"""Lines of text that commands print."""

from __future__ import annotations

import sys

from companion.commands.output.codes import DONE
from companion.events import GameOver


def notify(line: str) -> None:
    """Write one line to the standard error, whole: two threads that speak at once do not break each other's lines."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def say(line: str) -> None:
    """Print a line that may hold anything that was found in a file: no control characters, nothing unprintable."""
    clean = "".join(letter if letter.isprintable() else "\ufffd" for letter in line)
    encoding = sys.stdout.encoding or "utf-8"
    print(clean.encode(encoding, "replace").decode(encoding))


def none_yet() -> int:
    """Say that there is nothing to list, beside the empty list; the exit code for that."""
    notify("no match has been kept yet: `companion referee` keeps every match that it referees")
    return DONE


def result_words(result: GameOver | None) -> str:
    """How a match ended, for people."""
    if result is None:
        return "open"
    return f"{result.winner} won ({result.rule})" if result.winner else f"drawn ({result.rule})"
