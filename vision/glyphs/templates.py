"""Which character lies uppermost: faces unrolled round their middles and held against those of the set's own picture.

Unrolled, a turned face is a shifted one, so all turns are tried at once by the Fourier transform (as in De Castro and
Morandi, Registration of translated and rotated images using finite Fourier transforms, 1987).  A face is compared as
a share of its own wood, red and green: light cancels, and red ink differs from black.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.looks import GLYPH_ANGLES, GLYPH_RADII, Glyph
from vision.compiled import compiled
from vision.glyphs.face_detection import DIRECTIONS, PARTS, Corner, Faces, Picture, circles, corner, is_seen, parts
from vision.pose.projection import Points
from vision.scene.label_buffer import LabelBuffer

Array = npt.NDArray[np.float32]
Spectra = npt.NDArray[np.complex64]

OUTERMOST = 0.9
"""Radius up to which a face is unrolled, as a share of its own: beyond it the rim's shading begins."""

RADII = (np.arange(GLYPH_RADII) + 0.5) / GLYPH_RADII * OUTERMOST

WOOD_PERCENTILE = 80.0
"""Ink covers less than half of a face, so this part of its brightness is bare wood."""

INK_PERCENTILE = 8.0
"""Ink covers at least a tenth of a face, so this part of its brightness is ink."""

BRIGHTEST = 1.5
"""Values are cut off here, as a share of the wood's: a lamp's mirror image says nothing of the character."""

SPREAD = 0.22
"""Standard deviation of a value against its template: blur, shadows, a middle found a little off."""

FAINTER = 0.3
"""Standard deviation of a faint character's contrast, as a share of that of its template."""

INDEPENDENT_MM2 = 12.0
"""Area over which strokes err together: strokes are two to three millimetres wide."""

ERROR_MM2 = SPREAD**2 * INDEPENDENT_MM2
"""Variance of the sum, over a face, of a square millimetre's differences."""

NEAR_MM = 0.4
"""So far round its middle a face changes evenly, for strokes are wider."""

CENTRED_MM = 0.8
"""Standard deviation of a face's middle from where it was found before, each way."""

FINEST = 31
"""Waves round the face beyond which a picture holds only noise: strokes are three of its sixty parts wide."""

_TURN = 2 * np.pi * np.outer(np.arange(GLYPH_ANGLES), np.arange(FINEST + 1)) / GLYPH_ANGLES
_TO_WAVES = np.concatenate([np.cos(_TURN), -np.sin(_TURN)], axis=1).astype(np.float32)
_TWICE = np.where(np.arange(FINEST + 1) > 0, 2, 1)[:, None] / GLYPH_ANGLES
_FROM_WAVES = np.concatenate([np.cos(_TURN).T * _TWICE, -np.sin(_TURN).T * _TWICE]).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Alphabet:
    """The characters of a set, ready to be compared.

    Attributes:
        letters: of the pieces.
        spectra: (waves, 3 * radii, l) over the angle, of -2 times how much darker than wood the templates are, red and
            green, and of the sum of the squares of that.
    """

    letters: tuple[str, ...]
    spectra: Spectra


def unrolled(image: npt.NDArray[np.uint8], faces: Faces) -> list[Glyph]:
    """Each (radii, angles, 2) uint8: red and green of a face as a share of its wood, :data:`BRIGHTEST` being 255."""
    shares = np.rint(_unrolled(image, nothing_before(image), faces) * (255 / BRIGHTEST)).astype(np.uint8)
    return [share.transpose(1, 2, 0).tobytes() for share in shares]


def nothing_before(image: npt.NDArray[np.uint8]) -> LabelBuffer:
    """What is nearest in a picture (height, width, 3) where nothing hides a face."""
    return np.zeros(image.shape[:2], np.uint16)


def make_alphabet(glyphs: Mapping[str, Glyph]) -> Alphabet:
    """The characters that an enrolment learned."""
    codes = np.frombuffer(b"".join(glyphs.values()), np.uint8).reshape(-1, GLYPH_RADII, GLYPH_ANGLES, 2)
    darker = 1 - (codes * np.float32(BRIGHTEST / 255)).transpose(0, 3, 1, 2)
    kinds = np.concatenate([-2 * darker, (darker**2).sum(axis=1, keepdims=True)], axis=1)
    spectra = _waves(kinds).reshape(len(codes), -1, FINEST + 1)
    return Alphabet(tuple(glyphs), np.ascontiguousarray(spectra.transpose(2, 1, 0)))


def compare(
    image: npt.NDArray[np.uint8], faces: Faces, labels: LabelBuffer, alphabet: Alphabet, *, is_faint: bool = False
) -> tuple[Array, Faces]:
    """(f, letters) log-likelihood of each character on each face, turned and placed as it suits best; faces so placed.

    ``labels``: what is nearest in each pixel; what is before a face hides it.  ``is_faint``: the faces mirror a lamp,
    which takes contrast from their characters.
    """
    likely, steps_mm = _compared(image, faces, labels, alphabet, is_faint=is_faint)
    # Farther off than it was sampled, a face is not known well enough.
    far = np.flatnonzero(np.hypot(*steps_mm.T) > NEAR_MM)
    if len(far):
        likely[far], more_mm = _compared(image, faces.moved(steps_mm).of(far), labels, alphabet, is_faint=is_faint)
        steps_mm[far] += more_mm
    return likely, faces.moved(steps_mm)


