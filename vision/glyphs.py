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
from vision.faces import DIRECTIONS, PARTS, Corner, Faces, Picture, circles, corner, is_seen, parts
from vision.painting import Canvas
from vision.register import Points

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
    codes, _ = _unroll(image, nothing_before(image), faces)
    shares = np.rint(_shares(codes)[:, 0] * (255 / BRIGHTEST)).astype(np.uint8)
    return [share.transpose(1, 2, 0).tobytes() for share in shares]


def nothing_before(image: npt.NDArray[np.uint8]) -> Canvas:
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
    image: npt.NDArray[np.uint8], faces: Faces, canvas: Canvas, alphabet: Alphabet, *, is_faint: bool = False
) -> tuple[Array, Faces]:
    """(f, letters) log-likelihood of each character on each face, turned and placed as it suits best; faces so placed.

    ``canvas``: what is nearest in each pixel; what is before a face hides it.  ``is_faint``: the faces mirror a lamp,
    which takes contrast from their characters.
    """
    likely, steps_mm = _compared(image, faces, canvas, alphabet, is_faint=is_faint)
    # Farther off than it was sampled, a face is not known well enough.
    far = np.flatnonzero(np.hypot(*steps_mm.T) > NEAR_MM)
    if len(far):
        likely[far], more_mm = _compared(image, faces.moved(steps_mm).of(far), canvas, alphabet, is_faint=is_faint)
        steps_mm[far] += more_mm
    return likely, faces.moved(steps_mm)


def _compared(
    image: npt.NDArray[np.uint8], faces: Faces, canvas: Canvas, alphabet: Alphabet, *, is_faint: bool
) -> tuple[Array, Points]:
    """(f, letters) log-likelihood of each character on each face, and (f, 2) mm by which the likeliest lies elsewhere.

    Moved by a little, a face changes as its slopes say: where a character fits best is found by least squares
    (Lucas and Kanade, 1981), for each turn; so is the contrast of faint ones (ridge regression).
    """
    codes, weight = _unroll(image, canvas, faces)
    weighted, sloping, (squares, falling, curved) = _weighed(_shares(codes), weight)
    # Every turn at once: what the squares of all differences come to, and how steeply that falls as the face is moved.
    apart, contrast = _fitted(weighted, alphabet.spectra, is_faint=is_faint)
    apart += squares[:, None, None]
    falls = _turned(sloping, alphabet.spectra[:, : 2 * GLYPH_RADII]) * (contrast / 2)[:, None]  # f, 2, l, turns
    falls += falling[:, :, None, None]
    curved += np.eye(2, dtype=np.float32) * np.float32(ERROR_MM2 / CENTRED_MM**2)
    steps_mm = -np.einsum("fxy,fylt->fxlt", np.linalg.inv(curved), falls)
    apart += (falls * steps_mm).sum(axis=1)
    turns = apart.argmin(axis=2)
    likely = np.take_along_axis(apart, turns[:, :, None], axis=2)[:, :, 0] / (-2 * ERROR_MM2)
    best, every = likely.argmax(axis=1), np.arange(len(likely))
    return likely, np.asarray(steps_mm[every, :, best, turns[every, best]], np.float64)


def _fitted(weighted: Array, spectra: Spectra, *, is_faint: bool) -> tuple[Array, Array]:
    """What the squares of all differences come to, less those of the face alone, and the contrast that suits best.

    Both (f, letters, turns), or the contrast 1 for all.  ``weighted``: (f, 3, radii, angles), see :func:`_weighed`.
    """
    if not is_faint:
        return _turned(weighted[:, None], spectra)[:, 0], np.ones((1, 1, 1), np.float32)
    darker, squared = np.split(spectra, [2 * GLYPH_RADII], axis=1)
    usual = np.float32(ERROR_MM2 / FAINTER**2)
    alike = usual - np.float32(0.5) * _turned(weighted[:, None, :2], darker)[:, 0]
    contrast = alike / (_turned(weighted[:, None, 2:], squared)[:, 0] + usual)
    return usual - contrast * alike, contrast


def _turned(seen: Array, spectra: Spectra) -> Array:
    """(f, k, letters, angles) the sum over all places of ``seen`` times characters, turned by each angle.

    Args:
        seen: (f, k, channels, radii, angles).
        spectra: (waves, channels * radii, letters) of the characters.
    """
    shape = seen.shape[:2]
    waves = np.conj(_waves(seen)).reshape(shape[0] * shape[1], -1, FINEST + 1)
    product = np.matmul(np.ascontiguousarray(waves.transpose(2, 0, 1)), spectra).transpose(1, 2, 0)
    turned: Array = np.concatenate([product.real, product.imag], axis=2) @ _FROM_WAVES
    return turned.reshape(*shape, -1, GLYPH_ANGLES)


