"""Set-up of a table, with a simulated table in front of the camera."""

from __future__ import annotations

import itertools
import json
import queue
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pypdfium2
import pytest

from calibration.appearance import read_appearance
from calibration.camera import read_camera
from calibration.kit import Kit, load_kit
from calibration.lens import DEFAULT_BOARD, find_board
from calibration.measuring import Field
from companion.app.ground import ground_levels, start_levels
from companion.games import load_game
from companion.simulate.photographer import HOLDS, Photographer
from companion.web.setup.calibration_photos import CalibrationPhotos
from companion.web.setup.cameras import Cameras
from companion.web.setup.config import SetupConfig
from companion.web.setup.latest_frame import QUEUE_S, SetupError
from companion.web.setup.overlay import picture
from companion.web.setup.page import STEPS, SetupPage
from companion.web.setup.session import SetupSession
from tests.web.conftest import WAIT_S, Client
from vision.capture.frames import Frame
from vision.errors import VisionError

pytestmark = pytest.mark.pictures

JSON = {"Content-Type": "application/json", "Authorization": "Bearer secret"}


class Bench:
    """A set-up session in front of a simulated table, and what its panel has shown."""

    def __init__(
        self, folder: Path, scene: str = "camera", kit: str | Kit = "domination", cameras: Cameras | None = None
    ) -> None:
        self.kit, self.shown = load_kit(kit) if isinstance(kit, str) else kit, list[str]()
        self.game = load_game(self.kit.game)
        self.source = Photographer(self.kit, self.game, lambda _: time.sleep(0.04))
        self.source.show(scene, 0)
        cues = {"accepted": lambda: self.shown.append("accepted")}
        self.config = SetupConfig(self.game, self.kit, folder, {"device": "0"}, cues)
        self.session = SetupSession(self.config, self.source, self.source.show, cameras=cameras, patience_s=WAIT_S)
        self.wait_for_picture()

    def wait_for_picture(self) -> None:
        until = time.monotonic() + WAIT_S
        while True:
            try:
                self.session.frame()
            except SetupError:
                assert time.monotonic() < until
                time.sleep(0.01)
            else:
                return

    def at(self, step: str) -> Any:
        """Return the row of a step once the table shows it."""
        self.session.enter(step)
        self.session.fresh()
        return getattr(self.session, f"{step}_row")()


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Return a table that is set up from one test to the next, in order."""
    bench = Bench(tmp_path_factory.mktemp("table"))
    yield bench
    bench.session.close()


def test_nothing_works_before_the_lens(bench: Bench) -> None:
    assert bench.at("camera")["done"]
    for step in (
        bench.session.learn_pieces,
        bench.session.check_start,
        bench.session.finish,
    ):
        with pytest.raises(SetupError, match="photograph the empty board first, or measure the lens"):
            step()
    with pytest.raises(SetupError, match="at least 3 photographs"):
        bench.session.measure_lens()


def test_a_photograph_without_the_board_is_refused(bench: Bench) -> None:
    bench.session.enter("mat")
    with pytest.raises(SetupError, match="not seen"):
        bench.session.photograph()


def test_photographs_measure_the_lens(bench: Bench) -> None:
    bench.session.enter("lens")
    rows = [bench.session.photograph() for _ in HOLDS]
    assert [row["photos"] for row in rows] == list(range(1, len(HOLDS) + 1))
    assert not rows[0]["enough"]
    assert rows[-1]["enough"]
    done = bench.session.measure_lens()
    assert done["good"]
    written = read_camera(bench.config.folder / "camera.toml")
    assert written.matrix[0, 0] == pytest.approx(bench.source.camera.matrix[0, 0], rel=0.01)


@pytest.mark.parametrize("kit", ["domination", "draughts-10"])
def test_the_empty_mat_tells_the_lens_of_a_camera_that_nobody_has_measured(tmp_path: Path, kit: str) -> None:
    """Its lens has a longer focal length than usual, and distortion."""
    bench = Bench(tmp_path, kit=kit)
    bench.session.enter("empty")
    bench.session.fresh()
    row = bench.session.learn_empty()
    bench.session.close()
    assert row["done"]
    written = read_camera(tmp_path / "camera.toml")
    assert written.matrix[0, 0] == pytest.approx(bench.source.camera.matrix[0, 0], rel=0.03)


def test_every_marker_is_looked_for(bench: Bench) -> None:
    row = bench.at("mat")
    assert row["done"]
    assert [marker["found"] for marker in row["markers"]] == [True] * 4
    missing = bench.at("lens")
    assert missing["done"]


def test_pieces_are_learned_only_where_they_belong(bench: Bench) -> None:
    bench.at("start")
    with pytest.raises(VisionError, match=r"set the pieces as \[enrol\] says"):
        bench.session.learn_pieces()
    assert not bench.session.pieces_row()["done"]
    bench.at("pieces")
    assert bench.session.learn_pieces()["done"]
    assert read_appearance(bench.config.folder / "set.toml", bench.kit).pieces.keys() == {"R", "G", "B", "Y"}


def test_the_start_is_checked_square_by_square(bench: Bench) -> None:
    row = bench.at("pieces") and bench.session.start_row()
    assert not row["done"]
    (square,) = (wrong for wrong in row["wrong"] if wrong["cell"] == "e7")
    assert (square["expected"], square["seen"], square["right"]) == ("1G", "", False)
    assert bench.at("start") == {
        "done": True,
        "why": "",
        "wrong": [],
        "all": 52,
        "learned": True,
        "not_found": [],
        "alike": [],
    }


def test_pieces_that_are_hardly_told_apart_are_named(tmp_path: Path) -> None:
    """Its green pieces are nearly as red as its red ones."""
    kit = load_kit("domination")
    pieces = tuple(replace(kind, colour=(166, 40, 43)) if kind.letter == "G" else kind for kind in kit.pieces)
    bench = Bench(tmp_path, kit=replace(kit, pieces=pieces))
    bench.at("empty")
    bench.session.learn_empty()
    bench.at("start")
    row = bench.session.learn_start()
    bench.session.close()

    assert row["alike"] == bench.session.pieces_row()["alike"] == ["GR"]


def test_the_panel_is_tried(bench: Bench) -> None:
    assert bench.session.try_cue("accepted")["tried"] == ["accepted"]
    assert bench.shown == ["accepted"]
    with pytest.raises(SetupError, match="has no 'dance'"):
        bench.session.try_cue("dance")


def test_the_table_is_written_and_understood(bench: Bench) -> None:
    row = bench.session.finish()
    assert row["files"] == ["camera.toml", "set.toml", "table.toml"]
    text = (bench.config.folder / "table.toml").read_text()
    assert 'game = "domination"\ndevice = 0\ncamera = "camera.toml"\nset = "set.toml"\n' in text


@pytest.mark.parametrize("step", ["camera", "lens", "mat", "pieces", "start"])
def test_each_step_has_its_picture(bench: Bench, step: str) -> None:
    bench.at(step)
    drawn = cv2.imdecode(np.frombuffer(picture(bench.session, step), np.uint8), cv2.IMREAD_COLOR)
    bare = bench.session.frame().image.astype(int)
    assert drawn is not None
    changed = float(np.abs(drawn - bare).max(axis=2).mean())
    assert (changed > 8) == (step in ("lens", "start")) or step in ("mat", "pieces")


def test_the_lens_can_be_begun_again(bench: Bench) -> None:
    assert bench.session.forget_photographs()["photos"] == 0
    assert bench.session.lens_row() == bench.session.lens_row() | {"done": False, "error_px": None}


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    bench = Bench(tmp_path / "file", "lens")
    with pytest.raises(SetupError, match=r"cannot be written.*another folder"):
        bench.session.photograph()
    bench.session.close()


class Stalling:
    """A camera with its own clock, which delivers pictures when the test calls ``give``."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.asked = threading.Event()
        self._pictures: queue.Queue[Frame | None] = queue.Queue()

    def clock(self) -> float:
        """Return the time; set ``asked`` once a thread other than the fetching one has requested it."""
        now_s = self.now_s
        if threading.current_thread().name != "set-up":
            self.asked.set()
        return now_s

    def give(self, grey: int, taken_s: float, came_s: float, session: SetupSession) -> None:
        """Deliver one picture, and wait until it has arrived."""
        self.now_s = came_s
        frame = Frame(np.full((720, 1280, 3), grey, np.uint8), grey, taken_s - 100.0)
        self._pictures.put(frame)
        until = time.monotonic() + WAIT_S
        while session._newest.last is not frame:
            assert time.monotonic() < until
            time.sleep(0.001)

    def frames(self) -> Iterator[Frame]:
        return iter(self._pictures.get, None)

    def close(self) -> None:
        self._pictures.put(None)


