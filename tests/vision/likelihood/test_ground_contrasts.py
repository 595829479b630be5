"""Contrasts that are explained by the drawing on a board, or by the texture of a table."""

import numpy as np
import pytest

from vision.appearance.bare_picture import NO_BARE, PER_VALUE, BarePicture
from vision.likelihood.dissimilarity import dissimilarity_at
from vision.likelihood.ground_contrasts import SeenGround, ground_sums
from vision.likelihood.noise import BANDS
from vision.scene.materials import Materials

SIZE, STEP, EDGE = (40, 60), 3, 30
GAIN = np.full(3, 1 / 255, np.float32)
NOISE = np.full((BANDS, 3), 2.0, np.float32)
PALE, DARK = 150, 90


def stripes(pale, dark):
    """Return (height, width, 3) uint8 codes that change at column :data:`EDGE`."""
    codes = np.where(np.arange(SIZE[1]) < EDGE, pale, dark)
    return np.ascontiguousarray(np.broadcast_to(codes[None, :, None], (*SIZE, 3)), np.uint8)


def ground_nats(image, bare=None, labels=Materials.FLOOR, noise=0.5, texture=(0.0, 1.0)):
    """Return the nats from all horizontal and from all vertical pairs; ``bare``: codes of the learned board, if any."""
    seen = NO_BARE
    if bare is not None:
        levels = np.rint(bare * (PER_VALUE / 255)).astype(np.uint8)
        seen = BarePicture(levels, np.ones(SIZE, np.bool_), np.full(3, noise))
    ground = SeenGround(np.full(SIZE, labels, np.int16), seen, GAIN)
    sums = ground_sums(image, (0, 0, SIZE[1], SIZE[0]), STEP, ground, dissimilarity_at(NOISE, texture), 1.0)
    return tuple(float(way[:, SIZE[1] - STEP].sum()) for way in sums)


def test_an_edge_that_is_drawn_speaks_for_the_bare_board():
    """A visible edge of the learned board favours the bare board."""
    picture = stripes(PALE, DARK)
    across, down = ground_nats(picture, picture)
    assert across > 50
    assert down == 0


@pytest.mark.parametrize("share", [0.5, 1.2])
def test_it_does_so_in_other_light_as_well(share):
    """This holds in darker and brighter light."""
    offset = 255 * 0.055
    lit = stripes(*(round(share * (code + offset) - offset) for code in (PALE, DARK)))
    assert ground_nats(lit, stripes(PALE, DARK))[0] > 40


def test_an_edge_that_is_not_seen_speaks_against_it_but_may_be_washed_out():
    """A missing edge of the learned board counts against the bare board, by a bounded amount."""
    pairs = SIZE[0] / 2 * STEP
    assert -1.0 * pairs < ground_nats(stripes(PALE, PALE), stripes(PALE, DARK))[0] < -0.3 * pairs


def test_an_edge_that_is_not_drawn_tells_nothing():
    """An edge that the learned board does not have gives no evidence here."""
    assert ground_nats(stripes(PALE, DARK), stripes(PALE, PALE)) == (0, 0)
    assert ground_nats(stripes(PALE, DARK)) == (0, 0)


def test_what_is_within_the_noise_of_learning_tells_nothing():
    """A learned edge within its noise gives no evidence."""
    assert ground_nats(stripes(PALE, PALE), stripes(PALE, PALE - 20), noise=10.0) == (0, 0)


def test_a_texture_explains_contrasts_of_the_table_alone():
    """The texture of a table explains a contrast on the table, but not on the floor."""
    told_by_edge = [
        np.subtract(ground_nats(stripes(PALE, DARK), **ground), ground_nats(stripes(PALE, PALE), **ground))[0]
        for ground in ({"labels": label, "texture": (0.5, 1.0)} for label in (Materials.TABLE, Materials.FLOOR))
    ]
    assert told_by_edge[0] > 100
    assert told_by_edge[1] == 0
