"""Log-likelihood of a stack in a patch of the picture, by the surfaces of all that is seen there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled
from vision.likelihood.boundaries import COLOUR_STRIDE, Patch
from vision.scene.configurations import PLACE_MM
from vision.scene.materials import Materials
from vision.scene.prisms import FIRST, PER_CELL, PER_PIECE, PIECES, Floats, Prisms, Surfaces, paint_stack

Indices = npt.NDArray[np.intp]

MOST_UNITS = 4.0
"""Observations of colour that a surface of any size is worth at most: it is unlike its material as a whole."""

FLOOR_UNITS = 15.0
"""Observations of colour on a part of the ground as large as a piece's face, which is worth as much as that."""

SEAM_ALIKE = 0.5
"""Probability that the sides of two pieces on each other are of one colour: any may be prisoners."""

WEIGHT = 0.3
"""What the picture says counts so much: neighbouring boundaries err together."""

OFF_MM, TURN_RAD = 0.6, np.radians(5.0)
"""Standard deviations of a piece's place from the one below it, each way, and of its turn."""

ROUND_SEAM = 0.25
"""Share that the seam between two discs counts: their bevels show as lines, too, of which each side has some."""

MOST_TOUCHED = 1024
"""Most surfaces of a patch that are told apart."""

STEPS_MM, PIECE_STEP_MM = (1.6, 0.8), 0.6
"""Steps by which a whole stack is moved where its place is searched, and then each piece."""

ROUNDS = 2
"""Most times that all moves by one step are tried."""

CORNERS = 4
"""Corners of a cube's outline: it has sides of its own, and a turn."""

WHOLE, LEAN = 0, -1
"""Moves of a stack: as a whole, or the more the higher a piece is."""

TURN_STEP = 0.07
"""Radians by which it is turned for each millimetre of a step: about as much at a cube's corner."""

_TOPS = int(Materials.TOPS)


class Scene(NamedTuple):
    """What is round a stack, and work arrays.

    Attributes:
        patch: of the picture.
        prisms: of the pose.
        cell: on which the stack stands.
        rank: of the cell.
        behind: (height, width) surfaces of the patch without the stack.
        front: (height, width) surfaces that occlude it, -1 where none does.
        materials: (s,) of each surface, -1 of pieces.
        surfaces: (height, width), is overwritten.
        seams: (s,) zeros between calls: evidence of the seam under each surface.
        areas: (s,) zeros between calls: observations of colour on each surface.
        sums: (s, colours) zeros between calls: their log-likelihoods in each colour.
        touched: work array, surfaces that are met.
    """

    patch: Patch
    prisms: Prisms
    cell: int
    rank: int
    behind: Surfaces
    front: Surfaces
    materials: Indices
    surfaces: Surfaces
    seams: Floats
    areas: Floats
    sums: Floats
    touched: Indices


@compiled
def stack_log_likelihood(scene: Scene, configuration: int, places: Floats) -> float:
    """Log-likelihood, up to a constant, of a configuration (-1: none) whose pieces lie at ``places`` (p, 3).

    ``places``: see :func:`vision.scene.prisms.paint_stack`.
    """
    surfaces, front, prisms, prior = scene.surfaces, scene.front, scene.prisms, 0.0
    surfaces[:] = scene.behind
    if configuration >= 0:
        paint_stack(surfaces, scene.patch.origin, prisms, (scene.cell, scene.rank, configuration), places)
        prior = _log_prior(places[: prisms.counts[configuration]])
    for row in range(surfaces.shape[0]):
        for column in range(surfaces.shape[1]):
            if front[row, column] >= 0:
                surfaces[row, column] = front[row, column]
    return WEIGHT * (_boundary_log_ratio(scene) + _colour_log_ratio(scene)) + prior


@compiled
def seen_share(scene: Scene, configuration: int, places: Floats) -> float:
    """Share (0…1) of a configuration whose pieces lie at ``places`` (p, 3) that nothing in front occludes."""
    surfaces, all_px, seen_px = scene.surfaces, 0, 0
    surfaces[:] = -1
    paint_stack(surfaces, scene.patch.origin, scene.prisms, (scene.cell, scene.rank, configuration), places)
    for row in range(surfaces.shape[0]):
        for column in range(surfaces.shape[1]):
            all_px += int(surfaces[row, column] >= 0)
            seen_px += int(surfaces[row, column] >= 0 and scene.front[row, column] < 0)
    return seen_px / max(all_px, 1)


@compiled
def _log_prior(places: Floats) -> float:
    """Log prior of the places (p, 3) of a stack's pieces, the lowest first."""
    total = 0.0
    for piece in range(len(places)):
        for axis in range(2):
            off = places[piece, axis] if piece == 0 else places[piece, axis] - places[piece - 1, axis]
            total -= 0.5 * (off / (PLACE_MM if piece == 0 else OFF_MM)) ** 2
        total -= 0.5 * (places[piece, 2] / TURN_RAD) ** 2
    return total


