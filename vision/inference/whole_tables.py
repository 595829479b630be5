"""Given tables, each as a whole: how likely does a picture show this one and not that one?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from vision.inference.coordinate_ascent import all_scores
from vision.inference.hypothesis import Hypothesis

Indices = npt.NDArray[np.intp]

StatesOfCell = Sequence[Indices]
"""For every cell the states of a hypothesis that its stack may have: those that differ in what is hidden."""


def score_tables(hypothesis: Hypothesis, tables: Sequence[StatesOfCell]) -> npt.NDArray[np.float64]:
    """(k,) log-likelihoods of ``tables``, each n states of cells, up to a constant.

    By the chain rule: where they differ the board is cleared, then set up from the far side on, each stack scored
    against an empty cell, given those behind it.  ``hypothesis`` holds what is the same in all; it is changed.
    """
    differing = [cell for cell in hypothesis.geometry.far_first.tolist() if _differ([t[cell] for t in tables])]
    scores = np.zeros(len(tables))
    for number, table in enumerate(tables):
        for cell in differing:
            hypothesis.assign(cell, 0)
        for cell in differing:
            ratios = np.concatenate([[0.0], all_scores(hypothesis, cell).ravel()])
            state = int(table[cell][ratios[table[cell]].argmax()])
            scores[number] += ratios[state]
            hypothesis.assign(cell, state)
    return scores


def _differ(states: Sequence[Indices]) -> bool:
    return any(not np.array_equal(states[0], other) for other in states[1:])
