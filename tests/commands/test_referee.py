"""`companion referee` on the example recording: correct verdicts, and one-line errors."""

import contextlib
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import count

import cv2
import numpy as np
import pytest

from companion.cli import main
from companion.commands.options.source import open_input
from companion.errors import StoreError
from companion.events import from_json
from companion.recorder.store import Store

pytestmark = pytest.mark.pictures


@pytest.fixture
def recording(examples):
    return examples / "domination-1"


def events(capsys):
    """Return the printed events."""
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def referee(*words):
    """Run `companion referee domination` and return its exit code."""
    return main([str(word) for word in ("referee", "domination", *words)])


def printed(*words):
    """Run the command and return what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert referee(*words) == 0
    return out.getvalue()


@pytest.fixture(scope="module")
def refereed(examples, tmp_path_factory):
    """Referee the recording; return the events, and the store."""
    store = tmp_path_factory.mktemp("refereed") / "m.db"
    out = printed("--recording", examples / "domination-1", "--match", store, "--json")
    return [json.loads(line) for line in out.splitlines()], store


@pytest.fixture(scope="module")
def shown(examples, tmp_path_factory):
    """Referee the recording; return the terminal's output, and the folder of the store and of the pictures."""
    folder = tmp_path_factory.mktemp("shown")
    words = ("--match", folder / "m.db", "--pictures", folder / "album")
    return printed("--recording", examples / "domination-1", *words), folder


def complaint(capsys, *words):
    """Run a command that fails, and return its one line on standard error."""
    assert referee(*words) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err


def test_a_recorded_match_is_refereed_from_pictures_to_verdicts(recording, refereed):
    said, _ = refereed
    assert [from_json(row).n for row in said] == list(range(1, len(said) + 1))
    truth = [json.loads(line) for line in (recording / "truth.jsonl").read_text(encoding="utf-8").splitlines()]
    kinds = {"move": "accepted", "illegal": "illegal", "restore": "restored", "overflow": "unfinished"}
    assert [row["event"] for row in said] == ["start", *(kinds[row["kind"]] for row in truth)]
    for row, really in zip(said[1:], truth, strict=True):
        assert -0.01 <= row["t"] - really["t_calm_from"] <= 0.3
        if really["kind"] == "move":
            assert (row["player"], row["move"], row["position"]) == (
                really["player"],
                really["move"],
                really["position"],
            )
        if really["kind"] == "illegal":
            assert (row["player"], row["attempt"], row["rules"]) == ("R", "b4-a5", ["DOM-4"])
            assert row["reason"].endswith("b4 to a5 is not straight.")
            assert set(row["cells"]) == {"b4", "a5"}
    assert said[-1]["cells"] == ["g7"]
    assert "bottom of g7" in said[-1]["todo"]


def test_what_was_said_was_kept_and_follows_the_rules(refereed, capsys):
    said, store = refereed
    assert main(["verify", "last", "--store", str(store)]) == 0
    assert f"match 1 holds: {len(said)} events" in capsys.readouterr().out
    assert main(["matches", "--store", str(store), "--json"]) == 0
    (row,) = events(capsys)
    assert (row["game"], row["moves"]) == ("domination", 5)


def test_the_terminal_panel_reads_like_a_report(shown):
    out, _ = shown
    assert "Green played e7-f7. Red to move." in out
    assert "b4-a5 is not allowed (DOM-4)" in out
    assert "The table is right again." in out


def test_pictures_show_the_belief(recording, shown):
    _, folder = shown
    pictures = sorted((folder / "album").glob("*.jpg"))
    assert len(pictures) >= 9
    picture = cv2.imread(str(pictures[0]))
    assert picture.shape == (720, 1280, 3)
    capture = cv2.VideoCapture(str(recording / "video.mp4"))
    frames = [capture.read()[1] for _ in range(int(pictures[0].stem) + 1)]
    assert (cv2.absdiff(picture, frames[-1]).max(axis=2) > 60).mean() > 0.01


