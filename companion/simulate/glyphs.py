"""Characters on pieces, drawn in strokes without a font: those of Chinese chess; others get arbitrary strokes."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np

from calibration.strokes import strokes as known_strokes
from companion.simulate.light import Array

STROKE_SHARE = 0.095
"""Width of a stroke as a share of the character's side."""

OTHER_STROKES = 6


@cache
def strokes(glyph: str) -> tuple[Array, ...]:
    """Rectangles (4, 2) that make up an upright character, within the square −0.5…0.5."""
    lines = [np.array(line) for line in known_strokes(glyph)]
    if not lines:
        rng = np.random.default_rng([ord(letter) for letter in glyph])
        lines = list(rng.uniform(0, 10, (OTHER_STROKES, 2, 2)))
    pairs = [(a, b) for line in lines for a, b in pairwise(line)]
    return tuple(_bar(a / 10 - 0.5, b / 10 - 0.5) for a, b in pairs)


def _bar(a: Array, b: Array) -> Array:
    """The rectangle around the line from ``a`` to ``b``, slightly longer than the line."""
    along = (b - a) / max(float(np.linalg.norm(b - a)), 1e-9) * STROKE_SHARE / 2
    across = np.array([-along[1], along[0]])
    return np.stack([a - along - across, b + along - across, b + along + across, a - along + across])
