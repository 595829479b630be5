"""A camera that goes and comes back: the match goes on."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from calibration.appearance import read_appearance
from calibration.camera import read_camera
from calibration.kit import load_kit
from companion.app.eyes import Eyes
from companion.app.table import Table
from companion.commands.options.game import begin_match
from companion.errors import SourceError
from companion.panel.choice import open_desk
from companion.recorder.keeper import Keeper
from companion.recorder.store import MatchInfo, Store
from companion.referee.referee import Referee
from vision.capture.frames import Outage
from vision.capture.recording import RecordingSource, read_recording

LONG_S = 30.0


class Interrupted:
    """A recording whose camera is gone for a while after the first frames, or from the beginning."""

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
    recording = read_recording(examples / "domination-1")
    kit = load_kit("domination")

    def refereed(before, after):
        match = begin_match("domination", recording.start)
        store = Store.open(tmp_path / "m.db")
        info = MatchInfo("domination", match.game.players, recording.start, datetime.now(UTC), "domination")
        keeper = Keeper(store, store.begin(info))
        eyes = Eyes(kit, read_camera(recording.camera), read_appearance(recording.appearance, kit))
        events = []
        source = Interrupted(recording, before, after)
        table = Table(source, eyes, Referee(match), keeper, open_desk("none", match.game.players, None))
        table.listeners.append(events.append)
        table.run()
        return events

    return refereed


def test_the_match_goes_on_when_the_camera_is_back(run):
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
    with pytest.raises(SourceError, match="the board was never read: camera 0: no new picture for 1 s"):
        run(0, 0)
