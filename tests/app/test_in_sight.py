"""Changes in front of a cell, and what they imply for the cell behind it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calibration.kit import load_kit
from companion.app.camera_reader import CameraReader
from companion.simulate.light import WINDOW
from companion.simulate.placement import make_rng, set_up
from companion.simulate.render import Renderer
from companion.simulate.sprite import Scene
from companion.simulate.table import enrol_picture
from companion.simulate.viewpoint import default_camera, default_pose
from companion.tracker.evidence import CHANGE_SHARES, STILL_SHARE
from companion.tracker.verification import VerificationQuestion
from vision.capture.frames import Frame
from vision.enrolment import enrol
from vision.reading import Reading

pytestmark = pytest.mark.pictures

KIT = load_kit("domination")


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    camera = default_camera()
    return Renderer(Scene(KIT, camera, default_pose(KIT, camera, ()), WINDOW))


def changed(
    renderer: Renderer, before: dict[str, str], after: dict[str, str], *, is_built_anew: bool = False
) -> dict[str, float]:
    """Return the changed share of each cell's picture, as :func:`compared` has it."""
    reading = compared(renderer, before, after, is_built_anew=is_built_anew)
    assert reading.changed is not None
    return dict(zip(KIT.cells, reading.changed.tolist(), strict=True))


def compared(
    renderer: Renderer, before: dict[str, str], after: dict[str, str], *, is_built_anew: bool = False
) -> Reading:
    """Return the reading after one table, already understood, has become another.

    ``is_built_anew``: whether the geometry object has been replaced since, with the same pose, as after pillar moves.
    """
    return looked(renderer, before, after, is_built_anew=is_built_anew)[1]


def looked(
    renderer: Renderer, before: dict[str, str], after: dict[str, str], *, is_built_anew: bool = False
) -> tuple[CameraReader, Reading]:
    """Return the camera reader as well; see :func:`compared`."""
    camera = default_camera()
    camera_reader = CameraReader(KIT, camera, enrol(enrol_picture(KIT), KIT, camera))
    for t_s, table in enumerate((before, after)):
        setup = set_up([table.get(cell, "") for cell in KIT.cells], None, make_rng("in sight", 1))
        frame = Frame(renderer.picture(setup, t_s), t_s, float(t_s))
        camera_reader.moving(frame)
        look = camera_reader.look(frame)
        assert look.reading is not None
        if t_s == 0:
            camera_reader.understood()
            if is_built_anew:
                camera_reader.geometry = replace(camera_reader.geometry)
    return camera_reader, look.reading


def test_a_tower_put_before_a_disc_is_no_change_of_it(renderer: Renderer) -> None:
    """A tower in front of a disc changes its own cell but not that of the visible disc."""
    seen = changed(renderer, {"d5": "G"}, {"d5": "G", "d4": "RRR"})
    assert seen["d4"] > CHANGE_SHARES[1]
    assert seen["d5"] < STILL_SHARE
    assert seen["f6"] < STILL_SHARE


def test_what_stood_in_sight_is_known_where_the_geometry_is_built_anew(renderer: Renderer) -> None:
    """This also holds after the geometry has been rebuilt."""
    seen = changed(renderer, {"d5": "G"}, {"d5": "G", "d4": "RRR"}, is_built_anew=True)
    assert seen["d5"] < STILL_SHARE


def test_of_a_cell_behind_a_high_tower_nothing_is_known(renderer: Renderer) -> None:
    """The change of a cell hidden by a high tower is unknown (NaN)."""
    seen = changed(renderer, {}, {"d4": "RGRGRGRG"})
    assert np.isnan(seen["d5"])
    assert seen["b4"] < STILL_SHARE


def test_a_disc_put_where_it_is_seen_beside_a_tower_is_a_change(renderer: Renderer) -> None:
    """A disc that is visible beside a new tower counts as a change."""
    seen = changed(renderer, {}, {"d5": "G", "d4": "RR"})
    assert seen["d5"] > CHANGE_SHARES[1]


def test_what_stands_behind_a_high_tower_is_out_of_sight(renderer: Renderer) -> None:
    """No more is known of a cell behind a high tower if nothing has changed; what stands beside it is in sight."""
    table = {"d4": "RGRGRGRG", "d5": "G", "f6": "R"}
    unseen = compared(renderer, table, table).unseen
    assert unseen is not None
    assert [cell for cell, is_unseen in zip(KIT.cells, unseen, strict=True) if is_unseen] == ["d5"]


@pytest.mark.parametrize(("cell", "is_told"), [("d5", False), ("f6", True)])
def test_a_second_look_tells_nothing_of_what_a_high_tower_hides(renderer: Renderer, cell: str, is_told: bool) -> None:
    """Slivers of the tower beside its place are as red as the disc in question behind it."""
    camera_reader, reading = looked(renderer, {}, {"d4": "RGRGRGRG", "f6": "R"})
    read = {name: reading.best(i)[0] for i, name in enumerate(reading.cells)}
    tables = tuple(tuple((read | {cell: state}).values()) for state in ((0, None), (1, "R")))
    answer = camera_reader.compare(VerificationQuestion(1.0, KIT.cells, ((), ()), tables))
    assert (answer is not None) == is_told
