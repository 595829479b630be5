"""Whole matches before traced light: how often is the referee right?  ``python -m tools.soak_traced --help``.

Players, hands and pieces are those of the simulated table; the board is drawn by path tracing
(:mod:`tools.retraced`) with camera, light and set of :mod:`tools.traced_tables`, the photograph of the enrolment too.
Every fault is printed with its game, seed and time, and the pictures of its calms are kept;
`python -m tools.soak_traced GAME --first SEED --seeds 1 --plies N` repeats it exactly.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import cv2

from companion.app.eyes import Eyes
from companion.app.ground import ground_levels
from companion.app.table import Table
from companion.commands.demo import made_for
from companion.commands.options.game import open_kit
from companion.commands.options.serial import simulated_pillars
from companion.events import Event, Unsure
from companion.games import load_game
from companion.match import Match
from companion.panel.choice import open_desk
from companion.recorder.keeper import Keeper
from companion.recorder.store import MatchInfo, Store
from companion.referee.referee import Referee
from companion.rules.notation import format_position
from companion.simulate.evaluation import Result, compare, is_over
from companion.simulate.players import Habits
from companion.simulate.render import Picture
from companion.simulate.standing import seeded, set_up, upright
from companion.simulate.table import FAST, SimulatedTable
from tools.soak import table, wilson
from tools.traced_tables import drawn_table
from vision.capture.frames import Frame
from vision.enrolment import enrol
from vision.errors import VisionError
from vision.warm_up import warm_up

GAMES = ("domination", "citadel", "cheight", "ziggurat", "diamond")
SEEDS, PLIES = 2, 12

ILLEGAL_SHARE = 0.25
"""Share of the turns in which players break a rule: more often than in other campaigns, so that acts are many."""

KEPT_QUALITY = 95


@dataclass
class Witness:
    """A source that hands on a simulated table's frames and keeps the last one of every calm, as JPEG, by its t_s."""

    source: SimulatedTable
    kept: list[tuple[float, bytes]] = field(default_factory=list)

    def frames(self) -> Iterator[Frame]:
        """As of the table."""
        before, acts = None, 0
        for frame in self.source.frames():
            begun = sum(act.t_calm_to is not None for act in self.source.truth)
            if before is not None and begun > acts:
                self.keep(before)
            before, acts = frame, begun
            yield frame
        if before is not None:
            self.keep(before)

    def close(self) -> None:
        """As of the table."""
        self.source.close()

    def keep(self, frame: Frame) -> None:
        """Keep this frame."""
        _, data = cv2.imencode(".jpg", frame.image, [cv2.IMWRITE_JPEG_QUALITY, KEPT_QUALITY])
        self.kept.append((frame.t_s, data.tobytes()))


@dataclass(frozen=True)
class Run:
    """One match: what came of it, or why its set could not be learned; what table it was, seconds of one core."""

    result: Result
    refused: str
    words: str
    took_s: float


