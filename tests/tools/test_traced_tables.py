"""Random tables for path tracing."""

import numpy as np
import pytest

from calibration.kit import load_kit
from companion.app.ground import start_levels
from tools.traced_tables import HEIGHT_PX, MARGIN_PX, WIDTH_PX, drawn_table

pytestmark = pytest.mark.pictures

KITS = ("cheight", "citadel", "diamond", "domination", "ziggurat")
SEEDS = (1, 2, 3, 4, 5)
"""One seed per kit, because drawing a table takes seconds."""


@pytest.fixture(scope="module")
def tables():
    """Return (seed, kit, random table) for each kit."""
    kits = [load_kit(name) for name in KITS]
    return [(seed, kit, drawn_table(kit, start_levels(kit), seed)) for seed, kit in zip(SEEDS, kits, strict=True)]


def test_the_same_seed_is_the_same_table(tables):
    seed, kit, table = tables[KITS.index("citadel")]
    assert drawn_table(kit, start_levels(kit), seed).description == table.description


def test_the_whole_mat_and_what_stands_on_it_is_in_the_picture(tables):
    for _, kit, table in tables:
        x, y = kit.mat.width_mm / 2, kit.mat.height_mm / 2
        corners = np.array([[i * x, j * y, 0] for i in (-1, 1) for j in (-1, 1)])
        highest = 1.3 * max(kind.height_mm for kind in kit.pieces)
        levels = start_levels(kit) or (0,) * len(kit.cells)
        floors = [0.0 if not kit.pillars else kit.pillars.base_mm + kit.pillars.step_mm * level for level in levels]
        tops = np.array(
            [[*kit.centre_mm(cell), floor + highest] for cell, floor in zip(kit.cells, floors, strict=True)]
        )
        seen = table.painter.scene.project(np.vstack([corners, tops]))
        assert seen.min() > MARGIN_PX
        assert (seen < np.array([WIDTH_PX, HEIGHT_PX]) - MARGIN_PX).all()


def test_every_third_camera_is_cheap_and_every_fourth_set_pale(tables):
    for seed, kit, table in tables:
        assert table.description.startswith("cheap webcam") == (seed == 3)
        assert ("pale pieces" in table.description) == (seed == 4)
        far = [
            np.abs(np.array(kind.colour, float) - kit.mat.paper).max()
            / np.abs(np.array(usual.colour, float) - kit.mat.paper).max()
            for kind, usual in zip(table.painter.scene.kit.pieces, kit.pieces, strict=True)
        ]
        assert max(far) < 0.7 if seed == 4 else min(far) > 0.5
        assert seed != 1 or far == [1.0] * len(far)


def test_paper_is_neither_dark_nor_burnt(tables):
    for _, _, table in tables:
        kit = table.painter.scene.kit
        middle = np.rint(table.painter.scene.project(np.array([[0.0, 0.0, 0.0]]))).astype(int)[0]
        gains = table.painter._gains[middle[1], middle[0]]
        room = table.painter._room
        lamps = sum(
            lamp[3] * np.linalg.norm(np.cross(lamp[1], lamp[2])) * away[2] / np.linalg.norm(away) ** 3 / np.pi
            for lamp in room.lamps
            for away in [lamp[0] + (lamp[1] + lamp[2]) / 2]
        )
        assert 0.25 < float(((lamps + room.ambient) * gains).mean()) < 1.0, kit.name
