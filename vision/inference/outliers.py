"""How well a picture is explained: pixels that the hypothesis does not explain.

A few are unexplained in any picture.  Under a hand, or whatever else lies on the board, there are many, close together.
Where the board is not that of the kit or of its learned appearance, they are all over it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.appearance.colour_model import OUTLIER_LOG
from vision.compiled import compiled
from vision.inference.hypothesis import Hypothesis
from vision.likelihood.observations import Observations, unlikely_shares
from vision.pose.projection import Points
from vision.scene.materials import Materials

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

_TABLE, _FIRST_OTHER = Materials.TABLE, Materials.PAPER
"""What lies beside the mat; and the first material but that and the bare board."""

UNLIKE_SHARE = 0.2
"""Share of unexplained pixels above which a cell does not look as it should.  Of 8,210 cells in 194 photographs of the
collection five had more, two of one photograph."""

MIN_WRONG_SHARE, MIN_WRONG_SPREAD = 0.12, 0.52
"""Share of a board's cells that do not look as they should above which the board may be another one; and how far they
are spread over it then: least standard deviation in any direction, as a share of that of all cells.  In 52 photographs
that were read with a wrong appearance, wrong colours of pieces or a wrong grid, it was 0.52 to 1.2; of 114 frames with
hands over the board 0.42 at most where the share was larger."""

SURELY_EMPTY_LOG = float(np.log(0.9))
"""Log-likelihood from which on a cell that is empty according to the match is surely read as empty, too."""

COVERED_CELLS, NEIGHBOUR_PITCHES = 3, 1.5
"""Something covers cells that do not look as they should if at least so many of them lie side by side: no farther apart
than this, in pitches."""

MAX_DOUBT, DOUBT_OF_ALL = 0.9, 0.5
"""Probability that a cell of which twice :data:`UNLIKE_SHARE` is unexplained is not understood, and that any cell is
not, on a board that does not look as it should.  In such photographs 85 % of the former were misread, and 60 % of
all."""


def unexplained_shares(
    hypothesis: Hypothesis, shown: Observations, rows: tuple[int, int], colour_model: Array
) -> Array:
    """(n,) float32, share of the pixels in these rows of each cell's crop that are no likelier than outliers are.

    ``shown``: their observations; ``colour_model``: (BINS³, materials) float32, the one that allows for deep shade.
    """
    geometry, labels = hypothesis.geometry, hypothesis.labels()
    return unlikely_shares(shown, geometry.visibility, labels, rows, (OUTLIER_LOG, colour_model))


@compiled
def outlier_shares(
    bins: npt.NDArray[np.int32],
    floor: Array,
    outside: npt.NDArray[np.bool_],
    rows: tuple[int, int],
    likeliest: Array,
    colour_model: Array,
) -> Array:
    """(n,) float32, share of the pixels in these rows of crops that are no likelier in any material than outliers are.

    Args:
        bins: (n, rows, columns) int32, row of the colour model.
        floor: (n, rows, columns) float32, log-likelihood of each pixel if it shows the bare board.
        outside: (n, rows, columns) bool, not in the picture.
        rows: the first one that counts, and that after the last.
        likeliest: (BINS³,) float32, greatest log-likelihood of each colour by a material, but for FLOOR and TABLE.
        colour_model: (BINS³, materials) float32.
    """
    (first, end), shares = rows, np.zeros(len(bins), np.float32)
    for cell in range(len(bins)):
        for row in range(first, end):
            for column in range(bins.shape[2]):
                shown = bins[cell, row, column]
                best = max(likeliest[shown], floor[cell, row, column], colour_model[shown, _TABLE])
                if not outside[cell, row, column] and best < OUTLIER_LOG:
                    shares[cell] += 1
        shares[cell] /= (end - first) * bins.shape[2]
    return shares


def surely_empty(log_likelihood: Array) -> Mask:
    """(n,) bool, from log-likelihoods (n, states): whether each cell is surely empty."""
    return log_likelihood[:, 0] > SURELY_EMPTY_LOG


def is_explained(unexplained: Array) -> Mask:
    """(n,) bool, from ``unexplained`` shares (n,): whether each cell clearly looks as it should."""
    return unexplained < UNLIKE_SHARE / 2


def is_wrong_board(unexplained: Array, centres_mm: Points) -> bool:
    """Whether a board does not look as it should: ``unexplained`` shares (n,) round ``centres_mm`` (n, 3)."""
    unlike = unexplained > UNLIKE_SHARE
    if unlike.mean() <= MIN_WRONG_SHARE or unlike.sum() < COVERED_CELLS:
        return False
    spread, usual = (np.linalg.eigvalsh(np.cov(places[:, :2].T))[0] for places in (centres_mm[unlike], centres_mm))
    return bool(spread > MIN_WRONG_SPREAD**2 * usual)


def covered_cells(unexplained: Array, centres_mm: Points, pitch_mm: float) -> Mask:
    """(n,) cells that do not look as they should and lie side by side: something covers them."""
    unlike = np.flatnonzero(unexplained > UNLIKE_SHARE)
    places = centres_mm[unlike, :2]
    reached = np.linalg.norm(places[:, None] - places, axis=2) < NEIGHBOUR_PITCHES * pitch_mm
    for _ in range(len(unlike).bit_length()):
        reached = reached @ reached
    together = np.zeros(len(unexplained), np.bool_)
    together[unlike] = reached.sum(axis=1) >= COVERED_CELLS
    return together


def temper(log_likelihood: Array, unexplained: Array, *, otherwise: bool) -> Array:
    """(n, m) log posteriors, mixed with a uniform distribution where much is ``unexplained`` (n,).

    ``otherwise``: the whole board is not understood.
    """
    here = MAX_DOUBT * np.clip((unexplained - UNLIKE_SHARE) / UNLIKE_SHARE, 0, 1)
    doubt = np.maximum(here, DOUBT_OF_ALL if otherwise else 0.0)[:, None]
    posterior = (1 - doubt) * np.exp(log_likelihood) + doubt / log_likelihood.shape[1]
    mixed: Array = np.where(doubt > 0, np.log(np.maximum(posterior, np.finfo(np.float32).tiny)), log_likelihood)
    return mixed.astype(np.float32)


@compiled
def max_log_likelihood(colour_model: Array) -> Array:
    """(BINS³,) greatest log-likelihood of each colour by any material but the bare board and what lies beside it."""
    best = np.empty(len(colour_model), np.float32)
    for row in range(len(best)):
        best[row] = colour_model[row, _FIRST_OTHER]
        for material in range(_FIRST_OTHER + 1, colour_model.shape[1]):
            best[row] = max(best[row], colour_model[row, material])
    return best


def state_log_posteriors(scores: Array, states: tuple[Indices, Indices], letters: Array | None) -> Array:
    """(n, states) log-likelihood, each row's logsumexp 0.

    Args:
        scores: (n, 1 + configurations * colours), of a hypothesis.
        states: columns of ``scores`` that belong to each, see ``Configurations.state_columns``.
        letters: (n, states - 1) to be added where something stands.
    """
    best: Array = np.maximum.reduceat(scores[:, states[0]], states[1], axis=1)
    if letters is not None:
        best[:, 1:] += letters
    normal: Array = best - np.logaddexp.reduce(best, axis=1, keepdims=True)
    return normal
