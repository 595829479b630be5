"""Pictures within a space budget: the oldest are removed first, those of disputed verdicts last.

The hash chain stays intact.
"""

from pathlib import Path

import pytest

from companion.events import Accepted, Corrected, Event, Illegal, Restored, Start, ViewChanged
from companion.recorder import stills
from companion.recorder.proof import find_break
from companion.recorder.store import MatchId, Store

BUDGET = 1000


@pytest.fixture(autouse=True)
def _small_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit the space for pictures to ``BUDGET`` bytes."""
    monkeypatch.setattr(stills, "BUDGET_BYTES", BUDGET)


def accusation(n: int) -> Event:
    return Illegal(
        t=1.0, n=n, player="R", attempt=None, rules=("G-2",), reason="No.", cells=("c3",), seen="", expected=""
    )


def move(n: int) -> Event:
    return Accepted(t=1.0, n=n, player="R", move="c3-c4", position="p")


def kept(store: Store, match: MatchId) -> list[int]:
    """Return the numbers of the events whose pictures are still stored."""
    return [record.n for record in store.records(match) if store.evidence(match, record.n) is not None]


def test_the_oldest_pictures_go_first(store: Store, match: MatchId) -> None:
    store.append(match, Start(t=0.0, n=1, position="p"))
    for n in range(2, 9):
        store.append(match, move(n), bytes(300))
    assert kept(store, match) == [6, 7, 8]
    assert find_break(store, match) is None


def test_pictures_of_overruled_verdicts_stay_longest(store: Store, match: MatchId) -> None:
    store.append(match, Start(t=0.0, n=1, position="p"))
    store.append(match, accusation(2), bytes(300))
    store.append(match, ViewChanged(t=1.0, n=3, state="hand"))
    store.append(match, Corrected(t=2.0, n=4, by="Ada", move="c3-c4"))
    store.append(match, accusation(5), bytes(300))
    store.append(match, Restored(t=3.0, n=6))
    for n in range(7, 12):
        store.append(match, move(n), bytes(300))
    assert kept(store, match) == [2, 10, 11]


def test_disputed_ones_go_when_nothing_else_is_left(store: Store, match: MatchId) -> None:
    store.append(match, Start(t=0.0, n=1, position="p"))
    for n in (2, 4, 6):
        store.append(match, accusation(n), bytes(300))
        store.append(match, Corrected(t=2.0, n=n + 1, by="Ada", move="c3-c4"))
    store.append(match, move(8), bytes(900))
    assert kept(store, match) == [8]


def test_a_picture_that_never_fits_is_not_kept_but_its_event_is(store: Store, match: MatchId) -> None:
    store.append(match, Start(t=0.0, n=1, position="p"), bytes(BUDGET + 1))
    assert len(store.events(match)) == 1
    assert kept(store, match) == []
    store.append(match, move(2), bytes(BUDGET))
    assert kept(store, match) == [2]


def test_what_lies_in_the_file_already_counts(path: Path, store: Store, match: MatchId) -> None:
    store.append(match, Start(t=0.0, n=1, position="p"), bytes(800))
    with Store.open(path) as again:
        again.append(match, move(2), bytes(300))
        assert kept(again, match) == [2]
