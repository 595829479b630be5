"""Template matching of characters: faces unrolled round their middles, compared with those of the enrolment.

In polar coordinates a rotation is a shift, so all rotations are correlated at once by the Fourier transform (as in De
Castro and Morandi, Registration of translated and rotated images using finite Fourier transforms, 1987).  Values are
shares of the face's own bare wood, red and green: light cancels, and red ink differs from black.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.looks import GLYPH_ANGLES, GLYPH_RADII, Glyph
from vision.appearance.piece_colours import WOOD_PERCENTILE
from vision.compiled import compiled
from vision.glyphs.face_detection import (
    DIRECTIONS,
    ONE_PX,
    Faces,
    FlatPicture,
    Picture,
    Subpixel,
    circles,
    is_visible,
    subpixel,
    to_fixed_point,
)
from vision.pose.projection import Points
from vision.scene.label_buffer import LabelBuffer

Array = npt.NDArray[np.float32]
Spectra = npt.NDArray[np.complex64]

OUTERMOST = 0.9
"""Radius up to which a face is unrolled, as a share of its own: beyond it the rim's shading begins.  Chosen by eye."""

RADII = (np.arange(GLYPH_RADII) + 0.5) / GLYPH_RADII * OUTERMOST

BRIGHTEST = 1.5
"""Values are clipped here, as a share of the wood's: a lamp's mirror image says nothing of the character.  Chosen by
eye."""

SPREAD = 0.22
"""Standard deviation of a value against its template: blur, shadows, a middle a little off.  Chosen by eye."""

FAINTER = 0.3
"""Standard deviation of a faint character's contrast about its template's, as a share of it.  Chosen by eye."""

INDEPENDENT_MM2 = 12.0
"""Area over which errors are correlated: strokes are two to three millimetres wide.  Chosen by eye."""

ERROR_MM2 = SPREAD**2 * INDEPENDENT_MM2
"""Integral of squared differences over a face, in mm², that costs half a nat."""

NEAR_MM = 0.4
"""Displacement up to which a face changes linearly, since strokes are wider.  Chosen by eye."""

CENTRED_MM = 0.8
"""Standard deviation, each way, of a face's middle about where its circles have it.  Chosen by eye."""

FINEST = 31
"""Highest frequency round a face that is compared; beyond it pictures hold only noise.  Chosen by eye."""

_NEXT = np.uint64(3)
"""From a code to that of the pixel to the right."""

_TURN = 2 * np.pi * np.outer(np.arange(GLYPH_ANGLES), np.arange(FINEST + 1)) / GLYPH_ANGLES
_TO_WAVES = np.concatenate([np.cos(_TURN), -np.sin(_TURN)], axis=1).astype(np.float32)
_TWICE = np.where(np.arange(FINEST + 1) > 0, 2, 1)[:, None] / GLYPH_ANGLES
_FROM_WAVES = np.concatenate([np.cos(_TURN).T * _TWICE, -np.sin(_TURN).T * _TWICE]).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Alphabet:
    """The templates of a set, ready for comparison.

    Attributes:
        letters: of the pieces (l).
        spectra: (frequencies, 3 · radii, l) complex64 over the angle: of −2 times how much darker than wood the
            templates are, in red and in green, and of the sum of the squares of that.
    """

    letters: tuple[str, ...]
    spectra: Spectra

    def numbers(self, letters: Sequence[str | None]) -> npt.NDArray[np.intp]:
        """(k,) number of the template of each of some letters (k), -1 for None."""
        return np.array([-1 if letter is None else self.letters.index(letter) for letter in letters], np.intp)


def unrolled(image: npt.NDArray[np.uint8], faces: Faces) -> list[Glyph]:
    """Each (radii, angles, 2) uint8: red and green of a face as a share of its wood, :data:`BRIGHTEST` being 255.

    ``image``: (height, width, 3) uint8 BGR, in which nothing occludes the faces.
    """
    shares = np.rint(_unrolled(image, nothing_before(image), faces) * (255 / BRIGHTEST)).astype(np.uint8)
    return [share.transpose(1, 2, 0).tobytes() for share in shares]


def nothing_before(image: npt.NDArray[np.uint8]) -> LabelBuffer:
    """The label buffer (height, width) uint16 of a picture (height, width, 3) in which nothing occludes a face."""
    return np.zeros(image.shape[:2], np.uint16)


def make_alphabet(glyphs: Mapping[str, Glyph]) -> Alphabet:
    """The templates of the characters that an enrolment learned."""
    codes = np.frombuffer(b"".join(glyphs.values()), np.uint8).reshape(-1, GLYPH_RADII, GLYPH_ANGLES, 2)
    darker = 1 - (codes * np.float32(BRIGHTEST / 255)).transpose(0, 3, 1, 2)
    kinds = np.concatenate([-2 * darker, (darker**2).sum(axis=1, keepdims=True)], axis=1)
    spectra = _waves(kinds).reshape(len(codes), -1, FINEST + 1)
    return Alphabet(tuple(glyphs), np.ascontiguousarray(spectra.transpose(2, 1, 0)))


