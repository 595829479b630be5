"""The page of a phone used as camera, in a real browser whose camera plays a film, without a referee."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from playwright.sync_api import Browser, Page, expect

from companion.phone.access import PhoneAccess
from companion.phone.camera_routes import PhoneCameraRoutes, camera_url
from companion.phone.page import PhoneCameraPage
from tests.web.conftest import WAIT_S
from tools.phone_table import write_film
from vision.capture.phone import LARGEST, PhoneCamera

SIZE = (640, 360)
QUADRANTS = np.array([[(30, 30, 200), (30, 200, 30)], [(200, 30, 30), (200, 200, 200)]], np.uint8)
"""What the sensor sees, BGR: red and green in the upper half, blue and white in the lower one."""

WITH_TORCH = """
    window.lit = [];
    const can = MediaStreamTrack.prototype.getCapabilities;
    MediaStreamTrack.prototype.getCapabilities = function () { return { ...can.call(this), torch: true }; };
    MediaStreamTrack.prototype.applyConstraints = async function ({ advanced }) { window.lit.push(...advanced); };
"""
FROM_THE_FRONT = """
    const now = MediaStreamTrack.prototype.getSettings;
    MediaStreamTrack.prototype.getSettings = function () { return { ...now.call(this), facingMode: "user" }; };
"""
DENIED = 'navigator.mediaDevices.getUserMedia = async () => { throw new DOMException("no", "NotAllowedError"); };'

Picture = npt.NDArray[np.uint8]


def sensed(scale: float = 1.0) -> Picture:
    """Return the sensor's picture, (360, 640, 3) uint8 BGR."""
    width, height = SIZE
    rows, columns = np.arange(height) * 2 // height, np.arange(width) * 2 // width
    return np.asarray(QUADRANTS[rows][:, columns] * scale, np.uint8)


class Camera:
    """A page for a phone as camera; ``note`` is what the person holding it is told."""

    def __init__(self) -> None:
        self.camera, self.access, self.note = PhoneCamera("phone 1", SIZE), PhoneAccess("secret"), dict[str, int]()
        self.phone_cameras = PhoneCameraRoutes([self.access], lambda: "token", note=lambda: self.note)
        self.phone_cameras.look([self.camera])
        self.page = PhoneCameraPage(("127.0.0.1", 0), self.phone_cameras)
        self.address = camera_url(self.page.server.url, 1, "secret")


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file that the browser's camera plays; it is reopened with every page."""
    return tmp_path_factory.mktemp("film") / "film.y4m"


@pytest.fixture(scope="module")
def phones(film: Path, launch: Callable[..., Browser]) -> Browser:
    """Launch a browser whose camera plays the film."""
    write_film(film, [sensed()], 10)
    fake = ("--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream")
    return launch(*fake, f"--use-file-for-fake-video-capture={film}")


@pytest.fixture
def served() -> Iterator[Camera]:
    camera = Camera()
    yield camera
    camera.page.close()


@pytest.fixture
def hold(phones: Browser, served: Camera, film: Path) -> Iterator[Callable[..., Page]]:
    """Return a function that opens the page on a phone and touches the start button.

    ``seen`` is the picture that the browser gets from its camera.
    """
    pages = list[Page]()

    def held(seen: Picture | None = None, script: str = "", angle: int = 0, kind: str = "") -> Page:
        write_film(film, [sensed() if seen is None else seen], 10)
        page = phones.new_context(viewport={"width": 390, "height": 844}, locale="en-GB").new_page()
        pages.append(page)
        page.set_default_timeout(1000 * WAIT_S)
        page.add_init_script(script)
        if kind:
            turn = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
            turn |= {"screenOrientation": {"type": kind, "angle": angle}}
            page.context.new_cdp_session(page).send("Emulation.setDeviceMetricsOverride", turn)
        page.goto(served.address)
        page.locator("#start").click()
        return page

    yield held
    for page in pages:
        page.context.close()


