"""Template matching of characters: faces unrolled about their centres, compared with those of the enrolment.

In polar coordinates a rotation is a shift, so all rotations are correlated at once by the Fourier transform (as in De
Castro and Morandi, Registration of translated and rotated images using finite Fourier transforms, 1987).  Values are
shares of the face's own bare wood, red and green: light cancels, and red ink differs from black.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.appearance import GLYPH_ANGLES, GLYPH_RADII, Glyph
from vision.compiled import compiled
from vision.glyphs.faces import Faces
from vision.glyphs.unrolling import BRIGHTEST, sample, shares_of, squares_of
from vision.pose.projection import Points
from vision.scene.label_buffer import LabelBuffer

Array = npt.NDArray[np.float32]
Spectra = npt.NDArray[np.complex64]

VALUE_DEVIATION = 0.22
"""Standard deviation of a value about its template's: blur, shadows, a misplaced centre.  Chosen by eye."""

CONTRAST_DEVIATION = 0.3
"""Standard deviation of a faint character's contrast about its template's, as a share of it.  Chosen by eye."""

INDEPENDENT_MM2 = 12.0
"""Area over which errors are correlated: strokes are two to three millimetres wide.  Chosen by eye."""

ERROR_MM2 = VALUE_DEVIATION**2 * INDEPENDENT_MM2
"""Integral of squared differences over a face, in mm², that costs half a nat."""

NEAR_MM = 0.4
"""Displacement up to which a face changes linearly, since strokes are wider.  Chosen by eye."""

CENTRE_DEVIATION_MM = 0.8
"""Standard deviation, along each axis, of a face's centre about that of its circles.  Chosen by eye."""

MAX_FREQUENCY = 31
"""Highest angular frequency that is compared; beyond it pictures contain only noise.  Chosen by eye."""

_FREQUENCIES = (MAX_FREQUENCY + 1) // 2
"""Number of even, and of odd, frequencies: each needs half of the sums below (radix-2 Fourier transform)."""
_HALF = GLYPH_ANGLES // 2
_ORDER = np.arange(MAX_FREQUENCY + 1).reshape(_FREQUENCIES, 2).T
"""(2, frequencies) the even and the odd ones."""
_TURN = 2 * np.pi / GLYPH_ANGLES * _ORDER[:, :, None] * np.arange(_HALF)
_WAVES = np.stack([np.cos(_TURN), -np.sin(_TURN)], axis=2)
"""(2, frequencies, 2, half the angles): real and imaginary parts."""
_TO_WAVES = _WAVES.reshape(2, 2 * _FREQUENCIES, _HALF).astype(np.float32)
_TWICE = np.where(_ORDER > 0, 2, 1)[..., None, None] / GLYPH_ANGLES
_FROM_WAVES = (_TWICE * _WAVES).reshape(2, 2 * _FREQUENCIES, _HALF).swapaxes(1, 2).astype(np.float32)

_COMPARED = tuple(slice(first * GLYPH_RADII, end * GLYPH_RADII) for first, end in ((0, 2), (2, 3), (3, 5), (5, 7)))
"""Which channels of :func:`.unrolling.sample` are compared: how dark a face is, weight, gradients along x and y."""

