"""Choosing the camera on the set-up page, and automatic collection of calibration views."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from calibration.camera import Camera, read_camera
from calibration.kit import load_kit
from companion.commands.setup import Options, _chosen
from companion.games import load_game
from companion.simulate.photographer import HOLDS, Photographer, board_held
from companion.simulate.viewpoint import default_camera
from companion.web.setup.calibration_photos import ADVISED_PHOTOS, CalibrationPhotos
from companion.web.setup.cameras import ADDRESS, DEVICE, MODULE, PHONE, Cameras, Choice, Missing, Opened
from companion.web.setup.config import SetupConfig
from companion.web.setup.latest_frame import SetupError
from companion.web.setup.page import SetupPage
from companion.web.setup.session import SetupSession
from tests.web.conftest import WAIT_S, Client
from tests.web.test_setup import JSON
from vision.capture.frames import Frame, SourceLost

pytestmark = pytest.mark.pictures

WEBCAM = Choice(DEVICE, "/dev/v4l/by-id/usb-046d_HD_Pro_Webcam_C920-video-index0")
SECRET = Choice(ADDRESS, "rtsp://ann:hidden@cam.local/live?token=hidden")


@pytest.mark.parametrize(
    ("choice", "label"),
    [
        (WEBCAM, "046d HD Pro Webcam C920"),
        (Choice(DEVICE, "0"), "0"),
        (Choice(MODULE, "1"), "1"),
        (Choice(PHONE), ""),
        (SECRET, "rtsp://cam.local/live"),
    ],
)
def test_a_camera_is_called_what_people_know_it_by(choice: Choice, label: str) -> None:
    assert choice.label == label


@dataclass
class Shelf:
    """Cameras to choose from, all of which look at the same simulated table."""

    source: Photographer
    opened: list[tuple[Choice, Camera | None]] = field(default_factory=list)

    def open(self, choice: Choice, known: Camera | None) -> Opened:
        self.opened.append((choice, known))
        if choice == Choice(MODULE, "0"):
            raise SourceLost("camera module 0: cannot be opened (none); is its ribbon cable seated?")
        self.source._closed = False
        return Opened(self.source, {choice.kind if choice.kind != ADDRESS else "device": f'"{choice.kind}"'})


@pytest.fixture
def shelf() -> Shelf:
    """Return cameras that look at a simulated table."""
    return Shelf(Photographer(load_kit("domination"), load_game("domination"), lambda _: time.sleep(0.02)))


@pytest.fixture
def session(tmp_path: Path, shelf: Shelf) -> Iterator[SetupSession]:
    """Return a set-up session that has no camera yet."""
    config = SetupConfig(load_game("domination"), load_kit("domination"), tmp_path, {"panel": '"none"'})
    cameras = Cameras(lambda: (WEBCAM, Choice(MODULE, "0")), shelf.open)
    session = SetupSession(config, Missing(), shelf.source.show, cameras=cameras, patience_s=WAIT_S)
    yield session
    session.close()


def soon(what: Callable[[], bool]) -> None:
    """Wait until the condition holds."""
    until = time.monotonic() + WAIT_S
    while not what():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_set_up_begins_without_a_camera_and_offers_what_is_there(session: SetupSession) -> None:
    soon(lambda: session.camera_row()["why"] == "choose a camera")
    offered = session.camera_row()["cameras"]
    assert [(each["kind"], each["label"], each["chosen"]) for each in offered] == [
        (DEVICE, "046d HD Pro Webcam C920", False),
        (MODULE, "0", False),
        (PHONE, "", False),
    ]


def test_a_camera_that_is_chosen_is_looked_through_and_written(session: SetupSession) -> None:
    session.choose(WEBCAM)
    soon(lambda: bool(session.camera_row()["done"]))
    assert [each["kind"] for each in session.camera_row()["cameras"] if each["chosen"]] == [DEVICE]
    assert session.config.keys == {"panel": '"none"', "device": '"device"'}
    session.choose(Choice(PHONE))
    assert session.config.keys == {"panel": '"none"', "phone": '"phone"'}


def test_what_one_camera_has_told_is_nothing_of_another(session: SetupSession, shelf: Shelf) -> None:
    known = default_camera()
    session.use_camera(known)
    session.choose(WEBCAM)
    session.choose(WEBCAM)
    assert session.camera is known
    session.choose(SECRET)
    assert session.camera is None
    assert shelf.opened == [(WEBCAM, known), (WEBCAM, known), (SECRET, None)]


def test_a_camera_that_cannot_be_opened_is_said_and_another_may_be_chosen(session: SetupSession) -> None:
    session.choose(WEBCAM)
    with pytest.raises(SetupError, match="ribbon cable"):
        session.choose(Choice(MODULE, "0"))
    soon(lambda: "ribbon cable" in session.camera_row()["why"])
    assert not any(each["chosen"] for each in session.camera_row()["cameras"])
    session.choose(WEBCAM)
    soon(lambda: bool(session.camera_row()["done"]))


def test_the_page_chooses_and_tells_no_password(session: SetupSession) -> None:
    page = SetupPage(("127.0.0.1", 0), session, token="secret")
    client = Client(page.server.port)

    def choose(kind: str, name: str) -> tuple[int, bytes]:
        body = json.dumps({"kind": kind, "name": name})
        status, _, data = client.ask("POST", "/setup/choose-camera", body, JSON)
        return status, data

    assert choose(ADDRESS, SECRET.name)[0] == 200
    told = client.ask("GET", "/setup/state?step=camera")[2]
    assert b"hidden" not in told
    (chosen,) = [each for each in json.loads(told)["row"]["cameras"] if each["chosen"]]
    assert chosen == {"kind": ADDRESS, "name": "", "label": "rtsp://cam.local/live", "chosen": True}
    for kind, name in ((ADDRESS, "cam.local"), (ADDRESS, "ftp://cam.local"), ("eye", ""), (DEVICE, None)):
        assert choose(kind, name)[0] == 409  # type: ignore[arg-type]
    page.close()


@pytest.mark.parametrize(
    ("given", "choice"),
    [
        ({}, None),
        ({"device": 2}, Choice(DEVICE, "2")),
        ({"device": "rtsp://cam.local/"}, Choice(ADDRESS, "rtsp://cam.local/")),
        ({"picamera": 0}, Choice(MODULE, "0")),
        ({"phone": True}, Choice(PHONE)),
    ],
)
def test_an_option_is_a_choice_made_before(given: dict[str, object], choice: Choice | None) -> None:
    none = {"device": None, "picamera": None, "phone": False, "simulate": False}
    options = Options(
        game="domination", kit=None, web=("", 0), output=Path(), camera=None, serial=None, panel="none", **none | given
    )  # type: ignore[arg-type]
    assert _chosen(options) == choice


def frame(image: np.ndarray, seq: int) -> Frame:
    return Frame(np.asarray(image, np.uint8), seq, seq / 10)


def test_a_view_is_kept_where_the_hand_pauses_and_not_twice(tmp_path: Path) -> None:
    camera, views = default_camera(), CalibrationPhotos(tmp_path)
    views.is_collecting = True
    first, second = board_held(camera, 0), board_held(camera, 1)
    passing = cv2.warpAffine(first, np.array([[1.0, 0, 40], [0, 1, 0]]), first.shape[1::-1], borderValue=(150,) * 3)
    blank = np.full_like(first, 150)
    shown = [blank, first, passing, second, second, second, first, first, first]
    assert [views.collect(frame(image, i)) for i, image in enumerate(shown)] == [
        False,  # no board
        False,  # nothing to compare it with
        False,  # it moves
        False,
        True,
        False,  # known
        False,  # it moves
        True,
        False,
    ]
    assert len(list(tmp_path.iterdir())) == 2
    assert views.note(first)["views"] == 2
    views.is_collecting = False
    assert views.note(first) == {}


def test_views_are_collected_until_there_are_enough_and_measure_the_lens(session: SetupSession, tmp_path: Path) -> None:
    session.choose(WEBCAM)
    session.enter("lens")
    assert session.collect()["collecting"]
    soon(lambda: not session.lens_row()["collecting"])
    row = session.lens_row()
    assert row["enough"]
    assert ADVISED_PHOTOS <= row["photos"] <= len(HOLDS)
    note = session.note()
    assert (note["views"], note["parts"]) == (row["photos"], note["all"])
    assert session.measure_lens()["good"]
    written = read_camera(tmp_path / "camera.toml")
    assert written.matrix[0, 0] == pytest.approx(default_camera().matrix[0, 0], rel=0.01)


def test_no_views_are_collected_at_another_step_or_where_nothing_can_be_written(
    session: SetupSession, tmp_path: Path
) -> None:
    session.choose(WEBCAM)
    session.collect()
    session.enter("mat")
    assert not session.lens_row()["collecting"]
    (tmp_path / "lens").write_text("")
    session.enter("lens")
    session.collect()
    soon(lambda: "cannot be written" in session.lens_row()["why"])
    assert not session.lens_row()["collecting"]


def test_a_camera_is_chosen_with_a_touch(browser: Browser, session: SetupSession) -> None:
    served = SetupPage(("127.0.0.1", 0), session, token="secret")
    page = browser.new_page(locale="en-GB")
    page.set_default_timeout(1000 * WAIT_S)
    page.goto(f"{served.server.url}setup#token=secret")
    wait_ms = 1000 * WAIT_S

    def is_chosen(name: str) -> None:
        chosen = page.locator('.choices [aria-pressed="true"]')
        expect(chosen).to_have_text(name, timeout=wait_ms)

    page.get_by_role("button", name="C920").click()
    is_chosen("046d HD Pro Webcam C920")
    expect(page.locator("#state")).to_contain_text("1280 × 720", timeout=wait_ms)
    page.get_by_role("button", name="A phone").click()
    is_chosen("A phone")
    expect(page.locator("#cameras figcaption")).to_contain_text("Scan this code")
    page.locator("#address").fill("cam.local")
    page.get_by_role("button", name="Use it").click()
    expect(page.locator("#reply")).to_contain_text("names no camera", timeout=wait_ms)
    page.locator("#address").fill(SECRET.name)
    page.locator("#address").press("Enter")
    is_chosen("rtsp://cam.local/live")
    page.close()
    served.close()
