"""Colour model: log-likelihood of a pixel's colour for every material, as one look-up table.

The table is a smoothed histogram of what surfaces may show (:mod:`vision.appearance.shading`); pixels are looked up
after dividing out the illumination.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum, auto

import numpy as np
import numpy.typing as npt

from calibration.appearance import ColumnAppearance, Reflectance, SetAppearance
from calibration.srgb import CURVE_OFFSET, GAMMA, STEEPEST, display, linear_light
from vision.appearance.shading import SAMPLES, Shading, sample_display_values
from vision.appearance.tone_curve import codes_to_values, gain_at
from vision.compiled import compiled
from vision.scene.configurations import Configurations
from vision.scene.materials import SKY_VIEW_FACTORS, Materials

BINS = 32
"""Bins per channel: 8 codes wide, about twice the noise of a dim picture.  Chosen by eye."""

TOP_VALUE = 1.25
"""Largest display (gamma-encoded) value that is distinguished, relative to white paper there.  Chosen by eye."""

OUTLIER_SHARE = 0.03
"""Share of outliers: pixels that no material explains (dust, print, edges, JPEG).  Bounds the evidence of one pixel.
Chosen by eye."""


OUTLIER_LOG = float(np.log(OUTLIER_SHARE / BINS**3) + 0.7)
"""A pixel whose likeliest material is no likelier than outliers are (twice their density) is unexplained."""


class Lamp(Enum):
    """Position of the lamp, as seen in the light on the sides of pieces that face the camera."""

    USUAL = auto()
    LOW = auto()
    BEHIND = auto()


# All values are chosen by eye, except the glare of upper faces: with 0.3 the collection's dim recording of Domination
# is lost, with 0.1 its first frames are misread; its printed mats are read alike with 0.2 and 0.3 (2026-11-23).
# Upper faces and the floor face the same light as the paper, so s is near 1 unless they are shaded; sides may be lit
# by little more than what the room reflects, or by a lamp at right angles.
FLOOR_SHADING = Shading(lit=0.7, spread=0.12, shade=(0.15, 1.0), mirrored=0.005, tint=0.08)
_TOP = Shading(lit=0.75, spread=0.2, shade=(0.2, 1.0), mirrored=0.03, tint=0.05, glare=0.2)
_SIDE = Shading(lit=0.0, spread=0.0, shade=(0.2, 1.1), mirrored=0.02, tint=0.08)
# Between pillars it is darker than next to a piece.
_WALL = Shading(lit=0.0, spread=0.0, shade=(0.05, 1.1), mirrored=0.02, tint=0.08)
# A lateral face may have been enrolled in half the light that falls on another one.
_LATERAL_FACE = Shading(lit=0.0, spread=0.0, shade=(0.05, 2.5), mirrored=0.08, tint=0.08)

_BESIDE_TERRAIN = replace(_SIDE, shade=(0.1, 1.1))
"""Sides where terrain or pillars may be as dark: with the lamp behind, they had 0.09 to 0.16 of white paper's light,
and pale towers in front of a green cloth were mistaken for terrain in shade."""

_FACING = replace(_SIDE, shade=(0.2, 1.9))
"""Sides that face a low lamp: what they receive of it, relative to the floor, is the cotangent of its elevation, here
28 degrees."""

_FACING_ON_BOARD = replace(_WALL, shade=(0.05, 2.2))
"""The same on a learned board, where what is in the shade in front of a dark board may still be a side."""

_BACKLIT = replace(_SIDE, shade=(0.13, 0.7))
"""Sides that a lamp behind the board leaves in the shade.  None is lit like a face then, or ground like a shaded side.
Of six ranges, beginning at 0.06 to 0.2 and ending at 0.5 to 1.1, this read five sets of faced pieces best."""

_MIRRORING = replace(_TOP, glare=0.5)
"""Plain upper faces lit by such a lamp, which they mirror towards the camera.  With 0.2, 0.4, 0.5 and 0.6 the set of
discs that do so most had 19, 6.4, 4.4 and 3.1 nats against the truth; with 0.5 seven others had 16 instead of 14.  Of
sets with characters on their faces, a white one was read worse (10 to 45)."""

_DEEP = replace(_SIDE, shade=(0.08, 0.2))
DEEP_SHARE = 1e-3
"""Range of deep shade on sides when a lamp is behind the board, and the share of the sides' pixels that lie in it.
Such dark pixels are thus explained; but as shadows, ink and gaps are as dark, they are evidence for no stack."""

_WALL_IN_PIT = replace(_WALL, shade=(0.005, 0.15))
PIT_SHARE = 0.2
"""Range of shade on the sides of pillars and terrain at the bottom of a pit, which see hardly any of the sky, and the
share of their pixels that lie there.  Without it the walls round a dark cube, in a pit as deep as it was wide, were
sides of a higher stack (39 nats to 0.1).  With 0.1 to 0.3, and up to 0.1 to 0.2 of the light, all was read alike.
"""

BOARD_VIEW_FACTOR = 0.5
"""Share of what an upright side sees that is the board.  On seven boards of strong colours a quarter to two thirds of
the sides' light had the board's colour; beside a window on orange wood pale blue discs, whose sides were brown, were
surely green ones.  With 0, 0.5, 0.8 and 1.2 22 own boards had 59, 40, 40 and 44 nats, 15, 11, 11 and 13 wrong.
"""

INK_SHARE = 0.25
"""Share of a face that its character and ring cover.  Chosen by eye."""

BLEACHED_SHARE = 0.05
"""How often the lamp itself was mirrored in the plain face from which a colour was enrolled, and the sides below did
not reveal it (:mod:`vision.appearance.specular`): a quarter of those that mirror it.  Chosen by eye; on printed mats it
made one set of 38 likelier (22 to 17 nats), whose pale blue disc mirrored a window, and none less by more than 0.4."""

MIN_TINT = 0.1
"""Difference between the channels of a reflectance above which it is not grey.  Chosen by eye."""


def build_colour_model(
    appearance: SetAppearance, configurations: Configurations, paper: Reflectance | None
) -> npt.NDArray[np.float32]:
    """(BINS³, materials) float32 log-likelihoods; the TABLE column is flat until a picture fills it.

    ``paper``: reflectance of the mat beside the cells; None: that of the cells.
    """
    faces = _pieces_drawn(appearance, configurations)
    # A learned board may be as dark as the shaded side of a piece: darkness then rules out neither.
    on_mat = _SIDE if appearance.column is None else _BESIDE_TERRAIN
    side = _LATERAL_FACE if not configurations.has_faces else on_mat if appearance.board is None else _WALL
    bleached = _bleached_share(configurations)
    floor = _floor_reflectances(appearance)
    side = replace(side, bleached=bleached, interreflected=_interreflected(floor))
    sides = [_learn(sample_display_values(face, side)) for face in faces]
    top = replace(_TOP, bleached=bleached) if configurations.has_faces else side
    tops = [
        _learn(sample_display_values(face, top)) if not appearance.inks else _inked(face, appearance, letters)
        for face, letters in zip(faces, configurations.colours, strict=True)
    ]
    columns = [
        _learn(sample_display_values(floor, FLOOR_SHADING)),
        np.full(BINS**3, -3 * np.log(BINS)),
        _learn(sample_display_values(floor if paper is None else np.array(paper), FLOOR_SHADING)),
        *_mix_sides(np.array(sides)),
        *tops,
        *sides,
        *([] if appearance.column is None else _column(appearance.column)),
    ]
    return np.column_stack(columns).astype(np.float32)


def model_for_lamp(
    lamp: Lamp, colour_model: npt.NDArray[np.float32], appearance: SetAppearance, configurations: Configurations
) -> npt.NDArray[np.float32]:
    """A copy of a colour model (BINS³, materials) of pieces with faces, for an unusual position of the ``lamp``."""
    facing = _FACING if appearance.board is None else _FACING_ON_BOARD
    shading = replace(
        facing if lamp is Lamp.LOW else _BACKLIT,
        bleached=_bleached_share(configurations),
        interreflected=_interreflected(_floor_reflectances(appearance)),
    )
    model, faces = colour_model.copy(), _pieces_drawn(appearance, configurations)
    _put_sides(model, [_learn(sample_display_values(face, shading)) for face in faces])
    if lamp is Lamp.BEHIND and not appearance.inks:
        kinds = Materials(len(faces))
        model[:, kinds.TOPS : kinds.sides] = np.column_stack(
            [_learn(sample_display_values(face, _MIRRORING)) for face in faces]
        )
    return model


def _interreflected(floor: npt.NDArray[np.float64]) -> tuple[float, float, float]:
    """See :attr:`Shading.interreflected`, for upright sides on a ``floor`` as of :func:`_floor_reflectances`."""
    red, green, blue = (BOARD_VIEW_FACTOR * np.atleast_2d(floor).mean(axis=0)).tolist()
    return red, green, blue


def _bleached_share(configurations: Configurations) -> float:
    """See :attr:`Shading.bleached`."""
    return BLEACHED_SHARE if configurations.has_plain_faces else 0.0


def sides_in_deep_shade(appearance: SetAppearance, configurations: Configurations) -> list[npt.NDArray[np.float32]]:
    """(BINS³,) float32 likelihood of a side in deep shade, of each colour; none where sides may be that dark anyway.

    Those of pyramids are, and those on a learned board.
    """
    if appearance.board is not None or not configurations.has_faces:
        return []
    return [
        _smoothed(bin_index(sample_display_values(face, _DEEP))) for face in _pieces_drawn(appearance, configurations)
    ]


def with_deep_shade(
    colour_model: npt.NDArray[np.float32], deep: Sequence[npt.NDArray[np.float32]]
) -> npt.NDArray[np.float32]:
    """A copy of a colour model (BINS³, materials) in which sides may be in deep shade, too, to explain pictures with.

    ``deep``: see :func:`sides_in_deep_shade`.
    """
    model = colour_model.copy()
    if deep:
        first = Materials(len(deep)).sides
        usual = np.exp(model[:, first : first + len(deep)].T)
        _put_sides(model, list(np.log((1 - DEEP_SHARE) * usual + DEEP_SHARE * np.array(deep))))
    return model


def _put_sides(model: npt.NDArray[np.float32], sides: Sequence[npt.NDArray[np.float32]]) -> None:
    """Put ``sides``, (BINS³,) log-likelihoods for each colour, into a colour model (BINS³, materials)."""
    kinds = Materials(len(sides))
    model[:, kinds.sides : kinds.column_side] = np.column_stack(sides)
    model[:, Materials.STANDING], model[:, Materials.SIDE] = _mix_sides(np.array(sides))


def _mix_sides(sides: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """(BINS³,) log-likelihoods of the likeliest of the ``sides`` (colours, BINS³), and of their equal mixture."""
    return sides.max(axis=0), np.log(np.mean(np.exp(sides), axis=0))


def repaint_column(colour_model: npt.NDArray[np.float32], column: ColumnAppearance) -> None:
    """Put the colour of a ``column`` into a colour model (BINS³, materials) of a set with terrain or pillars."""
    learned = np.column_stack(_column(column))
    colour_model[:, -learned.shape[1] :] = learned


def reflectances(appearance: SetAppearance, configurations: Configurations) -> npt.NDArray[np.float64]:
    """(colours, 3) reflectance of the pieces of each colour, r g b."""
    return np.array([np.mean([appearance.pieces[letter] for letter in own], axis=0) for own in configurations.colours])


def has_colours(appearance: SetAppearance) -> bool:
    """Whether any piece of a set is neither black, grey nor white."""
    return any(max(colour) - min(colour) > MIN_TINT for colour in appearance.pieces.values())


def contrast_to_ground(pieces: npt.NDArray[np.float64], grounds: Sequence[Reflectance]) -> float:
    """Least difference of any piece from any ground: root mean square over the channels' display values.

    ``pieces`` (colours, 3) and ``grounds``, what pieces stand on, are reflectances; infinite without grounds.
    """
    apart = [np.sqrt(((display(pieces) - display(np.array(ground))) ** 2).mean(axis=1)).min() for ground in grounds]
    return float(min(apart, default=np.inf))


def _pieces_drawn(appearance: SetAppearance, configurations: Configurations) -> list[npt.NDArray[np.float64]]:
    """Reflectance of the pieces of each colour: (3,), or where they have characters (DRAWS, 3), drawn from theirs.

    A camera smears colour: the same wood is learned redder round red ink than round black, and sides have no ink.
    """
    if not appearance.inks:
        return list(reflectances(appearance, configurations))
    rng = np.random.default_rng(2)
    each = [np.array([appearance.pieces[letter] for letter in own]) for own in configurations.colours]
    return [own[rng.integers(0, len(own), SAMPLES)] for own in each]


def _floor_reflectances(appearance: SetAppearance) -> npt.NDArray[np.float64]:
    """(3,) the floor's; or (DRAWS, 3), drawn from those of a learned board, or from all where nothing is known."""
    rng = np.random.default_rng(1)  # not the seeds with which surfaces are lit and pieces drawn
    if appearance.board is not None:
        shown = appearance.board.colour[appearance.board.seen > 0]
        return linear_light(shown[rng.integers(0, len(shown), SAMPLES)].astype(np.float64))
    return linear_light(rng.uniform(0, 1, (SAMPLES, 3))) if appearance.floor is None else np.array(appearance.floor)


