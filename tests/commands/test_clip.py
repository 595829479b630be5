"""`companion clip`: the seconds around a verdict."""

import json
from pathlib import Path

import cv2
import pytest

from companion.cli import main
from companion.events import Accepted, Illegal
from companion.recorder.store import Recorded, Store
from companion.records.film import FPS, WIDTH
from companion.records.record import save_record
from companion.tape.recording_writer import read_index
from tests.commands.conftest import ILLEGAL
from tests.records.conftest import played

pytestmark = pytest.mark.pictures


def clip(folder: Path, file: Path, *words: str) -> int:
    """Run `companion clip` for the illegal act of the example match."""
    return main(["clip", "1", str(ILLEGAL), "--store", str(folder / "m.db"), "-o", str(file), *words])


def test_a_clip_is_a_recording_that_leads_to_the_same_verdict(
    recorded_match: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert clip(recorded_match, tmp_path / "cut", "--before", "1.5", "--after", "2") == 0
    assert capsys.readouterr().out == f"{tmp_path / 'cut'}: 43 frames round event 7\n"
    words = ["referee", "domination", "--recording", str(tmp_path / "cut"), "--match", str(tmp_path / "c.db"), "--json"]
    assert main(words) == 0
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    with Store.open(recorded_match / "m.db", read_only=True) as store:
        before, verdict = store.events(store.match_ids()[0])[5:7]
    assert isinstance(before, Accepted)
    assert isinstance(verdict, Illegal)
    assert said[0]["position"] == before.position
    assert [row["event"] for row in said] == ["start", "illegal", "restored"]
    assert (said[1]["attempt"], said[1]["t"]) == (verdict.attempt, pytest.approx(1.5, abs=0.1))


def test_a_clip_can_be_a_film(recorded_match: Path, tmp_path: Path) -> None:
    assert clip(recorded_match, tmp_path / "cut.mp4", "--before", "2", "--after", "1") == 0
    video = cv2.VideoCapture(str(tmp_path / "cut.mp4"))
    assert (video.get(cv2.CAP_PROP_FRAME_WIDTH), video.get(cv2.CAP_PROP_FPS)) == (WIDTH, FPS)
    assert video.get(cv2.CAP_PROP_FRAME_COUNT) == pytest.approx(3 * FPS, abs=1)


def test_without_a_recording_there_is_no_clip(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = played("domination", plies=9)
    with Store.open(tmp_path / "m.db") as store:
        save_record(store, record)
        store.add_recording(store.match_ids()[0], Recorded(tmp_path / "gone", 0.0))
    assert clip(tmp_path, tmp_path / "cut") == 2
    assert "match 1 has no recording of event 7; `companion referee --save DIR` makes one" in capsys.readouterr().err
    assert not (tmp_path / "cut").exists()


def test_a_clip_goes_into_a_new_folder_only(recorded_match: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = read_index(recorded_match / "tape")
    assert clip(recorded_match, recorded_match / "tape") == 2
    assert "is not empty" in capsys.readouterr().err
    assert read_index(recorded_match / "tape") == before
