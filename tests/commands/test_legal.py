"""`companion legal`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.commands.conftest import LATE, START, Run, answers


def test_legal_of_many_is_one_object_a_line(run: Run) -> None:
    code, out, _ = run("legal", "-", "--json", stdin=f"{START}\n\n{LATE}\r\n".encode())
    first, second = answers(out)
    assert code == 0
    assert first["position"] == START
    assert len(first["legal"]) == 68
    assert first["outcome"] is None
    assert second == {"position": LATE, "legal": [], "outcome": {"winner": "G", "rule": "DOM-8"}}


def test_a_bad_line_among_many_is_an_error_object(run: Run) -> None:
    lines = [START.encode(), b"\xff\xfe\x00\x1b[31m", b"domination " + b"R" * 100_000, LATE.encode()]
    code, out, err = run("legal", "-", stdin=b"\n".join(lines))
    rows = answers(out)
    assert code == 2
    assert err == ""
    assert ["error" in row for row in rows] == [False, True, True, False]
    assert len(out.splitlines()[2]) < 5000


@pytest.mark.slow
def test_a_closed_pipe_is_no_error(started: Callable[..., subprocess.Popen[bytes]]) -> None:
    words = [sys.executable, "-m", "companion.cli", "legal", "-"]
    process = started(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    try:
        process.stdin.write(f"{START}\n".encode() * 200)
        process.stdin.close()
    except BrokenPipeError:
        pass
    assert process.stderr.read() == b""
    assert process.wait() == 0
