"""Measures the cost of storing, verifying, exporting and recording matches: ``python -m tools.bench_records``."""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import cv2

from companion.cli import main as companion
from companion.events import Accepted, Event, Start
from companion.games import load_game
from companion.match import Match
from companion.recorder.store import MatchInfo, Recorded, Store
from companion.records.film import FPS
from companion.records.record import MatchRecord, load_record, save_record
from companion.rules.notation import format_move, format_position
from companion.tape.recording_writer import RecordingInfo, RecordingWriter
from tools.timing import HEAD, clocked, machine, timed
from vision.capture.recording import RecordingSource, read_recording

EXAMPLE = Path(__file__).parent.parent / "examples" / "domination-1"
MATCHES, MOVES = 1000, 100
EXPLANATION = '{"t_s":1.833,"calm_s":0.0,"readings":1,"explanations":[' + '{"what":"e7-f7","log_p":-0.0},' * 5 + "]}"
"""The stored explanation of a verdict, as long as a typical one."""

FORMS = (".txt", ".json", ".svg", ".gif", ".html", ".mp4")


def random_match(seed: int) -> MatchRecord:
    """A legal random match of Domination with :data:`MOVES` moves, or fewer if it ends earlier."""
    game, rng = load_game("domination"), random.Random(seed)
    match = Match(game, game.start())
    start = format_position(game, match.position)
    events: list[Event] = [Start(t=0.0, n=1, position=start)]
    while len(events) <= MOVES and match.outcome is None:
        move, mover = rng.choice(game.legal_moves(match.position)), match.position.to_move
        text = format_move(game, match.position, move)
        match = match.play(move)
        position = format_position(game, match.position)
        events.append(Accepted(t=5.0 * len(events), n=len(events) + 1, player=mover, move=text, position=position))
    started_at = datetime(2026, 11, 21, tzinfo=UTC)
    return MatchRecord(MatchInfo(game.tag, game.players, start, started_at, "domination"), tuple(events))


def written_bytes() -> int:
    """Number of bytes that this process has caused to be written to disk so far."""
    rows = (line.split(": ") for line in Path("/proc/self/io").read_text(encoding="utf-8").splitlines())
    return int(dict(rows)["write_bytes"])


def commits(folder: Path, picture: bytes) -> None:
    """Time single commits, and count the bytes that each adds to the file and writes to disk."""
    record = random_match(1)
    for label, evidence, explanation in (
        ("commit an event alone", None, None),
        ("commit a move with its grounds", None, EXPLANATION),
        ("commit a move with grounds and picture", picture, EXPLANATION),
    ):
        with Store.open(folder / "commits.db") as store:
            matches = [store.begin(record.info) for _ in range(5)]
            before, size_before = written_bytes(), (folder / "commits.db").stat().st_size
            calls = [
                lambda m=match, e=event: store.append(m, e, evidence, explanation)  # noqa: B023 — called in this round
                for match in matches
                for event in record.events
            ]
            print(timed(label, calls, 2).row(), flush=True)
        grown_bytes = ((folder / "commits.db").stat().st_size - size_before) / len(calls)
        disk_bytes = (written_bytes() - before) / len(calls)
        print(
            f"{label}: {grown_bytes:.0f} bytes of the file, {disk_bytes:.0f} bytes written to the disk", file=sys.stderr
        )


def report_call(label: str, function: Callable[[], object]) -> None:
    """Run one slow call and print its elapsed and its processor time."""
    begun_s = time.process_time()
    _, ms = clocked(function)
    cpu_s = time.process_time() - begun_s
    print(f"{label}: {ms / 1000:.2f} s, {cpu_s:.2f} s of them on the processor", file=sys.stderr, flush=True)


def run_quietly(*arguments: object) -> None:
    """Run a command of the program with its standard output discarded."""
    saved_stdout = os.dup(1)
    with Path(os.devnull).open("w", encoding="utf-8") as devnull:
        os.dup2(devnull.fileno(), 1)
        try:
            companion([str(word) for word in arguments])
        finally:
            sys.stdout.flush()
            os.dup2(saved_stdout, 1)
            os.close(saved_stdout)


