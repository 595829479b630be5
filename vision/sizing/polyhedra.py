"""Cubes and pyramids with sharp edges: their corners, their visible edges, and where colours show them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from vision.pose.projection import Points
from vision.scene.configurations import PLACE_MM
from vision.sizing.evidence import MAX_HEIGHT_FACTOR, MAX_WIDTH_FACTOR, Evidence, Stack

POSE_PARAMETERS = 5
"""Number of parameters of a body: width, height, offset in x and y from the middle of its square, mm; rotation, rad."""

MIN_NATS = 4.0
"""Twice the evidence that a displacement by one standard deviation must gain: that of a few pixels."""

STEPS_MM = (2.0, 1.0, 0.5)
"""Step sizes of the search by colours, one after the other."""

MAX_ROTATION = np.radians(50.0)
"""Largest rotation: a square body that is turned by more looks like one that is turned less the other way."""

Edges = tuple[tuple[int, int, int, int], ...]


@dataclass(frozen=True, eq=False)
class Polyhedron:
    """The form of a body.

    Attributes:
        corners: (n, 3) float64, those of a body of unit width and height, relative to the middle of its base.
        faces: corner numbers of each face, anticlockwise as seen from outside.
        edges: numbers of an edge's two corners and its two faces.
        top: corner numbers of the upper face; none of a pyramid.
    """

    corners: Points
    faces: tuple[tuple[int, ...], ...]
    edges: Edges
    top: tuple[int, ...]

    def corners_at(self, place: Points, foot_mm: Points) -> Points:
        """(n, 3) mm, its corners at ``place`` (POSE_PARAMETERS,) on a square whose middle is ``foot_mm`` (3,)."""
        width, height, x, y, turn = place
        cos, sin = np.cos(turn), np.sin(turn)
        turned = self.corners * np.array([width, width, height]) @ np.array([[cos, sin, 0], [-sin, cos, 0], [0, 0, 1]])
        corners: Points = turned + foot_mm + np.array([x, y, 0.0])
        return corners

    def visible_edges(self, corners_mm: Points, eye_mm: Points) -> npt.NDArray[np.intp]:
        """(e, 2) corner numbers of the edges of a placed body that can be seen from ``eye_mm`` (3,)."""
        points = corners_mm[[face[:3] for face in self.faces]]
        normals = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
        seen = np.einsum("ij,ij->i", normals, eye_mm - points[:, 0]) > 0
        return np.array([(a, b) for a, b, one, other in self.edges if seen[one] or seen[other]], np.intp)


def _polyhedron(corners: Points, faces: tuple[tuple[int, ...], ...], top: tuple[int, ...]) -> Polyhedron:
    sides = {(a, b): number for number, face in enumerate(faces) for a, b in pairwise((*face, face[0]))}
    edges = tuple((a, b, number, sides[b, a]) for (a, b), number in sides.items() if a < b)
    return Polyhedron(corners, faces, edges, top)


_BASE = np.array([[-0.5, -0.5, 0.0], [0.5, -0.5, 0.0], [0.5, 0.5, 0.0], [-0.5, 0.5, 0.0]])
_WALLS = ((0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))

POLYHEDRA = {
    "cube": _polyhedron(
        np.vstack([_BASE, _BASE + np.array([0, 0, 1])]), (*_WALLS, (4, 5, 6, 7), (3, 2, 1, 0)), (4, 5, 6, 7)
    ),
    "pyramid": _polyhedron(
        np.vstack([_BASE, [[0, 0, 1]]]), ((0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4), (3, 2, 1, 0)), ()
    ),
}
"""The bodies that are measured, by the shape of a piece kind."""


def fit_by_colour(stack: Stack, evidence: Evidence) -> Points | None:
    """(POSE_PARAMETERS,) place and size of a single cube or pyramid, by colours alone; None where none is seen."""
    form, cube = POLYHEDRA[stack.kind.shape], stack.kind.shape == "cube"
    at = np.array([stack.kind.width_mm, stack.kind.height_mm, 0.0, 0.0, 0.0])
    best = _score(stack, at, form, evidence)
    # Width, height, both, place, and a rotation that moves the sides as far.
    moves = np.array(
        [
            (1, 1 if cube else 0, 0, 0, 0),
            *([] if cube else [(0, 1.5, 0, 0, 0), (0.5, 1, 0, 0, 0)]),
            (0, 0, 1, 0, 0),
            (0, 0, 0, 1, 0),
            (0, 0, 0, 0, 2 / stack.kind.width_mm),
        ],
        np.float64,
    )
    for step in STEPS_MM:
        better = True
        while better:
            tried = at + step * np.vstack([moves, -moves])
            scores = [_score(stack, place, form, evidence) for place in tried]
            better = max(scores) > best
            if better:
                best, at = max(scores), tried[int(np.argmax(scores))]
    return at if best > 0 else None


def _score(stack: Stack, at: Points, form: Polyhedron, evidence: Evidence) -> float:
    """Log-likelihood ratio of a crop with a body at this place to a bare one, less a penalty on its offset.

    ``at``: (POSE_PARAMETERS,).
    """
    kind = stack.kind
    is_wide = kind.width_mm / MAX_WIDTH_FACTOR < at[0] < kind.width_mm * MAX_WIDTH_FACTOR
    if not (
        is_wide
        and kind.height_mm / MAX_HEIGHT_FACTOR < at[1] < kind.height_mm * MAX_HEIGHT_FACTOR
        and abs(at[4]) < MAX_ROTATION
    ):
        return -np.inf
    corners = form.corners_at(at, evidence.crops.centres_mm[stack.number])
    aside = float(at[2] ** 2 + at[3] ** 2) / (2 * PLACE_MM**2)
    return evidence.log_ratio(stack, corners, corners[list(form.top)]) - MIN_NATS * aside
