"""Set-up of a player's own board, with a simulated one in front of the camera."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from calibration.kit import Kit, load_kit, read_kit
from calibration.measuring import Field
from companion.games import load_game
from companion.phrases import GERMAN, trouble
from companion.simulate.photographer import Photographer
from companion.web.setup.config import SetupConfig
from companion.web.setup.page import SetupPage
from companion.web.setup.session import SetupSession
from tests.web.conftest import WAIT_S, Client
from tests.web.test_setup import JSON
from tools.stickered_board import corners_px, own_board
from vision.errors import VisionError

pytestmark = pytest.mark.pictures


@pytest.fixture
def own(tmp_path: Path) -> Iterator[tuple[Photographer, SetupSession, Kit]]:
    """Return the source, session and true kit of a set-up for draughts on a player's own board."""
    kit, game = own_board(), load_game("draughts")
    source = Photographer(kit, game, lambda _: time.sleep(0.04))
    session = SetupSession(
        SetupConfig(game, load_kit("draughts"), tmp_path, {"device": "0"}), source, source.show, patience_s=WAIT_S
    )
    yield source, session, kit
    session.close()


def test_an_own_board_is_set_up_from_its_corners_and_two_pictures(own: tuple[Photographer, SetupSession, Kit]) -> None:
    _, session, true = own
    page = SetupPage(("127.0.0.1", 0), session, token="secret")
    client = Client(page.server.port)

    def act(name: str, **fields: object) -> Any:
        status, _, data = client.ask("POST", f"/setup/{name}", json.dumps(fields), JSON)
        assert status == 200, data
        return json.loads(data)["row"]

    session.enter("mat")
    session.fresh()
    row = act("measure", corners=corners_px(true), side_mm=264)
    assert row["done"]
    assert row["own"]
    assert row["pitch_mm"] == [33, 33]
    session.enter("empty")
    assert act("learn-empty")["done"]
    assert not session.lens_row()["done"]
    session.enter("start")
    session.fresh()
    size = {"letters": "WB", "width": 27, "height": 7}
    sizes = act("size", sizes=[size])["sizes"]
    assert sizes == {"kinds": [size | {"shape": "disc"}], "known": True, "given": True, "measured": []}
    doubts = {"wrong": [], "not_found": [], "alike": []}
    assert act("learn-start") == {"done": True, "why": "", "all": 64, "learned": True, "sizes": sizes, **doubts}
    row = act("begin")
    page.close()
    assert session.wants_match.is_set()
    assert row["files"] == ["board.toml", "camera.toml", "set.toml", "table.toml"]
    kit = read_kit(session.config.folder / "board.toml")
    assert {(kind.width_mm, kind.height_mm) for kind in kit.pieces} == {(27, 7)}
    assert [marker.id for marker in kit.mat.markers] == [marker.id for marker in true.mat.markers]
    assert 'kit = "board.toml"' in (session.config.folder / "table.toml").read_text()


def measured(session: SetupSession, true: Kit, corners: Sequence[float] = ()) -> Any:
    """Measure a board from the corners of its field, by default the true ones; return the resulting row."""
    session.enter("mat")
    session.fresh()
    flat = corners or corners_px(true)
    a, b, c, d = zip(flat[::2], flat[1::2], strict=True)
    return session.measure(Field((a, b, c, d), 8, 8, (264.0, None), 25.0))


def come_to_start(session: SetupSession, true: Kit) -> None:
    """Measure the board and learn its appearance, up to the step of the start position."""
    measured(session, true)
    session.enter("empty")
    session.learn_empty()
    session.enter("start")
    session.fresh()


def test_discs_of_which_no_size_was_given_are_measured_at_the_start(
    own: tuple[Photographer, SetupSession, Kit],
) -> None:
    _, session, true = own
    come_to_start(session, true)
    row = session.learn_start()
    assert row["wrong"] == []
    assert row["done"] == row["sizes"]["known"]
    (seen,) = row["sizes"]["measured"]
    assert seen["letters"] == "WB"
    assert abs(seen["width"] - 27) < 3 * seen["width_off"]
    assert abs(seen["height"] - 7) < 3 * seen["height_off"]
    (kind, _) = read_kit(session.config.folder / "board.toml").pieces
    assert kind.width_mm == seen["width"]


def test_sizes_that_the_picture_does_not_tell_are_asked_for(
    own: tuple[Photographer, SetupSession, Kit], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, session, true = own
    come_to_start(session, true)
    monkeypatch.setattr("companion.web.setup.session.with_measured_pieces", Mock(side_effect=VisionError("no discs")))
    asked = session.learn_start()
    assert (asked["done"], asked["wrong"], asked["sizes"]["known"]) == (False, [], False)
    assert trouble(asked["why"], GERMAN).endswith("bitte messen und unten angeben")
    page = SetupPage(("127.0.0.1", 0), session, token="secret")
    client, told = Client(page.server.port), {"letters": "WB", "width": 27.0, "height": 7.0}
    for wrong, said in (
        (None, "bitte die Größe der Steine angeben"),
        ([{"letters": "WB", "width": "27"}], "bitte die Größe der Steine angeben"),
        ([{"letters": "WB", "width": 27}], "Steine WB: bitte Breite und Höhe angeben, etwa 30,8.5"),
        ([told | {"width": 2.7}], "Steine WB: 2.7 mm breit passt nicht zu den Feldern; bitte 7 bis 33 mm angeben"),
        ([told | {"letters": "WX"}], "Steine WX: das Kit hat W, B"),
    ):
        body = json.dumps({"sizes": wrong})
        status, _, data = client.ask("POST", "/setup/size", body, JSON | {"Accept-Language": "de"})
        assert (status, json.loads(data)["error"]) == (409, said)
    status, _, data = client.ask("POST", "/setup/size", json.dumps({"sizes": [told]}), JSON)
    page.close()
    assert status == 200
    row = json.loads(data)["row"]
    assert (row["done"], row["sizes"]["given"]) == (True, True)
    assert {kind.height_mm for kind in read_kit(session.config.folder / "board.toml").pieces} == {7}


def test_another_grid_than_the_board_shows_is_said_on_the_page(own: tuple[Photographer, SetupSession, Kit]) -> None:
    _, session, true = own
    file_off = replace(true, board=replace(true.board, files=true.board.files - 1))
    row = measured(session, true, corners_px(file_off))
    assert not row["done"]
    assert "from file to file" in row["why"]
    assert "bitte das Spielfeld an seinen vier Ecken noch einmal vermessen" in trouble(row["why"], GERMAN)
    row = measured(session, true)
    assert (row["done"], row["why"]) == (True, "")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "point at the four corners"),
        ({"corners": "abc"}, "point at the four corners"),
        ({"corners": [1, 2, 3, 4, 5, 6, 7, None]}, "point at the four corners"),
        ({"corners": [9, 9, 9, 9, 9, 9, 9, 9]}, "are no field"),
        ({"corners": [0, 700, 300, 700, 300, 500, 0, 600]}, "do not fit the markers"),
    ],
)
def test_corners_that_are_none_are_refused(
    own: tuple[Photographer, SetupSession, Kit], fields: dict[str, object], said: str
) -> None:
    _, session, _ = own
    session.enter("mat")
    page = SetupPage(("127.0.0.1", 0), session, token="secret")
    status, _, data = Client(page.server.port).ask("POST", "/setup/measure", json.dumps(fields), JSON)
    page.close()
    assert status == 409
    assert said in json.loads(data)["error"]
    assert not session.is_own