@compiled
def place_stack(scene: Scene, configuration: int, places: Floats) -> float:
    """As :func:`fit_stack`, but the stack is moved only once to each side."""
    best = stack_log_likelihood(scene, configuration, places)
    return _try_moves(scene, configuration, places, (WHOLE, 2), STEPS_MM[0], best) if configuration >= 0 else best


@compiled
def fit_stack(scene: Scene, configuration: int, places: Floats) -> float:
    """The largest log-likelihood over places near ``places`` (p, 3), which are changed to the best ones found.

    The whole stack is moved, and made to lean, by less and less, then all from each piece up.
    """
    best = stack_log_likelihood(scene, configuration, places)
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
            now = stack_log_likelihood(scene, configuration, places)
            if now > best:
                best = now
                break
            _move(places, count, (first, way), -sign * by)
    return best


@compiled
def _move(places: Floats, count: int, move: tuple[int, int], by: float) -> None:
    """Move pieces of a stack of so many: ``move`` as above, and which way."""
    first, way = move
    for piece in range(max(first, 0), count):
        places[piece, way] += by * piece / (count - 1) if first == LEAN else by


@compiled
def _boundary_log_ratio(scene: Scene) -> float:
    """Log-likelihood ratio of the boundaries between surfaces, against a patch without any."""
    surfaces, patch, total, count = scene.surfaces, scene.patch, 0.0, 0
    height, width = surfaces.shape
    for way in range(2):
        right, below = (patch.step, 0) if way == 0 else (0, patch.step)
        ratios, rows, columns = (patch.across, 2, 1) if way == 0 else (patch.down, 1, 2)
        for row in range(0, height - below, rows):
            for column in range(0, width - right, columns):
                own, other = surfaces[row, column], surfaces[row + below, column + right]
                if other == own:
                    continue
                if not _is_seam(own, other):
                    total += ratios[row, column]
                    continue
                seam = min(own, other)
                if scene.seams[seam] == 0 and count < MOST_TOUCHED:
                    scene.touched[count], count = seam, count + 1
                scene.seams[seam] += ratios[row, column]
    share = 1.0 if scene.prisms.rings_mm.shape[1] == CORNERS else ROUND_SEAM
    for number in range(count):
        seam = scene.touched[number]
        total += share * np.log(SEAM_ALIKE + (1 - SEAM_ALIKE) * np.exp(scene.seams[seam]))
        scene.seams[seam] = 0
    return total


@compiled
def _is_seam(one: int, other: int) -> bool:
    """Whether two surfaces are sides that face one way, of pieces of one stack."""
    if one < FIRST or other < FIRST or (one - FIRST) // PER_CELL != (other - FIRST) // PER_CELL:
        return False
    a, b = (one - FIRST) % PER_CELL - PIECES, (other - FIRST) % PER_CELL - PIECES
    return a >= 0 and b >= 0 and a % PER_PIECE == b % PER_PIECE and a % PER_PIECE > 0


@compiled
def _colour_log_ratio(scene: Scene) -> float:
    """Log-likelihood of the surfaces' colours, against the likeliest material of every pixel."""
    patch, colours, total = scene.patch, scene.sums.shape[1], 0.0
    count = _sum_colours(scene)
    for number in range(count):
        surface = scene.touched[number]
        kinds = colours if scene.materials[surface] < 0 else 1
        units = FLOOR_UNITS if surface < FIRST else scene.areas[surface]
        total += scene.sums[surface, :kinds].max() * patch.area / (1 + units / MOST_UNITS)
        scene.areas[surface] = 0
        scene.sums[surface] = 0
    return total


@compiled
def _sum_colours(scene: Scene) -> int:
    """Add up ``areas`` and ``sums``; how many surfaces are ``touched``."""
    patch, colours, count = scene.patch, scene.sums.shape[1], 0
    rows, columns, _ = patch.colours.shape
    for row in range(rows):
        for column in range(columns):
            surface = scene.surfaces[COLOUR_STRIDE * row, COLOUR_STRIDE * column]
            if scene.areas[surface] == 0:
                if count == MOST_TOUCHED:
                    continue
                scene.touched[count], count = surface, count + 1
            scene.areas[surface] += patch.area
            material = scene.materials[surface]
            if material >= 0:
                scene.sums[surface, 0] += patch.colours[row, column, material]
                continue
            is_face = (surface - FIRST) % PER_CELL % PER_PIECE == PIECES % PER_PIECE
            first = _TOPS if is_face else _TOPS + colours
            for colour in range(colours):
                scene.sums[surface, colour] += patch.colours[row, column, first + colour]
    return count
