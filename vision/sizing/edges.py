"""Sizes of cubes and pyramids from their edges: each is searched for across its predicted position.

Then the sizes, the place and rotation of every piece, and the offset that all share from the grid, are fitted to all
edges by robust least squares, and the edges are searched for again (Harris and Stennett, RAPID, 1990; Drummond and
Cipolla, Real-time visual tracking of complex structures, 2002).  Pieces of one size share it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.appearance.piece_colours import Photograph
from vision.pose.projection import Points, project
from vision.scene.configurations import PLACE_MM
from vision.scene.solids import hull
from vision.sizing.discs import GRID_MM
from vision.sizing.polyhedra import POLYHEDRA, POSE_PARAMETERS, Polyhedron

Picture = npt.NDArray[np.float32]

SMOOTHED_PX = 1.0
"""Standard deviation of the Gaussian with which the picture is smoothed before edges are looked for (Canny, 1986)."""

SAMPLES, BEGIN, END = 12, 0.1, 0.9
"""Number of samples along an edge, and the part of it that they span, clear of its corners."""

SEARCHED_PX, STEP_PX = (4.0, 4.0, 4.0, 2.5, 2.5, 2.5, 2.5, 2.5), 0.5
"""How far across an edge it is searched for in each round, and the step: colours have found it to two pixels or so."""

MIN_SLOPE = 10.0
"""Least gradient of the smoothed picture across an edge, codes per pixel: noise in a dim room makes half of it."""

SHORTEST_PX = 4.0
"""Shorter edges are ignored."""

UNIT_PX = 8.0
"""Length of an edge over which errors of its position are correlated: one observation.  Chosen by eye."""

FIRST_PX, MIN_PX, OUTLIER = 1.5, 0.4, 1.5
"""Standard deviation of an edge's position in the first round, and the least one later; and how many of them an edge
must be off to count less (Huber's function)."""

ROTATION_DEVIATION = 0.3
"""Standard deviation of the rotation of pieces, rad: they are put down roughly along the squares."""

COLOUR_SIZE_DEVIATION = 0.2
"""Standard deviation of a size by colours, as a share of it: the shadows of pale pieces may be taken for them."""

EQUAL_MM = 0.001
"""Standard deviation of the difference between a cube's width and height."""

DERIVATIVE_STEPS = np.array([0.1, 0.1, 0.1, 0.1, 0.005])
"""Steps of the numerical derivatives: mm, rad."""


@dataclass(frozen=True, eq=False)
class LocatedPiece:
    """A piece that was found: number of its size, its form, the middle of its square (3,) mm, its place (PLACE,)."""

    size: int
    form: Polyhedron
    foot_mm: Points
    place: Points


@dataclass(frozen=True, eq=False)
class Fit:
    """Sizes and places fitted to edges.

    Attributes:
        sizes_mm: (k, 2) width and height of each size.
        deviations_mm: (k, 2) their standard deviations.
        places: (n, PLACE) of the pieces.
        found: (n,) share of each one's unoccluded edges that the picture shows.
    """

    sizes_mm: Points
    deviations_mm: Points
    places: Points
    found: Points


@dataclass(frozen=True, eq=False)
class _Found:
    """Edges of a piece that were found.

    Attributes:
        off_px: (m,) float64, distance from the predicted position, across the edge.
        weights: (m,) float64, shares of an observation.
        slopes: (m, PLACE) float64, derivatives of each position, px, by the piece's place.
        shown: number of samples that are not occluded.
    """

    off_px: Points
    weights: Points
    slopes: Points
    shown: int


def fit_edges(image: npt.NDArray[np.uint8], photograph: Photograph, pieces: Sequence[LocatedPiece]) -> Fit:
    """The likeliest sizes and places of ``pieces`` in a picture (height, width, 3) uint8 BGR."""
    smoothed = cv2.GaussianBlur(image, (0, 0), SMOOTHED_PX).astype(np.float32)
    begun = values = _initial_unknowns(pieces)
    deviation_px = FIRST_PX
    for searched_px in SEARCHED_PX:
        normal, towards = _expected(values, begun, pieces)
        found = _look_for(smoothed, photograph, pieces, values, searched_px)
        for number, edges in enumerate(found):
            far = np.maximum(np.abs(edges.off_px), OUTLIER * deviation_px)
            weights = edges.weights * OUTLIER / (far * deviation_px)
            own = _place_indices(number, pieces)
            normal[np.ix_(own, own)] += edges.slopes.T @ (weights[:, None] * edges.slopes)
            towards[own] += edges.slopes.T @ (weights * edges.off_px)
        values = values + np.linalg.solve(normal, towards)
        off_px = np.concatenate([edges.off_px for edges in found])
        deviation_px = max(MIN_PX, 1.4826 * float(np.median(np.abs(off_px)))) if len(off_px) else FIRST_PX
    count = 2 * _size_count(pieces)
    return Fit(
        values[:count].reshape(-1, 2),
        np.sqrt(np.diag(np.linalg.inv(normal)))[:count].reshape(-1, 2),
        np.array([values[_place_indices(number, pieces)] for number in range(len(pieces))]),
        np.array([len(edges.off_px) / max(edges.shown, 1) for edges in found]),
    )


# The unknowns (u,) float64: width and height of each size, the offset of all pieces from the grid in x and y, and for
# each piece its offset from the middle of its square in x and y, and its rotation.


def _size_count(pieces: Sequence[LocatedPiece]) -> int:
    return max(piece.size for piece in pieces) + 1


def _place_indices(number: int, pieces: Sequence[LocatedPiece]) -> npt.NDArray[np.intp]:
    """(PLACE,) indices of the unknowns that place a piece."""
    size, first = 2 * pieces[number].size, 2 * _size_count(pieces) + 2 + 3 * number
    return np.array([size, size + 1, first, first + 1, first + 2], np.intp)


def _initial_unknowns(pieces: Sequence[LocatedPiece]) -> Points:
    """(u,) initial values of the unknowns, from the pieces as found so far."""
    count = _size_count(pieces)
    values = np.zeros(2 * count + 2 + 3 * len(pieces))
    for size in range(count):
        values[2 * size : 2 * size + 2] = np.median([p.place[:2] for p in pieces if p.size == size], axis=0)
    for number, piece in enumerate(pieces):
        values[_place_indices(number, pieces)[2:]] = piece.place[2:]
    return values


def _expected(values: Points, begun: Points, pieces: Sequence[LocatedPiece]) -> tuple[Points, Points]:
    """Normal equations (u, u), (u,) of the priors, at ``values`` (u,); ``begun`` (u,): initial values, by colours.

    Sizes are about as they began, pieces stand on the grid, cubes are cubes.
    """
    count = _size_count(pieces)
    grid, unit = 2 * count, np.eye(len(values))
    rows = [*unit[:grid], *unit[grid : grid + 2]]
    deviations = [*(COLOUR_SIZE_DEVIATION * begun[:grid]), GRID_MM, GRID_MM]
    off = [*(values - begun)[:grid], *values[grid : grid + 2]]
    for number, piece in enumerate(pieces):
        width, height, x, y, turn = _place_indices(number, pieces)
        rows += [unit[x] - unit[grid], unit[y] - unit[grid + 1], unit[turn]]
        deviations += [PLACE_MM, PLACE_MM, ROTATION_DEVIATION]
        off += [values[x] - values[grid], values[y] - values[grid + 1], values[turn]]
        if piece.form is POLYHEDRA["cube"]:
            rows.append(unit[width] - unit[height])
            deviations.append(EQUAL_MM)
            off.append(values[width] - values[height])
    known = np.array(rows) / np.array(deviations)[:, None]
    return known.T @ known, -known.T @ (np.array(off) / np.array(deviations))


def _look_for(
    smoothed: Picture, photograph: Photograph, pieces: Sequence[LocatedPiece], values: Points, searched_px: float
) -> list[_Found]:
    """The edges of all pieces that are found near where ``values`` (u,) predict them."""
    eye, pose, camera = photograph.pose.centre_mm, photograph.pose, photograph.camera
    places = [values[_place_indices(number, pieces)] for number in range(len(pieces))]
    bodies = [piece.form.corners_at(place, piece.foot_mm) for piece, place in zip(pieces, places, strict=True)]
    hulls = [hull(project(body, pose, camera)).astype(np.float32) for body in bodies]
    away = [float(np.linalg.norm(piece.foot_mm - eye)) for piece in pieces]
    found = []
    for number, (piece, place, body) in enumerate(zip(pieces, places, bodies, strict=True)):
        pixels = project(body, pose, camera)
        moved = [
            project(piece.form.corners_at(place + step, piece.foot_mm), pose, camera)
            for step in np.diag(DERIVATIVE_STEPS)
        ]
        moves = (np.array(moved) - pixels) / DERIVATIVE_STEPS[:, None, None]
        nearer = [outline for outline, far in zip(hulls, away, strict=True) if far < away[number]]
        edges = piece.form.visible_edges(body, eye)
        found.append(_find_edges(smoothed, pixels, moves, edges, nearer, searched_px))
    return found


def _find_edges(
    smoothed: Picture,
    pixels: Points,
    moves: Points,
    edges: npt.NDArray[np.intp],
    nearer: Sequence[Picture],
    searched_px: float,
) -> _Found:
    """The ``edges`` (e, 2), found in the picture, of a body whose corners are predicted at ``pixels`` (n, 2).

    ``moves`` (PLACE, n, 2) px: derivatives of these by its place; ``nearer``: outlines (k, 2) float32 px of occluders.
    """
    shares, count = np.linspace(BEGIN, END, SAMPLES)[:, None], 0
    found = [(np.zeros(0), np.zeros(0), np.zeros((0, POSE_PARAMETERS)))]
    for a, b in edges:
        along = pixels[b] - pixels[a]
        length = float(np.linalg.norm(along))
        if length < SHORTEST_PX:
            continue
        across = np.array([-along[1], along[0]]) / length
        places = pixels[a] + shares * along
        shown = np.array([not _is_hidden(place, nearer) for place in places])
        far, is_found = _steepest(smoothed, places, across, searched_px)
        kept, count = shown & is_found, count + int(shown.sum())
        weights = np.full(int(kept.sum()), length / SAMPLES / UNIT_PX)
        slopes = (1 - shares) * (moves[:, a] @ across) + shares * (moves[:, b] @ across)
        found.append((far[kept], weights, slopes[kept]))
    off, weights, slopes = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return _Found(off, weights, slopes, count)


def _is_hidden(place: Points, nearer: Sequence[Picture]) -> bool:
    """Whether a place (2,) px lies within one of these outlines (k, 2)."""
    x, y = place.tolist()
    return any(cv2.pointPolygonTest(outline, (x, y), measureDist=False) >= 0 for outline in nearer)


def _steepest(
    smoothed: Picture, places: Points, across: Points, searched_px: float
) -> tuple[Points, npt.NDArray[np.bool_]]:
    """(s,) px, how far from ``places`` (s, 2) along ``across`` (2,) the gradient is largest; (s,) if it is an edge."""
    off = np.arange(-searched_px - STEP_PX, searched_px + 1.5 * STEP_PX, STEP_PX)
    sampled = (places[:, None] + off[None, :, None] * across).astype(np.float32)
    shown = cv2.remap(smoothed, sampled[..., 0], sampled[..., 1], cv2.INTER_LINEAR)
    change = ((shown[:, 2:] - shown[:, :-2]) ** 2).sum(axis=2) / (2 * STEP_PX) ** 2
    most = np.clip(change.argmax(axis=1), 1, change.shape[1] - 2)
    number = np.arange(len(places))
    before, at, after = (change[number, most + step].astype(np.float64) for step in (-1, 0, 1))
    # The vertex of the parabola through three samples.
    bend = before - 2 * at + after
    peak = STEP_PX / 2 * (before - after) / np.where(bend < 0, bend, -1.0)
    is_found = (at >= before) & (at >= after) & (bend < 0) & (at > MIN_SLOPE**2)
    return off[1:-1][most] + peak, is_found
