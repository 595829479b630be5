"""The colours of faces in a picture, from the stacks of which its reading is sure.

One photograph of single pieces gives a colour badly where its face reflected a lamp, or where the light beside it was
measured wrongly.  In another picture several faces of the same colour, in other places, show what it is.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibration.srgb import linear_light
from vision.appearance.tone_curve import OFFSET
from vision.inference.ground_hue import face_rows, window_means
from vision.inference.hypothesis import Hypothesis

Array = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

SURE_NATS = 5.0
"""Nats by which a stack must be likelier than none, and than stacks with another face, for its face to count.  The
evidence of a face is bounded, so that none has more than 11."""

MIN_FACES = 2
"""Least number of faces of a colour from which it is estimated."""

DARKEST = 0.003
"""Reflectance, in each channel, below which nothing is distinguished."""


def face_change(hypothesis: Hypothesis, reflectances: Floats) -> Floats:
    """(colours, 3) log ratio of what faces of each colour show on a learned board to ``reflectances`` (colours, 3).

    In each channel, r g b, it is the median over the darker half of the faces, as the others may reflect a lamp.  0 for
    a colour with too few stacks that are sure.
    """
    change = np.zeros_like(reflectances)
    standing = np.flatnonzero(hypothesis.state > 0)
    if len(standing) < MIN_FACES:
        return change
    sure = standing[_margin_nats(hypothesis, standing) > SURE_NATS]
    every, configurations = np.arange(len(sure)), (hypothesis.state[sure] - 1) // hypothesis.colours
    windows = face_rows(hypothesis, sure)[every, configurations][:, None]
    shown, _, is_seen = window_means(hypothesis, sure, windows)
    logs = _log(linear_light(np.maximum(shown[:, ::-1] - OFFSET, 0.0)))
    colour = (hypothesis.state[sure] - 1) % hypothesis.colours
    for number, expected in enumerate(_log(reflectances)):
        faces = logs[is_seen & (colour == number)] - expected
        if len(faces) >= MIN_FACES:
            darker = np.argsort(faces.sum(axis=1))[: (len(faces) + 1) // 2]
            change[number] = np.median(faces[darker], axis=0)
    return change


def _log(reflectances: Floats) -> Floats:
    logs: Floats = np.log(np.maximum(reflectances, DARKEST))
    return logs


def _margin_nats(hypothesis: Hypothesis, cells: Indices) -> Array:
    """(b,) nats by which the state of each of ``cells`` (b,) is likelier than any with another face, and than none."""
    rows, states = np.arange(len(cells)), hypothesis.state[cells]
    others = hypothesis.scores[cells]
    own = others[rows, states]
    others[:, 1:].reshape(len(cells), -1, hypothesis.colours)[rows, :, (states - 1) % hypothesis.colours] = -np.inf
    margin: Array = own - others.max(axis=1)
    return margin