@pytest.fixture
def stalling(bench: Bench, tmp_path: Path) -> Iterator[tuple[Stalling, SetupSession]]:
    """Return a stalling camera, and a set-up session that has received one picture."""
    source = Stalling()
    session = SetupSession(replace(bench.config, folder=tmp_path), source, patience_s=0.2, clock=source.clock)
    source.give(10, 100.0, 100.0, session)
    yield source, session
    session.close()


def test_nothing_is_learned_from_a_camera_that_has_stalled(
    stalling: tuple[Stalling, SetupSession], bench: Bench
) -> None:
    _, session = stalling
    session.use_camera(bench.source.camera)
    field = Field(((0, 0), (9, 0), (9, 9), (0, 9)), 8, 8, (None, None), 20.0)
    for question in (
        session.photograph,
        partial(session.measure, field),
        session.learn_empty,
        session.learn_start,
        session.learn_pieces,
        session.check_start,
    ):
        with pytest.raises(SetupError, match=r"no new picture for 0\.2 s: check the camera's cable"):
            question()
    assert not list(session.config.folder.iterdir())


@pytest.mark.parametrize("late", [(101.9, 106.0), (101.9, 106.3)])
def test_a_picture_that_was_taken_before_the_question_is_no_answer(
    stalling: tuple[Stalling, SetupSession], late: tuple[float, float]
) -> None:
    source, session = stalling
    source.now_s = 102.0
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(session.fresh)
        assert source.asked.wait(WAIT_S)
        source.give(20, *late, session)
        with pytest.raises(SetupError, match="no new picture"):
            answer.result(WAIT_S)


