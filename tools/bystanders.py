"""Simulates disturbances beside a board during play: hands, cups, boxes, captured pieces, shadows.

Each visit is one of :data:`KINDS`, from each of the four edges in turn; what is brought stays for 0.3 to 20 s.
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
from companion.simulate.beside import Band, Body, with_band, with_bodies
from companion.simulate.gesture import AWAY_MM
from companion.simulate.hand import HOVER_MM, SKINS, SLEEVES, Hand, with_hand
from companion.simulate.table import Overlay
from companion.simulate.viewpoint import AZIMUTH_DEG
from vision.scene.solids import block, disc, moved, piece

EDGES_DEG = (-90.0, 0.0, 90.0, 180.0)

HAND, ARMS, CUP, BOX, PIECES, SHADE = "hand", "arms", "cup", "box", "pieces", "shade"
KINDS = (HAND, ARMS, CUP, BOX, PIECES, SHADE)
"""A hand that rests; two persons' from two edges; a cup, a box, captured pieces that are put down and taken away; the
shadow of a chair or of somebody who leans in."""

SHORTEST_S, LONGEST_S = 0.3, 20.0
"""How long something rests."""

PAUSE_S = (0.3, 2.0)
"""Shortest and longest pause between two visits, in seconds."""

BESIDE_MM, BEYOND_MM = 20.0, 30.0
"""Fingertips, and the near sides of things, lie so far beyond the outermost squares at least, and beyond the mat's edge
at most; but so far that in the picture no thing before the board hides a square, and no stack a thing behind it."""

HIDING = 0.7
"""What is so high hides the table behind it so far, as a share of its height: the camera looks down steeply."""

TOWER_MM = 60.0
"""Most towers, on terrain too, are no higher; on pillars that stand highest a single piece is."""

REACH_S, TREMBLE_MM = 0.4, 0.5

HANDLING_S = 0.4
"""How long a hand stays to put something down or take it away."""

CUP_MM, CUPS = (78.0, 92.0), ((236, 232, 224), (60, 92, 140), (44, 46, 50))
BOX_MM, BOXES = ((120.0, 80.0, 45.0), (200.0, 140.0, 30.0)), ((150, 40, 46), (30, 70, 110), (196, 166, 120))
"""Diameter and height of a cup; width, depth and height of boxes; their colours, sRGB."""

MOST_PIECES = 6

SHADE_OVER_MM, SHADE_WIDE_MM, SHADE_SOFT_MM = (-60.0, 150.0), (80.0, 400.0), (15.0, 80.0)
"""How far a shadow reaches over the mat from its edge, its width, the width of its edges."""

SHADE_SHARE, SHADE_S = (0.15, 0.4), (0.3, 1.2)
"""Share of the sRGB values lost in it, and how long it takes to come."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Visit:
    """Something that starts to come at ``begin_s``, takes ``come_s`` to arrive, rests, and takes as long to leave."""

    kind: str
    begin_s: float
    rest_s: float
    edge_deg: float
    come_s: float
    shown: Callable[[float], Sequence[Overlay]]
    """The overlays a given number of seconds after ``begin_s``."""

    @property
    def end_s(self) -> float:
        """Time at which it is out of sight again."""
        return self.begin_s + self.rest_s + 2 * self.come_s


@dataclass(frozen=True, slots=True)
class Reach:
    """A hand that comes to a place, in so many seconds rests there, and goes: times since it sets out."""

    place_mm: tuple[float, float, float]
    away_mm: Point
    edge_deg: float
    look: int
    rest_s: float

    def overlays(self, since_s: float) -> list[Overlay]:
        """The hand; nothing before it comes and when it has gone."""
        end_s = self.rest_s + 2 * REACH_S
        if not 0 <= since_s < end_s:
            return []
        share = min(1.0, since_s / REACH_S, (end_s - since_s) / REACH_S)
        wobble = TREMBLE_MM * math.sin(11.0 * since_s)
        x, y = ((1 - share) * far + share * near for far, near in zip(self.away_mm, self.place_mm[:2], strict=True))
        at = (x + wobble, y, self.place_mm[2] + HOVER_MM)
        return [partial(with_hand, hand=Hand(at, self.edge_deg, SKINS[self.look], SLEEVES[self.look]))]


class Bystanders:
    """One visit after the other, for ever."""

    def __init__(self, kit: Kit, seed: int, kinds: Sequence[str] = KINDS) -> None:
        self._visits = visits(kit, random.Random(f"bystanders {kit.name} {seed}"), kinds)
        self._now = next(self._visits)
        self.seen: list[Visit] = []

    def __call__(self, t_s: float) -> Sequence[Overlay]:
        """The overlays of the visit at this time."""
        while t_s >= self._now.end_s:
            self._now = next(self._visits)
        since_s = t_s - self._now.begin_s
        if since_s < 0:
            return ()
        if self._now not in self.seen:
            self.seen.append(self._now)
        return self._now.shown(since_s)


def visits(kit: Kit, chance: random.Random, kinds: Sequence[str] = KINDS) -> Iterator[Visit]:
    """Successive visits, as many short ones as long ones."""
    t_s = 2.0
    while True:
        for edge_deg in chance.sample(EDGES_DEG, len(EDGES_DEG)):
            rest_s = math.exp(chance.uniform(math.log(SHORTEST_S), math.log(LONGEST_S)))
            visit = _visit(kit, chance, chance.choice(kinds), edge_deg, rest_s)
            visit = replace(visit, begin_s=t_s)
            yield visit
            t_s = visit.end_s + chance.uniform(*PAUSE_S)


