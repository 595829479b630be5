"""Shared by tests of several commands: positions, stored matches, recordings, photographs."""

from __future__ import annotations

import io
import json
import sqlite3
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import cv2
import pytest

from companion.cli import main
from companion.events import Accepted, Corrected, Event, GameOver, Start, TakenBack
from companion.recorder.store import MatchInfo, Store
from companion.tape.recording_writer import RecordingInfo, RecordingWriter
from vision.capture.recording import RecordingSource, read_recording

START = "domination 4/R,R,G,G,R,R/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/G,G,R,R,G,G/4 R"
LATE = "domination 4/6/8/8/2,RG,G,4/8/6/4 -"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs the program in this process.

    It returns exit code, standard output and standard error.
    """

    def command(*words: str, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            code = main(words)
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    return command


def answers(text: str) -> list[dict[str, Any]]:
    """Return the JSON objects of a command's output, one per line."""
    return [json.loads(line) for line in text.splitlines()]


BEFORE = "domination 4/6/8/8/2,G,5/2,R,5/6/4 R"
AFTER = "domination 4/6/8/8/2,GR,5/8/6/4 -"
WON: tuple[Event, ...] = (
    Start(t=0.0, n=1, position=BEFORE),
    Accepted(t=2.5, n=2, player="R", move="c3-c4", position=AFTER),
    GameOver(t=2.5, n=3, winner="R", rule="DOM-8", position=AFTER),
)
REOPENED: tuple[Event, ...] = (*WON, TakenBack(t=9.0, n=4, moves=("c3-c4",), position=BEFORE))
RULED: tuple[Event, ...] = (
    WON[0],
    Corrected(t=1.0, n=2, by="Ada", move="c3-c4"),
    GameOver(t=1.0, n=3, winner="R", rule="DOM-8", position=AFTER),
)
CALLED_OFF: tuple[Event, ...] = (WON[0], GameOver(t=1.0, n=2, winner=None, rule="arbiter", position=BEFORE))


def keep(path: Path, *matches: tuple[Event, ...], names: tuple[str, ...] = ()) -> None:
    """Store matches with these events."""
    with Store.open(path) as store:
        for events in matches:
            begun = datetime(2026, 11, 21, 19, 30, tzinfo=UTC)
            match = store.begin(MatchInfo("domination", ("R", "G"), BEFORE, begun, "domination", names))
            for event in events:
                store.append(match, event)


def tamper(path: Path, statement: str) -> None:
    """Modify a store by SQL after dropping its triggers."""
    other = sqlite3.connect(path, isolation_level=None)
    for (name,) in other.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        other.execute(f"DROP TRIGGER {name}")
    assert other.execute(statement).rowcount > 0
    other.close()


ILLEGAL = 7
"""Number of the event of the illegal act in the example recording."""


@pytest.fixture(scope="session")
def recorded_match(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Referee and record the example recording; return the folder with m.db and tape/."""
    folder = tmp_path_factory.mktemp("match")
    recording = examples / "domination-1"
    words = ["referee", "domination", "--recording", str(recording), "--match", str(folder / "m.db")]
    assert main([*words, "--panel", "none", "--save", str(folder / "tape")]) == 0
    return folder


SHORT = 50
"""Number of frames of the ``short`` recording."""


@pytest.fixture(scope="session")
def short(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Record the first four seconds of the example, with two moves; return the folder."""
    example = read_recording(examples / "domination-1")
    appearance = (example.folder / "set.toml").read_text(encoding="utf-8")
    camera = (example.folder / "camera.toml").read_text(encoding="utf-8")
    card = RecordingInfo(example.start, "domination", "domination", 12, camera, appearance)
    reel = RecordingWriter(tmp_path_factory.mktemp("short") / "tape", card, 10**9)
    for frame in islice(RecordingSource(example).frames(), SHORT):
        jpeg = cv2.imencode(".jpg", frame.image, [cv2.IMWRITE_JPEG_QUALITY, 95])[1]
        reel.add(jpeg.tobytes(), frame.t_s, is_calm=False)
    reel.close()
    return reel.folder


@pytest.fixture
def photos(examples: Path) -> Path:
    """Return the folder of photographs with their camera and set."""
    return examples / "photos"


def complaint(capsys: pytest.CaptureFixture[str], code: int, *words: object) -> str:
    """Run a command that fails with ``code``; return its one line on standard error."""
    assert main([str(word) for word in words]) == code
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err
