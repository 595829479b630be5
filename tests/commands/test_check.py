"""`companion check`."""

from __future__ import annotations

import pytest

from tests.commands.conftest import START, Run, answers


def test_check_says_legal(run: Run) -> None:
    assert run("check", START, "c7-c6") == (0, "legal\n", "")
    assert answers(run("check", START, "c7-c6", "--json")[1]) == [{"legal": True, "violations": []}]


def test_check_says_which_rules_are_broken(run: Run) -> None:
    code, out, _ = run("check", "domination 4/6/8/8/3,RGR,4/8/6/3,G R", "d4-d8:2")
    assert code == 1
    assert out == "DOM-5: two pieces go at most two squares; d4 to d8 is four.\n"
    _, out, _ = run("check", START, "b2-c3", "--json")
    assert [v["rule"] for v in answers(out)[0]["violations"]] == ["G-1", "DOM-1", "DOM-4", "DOM-5"]
    assert answers(out)[0]["violations"][-1]["cells"] == ["b2", "c3"]


def test_check_of_many_is_one_object_a_line(run: Run) -> None:
    code, out, _ = run("check", "-", "--json", stdin=f"{START}\tc7-c6\n{START}\tc7-d5\n".encode())
    assert code == 0
    assert [answer["legal"] for answer in answers(out)] == [True, False]


@pytest.mark.parametrize("line", [START, f"{START}\t", f"{START}\tc7-c99", f"{START}\tc7-c6\tc7-c5", "\tc7-c6"])
def test_a_bad_line_to_check_is_an_error_object(run: Run, line: str) -> None:
    code, out, _ = run("check", "-", stdin=line.encode())
    assert code == 2
    assert "error" in answers(out)[0]
