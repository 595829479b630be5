"""Power cuts by the hundred: is anything lost that was shown?  ``make soak``, or ``python -m tools.soak_store --help``.

A program referees simulated matches, each event kept and then printed, and is killed with SIGKILL at a random moment;
the next one goes on with the match.  After every kill the store must open, hold every event that was printed, word for
word, and follow the rules with its chain whole.  Only killing is tried here: a pulled plug also tries the disk's word.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

import numpy as np

from companion.app.eyes import Look
from companion.app.resumption import interrupted
from companion.app.table import Table
from companion.errors import CompanionError
from companion.events import Event, to_json
from companion.games import load_game
from companion.match import Match
from companion.panel.desk import Desk
from companion.panel.panel import NoPanel
from companion.recorder.keeper import Keeper
from companion.recorder.proof import broken_at
from companion.recorder.store import MatchInfo, Store
from companion.referee.referee import Referee
from companion.replay import first_fault
from companion.rules.notation import format_position
from companion.simulate.players import Habits, play
from companion.simulate.readings import Noise, kit_states, next_frame, read_table
from vision.capture.frames import Frame
from vision.reading import Reading

KILLS, GAME = 200, "domination"
MOST_LINES, LONGEST_S = 60, 0.04
"""A program is killed when it has printed up to so many lines, and then at a random moment of so long: two commits."""

CLEAR = Noise(height_nats=60.0, top_nats=60.0, frame_nats=0.1)
FRAME_S, FRAMES_AN_ACT = 1 / 12, 48
HIGHEST = 10


class Scenes:
    """Source and eyes of a table that is read without a fault: acts of random players, one after the other."""

    def __init__(self, match: Match, seed: int) -> None:
        self.chance = np.random.default_rng(seed)
        self._game, self._match, self._seed = match.game, match, seed
        self._reading = self._read(match.game.table(match.position).stacks)
        self._is_new = True

    def _read(self, stacks: tuple[str, ...]) -> Reading:
        states = kit_states(self._game.pieces, HIGHEST, hides=True)
        return read_table(self._game.layout.cells, states, [*map(self._game.sight, stacks)], CLEAR, self.chance)

    def frames(self) -> Iterator[Frame]:
        """The opening and then act by act."""
        picture = self.chance.integers(0, 255, (240, 320, 3), np.uint8)
        seq = 0
        acts = play(self._match, random.Random(self._seed), Habits())
        for act in chain([None], acts):
            if act is not None:
                self._reading, self._is_new = self._read(act.table.stacks), True
            for _ in range(FRAMES_AN_ACT):
                yield Frame(picture, seq, seq * FRAME_S)
                seq += 1

    def close(self) -> None:
        """Nothing is open."""

    def moving(self, _frame: Frame) -> bool:
        """In the first frame of an act."""
        was_new, self._is_new = self._is_new, False
        return was_new

    @property
    def unrest(self) -> str:
        """Nothing is restless."""
        return ""

    @property
    def reaching_from(self) -> frozenset[str]:
        """No arm is seen."""
        return frozenset()

    def look(self, frame: Frame, *_: object, **__: object) -> Look:
        """What lies there."""
        return Look(next_frame(self._reading, frame.t_s, CLEAR, self.chance))

    def understood(self) -> None:
        """No matter."""

    def learn(self, _layout: Mapping[str, str]) -> None:
        """Nothing is laid bare that was not seen."""


def shown(event: Event) -> None:
    """Print an event at once: in one piece, so that none is cut in two by the kill."""
    sys.stdout.write(json.dumps(to_json(event)) + "\n")
    sys.stdout.flush()


def referee_for_ever(path: Path, game: str, seed: int) -> None:
    """Go on with the unfinished match of the store, or begin one; then the next, until somebody kills us."""
    while True:
        store = Store.open(path)
        left = interrupted(store, [game])
        match = left.match if left else Match(load_game(game), load_game(game).start())
        start = format_position(match.game, match.position)
        info = MatchInfo(game, match.game.players, start, datetime.now(UTC), game)
        keeper = Keeper(store, left.number if left else store.begin(info))
        print(json.dumps({"match": keeper.match}), flush=True)
        scenes = Scenes(match, seed)
        referee = Referee(match, left.next_n if left else 1)
        desk = Desk(NoPanel(), time.monotonic)
        Table(scenes, scenes, referee, keeper, desk, [shown], from_s=left.from_s if left else None).run()
        seed += 1000


@dataclass
class Tally:
    """What came of the kills."""

    kills: int = 0
    shown: int = 0
    lost: int = 0
    unreadable: int = 0
    resumed: int = 0


def campaign(path: Path, kills: int, game: str = GAME, seed: int = 1) -> Tally:
    """Kill a refereeing program again and again; how often anything was lost."""
    chance, tally = random.Random(seed), Tally()
    for k in range(kills):
        lines = killed(path, game, seed + k, chance.randint(1, MOST_LINES), chance.uniform(0.0, LONGEST_S))
        tally.kills += 1
        try:
            check(path, lines, tally)
        except CompanionError as error:
            tally.unreadable += 1
            print(f"kill {k}: {error}", flush=True)
    return tally


def killed(path: Path, game: str, seed: int, count: int, after_s: float) -> list[dict[str, object]]:
    """What a program printed before it was killed, so long after so many lines."""
    words = [sys.executable, "-m", "tools.soak_store", "--play", str(path), "--game", game, "--first", str(seed)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as program:  # noqa: S603 — our own program
        assert program.stdout is not None
        try:
            text = b"".join(program.stdout.readline() for _ in range(count))
            time.sleep(after_s)
        finally:
            program.kill()
        text += program.stdout.read()
    if program.returncode != -signal.SIGKILL:
        raise SystemExit(f"the program ended by itself with {program.returncode}, before it was killed")
    whole, _, _ = text.rpartition(b"\n")
    return [json.loads(line) for line in whole.splitlines()]


def check(path: Path, lines: list[dict[str, object]], tally: Tally) -> None:
    """Hold what was printed against the store.  Raises CompanionError when it does not open."""
    with Store.open(path) as store:
        match = None
        for line in lines:
            if "match" in line:
                match = next(number for number in store.match_ids() if number == line["match"])
                kept = {event.n: to_json(event) for event in store.events(match)}
                tally.resumed += bool(lines[1:]) and lines[1].get("event") != "start" and line is lines[0]
                continue
            tally.shown += 1
            tally.lost += kept.get(int(str(line["n"]))) != line
        for number in store.match_ids()[-2:]:
            broken, fault = broken_at(store, number), first_fault(store.events(number))
            if broken is not None or fault is not None:
                raise CompanionError(f"match {number} breaks: {broken or fault}")


def main() -> int:
    """Run the campaign, or be the program that is killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS, metavar="N")
    parser.add_argument("--game", default=GAME)
    parser.add_argument("--first", type=int, default=1, metavar="S", help="the first seed")
    parser.add_argument("--play", type=Path, metavar="FILE", help="referee into this store until killed")
    told = parser.parse_args()
    if told.play is not None:
        referee_for_ever(told.play, told.game, told.first)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        tally = campaign(Path(folder) / "soak.db", told.kills, told.game, told.first)
    print(
        f"{tally.kills} kills in {time.monotonic() - begun:.0f} s: {tally.shown} events were shown, "
        f"{tally.lost} of them lost; {tally.unreadable} stores unreadable or broken; {tally.resumed} matches went on"
    )
    return 1 if tally.lost or tally.unreadable else 0


if __name__ == "__main__":
    sys.exit(main())
