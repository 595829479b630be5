"""Fits a stack to a patch of the picture by coordinate ascent: it is moved, turned and leaned while that helps."""

from __future__ import annotations

import numpy as np

from vision.compiled import allocation_free
from vision.likelihood.memo import find, put
from vision.likelihood.segmentation import CORNERS, Scene, stack_log_likelihood
from vision.scene.prisms import Floats

STEPS_MM, PIECE_STEP_MM = (1.6, 0.8), 0.6
"""Step sizes of the placement search: of the whole stack, and then of each piece."""

FINE_STEPS_MM = (PIECE_STEP_MM, 0.3)
"""Step sizes of the placement refinement, in which each piece is moved together with those above it."""

ROUNDS = 2
"""Maximum number of rounds in which all moves of one step size are tried."""

PLACE_TOLERANCE = 1e-4
"""Rounding, mm or radians, within which places count as equal: steps are a thousand times as long."""

WHOLE, LEAN, FOOT = 0, -1, -2
"""Moves of a stack: as a whole; in proportion to a piece's height in it, or to its distance from the top, so that the
face stays where it is, which the picture shows best."""

TURN_STEP = 0.07
"""Radians of turn per millimetre of step: a cube's corner then moves by about that step."""


@allocation_free
def place_stack(scene: Scene, configuration: int, places: Floats) -> float:
    """As :func:`fit_stack`, but with a single round of moves and turns of the whole stack, by the largest step."""
    best = log_likelihood_at(scene, configuration, places)
    if configuration < 0:
        return best
    return _try_moves(scene, configuration, places, (WHOLE, _ways(scene)), STEPS_MM[0], best)


@allocation_free
def fit_stack(scene: Scene, configuration: int, places: Floats) -> float:
    """The largest log-likelihood over places near ``places`` (p, 3), which are changed to the best ones found.

    The whole stack is moved and leaned in decreasing steps, then each piece together with those above it.
    """
    best = log_likelihood_at(scene, configuration, places)
    if configuration < 0:
        return best
    count, ways = scene.prisms.counts[configuration], _ways(scene)
    for step in STEPS_MM:
        for _ in range(ROUNDS):
            before = best
            best = _try_moves(scene, configuration, places, (WHOLE, ways), step, best)
            if count > 1:
                best = _try_moves(scene, configuration, places, (LEAN, 2), step, best)
                best = _try_moves(scene, configuration, places, (FOOT, 2), step, best)
            if best == before:
                break
    for piece in range(1, count):
        best = _try_moves(scene, configuration, places, (piece, ways), PIECE_STEP_MM, best)
    return best


@allocation_free
def refine_stack(scene: Scene, configuration: int, places: Floats) -> float:
    """As :func:`fit_stack`, from places that it has found: in finer steps, and in repeated rounds over all pieces."""
    best = log_likelihood_at(scene, configuration, places)
    if configuration < 0:
        return best
    count, ways = scene.prisms.counts[configuration], _ways(scene)
    for step in FINE_STEPS_MM:
        for _ in range(ROUNDS):
            before = best
            for piece in range(count):
                best = _try_moves(scene, configuration, places, (piece, ways), step, best)
            if best == before:
                break
    return best


@allocation_free
def _ways(scene: Scene) -> int:
    """Number of coordinates of a piece that are varied: x, y, and its turn where that is observable."""
    return 3 if is_rotation_observable(scene) else 2


@allocation_free
def is_rotation_observable(scene: Scene) -> bool:
    """Whether the turn of pieces is observable: that of cubes is, that of discs is not."""
    return bool(scene.prisms.rings_mm.shape[1] == CORNERS)


@allocation_free
def _try_moves(
    scene: Scene, configuration: int, places: Floats, move: tuple[int, int], step_mm: float, best: float
) -> float:
    """The best log-likelihood after some pieces were moved by a step along each coordinate.

    ``move``: :data:`WHOLE`, :data:`LEAN`, :data:`FOOT`, or the lowest piece of those that are moved; number of
    coordinates.
    """
    first, count = move[0], scene.prisms.counts[configuration]
    for way in range(move[1]):
        by = step_mm * (TURN_STEP if way == 2 else 1.0)
        for sign in (1.0, -1.0):
            _move(places, count, (first, way), sign * by)
            now = log_likelihood_at(scene, configuration, places)
            if now > best:
                best = now
                break
            _move(places, count, (first, way), -sign * by)
    return best


@allocation_free
def log_likelihood_at(scene: Scene, configuration: int, places: Floats) -> float:
    """Log-likelihood of a stack at ``places`` (p, 3), memoized."""
    key, used = scene.key, 3 * scene.prisms.counts[configuration] if configuration >= 0 else 0
    key[:] = 0
    key[0] = configuration
    for at in range(used):
        key[1 + at] = np.rint(places[at // 3, at % 3] / PLACE_TOLERANCE)
    slot = find(scene.memo, key)
    if not scene.memo.is_used[slot]:
        put(scene.memo, slot, key, stack_log_likelihood(scene, configuration, places))
    return float(scene.memo.values[slot])


@allocation_free
def _move(places: Floats, count: int, move: tuple[int, int], by: float) -> None:
    """Move pieces of a stack of ``count``; ``move``: as above, and the coordinate."""
    first, way = move
    for piece in range(max(first, 0), count):
        share = 1.0
        if first == LEAN:
            share = piece / (count - 1)
        elif first == FOOT:
            share = 1.0 - piece / (count - 1)
        places[piece, way] += share * by
