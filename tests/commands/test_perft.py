"""`companion perft`."""

from __future__ import annotations

from tests.commands.conftest import START, Run, answers


def test_perft_divides(run: Run) -> None:
    code, out, _ = run("perft", START, "2", "--divide")
    *counts, total = out.splitlines()
    assert code == 0
    assert total == "4460"
    assert sum(int(line.split(": ")[1]) for line in counts) == 4460
    assert answers(run("perft", START, "0", "--divide", "--json")[1])[0]["count"] == 1
