"""Saturated channels only give a lower bound of the true value."""

import numpy as np
import pytest

from vision.appearance.colour_model import BINS, TOP_VALUE
from vision.appearance.illumination import Illumination
from vision.appearance.saturation import NOTHING_SATURATED, CensoredTable, censor, saturated_bins

LAST = BINS - 1


@pytest.fixture
def table():
    """Return random log-likelihoods (BINS³, 2)."""
    return np.log(np.random.default_rng(5).uniform(1e-6, 1, (BINS**3, 2))).astype(np.float32)


def cube(table):
    """Return the table with one axis per colour channel."""
    return table.reshape(BINS, BINS, BINS, 2)


def test_a_saturated_channel_is_as_likely_as_all_that_it_may_have_been_in_the_mean(table):
    """The last bin of a saturated channel gets the mean likelihood of all bins above the limit."""
    known = cube(table.copy())
    censor(table, (25, LAST, LAST))
    meant = np.log(np.exp(known[25:, 7, 9]).mean(axis=0))
    np.testing.assert_allclose(cube(table)[LAST, 7, 9], meant, rtol=1e-5)
    np.testing.assert_array_equal(cube(table)[:LAST], known[:LAST])


def test_channels_that_are_saturated_at_once_are_taken_together(table):
    """Two saturated channels are averaged jointly."""
    known = cube(table.copy())
    censor(table, (25, 20, LAST))
    meant = np.log(np.exp(known[25:, 20:, 9]).mean(axis=(0, 1)))
    np.testing.assert_allclose(cube(table)[LAST, LAST, 9], meant, rtol=1e-5)


def test_another_light_censors_the_table_as_it_was(table):
    """A change of the limits censors the original table anew, and only if the limits differ."""
    anew = table.copy()
    censored = CensoredTable(table)
    known = table.copy()
    assert not censored.censor_from(NOTHING_SATURATED)
    assert censored.censor_from((20, 21, 22))
    assert censored.censor_from((28, 30, 27))
    assert not censored.censor_from((28, 30, 27))
    censor(anew, (28, 30, 27))
    np.testing.assert_array_equal(censored.table, anew)
    censored.censor_from(NOTHING_SATURATED)
    np.testing.assert_array_equal(censored.table, known)


def test_the_more_light_the_earlier_a_channel_is_saturated():
    """White paper in full light is just below saturation.

    In a quarter of that light only much brighter surfaces could saturate.
    """
    full, quarter = (Illumination(np.array([[np.log(light)] * 3, [0.0] * 3, [0.0] * 3]), (1, 1)) for light in (1, 0.25))
    assert saturated_bins(full) == (int(254 / 255 * BINS / TOP_VALUE),) * 3
    assert saturated_bins(quarter) == NOTHING_SATURATED
