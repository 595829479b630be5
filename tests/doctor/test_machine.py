"""Checks of clock, disk and sound."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from companion.doctor.check import Status
from companion.doctor.machine import BUILT, check_clock, check_disk, check_sound, synchronised

LATER = datetime(2027, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "is_synchronised", "state"),
    [
        (LATER, True, Status.OK),
        (LATER, None, Status.OK),
        (LATER, False, Status.FAULT),
        (datetime(1970, 1, 1, tzinfo=UTC), None, Status.FAULT),
        (datetime(2020, 1, 1, tzinfo=UTC), True, Status.FAULT),
    ],
)
def test_the_clock(now: datetime, is_synchronised: bool | None, state: Status) -> None:
    assert check_clock(now, is_synchronised=is_synchronised).state is state


def test_a_machine_without_systemd_says_nothing_of_its_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert synchronised() is None
    assert check_clock(datetime.now(UTC), is_synchronised=None).state is (
        Status.OK if datetime.now(UTC) > BUILT else Status.FAULT
    )


def test_a_folder_that_need_not_exist_yet(tmp_path: Path) -> None:
    check = check_disk(tmp_path / "new" / "folder")
    assert check.state is Status.OK
    assert str(tmp_path) in check.found
    assert "GB free" in check.found
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    assert check_disk(Path("/proc/self")).state is Status.FAULT


def test_a_slow_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("companion.doctor.machine.SLOW_SYNC_MS", 0.0)
    check = check_disk(tmp_path)
    assert (check.state, check.todo) == (Status.FAULT, "use a faster card or disk")


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("companion.doctor.machine.MIN_FREE_GB", 1e9)
    check = check_disk(tmp_path)
    assert (check.state, check.todo) == (Status.FAULT, "make room")


def sound(devices: Path, missing: int = 0) -> tuple[Status, str]:
    """Return the state and the finding of the sound check."""
    check = check_sound(is_wanted=True, missing=missing, devices=devices)
    return check.state, check.found


def test_sound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_sound(is_wanted=False, missing=7, devices=tmp_path).state is Status.UNUSED
    assert sound(tmp_path) == (Status.FAULT, "no sound card")
    (tmp_path / "pcmC0D0p").touch()
    assert sound(tmp_path)[0] is Status.OK
    assert sound(tmp_path, 7) == (Status.FAULT, "7 sentences have no sound yet")
    monkeypatch.setenv("PATH", "/nowhere")
    assert sound(tmp_path) == (Status.FAULT, "aplay is not installed")
