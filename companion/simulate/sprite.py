"""One cell's pieces as coloured polygons in the picture, ready to be painted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calibration.camera import Camera
from calibration.heights import base_heights_mm, floor_mm
from calibration.kit import Colour, Kit, PieceKind
from companion.simulate.glyphs import strokes
from companion.simulate.light import Array, Light, light_ratio, shade, shadow_on_mat, to_linear, to_srgb
from companion.simulate.placement import Pile, PlacedPiece
from vision.pose.projection import Registration, project
from vision.scene.solids import Solid, circle, column, faces_towards, hull, piece, place_solid

RING_SHARES: tuple[float, ...] = (0.80, 0.50)
"""Radii of the grooves in a disc's upper face, as fractions of its radius."""

PAINTED_RING_SHARES = (0.80,)
"""Discs with a character have one ring, of the character's colour."""

GLYPH_SHARE = 0.52
"""Side of a character as a fraction of its disc's diameter."""

TURN_DEG = {"disc": 180.0, "cube": 8.0, "pyramid": 8.0}
"""Largest rotation of a piece that is put down carelessly, by shape: discs lie as they fall."""

NESTED = 0.5
"""Fraction of the usual placement error left to a pyramid on another one: it is hollow and follows the one below."""

RING_MM = 0.45
RING_SHADE = 0.72
"""Brightness of a groove relative to that of the face."""

CONTACT_MM = 1.6
"""Distance around its foot in which a piece dims the floor, because less ambient light gets there."""

SHADOW_BLUR_PX = 4.0


@dataclass(frozen=True)
class Scene:
    """What stays the same from picture to picture: the kit, the camera, its pose, the light."""

    kit: Kit
    camera: Camera
    pose: Registration
    light: Light

    def project(self, points_mm: Array) -> Array:
        """(n, 2) px, the pixels of world points (n, 3) mm."""
        return project(points_mm, self.pose, self.camera)


@dataclass(frozen=True, eq=False)
class Sprite:
    """Convex polygons in the order in which they are painted.

    Attributes:
        points: (n, 2) float64 px, the corners of all polygons, one after another.
        ends: (k,) where each polygon ends in ``points``.
        colours: (k, 3) float64 BGR 0…255.
        shadows: polygons (j, 2) px of the floor that the direct light does not reach.
        contacts: polygons (j, 2) px of the floor, close around a foot, that get less ambient light.
        box: left, top, right, bottom px of everything, shadows and their blur included.
    """

    points: Array
    ends: tuple[int, ...]
    colours: Array
    shadows: tuple[Array, ...]
    contacts: tuple[Array, ...]
    box: tuple[float, float, float, float]


def cell_sprite(scene: Scene, cell: str, pile: Pile, level: int | None) -> Sprite | None:
    """The pile and the column of a cell as a sprite; None if there is neither."""
    kit = scene.kit
    polygons: list[tuple[Array, Array]] = []
    shadows: list[Array] = []
    contacts: list[Array] = []
    base = column(kit, cell, level)
    if base is not None:
        colour, top_colour = column_colours(kit)
        polygons += _faces(scene, base, colour, top_colour)
        shadows.append(_shadow(scene, base))
        contacts.append(_contact(scene, base))
    for standing, solid in zip(pile, standing_solids(kit, cell, pile, level), strict=True):
        polygons += piece_polygons(scene, solid, kit.piece(standing.letter), standing.tint)
        shadows.append(_shadow(scene, solid))
        if solid.points[:, 2].min() == 0:
            contacts.append(_contact(scene, solid))
    return gathered(polygons, shadows, contacts) if polygons else None


def body_sprite(scene: Scene, bodies: Sequence[tuple[Solid, Colour]]) -> Sprite | None:
    """A sprite of bodies, each with its sRGB colour, painted in this order; None if nothing of them is visible."""
    polygons = [face for solid, colour in bodies for face in _faces(scene, solid, colour, None)]
    shadows = [_shadow(scene, solid) for solid, _ in bodies]
    contacts = [_contact(scene, solid) for solid, _ in bodies if solid.points[:, 2].min() == 0]
    return gathered(polygons, shadows, contacts) if polygons else None


def standing_solids(kit: Kit, cell: str, pile: Pile, level: int | None) -> list[Solid]:
    """The pieces of a cell where they stand, bottom first."""
    (x, y), floor = kit.centre_mm(cell), floor_mm(kit, level)
    solids = []
    rises = base_heights_mm(kit, "".join(standing.letter for standing in pile))
    for standing, rise in zip(_nested(kit, pile), rises, strict=True):
        kind = kit.piece(standing.letter)
        at = np.array([x + standing.off_mm[0], y + standing.off_mm[1], floor + rise])
        solids.append(place_solid(piece(kind), at, standing.turn * TURN_DEG[kind.shape]))
    return solids


def _nested(kit: Kit, pile: Pile) -> Iterator[PlacedPiece]:
    """The pieces of a pile, each pyramid approximately at the place and rotation of the piece below it."""
    below: tuple[PlacedPiece, PlacedPiece] | None = None
    for standing in pile:
        follows = standing
        if below is not None and kit.piece(standing.letter).shape == "pyramid":
            put, stands = below
            x, y = np.array(stands.off_mm) + NESTED * (np.array(standing.off_mm) - put.off_mm)
            turn = stands.turn + NESTED * standing.turn
            follows = replace(standing, off_mm=(float(x), float(y)), turn=turn)
        yield follows
        below = standing, follows