def blank(image: npt.NDArray[np.uint8], faces: Faces, labels: LabelBuffer) -> Array:
    """(f,) log-likelihood of there being nothing but bare wood, as :func:`compare` has that of characters."""
    _, integrals = _looked_at(image, labels, faces)
    return integrals[:, 0] / np.float32(-2 * ERROR_MM2)


def _compared(
    image: npt.NDArray[np.uint8], faces: Faces, labels: LabelBuffer, alphabet: Alphabet, *, is_faint: bool
) -> tuple[Array, Points]:
    """(f, letters) log-likelihood of each character on each face, and (f, 2) mm by which the likeliest lies elsewhere.

    Moved by a little, a face changes as its slopes say: where a character fits best is found by least squares
    (Lucas and Kanade, 1981), for each turn; so is the contrast of faint ones (ridge regression).
    """
    seen, integrals = _looked_at(image, labels, faces)
    waves = np.conj(_waves(seen))
    darker = alphabet.spectra[:, : 2 * GLYPH_RADII]
    # Every turn at once: what the squares of all differences come to, and how steeply that falls as the face is moved.
    falls = _turned(waves[:, 3:].reshape(len(seen), 2, 2, GLYPH_RADII, -1), darker)
    if is_faint:
        apart, contrast = _fitted(waves[:, None, :3], alphabet.spectra)
        falls *= contrast[:, None]
    else:
        apart = _turned(waves[:, None, :3], alphabet.spectra)[:, 0]
    return _placed(apart, falls, integrals)


def _fitted(waves: Spectra, spectra: Spectra) -> tuple[Array, Array]:
    """What the squares of all differences come to, less those of the face alone, and the contrast that suits best.

    Both (f, letters, turns).  ``waves``: (f, 1, 3, radii, waves), of the first three kinds of :func:`_looked_at`.
    """
    darker, squared = np.split(spectra, [2 * GLYPH_RADII], axis=1)
    usual = np.float32(ERROR_MM2 / FAINTER**2)
    alike = usual - np.float32(0.5) * _turned(waves[:, :, :2], darker)[:, 0]
    contrast = alike / (_turned(waves[:, :, 2:], squared)[:, 0] + usual)
    return usual - contrast * alike, contrast


def _turned(waves: Spectra, spectra: Spectra) -> Array:
    """(f, k, letters, angles) the sum over all places of what is seen times characters, turned by each angle.

    Args:
        waves: (f, k, channels, radii, waves) of what is seen, conjugate.
        spectra: (waves, channels * radii, letters) of the characters.
    """
    shape = waves.shape[:2]
    rows = waves.reshape(shape[0] * shape[1], -1, FINEST + 1)
    product = np.matmul(np.ascontiguousarray(rows.transpose(2, 0, 1)), spectra).transpose(1, 2, 0)
    turned: Array = np.concatenate([product.real, product.imag], axis=2) @ _FROM_WAVES
    return turned.reshape(*shape, -1, GLYPH_ANGLES)


@compiled
def _placed(apart: Array, falls: Array, integrals: Array) -> tuple[Array, Points]:
    """(f, letters) log-likelihood of each character turned and placed as suits it best, and the likeliest's place.

    Args:
        apart: (f, letters, turns) what the squares of all differences come to where the face was looked at, less those
            of the face alone.
        falls: (f, 2, letters, turns) twice how steeply that falls along x and y.
        integrals: (f, 6), see :func:`_looked_at`.

    Returns:
        also (f, 2) mm.
    """
    count, letters, turns = apart.shape
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
                square = alone + apart[face, letter, turn] - x_fall * x_mm - y_fall * y_mm
                least = min(least, square)
                if square < nearest:
                    nearest = square
                    steps_mm[face, 0], steps_mm[face, 1] = -x_mm, -y_mm
            likely[face, letter] = least / (-2 * ERROR_MM2)
    return likely, steps_mm


@compiled
def _looked_at(image: Picture, labels: LabelBuffer, faces: Faces) -> tuple[Array, Array]:
    """How much darker than wood each place of faces is, and how that changes; what is before a face hides it.

    Returns:
        (f, 7, radii, angles), weighed: red, green, the weight itself, how red and green change a mm along x, and along
        y; and (f, 6) weighed sums of squares, slopes along x and y times values, slopes along x squared, x times y, and
        y squared.
    """
    count = len(faces.radii_mm)
    seen = np.empty((count, 7, GLYPH_RADII, GLYPH_ANGLES), np.float32)
    codes, integrals = np.empty((3, 2, GLYPH_RADII, GLYPH_ANGLES), np.float32), np.empty((count, 6), np.float32)
    for face in range(count):
        _unroll(image, labels, faces, face, (codes, seen[face, 2]))
        _to_shares(codes)
        integrals[face] = _weigh(codes.reshape(3, 2, -1), seen[face].reshape(7, -1))
    return seen, integrals