def main(words: Sequence[str] | None = None) -> int:
    """Run the matches one after the other; exit code 1 when there was any fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=GAMES, metavar="GAME")
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="N", help="matches of each game")
    parser.add_argument("--first", type=int, default=1, metavar="S", help="the first seed")
    parser.add_argument("--plies", type=int, default=PLIES, metavar="N", help="accepted moves of each")
    parser.add_argument("--keep", type=Path, default=None, metavar="DIR", help="where pictures of faults are kept")
    told = parser.parse_args(words)
    cv2.setNumThreads(1)
    runs: dict[str, list[Run]] = {game: [] for game in told.games}
    for seed in range(told.first, told.first + told.seeds):
        for game in told.games:
            runs[game].append(run := shoot(game, seed, told.plies, told.keep))
            print(_told(game, seed, run), flush=True)
    print("\n".join(summary(runs)))
    return 0 if all(run.result.is_clean and not run.refused for each in runs.values() for run in each) else 1


def shoot(tag: str, seed: int, plies: int, keep: Path | None = None) -> Run:
    """One match."""
    began_s, game = time.process_time(), load_game(made_for(tag))
    match, kit = Match(game, game.start()), open_kit(None, game)
    levels = ground_levels(kit, game, match.position)
    drawn = drawn_table(kit, levels, seed)
    singles = set_up([kit.enrol.get(cell, "") for cell in kit.cells], levels or None, seeded("still", seed))
    photograph = drawn.painter.picture(upright(singles), 0)
    try:
        appearance = enrol(photograph, kit, drawn.painter.scene.camera, levels)
    except VisionError as error:
        _save(keep, f"{tag}-{seed}-enrolment", _jpeg(photograph))
        return Run(compare([], []), str(error), drawn.words, time.process_time() - began_s)
    eyes = Eyes(kit, drawn.painter.scene.camera, appearance, levels)
    warm_up(eyes.reader)
    habits = Habits(illegal=ILLEGAL_SHARE)
    witness = Witness(SimulatedTable(kit, match, seed, pace=FAST, habits=habits, renderer=drawn.painter))
    result = _refereed(witness, eyes, match, f"{tag}-{seed}", seed, plies, keep)
    if result.faults or result.questions:
        _save(keep, f"{tag}-{seed}-enrolment", _jpeg(photograph))
    return Run(result, "", drawn.words, time.process_time() - began_s)


def _refereed(
    witness: Witness, eyes: Eyes, match: Match, name: str, seed: int, plies: int, keep: Path | None
) -> Result:
    """The match as the program referees it, with the pictures and the store of one that was not without a fault."""
    said: list[Event] = []
    game, source = match.game, witness.source
    kit = open_kit(None, game)
    info = MatchInfo(game.tag, game.players, format_position(game, match.position), datetime.now(UTC), kit.name)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "match.db"
        store = Store.open(place)
        Table(
            witness,
            eyes,
            Referee(match, verifying=True),
            Keeper(store, store.begin(info)),
            open_desk("none", game.players, sys.stdout),
            [said.append, source.hear],
            is_over=lambda: is_over(plies, said, source.truth),
            pillars=simulated_pillars(source, kit, seed, in_real_time=False),
        ).run()
        result = compare(source.truth, said)
        if result.faults or result.questions:
            _save(keep, name, place.read_bytes(), ".db")
    moments = [fault.t_s for fault in result.faults] + [event.t for event in said if isinstance(event, Unsure)]
    _save_around(keep, name, witness.kept, moments)
    return result


def _save_around(keep: Path | None, name: str, kept: Sequence[tuple[float, bytes]], moments: Sequence[float]) -> None:
    """Save what was seen of the two calms before each moment, and of the one in which it falls."""
    for t_s in moments:
        after = next((i for i, (seen_s, _) in enumerate(kept) if seen_s >= t_s), len(kept) - 1)
        for seen_s, data in kept[max(0, after - 2) : after + 1]:
            _save(keep, f"{name}-{seen_s:.2f}s", data)


def _save(keep: Path | None, name: str, data: bytes, ending: str = ".jpg") -> None:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / (name.replace("/", "-").replace(":", "-") + ending)).write_bytes(data)


def _jpeg(picture: Picture) -> bytes:
    _, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, KEPT_QUALITY])
    return data.tobytes()


def _told(game: str, seed: int, run: Run) -> str:
    """What came of one match, in lines."""
    result = run.result
    heads = f"{game} --first {seed}  {run.words}; {run.took_s:.0f} s"
    if run.refused:
        return f"{heads}\n  refused: {run.refused}"
    counts = f"  {result.accepted} of {result.moves} moves, {result.caught} of {result.acts} acts, "
    counts += f"{result.questions} questions"
    return "\n".join([heads, counts, *(fault.line() for fault in result.faults)])


def summary(runs: dict[str, list[Run]]) -> list[str]:
    """A row a game, and the sets that were refused."""
    everything = [run for each in runs.values() for run in each]
    refused = sum(bool(run.refused) for run in everything)
    low, high = wilson(refused, len(everything))
    return [
        *table({game: [run.result for run in each] for game, each in runs.items()}),
        f"sets refused: {refused} of {len(everything)} ({100 * low:.1f}-{100 * high:.1f} %)",
    ]


if __name__ == "__main__":
    sys.exit(main())
