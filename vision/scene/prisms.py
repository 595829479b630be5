"""Every surface of the pieces and columns of one pose, to be painted over a patch of the picture.

A piece is a prism with bevelled rims: sides where it is widest, and an upper face that ends in the middle of the bevel.
Its corners are projected by an affine map for each cell and height, which over the width of a piece is accurate to a
fifth of a millimetre, so that pieces can be moved and turned at little cost.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit, PieceKind
from vision.compiled import allocation_free
from vision.pose.projection import Points, Registration, project
from vision.scene.configurations import BEVEL_MM, stacks_of
from vision.scene.ground import grid_lines_px
from vision.scene.runs import Spans, add_polygon
from vision.scene.solids import column, cross_section
from vision.scene.terrain import floors_mm

Indices = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]
Surfaces = npt.NDArray[np.int16]
"""(height, width) int16: number of the surface that is nearest in each pixel.  Below :data:`FIRST` a material of the
ground; then for each rank, from 1, :data:`PER_CELL` numbers: the column's upper face and its sides; from
:data:`PIECES` on for each piece, the lowest first, its upper face and its sides."""

FIRST = 8
"""Number of the first surface that is not the mat or the table."""

LINE = 3
"""Surface number of the lines printed between squares, whose ink the colour model does not include."""

LINES_STRIDE, LINES_MARGIN_PX = 5, 16
"""Stride at which pixels of lines are sampled to tell whether there are any, and their margin to the picture's edge."""

PER_CELL, PIECES, PER_PIECE = 64, 8, 5
"""Surfaces that a cell may have, the first one of its pieces, and those of each: an upper face and four sides."""

DISC_SIDES = 16
"""Corners of a disc's outline, as far outside the circle as the sides are inside: 0.13 mm at 27 mm across."""

CONTACT_MM = 0.4
"""Apparent extension of the sides of the lowest disc below the floor: the crevice under its bevel is equally dark.
With the bevel's upper edge instead, 461 single discs in six sets fitted best 0.2 to 0.8 mm nearer to the camera than
they lay; with this 0 to 0.2 mm.  Cubes fitted best where they lay without it."""

REACH_MM = 12.0
"""Distance from a cell's centre at which the affine maps are fitted."""


class Prisms(NamedTuple):
    """What may stand on n cells: f configurations of up to p pieces, with rims at z different heights.

    Attributes:
        maps: (n, z, 2, 3) affine maps from mm about the cell's centre to px, for each height.
        rings_mm: (kinds, corners, 2) outline of each size of piece, where it is widest, and…
        face_rings_mm: …of its upper face.
        kinds: (f, p) size of each piece of a configuration, the lowest first.
        feet: (f, p) number of the height at which its sides begin, above its foot, or :data:`CONTACT_MM` below it…
        shoulders: (f, p) …of that at which they end…
        faces: (f, p) …and of that of its upper face.
        counts: (f,) pieces.
        columns_px: (n, 8, 2) corners of the column under each cell, foot and upper face.
        has_column: (n,) bool.
        ground: (height, width) int16, material of the mat or the table, or :data:`LINE`, in every pixel, as if nothing
            were on them.
        lines_px: (k, 2) sampled pixels of lines, row and column, at least :data:`LINES_MARGIN_PX` inside.
        shrink: width of one of these pixels in pixels of the full picture.
    """

    maps: Floats
    rings_mm: Floats
    face_rings_mm: Floats
    kinds: Indices
    feet: Indices
    shoulders: Indices
    faces: Indices
    counts: Indices
    columns_px: Floats
    has_column: npt.NDArray[np.bool_]
    ground: Surfaces
    lines_px: Indices
    shrink: int