def _visit(kit: Kit, chance: random.Random, kind: str, edge_deg: float, rest_s: float) -> Visit:
    """A visit from one edge that begins at 0."""
    if kind == SHADE:
        come_s = chance.uniform(*SHADE_S)
        return Visit(kind, 0.0, rest_s, edge_deg, come_s, _shade(kit, chance, edge_deg, (come_s, rest_s)))
    if kind in (HAND, ARMS):
        edges_deg = [edge_deg, *chance.sample([other for other in EDGES_DEG if other != edge_deg], kind == ARMS)]
        reaches = [_reach(kit, chance, edge, (0.0, 0.0), rest_s) for edge in edges_deg]
        return Visit(kind, 0.0, rest_s, edge_deg, REACH_S, lambda t_s: [o for r in reaches for o in r.overlays(t_s)])
    bodies, wide_mm, high_mm = _thing(kit, chance, kind)
    once_s = 2 * REACH_S + HANDLING_S
    come_s = once_s * len(bodies)
    reach = _reach(kit, chance, edge_deg, (wide_mm, high_mm), HANDLING_S)
    there = np.array([*reach.place_mm[:2], 0.0])
    standing = [(moved(solid, there), colour) for solid, colour in bodies]

    def shown(since_s: float) -> list[Overlay]:
        """Each thing is put down, and all are taken away, while the hand is over them."""
        left_s = rest_s + 2 * come_s - since_s
        count = len(standing) if left_s > once_s / 2 else 0
        count = min(count, int(since_s / once_s + 0.5))
        things: list[Overlay] = [partial(with_bodies, bodies=standing[:count])] if count else []
        if since_s < come_s:
            return things + reach.overlays(since_s % once_s)
        return things + reach.overlays(once_s - left_s)

    return Visit(kind, 0.0, rest_s, edge_deg, come_s, shown)


def _reach(kit: Kit, chance: random.Random, edge_deg: float, thing_mm: Point, rest_s: float) -> Reach:
    """A hand from one edge to somewhere along it, where something so wide and high has room."""
    wide_mm, high_mm = thing_mm
    out = np.array([math.cos(math.radians(edge_deg)), math.sin(math.radians(edge_deg))])
    half_mm = np.array([kit.mat.width_mm, kit.mat.height_mm]) / 2
    field_mm = np.abs([kit.centre_mm(cell) for cell in kit.cells]).max(axis=0) + np.array(kit.board.pitch_mm) / 2
    towards_camera = math.cos(math.radians(edge_deg - AZIMUTH_DEG))
    before_mm, behind_mm = towards_camera * high_mm, -towards_camera * _highest_mm(kit)
    nearest_mm = float(np.abs(out) @ field_mm) + BESIDE_MM + HIDING * max(0.0, before_mm, behind_mm)
    edge_mm = float(np.abs(out) @ half_mm)
    beside_mm = chance.uniform(nearest_mm, max(nearest_mm, edge_mm + BEYOND_MM)) + wide_mm / 2
    along_mm = chance.uniform(-0.8, 0.8) * (np.abs(out[::-1]) * half_mm)
    (x, y), (away_x, away_y) = (out * far_mm + along_mm for far_mm in (beside_mm, edge_mm + AWAY_MM))
    place = (float(x), float(y), high_mm)
    return Reach(place, (float(away_x), float(away_y)), edge_deg, chance.randrange(len(SKINS)), rest_s)


def _highest_mm(kit: Kit) -> float:
    """Height up to which things on the board reach."""
    if kit.pillars is None:
        return TOWER_MM
    return floor_mm(kit, kit.pillars.highest) + max(piece.height_mm for piece in kit.pieces)


def _thing(kit: Kit, chance: random.Random, kind: str) -> tuple[list[Body], float, float]:
    """What is put down, one after the other, round the origin; its width and height, mm."""
    if kind == CUP:
        return [(disc(*CUP_MM), chance.choice(CUPS))], *CUP_MM
    if kind == BOX:
        size = chance.choice(BOX_MM)
        turned = moved(block(*size), np.zeros(3), chance.uniform(-15, 15))
        return [(turned, chance.choice(BOXES))], max(size[:2]), size[2]
    letters = chance.choices([piece.letter for piece in kit.pieces], k=chance.randint(1, MOST_PIECES))
    bodies: list[tuple[Body, float]] = []
    spread = 2 * max(piece.width_mm for piece in kit.pieces)
    for kit_piece in map(kit.piece, letters):
        at = np.array([chance.uniform(-spread, spread) / 2, chance.uniform(-spread, spread) / 2, 0.0])
        colour: Colour = kit_piece.colour
        bodies.append(((moved(piece(kit_piece), at, chance.uniform(0, 90)), colour), float(at[1])))
    return [body for body, _ in bodies], spread, max(piece.height_mm for piece in kit.pieces)


def _shade(
    kit: Kit, chance: random.Random, edge_deg: float, times_s: tuple[float, float]
) -> Callable[[float], Sequence[Overlay]]:
    """A shadow that moves in over one edge, rests, and moves out."""
    come_s, rest_s = times_s
    half_mm = kit.mat.width_mm / 2 if edge_deg in (0.0, 180.0) else kit.mat.height_mm / 2
    over_mm, wide_mm = chance.uniform(*SHADE_OVER_MM), chance.uniform(*SHADE_WIDE_MM)
    share, soft_mm = chance.uniform(*SHADE_SHARE), chance.uniform(*SHADE_SOFT_MM)
    turn_deg = chance.uniform(-25, 25)

    def shown(since_s: float) -> list[Overlay]:
        there = min(1.0, since_s / come_s, (rest_s + 2 * come_s - since_s) / come_s)
        begin_mm = half_mm + AWAY_MM - there * (AWAY_MM + over_mm)
        return [partial(with_band, band=Band(edge_deg + turn_deg, begin_mm, begin_mm + wide_mm, soft_mm, share))]

    return shown