@compiled
def _shares(codes: Array) -> Array:
    """Codes and slopes (f, 3, 2, radii, angles) as shares of each face's wood; where they are cut off, even."""
    shares = np.empty_like(codes)
    flat, out = codes.reshape(len(codes), 3, 2, -1), shares.reshape(len(codes), 3, 2, -1)
    for face in range(len(codes)):
        for channel in range(2):
            wood = np.float32(max(_quantile(flat[face, 0, channel], WOOD_PERCENTILE / 100), 1.0))
            for i in range(flat.shape[3]):
                share = flat[face, 0, channel, i] / wood
                is_cut = share >= BRIGHTEST
                out[face, 0, channel, i] = BRIGHTEST if is_cut else share
                for axis in (1, 2):
                    out[face, axis, channel, i] = 0 if is_cut else flat[face, axis, channel, i] / wood
    return shares


@compiled
def _weighed(shares: Array, weight: Array) -> tuple[Array, Array, tuple[Array, Array, Array]]:
    """How much darker than wood faces are, of which the ``shares`` (f, 3, 2, radii, angles) are, weighed.

    ``weight``: (f, radii, angles) of each place.

    Returns:
        (f, 3, radii, angles) red, green and the weight itself; (f, 2, 2, radii, angles) the slopes along x and y; and
        the weighted sums (f,) of squares, (f, 2) of slopes times values, (f, 2, 2) of slopes times slopes.
    """
    count, places = len(shares), GLYPH_RADII * GLYPH_ANGLES
    weighted = np.empty((count, 3, GLYPH_RADII, GLYPH_ANGLES), np.float32)
    sloping = np.empty((count, 2, 2, GLYPH_RADII, GLYPH_ANGLES), np.float32)
    squares, falling, curved = np.zeros(count, np.float32), np.zeros((count, 2), np.float32), np.zeros((count, 2, 2))
    shown, weights = shares.reshape(count, 3, 2, places), weight.reshape(count, places)
    out, slopes = weighted.reshape(count, 3, places), sloping.reshape(count, 2, 2, places)
    for face in range(count):
        out[face, 2] = weights[face]
        for channel in range(2):
            of, square, x_fall, y_fall, xx, xy, yy = shown[face, :, channel], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for i in range(places):
                heavy, darker, x, y = weights[face, i], 1 - of[0, i], -of[1, i], -of[2, i]
                out[face, channel, i] = heavy * darker
                slopes[face, 0, channel, i], slopes[face, 1, channel, i] = heavy * x, heavy * y
                square, x_fall, y_fall = (
                    square + heavy * darker**2,
                    x_fall + heavy * x * darker,
                    y_fall + heavy * y * darker,
                )
                xx, xy, yy = xx + heavy * x * x, xy + heavy * x * y, yy + heavy * y * y
            squares[face] += square
            falling[face] += np.array([x_fall, y_fall])
            curved[face] += np.array([[xx, xy], [xy, yy]])
    return weighted, sloping, (squares, falling, curved.astype(np.float32))


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
def _unroll(image: Picture, canvas: Canvas, faces: Faces) -> tuple[Array, Array]:
    """Red and green codes of faces, how they change a mm along x and y, and what places count for.

    Returns:
        (f, 3, 2, radii, angles), and (f, radii, angles): mm² of a face that each place stands for, 0 where something
        before it hides it.
    """
    count = len(faces.radii_mm)
    painted, width = canvas.reshape(-1), canvas.shape[1]
    codes = np.empty((count, 3, 2, GLYPH_RADII, GLYPH_ANGLES), np.float32)
    weight = np.zeros((count, GLYPH_RADII, GLYPH_ANGLES), np.float32)
    for face in range(count):
        ring_mm2 = faces.radii_mm[face] ** 2 * 2 * np.pi * OUTERMOST / (GLYPH_RADII * GLYPH_ANGLES)
        to_picture = faces.to_picture[face]
        around = parts(circles(to_picture, faces.radii_mm[face], RADII, DIRECTIONS) + faces.middles_px[face])
        for i in range(GLYPH_RADII):
            for j in range(GLYPH_ANGLES):
                place = corner(canvas.shape, around[i, j, 0], around[i, j, 1])
                for number, channel in enumerate((2, 1)):
                    code, across, down = _sloping(image, place, channel)
                    codes[face, 0, number, i, j] = code
                    for axis in range(2):
                        slope = across * to_picture[0, axis] + down * to_picture[1, axis]
                        codes[face, 1 + axis, number, i, j] = slope
                if is_seen(painted, width, place, faces.ranks[face]):
                    weight[face, i, j] = ring_mm2 * RADII[i]
    return codes, weight


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
