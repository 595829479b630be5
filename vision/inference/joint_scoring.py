"""Joint likelihoods of given tables: how likely is it that a picture shows this one and not that one?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from vision.inference.comparison import Picture
from vision.inference.coordinate_ascent import all_scores
from vision.inference.evidence_weights import (
    BOUNDARY_WEIGHT,
    HEIGHTS_COLOUR_WEIGHT,
    PIECE_NATS,
    bounded_colour_evidence,
)
from vision.inference.heights import LEARNED_COLOUR_WEIGHT
from vision.inference.hypothesis import Hypothesis
from vision.inference.render_and_compare import compare
from vision.inference.rims import RIM_NATS, are_rims

Indices = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

StatesOfCell = Sequence[Indices]
"""For every cell, the states of a hypothesis that its stack may have: they differ only in what is hidden."""


def score_tables(image: Picture, hypothesis: Hypothesis, tables: Sequence[StatesOfCell]) -> Floats:
    """(k,) log-likelihoods of ``tables``, each with the states of n cells, up to a constant.

    From the colours of the picture (height, width, 3) uint8 BGR that was observed and, where the kit's pieces have
    upper faces and do not stand on a learned board, from its boundaries.  On a learned board colours are trusted less,
    as where heights are weighed.  ``hypothesis`` holds what all tables have in common; it is changed.
    """
    differing = _differing(hypothesis, tables)
    scored = [_by_colours(hypothesis, differing, table) for table in tables]
    scores = np.array([score for score, _, _ in scored])
    if hypothesis.geometry.prisms is None:
        return scores
    if hypothesis.is_on_learned_board:
        return LEARNED_COLOUR_WEIGHT * scores
    states = np.array([states for _, states, _ in scored], np.intp).reshape(len(tables), -1)
    rims = np.array([rims for _, _, rims in scored], np.bool_).reshape(len(tables), -1)
    boundaries = [
        _by_boundaries(image, hypothesis, differing, (states[0], other), rims[0] | its_rims)
        for other, its_rims in zip(states, rims, strict=True)
    ]
    # Colours may say nothing about whether something stands, but only they say what colour it is.
    numbers = np.where(states > 0, hypothesis.configuration_count(states), 0)
    alike = (numbers[:, None] == numbers).all(axis=2)
    of_shape = np.where(alike, scores, -np.inf).max(axis=1)
    stands, configurations = numbers > 0, hypothesis.geometry.configurations
    are_heights = (stands == stands[0]).all() and configurations.has_plain_faces and configurations.is_single_size
    weight = HEIGHTS_COLOUR_WEIGHT if are_heights else 1.0
    compared: Floats = weight * bounded_colour_evidence(of_shape - scores.max()) + scores - of_shape + boundaries
    return compared


def score_towers(
    hypothesis: Hypothesis, tables: Sequence[StatesOfCell], rescore_cells: Callable[[Mapping[int, Indices]], None]
) -> Floats:
    """(k,) log-likelihoods as in :func:`score_tables`, of pyramids.

    Cell by cell, since they hide little of each other.  ``hypothesis`` holds what all tables have in common, with its
    scores; it is changed.  ``rescore_cells`` rescores the given configurations on the given cells of it.
    """
    asked = {}
    for cell in _differing(hypothesis, tables):
        hypothesis.set_scores(np.array([cell]), np.append(np.float32(0), all_scores(hypothesis, cell))[None])
        states = np.concatenate([table[cell] for table in tables])
        asked[cell] = np.unique(hypothesis.configuration_count(states[states > 0])) - 1
    rescore_cells(asked)
    return np.array([sum(hypothesis.scores[cell, table[cell]].max() for cell in asked) for table in tables])


def score_characters(
    hypothesis: Hypothesis,
    tables: Sequence[StatesOfCell],
    letters: Sequence[Indices],
    read: Callable[[int], tuple[npt.NDArray[np.float32], float]],
) -> Floats:
    """(k,) log-likelihoods as in :func:`score_tables`, from the characters on the uppermost pieces alone.

    ``letters``: of each table (n,) which character lies on each cell, -1 where nothing stands; ``read`` gives those on
    a cell as hypothesised, see :func:`vision.inference.face_reading.read_character`.  A character that is read is
    evidence for a piece there, but one that is not read is none against it.  Where a table has nothing, what counts is
    what would be read there among the other stacks of that table: a face that they hide tells nothing.
    """
    differing = np.flatnonzero(
        np.ptp([[state[0] for state in table] for table in tables], axis=0) | np.ptp(letters, 0)
    ).tolist()
    shown = [tuple(int(table[cell][0]) for cell in differing) for table in tables]

    @cache
    def read_among(states: tuple[int, ...], k: int) -> tuple[npt.NDArray[np.float32], float]:
        for cell, state in zip(differing, states, strict=True):
            hypothesis.assign(cell, state)
        return read(differing[k])

    scores = np.zeros((len(tables), len(differing)))
    for states, characters, of_table in zip(shown, letters, scores, strict=True):
        for k, character in enumerate(characters[differing].tolist()):
            if character >= 0:
                of_table[k] = read_among(states, k)[0][character]
                continue
            others = {other[k] for other in shown} - {0}
            there = [read_among((*states[:k], other, *states[k + 1 :]), k) for other in others]
            of_table[k] = min((float(likely.max()) - gain for likely, gain in there), default=0.0)
    total: Floats = scores.sum(axis=1)
    return total


def _by_colours(hypothesis: Hypothesis, differing: list[int], table: StatesOfCell) -> tuple[float, list[int], Mask]:
    """Log-likelihood of a table, its likeliest states on the ``differing`` cells, and which of them show only a rim.

    By the chain rule: these cells are cleared, then filled from the farthest to the nearest, each stack scored against
    an empty cell, given those behind it.
    """
    each, states = np.zeros(len(differing)), []
    for cell in differing:
        hypothesis.assign(cell, 0)
    for number, cell in enumerate(differing):
        ratios = np.concatenate([[0.0], all_scores(hypothesis, cell).ravel()])
        states.append(int(table[cell][ratios[table[cell]].argmax()]))
        each[number] = ratios[states[-1]]
        hypothesis.assign(cell, states[-1])
    rims = are_rims(hypothesis)[differing]
    return float((each - rims * np.clip(each, 0, RIM_NATS)).sum()), states, rims


def _by_boundaries(
    image: Picture, hypothesis: Hypothesis, differing: list[int], states: tuple[Indices, Indices], rims: Mask
) -> float:
    """Log-likelihood ratio of the second against the first of two tables' ``states`` on the ``differing`` cells.

    By the chain rule: one cell after the other is changed, given those that have been and those that have not.  On
    cells where one of the tables shows only a rim nothing is compared.
    """
    for cell, state in zip(differing, states[0].tolist(), strict=True):
        hypothesis.assign(cell, state)
    ratio = 0.0
    every = zip(differing, *(of.tolist() for of in states), rims.tolist(), strict=True)
    for cell, before, after, is_rim in every:
        one, other = (hypothesis.configuration_count(state) if state else 0 for state in (before, after))
        if one != other and not is_rim:
            tried = np.zeros(1 + len(hypothesis.geometry.configurations.all), np.bool_)
            tried[[one, other]] = True
            scores = compare(image, hypothesis, cell, tried)
            are_heights = one > 0 and other > 0 and hypothesis.geometry.configurations.is_single_size
            share, price = (BOUNDARY_WEIGHT, PIECE_NATS) if are_heights else (1.0, 0.0)
            ratio += share * float(scores[other] - scores[one]) - price * (other - one)
        hypothesis.assign(cell, after)
    return ratio


def _differing(hypothesis: Hypothesis, tables: Sequence[StatesOfCell]) -> list[int]:
    """The cells on which tables differ, the farthest first."""
    far_first = hypothesis.geometry.far_first.tolist()
    return [cell for cell in far_first if any(not np.array_equal(tables[0][cell], other[cell]) for other in tables[1:])]