def _inked(
    face: npt.NDArray[np.float64], appearance: SetAppearance, letters: tuple[str, ...]
) -> npt.NDArray[np.float32]:
    """(BINS³,) float32 log-likelihood of faces with characters: a mixture of wood and their inks."""
    inks = {appearance.inks[letter] for letter in letters}
    drawn = [np.exp(_learn(sample_display_values(np.array(ink), _TOP))) for ink in inks]
    wood = np.exp(_learn(sample_display_values(face, _TOP)))
    mixed: npt.NDArray[np.float32] = np.log((1 - INK_SHARE) * wood + INK_SHARE * np.mean(drawn, axis=0))
    return mixed


def _column(column: ColumnAppearance) -> list[npt.NDArray[np.float32]]:
    """(BINS³,) float32 each: log-likelihood of the side of terrain or pillars, then of its top by sky view factor."""
    top, side = np.array(column.top), np.array(column.side)
    usual, dark = (np.exp(_learn(sample_display_values(side, shading))) for shading in (_WALL, _WALL_IN_PIT))
    return [
        np.log((1 - PIT_SHARE) * usual + PIT_SHARE * dark),
        *(_learn(sample_display_values(top, _in_pit(share, float(side.mean())))) for share in SKY_VIEW_FACTORS),
    ]


