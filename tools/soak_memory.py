"""A long match: does the referee's memory grow?  ``python -m tools.soak_memory --help``.

A table whose board is read without a fault plays on and on: a move is made and taken back, now and then against the
rules and put right.  Everything that grows with a match takes part: referee, store with pictures and grounds, the
page's feed, whose state and boards are asked for after every event.  Memory is what the process holds (RSS).
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
from companion.panel.desk import Desk
from companion.panel.panel import NoPanel
from companion.recorder.keeper import Keeper
from companion.recorder.store import MatchInfo, Store
from companion.referee.referee import Referee
from companion.rules.notation import format_position
from companion.web.boards import VIEWS, Wanted, board_row
from companion.web.feed import Feed
from tools.soak_store import FRAME_S, Scenes
from vision.capture.frames import Frame

EVENTS, STEP = 3000, 500
SETTLED = 500
"""Events after which everything has been used once: growth is counted from there."""

FRAMES_AN_ACT = 24
PAGE = 4096


def rss_mb() -> float:
    """Resident memory of this process in megabytes."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGE / 2**20


class Pendulum(Scenes):
    """A board on which one legal move after another is made and taken back."""

    def frames(self) -> Iterator[Frame]:
        """For ever."""
        picture = self.chance.integers(0, 255, (240, 320, 3), np.uint8)
        game, start, seq = self._game, self._match.position, 0
        moves = game.legal_moves(start)
        for k in range(10**9):
            after = game.play(start, moves[k // 2 % len(moves)]) if k % 2 else start
            self._reading, self._is_new = self._read(game.table(after).stacks), True
            for _ in range(FRAMES_AN_ACT):
                yield Frame(picture, seq, seq * FRAME_S)
                seq += 1


class Enough(Exception):
    """As many events as were wanted have been said."""


def main() -> int:
    """Run it; exit code 1 where memory grows by more than is allowed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=EVENTS, metavar="N")
    parser.add_argument("--game", default="domination")
    parser.add_argument("--most", type=float, default=5.0, metavar="MB", help="growth that is allowed")
    told = parser.parse_args()
    game = load_game(told.game)
    match = Match(game, game.start())
    start = format_position(game, match.position)
    feed = Feed(start)
    held: dict[int, float] = {}

    def watch(event: Event) -> None:
        feed(event)
        feed.state_text()
        for view in VIEWS:
            board_row(Wanted(feed.standing.story.position, view))
        if event.n % STEP == 0:
            held[event.n] = rss_mb()
            print(f"{event.n:>6} events: {held[event.n]:.1f} MB", flush=True)
        if event.n >= told.events:
            raise Enough

    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "long.db")
        keeper = Keeper(store, store.begin(MatchInfo(game.tag, game.players, start, datetime.now(UTC), game.tag)))
        scenes = Pendulum(match, 1)
        table = Table(scenes, scenes, Referee(match, 1), keeper, Desk(NoPanel(), time.monotonic), [watch])
        table.followers.append(feed)
        with contextlib.suppress(Enough):
            table.run()
    grown = held[max(held)] - held[min(n for n in held if n >= SETTLED)]
    print(f"{told.events} events in {time.monotonic() - begun:.0f} s: grown by {grown:.1f} MB")
    return 1 if grown > told.most else 0


if __name__ == "__main__":
    sys.exit(main())
