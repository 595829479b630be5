"""The colours of pieces in a photograph whose layout is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.appearance import Reflectance
from calibration.camera import Camera
from calibration.heights import base_heights_mm
from calibration.kit import Kit
from vision.appearance.illumination import LINEAR, Illumination
from vision.appearance.sharpening import is_sharpened
from vision.appearance.specular import (
    DARKEST,
    PieceColourSample,
    faces_of,
    matt_colours,
    paleness,
    sides_of,
    subtract_white,
)
from vision.errors import VisionError
from vision.pose.projection import Points, Registration, project

FLOOR_SHARE = 0.35
"""Share of the pitch round a square's centre in which the floor is sampled, clear of the lines."""

WOOD_PERCENTILE = 80.0
"""Percentile of a face's brightness that is bare wood: ink covers less than half of it.  Chosen by eye."""

INK_PERCENTILE = 8.0
"""Percentile of a face's brightness that is ink: it covers at least a tenth of a face.  Chosen by eye."""

POLISH_ROUNDS = 20
"""Rounds of median polish, after which the light on faces of pyramids no longer changes."""

BRIGHTEST_PERCENTILE = 95.0
"""Percentile of a face's brightness that is bare wood, or a halo on it: what is nearer to it than to ink is wood."""

MAX_COLOUR_FACTOR = 2.0
"""A pyramid learned as brighter or darker than others of its colour by more than this factor was seen wrongly."""

DARK_INK = 0.12
"""Largest reflectance of a character's ink in its darkest channel; in seven sets that were examined, 0.03 to 0.1.
More than this is due to a lamp that all faces of a colour mirror."""


@dataclass(frozen=True, eq=False)
class Photograph:
    """A picture (height, width, 3) uint8 BGR, where it was taken from, and in what light."""

    image: npt.NDArray[np.uint8]
    pose: Registration
    camera: Camera
    light: Illumination

    def reflectance(self, points_mm: Points, percentile: float = 50.0) -> Reflectance:
        """Reflectance of a surface: a percentile, per channel, over places (n, 3) mm.

        Raises VisionError when they lie outside the picture.
        """
        r, g, b = np.percentile(self.reflectances(points_mm), percentile, axis=0)
        return float(r), float(g), float(b)

    def reflectances(self, points_mm: Points) -> Points:
        """(k, 3) reflectances at those places (n, 3) mm that are in the picture.  Raises VisionError when none is."""
        pixels = np.rint(project(points_mm, self.pose, self.camera)).astype(int)
        inside = ((pixels >= 0) & (pixels < (self.camera.width_px, self.camera.height_px))).all(axis=1)
        if not inside.any():
            raise VisionError("a square lies outside the picture: show the whole mat")
        seen = LINEAR[self.image[pixels[inside, 1], pixels[inside, 0], ::-1]] / self.light.at(points_mm[inside])
        return np.asarray(seen, np.float64)


def floor_points(kit: Kit, floor_mm: Points) -> Points:
    """(25, 3) places on a cell's floor, whose centre is ``floor_mm`` (3,)."""
    steps = np.linspace(-FLOOR_SHARE, FLOOR_SHARE, 5)
    dx, dy = np.meshgrid(*(steps * pitch_mm for pitch_mm in kit.board.pitch_mm))
    around: Points = floor_mm + np.column_stack([dx.ravel(), dy.ravel(), np.zeros(dx.size)])
    return around


@dataclass(frozen=True)
class PieceColours:
    """Reflectances by letter: of faces, of their inks, and the white that faces with characters mirror."""

    pieces: Mapping[str, Reflectance]
    inks: Mapping[str, Reflectance]
    whites: Mapping[str, float]


def learn_pieces(
    photograph: Photograph,
    kit: Kit,
    layout: Mapping[str, str],
    floors_mm: Mapping[str, Points],
) -> PieceColours:
    """The colours of the uppermost pieces of stacks by cell: for each kind the median over its pieces.

    A pyramid shows its least pale face, all in one light (:func:`in_one_light`).  A kind that is not seen takes the
    colour of another one to which the kit gives the same.  Raises VisionError where there is none.
    """
    seen: dict[str, list[Reflectance]] = {}
    plain: list[tuple[str, Mapping[int, Reflectance], list[Reflectance]]] = []
    inks: dict[str, list[Reflectance]] = {}
    # Faces without characters are uniform.
    has_halos = bool(kit.pieces[0].glyph) and is_sharpened(photograph.image, kit, photograph.pose, photograph.camera)
    for cell, stack in layout.items():
        letter, kind = stack[-1], kit.piece(stack[-1])
        base = floors_mm[cell] + np.array([0.0, 0.0, base_heights_mm(kit, stack)[-1]])
        faces = faces_of(kind, base, photograph.pose.centre_mm)
        if kind.glyph:
            (face,) = faces.values()
            inks.setdefault(letter, []).append(photograph.reflectance(face, INK_PERCENTILE))
            seen.setdefault(letter, []).append(wood_reflectance(photograph.reflectances(face), has_halos=has_halos))
        else:
            sides = [photograph.reflectance(side) for side in sides_of(kind, base, photograph.pose.centre_mm)]
            plain.append((letter, {way: photograph.reflectance(face) for way, face in faces.items()}, sides))
    shown = in_one_light([faces for _, faces, _ in plain])
    glossy = [PieceColourSample(face, sides) for face, (_, _, sides) in zip(shown, plain, strict=True)]
    for (letter, _, _), colour in zip(plain, matt_colours(glossy), strict=True):
        seen.setdefault(letter, []).append(colour)
    pieces = _replace_outliers(kit, {letter: median(colours) for letter, colours in seen.items()})
    for kind in kit.pieces:
        if kind.letter not in pieces:
            alike = [letter for letter in seen if kit.piece(letter).colour == kind.colour and not kind.glyph]
            if not alike:
                raise VisionError(f"no {kind.letter} lies uppermost in this layout: show one piece of every kind")
            pieces[kind.letter] = pieces[alike[0]]
    return _without_lamp(kit, pieces, {letter: median(colours) for letter, colours in inks.items()})


