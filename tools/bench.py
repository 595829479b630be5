"""Time every stage from picture to verdict, and the rules: `make bench` prints tables of docs/measurements/speed.md."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import cv2
import numpy as np

from calibration.appearance import read_appearance
from calibration.camera import read_camera
from calibration.kit import load_kit
from calibration.picture import load_picture
from companion.app.camera_reader import CameraReader
from companion.app.ground import start_levels
from companion.commands.options.game import begin_match
from companion.games import available_tags
from companion.recorder.keeper import Keeper
from companion.recorder.store import MatchInfo, Store
from companion.referee.referee import Referee
from tools.rules_bench import PYDRAUGHTS, chess_plies_per_s, plies_per_s, pydraughts_plies_per_s, worst_successors_ms
from tools.timing import HEAD, Timing, clocked, machine, timed
from vision.appearance.illumination import measure_illumination
from vision.capture.frames import Frame
from vision.capture.recording import RecordingSource, read_recording
from vision.inference.geometry import make_geometry
from vision.inference.search import infer
from vision.pose.registration import register, to_gray
from vision.reader import Reader
from vision.warm_up import warm_up

SETS = ("cheight", "citadel", "diamond", "ziggurat")
EXAMPLES = Path(__file__).parent.parent / "examples"
ROUNDS = 40
"""Calls per stage."""


def main() -> int:
    """Print all tables."""
    cv2.setNumThreads(1)
    print(f"{machine()}, OpenCV {cv2.__version__}, NumPy {np.__version__}\n")
    print(HEAD)
    sets = [timing for name in SETS for timing in set_stages(name)]
    for timing in (*reading_stages(), *sets, *verdict_stages()):
        print(timing.row(), flush=True)
    print(f"\nPeak memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB\n")
    print("| game | legal moves with successors' views, worst of 1,000 positions, ms (aim ≤ 5) | random plies/s |")
    print("| --- | --- | --- |")
    for tag in available_tags():
        print(f"| {tag} | {worst_successors_ms(tag):.2f} | {plies_per_s(tag):,.0f} |", flush=True)
    print(f"| python-chess, in the same run | | {chess_plies_per_s():,.0f} |")
    for variant in PYDRAUGHTS:
        print(f"| pydraughts, {variant}, in the same run | | {pydraughts_plies_per_s(variant):,.0f} |")
    return 0


def reading_stages() -> list[Timing]:
    """Time the stages of a full reading, over the example photographs in turn."""
    kit, folder = load_kit("domination"), EXAMPLES / "photos"
    camera = read_camera(folder / "camera.toml")
    reader = Reader(kit, camera, read_appearance(folder / "set.toml", kit))
    images = [load_picture(path) for path in sorted(folder.glob("*.jpg"))]
    rim = np.array(reader.appearance.rim, np.float32)
    warm_up(reader)
    pose = reader.register(images[0])
    geometry = reader.geometry(pose)
    observed = [reader.observations(image, geometry, reader.light(image, geometry.pose)) for image in images]
    turns = [i % len(images) for i in range(ROUNDS)]
    return [
        timed(
            "find the mat in the whole picture", [lambda i=i: register(to_gray(images[i]), kit, camera) for i in turns]
        ),
        timed("find the mat where it was", [lambda i=i: reader.register(images[i]) for i in turns]),
        timed("geometry of a new pose (only when pushed)", [lambda: make_geometry(kit, (), pose, camera)] * 10),
        timed("measure the light", [lambda i=i: measure_illumination(images[i], kit, pose, camera) for i in turns]),
        timed(
            "light, crops and likelihoods",
            [lambda i=i: reader.observations(images[i], geometry, reader.light(images[i], pose)) for i in turns],
        ),
        timed("explain the board", [lambda i=i: infer(observed[i], rim, geometry) for i in turns]),
        timed("full reading", [lambda i=i: reader.read(Frame(images[i], 0, 0.0)) for i in turns], 25),
    ]


def set_stages(name: str) -> list[Timing]:
    """Time full readings of another kit's example boards in turn, and readings of two changed squares only."""
    kit, folder = load_kit(name), EXAMPLES / "sets" / name
    camera = read_camera(folder / "camera.toml")
    rows = [json.loads(line) for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()]
    boards = [(Frame(load_picture(folder / row["image"]), 0, 0.0), row["levels"]) for row in rows]
    known = [(frame, tuple(levels[cell] for cell in kit.cells) if levels else None) for frame, levels in boards]
    reader = Reader(kit, camera, read_appearance(folder / "set.toml", kit), start_levels(kit))
    warm_up(reader)
    frame, levels = known[0]
    geometry = reader.geometry(reader.register(frame.image))
    reader.read_at(frame, geometry, levels)
    geometry = reader.geometry(geometry.pose)
    changed = np.zeros(len(kit.cells), np.bool_)
    stacks = [kit.cells.index(cell) for cell, stack in rows[0]["table"].items() if stack][:2]
    changed[stacks] = True
    turns = [known[i % len(known)] for i in range(ROUNDS)]
    full = timed(f"full reading, {name}", [lambda f=f, known=known: reader.read(f, known) for f, known in turns], 25)
    # Read this board last, so that nothing but the two squares counts as changed.
    reader.read_at(frame, geometry, levels)
    return [
        full,
        timed(
            f"reading two changed squares, {name}",
            [lambda: reader.read_at(frame, geometry, levels, changed)] * ROUNDS,
            10,
        ),
    ]


def verdict_stages() -> list[Timing]:
    """Time motion gate, reading, judging and committing over the example recording, as the referee does them."""
    recording = read_recording(EXAMPLES / "domination-1")
    kit = load_kit(recording.kit)
    assert recording.camera is not None
    assert recording.appearance is not None
    camera_reader = CameraReader(kit, read_camera(recording.camera), read_appearance(recording.appearance, kit))
    match = begin_match("domination", recording.start)
    referee = Referee(match)
    gating_ms: list[float] = []
    reading_ms, judging_ms, commit_ms, verdict_ms = gating_ms[:], gating_ms[:], gating_ms[:], gating_ms[:]
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "bench.db")
        info = MatchInfo(match.game.tag, match.game.players, recording.start, datetime.now(UTC), kit.name)
        keeper = Keeper(store, store.begin(info))
        for event in referee.begin(0.0):
            keeper.append(event)
        for frame in RecordingSource(recording).frames():
            moving, one_gate_ms = clocked(camera_reader.moving, frame)
            gating_ms.append(one_gate_ms)
            if not referee.glance(frame.t_s, moving=moving).read:
                continue
            observed, one_reading_ms = clocked(camera_reader.look, frame)
            assert observed.reading is not None
            events, one_judging_ms = clocked(referee.observe, frame.t_s, observed.reading)
            commits_ms = sum(clocked(keeper.append, event)[1] for event in events)
            referee.prepare()
            reading_ms.append(one_reading_ms)
            judging_ms.append(one_judging_ms)
            if events:
                commit_ms.append(commits_ms / len(events))
                verdict_ms.append(one_gate_ms + one_reading_ms + one_judging_ms + commits_ms)
        keeper.close()
    return [
        Timing("motion gate, every frame", tuple(gating_ms), 1),
        Timing("full reading with the look for arms, 36 pieces", tuple(reading_ms), 25),
        Timing("judge a reading", tuple(judging_ms), 10),
        Timing("commit an event", tuple(commit_ms), 2),
        Timing("verdict after the decisive frame: all of these", tuple(verdict_ms), 40),
    ]


if __name__ == "__main__":
    sys.exit(main())
