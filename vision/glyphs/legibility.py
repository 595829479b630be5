"""Faces that are found and read at once: a character that explains most of a face tells that there is one.

What cannot be read is looked at again as in even light, and what fits nowhere is searched for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vision.glyphs.face_detection import PLACED_MM, centred
from vision.glyphs.faces import Faces, offsets_mm
from vision.glyphs.local_light import evenly_lit
from vision.glyphs.templates import Alphabet, blank, compare
from vision.pose.projection import Points
from vision.scene.label_buffer import LabelBuffer

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]

FITS = -10.0
"""Log-likelihood above which a character fits, whatever it explains.  Where none does or explains most of a face,
fainter ones are tried: a fitted contrast suits what is no face, too."""

OBSERVATIONS = 88.0
"""Independent observations on a face: its area in two channels, by ``vision.glyphs.templates.INDEPENDENT_MM2``."""

USUAL_MISFIT = 5.0
"""Log-likelihood, negative, of the right character on a face that is seen well."""

MOSTLY = float(OBSERVATIONS / 2 * np.log(2.0))
"""A character explains more than half of what differs from bare wood: in five folders of the collection 95 of 100 right
ones explain more than 0.62 of it, and nothing on 150 empty cells more than 0.42.  Dark ink that a webcam sharpens
differs from its template by much, but by more from wood."""

FACE_FOUND = 4.0
"""Log-likelihood ratio from which on the middle of a face is taken to be known."""

LOG_DISTINCT = float(np.log(0.95))
"""Log-probability from which on a character is told from all others.  Chosen by eye."""

WIDE_STEP_MM = 1.6
WIDE_MM = np.array([(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)]) * WIDE_STEP_MM
"""Steps by which the middle of a face that fits nowhere is tried elsewhere; what lies between them, comparing finds."""

REFINED = 3
"""Steps of least squares after which the middle of such a face stays within a few hundredths of a millimetre."""


class Found(NamedTuple):
    """The likeliest faces of some cells (b).

    Attributes:
        faces: where they are.
        how_likely: (b,) float64, log-likelihood ratio of their middles; see :func:`.face_detection.centred`, or of the
            character that explains most of one.
        letters: (b, letters) float32, log-likelihood of each character.
        is_legible: (b,) bool, whether the likeliest one fits.
    """

    faces: Faces
    how_likely: Points
    letters: Array
    is_legible: Mask


def read_faces(
    image: Picture, straight: Faces, owner: Indices, labels: LabelBuffer, alphabet: Alphabet
) -> tuple[Found, Indices]:
    """The likeliest face of each of some cells (b).

    Args:
        image: (height, width, 3) uint8, BGR.
        straight: (k) the faces of all heights that are in question, undisplaced.
        owner: (k,) whose each is, from 0, in order.
        labels: (height, width) uint16.
        alphabet: of the set.

    Returns:
        The faces; and the numbers of those that could be read as in even light only.
    """
    found = _find(image, straight, owner, labels, alphabet)
    unclear = np.flatnonzero(~found.is_legible | (_distinct(found.letters) < LOG_DISTINCT))
    if not len(unclear):
        return found, unclear
    again = _find(*_in_even_light(image, straight, owner, unclear), labels, alphabet)
    is_better = again.is_legible & (_distinct(again.letters) > _distinct(found.letters[unclear]))
    evened = unclear[is_better]
    for before, after in zip(_columns(found), _columns(again), strict=True):
        before[evened] = after[is_better]
    return found, evened


def _in_even_light(image: Picture, straight: Faces, owner: Indices, cells: Indices) -> tuple[Picture, Faces, Indices]:
    """The picture as in even light, and those faces, with the numbers of their owners, that are of some ``cells``."""
    mine = np.flatnonzero(np.isin(owner, cells))
    faces = straight.of(mine)
    return evenly_lit(image, faces), faces, np.searchsorted(cells, owner[mine])


def _columns(found: Found) -> tuple[npt.NDArray[Any], ...]:
    """All that is known of each cell, an array for each thing."""
    return (*found.faces, found.how_likely, found.letters, found.is_legible)


def _distinct(letters: Array) -> Array:
    """(k,) log-probability of the likeliest one of all characters (k, letters)."""
    likeliest: Array = letters.max(axis=1) - np.logaddexp.reduce(letters, axis=1)
    return likeliest


def character_gain(image: Picture, straight: Faces, owner: Indices, labels: LabelBuffer, alphabet: Alphabet) -> Array:
    """(b,) float32 log-likelihood ratio of the likeliest character on each cell against bare wood; 0 for none.

    Args: as of :func:`read_faces`, of cells where it is in doubt whether anything stands.
    """
    gain = _gain(image, straight, owner, labels, alphabet)
    unseen = np.flatnonzero(gain == 0)
    if len(unseen):
        gain[unseen] = _gain(*_in_even_light(image, straight, owner, unseen), labels, alphabet)
    return gain


def _gain(image: Picture, straight: Faces, owner: Indices, labels: LabelBuffer, alphabet: Alphabet) -> Array:
    """As :func:`character_gain`, in the light that there is."""
    rings, observations = centred(image, straight, labels)
    chosen, _ = _likeliest(rings, straight, observations, owner)
    usual, placed = compare(image, rings.of(chosen), labels, alphabet)
    faint, _ = compare(image, rings.of(chosen), labels, alphabet, is_faint=True)
    fits, bare = np.maximum(usual, faint).max(axis=1), blank(image, placed, labels)
    gain: Array = np.maximum(fits - bare - np.float32(np.log(len(alphabet.letters))), 0)
    return np.where(_explains_most(fits, bare), gain, np.float32(0))


def _find(image: Picture, straight: Faces, owner: Indices, labels: LabelBuffer, alphabet: Alphabet) -> Found:
    """As :func:`read_faces`, in the light that there is."""
    rings, observations = centred(image, straight, labels)
    chosen, how_likely = _likeliest(rings, straight, observations, owner)
    letters, faces = compare(image, rings.of(chosen), labels, alphabet)
    fits = letters.max(axis=1)
    legible = fits >= FITS
    # A character that explains most of a face tells where it is, though its ring does not.
    unsure = np.flatnonzero(~legible | (how_likely < FACE_FOUND))
    how_well = _explained(fits[unsure], blank(image, faces.of(unsure), labels))
    legible[unsure] |= how_well > MOSTLY
    how_likely[unsure] = np.where(how_well > MOSTLY, how_well, how_likely[unsure])
    pale = np.flatnonzero(~legible)
    if len(pale):
        faint, placed = compare(image, rings.of(chosen[pale]), labels, alphabet, is_faint=True)
        fitting = _explains_most(faint.max(axis=1), blank(image, placed, labels))
        letters[pale[fitting]], legible[pale[fitting]] = faint[fitting], True
    return Found(faces, how_likely, letters, legible)


def _likeliest(rings: Faces, straight: Faces, observations: Array, owner: Indices) -> tuple[Indices, Points]:
    """Which of the rings (k) that were found for each cell's heights is likeliest its face, and how likely that is.

    ``owner`` (k,) numbers the cells from 0.
    """
    apart = ((offsets_mm(straight, rings) / PLACED_MM) ** 2).sum(axis=2)
    nearest = np.where(owner[:, None] == owner, apart, np.inf).min(axis=1)
    placed = np.where(owner == np.arange(owner[-1] + 1)[:, None], observations - nearest / 2, -np.inf)
    return placed.argmax(axis=1), placed.max(axis=1)


def _explains_most(fits: Array, bare: Array) -> Mask:
    """(k,) whether the likeliest characters, which fit so well, explain most of faces; see :func:`_explained`."""
    legible: Mask = _explained(fits, bare) > MOSTLY
    return legible


def _explained(fits: Array, bare: Array) -> Array:
    """(k,) log-likelihood ratio of the likeliest characters (k,) of faces against ``bare`` (k,) wood.

    How far values scatter is not known here, as in noise or across the edge of a shadow, and is fitted to each.
    """
    ratio: Array = (OBSERVATIONS / 2 * np.log((USUAL_MISFIT - bare) / (USUAL_MISFIT - fits))).astype(np.float32)
    return ratio


def search_face(
    image: Picture, straight: Faces, labels: LabelBuffer, alphabet: Alphabet, scores: Array
) -> tuple[Faces, Array, float]:
    """A face round which a shadow or a lamp's mirror image misled: where some character explains most.

    Args:
        image: (height, width, 3) uint8, BGR; also looked at as in even light, if need be.
        straight: (k) the faces of all heights, undisplaced.
        labels: (height, width) uint16.
        alphabet: of the set.
        scores: (k,) of the heights.

    Returns:
        The face; (letters,) how well each fits; and how much the best one explains, see :func:`_explained`.
    """
    found = _search(image, straight, labels, alphabet, scores)
    if found[2] > MOSTLY:
        return found
    evened = _search(evenly_lit(image, straight), straight, labels, alphabet, scores)
    return evened if evened[2] > found[2] else found


def _search(
    image: Picture, straight: Faces, labels: LabelBuffer, alphabet: Alphabet, scores: Array
) -> tuple[Faces, Array, float]:
    """As :func:`search_face`, in the light that there is."""
    rings, _ = centred(image, straight, labels)
    height = np.repeat(np.arange(len(scores)), len(WIDE_MM))
    tried = rings.of(height).moved(np.tile(WIDE_MM, (len(scores), 1)))
    rows, placed = compare(image, tried, labels, alphabet, is_faint=True)
    how_well = _explained(rows.max(axis=1), blank(image, placed, labels))
    apart = np.linalg.solve(placed.to_picture, (placed.centres_px - straight.of(height).centres_px)[..., None])[..., 0]
    best = int((how_well + scores[height] - ((apart / PLACED_MM) ** 2).sum(axis=1) / 2).argmax())
    face, letters = placed.of(np.array([best])), rows[[best]]
    for _ in range(REFINED):
        letters, face = compare(image, face, labels, alphabet, is_faint=True)
    return face, letters[0], float(_explained(letters.max(axis=1), blank(image, face, labels))[0])
