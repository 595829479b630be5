"""Boards rendered flat from label buffers.

Every surface has one uniform colour, so that the true table is the most likely hypothesis.
"""

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
"""Reflectance of white paper, in linear light."""

SIDE_SHARE = 0.55
"""Brightness of the sides of pieces relative to their faces."""


@dataclass(frozen=True)
class Drawn:
    """A kit seen through a camera, whose boards can be rendered."""

    reader: Reader
    geometry: Geometry
    rim: np.ndarray

    def cell(self, name):
        return self.reader.kit.cells.index(name)

    def state(self, stack):
        """Return the state of a stack of equally sized pieces; 0 for an empty cell."""
        letters = self.geometry.configurations.colours
        colour = next((i for i, group in enumerate(letters) if stack and stack[-1] in group), 0)
        return 1 + (len(stack) - 1) * len(letters) + colour if stack else 0

    def observe(self, table, cells=slice(None)):
        """Return the observations of some cells of a table (cell name → stack of one colour)."""
        picture = self.picture(table)
        light = Illumination(np.log(PAPER) * np.eye(3)[:1].T @ np.ones((1, 3)), (1.0, 1.0))
        return self.reader.observations(picture, self.geometry, light, cells)

    def hypothesis(self, table, hypothesised=None):
        """Return the hypothesis inferred for a table.

        With ``hypothesised``, return an initially empty hypothesis of that table instead, to which these stacks are
        assigned.
        """
        if hypothesised is None:
            return infer(self.observe(table), self.rim, self.geometry)
        result = Hypothesis(self.observe(table), self.rim, self.geometry)
        for name, stack in hypothesised.items():
            result.assign(self.cell(name), self.state(stack))
        return result

    def look(self, picture):
        """Return a function that makes the view of a picture (height, width, 3) uint8 BGR."""
        return lambda: make_view(picture, self.geometry, self.geometry.prisms)

    def picture(self, table):
        """Render a table as a (height, width, 3) uint8 BGR picture."""
        blank = self.reader.observations(
            np.zeros((*self.geometry.size, 3), np.uint8), self.geometry, Illumination(np.zeros((3, 3)), (1.0, 1.0))
        )
        truth = Hypothesis(blank, self.rim, self.geometry)
        for name, stack in table.items():
            truth.assign(self.cell(name), self.state(stack))
        labels, appearance = truth.labels(), self.reader.appearance
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
    """Return a function that makes a hypothesis use a learned board of one uniform display value."""

    def know(hypothesis, value):
        shown = hypothesis.observations
        board = np.full((len(shown.codes), 3, *shown.codes.shape[1:3]), value, np.float32)
        hypothesis.observations = shown._replace(expected=board)
        return hypothesis

    return know


@pytest.fixture(scope="session")
def drawn():
    """Return Domination with its nominal appearance, seen by the default camera."""
    kit, camera = load_kit("domination"), default_camera()
    reader = Reader(kit, camera, nominal_appearance(kit))
    geometry = reader.geometry(default_pose(kit, camera))
    return Drawn(reader, geometry, np.array(reader.appearance.rim, np.float32))


@pytest.fixture(scope="module")
def reader():
    """Return a reader of cubes that have exactly the colour of the squares."""
    kit, camera = load_kit("citadel"), default_camera()
    appearance = nominal_appearance(kit)
    pieces = dict.fromkeys(appearance.pieces, appearance.floor)
    return Reader(kit, camera, replace(appearance, pieces=pieces), start_levels(kit))


@pytest.fixture(scope="module")
def geometry(reader):
    """Return the geometry of ``reader`` at the default pose."""
    return reader.geometry(default_pose(reader.kit, reader.camera))
