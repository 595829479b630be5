"""Simulated readings have the error rates that their probabilities claim."""

from __future__ import annotations

import numpy as np
import pytest

from companion.simulate.readings import Noise, kit_states, next_frame, read_table

STATES = kit_states(("R", "G"), 6)
CELLS = tuple(f"a{i}" for i in range(1, 1001))
SIGHTS = [STATES[i % len(STATES)] for i in range(len(CELLS))]


def rng() -> np.random.Generator:
    """Return a generator with the same seed for every test."""
    return np.random.default_rng(7)


def wrong(noise: Noise) -> float:
    """Return the share of cells whose likeliest state is not the true one."""
    reading = read_table(CELLS, STATES, SIGHTS, noise, rng())
    return float(np.mean([reading.best(i)[0] != sight for i, sight in enumerate(SIGHTS)]))


def test_the_states_of_a_kit() -> None:
    """The empty state comes first; a piece that may hide others also has a state of unknown height."""
    assert kit_states(("Q",), 2) == ((0, None), (1, "Q"), (2, "Q"))
    assert kit_states(("Q", "w"), 1, hides=True) == ((0, None), (1, "Q"), (None, "Q"), (1, "w"), (None, "w"))


def test_a_good_camera_errs_never_and_a_bad_one_often() -> None:
    """The error rate grows as neighbouring heights become harder to distinguish."""
    assert wrong(Noise(height_nats=60.0, top_nats=60.0)) == 0.0
    assert 0.0 < wrong(Noise(height_nats=8.0, top_nats=60.0)) < wrong(Noise(height_nats=3.0, top_nats=60.0)) < 0.5


def test_probabilities_mean_what_they_say() -> None:
    """The mean probability of the likeliest state agrees with the share of cells where it is true."""
    noise = Noise(height_nats=4.0, top_nats=6.0)
    reading = read_table(CELLS, STATES, SIGHTS, noise, rng())
    claimed = float(np.mean([reading.best(i)[1] for i in range(len(CELLS))]))
    assert claimed == pytest.approx(1 - wrong(noise), abs=0.06)


def test_misread_cells_err_with_conviction() -> None:
    """The share of misread cells is as configured."""
    noise = Noise(height_nats=60.0, top_nats=60.0, misread=0.1)
    assert wrong(noise) == pytest.approx(0.1 * (1 - 1 / len(STATES)), abs=0.03)


def test_a_hand_hides_what_lies_under_it() -> None:
    """Covered cells have outliers and uniform likelihoods, other cells neither."""
    reading = read_table(CELLS, STATES, SIGHTS, Noise(), rng(), covered=(3, 4))
    assert np.flatnonzero(reading.outlier_share).tolist() == [3, 4]
    assert np.ptp(reading.log_likelihood[3]) == 0.0
    assert np.ptp(reading.log_likelihood[5]) > 1.0


def test_rows_are_distributions() -> None:
    """Rows are normalised, for the scene and for a frame of it, which differs slightly."""
    noise = Noise(height_nats=10.0, unclear=0.1)
    scene = read_table(CELLS, STATES, SIGHTS, noise, rng())
    frame = next_frame(scene, 2.5, noise, rng())
    assert frame.t_s == 2.5
    assert not np.array_equal(scene.log_likelihood, frame.log_likelihood)
    for reading in (scene, frame):
        assert np.exp(reading.log_likelihood).sum(axis=1) == pytest.approx(1.0, abs=1e-4)
