"""Simulates disturbances beside a board during play: hands, cups, boxes, captured pieces, shadows.

Each visit is one of :data:`KINDS`.  Visits come from the four edges in random order; each rests for 0.3 to 20 s.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from calibration.heights import floor_mm
from calibration.kit import Colour, Kit
from companion.simulate.gesture import AWAY_MM
from companion.simulate.hand import HOVER_MM, SKINS, SLEEVES, Hand, with_hand
from companion.simulate.surroundings import Band, Body, with_band, with_bodies
from companion.simulate.table import Overlay
from companion.simulate.viewpoint import AZIMUTH_DEG
from vision.scene.solids import block, disc, piece, place_solid

EDGES_DEG = (-90.0, 0.0, 90.0, 180.0)
"""Directions from the middle of the board to its edges."""

HAND, ARMS, CUP, BOX, PIECES, SHADOW = "hand", "arms", "cup", "box", "pieces", "shade"
KINDS = (HAND, ARMS, CUP, BOX, PIECES, SHADOW)
"""A resting hand; hands from two edges; a cup, a box or captured pieces that are put down and taken away again; the
shadow of a chair or of a person leaning in."""

SHORTEST_S, LONGEST_S = 0.3, 20.0
"""Shortest and longest time that a visitor rests."""

PAUSE_S = (0.3, 2.0)
"""Shortest and longest pause between two visits, in seconds."""

BESIDE_MM, BEYOND_MM = 20.0, 30.0
"""Range of the distance at which fingertips and the near sides of objects lie: at least BESIDE_MM beyond the outermost
squares, at most BEYOND_MM beyond the mat's edge.  The minimum is larger where needed to avoid occlusion: of squares by
an object in front of the board, or of an object behind the board by a stack."""

OCCLUSION_SLOPE = 0.7
"""Length of table that an object occludes behind it, as a fraction of its height: the camera looks down steeply."""

TALLEST_MM = 60.0
"""Assumed maximum height of towers, also on terrain; for pillars it is computed from the kit."""

REACHING_S, TREMBLE_MM = 0.4, 0.5
"""Time in which a hand arrives or leaves, and the amplitude of its tremor."""

HANDLING_S = 0.4
"""Time for which a hand stays to put an object down or to take it away."""

CUP_MM, CUPS = (78.0, 92.0), ((236, 232, 224), (60, 92, 140), (44, 46, 50))
BOX_MM, BOXES = ((120.0, 80.0, 45.0), (200.0, 140.0, 30.0)), ((150, 40, 46), (30, 70, 110), (196, 166, 120))
"""Diameter and height of a cup; width, depth and height of boxes; their colours, sRGB."""

MAX_PIECES = 6
"""Maximum number of captured pieces."""

SHADOW_OVERLAP_MM, SHADOW_WIDTH_MM, SHADOW_BLUR_MM = (-60.0, 150.0), (80.0, 400.0), (15.0, 80.0)
"""Ranges of a shadow's overlap with the mat, of its width, and of the blur of its edges."""

