"""Camera outages and exceptions in the processing of a picture: the match goes on."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from calibration.appearance import read_appearance
from calibration.camera import read_camera
from calibration.kit import load_kit
from companion.app.camera_reader import CameraReader, ReadResult
from companion.app.table import Table
from companion.commands.options.game import begin_match
from companion.errors import SourceError
from companion.panel.choice import open_panel
from companion.recorder.keeper import Keeper
from companion.recorder.store import MatchInfo, Store
from companion.referee.referee import Referee
from vision.capture.frames import Outage
from vision.capture.recording import RecordingSource, read_recording

pytestmark = pytest.mark.pictures

LONG_S = 30.0


class Interrupted:
    """A recording interrupted by a camera outage after the first frames, or from the beginning."""

    def __init__(self, recording, before, after):
        self._inner = RecordingSource(recording)
        self._before, self._after = before, after

    def frames(self):
        for i, frame in enumerate(self._inner.frames()):
            if i == self._before:
                for beat in range(5):
                    yield Outage(frame.t_s + beat, "camera 0: no new picture for 1 s")
            if i >= self._before + self._after:
                return
            yield replace(frame, t_s=frame.t_s + (LONG_S if i >= self._before else 0.0))

    def close(self):
        self._inner.close()


@pytest.fixture
def run(examples, tmp_path):
    """Return a function that referees the example recording with an outage.

    ``before`` and ``after``: numbers of frames before and after it; ``spoil`` modifies the camera reader.
    """
    recording = read_recording(examples / "domination-1")
    kit = load_kit("domination")

    def refereed(before, after, spoil=None, announcer=None):
        match = begin_match("domination", recording.start)
        store = Store.open(tmp_path / "m.db")
        info = MatchInfo("domination", match.game.players, recording.start, datetime.now(UTC), "domination")
        keeper = Keeper(store, store.begin(info))
        camera_reader = CameraReader(kit, read_camera(recording.camera), read_appearance(recording.appearance, kit))
        if spoil:
            spoil(camera_reader)
        events = []
        source = Interrupted(recording, before, after)
        table = Table(
            source,
            camera_reader,
            Referee(match, verifying=True),
            keeper,
            announcer or open_panel("none", match.game.players, None),
        )
        table.listeners.append(events.append)
        table.run()
        return events

    return refereed


def test_the_match_goes_on_when_the_camera_is_back(run):
    """After an outage of 30 s the match goes on with both view changes reported."""
    events = run(30, 35)
    assert [(event.event, getattr(event, "state", getattr(event, "move", ""))) for event in events] == [
        ("start", ""),
        ("accepted", "e7-f7"),
        ("view", "camera-lost"),
        ("view", "clear"),
        ("accepted", "e5-g5"),
        ("accepted", "f7-g7"),
    ]
    assert events[3].t >= LONG_S


def test_a_camera_that_never_gives_a_picture_is_named_at_the_end(run):
    """If no picture ever arrives, the error names the camera."""
    with pytest.raises(SourceError, match="the board was never read: camera 0: no new picture for 1 s"):
        run(0, 0)


class Notes:
    """A panel controller that records the notes it receives."""

    def __init__(self):
        self.notes = []

    def note(self, text):
        self.notes.append(text)

    def __getattr__(self, name):
        return lambda *_, **__: None


def failing(once):
    """Return a function that makes readings raise an error, where ``once`` accepts their number (from 1)."""

    def spoil(camera_reader):
        asked = []
        read_at = camera_reader.reader.read_at

        def read(*args):
            asked.append(args)
            if once(len(asked)):
                raise IndexError("list index out of range")
            return read_at(*args)

        camera_reader.reader.read_at = read

    return spoil


def test_a_fault_in_reading_one_picture_is_named_and_the_match_goes_on(run, tmp_path):
    """An exception while reading is noted with its place, its picture is kept, and no move is lost."""
    announcer = Notes()
    events = run(0, 65, failing(lambda n: n == 2), announcer)
    assert [getattr(event, "state", getattr(event, "move", "")) for event in events if event.event != "start"] == [
        "camera-lost",
        "clear",
        "unread",
        "clear",
        "e7-f7",
        "e5-g5",
        "f7-g7",
    ]
    (note,) = announcer.notes
    assert re.fullmatch(
        r"a fault of this program.*: IndexError in test_outage.py, line \d+: list index out of range", note
    )
    unread = next(event for event in events if getattr(event, "state", "") == "unread")
    with Store.open(tmp_path / "m.db") as store:
        assert store.evidence(1, unread.n)


@pytest.mark.parametrize("faulty", ["understood", "learn"])
def test_a_fault_in_keeping_what_was_understood_is_named_and_costs_no_move(run, faulty):
    """An exception after a successful reading is noted and costs no move."""
    announcer = Notes()

    def fail(*_):
        raise KeyError("e5")

    events = run(0, 65, lambda camera_reader: setattr(camera_reader, faulty, fail), announcer)
    moves = [event.move for event in events if event.event == "accepted"]
    assert moves == ["e7-f7", "e5-g5", "f7-g7"]
    assert all("KeyError" in note for note in announcer.notes)
    assert announcer.notes


def test_a_fault_in_judging_motion_is_named_once_and_the_match_goes_on(run, tmp_path):
    """Repeated exceptions in motion detection are noted once and cost no move."""
    announcer = Notes()

    def spoil(camera_reader):
        moving, asked = camera_reader.moving, []

        def fail(frame):
            asked.append(frame)
            if 5 <= len(asked) <= 8:
                raise IndexError("list index out of range")
            return moving(frame)

        camera_reader.moving = fail

    events = run(0, 65, spoil, announcer)
    assert [event.move for event in events if event.event == "accepted"] == ["e7-f7", "e5-g5", "f7-g7"]
    (unread,) = [event for event in events if getattr(event, "state", "") == "unread"]
    with Store.open(tmp_path / "m.db") as store:
        assert store.evidence(1, unread.n)
    (note,) = announcer.notes
    assert "IndexError" in note


def test_a_fault_in_a_look_at_the_whole_board_is_named(run):
    """A failed whole reading is noted."""
    announcer = Notes()

    def spoil(camera_reader):
        look = camera_reader.look

        def fail(frame, told, *, afresh=False, is_review=False):
            if afresh:
                return ReadResult(None, "unread", "a fault of this program")
            return look(frame, told, afresh=afresh, is_review=is_review)

        camera_reader.look = fail

    run(30, 100, spoil, announcer)
    assert announcer.notes
    assert set(announcer.notes) == {"a fault of this program"}


def test_a_fault_in_a_second_look_is_named_and_tells_nothing(run):
    """A failed comparison is noted, and the match continues without it."""
    announcer = Notes()

    def score(*_):
        raise ZeroDivisionError("division by zero")

    events = run(30, 100, lambda camera_reader: setattr(camera_reader.reader, "score", score), announcer)
    assert all("ZeroDivisionError" in note for note in announcer.notes)
    assert announcer.notes
    assert [event.event for event in events if event.event != "view"] == ["start", *["accepted"] * 5, "illegal"]