@compiled
def _unrolled(image: Picture, labels: LabelBuffer, faces: Faces) -> Array:
    """(f, 2, radii, angles) red and green of faces as shares of their wood."""
    shares = np.empty((len(faces.radii_mm), 2, GLYPH_RADII, GLYPH_ANGLES), np.float32)
    codes = np.empty((3, 2, GLYPH_RADII, GLYPH_ANGLES), np.float32)
    for face in range(len(shares)):
        _unroll(image, labels, faces, face, (codes, np.empty((GLYPH_RADII, GLYPH_ANGLES), np.float32)))
        _to_shares(codes)
        shares[face] = codes[0]
    return shares


@compiled
def _to_shares(codes: Array) -> None:
    """Make codes and slopes (3, 2, radii, angles) of a face shares of its wood; where they are cut off, even."""
    flat = codes.reshape(3, 2, -1)
    for channel in range(2):
        wood = np.float32(max(_quantile(flat[0, channel], WOOD_PERCENTILE / 100), 1.0))
        for i in range(flat.shape[2]):
            share = flat[0, channel, i] / wood
            is_cut = share >= BRIGHTEST
            flat[0, channel, i] = BRIGHTEST if is_cut else share
            for axis in (1, 2):
                flat[axis, channel, i] = 0 if is_cut else flat[axis, channel, i] / wood


@compiled
def _weigh(shares: Array, seen: Array) -> Array:
    """Fill in what :func:`_looked_at` returns of one face, (7, places), but for the weight; (6,) the sums.

    ``shares``: (3, 2, places), see :func:`_to_shares`.
    """
    square, x_fall, y_fall, xx, xy, yy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for channel in range(2):
        values, x_slopes, y_slopes = shares[0, channel], shares[1, channel], shares[2, channel]
        for i in range(len(values)):
            heavy, darker, x, y = seen[2, i], 1 - values[i], -x_slopes[i], -y_slopes[i]
            seen[channel, i], seen[3 + channel, i], seen[5 + channel, i] = heavy * darker, heavy * x, heavy * y
            square, x_fall, y_fall = (
                square + heavy * darker**2,
                x_fall + heavy * x * darker,
                y_fall + heavy * y * darker,
            )
            xx, xy, yy = xx + heavy * x * x, xy + heavy * x * y, yy + heavy * y * y
    return np.array([square, x_fall, y_fall, xx, xy, yy], np.float32)


@compiled
def _quantile(codes: Array, share: float) -> float:
    """The code (0 to 255) below which a ``share`` of them are, to a quarter."""
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
def _unroll(image: Picture, labels: LabelBuffer, faces: Faces, face: int, out: tuple[Array, Array]) -> None:
    """Fill in ``out`` of one of the faces.

    That is (3, 2, radii, angles) red and green codes, and how they change a mm along x and y; and (radii, angles) what
    places count for: mm² of the face that each stands for, 0 where something before it hides it.
    """
    codes, weight = out
    rendered, width = labels.reshape(-1), labels.shape[1]
    ring_mm2 = faces.radii_mm[face] ** 2 * 2 * np.pi * OUTERMOST / (GLYPH_RADII * GLYPH_ANGLES)
    to_picture = faces.to_picture[face]
    around = parts(circles(to_picture, faces.radii_mm[face], RADII, DIRECTIONS) + faces.middles_px[face])
    for i in range(GLYPH_RADII):
        for j in range(GLYPH_ANGLES):
            place = corner(labels.shape, around[i, j, 0], around[i, j, 1])
            for number, channel in enumerate((2, 1)):
                code, across, down = _sloping(image, place, channel)
                codes[0, number, i, j] = code
                codes[1, number, i, j] = across * to_picture[0, 0] + down * to_picture[1, 0]
                codes[2, number, i, j] = across * to_picture[0, 1] + down * to_picture[1, 1]
            is_shown = is_seen(rendered, width, place, faces.ranks[face])
            weight[i, j] = ring_mm2 * RADII[i] if is_shown else 0


@compiled
def _sloping(image: Picture, place: Corner, channel: int) -> tuple[float, float, float]:
    """Bilinear code of one channel, and how it changes a pixel to the right and a pixel down."""
    row, column, down, right = place
    a, b = float(image[row, column, channel]), float(image[row, column + 1, channel])
    c, d = float(image[row + 1, column, channel]), float(image[row + 1, column + 1, channel])
    low, far = down / PARTS, right / PARTS
    upper, lower = a + far * (b - a), c + far * (d - c)
    return upper + low * (lower - upper), (b - a) + low * ((d - c) - (b - a)), lower - upper


def _waves(values: Array) -> Spectra:
    """Spectra (…, waves) of real values (…, angles)."""
    spectra = np.ascontiguousarray(values) @ _TO_WAVES
    waves: Spectra = spectra[..., : FINEST + 1] + np.complex64(1j) * spectra[..., FINEST + 1 :]
    return waves
