"""Faint cubes, even ground and shadows, compared by their outlines alone."""

from dataclasses import replace

import numpy as np
import pytest

from calibration.kit import load_kit
from calibration.looks import nominal_look
from companion.app.ground import start_levels
from companion.simulate.viewpoint import default_camera, default_pose
from vision.appearance.colour_model import display
from vision.appearance.illumination import Illumination
from vision.inference.head_to_head import compare, rescore_head_to_head
from vision.inference.hypothesis import Hypothesis
from vision.reader import Reader
from vision.scene.prisms import FIRST, paint_stack

CELL = "b5"
LIGHT = 0.6
NOISE = 0.015
TALLEST = 5


@pytest.fixture(scope="module")
def reader():
    """Of cubes of the ground's own colour."""
    kit, camera = load_kit("citadel"), default_camera()
    look = nominal_look(kit)
    return Reader(kit, camera, replace(look, pieces=dict.fromkeys(look.pieces, look.floor)), start_levels(kit))


@pytest.fixture(scope="module")
def geometry(reader):
    return reader.geometry(default_pose(reader.kit, reader.camera))


@pytest.fixture
def cell(reader):
    return reader.kit.cells.index(CELL)


@pytest.fixture
def ground(geometry):
    """(height, width) brightness, relative to bare ground."""
    return np.random.default_rng(3).normal(1, NOISE, geometry.size)


@pytest.fixture
def hypothesis(reader, geometry):
    """Of a picture of that brightness (height, width), that nothing stands anywhere."""

    def of(brightness):
        colour = 255 * display(LIGHT * np.array(reader.look.floor)[::-1])
        picture = np.clip(brightness[..., None] * colour, 0, 255).astype(np.uint8)
        light = Illumination(np.log(LIGHT) * np.eye(3)[:1].T @ np.ones((1, 3)), (1.0, 1.0))
        rim = np.array(reader.look.rim, np.float32)
        return picture, Hypothesis(reader.observations(picture, geometry, light), rim, geometry)

    return of


@pytest.fixture
def likeliest(hypothesis, cell):
    """The likeliest height on the cell, and by how many nats it is likelier than the next."""

    def of(codes):
        picture, empty = hypothesis(codes)
        scores = compare(picture, empty, cell, np.arange(1 + len(empty.geometry.configurations.all)) <= TALLEST)
        first, second = np.sort(scores)[[-1, -2]]
        return int(scores.argmax()), float(first - second)

    return of


def with_stack(codes, geometry, cell, height, faint, off_mm=0.0):
    """Cubes that are hardly darker than the ground, each side in its own way."""
    prisms = geometry.prisms
    surfaces = np.zeros(geometry.size, np.int16)
    places = np.zeros((prisms.kinds.shape[1], 3))
    places[:, 0] = off_mm
    middle = np.array([0, 0, 0.5])
    whole = prisms._replace(maps=(prisms.maps + middle) * prisms.shrink - middle)
    paint_stack(surfaces, (0, 0), whole, (cell, 0, height - 1), places)
    way = np.where(surfaces >= FIRST, (surfaces - FIRST - 8) % 5, -1)
    shade = np.select([way == 0, way > 0], [1 + faint, 1 - faint * way], 1.0)
    return codes * shade


@pytest.mark.parametrize("height", [1, 2, 4])
@pytest.mark.parametrize("off_mm", [0.0, 1.5])
def test_faint_cubes_are_told_and_counted(likeliest, ground, geometry, cell, height, off_mm):
    found, by = likeliest(with_stack(ground, geometry, cell, height, 0.1, off_mm))
    assert found == height
    assert by > 2


def test_even_ground_is_empty(likeliest, ground):
    found, by = likeliest(ground)
    assert found == 0
    assert by > 3


@pytest.mark.parametrize("axis", [0, 1])
def test_soft_shadow_over_the_ground_is_empty(likeliest, ground, axis):
    slope = np.linspace(1, 0.5, ground.shape[axis])
    assert likeliest(ground * np.expand_dims(slope, 1 - axis))[0] == 0


def test_the_sharp_edge_of_a_shadow_is_no_cube(likeliest, ground, geometry, cell):
    middle = int(geometry.crops.origin_px[cell, 0])
    assert likeliest(np.where(np.arange(ground.shape[1]) < middle, 0.6 * ground, ground))[0] == 0


@pytest.mark.parametrize("nats", [-5.0, -15.0])
def test_what_is_in_doubt_is_decided_and_the_rest_is_left(hypothesis, ground, geometry, cell, nats):
    picture, doubtful = hypothesis(with_stack(ground, geometry, cell, 2, 0.1))
    doubtful.updated[:] = False
    doubtful.updated[cell] = True
    doubtful.scores[cell, 1:] = nats
    doubtful.scores[0, 1:] = -5.0
    rescore_head_to_head(picture, doubtful)
    assert doubtful.configuration_count(int(doubtful.state[cell])) == 2
    assert doubtful.scores[cell].argmax() == doubtful.state[cell]
    assert (doubtful.scores[0, 1:] == -5.0).all()
