"""The learned colour of pillars follows what bare pillars show."""

import numpy as np
import pytest

from calibration.appearance import ColumnAppearance, nominal_appearance
from calibration.kit import load_kit
from calibration.srgb import display
from companion.simulate.viewpoint import default_camera, default_pose
from vision.appearance.colour_model import bin_index, build_colour_model, repaint_column
from vision.appearance.column_following import MIN_PILLARS, update_column_colour
from vision.appearance.illumination import LINEAR, Illumination
from vision.appearance.piece_colours import Photograph
from vision.scene.configurations import kit_configurations
from vision.scene.materials import Materials

KIT = load_kit("diamond")
CAMERA = default_camera()
LEVEL = (KIT.pillars.highest,) * len(KIT.cells)
SHOWN = 150
KNOWN = ColumnAppearance((0.2, 0.2, 0.2), (0.1, 0.1, 0.1))


@pytest.fixture
def photograph():
    """Return a picture of one uniform colour under the same light as white paper."""
    image = np.full((CAMERA.height_px, CAMERA.width_px, 3), SHOWN, np.uint8)
    return Photograph(image, default_pose(KIT, CAMERA), CAMERA, Illumination(np.zeros((3, 3)), (100.0, 100.0)))


def test_the_colour_goes_half_of_the_way_and_sides_by_the_same_share(photograph):
    """The top colour moves to the geometric mean of known and measured; sides change in the same ratio."""
    followed = update_column_colour(KNOWN, photograph, KIT, LEVEL, KIT.cells)
    assert followed.top == pytest.approx([np.sqrt(0.2 * LINEAR[SHOWN])] * 3)
    assert followed.side == pytest.approx([top / 2 for top in followed.top])


def test_what_is_alike_stays(photograph):
    """A difference of 2 % is ignored."""
    alike = ColumnAppearance((float(LINEAR[SHOWN]) * 1.02,) * 3, KNOWN.side)
    assert update_column_colour(alike, photograph, KIT, LEVEL, KIT.cells) is alike


def test_few_pillars_teach_nothing(photograph):
    """Fewer than MIN_PILLARS bare pillars change nothing."""
    assert update_column_colour(KNOWN, photograph, KIT, LEVEL, KIT.cells[: MIN_PILLARS - 1]) is KNOWN


def test_pillars_in_a_pit_teach_nothing(photograph):
    """Pillars lower than their neighbours are ignored, because they are shaded."""
    levels = tuple(KIT.pillars.lowest if number % 2 else KIT.pillars.highest for number in range(len(KIT.cells)))
    sunk = [cell for cell, level in zip(KIT.cells, levels, strict=True) if level == KIT.pillars.lowest]
    assert update_column_colour(KNOWN, photograph, KIT, levels, sunk) is KNOWN


def test_a_colour_model_expects_pillars_of_the_colour_that_they_are_repainted_in():
    """A model updated to darker pillars makes their colour more likely and leaves other materials unchanged."""
    appearance, configurations = nominal_appearance(KIT), kit_configurations(KIT)
    model = build_colour_model(appearance, configurations, None)
    column = appearance.column
    darker = ColumnAppearance(tuple(0.6 * part for part in column.top), tuple(0.6 * part for part in column.side))
    before, row = model.copy(), int(bin_index(display(np.array(darker.top)).astype(np.float32)))
    repaint_column(model, darker)
    kinds = Materials(len(configurations.colours))
    top = kinds.column_top(1.0)
    assert model[row, top] > before[row, top] + 0.5
    assert np.array_equal(model[:, : kinds.column_side], before[:, : kinds.column_side])
