"""`--save`: a recording made during a match can be refereed again with the same events."""

import json
from pathlib import Path

import pytest

from calibration.kit import KITS
from companion.cli import main
from companion.recorder.store import Store
from companion.tape.recording_writer import read_index
from tests.commands.conftest import SHORT

pytestmark = pytest.mark.pictures


def run(capsys: pytest.CaptureFixture[str], *words: object) -> list[dict[str, object]]:
    """Run a command and return the JSON objects it prints."""
    assert main([str(word) for word in words]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.slow
def test_a_recording_replays_to_the_same_events(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, tape = tmp_path / "m.db", tmp_path / "tape"
    demo = ("demo", "--fast", "--plies", 2, "--seed", 3, "--match", store, "--json")
    said = run(capsys, *demo, "--save", tape)
    assert len(said) >= 3
    assert run(capsys, "referee", "domination", "--recording", tape, "--match", store, "--json") == said
    with Store.open(store) as opened:
        assert [(recorded.folder, recorded.from_s) for recorded in opened.recordings(opened.match_ids()[0])] == [
            (tape, 0.0)
        ]
        assert opened.recordings(opened.match_ids()[1]) == ()


@pytest.mark.slow
def test_so_does_one_whose_calm_was_thinned(short: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, tape = tmp_path / "m.db", tmp_path / "tape"
    referee = ("referee", "domination", "--match", store, "--json", "--recording")
    said = run(capsys, *referee, short, "--save", tape, "--save-space", "9MB")
    numbers = [int(file.stem) for file, _ in read_index(tape)]
    assert numbers[-1] == SHORT - 1
    assert len(numbers) < SHORT - 8
    assert run(capsys, *referee, tape) == said


@pytest.mark.slow
def test_a_users_own_kit_is_found_again(short: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, own, tape = tmp_path / "m.db", tmp_path / "own.toml", tmp_path / "tape"
    own.write_bytes((KITS / "domination.toml").read_bytes())
    set_file = tmp_path / "own.set.toml"
    text = (short / "set.toml").read_text(encoding="utf-8")
    set_file.write_text(text.replace('kit = "domination"', 'kit = "own"'), encoding="utf-8")
    words = ("referee", "domination", "--match", store, "--json", "--recording", short)
    said = run(capsys, *words, "--kit", own, "--set", set_file, "--save", tape)
    own.unlink()
    with Store.open(store) as opened:
        assert opened.info(opened.match_ids()[0]).kit == str(own)
    assert run(capsys, "referee", "domination", "--match", store, "--json", "--recording", tape) == said


@pytest.mark.slow
def test_an_earlier_recording_is_left_alone(short: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, tape = tmp_path / "m.db", tmp_path / "tape"
    tape.mkdir()
    (tape / "recording.toml").write_text("", encoding="utf-8")
    run(
        capsys,
        "referee",
        "domination",
        "--match",
        store,
        "--json",
        "--recording",
        short,
        "--save",
        tape,
    )
    assert [file.name for file in tape.iterdir()] == ["recording.toml"]
    with Store.open(store) as opened:
        assert [recorded.folder for recorded in opened.recordings(opened.match_ids()[0])] == [tmp_path / "tape-2"]
    assert len(read_index(tmp_path / "tape-2")) == SHORT


def test_what_cannot_be_recorded_is_said_before_the_match(
    examples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "m.db"
    words = ["referee", "domination", "--recording", str(examples / "domination-1"), "--match", str(store)]
    assert main([*words, "--save", str(tmp_path)]) == 2
    assert "is not empty; give --save a new folder" in capsys.readouterr().err
    with Store.open(store) as opened:
        assert opened.match_ids() == ()
    with pytest.raises(SystemExit) as ended:
        main([*words, "--save", str(tmp_path / "x"), "--save-space", "much"])
    assert ended.value.code == 2
    assert "'much' is no space on a disk; write 500MB or 2GB" in capsys.readouterr().err
