"""`companion export`: stored matches in every output format."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import av
import cv2
import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, expect

from companion.cli import main
from companion.commands.export import WRITERS
from companion.errors import StoreError
from companion.games import load_game
from companion.recorder.store import Recorded, Store
from companion.records.figures import figures
from companion.records.film import FIGURE_S, FPS, HEIGHT, WIDTH
from companion.records.record import MatchRecord, save_record
from companion.tape.recording_writer import RecordingInfo, RecordingWriter
from tests.records.conftest import played

SHOWN_MS = 60_000
"""Timeout that is long enough for a busy machine."""

RECORD = played("domination", plies=10, names=("Ada </script>", "Émile"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


def keep(path: Path, record: MatchRecord = RECORD) -> None:
    with Store.open(path) as store:
        save_record(store, record)


def export(path: Path, file: Path) -> Path:
    """Export the last match to a file and return its path."""
    assert main(["export", "last", "--store", str(path), "-o", str(file)]) == 0
    return file


def jpeg(shade: int) -> bytes:
    """Return a JPEG picture of one grey."""
    return cv2.imencode(".jpg", np.full((720, 1280, 3), shade, np.uint8))[1].tobytes()


def test_a_sheet_of_diagrams_has_every_plate(tmp_path: Path, path: Path) -> None:
    keep(path)
    root = ET.parse(export(path, tmp_path / "m.svg")).getroot()
    boards = [group for group in root if group.tag.endswith("}g")]
    assert len(boards) == len(figures(RECORD))
    assert root[0].text == "Domination (Focus): Ada </script>, Émile"


def test_a_gif_has_every_plate(tmp_path: Path, path: Path) -> None:
    keep(path)
    with Image.open(export(path, tmp_path / "m.gif")) as image:
        assert (image.n_frames, image.info["loop"]) == (len(figures(RECORD)), 0)
        first = np.asarray(image.convert("RGB"), int)
        image.seek(2)
        changed = np.abs(np.asarray(image.convert("RGB"), int) - first).max(axis=2) > 50
    assert 0.001 < changed.mean() < 0.2


def frames(file: Path) -> list[np.ndarray]:
    """Return all frames of a video."""
    video = cv2.VideoCapture(str(file))
    assert video.get(cv2.CAP_PROP_FPS) == FPS
    found = []
    while (frame := video.read())[0]:
        found.append(frame[1])
    return found


def test_a_film_without_recording_shows_each_plate_with_its_picture(tmp_path: Path, path: Path) -> None:
    with Store.open(path) as store:
        match = store.begin(RECORD.info)
        for event in RECORD.events:
            store.append(match, event, jpeg(20 * (event.n % 10)) if event.event == "accepted" else None)
    shown = frames(export(path, tmp_path / "m.mp4"))
    assert len(shown) == len(figures(RECORD)) * round(FIGURE_S * FPS)
    assert shown[0].shape == (HEIGHT, WIDTH, 3)
    first, second = shown[0][20:340, 20:600].mean(), shown[round(FIGURE_S * FPS) + 5][20:340, 20:600].mean()
    assert (round(first / 255), round(second)) == (1, pytest.approx(40, abs=3))


def test_a_film_is_h264_and_leaves_nothing_half_done(tmp_path: Path, path: Path) -> None:
    keep(path)
    file = export(path, tmp_path / "m.mp4")
    with av.open(str(file)) as container:
        assert container.streams.video[0].codec_context.name == "h264"
        assert container.streams.video[0].codec_context.pix_fmt == "yuv420p"
    assert not list(tmp_path.glob(".*.part"))


def test_a_film_beside_a_recording_runs_with_it(tmp_path: Path, path: Path) -> None:
    keep(path)
    reel = RecordingWriter(tmp_path / "tape", RecordingInfo("p", "domination", "domination", 12, "", ""), 10**9)
    for k in range(25):
        reel.add(jpeg(10 * k), k / 12, is_calm=False)
    reel.close()
    with Store.open(path) as store:
        store.add_recording(store.match_ids()[0], Recorded(tmp_path / "tape", 1.0))
        store.add_recording(store.match_ids()[0], Recorded(tmp_path / "gone", 9.0))
    shown = frames(export(path, tmp_path / "m.mp4"))
    assert len(shown) == 25
    shades = [frame[20:340, 20:600].mean() for frame in shown]
    assert shades == pytest.approx([10 * k for k in range(25)], abs=4)


def test_a_match_is_replayed_in_one_file_without_any_network(tmp_path: Path, path: Path, browser: Browser) -> None:
    with Store.open(path) as store:
        match = store.begin(RECORD.info)
        for event in RECORD.events:
            store.append(match, event, jpeg(90) if event.n == 2 else None)
    page, asked, faults = browser.new_page(locale="en-GB"), list[str](), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(export(path, tmp_path / "m.html").as_uri())
    said, here, picture = page.locator("#said"), page.locator("#moves [aria-current]"), page.locator("#picture")
    expect(page.locator("h1")).to_have_text("Domination (Focus): Ada </script> – Émile", timeout=SHOWN_MS)
    expect(said).to_have_text("The match begins. Ada </script> to move.")
    expect(page.locator("#board .square")).to_have_count(52)
    expect(picture).to_be_hidden()
    page.keyboard.press("ArrowRight")
    expect(here).to_contain_text("1")
    expect(picture).to_be_visible()
    assert picture.evaluate("(image) => image.decode().then(() => image.naturalWidth)") == 640
    page.locator("#moves button", has_text="Not allowed").click()
    expect(page.locator("#board .mark.wrong").first).to_be_visible()
    expect(page.locator("#rules dt").first).to_contain_text("DOM-")
    page.keyboard.press("v")
    expect(page.locator("#board")).to_have_attribute("data-view", "plan")
    page.keyboard.press("End")
    expect(page.locator("#forth")).to_be_disabled()
    page.locator("#language").click()
    expect(page.locator("h2#moves-name")).to_have_text("Die Partie")
    page.locator("#play").click()
    expect(page.locator("#moves li:nth-child(2) [aria-current]")).to_have_count(1)
    page.locator("#play").click()
    expect(page.locator("#play")).to_have_attribute("aria-label", "Von selbst ablaufen lassen")
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert faults == []


def test_a_match_in_one_file_is_drawn_in_three_dimensions(
    tmp_path: Path, path: Path, launch: Callable[..., Browser]
) -> None:
    keep(path)
    window = launch(draws_in_space=True)
    page = window.new_page()
    page.goto(export(path, tmp_path / "m.html").as_uri())
    pieces = sum(map(len, load_game("domination").start().board))
    expect(page.locator("#board canvas")).to_have_attribute("data-bodies", str(pieces), timeout=SHOWN_MS)
    window.close()


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("m.pdf", "this form is not known; end the name with one of .txt .pdn .json .svg .gif .mp4 .html"),
        ("m", "this form is not known"),
        ("none/m.txt", "cannot be written (No such file or directory)"),
        ("none/m.mp4", "cannot be written"),
    ],
)
def test_what_cannot_be_written_is_one_line(
    tmp_path: Path, path: Path, capsys: pytest.CaptureFixture[str], name: str, complaint: str
) -> None:
    keep(path)
    assert main(["export", "1", "--store", str(path), "-o", str(tmp_path / name)]) == 2
    err = capsys.readouterr().err
    assert f"{tmp_path / name}: {complaint}" in err
    assert err.count("\n") == 1


def test_a_store_that_fails_meanwhile_is_named_itself(
    tmp_path: Path, path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_file: Path, _match: object) -> None:
        raise StoreError(f"{path}: is damaged")

    keep(path)
    monkeypatch.setitem(WRITERS, ".txt", fail)
    assert main(["export", "1", "--store", str(path), "-o", str(tmp_path / "m.txt")]) == 2
    assert capsys.readouterr().err == f"companion export: {path}: is damaged\n"


@pytest.mark.parametrize("suffix", [".txt", ".svg", ".html", ".gif", ".mp4"])
def test_a_match_against_the_rules_is_not_drawn(
    tmp_path: Path, path: Path, capsys: pytest.CaptureFixture[str], suffix: str
) -> None:
    wrong = replace(RECORD.events[1], move="c3-c9")
    keep(path, replace(RECORD, events=(RECORD.events[0], wrong)))
    assert main(["export", "1", "--store", str(path), "-o", str(tmp_path / f"m{suffix}")]) == 2
    assert "event 2: c9 is no square of this board" in capsys.readouterr().err


def test_a_match_without_events_is_refused(tmp_path: Path, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(path, replace(RECORD, events=()))
    assert main(["export", "1", "--store", str(path), "-o", str(tmp_path / "m.txt")]) == 2
    assert "match 1 has not begun" in capsys.readouterr().err
