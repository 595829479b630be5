"""Recording alongside the referee: in order, never delaying it, and with every loss reported."""

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from companion.errors import RecordingError
from companion.tape.recording_writer import RecordingInfo, RecordingWriter, read_index
from companion.tape.tape import WAITING, Tape
from vision.capture.frames import Frame

PATIENCE_S = 60.0

INFO = RecordingInfo("p", "domination", "domination", 12, "", "")


def frame(k: int) -> Frame:
    return Frame(np.full((48, 64, 3), k, np.uint8), k, k / 10)


class SlowReel(RecordingWriter):
    """A recording writer on a disk that blocks until it is released."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, INFO, 10**9)
        self.is_free, self.began = threading.Event(), threading.Event()

    def add(self, picture: bytes, t_s: float, *, is_calm: bool) -> None:
        self.began.set()
        assert self.is_free.wait(PATIENCE_S)
        super().add(picture, t_s, is_calm=is_calm)


def test_every_frame_is_written_in_order(tmp_path: Path) -> None:
    said: list[str] = []
    tape = Tape(RecordingWriter(tmp_path / "tape", INFO, 10**9), said.append, is_live=False)
    for k in range(3 * WAITING):
        tape.take(frame(k), is_calm=False)
    tape.close()
    tape.close()
    assert [t_s for _, t_s in read_index(tmp_path / "tape")] == [k / 10 for k in range(3 * WAITING)]
    assert said == [f"{tmp_path / 'tape'}: {3 * WAITING} frames recorded, 0 MB"]


def test_of_several_cameras_the_first_is_recorded(tmp_path: Path) -> None:
    tape = Tape(RecordingWriter(tmp_path / "tape", INFO, 10**9), list[str]().append, is_live=False)
    other = replace(frame(1), camera=1)
    tape.take(replace(frame(0), others=(other,)), is_calm=False)
    tape.take(replace(other, others=(frame(2),)), is_calm=False)
    tape.take(other, is_calm=False)
    tape.close()
    assert [t_s for _, t_s in read_index(tmp_path / "tape")] == [0.0, 0.2]


def test_heights_of_pillars_are_written_between_the_frames(tmp_path: Path) -> None:
    card = RecordingInfo("p", "diamond", "diamond", 12, "", "", pillars=("a1",))
    tape = Tape(RecordingWriter(tmp_path / "tape", card, 10**9), list[str]().append, is_live=False)
    tape.take(frame(0), is_calm=False)
    tape.sense(0.05, (12.5,))
    tape.close()
    assert (tmp_path / "tape" / "sensors.csv").read_text(encoding="utf-8") == "t_s,a1\n0.05,12.500\n"


def test_a_slow_disk_costs_frames_and_not_time(tmp_path: Path) -> None:
    said: list[str] = []
    reel = SlowReel(tmp_path / "tape")
    tape = Tape(reel, said.append)
    tape.take(frame(0), is_calm=False)
    assert reel.began.wait(PATIENCE_S)
    for k in range(1, WAITING + 6):
        tape.take(frame(k), is_calm=False)
    assert tape.dropped == 5
    reel.is_free.set()
    tape.close()
    assert [t_s for _, t_s in read_index(tmp_path / "tape")] == [k / 10 for k in range(WAITING + 1)]
    assert said == [
        f"{tmp_path / 'tape'}: the disk is too slow for the recording; frames are being dropped",
        f"{tmp_path / 'tape'}: {WAITING + 1} frames recorded, 5 dropped, 0 MB",
    ]


class BrokenReel(RecordingWriter):
    """A recording writer on a disk that fails at the third picture."""

    def add(self, picture: bytes, t_s: float, *, is_calm: bool) -> None:
        if self.frames == 2:
            raise RecordingError("the disk has gone")
        super().add(picture, t_s, is_calm=is_calm)


@pytest.mark.parametrize("is_live", [False, True])
def test_a_disk_that_fails_ends_the_recording_only(tmp_path: Path, is_live: bool) -> None:
    said: list[str] = []
    tape = Tape(BrokenReel(tmp_path / "tape", INFO, 10**9), said.append, is_live=is_live)
    for k in range(5):
        tape.take(frame(k), is_calm=False)
    tape.close()
    assert said == ["the disk has gone", f"{tmp_path / 'tape'}: 2 frames recorded, 0 MB"]
