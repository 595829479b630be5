"""Resuming an interrupted match: same plies, next event number, and no clock time lost in between."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import cv2
import pytest

from companion.app.resumption import find_interrupted
from companion.cli import main
from companion.errors import CompanionError
from companion.events import Accepted, ClockChanged, Event, GameOver, Start, TakenBack
from companion.recorder.store import MatchInfo, Recorded, Store

pytestmark = pytest.mark.pictures

BEFORE = "domination 4/6/8/8/2,G,5/2,R,5/6/4 R"
AFTER = "domination 4/6/8/8/2,GR,5/8/6/4 -"
START = Start(t=0.0, n=1, position=BEFORE)
MOVE = Accepted(t=2.5, n=2, player="R", move="c3-c4", position=AFTER)
END = GameOver(t=2.5, n=3, winner="R", rule="DOM-8", position=AFTER)
BACK = TakenBack(t=9.0, n=4, moves=("c3-c4",), position=BEFORE)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


def keep(path: Path, game: str, *events: Event) -> None:
    """Store a match with these events."""
    begun = datetime(2026, 11, 21, 19, 30, tzinfo=UTC)
    with Store.open(path) as store:
        match = store.begin(MatchInfo(game, ("R", "G"), BEFORE, begun, "domination"))
        for event in events:
            store.append(match, event)


def test_a_finished_match_does_not_go_on(path: Path) -> None:
    keep(path, "domination", START, MOVE, END)
    with Store.open(path) as store:
        assert find_interrupted(store, ["domination"]) is None


def test_one_reopened_by_a_take_back_does(path: Path) -> None:
    keep(path, "domination", START, MOVE, END, BACK)
    with Store.open(path) as store:
        left = find_interrupted(store, ["domination"])
    assert left is not None
    assert (left.number, left.next_n, left.from_s, left.match.plies) == (1, 5, 9.0, ())
    assert left.notice == "Match 1 goes on after 0 moves: Red to move."


def test_only_the_newest_match_of_the_game_counts(path: Path) -> None:
    keep(path, "domination", START)
    keep(path, "domination", START, MOVE, END)
    keep(path, "citadel", START)
    with Store.open(path) as store:
        assert find_interrupted(store, ["domination"]) is None
        assert find_interrupted(store, ["ziggurat"]) is None


def test_a_match_that_never_began_does_not_go_on(path: Path) -> None:
    keep(path, "domination")
    with Store.open(path) as store:
        assert find_interrupted(store, ["domination"]) is None


def test_the_clock_stands_as_it_stood(path: Path) -> None:
    clock = ClockChanged(
        t=0.5, n=2, state="running", player="R", players=("R", "G"), left=(59.5, 60.0), control="1m+2s"
    )
    keep(path, "domination", START, clock)
    with Store.open(path) as store:
        left = find_interrupted(store, ["domination"])
    assert left is not None
    assert left.clock is not None
    assert (left.clock.left_s, left.clock.running) == ((59.5, 60.0), None)


def test_a_record_that_breaks_the_rules_is_refused(path: Path) -> None:
    keep(path, "domination", START, Accepted(t=1.0, n=2, player="R", move="c3-d7", position=AFTER))
    with Store.open(path) as store, pytest.raises(CompanionError, match=r"match 1 cannot go on: .* event 2: .*c3-d7"):
        find_interrupted(store, ["domination"])


def part(recording: Path, folder: Path, from_s: float, to_s: float) -> Path:
    """Cut the recording from ``from_s`` to ``to_s`` and write it to ``folder`` as pictures with times."""
    (folder / "frames").mkdir(parents=True)
    for name in ("camera.toml", "set.toml"):
        shutil.copy(recording / name, folder)
    lines = (recording / "recording.toml").read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("video"))
    (folder / "recording.toml").write_text(text, encoding="utf-8")
    video, rows = cv2.VideoCapture(str(recording / "video.mp4")), ["file,t_s"]
    for k in range(round(to_s * 12)):
        done, picture = video.read()
        if not done:
            break
        if k / 12 >= from_s:
            cv2.imwrite(str(folder / "frames" / f"{k}.jpg"), picture, [cv2.IMWRITE_JPEG_QUALITY, 95])
            rows.append(f"{k}.jpg,{k / 12 - from_s:.4f}")
    (folder / "frames.csv").write_text("\n".join(rows), encoding="utf-8")
    return folder


def test_a_match_goes_on_after_a_power_cut(
    examples: Path, tmp_path: Path, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording, whole = examples / "domination-1", tmp_path / "whole.db"
    four_moves = part(recording, tmp_path / "four moves", 0.0, 7.3)
    assert main(["referee", "domination", "--recording", str(four_moves), "--match", str(whole), "--json"]) == 0
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    with Store.open(whole) as store:
        info, events = store.info(store.match_ids()[0]), store.events(store.match_ids()[0])
    with Store.open(path) as store:
        match = store.begin(info)
        for event in events[:3]:
            store.append(match, event)
    cut = part(recording, tmp_path / "two moves", 3.8, 7.3)
    words = ["referee", "domination", "--resume", "--recording", str(cut), "--match", str(path), "--json"]
    assert main([*words, "--save", str(tmp_path / "tape")]) == 0
    out = capsys.readouterr()
    assert out.err.splitlines()[0] == "Match 1 goes on after 2 moves: Green to move."
    rest = [json.loads(line) for line in out.out.splitlines()]
    assert [{**row, "t": 0} for row in rest] == [{**row, "t": 0} for row in said[3:]]
    assert rest[0]["t"] == pytest.approx(said[3]["t"] - 3.8 + said[2]["t"], abs=0.1)
    assert main(["verify", "last", "--store", str(path)]) == 0
    with Store.open(path) as store:
        assert len(store.match_ids()) == 1
        assert store.recordings(match) == (Recorded(tmp_path / "tape", said[2]["t"]),)


def test_without_an_unfinished_match_a_new_one_begins(
    examples: Path, tmp_path: Path, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep(path, "domination", START, MOVE, END)
    recording = str(part(examples / "domination-1", tmp_path / "end", 12.5, 13.6))
    assert main(["referee", "domination", "--resume", "--recording", recording, "--match", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["event"] == "start"
    with Store.open(path) as store:
        assert len(store.match_ids()) == 2