BATCH_SIZE = 8
"""Number of faces compared at once: the data of more would not fit in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Alphabet:
    """The templates of a set, ready for comparison.

    Attributes:
        letters: of the pieces (l).
        compared: for each of :data:`_COMPARED`, (2, frequencies, 2 · l, 2 · channels · radii) float32: the matrix from
            real and imaginary parts of a face's spectrum to those of its correlation with each character.  Darkness and
            gradients are correlated with −2 times the templates' darkness relative to wood, in red and in green; the
            weight with the sum of squares of that darkness.
        ring_mm: radius of the ring round the characters; None where there is none, or it is not known.
    """

    letters: tuple[str, ...]
    compared: tuple[Array, ...]
    ring_mm: float | None

    def numbers(self, letters: Sequence[str | None]) -> npt.NDArray[np.intp]:
        """(k,) number of the template of each of some letters (k), -1 for None."""
        return np.array([-1 if letter is None else self.letters.index(letter) for letter in letters], np.intp)


def unrolled(image: npt.NDArray[np.uint8], faces: Faces) -> list[Glyph]:
    """Unrolled faces, each (radii, angles, 2) uint8: red and green as shares of its wood, :data:`BRIGHTEST` being 255.

    ``image``: (height, width, 3) uint8 BGR, in which nothing occludes the faces.
    """
    shares = np.rint(shares_of(image, empty_label_buffer(image), faces) * (255 / BRIGHTEST)).astype(np.uint8)
    return [share.transpose(1, 2, 0).tobytes() for share in shares]


def empty_label_buffer(image: npt.NDArray[np.uint8]) -> LabelBuffer:
    """The label buffer (height, width) uint16 of a picture (height, width, 3) in which nothing occludes a face."""
    return np.zeros(image.shape[:2], np.uint16)


def make_alphabet(glyphs: Mapping[str, Glyph], ring_mm: float | None = None) -> Alphabet:
    """The alphabet of the characters learned by an enrolment, with the radius of their ring."""
    codes = np.frombuffer(b"".join(glyphs.values()), np.uint8).reshape(-1, GLYPH_RADII, GLYPH_ANGLES, 2)
    darker = 1 - (codes * np.float32(BRIGHTEST / 255)).transpose(0, 3, 1, 2)
    dark, squared = _spectra(-2 * darker), _spectra((darker**2).sum(axis=1, keepdims=True))
    return Alphabet(tuple(glyphs), (dark, squared, dark, dark), ring_mm)


def _spectra(templates: Array) -> Array:
    """The matrices of :class:`Alphabet` for values (l, channels, radii, angles) float32."""
    front, back = np.split(templates.reshape(len(templates), -1, GLYPH_ANGLES).swapaxes(0, 1), 2, axis=2)
    waves = _waves(np.stack([front + back, front - back]))
    real, imaginary = np.split(waves.reshape(2, _FREQUENCIES, -1, len(templates)).swapaxes(2, 3), 2, axis=3)
    # The spectrum of a face is conjugate.
    matrices: Array = np.block([[real, imaginary], [imaginary, -real]])
    return matrices


def compare(
    image: npt.NDArray[np.uint8], faces: Faces, labels: LabelBuffer, alphabet: Alphabet, *, is_faint: bool = False
) -> tuple[Array, Faces]:
    """Log-likelihood of each character on each face, at its likeliest rotation and displacement.

    Args:
        image: (height, width, 3) uint8, BGR.
        faces: (f).
        labels: (height, width) uint16; pixels of nearer cells do not count.
        alphabet: (l) characters.
        is_faint: whether faces mirror a lamp, which reduces the contrast of their characters: it is then fitted.

    Returns:
        (f, l) float32; and the faces, displaced to fit the likeliest character on each.
    """
    return _compare(image, faces, labels, alphabet, (is_faint,))[0]


def compare_both(
    image: npt.NDArray[np.uint8], faces: Faces, labels: LabelBuffer, alphabet: Alphabet
) -> list[tuple[Array, Faces]]:
    """As :func:`compare`, for characters of full contrast and for faint ones."""
    return _compare(image, faces, labels, alphabet, (False, True))


def _compare(
    image: npt.NDArray[np.uint8], faces: Faces, labels: LabelBuffer, alphabet: Alphabet, contrasts: tuple[bool, ...]
) -> list[tuple[Array, Faces]]:
    """As :func:`compare`, with each value of ``is_faint`` in ``contrasts``."""
    compared = []
    for is_faint, (likely, steps_mm) in zip(
        contrasts, _log_likelihoods(image, faces, labels, alphabet, contrasts), strict=True
    ):
        # The linear approximation holds only near the centre about which a face was sampled.
        far = np.flatnonzero(np.hypot(*steps_mm.T) > NEAR_MM)
        if len(far):
            there = faces.displaced(steps_mm).select(far)
            ((likely[far], more_mm),) = _log_likelihoods(image, there, labels, alphabet, (is_faint,))
            steps_mm[far] += more_mm
        compared.append((likely, faces.displaced(steps_mm)))
    return compared


def bare_wood_log_likelihood(image: npt.NDArray[np.uint8], faces: Faces, labels: LabelBuffer) -> Array:
    """(f,) float32 log-likelihood of bare wood on each face, comparable to those of characters from :func:`compare`."""
    return squares_of(image, labels, faces) / np.float32(-2 * ERROR_MM2)


def _log_likelihoods(
    image: npt.NDArray[np.uint8], faces: Faces, labels: LabelBuffer, alphabet: Alphabet, contrasts: tuple[bool, ...]
) -> list[tuple[Array, Points]]:
    """(f, l) float32 log-likelihood of each character, and (f, 2) float64 mm displacement of the likeliest one.

    For each value of ``is_faint`` in ``contrasts``.  For each rotation, the displacement is found by least squares from
    the gradients of the face (Lucas and Kanade, 1981); so is the contrast of faint characters (ridge regression).
    """
    count = len(faces.ranks)
    found = [(np.empty((count, len(alphabet.letters)), np.float32), np.empty((count, 2))) for _ in contrasts]
    for first in range(0, count, BATCH_SIZE):
        here = slice(first, first + BATCH_SIZE)
        sampled, integrals = sample(image, labels, faces.select(np.arange(count)[here]))
        correlation = _correlate(sampled, alphabet)
        for is_faint, (likely, steps_mm) in zip(contrasts, found, strict=True):
            _place(correlation, integrals, is_faint, likely[here], steps_mm[here])
    return found


def _correlate(sampled: Array, alphabet: Alphabet) -> Array:
    """Circular correlation of faces (f) with characters (l) rotated by each angle.

    Args:
        sampled: (2, 7 · radii, f, half the angles) float32 from :func:`.unrolling.sample`.
        alphabet: of l characters.

    Returns:
        (4, 2, half the angles, l, f) float32, for each of :data:`_COMPARED`: the even and the odd part of half the
        rotations; their sum is the correlation at these, their difference that at the opposite ones.
    """
    count, letters = sampled.shape[2], len(alphabet.letters)
    products = np.empty((len(_COMPARED), 2, _FREQUENCIES, 2 * letters, count), np.float32)
    for number, (channels, spectra) in enumerate(zip(_COMPARED, alphabet.compared, strict=True)):
        waves = _waves(sampled[:, channels]).reshape(2, _FREQUENCIES, -1, count)
        np.matmul(spectra, waves, out=products[number])
    correlation: Array = _FROM_WAVES @ products.reshape(len(products), 2, 2 * _FREQUENCIES, letters * count)
    return correlation.reshape(len(products), 2, _HALF, letters, count)


@compiled
def _place(correlation: Array, integrals: Array, is_faint: bool, likely: Array, steps_mm: Points) -> None:  # noqa: FBT001
    """Maximise each character's log-likelihood over rotation and displacement.

    Args:
        correlation: (4, 2, half the angles, l, f) float32 mm² from :func:`_correlate`.
        integrals: (f, 6) float32, see :func:`.unrolling.sample`.
        is_faint: whether the contrast is fitted.
        likely: (f, l) float32, overwritten by the log-likelihoods.
        steps_mm: (f, 2) float64, overwritten by the displacements.
    """
    letters, count = correlation.shape[3:]
    lanes = letters * count
    parts, normal = correlation.reshape(4, 2, -1, lanes), _normal(integrals, letters)
    least, steps = np.full(lanes, np.inf, np.float32), np.zeros((2, lanes), np.float32)
    for turn in range(parts.shape[2]):
        for sign in (np.float32(1), np.float32(-1)):
            _fit(parts, turn, sign, normal, is_faint, least, steps)
    for face in range(count):
        nearest = face
        for letter in range(letters):
            lane = letter * count + face
            likely[face, letter] = least[lane] / np.float32(-2 * ERROR_MM2)
            nearest = lane if least[lane] < least[nearest] else nearest
        steps_mm[face, 0], steps_mm[face, 1] = steps[0, nearest], steps[1, nearest]


@compiled
def _normal(integrals: Array, letters: int) -> Array:
    """(6, l · f) float32 normal equations of each face, see :func:`.unrolling.sample`, repeated for all ``letters``.

    Sum of squares; gradient by x, by y; and the inverse of the normal matrix: its xx, xy and yy entries.
    """
    count, usual = len(integrals), ERROR_MM2 / CENTRE_DEVIATION_MM**2
    normal = np.empty((6, letters * count), np.float32)
    for face in range(count):
        alone, x_falling, y_falling, x_curved, both, y_curved = integrals[face]
        x_curved, y_curved = x_curved + usual, y_curved + usual
        size = x_curved * y_curved - both * both
        for lane in range(face, letters * count, count):
            normal[0, lane], normal[1, lane], normal[2, lane] = alone, x_falling, y_falling
            normal[3, lane], normal[4, lane], normal[5, lane] = y_curved / size, -both / size, x_curved / size
    return normal


@compiled
def _fit(
    parts: Array,
    turn: int,
    sign: np.float32,
    normal: Array,
    is_faint: bool,  # noqa: FBT001
    least: Array,
    steps_mm: Array,
) -> None:
    """Lower the ``least`` sums of squared differences to those at one rotation, where these are less.

    Args:
        parts: (4, 2, half the angles, lanes) float32 from :func:`_correlate`.
        turn: number of this rotation and the opposite one.
        sign: 1 for the former, -1 for the latter.
        normal: (6, lanes) from :func:`_normal`.
        is_faint: whether the contrast is fitted.
        least: (lanes,) float32 mm², is altered.
        steps_mm: (2, lanes) float32, displacements there, are altered.
    """
    half, usual = np.float32(0.5), np.float32(ERROR_MM2 / CONTRAST_DEVIATION**2)
    for i in range(len(least)):
        darker, weight = (
            parts[0, 0, turn, i] + sign * parts[0, 1, turn, i],
            parts[1, 0, turn, i] + sign * parts[1, 1, turn, i],
        )
        x_fall, y_fall = (
            parts[2, 0, turn, i] + sign * parts[2, 1, turn, i],
            parts[3, 0, turn, i] + sign * parts[3, 1, turn, i],
        )
        square = darker + weight
        if is_faint:
            alike = usual - half * darker
            contrast = alike / (weight + usual)
            square, x_fall, y_fall = usual - contrast * alike, contrast * x_fall, contrast * y_fall
        x_fall, y_fall = half * x_fall + normal[1, i], half * y_fall + normal[2, i]
        x_mm, y_mm = normal[3, i] * x_fall + normal[4, i] * y_fall, normal[4, i] * x_fall + normal[5, i] * y_fall
        square = normal[0, i] + square - x_fall * x_mm - y_fall * y_mm
        is_less = square < least[i]
        least[i] = square if is_less else least[i]
        steps_mm[0, i], steps_mm[1, i] = -x_mm if is_less else steps_mm[0, i], -y_mm if is_less else steps_mm[1, i]


def _waves(opposite: Array) -> Array:
    """Spectra (2, 2 · frequencies, k · f) float32 of opposite points (2, k, f, half the angles): sums and differences.

    Even frequencies, from sums, and odd ones, from differences; of each the real and the imaginary part.
    """
    waves: Array = _TO_WAVES @ opposite.reshape(2, -1, _HALF).swapaxes(1, 2)
    return waves
