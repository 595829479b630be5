"""Scripted matches with honest and illegal acts, read without errors: every verdict must be right.

The scripts lie beside the repository; the recording in ``examples`` has one of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from companion.games import read_position
from companion.match import Match
from companion.rules.board import Table
from companion.rules.game import Game, Position
from companion.rules.notation import parse_position
from companion.simulate.evaluation import compare
from companion.simulate.players import MOVE, OVERFLOW, RESTORE, TAKEBACK, Act
from companion.simulate.readings import Noise
from tools.simulated_match import Behaviour, SimulatedMatch

CLEAR = Noise(height_nats=60.0, top_nats=60.0, alike_nats=60.0, frame_nats=0.1)
CALM = Behaviour(rests=0.0, hurry=0.0, jostle=0.0, askew=0.0, lamp=0.0, bump=0.0)
ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT.parent / "shared" / "matches").glob("*.json"))
RECORDINGS = sorted((ROOT.parent / "shared" / "recordings").glob("*/truth.jsonl"))


def acts(game: Game, start: Position, rows: list[dict[str, Any]]) -> Iterator[Act]:
    """Yield the acts of a script."""
    positions = [start]
    for row in rows:
        kind, player = row["kind"], row.get("player", "")
        if kind == MOVE:
            positions.append(parse_position(game, row["position"]))
        elif kind == TAKEBACK:
            positions.pop()
        position = positions[-1]
        table = game.table(position)
        if kind not in (MOVE, RESTORE, TAKEBACK):
            table = written(game, row["table"], row.get("levels"))
        text = row.get("move") or row.get("attempt")
        yield Act(kind, player, table, text, tuple(row.get("violated", ())), position)


def written(game: Game, stacks: dict[str, str], levels: dict[str, int] | None) -> Table:
    """Return the table of a script's row."""
    cells = game.layout.cells
    return Table(
        tuple(stacks.get(cell, "") for cell in cells), None if levels is None else tuple(levels[cell] for cell in cells)
    )


def judge(start: str, rows: list[dict[str, Any]]) -> None:
    """Check that every act of a script gets its verdict, and that there are no others."""
    game, position = read_position(start)
    simulated = SimulatedMatch(Match(game, position), CLEAR, seed=1, behaviour=CALM)
    simulated.watch(acts(game, position, rows))
    result = compare(simulated.truth, simulated.events)
    kinds = [row["kind"] for row in rows]
    assert result.faults == ()
    assert (result.accepted, result.caught, result.questions) == (kinds.count(MOVE), kinds.count("illegal"), 0)
    said = [event.event for event in simulated.events]
    assert (said.count("restored"), said.count("taken-back")) == (kinds.count(RESTORE), kinds.count(TAKEBACK))
    # A promotion that is due is announced as well.
    assert said.count("unfinished") >= kinds.count(OVERFLOW)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_every_event_of_a_script_is_judged_rightly(path: Path) -> None:
    """Each illegal act is reported with a rule that it breaks."""
    script = json.loads(path.read_text(encoding="utf-8"))
    judge(script["start"], script["events"])


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.parent.name)
def test_every_event_of_a_recording_is_judged_rightly_if_its_tables_are_read_rightly(path: Path) -> None:
    """The tables come from the ground truth of the recording instead of its pictures."""
    script = json.loads((path.parent / "script.json").read_text(encoding="utf-8"))
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    judge(script["start"], rows)


def test_the_recording_among_the_examples_is_judged_rightly(examples) -> None:
    """The tables come from the ground truth of the recording instead of its pictures."""
    folder = examples / "domination-1"
    rows = [json.loads(line) for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()]
    start = next(line for line in (folder / "recording.toml").read_text().splitlines() if line.startswith("start"))
    judge(start.split('"')[1], rows)
