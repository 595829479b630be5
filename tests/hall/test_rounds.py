"""Rounds of a tournament, and the results assigned to them."""

from __future__ import annotations

import pytest

from companion.errors import BadText
from companion.hall.rounds import Finished, read_rounds, rows, scores

TEXT = """
# Round 1
table-1: Ada Lovelace - Bo-Anne
table-2: Cy – Di

# Round 2
table-1: Bo-Anne - Cy
"""


def test_results_fill_their_rounds() -> None:
    rounds = read_rounds(TEXT)
    assert [(one.title, len(one.pairings)) for one in rounds] == [("Round 1", 2), ("Round 2", 1)]
    finished = (
        Finished("table-1", ("Ada Lovelace", "Bo-Anne"), 0, "DOM-8"),
        Finished("table-2", ("Red", "Green"), None, "G-4", is_named=False),
        Finished("table-9", ("Eve", "Fay"), 1, "arbiter"),
    )
    found = list(rows(rounds, finished))
    assert [(row.round, row.names, row.points) for row in found] == [
        ("Round 1", ("Ada Lovelace", "Bo-Anne"), (1.0, 0.0)),
        ("Round 1", ("Cy", "Di"), (0.5, 0.5)),
        ("Round 2", ("Bo-Anne", "Cy"), None),
        ("", ("Eve", "Fay"), (0.0, 1.0)),
    ]
    assert scores(found) == [
        ("Ada Lovelace", 1.0, 1),
        ("Fay", 1.0, 1),
        ("Cy", 0.5, 1),
        ("Di", 0.5, 1),
        ("Bo-Anne", 0.0, 1),
        ("Eve", 0.0, 1),
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("table-1: Ada - Bo", "line 1: a match before the first round"),
        ("# Round 1\ntable-1 Ada Bo", "line 2: write # and"),
        ("# Round 1\ntable-1: Ada", "line 2: give 2 to 4 names"),
    ],
)
def test_a_faulty_file_is_named_by_its_line(text: str, fault: str) -> None:
    with pytest.raises(BadText, match=fault):
        read_rounds(text)
