"""Pillar sensors frame by frame: motion, calm phases, faults, and the three sources of heights."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from calibration.kit import load_kit
from companion.app.pillars import SILENT_S, UNREST_S, Pillars, Scan, Silence
from companion.app.sensors import FileSensors, LinkSensors, ServedSensors, SteppedSensors
from companion.errors import CompanionError, SourceError
from firmware_bridge.simulated.bench import Bench
from firmware_bridge.simulated.device import Device
from firmware_bridge.simulated.faults import parse_fault

KIT = load_kit("diamond")
C3 = KIT.cells.index("c3")
FRAME_S = 1 / 12
PATIENCE_S = 60.0
STILL = (42.0,) * 25


class Played:
    """A source of prepared scans."""

    def __init__(self, news: Sequence[Scan | Silence]) -> None:
        self._news = list(news)

    def take(self, t_s: float) -> Sequence[Scan | Silence]:
        """Return the scans up to that time; a silence is delivered with the scan before it."""
        found = []
        while self._news and getattr(self._news[0], "t_s", 0.0) <= t_s:
            found.append(self._news.pop(0))
        return found

    def close(self) -> None:
        """Do nothing."""


def scans(
    height: Callable[[float], float | None], until_s: float, faulty: tuple[str, ...] = ()
) -> list[Scan | Silence]:
    """Return 20 scans per second with the kit's noise: c3 at ``height`` (mm), all others at 42 mm."""
    rng = random.Random(1)
    found: list[Scan | Silence] = []
    for i in range(round(20 * until_s)):
        heights: list[float | None] = [42 + rng.gauss(0, 0.8) for _ in range(25)]
        mm = height(i / 20)
        heights[C3] = None if mm is None else mm + rng.gauss(0, 0.8)
        found.append(Scan(i / 20, tuple(heights), faulty))
    return found


def watched(news: Sequence[Scan | Silence], until_s: float) -> tuple[Pillars, list[bool]]:
    """Return the pillars after the frames up to a time, and in which frames something moved.

    No camera is involved.
    """
    pillars = Pillars(Played(news), KIT)
    moved = []
    for i in range(round(until_s / FRAME_S)):
        moved.append(pillars.moving(i * FRAME_S))
        if moved[-1]:
            pillars.disturbed()
    return pillars, moved


def test_still_pillars_do_not_move() -> None:
    """A minute of sensor noise is not reported as motion."""
    pillars, moved = watched(scans(lambda _: 42.0, 60.0), 60.0)
    assert not any(moved)
    assert pillars.state == "ok"
    assert pillars.levels(()) == (3,) * 25


def test_a_step_is_seen_to_move_and_then_to_stand() -> None:
    """The pillar is calm again within half a second, at the new level and without trace of the old one."""
    pillars, moved = watched(scans(lambda t: 42.0 + 10 * (t >= 2.0), 3.0), 3.0)
    frames = [i * FRAME_S for i, is_moved in enumerate(moved) if is_moved]
    assert 2.0 <= min(frames) <= 2.2
    assert max(frames) <= 2.5
    assert pillars.turning == frozenset()
    levels = pillars.levels(())
    assert levels is not None
    assert levels[C3] == 4
    rows = pillars.sensed()
    assert rows is not None
    assert rows[C3].argmax() == 4
    assert rows[0].argmax() == 3


def test_the_pillars_that_move_are_named() -> None:
    """Here only the sensor of c3 changes."""
    pillars, _ = watched(scans(lambda t: 42.0 + 10 * (t >= 2.0), 3.0), 2.2)
    assert pillars.turning == {C3}


def test_a_sensor_that_is_out_says_nothing() -> None:
    """A faulty sensor gives no level and no evidence."""
    pillars, _ = watched(scans(lambda _: None, 2.0, ("c3",)), 2.0)
    assert pillars.faulty == ("c3",)
    levels, rows = pillars.levels(()), pillars.sensed()
    assert levels is not None
    assert rows is not None
    assert levels[C3] is None
    assert np.ptp(rows[C3]) == 0.0
    assert np.ptp(rows[0]) > 100


def test_doubted_pillars_and_those_between_levels_have_no_level() -> None:
    """Doubted pillars, and those between two levels, have no level."""
    pillars, _ = watched(scans(lambda _: 47.0, 2.0), 2.0)
    levels = pillars.levels({0})
    assert levels is not None
    assert (levels[0], levels[1], levels[C3]) == (None, 3, None)


def test_a_sensor_that_never_rests_is_left_out() -> None:
    """The table counts as calm again, and the fault is reported."""
    wild = random.Random(2)
    pillars, moved = watched(scans(lambda _: wild.uniform(12.0, 72.0), 8.0), 8.0)
    assert any(moved)
    assert not any(moved[round((UNREST_S + 1.5) / FRAME_S) :])
    assert pillars.faulty == ("c3",)
    levels = pillars.levels(())
    assert levels is not None
    assert (levels[0], levels[C3]) == (3, None)