def test_a_picture_taken_after_the_question_answers_it(bench: Bench, tmp_path: Path) -> None:
    source = Stalling()
    session = SetupSession(replace(bench.config, folder=tmp_path), source, patience_s=WAIT_S, clock=source.clock)
    source.give(10, 100.0, 100.0, session)
    source.now_s = 102.0
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(session.fresh)
        assert source.asked.wait(WAIT_S)
        # The asking thread may look at the first pictures late, so the camera keeps delivering.
        for number in itertools.takewhile(lambda _: not answer.done(), itertools.count(1)):
            source.give(number, 102.0 + number / 10, 102.0 + number / 10, session)
        assert answer.result(WAIT_S).t_s + 100.0 >= 102.1 + QUEUE_S
    session.close()


@pytest.fixture(scope="module")
def asker(bench: Bench) -> Iterator[Client]:
    """Return a client of the bench's page."""
    page = SetupPage(("127.0.0.1", 0), bench.session, token="secret")
    yield Client(page.server.port)
    page.close()


def test_the_page_tells_every_step(asker: Client) -> None:
    assert asker.ask("GET", "/")[0] == 307
    assert b"setup.js" in asker.ask("GET", "/setup")[2]
    for step in STEPS:
        status, _, data = asker.ask("GET", f"/setup/state?step={step}")
        assert status == 200
        assert json.loads(data)["step"] == step
    assert asker.ask("GET", "/setup/camera.jpg?step=start")[1]["content-type"] == "image/jpeg"
    assert asker.ask("GET", "/setup/mat.pdf?paper=a4")[2].startswith(b"%PDF")