def compare(
    image: npt.NDArray[np.uint8], faces: Faces, labels: LabelBuffer, alphabet: Alphabet, *, is_faint: bool = False
) -> tuple[Array, Faces]:
    """Log-likelihood of each character on each face, at its likeliest rotation and displacement.

    Args:
        image: (height, width, 3) uint8, BGR.
        faces: (f).
        labels: (height, width) uint16; pixels of nearer cells do not count.
        alphabet: (l) characters.
        is_faint: whether faces mirror a lamp, which takes contrast from their characters: that is then fitted.

    Returns:
        (f, l) float32; and the faces displaced as suits the likeliest character on each.
    """
    likely, steps_mm = _compared(image, faces, labels, alphabet, is_faint=is_faint)
    # The linear approximation holds only near the place at which a face was sampled.
    far = np.flatnonzero(np.hypot(*steps_mm.T) > NEAR_MM)
    if len(far):
        likely[far], more_mm = _compared(image, faces.moved(steps_mm).of(far), labels, alphabet, is_faint=is_faint)
        steps_mm[far] += more_mm
    return likely, faces.moved(steps_mm)


def blank(image: npt.NDArray[np.uint8], faces: Faces, labels: LabelBuffer) -> Array:
    """(f,) float32 log-likelihood of bare wood on each face, comparable to that of characters by :func:`compare`."""
    return _squares(image, labels, faces) / np.float32(-2 * ERROR_MM2)


def _compared(
    image: npt.NDArray[np.uint8], faces: Faces, labels: LabelBuffer, alphabet: Alphabet, *, is_faint: bool
) -> tuple[Array, Points]:
    """(f, l) float32 log-likelihood of each character, and (f, 2) float64 mm displacement of the likeliest one.

    For each rotation, the displacement is found by least squares from the gradients of the face (Lucas and Kanade,
    1981); so is the contrast of faint characters (ridge regression).
    """
    sampled, integrals = _sample(image, labels, faces)
    waves = _waves(sampled)
    np.conj(waves, out=waves)
    darker = alphabet.spectra[:, : 2 * GLYPH_RADII]
    # For all rotations at once: the sum of squared differences, and its gradient by the displacement.
    falls = _correlate(waves[:, 3:].reshape(len(sampled), 2, 2, GLYPH_RADII, -1), darker)
    if is_faint:
        squares, contrast = _fit_contrast(waves[:, None, :3], alphabet.spectra)
        falls *= contrast[:, None]
    else:
        squares = _correlate(waves[:, None, :3], alphabet.spectra)[:, 0]
    return _place(squares, falls, integrals)


def _fit_contrast(waves: Spectra, spectra: Spectra) -> tuple[Array, Array]:
    """Sum of squared differences, less the squares of the face alone, at the best contrast; and that contrast.

    Both (f, l, rotations) float32.  ``waves``: (f, 1, 3, radii, frequencies) complex64, conjugate spectra of the first
    three channels of :func:`_sample`; ``spectra`` of :class:`Alphabet`.
    """
    darker, squared = np.split(spectra, [2 * GLYPH_RADII], axis=1)
    usual = np.float32(ERROR_MM2 / FAINTER**2)
    alike = usual - np.float32(0.5) * _correlate(waves[:, :, :2], darker)[:, 0]
    contrast = alike / (_correlate(waves[:, :, 2:], squared)[:, 0] + usual)
    return usual - contrast * alike, contrast


def _correlate(waves: Spectra, spectra: Spectra) -> Array:
    """(f, k, l, angles) float32 circular correlation of faces with characters rotated by each angle.

    Args:
        waves: (f, k, channels, radii, frequencies) complex64, conjugate spectra of faces.
        spectra: (frequencies, channels · radii, l) complex64, of the characters.
    """
    shape = waves.shape[:2]
    rows = waves.reshape(shape[0] * shape[1], -1, FINEST + 1)
    product = np.matmul(np.ascontiguousarray(rows.transpose(2, 0, 1)), spectra).transpose(1, 2, 0)
    correlation: Array = np.concatenate([product.real, product.imag], axis=2) @ _FROM_WAVES
    return correlation.reshape(*shape, -1, GLYPH_ANGLES)


