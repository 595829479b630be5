"""Bad input to the commands about rules."""

from __future__ import annotations

import pytest

from tests.commands.conftest import START, Run


@pytest.mark.parametrize(
    "words",
    [
        ["start", "dominatoin"],
        ["start", "domination:clasic"],
        ["start", "citadel/3"],
        ["show", "domination"],
        ["legal", ""],
        ["legal", "x" * 100_000],
        ["legal", "domination\n4"],
        ["check", START],
        ["check", START, "a1-b1"],
        ["play", START, "c7-c6:1"],
        ["perft", START, "-1"],
        ["perft", START, "many"],
        ["perft", START, "99"],
        ["perft", START, "1.5"],
        ["perft", START],
        ["start"],
    ],
)
def test_bad_input_is_one_line_and_exit_code_two(run: Run, words: list[str]) -> None:
    code, out, err = run(*words)
    assert code == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "Traceback" not in err
    assert len(err) < 600