SHADOW_DEPTH, SHADOW_MOVE_S = (0.15, 0.4), (0.3, 1.2)
"""Ranges of the fraction of sRGB values lost in a shadow, and of the time in which it arrives."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Visit:
    """A disturbance that begins at ``begin_s``, arrives and leaves in ``come_s`` each, and rests for ``rest_s``."""

    kind: str
    begin_s: float
    rest_s: float
    edge_deg: float
    come_s: float
    overlays_at: Callable[[float], Sequence[Overlay]]
    """Returns the overlays at a given number of seconds after ``begin_s``."""

    @property
    def end_s(self) -> float:
        """Time at which the visitor is out of sight again."""
        return self.begin_s + self.rest_s + 2 * self.come_s


@dataclass(frozen=True, slots=True)
class Reach:
    """A hand that moves from ``away_mm`` to ``place_mm``, rests there for ``rest_s``, and withdraws."""

    place_mm: tuple[float, float, float]
    away_mm: Point
    edge_deg: float
    skin_index: int
    rest_s: float

    def overlays(self, since_s: float) -> list[Overlay]:
        """The overlay of the hand ``since_s`` after it sets out; empty before that and after it has withdrawn."""
        end_s = self.rest_s + 2 * REACHING_S
        if not 0 <= since_s < end_s:
            return []
        share = min(1.0, since_s / REACHING_S, (end_s - since_s) / REACHING_S)
        wobble = TREMBLE_MM * math.sin(11.0 * since_s)
        x, y = ((1 - share) * far + share * near for far, near in zip(self.away_mm, self.place_mm[:2], strict=True))
        position_mm = (x + wobble, y, self.place_mm[2] + HOVER_MM)
        return [
            partial(with_hand, hand=Hand(position_mm, self.edge_deg, SKINS[self.skin_index], SLEEVES[self.skin_index]))
        ]


class Bystanders:
    """An endless sequence of visits, as a function from time in s to overlays.

    Times must not decrease from call to call.

    Attributes:
        seen: the visits of which at least one moment has been asked for.
    """

    def __init__(self, kit: Kit, seed: int, kinds: Sequence[str] = KINDS) -> None:
        self._visits = visits(kit, random.Random(f"bystanders {kit.name} {seed}"), kinds)
        self._now = next(self._visits)
        self.seen: list[Visit] = []

    def __call__(self, t_s: float) -> Sequence[Overlay]:
        """The overlays at ``t_s``; empty between two visits."""
        while t_s >= self._now.end_s:
            self._now = next(self._visits)
        since_s = t_s - self._now.begin_s
        if since_s < 0:
            return ()
        if self._now not in self.seen:
            self.seen.append(self._now)
        return self._now.overlays_at(since_s)


def visits(kit: Kit, rng: random.Random, kinds: Sequence[str] = KINDS) -> Iterator[Visit]:
    """Endless successive visits; their resting times are distributed log-uniformly."""
    t_s = 2.0
    while True:
        for edge_deg in rng.sample(EDGES_DEG, len(EDGES_DEG)):
            rest_s = math.exp(rng.uniform(math.log(SHORTEST_S), math.log(LONGEST_S)))
            visit = _visit(kit, rng, rng.choice(kinds), edge_deg, rest_s)
            visit = replace(visit, begin_s=t_s)
            yield visit
            t_s = visit.end_s + rng.uniform(*PAUSE_S)


def _visit(kit: Kit, rng: random.Random, kind: str, edge_deg: float, rest_s: float) -> Visit:
    """A visit from one edge, with ``begin_s`` 0."""
    if kind == SHADOW:
        come_s = rng.uniform(*SHADOW_MOVE_S)
        return Visit(kind, 0.0, rest_s, edge_deg, come_s, _shadow(kit, rng, edge_deg, (come_s, rest_s)))
    if kind in (HAND, ARMS):
        edges_deg = [edge_deg, *rng.sample([other for other in EDGES_DEG if other != edge_deg], kind == ARMS)]
        reaches = [_reach(kit, rng, edge, (0.0, 0.0), rest_s) for edge in edges_deg]
        return Visit(kind, 0.0, rest_s, edge_deg, REACHING_S, lambda t_s: [o for r in reaches for o in r.overlays(t_s)])
    bodies, width_mm, height_mm = _object(kit, rng, kind)
    cycle_s = 2 * REACHING_S + HANDLING_S
    come_s = cycle_s * len(bodies)
    reach = _reach(kit, rng, edge_deg, (width_mm, height_mm), HANDLING_S)
    place_mm = np.array([*reach.place_mm[:2], 0.0])
    placed_bodies = [(place_solid(solid, place_mm), colour) for solid, colour in bodies]

    def overlays_at(since_s: float) -> list[Overlay]:
        """The hand puts the bodies down one by one, and later takes all of them away at once."""
        left_s = rest_s + 2 * come_s - since_s
        count = len(placed_bodies) if left_s > cycle_s / 2 else 0
        count = min(count, int(since_s / cycle_s + 0.5))
        overlays: list[Overlay] = [partial(with_bodies, bodies=placed_bodies[:count])] if count else []
        if since_s < come_s:
            return overlays + reach.overlays(since_s % cycle_s)
        return overlays + reach.overlays(cycle_s - left_s)

    return Visit(kind, 0.0, rest_s, edge_deg, come_s, overlays_at)


def _reach(kit: Kit, rng: random.Random, edge_deg: float, size_mm: Point, rest_s: float) -> Reach:
    """A hand that reaches from one edge to a random place with room for an object of ``size_mm`` (width, height)."""
    width_mm, height_mm = size_mm
    outward = np.array([math.cos(math.radians(edge_deg)), math.sin(math.radians(edge_deg))])
    half_mm = np.array([kit.mat.width_mm, kit.mat.height_mm]) / 2
    half_field_mm = np.abs([kit.centre_mm(cell) for cell in kit.cells]).max(axis=0) + np.array(kit.board.pitch_mm) / 2
    towards_camera = math.cos(math.radians(edge_deg - AZIMUTH_DEG))
    hiding_mm, hidden_mm = towards_camera * height_mm, -towards_camera * _max_height_mm(kit)
    min_distance_mm = (
        float(np.abs(outward) @ half_field_mm) + BESIDE_MM + OCCLUSION_SLOPE * max(0.0, hiding_mm, hidden_mm)
    )
    mat_edge_mm = float(np.abs(outward) @ half_mm)
    distance_mm = rng.uniform(min_distance_mm, max(min_distance_mm, mat_edge_mm + BEYOND_MM)) + width_mm / 2
    offset_mm = rng.uniform(-0.8, 0.8) * (np.abs(outward[::-1]) * half_mm)
    (x, y), (away_x, away_y) = (outward * far_mm + offset_mm for far_mm in (distance_mm, mat_edge_mm + AWAY_MM))
    place = (float(x), float(y), height_mm)
    return Reach(place, (float(away_x), float(away_y)), edge_deg, rng.randrange(len(SKINS)), rest_s)


def _max_height_mm(kit: Kit) -> float:
    """Maximum height of what stands on the board."""
    if kit.pillars is None:
        return TALLEST_MM
    return floor_mm(kit, kit.pillars.highest) + max(piece.height_mm for piece in kit.pieces)


def _object(kit: Kit, rng: random.Random, kind: str) -> tuple[list[Body], float, float]:
    """The bodies to put down in order, around the origin, and their common width and height in mm."""
    if kind == CUP:
        return [(disc(*CUP_MM), rng.choice(CUPS))], *CUP_MM
    if kind == BOX:
        size = rng.choice(BOX_MM)
        turned = place_solid(block(*size), np.zeros(3), rng.uniform(-15, 15))
        return [(turned, rng.choice(BOXES))], max(size[:2]), size[2]
    letters = rng.choices([piece.letter for piece in kit.pieces], k=rng.randint(1, MAX_PIECES))
    bodies: list[tuple[Body, float]] = []
    spread = 2 * max(piece.width_mm for piece in kit.pieces)
    for kit_piece in map(kit.piece, letters):
        position_mm = np.array([rng.uniform(-spread, spread) / 2, rng.uniform(-spread, spread) / 2, 0.0])
        colour: Colour = kit_piece.colour
        bodies.append(((place_solid(piece(kit_piece), position_mm, rng.uniform(0, 90)), colour), float(position_mm[1])))
    return [body for body, _ in bodies], spread, max(piece.height_mm for piece in kit.pieces)


def _shadow(
    kit: Kit, rng: random.Random, edge_deg: float, times_s: tuple[float, float]
) -> Callable[[float], Sequence[Overlay]]:
    """The overlays of a shadow that moves in over one edge, rests, and moves out; ``times_s``: arriving and resting."""
    come_s, rest_s = times_s
    half_mm = kit.mat.width_mm / 2 if edge_deg in (0.0, 180.0) else kit.mat.height_mm / 2
    overlap_mm, width_mm = rng.uniform(*SHADOW_OVERLAP_MM), rng.uniform(*SHADOW_WIDTH_MM)
    share, blur_mm = rng.uniform(*SHADOW_DEPTH), rng.uniform(*SHADOW_BLUR_MM)
    turn_deg = rng.uniform(-25, 25)

    def overlays_at(since_s: float) -> list[Overlay]:
        extent = min(1.0, since_s / come_s, (rest_s + 2 * come_s - since_s) / come_s)
        near_edge_mm = half_mm + AWAY_MM - extent * (AWAY_MM + overlap_mm)
        return [
            partial(with_band, band=Band(edge_deg + turn_deg, near_edge_mm, near_edge_mm + width_mm, blur_mm, share))
        ]

    return overlays_at