def test_silence_is_a_loss() -> None:
    """This holds if the connection reports it, if scans stop, and if none ever came."""
    pillars, _ = watched([*scans(lambda _: 42.0, 1.0), Silence("unplugged")], 1.1)
    assert (pillars.state, pillars.sensed(), pillars.levels(())) == ("lost", None, None)
    pillars, _ = watched(scans(lambda _: 42.0, 1.0), 1.0 + SILENT_S + 0.1)
    assert pillars.state == "lost"
    assert watched([], SILENT_S)[0].state == ""
    assert watched([], SILENT_S + 0.2)[0].state == "lost"


def test_a_calm_that_has_just_begun_is_told_by_the_newest_scan() -> None:
    """Right after a motion the newest scan determines the levels."""
    pillars, _ = watched(scans(lambda _: 42.0, 2.0), 2.0)
    pillars.disturbed()
    assert pillars.levels(()) == (3,) * 25


def test_a_kit_without_pillars_is_refused() -> None:
    with pytest.raises(CompanionError, match="no pillars"):
        Pillars(Played([]), load_kit("citadel"))


HEAD = "t_s," + ",".join(KIT.cells)
ROW = ",42" * 25


def test_a_file_is_played_in_the_time_of_the_frames(tmp_path: Path) -> None:
    file = tmp_path / "sensors.csv"
    file.write_text(f"{HEAD}\n0.0{ROW}\n0.05{ROW}\n0.1," + ",42" * 24 + "\n")
    source = FileSensors(file, KIT.cells)
    assert [scan.t_s for scan in source.take(0.06)] == [0.0, 0.05]
    (last,) = source.take(9.0)
    assert last.heights_mm == (None, *STILL[1:])
    assert source.take(10.0) == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("t_s,a1\n0,1\n", "line 1: the column a2 is missing"),
        (f"{HEAD}\n0.0{ROW}\nx{ROW}\n", "line 3: expected a number in each of 26 columns"),
        (f"{HEAD}\n0.0,42\n", "line 2: expected a number"),
        (f"{HEAD}\n1.0{ROW}\n0.5{ROW}\n", "line 3: its time is before"),
        (f"{HEAD}\ninf{ROW}\n", "line 2: expected a number"),
        ("", "line 1: the column"),
    ],
)
def test_a_broken_file_names_its_line(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "sensors.csv"
    file.write_text(text)
    with pytest.raises(SourceError, match=says) as caught:
        FileSensors(file, KIT.cells)
    assert str(caught.value).startswith(str(file))


def device(*faults: str) -> Device:
    """Return a simulated controller whose pillar c3 rises by 10 mm at 1 s."""
    return Device(
        Bench(STILL), lambda t: (*STILL[:C3], 42.0 + 10 * (t >= 1.0), *STILL[C3 + 1 :]), [*map(parse_fault, faults)]
    )


def test_the_stepped_firmware_speaks_in_the_time_of_the_frames() -> None:
    """Two runs give identical scans."""
    heard = []
    for _ in range(2):
        source = SteppedSensors(device("open:a1@1.5"), KIT)
        heard.append([scan for i in range(30) for scan in source.take(i * FRAME_S)])
        source.close()
    assert heard[0] == heard[1]
    scans = [scan for scan in heard[0] if isinstance(scan, Scan)]
    assert next(scan.t_s for scan in scans if (scan.heights_mm[C3] or 0) > 50) == pytest.approx(1.05, abs=0.06)
    assert scans[-1].faulty == ("a1",)
    assert scans[-1].heights_mm[0] is None


def test_no_supply_is_silence() -> None:
    source = SteppedSensors(device("supply@0.5"), KIT)
    assert isinstance(source.take(1.0)[-1], Silence)


def test_a_served_controller_is_heard_over_its_port() -> None:
    """This runs in real time: the table's clock begins with its first frame."""
    source = ServedSensors(device(), KIT)
    scans: list[Scan] = []
    wait, begun_s = threading.Event(), time.monotonic()
    while len(scans) <= 10 and time.monotonic() < begun_s + PATIENCE_S:
        scans += [scan for scan in source.take(time.monotonic() - begun_s) if isinstance(scan, Scan)]
        wait.wait(0.02)
    ended_s = time.monotonic() - begun_s
    source.close()
    source.close()
    assert len(scans) > 10
    assert all(-0.1 <= scan.t_s <= ended_s + 0.1 for scan in scans)


def test_a_port_that_is_not_there_is_one_line() -> None:
    with pytest.raises(CompanionError, match="--serial /dev/no-pillars: there is no such port"):
        LinkSensors("/dev/no-pillars", KIT)


def test_every_scan_is_told_to_a_witness() -> None:
    news = [Scan(0.0, STILL), Silence("gone"), Scan(0.1, STILL, ("c3",))]
    pillars, told = Pillars(Played(news), KIT), list[tuple[float, object]]()
    pillars.frame_sink = lambda t_s, heights_mm: told.append((t_s, heights_mm))
    pillars.moving(0.5)
    assert told == [(0.0, STILL), (0.1, STILL)]
