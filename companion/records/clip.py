"""Cuts the seconds around a verdict out of the recording of its match."""

from __future__ import annotations

import sys
from pathlib import Path

from calibration.files import MAX_PICTURE_BYTES, read_bytes, read_text
from companion.errors import CompanionError, RecordingError
from companion.recorder.store import MatchId, Recorded, Store
from companion.records.figures import figures
from companion.records.film import FPS, whole_film, write_film
from companion.records.record import MatchRecord, load_record
from companion.records.shots import Shots, recorded_shots
from companion.rules.notation import format_position
from companion.tape.faults import recording_errors
from companion.tape.recording_writer import RecordingInfo, RecordingWriter
from vision.capture.recording import read_recording

UNLIMITED = sys.maxsize
BEFORE_S, AFTER_S = 10.0, 4.0
"""Default length before and after: enough to see both hands come, and people's first reaction to the verdict."""


def clip(store: Store, match: MatchId, n: int, file: Path, around_s: tuple[float, float]) -> int:
    """Write the pictures around event ``n`` to ``file``, ``around_s`` before and after it; return their number.

    A name that ends in ``.mp4`` becomes a film with the board beside it; any other a folder with a recording, which can
    be refereed.

    Raises:
        CompanionError: no such event, its recording does not exist any more, or the clip cannot be written.
    """
    record = load_record(store, match)
    if not 0 < n <= len(record.events):
        raise CompanionError(f"match {match} has no event {n}; it has {len(record.events)}, from 1")
    t_s = record.events[n - 1].t
    for recorded in store.recordings(match):
        shots = recorded_shots([recorded]).between(t_s - around_s[0], t_s + around_s[1])
        if shots.files:
            break
    else:
        raise RecordingError(f"match {match} has no recording of event {n}; `companion referee --save DIR` makes one")
    if file.suffix.lower() == ".mp4":
        write_film(file, whole_film(figures(record), shots))
    else:
        _write_recording(file, recorded, record, shots)
    return len(shots.files)


def _write_recording(folder: Path, recorded: Recorded, record: MatchRecord, shots: Shots) -> None:
    """Write a recording that starts with the position at its first picture."""
    begun_s = shots.times_s[0]
    match = next(match for event, match in reversed(list(record.stages())) if event.t <= begun_s or event.n == 1)
    with recording_errors(recorded.folder):
        kit = read_recording(recorded.folder).kit
        info = RecordingInfo(
            start=format_position(match.game, match.position),
            game=record.info.game,
            kit=str((recorded.folder / kit).absolute()) if (recorded.folder / kit).is_file() else kit,
            fps=FPS,
            camera=read_text(recorded.folder / "camera.toml"),
            appearance=read_text(recorded.folder / "set.toml"),
        )
    writer = RecordingWriter(folder, info, UNLIMITED)
    for file, t_s in zip(shots.files, shots.times_s, strict=True):
        with recording_errors(file):
            writer.add(read_bytes(file, MAX_PICTURE_BYTES), t_s - begun_s, is_calm=False)
    writer.close()
