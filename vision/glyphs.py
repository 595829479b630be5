"""Which character lies uppermost: faces unrolled round their middles and held against those of the set's own picture.

Unrolled, a turned face is a shifted one, so all turns are tried at once by the Fourier transform (as in De Castro and
Morandi, Registration of translated and rotated images using finite Fourier transforms, 1987).  A face is compared as
a share of its own wood, red and green: light cancels, and red ink differs from black.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from calibration.looks import GLYPH_ANGLES, GLYPH_RADII, Glyph
from vision.faces import Face, places, sample, seen
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

INDEPENDENT_MM2 = 12.0
"""Area over which strokes err together: strokes are two to three millimetres wide."""

TRIED_MM = np.array([(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)]) * 0.4
"""Steps by which the middle of a face is tried elsewhere."""

FINEST = 36
"""Waves round the face beyond which a picture holds only noise: strokes are three of its sixty parts wide."""

_TURN = 2j * np.pi * np.outer(np.arange(GLYPH_ANGLES), np.arange(FINEST + 1)) / GLYPH_ANGLES
_TO_WAVES = np.concatenate([np.cos(_TURN.imag), -np.sin(_TURN.imag)], axis=1).astype(np.float32)
_FROM_WAVES = (np.exp(_TURN).T * np.where(np.arange(FINEST + 1) > 0, 2, 1)[:, None] / GLYPH_ANGLES).astype(np.complex64)


@dataclass(frozen=True, eq=False)
class Alphabet:
    """The characters of a set, ready to be compared: spectra over the angle.

    Attributes:
        letters: of the pieces.
        values: (l, radii, waves, 2), of the templates.
        squares: (l, radii, waves), of the sum of their squares.
    """

    letters: tuple[str, ...]
    values: Spectra
    squares: Spectra


def unrolled(image: npt.NDArray[np.uint8], face: Face) -> Glyph:
    """(radii, angles, 2) uint8: red and green of a face as a share of its wood, :data:`BRIGHTEST` being 255."""
    shares = _shares(sample(image, places([face], np.zeros((1, 2)), RADII)))
    glyph: Glyph = np.rint(shares[0, 0] * (255 / BRIGHTEST)).astype(np.uint8).tobytes()
    return glyph


def make_alphabet(glyphs: Mapping[str, Glyph]) -> Alphabet:
    """The characters that an enrolment learned."""
    codes = np.frombuffer(b"".join(glyphs.values()), np.uint8).reshape(-1, GLYPH_RADII, GLYPH_ANGLES, 2)
    templates = codes * np.float32(BRIGHTEST / 255)
    return Alphabet(tuple(glyphs), _waves(templates, 2), _waves((templates**2).sum(axis=3), 2))


def compare(
    image: npt.NDArray[np.uint8],
    faces: Sequence[Face],
    ranks: npt.NDArray[np.uint8],
    alphabet: Alphabet,
    steps_mm: Points = TRIED_MM,
) -> tuple[Array, list[Face]]:
    """(f, letters) log-likelihood of each character on each face, turned and placed as it suits best; faces so placed.

    ``ranks`` (height, width) is that of whatever is nearest in each pixel: what is before a face hides it.  The middles
    are tried moved by ``steps_mm`` (s, 2), the first by nothing.
    """
    at = places(faces, steps_mm, RADII)
    shares = _shares(sample(image, at))
    weight = _weights(at, ranks, faces)
    own = (weight * (shares**2).sum(axis=4)).sum(axis=(2, 3))  # f, s
    seen, where = np.conj(_waves(weight[..., None] * shares, 3)), np.conj(_waves(weight, 3))
    cross = np.einsum("fsrbc,lrbc->fslb", seen, alphabet.values, optimize=True)
    square = np.einsum("fsrb,lrb->fslb", where, alphabet.squares, optimize=True)
    apart = np.real((square - 2 * cross) @ _FROM_WAVES).min(axis=3) + own[..., None]
    likely = np.asarray(-apart / (2 * SPREAD**2 * INDEPENDENT_MM2), np.float32)  # f, s, l
    steps = steps_mm[likely.max(axis=2).argmax(axis=1)]
    placed = [
        replace(face, middle_px=face.middle_px + face.to_picture @ step)
        for face, step in zip(faces, steps, strict=True)
    ]
    return likely.max(axis=1), placed


def _shares(codes: Array) -> Array:
    """(f, s, radii, angles, 2) red and green as a share of each face's wood, of codes (f, s, radii, angles, 3)."""
    values = codes[..., 2:0:-1]
    wood = np.percentile(values[:, 0].reshape(len(values), -1, 2), WOOD_PERCENTILE, axis=1).astype(np.float32)
    return np.minimum(values / np.maximum(wood, 1)[:, None, None, None], np.float32(BRIGHTEST))


def _weights(at: Array, ranks: npt.NDArray[np.uint8], faces: Sequence[Face]) -> Array:
    """(f, s, radii, angles) mm² of a face that each place stands for, 0 where something before it hides it."""
    area = np.array([face.radius_mm**2 for face in faces])[:, None, None, None] * (
        2 * np.pi * RADII * OUTERMOST / (GLYPH_RADII * GLYPH_ANGLES)
    ).reshape(-1, 1)
    return (area * seen(at, ranks, faces)).astype(np.float32)


def _waves(values: Array, axis: int) -> Spectra:
    """Spectra of real values over the angle, which is ``axis``."""
    flat = np.ascontiguousarray(np.moveaxis(values, axis, -1))
    spectra = flat.reshape(-1, GLYPH_ANGLES) @ _TO_WAVES
    waves = (spectra[:, : FINEST + 1] + 1j * spectra[:, FINEST + 1 :]).astype(np.complex64)
    return np.moveaxis(waves.reshape(*flat.shape[:-1], FINEST + 1), -1, axis)