def piece_polygons(scene: Scene, solid: Solid, kind: PieceKind, tint: float = 0.0) -> list[tuple[Array, Array]]:
    """A piece's visible faces, and the grooves of a disc: (px polygon, BGR) each."""
    red, green, blue = (min(255, round(channel * (1 + tint))) for channel in kind.colour)
    polygons = _faces(scene, solid, (red, green, blue), None)
    if kind.shape == "disc" and polygons:
        polygons += _marks(scene, solid, kind, polygons[-1][1])
    return polygons


def gathered(polygons: list[tuple[Array, Array]], shadows: list[Array], contacts: list[Array]) -> Sprite:
    """One sprite of polygons (px, BGR), their shadows and contacts."""
    everything = np.vstack([p for p, _ in polygons])
    around = np.vstack([everything, *shadows, *contacts])
    reach = 3 * SHADOW_BLUR_PX
    left, top = around.min(axis=0) - reach
    right, bottom = around.max(axis=0) + reach
    ends = tuple(int(end) for end in np.cumsum([len(p) for p, _ in polygons]))
    colours = np.array([colour for _, colour in polygons])
    box = (float(left), float(top), float(right), float(bottom))
    return Sprite(everything, ends, colours, tuple(shadows), tuple(contacts), box)


def _marks(scene: Scene, solid: Solid, kind: PieceKind, face: Array) -> list[tuple[Array, Array]]:
    """The grooves or paint on a disc's upper face, which has the colour ``face`` (BGR)."""
    ink = face * RING_SHADE
    if kind.glyph:
        # Paint reflects in the same light as the wood beside it.
        ink = to_srgb(to_linear(face) * light_ratio(kind.glyph_colour, kind.colour)[::-1])
    centre, axes = upright(solid)
    return [(scene.project(centre + polygon @ axes), ink if is_ink else face) for polygon, is_ink in marks_mm(kind)]


def marks_mm(kind: PieceKind) -> list[tuple[Array, bool]]:
    """Marks on a disc's upper face: polygons (k, 2) mm about its middle, upright, in painting order.

    Each comes with whether it has the colour of the marks; otherwise it has the face's colour.
    """
    marks = []
    for share in PAINTED_RING_SHARES if kind.glyph else RING_SHARES:
        radius = share * kind.width_mm / 2
        marks += [(circle(radius, 0.0)[:, :2], True), (circle(radius - RING_MM, 0.0)[:, :2], False)]
    if kind.glyph:
        marks += [(GLYPH_SHARE * kind.width_mm * bar, True) for bar in strokes(kind.glyph)]
    return marks


def upright(solid: Solid) -> tuple[Array, Array]:
    """A disc's upper face: its middle (3,) in mm, and unit vectors (2, 3) to the right and up of its marks."""
    rim = solid.points[list(solid.top)]
    centre = rim.mean(axis=0)
    right = (rim[0] - centre) / np.linalg.norm(rim[0] - centre)
    return centre, np.stack([right, np.cross([0.0, 0.0, 1.0], right)])


def _faces(scene: Scene, solid: Solid, colour: Colour, top_colour: Colour | None) -> list[tuple[Array, Array]]:
    """The visible faces of a body, lower ones first."""
    eye = scene.pose.centre_mm
    seen = np.flatnonzero(faces_towards(solid, eye))
    bright = shade(scene.light, colour, solid.normals[seen], solid.middles[seen], eye)
    if top_colour is not None:
        flat = solid.is_top[seen]
        bright[flat] = shade(scene.light, top_colour, solid.normals[seen][flat], solid.middles[seen][flat], eye)
    pixels = scene.project(solid.points)
    u = (pixels.mean(axis=0) - scene.camera.matrix[:2, 2]) / np.diag(scene.camera.matrix)[:2]
    colours = to_srgb(bright / (1 + u @ u))[:, ::-1]
    return [(pixels[list(solid.faces[face])], c) for face, c in zip(seen, colours, strict=True)]


def _shadow(scene: Scene, solid: Solid) -> Array:
    """(k, 2) px, a body's shadow on the mat."""
    return hull(scene.project(shadow_on_mat(scene.light, solid.points)))


def _contact(scene: Scene, solid: Solid) -> Array:
    """(k, 2) px, the part of the mat close around the foot of a body."""
    foot = solid.points[solid.points[:, 2] < solid.points[:, 2].min() + CONTACT_MM]
    middle = foot.mean(axis=0)
    outward = (foot - middle) / np.linalg.norm(foot - middle, axis=1, keepdims=True)
    return hull(scene.project(foot + CONTACT_MM * outward))


def column_colours(kit: Kit) -> tuple[Colour, Colour]:
    """Colours of the sides and of the upper face of terrain or pillars."""
    if kit.pillars is not None:
        return kit.pillars.colour, kit.pillars.top_colour
    return kit.board.terrain_colour, kit.board.terrain_colour
