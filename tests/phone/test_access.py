"""Admission of phones as cameras, timestamps of their pictures, and refusals, with real HTTP requests."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator

import cv2
import numpy as np
import pytest

from companion.phone.access import STALE_S, AccessDenied, PhoneAccess, code_of
from companion.phone.camera_routes import LARGEST_PICTURE, PhoneCameraRoutes
from companion.web.feed import Feed
from companion.web.page import Page
from tests.hall.test_hub import START
from vision.capture.frames import SourceLost
from vision.capture.phone import PhoneCamera

SIZE = (64, 48)


def jpeg(value: int = 100, size: tuple[int, int] = SIZE) -> bytes:
    """Return a JPEG picture of one grey."""
    return bytes(cv2.imencode(".jpg", np.full((size[1], size[0], 3), value, np.uint8))[1].tobytes())


def test_the_first_phone_with_the_code_is_let_in_and_no_other() -> None:
    access = PhoneAccess("secret")
    for code in ("", "guess", "sécret"):
        with pytest.raises(AccessDenied, match="this code is not right"):
            access.enter(code, "mine", "page")
    access.enter("secret", "mine", "page")
    with pytest.raises(AccessDenied, match="another phone"):
        access.enter("secret", "other", "page")
    access.enter("secret", "mine", "loaded again")
    assert access.refused == 4


def test_a_phone_that_is_let_go_makes_room_for_another() -> None:
    access = PhoneAccess("secret")
    access.enter("secret", "mine", "page")
    access.let_go()
    with pytest.raises(AccessDenied, match="was let go"):
        access.enter("secret", "mine", "page")
    access.enter("secret", "other", "page")
    with pytest.raises(AccessDenied, match="another phone"):
        access.enter("secret", "mine", "page")
    access.let_go()
    access.let_go()
    access.enter("secret", "other", "page")


def test_a_phones_time_is_ours_by_the_quickest_exchange() -> None:
    access = PhoneAccess("secret")
    access.enter("secret", "mine", "page")
    assert access.taken_s(5_000, 100.0) == 100.0  # nothing is known yet: the time of arrival
    access.compare(None, 100.0)
    access.compare(5_050, 100.1)  # our clock is 95 s ahead
    access.compare(None, 101.0)
    access.compare(6_900, 103.0)  # a slow answer
    assert access.taken_s(8_000, 103.2) == pytest.approx(103.0)
    assert access.taken_s(99_000, 104.0) == 104.0  # from the future
    assert access.taken_s(0, 500.0) == 500.0 - STALE_S  # from long ago
    access.enter("secret", "mine", "loaded again")
    assert access.taken_s(10, 600.0) == 600.0


def test_codes_last_as_the_token_does_and_differ() -> None:
    assert code_of("token", 1) == code_of("token", 1)
    assert len({code_of("token", 1), code_of("token", 2), code_of("other", 1)}) == 3


def test_the_newest_picture_is_grabbed_and_time_does_not_go_back() -> None:
    camera = PhoneCamera("phone 1", SIZE)
    camera.post(jpeg(10), 1.0)
    camera.post(jpeg(200), 2.0)
    assert camera.grab().mean() == pytest.approx(200, abs=3)
    camera.post(jpeg(50), 1.5)
    camera.grab()
    assert camera.taken_s == 2.0


def test_a_camera_whose_lens_nobody_knows_takes_the_size_that_comes_first_but_no_huge_one() -> None:
    camera = PhoneCamera("phone 1")
    assert not camera.post(claiming(9000), 1.0)
    assert not camera.post(b"\xff\xd8" + b"\0" * 100, 1.0)
    assert camera.post(jpeg(size=(80, 60)), 2.0)
    assert camera.size == (80, 60)
    assert not camera.post(jpeg(size=(64, 48)), 3.0)
    assert camera.grab().shape == (60, 80, 3)


def test_a_broken_picture_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vision.capture.phone.SILENT_S", 0.05)
    camera, data = PhoneCamera("phone 1", SIZE), jpeg()
    head = data[: data.index(b"\xff\xda")]
    assert camera.post(head, 1.0)
    with pytest.raises(SourceLost, match="sends no pictures"):
        camera.grab()


def claiming(side_px: int) -> bytes:
    """Return a JPEG whose header claims ``side_px`` × ``side_px`` pixels."""
    data = jpeg()
    frame = data.index(b"\xff\xc0")
    return data[: frame + 5] + side_px.to_bytes(2, "big") * 2 + data[frame + 9 :]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GIF89a",
        jpeg()[:5],
        jpeg(size=(48, 64)),
        b"\xff\xd8" + b"\0" * 100,
        cv2.imencode(".png", np.zeros(SIZE[::-1], np.uint8))[1].tobytes(),
        claiming(9000),
        claiming(65535),
    ],
)
def test_what_is_no_picture_of_the_size_is_not_taken(data: bytes) -> None:
    assert not PhoneCamera("phone 1", SIZE).post(data, 0.0)


class Table:
    """A page with one phone as camera, and an HTTP client."""

    def __init__(self) -> None:
        self.said = list[str]()
        self.access, self.camera = PhoneAccess("secret"), PhoneCamera("phone 1", SIZE)
        self.phone_cameras = PhoneCameraRoutes(
            [self.access], lambda: "token", self.said.append, panel_code="panel-code"
        )
        self.phone_cameras.look([self.camera])
        self.page = Page(("127.0.0.1", 0), Feed(START), token="token", routes=self.phone_cameras.routes())

    def ask(self, path: str, body: bytes = b"", method: str = "POST", **headers: str) -> tuple[int, dict[str, object]]:
        wire = http.client.HTTPConnection("127.0.0.1", self.page.server.port, timeout=300)
        try:
            wire.request(method, path, body, headers)
            answer = wire.getresponse()
            data = answer.read()
        finally:
            wire.close()
        return answer.status, json.loads(data) if data.startswith(b"{") else {"text": data, **dict(answer.getheaders())}


@pytest.fixture
def table() -> Iterator[Table]:
    table = Table()
    yield table
    table.page.close()


IN = "code=secret&phone=mine&page=1"


def test_a_phone_that_is_let_in_sends_pictures(table: Table) -> None:
    assert table.ask(f"/eye/1/hello?{IN}") == (
        200,
        {"width": 64, "height": 48, "largest": False, "panel": "panel-code"},
    )
    assert table.ask(f"/eye/1/clock?{IN}")[0] == table.ask(f"/eye/1/clock?{IN}&heard=123")[0] == 200
    assert table.ask(f"/eye/1/picture?{IN}&taken=150", jpeg(77))[0] == 200
    assert table.camera.grab().mean() == pytest.approx(77, abs=3)
    assert table.said == ["phone 1: is here"]


def test_two_phones_are_two_cameras_and_one_may_go(table: Table) -> None:
    second = PhoneCamera("phone 2", SIZE)
    phone_cameras = PhoneCameraRoutes([table.access, PhoneAccess("other")], lambda: "token")
    phone_cameras.look([table.camera, second])
    table.page.close()
    table.page = Page(("127.0.0.1", 0), Feed(START), token="token", routes=phone_cameras.routes())
    also = "code=other&phone=hers&page=2"
    assert table.ask(f"/eye/2/picture?{IN}&taken=1", jpeg(10))[0] == 403
    assert table.ask(f"/eye/1/picture?{IN}&taken=1", jpeg(50))[0] == 200
    assert table.ask(f"/eye/2/picture?{also}&taken=1", jpeg(200))[0] == 200
    assert table.camera.grab().mean() == pytest.approx(50, abs=3)
    assert second.grab().mean() == pytest.approx(200, abs=3)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        (f"/eye/1/picture?{IN}&taken=1", b"no picture", 415),
        (f"/eye/1/picture?{IN}&taken=1", jpeg(size=(640, 480)), 415),
        (f"/eye/1/picture?{IN}&taken=1", b"\xff\xd8" * (LARGEST_PICTURE // 2 + 1), 413),
        (f"/eye/1/picture?{IN}&taken=-1", jpeg(), 400),
        (f"/eye/1/picture?{IN}&taken=1e9", jpeg(), 400),
        (f"/eye/1/picture?{IN}", jpeg(), 400),
        (f"/eye/2/picture?{IN}&taken=1", jpeg(), 404),
        (f"/eye/{'9' * 5000}/picture?{IN}&taken=1", jpeg(), 404),
        (f"/eye/1/picture?{IN}&taken=1", claiming(65535), 415),
        ("/eye/1/picture?code=guess&phone=mine&page=1&taken=1", jpeg(), 403),
        ("/eye/1/picture?code=secret&phone=other&page=1&taken=1", jpeg(), 403),
        ("/eye/1/hello?code=secret&phone=&page=1", b"", 403),
    ],
)
def test_what_is_forged_or_too_large_is_refused_and_pictures_go_on(
    table: Table, path: str, body: bytes, status: int
) -> None:
    table.ask(f"/eye/1/hello?{IN}")
    assert table.ask(path, body)[0] == status
    assert table.ask(f"/eye/1/picture?{IN}&taken=2", jpeg())[0] == 200
    assert table.camera.grab().shape == (48, 64, 3)


def test_what_is_refused_is_counted_and_said_now_and_then(table: Table) -> None:
    for _ in range(100):
        assert table.ask("/eye/1/hello?code=guess&phone=other&page=1")[0] == 403
    assert table.access.refused == 100
    assert table.said == [f"phone 1: messages refused so far: {n}" for n in (1, 10, 100)]


def test_a_page_of_another_origin_is_no_camera(table: Table) -> None:
    assert table.ask(f"/eye/1/hello?{IN}", origin="https://elsewhere.example")[0] == 403
    assert table.access.phone == ""


def test_between_matches_a_phone_waits_and_is_not_refused(table: Table) -> None:
    table.phone_cameras.look(())
    assert table.ask(f"/eye/1/hello?{IN}")[0] == 503
    table.phone_cameras.look([table.camera])
    assert table.ask(f"/eye/1/hello?{IN}")[0] == 200
    assert table.access.refused == 0


def test_only_the_arbiter_sees_the_code(table: Table) -> None:
    assert table.ask("/eye/1/code.svg", method="GET")[0] == 401
    status, answer = table.ask("/eye/1/code.svg", method="GET", authorization="Bearer token")
    assert status == 200
    assert b"<svg" in answer["text"]  # type: ignore[operator]


def test_only_the_arbiter_lets_another_phone_in(table: Table) -> None:
    table.ask(f"/eye/1/hello?{IN}")
    assert table.ask("/eye/1/let-go")[0] == 401
    assert table.ask("/eye/1/let-go", authorization="Bearer token", origin="https://elsewhere.example")[0] == 403
    assert table.access.phone == "mine"
    assert table.ask("/eye/1/let-go", authorization="Bearer token")[0] == 200
    status, answer = table.ask(f"/eye/1/hello?{IN}")
    assert (status, answer["reason"]) == (403, "gone")
    assert table.ask("/eye/1/hello?code=secret&phone=other&page=1")[0] == 200


def test_only_its_own_page_may_use_a_camera(table: Table) -> None:
    assert "camera=(self)" in table.ask("/eye", method="GET")[1]["permissions-policy"]  # type: ignore[operator]
    assert "camera=()" in table.ask("/", method="GET")[1]["permissions-policy"]  # type: ignore[operator]


def test_a_picture_wakes_who_waits_for_it() -> None:
    camera = PhoneCamera("phone 1", SIZE)
    threading.Timer(0.05, camera.post, (jpeg(), 1.0)).start()
    assert camera.grab().shape == (48, 64, 3)