def test_the_same_recording_gives_the_same_events(refereed, shown):
    said, _ = refereed
    _, folder = shown
    with Store.open(folder / "m.db", read_only=True) as store:
        assert store.events(1) == tuple(map(from_json, said))


def test_what_cannot_run_says_why(recording, tmp_path, capsys):
    store = ("--match", tmp_path / "m.db", "--json")
    play = ("--recording", recording)
    assert "there is no game 'x'" in complaint(capsys, *play, *store, "--start", "x")
    assert "--camera is missing" in complaint(capsys, "--device", "0", *store)
    camera = recording / "camera.toml"
    assert "camera 97: cannot be opened" in complaint(capsys, "--device", "97", "--camera", camera, *store)
    assert "recording.toml: cannot be read" in complaint(capsys, "--recording", tmp_path, "--camera", camera, *store)
    assert "did you mean domination" in complaint(capsys, *play, "--kit", "domnation", *store)
    assert "squares that do not fit domination" in complaint(capsys, *play, "--kit", "citadel", *store)
    assert f"{tmp_path}: " in complaint(capsys, *play, "--match", tmp_path, "--json")
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    assert f"{blocked}: cannot make this folder" in complaint(capsys, *play, *store, "--pictures", blocked)


def test_a_camera_file_of_another_size(recording, tmp_path, capsys):
    small = tmp_path / "small.toml"
    text = (recording / "camera.toml").read_text(encoding="utf-8")
    small.write_text(text.replace("width_px = 1280", "width_px = 1920"), encoding="utf-8")
    said = complaint(capsys, "--recording", recording, "--camera", small, "--match", tmp_path / "m.db", "--json")
    assert "the camera file is for 1920 x 720 px" in said


def pictures_of(tmp_path, recording, image):
    """Write a recording of one still picture; return its folder."""
    folder = tmp_path / "still"
    (folder / "frames").mkdir(parents=True)
    cv2.imwrite(str(folder / "frames" / "a.png"), image)
    (folder / "frames.csv").write_text("file,t_s\n" + "".join(f"a.png,{i / 10}\n" for i in range(40)), encoding="utf-8")
    for name in ("camera.toml", "set.toml"):
        shutil.copy(recording / name, folder / name)
    text = (recording / "recording.toml").read_text(encoding="utf-8")
    (folder / "recording.toml").write_text(text.replace('video = "video.mp4"\n', ""), encoding="utf-8")
    return folder


def test_a_mat_that_is_never_in_view_is_said_and_the_match_kept(recording, tmp_path, capsys):
    folder = pictures_of(tmp_path, recording, np.full((720, 1280, 3), 90, np.uint8))
    assert referee("--recording", folder, "--match", tmp_path / "m.db", "--json") == 2
    out = capsys.readouterr()
    assert [json.loads(line)["event"] for line in out.out.splitlines()] == ["start", "view"]
    assert "the board was never read: the mat is not in view" in out.err
    assert main(["verify", "last", "--store", str(tmp_path / "m.db")]) == 0


def test_the_wrong_start_position_is_answered_with_squares(recording, examples, tmp_path, capsys):
    capture = cv2.VideoCapture(str(recording / "video.mp4"))
    folder = pictures_of(tmp_path, recording, capture.read()[1])
    start = "domination 4/R,R,G,G,R,R/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/G,G,R,R,G,G/4 R"
    code = referee("--recording", folder, "--start", start, "--match", tmp_path / "m.db", "--json")
    said = events(capsys)
    assert code == 0
    assert [row["event"] for row in said] == ["start", "unfinished"]
    assert {"f6", "g6", "c5", "e5"} <= set(said[1]["cells"])


