"""Where a stack fits a patch of the picture best: it is moved, turned and made to lean while that makes it likelier."""

from __future__ import annotations

import numpy as np

from vision.compiled import allocation_free
from vision.likelihood.memo import find, put
from vision.likelihood.segmentation import CORNERS, Scene, stack_log_likelihood
from vision.scene.prisms import Floats

STEPS_MM, PIECE_STEP_MM = (1.6, 0.8), 0.6
"""Steps by which a whole stack is moved where its place is searched, and then each piece."""

FINE_STEPS_MM = (PIECE_STEP_MM, 0.3)
"""Steps by which a stack and then its pieces are moved where its place is refined."""

ROUNDS = 2
"""Most times that all moves by one step are tried."""

SAME = 1e-4
"""Places, mm or radians, that are the same after rounding to this are one: steps are a thousand times as long."""

WHOLE, LEAN = 0, -1
"""Moves of a stack: as a whole, or the more the higher a piece is."""

TURN_STEP = 0.07
"""Radians by which it is turned for each millimetre of a step: about as much at a cube's corner."""


@allocation_free
def place_stack(scene: Scene, configuration: int, places: Floats) -> float:
    """As :func:`fit_stack`, but the stack is moved, or turned, only once to each side."""
    best = log_likelihood_at(scene, configuration, places)
    if configuration < 0:
        return best
    return _try_moves(scene, configuration, places, (WHOLE, _ways(scene)), STEPS_MM[0], best)


@allocation_free
def fit_stack(scene: Scene, configuration: int, places: Floats) -> float:
    """The largest log-likelihood over places near ``places`` (p, 3), which are changed to the best ones found.

    The whole stack is moved, and made to lean, by less and less, then all from each piece up.
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
            if best == before:
                break
    for piece in range(1, count):
        best = _try_moves(scene, configuration, places, (piece, ways), PIECE_STEP_MM, best)
    return best


@allocation_free
def refine_stack(scene: Scene, configuration: int, places: Floats) -> float:
    """As :func:`fit_stack`, from places that it has found: in finer steps, and pieces again after those above them."""
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
    """Ways in which a piece is moved: along x and y, and turned where that can be seen."""
    return 3 if can_be_turned(scene) else 2


@allocation_free
def can_be_turned(scene: Scene) -> bool:
    """Whether it can be seen how pieces are turned."""
    return bool(scene.prisms.rings_mm.shape[1] == CORNERS)


@allocation_free
def _try_moves(
    scene: Scene, configuration: int, places: Floats, move: tuple[int, int], step_mm: float, best: float
) -> float:
    """The best log-likelihood after some pieces were moved by a step, each of so many ways.

    ``move``: :data:`WHOLE`, :data:`LEAN`, or the lowest piece of those that are moved; how many ways.
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
    """That of a stack, which is evaluated once at each of its places."""
    key, used = scene.key, 3 * scene.prisms.counts[configuration] if configuration >= 0 else 0
    key[:] = 0
    key[0] = configuration
    for at in range(used):
        key[1 + at] = np.rint(places[at // 3, at % 3] / SAME)
    slot = find(scene.memo, key)
    if not scene.memo.is_used[slot]:
        put(scene.memo, slot, key, stack_log_likelihood(scene, configuration, places))
    return float(scene.memo.values[slot])


@allocation_free
def _move(places: Floats, count: int, move: tuple[int, int], by: float) -> None:
    """Move pieces of a stack of so many: ``move`` as above, and which way."""
    first, way = move
    for piece in range(max(first, 0), count):
        places[piece, way] += by * piece / (count - 1) if first == LEAN else by