def fill_store(folder: Path) -> None:
    """Fill a store with :data:`MATCHES` matches, then time the commands that list, verify and summarize them."""
    path = folder / "many.db"
    begun_s = time.perf_counter()
    with Store.open(path) as store:
        for seed in range(MATCHES):
            save_record(store, random_match(seed))
    took_s = time.perf_counter() - begun_s
    size_mb = path.stat().st_size / 1e6
    print(f"{MATCHES} matches of {MOVES} moves: {size_mb:.0f} MB, written in {took_s:.0f} s", file=sys.stderr)
    for command in ("matches", "verify", "stats"):
        report_call(f"companion {command}", lambda command=command: run_quietly(command, "--store", path))


def exports(folder: Path, picture: bytes) -> None:
    """Export one match of :data:`MOVES` moves, with a picture of every event, in every format."""
    path, record = folder / "export.db", random_match(1)
    with Store.open(path) as store:
        match = store.begin(record.info)
        for event in record.events:
            store.append(match, event, picture, None)
    for form in FORMS:
        file = folder / f"match{form}"
        report_call(f"export to {form}", lambda file=file: run_quietly("export", 1, "--store", path, "-o", file))
        print(f"  {file.stat().st_size / 1000:.0f} kB", file=sys.stderr)
    export_film(folder / "match.mp4", path)


def export_film(file: Path, path: Path) -> None:
    """Time writing a recording of two minutes, and exporting the match as a film from it, relative to real time."""
    frames = list(RecordingSource(read_recording(EXAMPLE)).frames())
    reel = RecordingWriter(path.parent / "tape", RecordingInfo("p", "domination", "domination", FPS, "", ""), 10**12)
    pictures = [cv2.imencode(".jpg", frame.image, [cv2.IMWRITE_JPEG_QUALITY, 95])[1].tobytes() for frame in frames]
    count = 120 * round(FPS)
    adding = [lambda k=k: reel.add(pictures[k % len(pictures)], k / FPS, is_calm=False) for k in range(count)]
    print(timed("write a frame of a recording", adding).row())
    reel.close()
    encoding = [lambda f=frame: cv2.imencode(".jpg", f.image, [cv2.IMWRITE_JPEG_QUALITY, 95]) for frame in frames]
    print(timed("compress a frame of a recording", encoding).row())
    print(f"a frame takes {reel.used_bytes / count / 1000:.0f} kB", file=sys.stderr)
    with Store.open(path) as store:
        record = load_record(store, store.match_ids()[0])
        faster = replace(record, events=tuple(replace(event, t=event.t / 5) for event in record.events))
        store.add_recording(save_record(store, faster), Recorded(path.parent / "tape", 0.0))
    begun_s = time.process_time()
    _, ms = clocked(lambda: run_quietly("export", "last", "--store", path, "-o", file))
    cpu_s = time.process_time() - begun_s
    video = cv2.VideoCapture(str(file))
    length_s = video.get(cv2.CAP_PROP_FRAME_COUNT) / FPS
    duration = f"{ms / 1000:.1f} s ({cpu_s:.1f} s on the processor)"
    print(
        f"export of a film of {length_s:.0f} s: {duration}, {length_s / ms * 1000:.0f} times real time", file=sys.stderr
    )


def main() -> int:
    """Print the table of single calls on standard output, everything else on standard error."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    cv2.setNumThreads(1)
    frame = next(RecordingSource(read_recording(EXAMPLE)).frames())
    picture = cv2.imencode(".jpg", frame.image, [cv2.IMWRITE_JPEG_QUALITY, 80])[1].tobytes()
    print(machine())
    print(HEAD)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commits(folder, picture)
        exports(folder, picture)
        fill_store(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
