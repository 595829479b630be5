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
from companion.web.setup.cameras import ADDRESS, DEVICE, MODULE, PHONE, Cameras, Choice, Missing, Opened
from companion.web.setup.newest import SetupError
from companion.web.setup.outfit import Outfit
from companion.web.setup.page import SetupPage
from companion.web.setup.views import ADVISED_PHOTOS, Views
from companion.web.setup.workshop import Workshop
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
def workshop(tmp_path: Path, shelf: Shelf) -> Iterator[Workshop]:
    """Return a workshop that has no camera yet."""
    outfit = Outfit(load_game("domination"), load_kit("domination"), tmp_path, {"panel": '"none"'})
    cameras = Cameras(lambda: (WEBCAM, Choice(MODULE, "0")), shelf.open)
    workshop = Workshop(outfit, Missing(), shelf.source.show, cameras=cameras, patience_s=WAIT_S)
    yield workshop
    workshop.close()


def soon(what: Callable[[], bool]) -> None:
    """Wait until the condition holds."""
    until = time.monotonic() + WAIT_S
    while not what():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_set_up_begins_without_a_camera_and_offers_what_is_there(workshop: Workshop) -> None:
    soon(lambda: workshop.camera_row()["why"] == "choose a camera")
    offered = workshop.camera_row()["cameras"]
    assert [(each["kind"], each["label"], each["chosen"]) for each in offered] == [
        (DEVICE, "046d HD Pro Webcam C920", False),
        (MODULE, "0", False),
        (PHONE, "", False),
    ]


def test_a_camera_that_is_chosen_is_looked_through_and_written(workshop: Workshop) -> None:
    workshop.choose(WEBCAM)
    soon(lambda: bool(workshop.camera_row()["done"]))
    assert [each["kind"] for each in workshop.camera_row()["cameras"] if each["chosen"]] == [DEVICE]
    assert workshop.outfit.keys == {"panel": '"none"', "device": '"device"'}
    workshop.choose(Choice(PHONE))
    assert workshop.outfit.keys == {"panel": '"none"', "phone": '"phone"'}


def test_what_one_camera_has_told_is_nothing_of_another(workshop: Workshop, shelf: Shelf) -> None:
    known = default_camera()
    workshop.use_camera(known)
    workshop.choose(WEBCAM)
    workshop.choose(WEBCAM)
    assert workshop.camera is known
    workshop.choose(SECRET)
    assert workshop.camera is None
    assert shelf.opened == [(WEBCAM, known), (WEBCAM, known), (SECRET, None)]


def test_a_camera_that_cannot_be_opened_is_said_and_another_may_be_chosen(workshop: Workshop) -> None:
    workshop.choose(WEBCAM)
    with pytest.raises(SetupError, match="ribbon cable"):
        workshop.choose(Choice(MODULE, "0"))
    soon(lambda: "ribbon cable" in workshop.camera_row()["why"])
    assert not any(each["chosen"] for each in workshop.camera_row()["cameras"])
    workshop.choose(WEBCAM)
    soon(lambda: bool(workshop.camera_row()["done"]))


def test_the_page_chooses_and_tells_no_password(workshop: Workshop) -> None:
    page = SetupPage(("127.0.0.1", 0), workshop, token="secret")
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
    camera, views = default_camera(), Views(tmp_path)
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


def test_views_are_collected_until_there_are_enough_and_measure_the_lens(workshop: Workshop, tmp_path: Path) -> None:
    workshop.choose(WEBCAM)
    workshop.enter("lens")
    assert workshop.collect()["collecting"]
    soon(lambda: not workshop.lens_row()["collecting"])
    row = workshop.lens_row()
    assert row["enough"]
    assert ADVISED_PHOTOS <= row["photos"] <= len(HOLDS)
    note = workshop.note()
    assert (note["views"], note["parts"]) == (row["photos"], note["all"])
    assert workshop.measure_lens()["good"]
    written = read_camera(tmp_path / "camera.toml")
    assert written.matrix[0, 0] == pytest.approx(default_camera().matrix[0, 0], rel=0.01)


def test_no_views_are_collected_at_another_step_or_where_nothing_can_be_written(
    workshop: Workshop, tmp_path: Path
) -> None:
    workshop.choose(WEBCAM)
    workshop.collect()
    workshop.enter("mat")
    assert not workshop.lens_row()["collecting"]
    (tmp_path / "lens").write_text("")
    workshop.enter("lens")
    workshop.collect()
    soon(lambda: "cannot be written" in workshop.lens_row()["why"])
    assert not workshop.lens_row()["collecting"]


def test_a_camera_is_chosen_with_a_touch(browser: Browser, workshop: Workshop) -> None:
    served = SetupPage(("127.0.0.1", 0), workshop, token="secret")
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
