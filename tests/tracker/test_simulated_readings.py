"""Readings of simulated tables are wrong as often as they say."""

from __future__ import annotations

import numpy as np
import pytest

from companion.simulate.readings import Noise, kit_states, next_frame, read_table

STATES = kit_states(("R", "G"), 6)
CELLS = tuple(f"a{i}" for i in range(1, 1001))
SIGHTS = [STATES[i % len(STATES)] for i in range(len(CELLS))]


def rng() -> np.random.Generator:
    """The same chance for every test."""
    return np.random.default_rng(7)


def wrong(noise: Noise) -> float:
    """The share of cells whose likeliest state is not the true one."""
    reading = read_table(CELLS, STATES, SIGHTS, noise, rng())
    return float(np.mean([reading.best(i)[0] != sight for i, sight in enumerate(SIGHTS)]))


def test_the_states_of_a_kit() -> None:
    """Empty first; what hides others has no height."""
    assert kit_states(("Q",), 2) == ((0, None), (1, "Q"), (2, "Q"))
    assert kit_states(("Q", "w"), 1, hides=True) == ((0, None), (1, "Q"), (None, "Q"), (1, "w"), (None, "w"))


def test_a_good_camera_errs_never_and_a_bad_one_often() -> None:
    """More so the less it tells neighbouring heights apart."""
    assert wrong(Noise(height_nats=60.0, top_nats=60.0)) == 0.0
    assert 0.0 < wrong(Noise(height_nats=8.0, top_nats=60.0)) < wrong(Noise(height_nats=3.0, top_nats=60.0)) < 0.5


def test_probabilities_mean_what_they_say() -> None:
    """The mean probability of the likeliest state is the share of cells in which it is the true one."""
    noise = Noise(height_nats=4.0, top_nats=6.0)
    reading = read_table(CELLS, STATES, SIGHTS, noise, rng())
    claimed = float(np.mean([reading.best(i)[1] for i in range(len(CELLS))]))
    assert claimed == pytest.approx(1 - wrong(noise), abs=0.06)


def test_misread_cells_err_with_conviction() -> None:
    """As many as were asked for."""
    noise = Noise(height_nats=60.0, top_nats=60.0, misread=0.1)
    assert wrong(noise) == pytest.approx(0.1 * (1 - 1 / len(STATES)), abs=0.03)


def test_a_hand_hides_what_lies_under_it() -> None:
    """And pixels are outliers there, and nowhere else."""
    reading = read_table(CELLS, STATES, SIGHTS, Noise(), rng(), covered=(3, 4))
    assert np.flatnonzero(reading.outlier_share).tolist() == [3, 4]
    assert np.ptp(reading.log_likelihood[3]) == 0.0
    assert np.ptp(reading.log_likelihood[5]) > 1.0


def test_rows_are_distributions() -> None:
    """Of the scene and of every frame of it, which differ a little."""
    noise = Noise(height_nats=10.0, unclear=0.1)
    scene = read_table(CELLS, STATES, SIGHTS, noise, rng())
    frame = next_frame(scene, 2.5, noise, rng())
    assert frame.t_s == 2.5
    assert not np.array_equal(scene.log_likelihood, frame.log_likelihood)
    for reading in (scene, frame):
        assert np.exp(reading.log_likelihood).sum(axis=1) == pytest.approx(1.0, abs=1e-4)
