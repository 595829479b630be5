"""Lines of text that commands print."""

from __future__ import annotations

import sys

from companion.commands.output.codes import DONE
from companion.events import GameOver


def notify(line: str) -> None:
    """Write one line to standard error in one piece, so that the lines of two threads do not mix."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def say(line: str) -> None:
    """Print a line with text from a file; unprintable and control characters are replaced."""
    clean = "".join(letter if letter.isprintable() else "\ufffd" for letter in line)
    encoding = sys.stdout.encoding or "utf-8"
    print(clean.encode(encoding, "replace").decode(encoding))


def report_no_matches() -> int:
    """Say on standard error that there is nothing to list; return the exit code for that."""
    notify("no match has been kept yet: `companion referee` keeps every match that it referees")
    return DONE


def result_words(result: GameOver | None) -> str:
    """The result of a match, in words for people."""
    if result is None:
        return "open"
    return f"{result.winner} won ({result.rule})" if result.winner else f"drawn ({result.rule})"