def make_prisms(
    kit: Kit, levels: tuple[int, ...], view: tuple[Registration, Camera], ground: Surfaces, shrink: int
) -> Prisms:
    """The prisms of a kit of discs or cubes whose terrain or pillars stand at ``levels`` (n, or empty).

    ``ground``: materials of the bare mat and the table in the picture, which is downsampled by the factor ``shrink``.
    """
    stacks, centres = stacks_of(kit.pieces), floors_mm(kit, levels)
    sizes = list({(kind.shape, kind.width_mm, kind.height_mm): kind for stack in stacks for kind in stack}.values())
    numbers = {(kind.shape, kind.width_mm, kind.height_mm): number for number, kind in enumerate(sizes)}
    most = max(map(len, stacks))
    kinds, feet, shoulders, faces = (np.zeros((len(stacks), most), np.intp) for _ in range(4))
    heights: dict[float, int] = {}
    for i, stack in enumerate(stacks):
        z = 0.0
        for j, kind in enumerate(stack):
            kinds[i, j] = numbers[kind.shape, kind.width_mm, kind.height_mm]
            begins = -CONTACT_MM if kind.shape == "disc" and j == 0 else BEVEL_MM
            feet[i, j] = heights.setdefault(round(z + begins, 6), len(heights))
            z += kind.height_mm
            shoulders[i, j] = heights.setdefault(round(z - BEVEL_MM, 6), len(heights))
            faces[i, j] = heights.setdefault(round(z - BEVEL_MM / 2, 6), len(heights))
    columns = np.zeros((len(centres), 8, 2))
    has_column = np.zeros(len(centres), np.bool_)
    for number, (cell, level) in enumerate(zip(kit.cells, levels or (None,) * len(kit.cells), strict=True)):
        solid = column(kit, cell, level)
        if solid is not None:
            columns[number], has_column[number] = downsample_points(project(solid.points[:8], *view), shrink), True
    shown = _with_lines(np.ascontiguousarray(ground[shrink // 2 :: shrink, shrink // 2 :: shrink]), kit, view, shrink)
    return Prisms(
        _maps(centres, np.array(list(heights)), view, shrink),
        np.array([_ring(kind) for kind in sizes]),
        np.array([(1 - BEVEL_MM / kind.width_mm) * _ring(kind) for kind in sizes]),
        kinds,
        feet,
        shoulders,
        faces,
        np.array([len(stack) for stack in stacks]),
        columns,
        has_column,
        shown,
        _some_lines_px(shown),
        shrink,
    )


def _with_lines(ground: Surfaces, kit: Kit, view: tuple[Registration, Camera], shrink: int) -> Surfaces:
    """``ground`` with the lines between squares drawn on it, one pixel wide, which is about their printed width."""
    rounds = [np.rint(downsample_points(line, shrink)).astype(np.int32) for line in grid_lines_px(kit, *view)]
    cv2.polylines(ground, rounds, isClosed=False, color=LINE)
    return ground


def _some_lines_px(ground: Surfaces) -> Indices:
    """See :attr:`Prisms.lines_px`."""
    edge = LINES_MARGIN_PX
    return np.ascontiguousarray(np.argwhere(ground[edge:-edge, edge:-edge] == LINE)[::LINES_STRIDE] + edge)


def _ring(kind: PieceKind) -> Floats:
    """(corners, 2) mm, a piece's outline; that of a disc has :data:`DISC_SIDES` corners."""
    ring = cross_section(kind, 0.0)[:, :2]
    if kind.shape != "disc":
        return ring
    angle = np.arange(DISC_SIDES) * (2 * np.pi / DISC_SIDES)
    radius_mm = kind.width_mm / 2 / np.sqrt(np.cos(np.pi / DISC_SIDES))
    return np.column_stack([radius_mm * np.cos(angle), radius_mm * np.sin(angle)])


def downsample_points(points_px: Points, shrink: int) -> Points:
    """Points (…, 2) px in the picture downsampled by the factor ``shrink``."""
    return (points_px + 0.5) / shrink - 0.5


def _maps(centres: Points, heights: Floats, view: tuple[Registration, Camera], shrink: int) -> Floats:
    """See :attr:`Prisms.maps`; ``centres`` (n, 3) mm, ``heights`` (z,) mm above them."""
    steps = np.array([(0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)]) * REACH_MM
    points = centres[:, None, None] + heights[:, None, None] * np.array([0.0, 0.0, 1.0]) + steps
    pixels = downsample_points(project(points.reshape(-1, 3), *view), shrink)
    seen = pixels.reshape(len(centres), len(heights), 5, 2)
    across, along = (seen[:, :, 1] - seen[:, :, 2]) / (2 * REACH_MM), (seen[:, :, 3] - seen[:, :, 4]) / (2 * REACH_MM)
    return np.ascontiguousarray(np.stack([across, along, seen[:, :, 0]], axis=-1))


@allocation_free
def span_column(spans: Spans, prisms: Prisms, cell: int, rank: int) -> None:
    """Put the visible surfaces of the column under a cell into ``spans``."""
    spans.many[0] = 0
    if prisms.has_column[cell]:
        corners = prisms.columns_px[cell]
        first = FIRST + rank * PER_CELL
        _add_sides(spans, corners[:4], corners[4:], first + 1)
        _add_face(spans, corners[4:], first)


@allocation_free
def span_stack(spans: Spans, prisms: Prisms, which: tuple[int, int, int], places: Floats) -> None:
    """Put the visible surfaces of a stack into ``spans``, which need room for :data:`PER_PIECE` polygons per piece.

    ``which``: cell, its rank, and the configuration; ``places`` (p, 3): offset of each piece from the cell's centre,
    mm, and its turn, radians.
    """
    (cell, rank, configuration), kinds, rings = which, prisms.kinds, prisms.rings_mm
    count, spans.many[0] = prisms.counts[configuration], 0
    foot, upper = spans.rings[0, : rings.shape[1]], spans.rings[1, : rings.shape[1]]
    for piece in range(count):
        kind, place = kinds[configuration, piece], places[piece]
        _project(foot, rings[kind], prisms.maps[cell, prisms.feet[configuration, piece]], place)
        _project(upper, rings[kind], prisms.maps[cell, prisms.shoulders[configuration, piece]], place)
        first = first_surface(rank) + piece * PER_PIECE
        _add_sides(spans, foot, upper, first + 1)
        # Of the face of a piece under another one of its size only the bevel is visible, which looks like its side.
        if piece + 1 == count or kinds[configuration, piece + 1] != kind:
            _project(upper, prisms.face_rings_mm[kind], prisms.maps[cell, prisms.faces[configuration, piece]], place)
            _add_face(spans, upper, first)


@allocation_free
def _project(ring_px: Floats, ring_mm: Floats, affine: Floats, place: Floats) -> None:
    """Project the outline ``ring_mm`` (k, 2) of a piece that lies at ``place`` (3,) by the ``affine`` map (2, 3)."""
    sine, cosine = np.sin(place[2]), np.cos(place[2])
    for i in range(len(ring_px)):
        u = place[0] + cosine * ring_mm[i, 0] - sine * ring_mm[i, 1]
        v = place[1] + sine * ring_mm[i, 0] + cosine * ring_mm[i, 1]
        for axis in range(2):
            ring_px[i, axis] = affine[axis, 0] * u + affine[axis, 1] * v + affine[axis, 2]


@allocation_free
def first_surface(rank: int) -> int:
    """The number of the upper face of the lowest piece on the cell of a rank."""
    return FIRST + rank * PER_CELL + PIECES


@allocation_free
def _add_sides(spans: Spans, foot: Floats, face: Floats, first: int) -> None:
    """Add the visible sides between two rings (k, 2) px, of four corners each, or the whole round body of more."""
    if len(foot) != 4:
        _add_round_side(spans, foot, face, first)
        return
    lines = spans.lines
    for i in range(4):
        j = (i + 1) % 4
        if not _is_hidden(foot, face, i, j):
            _put_line(lines, 0, foot, i, foot, j)
            _put_line(lines, 1, foot, j, face, j)
            _put_line(lines, 2, face, j, face, i)
            _put_line(lines, 3, face, i, foot, i)
            add_polygon(spans, 4, first + i)


@allocation_free
def _add_round_side(spans: Spans, foot: Floats, face: Floats, surface: int) -> None:
    """Add the silhouette of the body between two rings (k, 2) px: the foot's edges at visible sides, else the face's.

    It passes from one to the other along the lines at which the visible sides begin and end.
    """
    corners, count, was_hidden = len(foot), 0, _is_hidden(foot, face, len(foot) - 1, 0)
    for i in range(corners):
        j = (i + 1) % corners
        is_hidden = _is_hidden(foot, face, i, j)
        if is_hidden:
            _put_line(spans.lines, count, face, i, face, j)
        else:
            _put_line(spans.lines, count, foot, i, foot, j)
        count += 1
        if is_hidden != was_hidden:
            _put_line(spans.lines, count, foot, i, face, i)
            count += 1
        was_hidden = is_hidden
    add_polygon(spans, count, surface)


@allocation_free
def _is_hidden(foot: Floats, face: Floats, i: int, j: int) -> bool:
    """Whether the side between the corners ``i`` and ``j`` of two rings (k, 2) px faces away from the camera."""
    along_x, along_y, up_x, up_y = (
        foot[j, 0] - foot[i, 0],
        foot[j, 1] - foot[i, 1],
        face[i, 0] - foot[i, 0],
        face[i, 1] - foot[i, 1],
    )
    # Visible sides have the opposite orientation to the upper face.
    return bool(along_x * up_y - along_y * up_x >= 0)


@allocation_free
def _add_face(spans: Spans, face: Floats, surface: int) -> None:
    """Add an upper face (k, 2) px."""
    for i in range(len(face)):
        _put_line(spans.lines, i, face, i, face, (i + 1) % len(face))
    add_polygon(spans, len(face), surface)


@allocation_free
def _put_line(lines: Floats, number: int, begin: Floats, i: int, end: Floats, j: int) -> None:
    """Put the line from point ``i`` of ``begin`` to point ``j`` of ``end``, both (k, 2), into ``lines`` (l, 4)."""
    lines[number, 0], lines[number, 1] = begin[i, 0], begin[i, 1]
    lines[number, 2], lines[number, 3] = end[j, 0], end[j, 1]
