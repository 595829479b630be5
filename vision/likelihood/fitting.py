"""Where a stack fits a patch of the picture best: it is moved, turned and made to lean while that makes it likelier."""

from __future__ import annotations

from vision.compiled import compiled
from vision.likelihood.segmentation import CORNERS, MOST_TRIED, Scene, stack_log_likelihood
from vision.scene.prisms import Floats

STEPS_MM, PIECE_STEP_MM = (1.6, 0.8), 0.6
"""Steps by which a whole stack is moved where its place is searched, and then each piece."""

ROUNDS = 2
"""Most times that all moves by one step are tried."""

SAME = 1e-4
"""How little apart, mm or radians, are two places that are the same: steps are a thousand times as long."""

WHOLE, LEAN = 0, -1
"""Moves of a stack: as a whole, or the more the higher a piece is."""

TURN_STEP = 0.07
"""Radians by which it is turned for each millimetre of a step: about as much at a cube's corner."""


@compiled
def place_stack(scene: Scene, configuration: int, places: Floats) -> float:
    """As :func:`fit_stack`, but the stack is moved only once to each side."""
    best = stack_log_likelihood(scene, configuration, places)
    if configuration < 0:
        return best
    _is_new(scene, configuration, places)
    return _try_moves(scene, configuration, places, (WHOLE, 2), STEPS_MM[0], best)


@compiled
def fit_stack(scene: Scene, configuration: int, places: Floats, best: float) -> float:
    """The largest log-likelihood over places near ``places`` (p, 3), which are changed to the best ones found.

    The whole stack is moved, and made to lean, by less and less, then all from each piece up.  ``best``: that of these
    places.
    """
    if configuration < 0:
        return best
    count, ways = scene.prisms.counts[configuration], 3 if scene.prisms.rings_mm.shape[1] == CORNERS else 2
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


@compiled
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
            # What was tried before is no likelier than the best one.
            now = stack_log_likelihood(scene, configuration, places) if _is_new(scene, configuration, places) else best
            if now > best:
                best = now
                break
            _move(places, count, (first, way), -sign * by)
    return best


@compiled
def _is_new(scene: Scene, configuration: int, places: Floats) -> bool:
    """Whether a configuration has not been tried at ``places`` (p, 3); it counts as tried from now on."""
    tried, many, used = scene.tried, scene.many[0], 3 * scene.prisms.counts[configuration]
    for number in range(many):
        if tried[number, 0] == configuration:
            at = 0
            while at < used and abs(tried[number, 1 + at] - places[at // 3, at % 3]) < SAME:
                at += 1
            if at == used:
                return False
    if many < MOST_TRIED:
        tried[many, 0] = configuration
        for at in range(used):
            tried[many, 1 + at] = places[at // 3, at % 3]
        scene.many[0] = many + 1
    return True


@compiled
def _move(places: Floats, count: int, move: tuple[int, int], by: float) -> None:
    """Move pieces of a stack of so many: ``move`` as above, and which way."""
    first, way = move
    for piece in range(max(first, 0), count):
        places[piece, way] += by * piece / (count - 1) if first == LEAN else by
