"""Simulated readings of tables, without pictures, and with errors of a known size.

The errors are calibrated: the log-likelihood ratio of the true state against another one is drawn from N(μ, 2μ) nats,
the distribution of a calibrated ratio, so that p(state) means what it says.  In addition there are cells misread with
high confidence, cells whose reading says nothing, and hands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from vision.reading import EMPTY, CellState, Reading

UNLIKE_NATS = 60.0
"""States that share neither height nor top are never confused."""

Kin = tuple[frozenset[str], ...]
"""Groups of pieces that differ only in mark or size: the characters of one side, the pyramids of one colour."""

SHARES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
UNTOUCHED = (0.857, 0.046, 0.039, 0.040, 0.013, 0.0036, 0.0014)
TOUCHED = (0.002, 0.001, 0.001, 0.002, 0.037, 0.301, 0.656)
"""Fractions of the untouched cells, and of the changed ones, whose share of differing pixels lies between each two of
SHARES: measured on Domination (companion.tracker.evidence), except for the first four of the changed ones, which none
of 184 cells had."""


@dataclass(frozen=True, slots=True)
class Noise:
    """How reliably a table is read.

    Attributes:
        height_nats: mean log-likelihood ratio against the same top one piece higher or lower.
        top_nats: the same against another top at the same height.
        alike_nats: the same against another top that looks alike (:data:`Kin`) at the same height.
        evenness: shape of the gamma distribution about these means from which each cell's own mean ratios are drawn;
            0: all cells are the same.
        misread: probability that a cell looks, with high confidence, like something else; lasts as long as the scene.
        unclear: probability that a cell's reading says nothing.
        frame_nats: standard deviation of the change from frame to frame of one scene.
    """

    height_nats: float = 30.0
    top_nats: float = 40.0
    alike_nats: float = 40.0
    evenness: float = 0.0
    misread: float = 0.0
    unclear: float = 0.0
    frame_nats: float = 0.5


def kit_states(pieces: Sequence[str], highest: int, *, hides: bool = False) -> tuple[CellState, ...]:
    """Everything that can stand on a cell: nothing, or 1…``highest`` pieces with any of ``pieces`` on top.

    With ``hides`` a piece may also hide an unknown number of others.
    """
    heights = (*range(1, highest + 1), *([None] if hides else []))
    return (EMPTY, *((height, piece) for piece in pieces for height in heights))


def read_table(
    cells: tuple[str, ...],
    states: tuple[CellState, ...],
    sights: Sequence[CellState],
    noise: Noise,
    rng: np.random.Generator,
    covered: Iterable[int] = (),
    kin: Kin = (),
    clarity: npt.NDArray[np.float64] | None = None,
) -> Reading:
    """A reading of a table whose cells show ``sights`` (n), with a hand over the ``covered`` cells.

    ``clarity`` (n,) in 0…1 is the fraction of the usual ratios that each cell gives, less where other stacks hide it.
    """
    index = {state: i for i, state in enumerate(states)}
    true = np.array([index[sight] for sight in sights])
    lies = rng.random(len(true)) < noise.misread
    looks = np.where(lies, rng.integers(len(states), size=len(true)), true)
    mean = _mean_ratios(states, (noise.height_nats, noise.top_nats, noise.alike_nats), kin)[looks]
    share = np.ones(len(true)) if clarity is None else clarity
    if noise.evenness:
        share = share * rng.gamma(noise.evenness, 1 / noise.evenness, len(true))
    # However badly a cell is seen, one piece is never taken for four.
    mean = np.where(mean < UNLIKE_NATS, np.minimum(mean * share[:, np.newaxis], UNLIKE_NATS), mean)
    log_likelihood = -rng.normal(mean, np.sqrt(2 * mean))
    outlier_share = np.zeros(len(true), dtype=np.float32)
    hidden = rng.random(len(true)) < noise.unclear
    for cell in covered:
        hidden[cell], outlier_share[cell] = True, 1.0
    log_likelihood[hidden] = 0.0
    return Reading(cells, states, _normal(log_likelihood), outlier_share)


def next_frame(reading: Reading, t_s: float, noise: Noise, rng: np.random.Generator) -> Reading:
    """The reading of another frame of the same scene, at ``t_s``."""
    shake = rng.normal(0.0, noise.frame_nats, reading.log_likelihood.shape)
    return replace(reading, log_likelihood=_normal(reading.log_likelihood + shake), t_s=t_s)


def compared(look: Reading, tables: Sequence[Sequence[CellState]]) -> tuple[float, ...]:
    """(k,) log-likelihoods of whole ``tables`` (k, n) given a second ``look`` at the same scene, up to a constant."""
    index = look.index
    cells = range(len(look.cells))
    return tuple(float(sum(look.log_likelihood[cell, index[table[cell]]] for cell in cells)) for table in tables)


def changed_shares(touched: npt.NDArray[np.bool_], rng: np.random.Generator) -> npt.NDArray[np.float32]:
    """(n,) float32: fraction of each cell's picture that differs from an earlier one, given which were ``touched``."""
    share = np.zeros(len(touched))
    for group, likely in ((~touched, UNTOUCHED), (touched, TOUCHED)):
        band = rng.choice(len(likely), size=int(group.sum()), p=np.array(likely) / sum(likely))
        share[group] = rng.uniform(np.array(SHARES)[band], np.array(SHARES)[band + 1])
    return share.astype(np.float32)


@lru_cache(maxsize=8)
def _mean_ratios(states: tuple[CellState, ...], nats: tuple[float, float, float], kin: Kin) -> npt.NDArray[np.float64]:
    """(m, m) mean log-likelihood ratio of the row's state, the true one, against the column's.

    ``nats`` are those for another height, another top, another top that looks alike.
    """
    height_nats, top_nats, alike_nats = nats

    def ratio(there: CellState, other: CellState) -> float:
        if there == other:
            return 0.0
        # A piece that hides others looks like one piece.
        a, b = (1 if height is None else height for height in (there[0], other[0]))
        if there[1] == other[1] or EMPTY in (there, other):
            return min(height_nats * max(abs(a - b), 1) ** 2, UNLIKE_NATS)
        if a != b:
            return UNLIKE_NATS
        return alike_nats if any(there[1] in group and other[1] in group for group in kin) else top_nats

    return np.array([[ratio(there, other) for other in states] for there in states])


def _normal(log_likelihood: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Each row shifted so that its logsumexp is 0."""
    shifted = log_likelihood - log_likelihood.max(axis=1, keepdims=True)
    shifted -= np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return np.asarray(shifted, dtype=np.float32)
