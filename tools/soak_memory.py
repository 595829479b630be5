"""Checks that memory does not grow during a long match.  ``python -m tools.soak_memory --help``.

On a table that is read without errors, moves are made and taken back again and again.  Everything that grows with a
match takes part: the referee, the store with pictures and explanations, the page's feed, whose state and boards are
requested after every event.  Memory is the resident set size (RSS) of the process.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from companion.app.table import Table
from companion.events import Event
from companion.games import load_game
from companion.match import Match
from companion.panel.controller import PanelController
from companion.panel.panel import NoPanel
from companion.recorder.keeper import Keeper
from companion.recorder.store import MatchInfo, Store
from companion.referee.referee import Referee
from companion.rules.notation import format_position
from companion.web.boards import VIEWS, BoardRequest, board_row
from companion.web.feed import Feed
from tools.soak_store import FRAME_S, Scenes
from vision.capture.frames import Frame

EVENTS, REPORT_EVERY = 3000, 500
"""Number of events, and of events between two measurements."""

WARM_UP = 500
"""Number of events after which everything has been used once; growth is measured from there."""

FRAMES_PER_ACT = 24
PAGE = 4096
"""Bytes of a memory page."""


def rss_mb() -> float:
    """Resident memory of this process in MiB, after garbage collection."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGE / 2**20


class AlternatingMoves(Scenes):
    """A board on which one legal move after another is made and taken back."""

    def frames(self) -> Iterator[Frame]:
        """Frames without end: alternately the start position and one after a legal move."""
        picture = self.rng.integers(0, 255, (240, 320, 3), np.uint8)
        game, start, seq = self._game, self._match.position, 0
        moves = game.legal_moves(start)
        for k in range(10**9):
            after = game.play(start, moves[k // 2 % len(moves)]) if k % 2 else start
            self._reading, self._is_new = self._read(game.table(after).stacks), True
            for _ in range(FRAMES_PER_ACT):
                yield Frame(picture, seq, seq * FRAME_S)
                seq += 1


class EnoughEvents(Exception):
    """The wanted number of events has been reached."""


def main() -> int:
    """Run the match; return 1 if memory grows by more than is allowed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=EVENTS, metavar="N")
    parser.add_argument("--game", default="domination")
    parser.add_argument("--most", type=float, default=5.0, metavar="MB", help="allowed growth")
    options = parser.parse_args()
    game = load_game(options.game)
    match = Match(game, game.start())
    start = format_position(game, match.position)
    feed = Feed(start)
    memory_mb: dict[int, float] = {}

    def watch(event: Event) -> None:
        feed(event)
        feed.state_text()
        for view in VIEWS:
            board_row(BoardRequest(feed.page_state.history.position, view))
        if event.n % REPORT_EVERY == 0:
            memory_mb[event.n] = rss_mb()
            print(f"{event.n:>6} events: {memory_mb[event.n]:.1f} MB", flush=True)
        if event.n >= options.events:
            raise EnoughEvents

    begun_s = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "long.db")
        keeper = Keeper(store, store.begin(MatchInfo(game.tag, game.players, start, datetime.now(UTC), game.tag)))
        scenes = AlternatingMoves(match, 1)
        table = Table(scenes, scenes, Referee(match, 1), keeper, PanelController(NoPanel(), time.monotonic), [watch])
        table.state_observers.append(feed)
        with contextlib.suppress(EnoughEvents):
            table.run()
    growth_mb = memory_mb[max(memory_mb)] - memory_mb[min(n for n in memory_mb if n >= WARM_UP)]
    print(f"{options.events} events in {time.monotonic() - begun_s:.0f} s: grown by {growth_mb:.1f} MB")
    return 1 if growth_mb > options.most else 0


if __name__ == "__main__":
    sys.exit(main())
