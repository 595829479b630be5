"""Checks that no printed event is lost by power cuts.  ``make soak``, or ``python -m tools.soak_store --help``.

A program referees simulated matches, stores and then prints each event, and is killed with SIGKILL at a random moment;
the next one resumes the match.  After every kill the store must open and contain every printed event unchanged, and its
latest matches must pass the checks of the hash chain and of the rules.  Killing a process does not test whether the
disk keeps its promises, as a real power cut would.
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

from companion.app.camera_reader import ReadResult
from companion.app.resumption import find_interrupted
from companion.app.table import Table
from companion.errors import CompanionError
from companion.events import Event, to_json
from companion.games import load_game
from companion.match import Match
from companion.panel.controller import PanelController
from companion.panel.panel import NoPanel
from companion.recorder.keeper import Keeper
from companion.recorder.proof import find_break
from companion.recorder.store import MatchInfo, Store
from companion.referee.referee import Referee
from companion.replay import first_fault
from companion.rules.notation import format_position
from companion.simulate.players import Habits, play
from companion.simulate.readings import Noise, kit_states, next_frame, read_table
from vision.capture.frames import Frame
from vision.reading import Reading

KILLS, GAME = 200, "domination"
MAX_LINES, MAX_DELAY_S = 60, 0.04
"""A program is killed after a random number of lines up to MAX_LINES and a random delay up to MAX_DELAY_S, the time of
two commits."""

EXACT = Noise(height_nats=60.0, top_nats=60.0, frame_nats=0.1)
"""A reader that makes no mistakes."""

FRAME_S, FRAMES_PER_ACT = 1 / 12, 48
MAX_HEIGHT = 10
"""Number of pieces in the tallest stack that readings distinguish."""


class Scenes:
    """Source and reader of a simulated table that is read without errors; random players act one after the other."""

    def __init__(self, match: Match, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self._game, self._match, self._seed = match.game, match, seed
        self._reading = self._read(match.game.table(match.position).stacks)
        self._is_new = True

    def _read(self, stacks: tuple[str, ...]) -> Reading:
        """A reading of ``stacks``."""
        states = kit_states(self._game.pieces, MAX_HEIGHT, hides=True)
        return read_table(self._game.layout.cells, states, [*map(self._game.sight, stacks)], EXACT, self.rng)

    def frames(self) -> Iterator[Frame]:
        """Frames of the start position and then after each act."""
        picture = self.rng.integers(0, 255, (240, 320, 3), np.uint8)
        seq = 0
        acts = play(self._match, random.Random(self._seed), Habits())
        for act in chain([None], acts):
            if act is not None:
                self._reading, self._is_new = self._read(act.table.stacks), True
            for _ in range(FRAMES_PER_ACT):
                yield Frame(picture, seq, seq * FRAME_S)
                seq += 1

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def moving(self, _frame: Frame) -> bool:
        """Whether something moves: only in the first frame of an act."""
        was_new, self._is_new = self._is_new, False
        return was_new

    @property
    def instability(self) -> str:
        """Empty: nothing moves all the time."""
        return ""

    @property
    def reaching_from(self) -> frozenset[str]:
        """Empty: there are no arms."""
        return frozenset()

    def look(self, frame: Frame, *_: object, **__: object) -> ReadResult:
        """The reading of the present frame."""
        return ReadResult(next_frame(self._reading, frame.t_s, EXACT, self.rng))

    def understood(self) -> None:
        """Do nothing."""

    def learn(self, _layout: Mapping[str, str]) -> None:
        """Do nothing: there is no appearance to learn."""


def print_event(event: Event) -> None:
    """Print an event at once and by a single write, so that a kill does not truncate it."""
    sys.stdout.write(json.dumps(to_json(event)) + "\n")
    sys.stdout.flush()


def referee_forever(path: Path, game: str, seed: int) -> None:
    """Resume the unfinished match of the store or begin a new one, then the next, until killed."""
    while True:
        store = Store.open(path)
        unfinished = find_interrupted(store, [game])
        match = unfinished.match if unfinished else Match(load_game(game), load_game(game).start())
        start = format_position(match.game, match.position)
        info = MatchInfo(game, match.game.players, start, datetime.now(UTC), game)
        keeper = Keeper(store, unfinished.number if unfinished else store.begin(info))
        print(json.dumps({"match": keeper.match}), flush=True)
        scenes = Scenes(match, seed)
        referee = Referee(match, unfinished.next_n if unfinished else 1)
        announcer = PanelController(NoPanel(), time.monotonic)
        Table(
            scenes, scenes, referee, keeper, announcer, [print_event], from_s=unfinished.from_s if unfinished else None
        ).run()
        seed += 1000


@dataclass
class Tally:
    """Counts of kills, of events shown and lost, of unreadable or broken stores, and of resumed matches."""

    kills: int = 0
    shown: int = 0
    lost: int = 0
    unreadable: int = 0
    resumed: int = 0


def campaign(path: Path, kills: int, game: str = GAME, seed: int = 1) -> Tally:
    """Kill a refereeing program ``kills`` times, and check the store each time."""
    rng, tally = random.Random(seed), Tally()
    for k in range(kills):
        lines = play_and_kill(path, game, seed + k, rng.randint(1, MAX_LINES), rng.uniform(0.0, MAX_DELAY_S))
        tally.kills += 1
        try:
            check_store(path, lines, tally)
        except CompanionError as error:
            tally.unreadable += 1
            print(f"kill {k}: {error}", flush=True)
    return tally


def play_and_kill(path: Path, game: str, seed: int, count: int, delay_s: float) -> list[dict[str, object]]:
    """Run a program, kill it ``delay_s`` after its ``count``-th line, and return the complete lines that it printed.

    Raises SystemExit if it ended by itself.
    """
    command = [sys.executable, "-m", "tools.soak_store", "--play", str(path), "--game", game, "--first", str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as program:  # noqa: S603 — our own program
        assert program.stdout is not None
        try:
            text = b"".join(program.stdout.readline() for _ in range(count))
            time.sleep(delay_s)
        finally:
            program.kill()
        text += program.stdout.read()
    if program.returncode != -signal.SIGKILL:
        raise SystemExit(f"the program ended by itself with {program.returncode}, before it was killed")
    complete, _, _ = text.rpartition(b"\n")
    return [json.loads(line) for line in complete.splitlines()]


def check_store(path: Path, lines: list[dict[str, object]], tally: Tally) -> None:
    """Compare the printed lines with the store, and update ``tally``.

    Raises CompanionError if the store does not open, or one of its last two matches is broken.
    """
    with Store.open(path) as store:
        match = None
        for line in lines:
            if "match" in line:
                match = next(number for number in store.match_ids() if number == line["match"])
                stored = {event.n: to_json(event) for event in store.events(match)}
                tally.resumed += bool(lines[1:]) and lines[1].get("event") != "start" and line is lines[0]
                continue
            tally.shown += 1
            tally.lost += stored.get(int(str(line["n"]))) != line
        for number in store.match_ids()[-2:]:
            broken, fault = find_break(store, number), first_fault(store.events(number))
            if broken is not None or fault is not None:
                raise CompanionError(f"match {number} breaks: {broken or fault}")


def main() -> int:
    """Run the campaign, or act as the program that is killed; return 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS, metavar="N")
    parser.add_argument("--game", default=GAME)
    parser.add_argument("--first", type=int, default=1, metavar="S", help="the first seed")
    parser.add_argument(
        "--play", type=Path, metavar="FILE", help="act as the program that referees into this store until killed"
    )
    options = parser.parse_args()
    if options.play is not None:
        referee_forever(options.play, options.game, options.first)
    begun_s = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        tally = campaign(Path(folder) / "soak.db", options.kills, options.game, options.first)
    print(
        f"{tally.kills} kills in {time.monotonic() - begun_s:.0f} s: {tally.shown} events were shown, "
        f"{tally.lost} of them lost; {tally.unreadable} stores unreadable or broken; {tally.resumed} matches went on"
    )
    return 1 if tally.lost or tally.unreadable else 0


if __name__ == "__main__":
    sys.exit(main())
