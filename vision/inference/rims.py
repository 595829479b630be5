"""Stacks of which hardly anything is seen: a rim beside a nearer one.

That rim may as well be the nearer stack's, put down askew or turned more than is modelled.  Whether anything stands
behind it is then not known, as of a cell that is wholly hidden.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.inference.hypothesis import Hypothesis

Array = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

RIM_SHARE, RIM_NATS = 0.1, 8.0
"""Of stacks that seemed to stand and of which less than this share was visible, 38 of 46 in 53 sets did not, and one
behind a tower that was turned, which cost a match (Citadel 13011 of ``tools.soak_traced``).  All of these were likelier
than an empty cell by no more than so many nats, but for a third of one."""


def are_rims(hypothesis: Hypothesis) -> Mask:
    """(n,) cells on which something is hypothesised of which no more than a rim is seen."""
    return hypothesis.shows_less_than(RIM_SHARE, hypothesis.visible_px())


def without_rims(hypothesis: Hypothesis) -> Array:
    """(n, states) scores: a rim does not tell whether anything stands there, unless it is likelier than that."""
    scores = hypothesis.scores.copy()
    rims = np.flatnonzero(are_rims(hypothesis))
    likeliest = scores[rims, 1:].max(axis=1, keepdims=True)
    scores[rims, 1:] -= np.clip(likeliest, 0, RIM_NATS)
    return scores
