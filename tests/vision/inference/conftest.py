"""Boards drawn flat from label buffers: every surface has one colour, so that the truth is the likeliest hypothesis."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from calibration.appearance import nominal_appearance
from calibration.kit import load_kit
from calibration.srgb import display
from companion.app.ground import start_levels
from companion.simulate.viewpoint import default_camera, default_pose
from vision.appearance.illumination import Illumination
from vision.inference.geometry import Geometry
from vision.inference.hypothesis import Hypothesis
from vision.inference.picture_view import make_view
from vision.inference.search import infer
from vision.reader import Reader
from vision.scene.label_buffer import MATERIAL_MASK, RANK_BITS
from vision.scene.materials import Materials

PAPER = 0.6
"""Linear light that white paper reflects."""

SIDE_SHARE = 0.55
"""How much darker the sides of pieces are than their faces."""


@dataclass(frozen=True)
class Drawn:
    """A kit through a camera, whose boards are drawn."""

    reader: Reader
    geometry: Geometry
    rim: np.ndarray

    def cell(self, name):
        return self.reader.kit.cells.index(name)

    def state(self, stack):
        """The state of a stack of pieces of one size; 0 for none."""
        letters = self.geometry.configurations.colours
        colour = next((i for i, group in enumerate(letters) if stack and stack[-1] in group), 0)
        return 1 + (len(stack) - 1) * len(letters) + colour if stack else 0

    def observe(self, table, cells=slice(None)):
        """The observations of some cells of a table (cell name → stack of one colour)."""
        picture = self.picture(table)
        light = Illumination(np.log(PAPER) * np.eye(3)[:1].T @ np.ones((1, 3)), (1.0, 1.0))
        return self.reader.observations(picture, self.geometry, light, cells)

    def hypothesis(self, table, hypothesised=None):
        """What is inferred of a table; or an empty hypothesis of it, on which some stacks are then hypothesised."""
        if hypothesised is None:
            return infer(self.observe(table), self.rim, self.geometry)
        result = Hypothesis(self.observe(table), self.rim, self.geometry)
        for name, stack in hypothesised.items():
            result.assign(self.cell(name), self.state(stack))
        return result

    def look(self, picture):
        """Gives the view of a picture (height, width, 3) uint8 BGR."""
        return lambda: make_view(picture, self.geometry, self.geometry.prisms)

    def picture(self, table):
        """(height, width, 3) uint8 BGR."""
        blank = self.reader.observations(
            np.zeros((*self.geometry.size, 3), np.uint8), self.geometry, Illumination(np.zeros((3, 3)), (1.0, 1.0))
        )
        truth = Hypothesis(blank, self.rim, self.geometry)
        for name, stack in table.items():
            truth.assign(self.cell(name), self.state(stack))
        labels, appearance = truth.all_labels(), self.reader.appearance
        colours = np.zeros((*labels.shape, 3))
        material, rank = labels & MATERIAL_MASK, labels >> RANK_BITS
        colours[material == Materials.FLOOR] = appearance.floor
        colours[material == Materials.TABLE] = (0.08, 0.06, 0.05)
        for name, stack in table.items():
            mine = rank == self.geometry.rank[self.cell(name)]
            colours[mine] = (
                np.array(appearance.pieces[stack[-1]])
                * np.where(material[mine] == Materials.STANDING, SIDE_SHARE, 1.0)[:, None]
            )
        return np.rint(255 * display(PAPER * colours[..., ::-1])).clip(0, 255).astype(np.uint8)


@pytest.fixture
def on_board():
    """Lets the bare board be known to show a display value everywhere in what a hypothesis observes."""

    def know(hypothesis, value):
        shown = hypothesis.observations
        board = np.full((len(shown.codes), 3, *shown.codes.shape[1:3]), value, np.float32)
        hypothesis.observations = shown._replace(expected=board)
        return hypothesis

    return know


@pytest.fixture(scope="session")
def drawn():
    kit, camera = load_kit("domination"), default_camera()
    reader = Reader(kit, camera, nominal_appearance(kit))
    geometry = reader.geometry(default_pose(kit, camera))
    return Drawn(reader, geometry, np.array(reader.appearance.rim, np.float32))


@pytest.fixture(scope="module")
def reader():
    """Of cubes of the squares' own colour."""
    kit, camera = load_kit("citadel"), default_camera()
    appearance = nominal_appearance(kit)
    pieces = dict.fromkeys(appearance.pieces, appearance.floor)
    return Reader(kit, camera, replace(appearance, pieces=pieces), start_levels(kit))


@pytest.fixture(scope="module")
def geometry(reader):
    return reader.geometry(default_pose(reader.kit, reader.camera))
