"""How large pieces are, from a photograph of a known layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from calibration.camera import Camera
from calibration.kit import Kit
from calibration.piece_sizes import PieceSize, piece_sizes
from vision.enrolment import Picture
from vision.errors import VisionError
from vision.pose.projection import Points, project
from vision.sizing.discs import disc_sizes
from vision.sizing.edges import Fit, LocatedPiece, fit_edges
from vision.sizing.evidence import Evidence, gather_evidence
from vision.sizing.polyhedra import POLYHEDRA, fit_by_colour
from vision.sizing.sizes import WIDTH_RELATIVE_DEVIATION, Sizes
from vision.sizing.tips import tip_share

NO_PIECE_FOUND = "no piece is seen where the layout says: set the pieces as it says"

ROUNDS = 2
"""Rounds of measuring discs: the sides below their faces are taken to be as high as the round before has found."""

EDGE_MM = 0.3
"""Standard deviation of a size of cubes and pyramids besides :data:`WIDTH_RELATIVE_DEVIATION`: their edges are
rounded."""

MIN_SHOWN_EDGES = 2 / 3
"""Share of its edges that a piece must show: where less was found of pale pieces, those were edges of shadows.  Plainly
coloured ones show 0.8 and more."""

MIN_PIECES_PER_SIZE = 2
"""Least number of pieces of a size that must show their edges: a single one may have been misled by a shadow."""


def measure_sizes(
    image: Picture,
    kit: Kit,
    camera: Camera,
    layout: Mapping[str, str],
    empty: Sequence[Picture] = (),
    levels: tuple[int, ...] = (),
) -> tuple[Sizes, ...]:
    """The sizes of a kit's pieces from a photograph (height, width, 3) uint8 BGR of a ``layout``, stacks by cell.

    Measured are discs, all of one size, and cubes and pyramids that stand alone.  Sizes that the picture does not show
    clearly are left out.

    Args:
        image: the photograph.
        kit: gives the approximate sizes.
        camera: that took all photographs.
        layout: the stack on each cell that has one.
        empty: photographs of the bare board, from which its appearance is learned.
        levels: of terrain, one per cell; empty on a flat board.

    Raises VisionError when the mat is not found, or no piece can be seen or measured.
    """
    if not layout:
        raise VisionError("the layout is empty: put pieces on the board")
    groups = piece_sizes(kit.pieces)
    if all(group.shape != "disc" for group in groups):
        return _solid_sizes(image, groups, gather_evidence(image, kit, camera, layout, empty, levels))
    if len(groups) > 1:
        raise VisionError("discs of several sizes are not measured in a picture: measure one of each by hand")
    sizes = _disc_sizes(kit, gather_evidence(image, kit, camera, layout, empty, levels))
    for _ in range(1, ROUNDS):
        width, height = max(sizes.width_mm, 1.0), max(sizes.height_mm, 1.0)
        kit = replace(kit, pieces=tuple(replace(k, width_mm=width, height_mm=height) for k in kit.pieces))
        sizes = _disc_sizes(kit, gather_evidence(image, kit, camera, layout, empty, levels))
    return (sizes,)


def _disc_sizes(kit: Kit, evidence: Evidence) -> Sizes:
    sizes = disc_sizes(kit, evidence)
    if sizes is None:
        raise VisionError(NO_PIECE_FOUND)
    return sizes


def _solid_sizes(image: Picture, groups: Sequence[PieceSize], evidence: Evidence) -> tuple[Sizes, ...]:
    """The sizes of cubes and pyramids that stand alone.  Raises VisionError where none is seen."""
    pieces = _find_solids(image, groups, evidence)
    shown = [
        number for number in range(len(groups)) if sum(piece.size == number for piece in pieces) >= MIN_PIECES_PER_SIZE
    ]
    if not shown:
        return ()
    pieces = [replace(piece, size=shown.index(piece.size)) for piece in pieces if piece.size in shown]
    fit = fit_edges(image, evidence.photograph, pieces)
    tip = _tip_mm(image, evidence, pieces, fit)
    told = []
    for size, number in enumerate(shown):
        spread = _spread(np.array([piece.place[:2] for piece in pieces if piece.size == size]))
        deviations = np.hypot(fit.deviations_mm[size], spread)
        told.append(_measured_sizes(groups[number], fit.sizes_mm[size], deviations, tip))
    return tuple(told)


def _spread(found: Points) -> Points:
    """(k,) standard error of the medians of (n, k) numbers, from their scatter.

    That of a median is 1.25 times that of a mean; 1.48 times the median absolute deviation is the standard deviation.
    """
    scatter: Points = 1.25 * 1.4826 * np.median(np.abs(found - np.median(found, axis=0)), axis=0) / np.sqrt(len(found))
    return scatter


def _find_solids(image: Picture, groups: Sequence[PieceSize], evidence: Evidence) -> list[LocatedPiece]:
    """The cubes and pyramids that stand alone and show their edges.  Raises VisionError where none is seen at all."""
    single = [stack for stack in evidence.stacks if stack.count == 1]
    places = [(stack, place) for stack in single if (place := fit_by_colour(stack, evidence)) is not None]
    if single and not places:
        raise VisionError(NO_PIECE_FOUND)
    pieces = []
    for stack, place in places:
        piece = LocatedPiece(0, POLYHEDRA[stack.kind.shape], evidence.crops.centres_mm[stack.number], place)
        fit = fit_edges(image, evidence.photograph, [piece])
        if fit.found[0] >= MIN_SHOWN_EDGES:
            number = next(i for i, group in enumerate(groups) if stack.kind.letter in group.letters)
            pieces.append(replace(piece, size=number, place=fit.places[0]))
    return pieces


def _measured_sizes(group: PieceSize, size_mm: Points, deviation_mm: Points, tip_mm: tuple[float, float]) -> Sizes:
    """The sizes of pieces whose sharp form has a width and height (2,) mm, with standard deviations (2,).

    ``tip_mm``: width of the tips, if any, and its standard deviation.
    """
    (width, height), (width_off, height_off) = size_mm.tolist(), deviation_mm.tolist()
    if group.shape == "pyramid":
        blunt, blunt_off = tip_mm[0] / width, tip_mm[1] / width
        height_off = float(np.hypot(height_off * (1 - blunt), height * blunt_off))
        height *= 1 - blunt
    width_off, height_off = (
        float(np.sqrt(off**2 + EDGE_MM**2 + (WIDTH_RELATIVE_DEVIATION * length) ** 2))
        for off, length in ((width_off, width), (height_off, height))
    )
    return Sizes(group.letters, width, width_off, height, height_off)


def _tip_mm(image: Picture, evidence: Evidence, pieces: Sequence[LocatedPiece], fit: Fit) -> tuple[float, float]:
    """Width of the pyramids' tips, taken to be all alike, and its standard deviation."""
    pose, camera = evidence.photograph.pose, evidence.photograph.camera
    shown, widths = image.astype(np.float32), []
    for piece, place in zip(pieces, fit.places, strict=True):
        if piece.form is POLYHEDRA["pyramid"]:
            corners = piece.form.corners_at(place, piece.foot_mm)
            pixels = project(np.vstack([corners, corners[:4].mean(axis=0)]), pose, camera)
            widths.append([float(place[0]) * tip_share(shown, pixels[:5], pixels[5])])
    if not widths:
        return 0.0, 0.0
    return float(np.median(widths)), float(_spread(np.array(widths))[0])
