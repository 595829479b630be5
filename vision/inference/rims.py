"""Stacks of which hardly anything is visible: a rim beside a nearer one.

That rim may as well belong to the nearer stack, put down askew or turned more than is modelled.  Whether anything
stands behind it is then not known, as for a cell that is wholly hidden.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.inference.hypothesis import Hypothesis

Array = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

RIM_SHARE, RIM_NATS = 0.1, 8.0
"""Of 46 stacks in 53 sets that seemed to stand with less than this share visible, 38 did not, nor did one behind a
tower that was turned, which cost a match (Citadel 13011 of ``tools.soak_traced``).  All of these were likelier than an
empty cell by no more than so many nats, but for a third of one."""


def are_rims(hypothesis: Hypothesis) -> Mask:
    """(n,) cells on which something is hypothesised, no more than a rim of which is visible."""
    return hypothesis.shows_less_than(RIM_SHARE, hypothesis.visible_px())


def discount_rims(hypothesis: Hypothesis) -> Array:
    """(n, states) scores, in which a rim is no evidence for a stack unless it exceeds :data:`RIM_NATS`."""
    scores = hypothesis.scores.copy()
    rims = np.flatnonzero(are_rims(hypothesis))
    likeliest = scores[rims, 1:].max(axis=1, keepdims=True)
    scores[rims, 1:] -= np.clip(likeliest, 0, RIM_NATS)
    return scores