def in_one_light(pieces: Sequence[Mapping[int, Reflectance]]) -> list[Reflectance]:
    """For each piece, of its faces by orientation, the least pale one, in the light that one orientation has.

    A lamp lights one side of all pyramids, in its own tint: the lit side of some and the shaded side of others would
    make bright ones as dark as dark ones.  So all are brought to the darkest of the orientations from which they are
    taken: it mirrors least.
    """
    if not pieces:
        return []
    chosen = [min((paleness(face), way) for way, face in faces.items())[1] for faces in pieces]
    light, shown = _log_light(pieces), []
    darkest = min((light[way] for way in chosen), key=np.sum)
    for faces, way in zip(pieces, chosen, strict=True):
        r, g, b = (np.array(faces[way]) * np.exp(darkest - light[way])).tolist()
        shown.append((r, g, b))
    return shown


def _log_light(pieces: Sequence[Mapping[int, Reflectance]]) -> dict[int, npt.NDArray[np.float64]]:
    """By orientation the logarithm of the light on it (3,), up to a constant that all have in common.

    Pieces reflect any share of it: a two-way table without interaction, fitted by median polish (Tukey, Exploratory
    data analysis, 1977), as some faces mirror something.
    """
    ways = sorted({way for faces in pieces for way in faces})
    absent = (np.nan,) * 3
    shown = np.array([[faces.get(way, absent) for way in ways] for faces in pieces])
    logs, light = np.log(np.maximum(shown, DARKEST)), np.zeros((len(ways), 3))
    for _ in range(POLISH_ROUNDS):
        reflected = np.nanmedian(logs - light, axis=1, keepdims=True)
        light = np.nanmedian(logs - reflected, axis=0)
    return dict(zip(ways, light, strict=True))


def wood_reflectance(seen: Points, *, has_halos: bool) -> Reflectance:
    """The reflectance of the wood of a face with a character, from reflectances (k, 3) sampled on it.

    A camera that sharpens produces halos along the strokes, which are brighter than the wood, and paler.
    """
    if has_halos:
        bright = seen.mean(axis=1)
        is_wood = bright >= np.percentile(bright, [INK_PERCENTILE, BRIGHTEST_PERCENTILE]).mean()
        r, g, b = np.median(seen[is_wood], axis=0).tolist()
    else:
        r, g, b = np.percentile(seen, WOOD_PERCENTILE, axis=0).tolist()
    return r, g, b


def _replace_outliers(kit: Kit, pieces: Mapping[str, Reflectance]) -> dict[str, Reflectance]:
    """Colours by letter; a pyramid's that is far from those of its colour is replaced by their weighted median.

    The faces of a small one may show what it mirrors, or what is beside it.  Larger ones have more weight.
    """
    agreed = dict(pieces)
    for letter in pieces:
        kind = kit.piece(letter)
        alike = [other for other in pieces if kit.piece(other).colour == kind.colour]
        if kind.shape == "pyramid" and len(alike) > 1:
            colours = np.array([pieces[other] for other in alike])
            usual = weighted_median(colours, np.array([kit.piece(other).width_mm ** 2 for other in alike]))
            brighter = sum(pieces[letter]) / max(sum(usual), 1e-6)
            if not 1 / MAX_COLOUR_FACTOR < brighter < MAX_COLOUR_FACTOR:
                agreed[letter] = usual
    return agreed


def weighted_median(colours: Points, weights: npt.NDArray[np.float64]) -> Reflectance:
    """The first of colours (k, 3), in order of brightness, at which half of the ``weights`` (k,) is reached."""
    order = np.argsort(colours.sum(axis=1))
    reached = np.cumsum(weights[order]) >= weights.sum() / 2
    r, g, b = colours[order[reached.argmax()]].tolist()
    return r, g, b


def _without_lamp(kit: Kit, pieces: Mapping[str, Reflectance], inks: Mapping[str, Reflectance]) -> PieceColours:
    """Faces with characters less the lamp's white that each mirrors: by that its ink is paler than others'."""
    whites: dict[str, float] = {}
    for letter, ink in inks.items():
        alike = sorted((inks[other] for other in inks if kit.piece(other).colour == kit.piece(letter).colour), key=min)
        # Others may mirror it, too: the darkest ones show the ink's own colour.
        own = median(alike[: (len(alike) + 2) // 3])
        paler = min(shown - dark for shown, dark in zip(ink, own, strict=True))
        whites[letter] = max(0.0, paler, min(ink) - DARK_INK)
    own_colours = {letter: subtract_white(colour, whites.get(letter, 0.0)) for letter, colour in pieces.items()}
    return PieceColours(
        own_colours, {letter: subtract_white(ink, whites[letter]) for letter, ink in inks.items()}, whites
    )


def median(colours: list[Reflectance]) -> Reflectance:
    """The median of colours, each channel by itself."""
    r, g, b = np.median(colours, axis=0).tolist()
    return r, g, b
