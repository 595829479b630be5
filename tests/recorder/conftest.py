"""A new store for each test, with one match in it, and events."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from companion.events import Accepted, Event, Start
from companion.recorder.store import MatchId, MatchInfo, Store

POSITION = "domination 4/R,R,G,G,R,R/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/G,G,R,R,G,G/4 R"


@pytest.fixture
def info() -> MatchInfo:
    """Return the description of a match at its beginning."""
    begun = datetime(2026, 11, 21, 19, 30, tzinfo=UTC)
    return MatchInfo("domination", ("R", "G"), POSITION, begun, "domination", ("Ada", "Émile"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of the store."""
    return tmp_path / "matches.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """Open a new store."""
    with Store.open(path) as opened:
        yield opened


@pytest.fixture
def match(store: Store, info: MatchInfo) -> MatchId:
    """Return the id of a match that has begun."""
    return store.begin(info)


@pytest.fixture
def event() -> Callable[[int], Event]:
    """Return a function that makes the ``n``-th event of a match."""

    def make(n: int) -> Event:
        if n == 1:
            return Start(t=0.0, n=1, position=POSITION)
        return Accepted(t=1.5 * n, n=n, player="RG"[n % 2], move=f"c3-d3:{n}", position=POSITION)

    return make
