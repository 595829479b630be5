"""Runs whole matches on path-traced pictures, and counts the referee's faults.  ``python -m tools.soak_traced --help``.

Players and hands are those of the simulated table; board and pieces are rendered by path tracing
(:mod:`tools.incremental_tracer`) with camera, light and set of :mod:`tools.traced_tables`, also for the enrolment.
Every fault is printed with its game, seed and time, and pictures of the calm table around it can be saved (`--keep`);
`python -m tools.soak_traced GAME --first SEED --seeds 1 --plies N` reproduces it exactly.  With `--shadow 0.2` half of
every frame of the match is in a hard shadow that leaves a fifth of the light.  With `--think 10` people take ten
seconds before they answer each verdict.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import cv2

from companion.app.camera_reader import CameraReader
from companion.app.ground import ground_levels
from companion.app.table import Table
from companion.commands.demo import made_for
from companion.commands.options.game import open_kit
from companion.commands.options.serial import simulated_pillars
from companion.events import Event, Unsure
from companion.games import load_game
from companion.match import Match
from companion.panel.choice import open_panel
from companion.recorder.keeper import Keeper
from companion.recorder.store import MatchInfo, Store
from companion.referee.referee import Referee
from companion.rules.notation import format_position
from companion.simulate.evaluation import Result, compare, is_over
from companion.simulate.placement import make_rng, set_up, upright
from companion.simulate.players import Habits
from companion.simulate.render import Picture
from companion.simulate.table import FAST, SimulatedTable
from tools.shadows import HalfShadow
from tools.soak import table, wilson
from tools.traced_tables import drawn_table
from vision.capture.frames import Frame
from vision.enrolment import enrol
from vision.errors import VisionError
from vision.warm_up import warm_up

GAMES = ("domination", "citadel", "cheight", "ziggurat", "diamond")
SEEDS, PLIES = 2, 12
"""Matches of each game, and accepted moves of each."""

ILLEGAL_SHARE = 0.25
"""Fraction of turns in which players break a rule: higher than in other campaigns, for more illegal acts."""

JPEG_QUALITY = 95


@dataclass
class FrameKeeper:
    """A source that passes on a simulated table's frames, and keeps the last one before each act.

    Attributes:
        source: the simulated table.
        shadow: a shadow over all frames; None for none.
        kept: time in s and JPEG data of the kept frames.
    """

    source: SimulatedTable
    shadow: HalfShadow | None = None
    kept: list[tuple[float, bytes]] = field(default_factory=list)

    def frames(self) -> Iterator[Frame]:
        """The table's frames."""
        before, acts_seen = None, 0
        for table_frame in self.source.frames():
            frame = self._shaded(table_frame)
            acts_begun = sum(act.t_calm_to is not None for act in self.source.truth)
            if before is not None and acts_begun > acts_seen:
                self.keep(before)
            before, acts_seen = frame, acts_begun
            yield frame
        if before is not None:
            self.keep(before)

    def close(self) -> None:
        """Close the table."""
        self.source.close()

    def _shaded(self, frame: Frame) -> Frame:
        return frame if self.shadow is None else replace(frame, image=self.shadow.over(frame.image))

    def keep(self, frame: Frame) -> None:
        """Keep a frame."""
        _, data = cv2.imencode(".jpg", frame.image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
        self.kept.append((frame.t_s, data.tobytes()))


@dataclass(frozen=True)
class Run:
    """One match: its result, or why the enrolment was refused; description of the table, processor time."""

    result: Result
    refused: str
    description: str
    cpu_s: float


def main(description: Sequence[str] | None = None) -> int:
    """Run the matches one by one; return 1 if there was any fault or a refused enrolment."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=GAMES, metavar="GAME")
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="N", help="matches of each game")
    parser.add_argument("--first", type=int, default=1, metavar="S", help="the first seed")
    parser.add_argument("--plies", type=int, default=PLIES, metavar="N", help="accepted moves of each match")
    parser.add_argument(
        "--shadow", type=float, default=1.0, metavar="SHARE", help="share of the light left in half of each frame"
    )
    parser.add_argument(
        "--think", type=float, default=FAST.think_s, metavar="S", help="seconds from a verdict to the next act"
    )
    parser.add_argument(
        "--keep", type=Path, default=None, metavar="DIR", help="folder in which pictures of faults are saved"
    )
    options = parser.parse_args(description)
    cv2.setNumThreads(1)
    runs: dict[str, list[Run]] = {game: [] for game in options.games}
    for seed in range(options.first, options.first + options.seeds):
        for game in options.games:
            settings = options.plies, options.think, options.keep, options.shadow
            runs[game].append(run := play_match(game, seed, *settings))
            print(_report(game, seed, run), flush=True)
    print("\n".join(summary(runs)))
    return 0 if all(run.result.is_clean and not run.refused for game_runs in runs.values() for run in game_runs) else 1


def play_match(
    tag: str, seed: int, plies: int, think_s: float = FAST.think_s, keep: Path | None = None, shadow: float = 1.0
) -> Run:
    """Enrol the set of a random table, and simulate one match on it."""
    begun_s, game = time.process_time(), load_game(made_for(tag))
    match, kit = Match(game, game.start()), open_kit(None, game)
    levels = ground_levels(kit, game, match.position)
    random_table = drawn_table(kit, levels, seed)
    single_pieces = set_up([kit.enrol.get(cell, "") for cell in kit.cells], levels or None, make_rng("still", seed))
    photograph = random_table.painter.picture(upright(single_pieces), 0)
    try:
        appearance = enrol(photograph, kit, random_table.painter.scene.camera, levels)
    except VisionError as error:
        _save(keep, f"{tag}-{seed}-enrolment", _jpeg(photograph))
        return Run(compare([], []), str(error), random_table.description, time.process_time() - begun_s)
    camera_reader = CameraReader(kit, random_table.painter.scene.camera, appearance, levels)
    warm_up(camera_reader.reader)
    habits = Habits(illegal=ILLEGAL_SHARE)
    pace = replace(FAST, think_s=think_s)
    simulated = SimulatedTable(kit, match, seed, pace=pace, habits=habits, renderer=random_table.painter)
    cast = HalfShadow(photograph.shape[:2], shadow, f"{tag} {seed}") if shadow < 1 else None
    keeper = FrameKeeper(simulated, cast)
    result = _referee_match(keeper, camera_reader, match, f"{tag}-{seed}", seed, plies, keep)
    if result.faults or result.questions:
        _save(keep, f"{tag}-{seed}-enrolment", _jpeg(photograph))
    return Run(result, "", random_table.description, time.process_time() - begun_s)


def _referee_match(
    keeper: FrameKeeper, camera_reader: CameraReader, match: Match, name: str, seed: int, plies: int, keep: Path | None
) -> Result:
    """Referee the match; save pictures and store if it had faults or questions."""
    events: list[Event] = []
    game, source = match.game, keeper.source
    kit = open_kit(None, game)
    info = MatchInfo(game.tag, game.players, format_position(game, match.position), datetime.now(UTC), kit.name)
    with tempfile.TemporaryDirectory() as folder:
        store_path = Path(folder) / "match.db"
        store = Store.open(store_path)
        Table(
            keeper,
            camera_reader,
            Referee(match, verifying=True),
            Keeper(store, store.begin(info)),
            open_panel("none", game.players, sys.stdout),
            [events.append, source.hear],
            is_over=lambda: is_over(plies, events, source.truth),
            pillars=simulated_pillars(source, kit, seed, in_real_time=False),
        ).run()
        result = compare(source.truth, events)
        if result.faults or result.questions:
            _save(keep, name, store_path.read_bytes(), ".db")
    moments_s = [fault.t_s for fault in result.faults] + [event.t for event in events if isinstance(event, Unsure)]
    _save_around(keep, name, keeper.kept, moments_s)
    return result


def _save_around(keep: Path | None, name: str, kept: Sequence[tuple[float, bytes]], moments_s: Sequence[float]) -> None:
    """Save the first kept picture at or after each moment, and the two before it."""
    for t_s in moments_s:
        after = next((i for i, (seen_s, _) in enumerate(kept) if seen_s >= t_s), len(kept) - 1)
        for seen_s, data in kept[max(0, after - 2) : after + 1]:
            _save(keep, f"{name}-{seen_s:.2f}s", data)


def _save(keep: Path | None, name: str, data: bytes, ending: str = ".jpg") -> None:
    """Write a file into the folder ``keep``, if it is given."""
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / (name.replace("/", "-").replace(":", "-") + ending)).write_bytes(data)


def _jpeg(picture: Picture) -> bytes:
    """A picture as JPEG."""
    _, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    return data.tobytes()


def _report(game: str, seed: int, run: Run) -> str:
    """The result of one match as text."""
    result = run.result
    heading = f"{game} --first {seed}  {run.description}; {run.cpu_s:.0f} s"
    if run.refused:
        return f"{heading}\n  refused: {run.refused}"
    counts = f"  {result.accepted} of {result.moves} moves, {result.caught} of {result.acts} acts, "
    counts += f"{result.questions} questions"
    return "\n".join([heading, counts, *(fault.line() for fault in result.faults)])


def summary(runs: dict[str, list[Run]]) -> list[str]:
    """Lines of the summary: a row per game, and the number of refused enrolments."""
    all_runs = [run for game_runs in runs.values() for run in game_runs]
    refused = sum(bool(run.refused) for run in all_runs)
    low, high = wilson(refused, len(all_runs))
    return [
        *table({game: [run.result for run in game_runs] for game, game_runs in runs.items()}),
        f"sets refused: {refused} of {len(all_runs)} ({100 * low:.1f}-{100 * high:.1f} %)",
    ]


if __name__ == "__main__":
    sys.exit(main())