@compiled
def _place(squares: Array, falls: Array, integrals: Array) -> tuple[Array, Points]:
    """Log-likelihood of each character at its likeliest rotation and displacement, and that of the likeliest one.

    Args:
        squares: (f, l, rotations) float32 mm², sum of squared differences without displacement, less the squares of
            the face alone.
        falls: (f, 2, l, rotations) float32 mm, twice the template's part of the sum of weight · gradient · difference,
            with gradients along x and along y.
        integrals: (f, 6) float32, see :func:`_sample`.

    Returns:
        (f, l) float32, and (f, 2) float64 mm.
    """
    count, letters, turns = squares.shape
    likely, steps_mm = np.empty((count, letters), np.float32), np.zeros((count, 2))
    usual = ERROR_MM2 / CENTRED_MM**2
    for face in range(count):
        alone, x_falling, y_falling, x_curved, both, y_curved = integrals[face]
        x_curved, y_curved = x_curved + usual, y_curved + usual
        size = x_curved * y_curved - both * both
        across, diagonal, down = y_curved / size, -both / size, x_curved / size
        nearest = np.inf
        for letter in range(letters):
            least = np.inf
            for turn in range(turns):
                x_fall = falls[face, 0, letter, turn] / 2 + x_falling
                y_fall = falls[face, 1, letter, turn] / 2 + y_falling
                x_mm, y_mm = across * x_fall + diagonal * y_fall, diagonal * x_fall + down * y_fall
                square = alone + squares[face, letter, turn] - x_fall * x_mm - y_fall * y_mm
                least = min(least, square)
                if square < nearest:
                    nearest = square
                    steps_mm[face, 0], steps_mm[face, 1] = -x_mm, -y_mm
            likely[face, letter] = least / (-2 * ERROR_MM2)
    return likely, steps_mm


@compiled
def _sample(image: Picture, labels: LabelBuffer, faces: Faces) -> tuple[Array, Array]:
    """Faces in polar coordinates, as how much darker than wood they are, with gradients; weighted by visible area.

    Returns:
        (f, 7, radii, angles) float32, each times the weight (mm²): red, green, 1, gradient of red and of green along x,
        of red and of green along y (1/mm).  And (f, 6) float32 sums, over places and channels, of the weight times:
        value², x gradient · value, y gradient · value, x gradient², x gradient · y gradient, y gradient².
    """
    count = len(faces.radii_mm)
    sampled = np.empty((count, 7, GLYPH_RADII, GLYPH_ANGLES), np.float32)
    codes, integrals = np.empty((3, 2, GLYPH_RADII, GLYPH_ANGLES), np.float32), np.empty((count, 6), np.float32)
    for face in range(count):
        _unroll(image, labels, faces, face, codes, sampled[face, 2])
        _to_shares(codes)
        integrals[face] = _weigh(codes.reshape(3, 2, -1), sampled[face].reshape(7, -1))
    return sampled, integrals


@compiled
def _squares(image: Picture, labels: LabelBuffer, faces: Faces) -> Array:
    """(f,) float32 the first sum of :func:`_sample`."""
    squares, weight = np.empty(len(faces.radii_mm), np.float32), np.empty((GLYPH_RADII, GLYPH_ANGLES), np.float32)
    codes = np.empty((3, 2, GLYPH_RADII, GLYPH_ANGLES), np.float32)
    for face in range(len(squares)):
        _unroll(image, labels, faces, face, codes, weight)
        square = 0.0
        for channel in range(2):
            shares, heavy = codes[0, channel].reshape(-1), weight.reshape(-1)
            wood = _wood(shares)
            for i in range(len(shares)):
                square += heavy[i] * (1 - np.float32(min(shares[i] / wood, BRIGHTEST))) ** 2
        squares[face] = square
    return squares


@compiled
def _unrolled(image: Picture, labels: LabelBuffer, faces: Faces) -> Array:
    """(f, 2, radii, angles) float32 red and green of faces as shares of their wood, 0…:data:`BRIGHTEST`."""
    shares = np.empty((len(faces.radii_mm), 2, GLYPH_RADII, GLYPH_ANGLES), np.float32)
    codes = np.empty((3, 2, GLYPH_RADII, GLYPH_ANGLES), np.float32)
    for face in range(len(shares)):
        _unroll(image, labels, faces, face, codes, np.empty((GLYPH_RADII, GLYPH_ANGLES), np.float32))
        _to_shares(codes)
        shares[face] = codes[0]
    return shares


@compiled
def _to_shares(codes: Array) -> None:
    """Divide codes and gradients (3, 2, radii, angles) float32 by the wood's codes; where clipped, gradients are 0."""
    flat = codes.reshape(3, 2, -1)
    for channel in range(2):
        values, x_slopes, y_slopes = flat[0, channel], flat[1, channel], flat[2, channel]
        wood, most, zero = _wood(values), np.float32(BRIGHTEST), np.float32(0)
        for i in range(len(values)):
            share, x_slope, y_slope = values[i] / wood, x_slopes[i] / wood, y_slopes[i] / wood
            is_clipped = share >= most
            values[i] = most if is_clipped else share
            x_slopes[i], y_slopes[i] = zero if is_clipped else x_slope, zero if is_clipped else y_slope