@pytest.fixture
def small_files():
    """Limit file sizes to 20 kB, which simulates a full disk; Python ignores the signal that comes with it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


# The loops must be compiled by then, because their cache would reach the limit first.
@pytest.mark.usefixtures("refereed", "small_files")
def test_a_full_disk_is_said_before_the_match_begins(recording, tmp_path, capsys):
    assert referee("--recording", recording, "--match", tmp_path / "m.db", "--json") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "m.db: the disk" in err
    assert err.count("\n") == 1


def test_a_disk_that_fills_up_in_the_middle_loses_nothing_that_was_shown(short, tmp_path, capsys, monkeypatch):
    def full(self, match, event, *proof):
        if event.n > 1:
            raise StoreError(f"{self.path}: the disk is full; free some space")
        return append(self, match, event, *proof)

    append = Store.append
    monkeypatch.setattr(Store, "append", full)
    assert referee("--recording", short, "--match", tmp_path / "m.db", "--json") == 2
    out = capsys.readouterr()
    rows = [json.loads(line) for line in out.out.splitlines()]
    assert [row["n"] for row in rows if "n" in row] == [1, 2, 3]
    (told,) = (row for row in rows if row["event"] == "not-saved")
    assert told["why"].startswith("NOT SAVED: 1 event only in memory (")
    assert rows.index(told) == 2
    early, late = out.err.splitlines()
    assert early == told["why"]
    assert late.startswith("companion referee: NOT SAVED: 2 events of match 1 (")


def test_a_disk_that_has_room_again_is_said_too(short, tmp_path, capsys, monkeypatch):
    def full(self, match, event, *proof):
        if event.n == 2 and next(tries) < 2:
            raise StoreError(f"{self.path}: the disk is full; free some space")
        return append(self, match, event, *proof)

    append, tries = Store.append, count()
    monkeypatch.setattr(Store, "append", full)
    assert referee("--recording", short, "--match", tmp_path / "m.db", "--json") == 0
    out = capsys.readouterr()
    said = [json.loads(line)["event"] for line in out.out.splitlines()]
    assert said.index("not-saved") < said.index("saved")
    assert out.err.splitlines()[-1] == "everything is saved again"


ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture
def heard():
    """Restore default signal handling, which nohup or a background shell may have changed."""
    before = [(number, signal.signal(number, signal.SIG_DFL)) for number in ENDING]
    yield
    for number, handler in before:
        signal.signal(number, handler)


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize("number", ENDING)
def test_who_ends_the_program_is_told_what_is_kept(recording, tmp_path, capsys, monkeypatch, number):
    def ended(event):
        if event.n == 2:
            os.kill(os.getpid(), number)

    monkeypatch.setattr("companion.commands.options.match.print_event", ended)
    store, tape = tmp_path / "m.db", tmp_path / "tape"
    assert referee("--recording", recording, "--match", store, "--json", "--save", tape) == 128 + number
    err = capsys.readouterr().err
    assert f"match 1 is kept in {store}, after 1 move\n" in err
    assert f"{tape}: " in err
    assert "frames recorded" in err
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    assert main(["verify", "last", "--store", str(store)]) == 0


def test_a_match_at_a_table_that_is_still_there_can_go_on(recording, tmp_path, capsys, monkeypatch):
    def interrupted(event):
        if event.n == 2:
            raise KeyboardInterrupt

    sight = open_input
    monkeypatch.setattr(
        "companion.commands.options.opening.open_input",
        lambda *told, **more: replace(sight(*told, **more), is_lasting=True),
    )
    monkeypatch.setattr("companion.commands.options.match.print_event", interrupted)
    store = tmp_path / "m.db"
    assert referee("--recording", recording, "--match", store, "--json") == 130
    said = f"match 1 is kept in {store}, after 1 move; the same command with --resume goes on with it\n"
    assert capsys.readouterr().err == said


def test_a_referee_without_page_and_hall_loads_neither() -> None:
    """The servers' libraries take 8 MB, and are loaded only when a page is served or a hall is told."""
    servers = ("asyncio", "starlette", "uvicorn", "paho", "segno")
    code = f"import sys, companion.commands.referee; print([name for name in {servers} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
