"""The file of rounds arranged on the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.errors import CompanionError
from companion.hall.rounds import Pairing, Round, read_rounds
from companion.hall.tournament import Tournament, arranged

FIRST = Round("Round 1", (Pairing("table-1", ("Ada Lovelace", "Bo-Anne")),))
SECOND = Round("Round 2", (Pairing("table-1", ("Cy", "Di", "Eve")), Pairing("table-2", ("Fay", "Gil"))))


def test_what_is_arranged_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "rounds.txt"
    tournament = Tournament(file)
    tournament.arrange(0, FIRST)
    tournament.arrange(1, SECOND)
    assert read_rounds(file.read_text()) == (FIRST, SECOND)
    assert Tournament(file).rounds == (FIRST, SECOND)
    tournament.arrange(0, Round("Round 1", ()))
    assert Tournament(file).rounds == (SECOND,)


def test_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    tournament = Tournament(tmp_path / "none" / "rounds.txt")
    with pytest.raises(CompanionError, match="cannot be written"):
        tournament.arrange(0, FIRST)
    assert (tournament.rounds, tournament.edition) == ((), 0)


@pytest.mark.parametrize(
    ("title", "table", "names", "fault"),
    [
        ("", "t", ["A", "B"], "title: give the round a name"),
        ("One", "a b", ["A", "B"], "table: give a name"),
        ("One", "t:", ["A", "B"], "table: give a name"),
        ("One", "t", ["A", " "], "t: give each player a name"),
        ("One", "t", ["A - B", "C"], "no name may have a dash between two spaces"),
        ("One", "t", ["A"], "give 2 to 4 names"),
        ("One", "t", ["A\nB", "C"], "names"),
    ],
)
def test_what_no_file_can_hold_is_refused(title: str, table: str, names: list[str], fault: str) -> None:
    with pytest.raises(CompanionError, match=fault):
        arranged({"title": title, "matches": [{"table": table, "names": names}]})
