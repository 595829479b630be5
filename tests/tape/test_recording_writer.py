"""The folder of a recording: consistent at every moment, within its space, and read back as it was written."""

from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.app.sensors import read_heights
from companion.errors import RecordingError
from companion.tape import recording_writer
from companion.tape.recording_writer import RecordingFull, RecordingInfo, RecordingWriter, read_index
from vision.capture.recording import RecordingSource, read_recording

INFO = RecordingInfo("domination 4 R", "domination", "domination", 12, "width_px = 1\n", "kit = 'domination'\n")


Make = Callable[..., RecordingWriter]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Return a function that begins a recording in ``tape``, which is closed after the test."""
    made: list[RecordingWriter] = []

    def begin(space_bytes: int = 10**6, card: RecordingInfo = INFO) -> RecordingWriter:
        made.append(RecordingWriter(tmp_path / "tape", card, space_bytes))
        return made[-1]

    yield begin
    for tape in made:
        tape.close()


def picture(shade: int) -> bytes:
    """Return a JPEG picture of one grey."""
    return cv2.imencode(".jpg", np.full((48, 64, 3), shade, np.uint8))[1].tobytes()


def times(folder: Path) -> list[float]:
    """Return the times in a recording's index, in s."""
    return [t_s for _, t_s in read_index(folder)]


def is_whole(folder: Path) -> bool:
    """Return whether exactly the pictures named in the index exist."""
    return [file for file, _ in read_index(folder)] == sorted((folder / "frames").iterdir())


def test_a_recording_is_played_with_its_own_times(tmp_path: Path, make: Make) -> None:
    tape = make()
    said = [0.0, 0.1 + 0.2, 1 / 3, 12.0625]
    for k, t_s in enumerate(said):
        tape.add(picture(60 * k), t_s, is_calm=False)
    tape.close()
    recording = read_recording(tmp_path / "tape")
    assert (recording.start, recording.kit, recording.fps) == ("domination 4 R", "domination", 12)
    assert recording.camera is not None
    assert recording.camera.read_text(encoding="utf-8") == INFO.camera
    frames = list(RecordingSource(recording).frames())
    assert [frame.t_s for frame in frames] == said
    assert [int(frame.image.mean()) // 10 for frame in frames] == [0, 6, 12, 18]


def test_it_can_be_played_while_it_is_written(make: Make) -> None:
    tape = make()
    for t_s in (0.0, 0.5):
        tape.add(picture(0), t_s, is_calm=False)
        assert times(tape.folder)[-1] == t_s
        assert is_whole(tape.folder)


def test_when_space_is_short_the_oldest_calm_pictures_go(make: Make) -> None:
    size = len(picture(0)) + len("000000.jpg,0.0\n")
    tape = make(10 * size)
    for k in range(13):
        tape.add(picture(0), float(k % 10), is_calm=k % 2 == 1)
        assert is_whole(tape.folder)
        assert tape.used_bytes <= 10 * size
    # At the eleventh and the thirteenth picture a tenth of the space is freed.
    assert [int(file.stem) for file, _ in read_index(tape.folder)] == [0, 2, 4, 6, 8, 9, 10, 11, 12]
    assert tape.frames == 13


def test_what_nobody_may_lose_ends_the_recording_and_stays(make: Make) -> None:
    size = len(picture(0)) + len("000000.jpg,0.0\n")
    tape = make(3 * size)
    for k in range(3):
        tape.add(picture(0), float(k), is_calm=False)
    with pytest.raises(RecordingFull, match="the recording's space is full; it ends here"):
        tape.add(picture(0), 3.0, is_calm=False)
    assert times(tape.folder) == [0.0, 1.0, 2.0]
    assert is_whole(tape.folder)


def test_the_last_of_the_disk_is_left_to_the_matches(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    tape = make()
    monkeypatch.setattr(recording_writer, "RESERVE_BYTES", 2**60)
    with pytest.raises(RecordingFull, match="the disk is nearly full"):
        tape.add(picture(0), 0.0, is_calm=False)


def test_a_kit_file_goes_along(tmp_path: Path, make: Make) -> None:
    own = tmp_path / "own.toml"
    own.write_text("name = 'own'\n", encoding="utf-8")
    tape = make(card=RecordingInfo("p", "domination", str(own), 12, "", ""))
    assert read_recording(tape.folder).kit == "kit/own.toml"
    assert (tape.folder / "kit" / "own.toml").read_text(encoding="utf-8") == "name = 'own'\n"


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").write_bytes(b"")
    with pytest.raises(RecordingError, match="is not empty; give --save a new folder"):
        RecordingWriter(tmp_path, INFO, 10**6)
    assert [file.name for file in tmp_path.iterdir()] == ["holiday.jpg"]


@pytest.mark.parametrize("where", ["file", "file/below"])
def test_where_no_folder_can_be_the_path_is_named(tmp_path: Path, where: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(RecordingError, match=f"{tmp_path / where}: .*; check the disk and the folder"):
        RecordingWriter(tmp_path / where, INFO, 10**6)


@pytest.mark.parametrize("line", ["000000.jpg", "000000.jpg,soon", ","])
def test_a_damaged_index_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "frames.csv").write_text(f"file,t_s\n{line}\n", encoding="utf-8")
    with pytest.raises(RecordingError, match=r"frames\.csv: is damaged"):
        read_index(tmp_path)


def test_heights_of_pillars_go_along(make: Make) -> None:
    tape = make(card=RecordingInfo("p", "diamond", "diamond", 12, "", "", pillars=("a1", "b1")))
    tape.add_heights(1 / 3, (41.25, None))
    tape.add_heights(0.5, (40.0, 12.5))
    scans = read_heights(tape.folder / "sensors.csv", ("a1", "b1"))
    assert [(scan.t_s, scan.heights_mm) for scan in scans] == [(1 / 3, (41.25, None)), (0.5, (40.0, 12.5))]


def test_without_pillars_there_is_no_such_file(make: Make) -> None:
    tape = make()
    tape.add_heights(0.5, (40.0,))
    assert not (tape.folder / "sensors.csv").exists()