def _in_pit(sky_view_factor: float, reflectance: float) -> Shading:
    """Shading of a floor with this sky view factor, between walls of this ``reflectance``.

    The lamp may be anywhere in the sky.  Ambient light comes from all of it; occluded parts are replaced by the walls,
    which are themselves about half lit.
    """
    if sky_view_factor == 1:
        return FLOOR_SHADING
    room = sky_view_factor + (1 - sky_view_factor) * reflectance / 2
    shade = room * _WALL.shade[0], room * FLOOR_SHADING.shade[1]
    return replace(FLOOR_SHADING, lit=sky_view_factor * FLOOR_SHADING.lit, shade=shade)


def piece_likelihood(colour_model: npt.NDArray[np.float32], colours: int) -> npt.NDArray[np.float32]:
    """(BINS³,) float32 likelihood under the likeliest face, from a model (BINS³, materials) with ``colours``."""
    likelihood: npt.NDArray[np.float32] = np.exp(
        colour_model[:, Materials.TOPS : Materials(colours).column_side].max(axis=1)
    )
    return likelihood


def table_column(
    rows: npt.NDArray[np.int32], paper: npt.NDArray[np.float32], pieces: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """(BINS³,) float32 log-likelihood of what lies outside the mat, from the ``rows`` (n,) of pixels sampled there.

    White ``paper``, of likelihood (BINS³,), is as probable there as what was sampled.  A colour that a piece may have,
    by :func:`piece_likelihood` (BINS³,), is no likelier here: a cloth's is known more precisely only because it was
    sampled in this light, and the pixels of one face, which has one shade, are as alike as those of the cloth.
    """
    shares = (_smoothed(rows) + paper) / 2
    return np.log(np.where(pieces > np.exp(OUTLIER_LOG), np.minimum(shares, pieces), shares)).ravel()


def normalise(codes: npt.NDArray[np.uint8], light: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Display values relative to white paper in the same light.

    Args:
        codes: (…, 3) uint8, BGR.
        light: float32, broadcastable to ``codes``; r g b, linear.

    Returns:
        (…, 3) float32, r g b, from 0.
    """
    return codes_to_values(codes[..., ::-1], gain_at(light))


def rows_at(
    image: npt.NDArray[np.uint8], places: npt.NDArray[np.intp], light: npt.NDArray[np.float32]
) -> npt.NDArray[np.int32]:
    """Rows (n,) int32 in the colour model of some pixels of a picture, as of :func:`bin_index` and :func:`normalise`.

    Args:
        image: (height, width, 3) uint8, BGR.
        places: (n,) indices into the flattened picture.
        light: (3,) float32; r g b, linear.
    """
    values = codes_to_values(np.arange(256, dtype=np.uint8), gain_at(light)[:, None])
    table = quantised(np.clip(values, 0, TOP_VALUE)) * np.array([[BINS**2], [BINS], [1]], np.int32)
    rows: npt.NDArray[np.int32] = _look_up(image.reshape(-1, 3), places, table)
    return rows


@compiled
def _look_up(
    codes: npt.NDArray[np.uint8], places: npt.NDArray[np.intp], table: npt.NDArray[np.int32]
) -> npt.NDArray[np.int32]:
    """Sums (n,) over r, g, b of what a ``table`` (3, 256) has for the ``codes`` (pixels, 3) BGR at ``places`` (n,)."""
    rows = np.empty(len(places), np.int32)
    for i in range(len(places)):
        blue, green, red = codes[places[i], 0], codes[places[i], 1], codes[places[i], 2]
        rows[i] = table[0, red] + table[1, green] + table[2, blue]
    return rows


def bin_index(values: npt.NDArray[np.float32]) -> npt.NDArray[np.int32]:
    """Rows (…) int32 in the colour model of display values (…, 3) r g b."""
    q = quantised(values)
    row: npt.NDArray[np.int32] = (q[..., 0] * BINS + q[..., 1]) * BINS + q[..., 2]
    return row


def quantised(values: npt.NDArray[np.float32]) -> npt.NDArray[np.int32]:
    """Bin (int32, 0…BINS − 1) of each display value."""
    bins: npt.NDArray[np.int32] = np.minimum((values * np.float32(BINS / TOP_VALUE)).astype(np.int32), BINS - 1)
    return bins


@compiled
def display_value(linear: float) -> float:
    """As :func:`calibration.srgb.display`, for a single value."""
    return float(
        STEEPEST * linear if linear <= 0.0031308 else (1 + CURVE_OFFSET) * linear ** (1 / GAMMA) - CURVE_OFFSET
    )


def _learn(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """(BINS³,) float32 log-likelihood: smoothed histogram of display values (n, 3)."""
    return np.log(_smoothed(bin_index(values)))


@compiled
def _smoothed(rows: npt.NDArray[np.int32]) -> npt.NDArray[np.float32]:
    """(BINS³,) float32 likelihood: histogram of ``rows`` (n,), smoothed with (1, 2, 1) / 4 along each channel."""
    counts, smooth = np.zeros(BINS**3, np.float32), np.zeros(BINS**3, np.float32)
    for row in rows:
        counts[row] += 1
    for row in range(len(counts)):
        if counts[row] == 0:
            continue
        red, green, blue = row // BINS**2, row // BINS % BINS, row % BINS
        # Beyond the range, the kernel is clamped to the last bin.
        for i in range(-1, 2):
            for j in range(-1, 2):
                for k in range(-1, 2):
                    share = counts[row] * (2 - abs(i)) * (2 - abs(j)) * (2 - abs(k))
                    smooth[(_within(red + i) * BINS + _within(green + j)) * BINS + _within(blue + k)] += share
    of_one, least = np.float32((1 - OUTLIER_SHARE) / (4**3 * max(len(rows), 1))), np.float32(OUTLIER_SHARE / BINS**3)
    return smooth * of_one + least


@compiled
def _within(place: int) -> int:
    """A bin, clamped to the range."""
    return min(max(place, 0), BINS - 1)
