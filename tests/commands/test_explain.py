"""`companion explain`: reviewing a disputed verdict."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration.kit import load_kit
from calibration.picture import load_picture
from companion.cli import main
from companion.recorder.store import Store
from companion.records.record import save_record
from companion.records.squares import mark_squares, mat_to_picture
from tests.commands.conftest import ILLEGAL
from tests.records.conftest import played

pytestmark = pytest.mark.pictures


def explain(folder: Path, *words: object) -> int:
    """Run `companion explain` for the illegal act of the example match."""
    return main([str(word) for word in ("explain", 1, ILLEGAL, "--store", folder / "m.db", *words)])


def test_a_verdict_is_explained_on_the_terminal(recorded_match: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert explain(recorded_match) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Match 1, event 7, 9.9 s: illegal"
    assert "b4-a5 is not allowed (DOM-4)" in lines[1]
    assert lines[2].startswith("  DOM-4 ")
    assert any(line.endswith("  act b4-a5") for line in lines)
    assert any(line.split()[:4] == ["b4", "2R", "empty", "empty"] for line in lines)
    assert "a b c d e f g h" in " ".join("\n".join(lines).split())
    assert lines[-1].startswith("Its picture was kept (")


def test_without_a_number_everything_that_was_said_is_listed(
    recorded_match: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", "1", "--store", str(recorded_match / "m.db")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [int(line.split()[0]) for line in lines] == list(range(1, 10))
    assert lines[6].split(maxsplit=4)[:4] == ["7", "9.9", "s", "illegal"]
    assert main(["explain", "1", "--store", str(recorded_match / "m.db"), "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["event"] for row in rows][5:8] == ["accepted", "illegal", "restored"]


def test_and_for_programs(recorded_match: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert explain(recorded_match, "--json") == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["match"], row["event"]["event"], row["event"]["n"]) == (1, "illegal", ILLEGAL)
    assert [rule["id"] for rule in row["rules"]] == ["DOM-4"]
    assert row["grounds"]["explanations"][0]["what"] == "act b4-a5"
    assert {square["cell"] for square in row["grounds"]["squares"]} >= {"a5", "b4"}
    assert row["picture"] > 10_000


def test_the_page_holds_everything(recorded_match: Path, tmp_path: Path) -> None:
    assert explain(recorded_match, "-o", tmp_path / "e.html") == 0
    text = (tmp_path / "e.html").read_text(encoding="utf-8")
    assert 'src="data:image/jpeg;base64,/9j/' in text
    assert 'data-cell="b4"' in text
    assert "<td>act b4-a5</td>" in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


def test_the_picture_shows_the_squares_in_question(recorded_match: Path, tmp_path: Path) -> None:
    assert explain(recorded_match, "-o", tmp_path / "e.jpg") == 0
    sheet = cv2.imread(str(tmp_path / "e.jpg"))
    magenta = (sheet.max(axis=2) - sheet.min(axis=2) > 100) & (sheet[..., 0] > 65) & (sheet[..., 1] < 90)
    assert magenta[:540, :960].sum() > 500
    assert magenta[:540, 960:].sum() > 300


def test_frames_lie_where_the_squares_are(examples: Path) -> None:
    kit = load_kit("domination")
    picture = load_picture(examples / "domination-1" / "enrol.jpg")
    marked = mark_squares(picture, kit, (), ("c3",))
    changed = np.argwhere(cv2.absdiff(marked, picture).max(axis=2) > 40)
    to_picture = mat_to_picture(picture, kit)
    assert to_picture is not None
    x, y = cv2.perspectiveTransform(np.array([[kit.centre_mm("c3")]]), to_picture)[0, 0]
    assert changed.mean(axis=0) == pytest.approx((y, x), abs=6)
    assert mark_squares(np.zeros_like(picture), kit, (), ("c3",)).max() == 0


def test_a_picture_that_was_dropped_comes_from_the_recording(
    recorded_match: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(recorded_match, tmp_path / "copy")
    path = tmp_path / "copy" / "m.db"
    with Store.open(path) as store:
        store._connection.execute("DELETE FROM evidence")
    assert explain(tmp_path / "copy", "--json") == 0
    assert json.loads(capsys.readouterr().out)["picture"] > 100_000


def test_what_people_ordered_has_no_grounds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = played("domination", plies=9)
    with Store.open(tmp_path / "m.db") as store:
        save_record(store, record)
    ruling = next(event.n for event in record.events if event.event == "corrected")
    assert main(["explain", "last", str(ruling), "--store", str(tmp_path / "m.db")]) == 0
    out = capsys.readouterr().out
    assert "No picture led to this." in out
    assert "No picture of it was kept." in out
    assert main(["explain", "1", str(ruling), "--store", str(tmp_path / "m.db"), "-o", str(tmp_path / "e.jpg")]) == 0
    assert cv2.imread(str(tmp_path / "e.jpg")).shape[1] == 1440


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("1", "99"), "match 1 has no event 99; it has 9, from 1"),
        (("1", "0"), "match 1 has no event 0"),
        (("2", "1"), "holds matches 1 to 1 and no '2'"),
        (("1", "7", "-o", "x.png"), "x.png: this form is not known; end the name with .html or .jpg"),
        (("1", "7", "-o", "/none/x.jpg"), "/none/x.jpg: cannot be written"),
    ],
)
def test_what_cannot_be_explained_is_one_line(
    recorded_match: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], complaint: str
) -> None:
    assert main(["explain", *words, "--store", str(recorded_match / "m.db")]) == 2
    err = capsys.readouterr().err
    assert complaint in err
    assert err.count("\n") == 1


def test_an_event_against_the_rules_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = played("domination", plies=3)
    with Store.open(tmp_path / "m.db") as store:
        save_record(store, replace(record, events=(record.events[0], replace(record.events[1], move="c3-c9"))))
    assert main(["explain", "1", "2", "--store", str(tmp_path / "m.db")]) == 2
    assert "event 2: c9 is no square" in capsys.readouterr().err