@pytest.mark.parametrize(
    ("kind", "angle", "quarters"),
    [("portraitPrimary", 0, -1), ("landscapePrimary", 90, 0), ("landscapeSecondary", 270, 2)],
)
def test_however_a_phone_is_held_the_picture_lies_as_its_sensor_does(
    hold: Callable[..., Page], served: Camera, kind: str, angle: int, quarters: int
) -> None:
    # A browser turns the sensor's picture upright.
    hold(np.rot90(sensed(), quarters), angle=angle, kind=kind)
    assert served.camera.has_picture(WAIT_S)
    got = served.camera.grab().astype(int)
    width, height = SIZE
    middles = got[height // 4 :: height // 2, width // 4 :: width // 2]
    assert np.abs(middles - QUADRANTS).max() < 60


def test_the_front_camera_is_refused(hold: Callable[..., Page], served: Camera) -> None:
    page = hold(script=FROM_THE_FRONT)
    expect(page.locator("#state")).to_have_text("This is the front camera: turn to the rear one.")
    expect(page.locator("#start")).to_be_visible()
    assert not served.camera.has_picture(0)


def test_a_camera_that_is_not_allowed_is_said(hold: Callable[..., Page]) -> None:
    page = hold(script=DENIED)
    expect(page.locator("#state")).to_contain_text("allow it in the page's settings")


def test_the_light_is_offered_in_the_dark(hold: Callable[..., Page]) -> None:
    page = hold(sensed(0.1), WITH_TORCH)
    expect(page.locator("#state")).to_have_text("It is dark: switch a lamp on, or the phone's light.")
    for is_lit in (True, False):
        page.locator("#torch").click()
        assert page.evaluate("window.lit.findLast((each) => 'torch' in each)") == {"torch": is_lit}


def test_a_phone_without_a_light_offers_none(hold: Callable[..., Page]) -> None:
    page = hold()
    page.wait_for_selector('#state[data-kind="good"]')
    expect(page.locator("#torch")).to_be_hidden()


def test_a_picture_of_another_shape_is_refused_with_both_sizes(hold: Callable[..., Page], served: Camera) -> None:
    page = hold(np.zeros((360, 480, 3), np.uint8))
    expect(page.locator("#state")).to_have_text(
        "The camera gives 480 × 360, the table's lens was measured at 640 × 360."
    )
    assert not served.camera.has_picture(0)


@pytest.mark.parametrize(("has", "sent"), [((640, 480), (640, 480)), ((2400, 1350), LARGEST)])
def test_where_no_lens_is_known_the_largest_picture_is_sent_and_stays_so_large(
    hold: Callable[..., Page], served: Camera, has: tuple[int, int], sent: tuple[int, int]
) -> None:
    served.camera = PhoneCamera("phone 1")
    served.phone_cameras.look([served.camera])
    page = hold(np.full((has[1], has[0], 3), 120, np.uint8))
    page.wait_for_selector('#state[data-kind="good"]')
    assert served.camera.size == sent
    assert served.camera.grab().shape == (sent[1], sent[0], 3)
    with page.expect_response(lambda answer: "/hello" in answer.url and answer.ok) as told:
        page.reload()
    assert (told.value.json()["width"], told.value.json()["largest"]) == (sent[0], False)


def test_the_hand_that_holds_it_is_told_how_many_views_are_good(hold: Callable[..., Page], served: Camera) -> None:
    served.note = {"views": 3, "advised": 8, "parts": 5, "all": 12}
    page = hold()
    expect(page.locator("#state")).to_contain_text("3 good views of 8, 5 of 12 parts of the picture")
    served.note = {"views": 9, "advised": 8, "parts": 12, "all": 12}
    expect(page.locator("#state")).to_contain_text("That is enough: 9 good views.")
    served.note = {}
    expect(page.locator("#state")).to_have_text("The referee sees the board.")


def test_a_phone_greets_the_match_that_takes_the_place_of_a_set_up(hold: Callable[..., Page], served: Camera) -> None:
    page = hold()
    page.wait_for_selector('#state[data-kind="good"]')
    served.phone_cameras.look(())
    expect(page.locator("#state")).to_have_text("No match is refereed now; the camera waits.")
    with page.expect_response(lambda answer: "/hello" in answer.url and answer.ok):
        served.phone_cameras.look([served.camera])
    expect(page.locator("#state")).to_have_text("The referee sees the board.")