@pytest.mark.parametrize(
    ("language", "first", "refused"),
    [
        (
            "de",
            "erst das leere Brett fotografieren, oder die Linse vermessen",
            "erst mindestens 3 Fotos aufnehmen; 8 sind besser",
        ),
        (
            "fr",
            "photograph the empty board first, or measure the lens",
            "take at least 3 photographs first; 8 are better",
        ),
    ],
)
def test_what_is_wrong_is_said_in_the_language_of_the_page(
    bench: Bench,
    asker: Client,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    language: str,
    first: str,
    refused: str,
) -> None:
    for name, nothing in (("camera", None), ("_reader", None), ("_views", CalibrationPhotos(tmp_path))):
        monkeypatch.setattr(bench.session, name, nothing)
    headers = {"Accept-Language": language}
    early = asker.ask("POST", "/setup/finish", "{}", JSON | headers)
    assert early[0] == 409
    assert json.loads(early[2])["error"].startswith(first)
    answer = asker.ask("POST", "/setup/measure-lens", "{}", JSON | headers)
    assert (answer[0], json.loads(answer[2])["error"]) == (409, refused)


def test_the_calibration_board_is_printed_at_true_size(asker: Client) -> None:
    (page,) = pypdfium2.PdfDocument(asker.ask("GET", "/setup/board.pdf")[2])
    assert [round(side / 72 * 25.4) for side in page.get_size()] == [297, 210]
    scale = 4.0
    image = np.asarray(page.render(scale=scale).to_numpy())[..., :3]
    corners = find_board(np.ascontiguousarray(image), DEFAULT_BOARD)
    assert corners is not None
    span_mm = (corners.max(axis=0) - corners.min(axis=0)) / scale / 72 * 25.4
    assert span_mm == pytest.approx([7 * 30, 4 * 30], abs=0.2)


def test_the_printed_mat_shows_the_terrain(bench: Bench, asker: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    kit = load_kit("citadel")
    monkeypatch.setattr(bench.session, "config", replace(bench.config, kit=kit, levels=start_levels(kit)))
    (page,) = pypdfium2.PdfDocument(asker.ask("GET", "/setup/mat.pdf")[2])
    assert page.get_textpage().get_text_range().startswith("1 2 2 1")


@pytest.mark.parametrize(
    ("path", "body", "headers", "status"),
    [
        ("/setup/photograph", "{}", {}, 401),
        ("/setup/photograph", "{}", JSON | {"Origin": "http://evil.example"}, 403),
        ("/setup/dance", "{}", JSON, 404),
        ("/setup/try", '{"cue": "dance"}', JSON, 409),
        ("/setup/try", "[]", JSON, 400),
        ("/setup/measure-lens", "{}", JSON, 409),
    ],
)
def test_the_page_refuses_what_is_not_meant(
    asker: Client, path: str, body: str, headers: dict[str, str], status: int
) -> None:
    answered, _, data = asker.ask("POST", path, body, headers)
    assert answered == status
    assert json.loads(data)["error"]


def test_an_unknown_step_is_refused(asker: Client) -> None:
    assert asker.ask("GET", "/setup/state?step=__init__")[0] == 404


def test_terrain_and_pillars_are_known_at_the_start(tmp_path: Path) -> None:
    kit, game = load_kit("diamond"), load_game("diamond:table")
    source = Photographer(kit, game, lambda _: time.sleep(0.04))
    source.show("start", 0)
    session = SetupSession(
        SetupConfig(game, kit, tmp_path, {}, levels=ground_levels(kit, game, game.start())), source, patience_s=WAIT_S
    )
    session.use_camera(source.camera)
    checked = session.check_start()
    session.close()
    assert next(row for row in checked.rows if row["cell"] == "c5")["expected"] == "1X@3"
    assert [row["seen"].partition("@")[2] for row in checked.rows] == [str(level) for level in session.config.levels]