@compiled
def _wood(codes: Array) -> np.float32:
    """Code of bare wood among those of a face (k,), which are shares of it; 1 at least."""
    return np.float32(max(_quantile(codes, WOOD_PERCENTILE / 100), 1.0))


@compiled
def _weigh(shares: Array, sampled: Array) -> Array:
    """Fill in ``sampled`` (7, places) of one face, see :func:`_sample`, all but the weight; returns (6,) the sums.

    ``shares``: (3, 2, places) float32, see :func:`_to_shares`.
    """
    square, x_fall, y_fall, xx, xy, yy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for channel in range(2):
        values, x_slopes, y_slopes = shares[0, channel], shares[1, channel], shares[2, channel]
        for i in range(len(values)):
            heavy, darker, x, y = sampled[2, i], 1 - values[i], -x_slopes[i], -y_slopes[i]
            sampled[channel, i], sampled[3 + channel, i], sampled[5 + channel, i] = heavy * darker, heavy * x, heavy * y
            square, x_fall, y_fall = (
                square + heavy * darker**2,
                x_fall + heavy * x * darker,
                y_fall + heavy * y * darker,
            )
            xx, xy, yy = xx + heavy * x * x, xy + heavy * x * y, yy + heavy * y * y
    return np.array([square, x_fall, y_fall, xx, xy, yy], np.float32)


@compiled
def _quantile(codes: Array, share: float) -> float:
    """Quantile of ``codes`` (k,) float32 0…255, to a quarter of a code; ``share`` 0…1."""
    counts = np.zeros(4 * 256, np.int64)
    for code in codes:
        counts[min(int(code * 4), len(counts) - 1)] += 1
    left = share * len(codes)
    for number in range(len(counts)):
        left -= counts[number]
        if left <= 0:
            return (number + 0.5) / 4
    return 255.0


@compiled
def _unroll(image: Picture, labels: LabelBuffer, faces: Faces, face: int, codes: Array, weight: Array) -> None:
    """Resample one face in polar coordinates.

    Args:
        image: (height, width, 3) uint8, BGR.
        labels: (height, width) uint16.
        faces: of which one is resampled.
        face: its number.
        codes: (3, 2, radii, angles) float32, is overwritten: red and green codes, their gradients along x, along y
            (1/mm).
        weight: (radii, angles) float32, is overwritten: mm² that each place represents, 0 where it is occluded.
    """
    flat, flat_labels, width = image.reshape(-1), labels.reshape(-1), labels.shape[1]
    ring_mm2 = faces.radii_mm[face] ** 2 * 2 * np.pi * OUTERMOST / (GLYPH_RADII * GLYPH_ANGLES)
    to_picture = faces.to_picture[face]
    around = to_fixed_point(circles(to_picture, faces.radii_mm[face], RADII, DIRECTIONS) + faces.middles_px[face])
    for i in range(GLYPH_RADII):
        for j in range(GLYPH_ANGLES):
            place = subpixel(labels.shape, around[i, j, 0], around[i, j, 1])
            for number in range(2):
                code, across, down = _interpolate(flat, width, place, 2 - number)
                codes[0, number, i, j] = code
                codes[1, number, i, j] = across * to_picture[0, 0] + down * to_picture[1, 0]
                codes[2, number, i, j] = across * to_picture[0, 1] + down * to_picture[1, 1]
            counts = is_visible(flat_labels, width, place, faces.ranks[face])
            weight[i, j] = ring_mm2 * RADII[i] if counts else 0


@compiled
def _interpolate(codes: FlatPicture, width: int, place: Subpixel, channel: int) -> tuple[float, float, float]:
    """Bilinear code of one channel of a flattened picture, and its gradient to the right and down (1/px)."""
    row, column, down, right = place
    # Unsigned: Numba tests every signed index for being negative.
    up = np.uint64((row * width + column) * 3 + channel)
    under = np.uint64(up + np.uint64(3 * width))
    a, b = float(codes[up]), float(codes[up + _NEXT])
    c, d = float(codes[under]), float(codes[under + _NEXT])
    low, far = down / ONE_PX, right / ONE_PX
    upper, lower = a + far * (b - a), c + far * (d - c)
    return upper + low * (lower - upper), (b - a) + low * ((d - c) - (b - a)), lower - upper


def _waves(values: Array) -> Spectra:
    """Spectra (…, frequencies) complex64 of real values (…, angles) float32."""
    spectra = np.ascontiguousarray(values) @ _TO_WAVES
    waves: Spectra = np.empty((*values.shape[:-1], FINEST + 1), np.complex64)
    waves.real, waves.imag = spectra[..., : FINEST + 1], spectra[..., FINEST + 1 :]
    return waves
