"""Joint detection and reading of faces: a character that explains most of a face is evidence that there is one.

What cannot be read is tried again with its light evened out, and what fits nowhere is searched for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vision.glyphs.face_choice import (
    ELSEWHERE_MM,
    FACE_FOUND,
    HALF_EXPLAINED_NATS,
    OBSERVATIONS,
    USUAL_MISFIT,
    Candidates,
    Rings,
    candidate_rings,
    choose_rings,
    exclude_claimed_rings,
    explained_log_ratio,
    explains_most,
    likeliest_candidates,
    likeliest_faces,
)
from vision.glyphs.face_detection import PLACED_MM, centre_faces
from vision.glyphs.face_visibility import visible_shares
from vision.glyphs.faces import Faces, distances_mm
from vision.glyphs.local_light import flatten_illumination
from vision.glyphs.templates import Alphabet, bare_wood_log_likelihood, compare, compare_both
from vision.pose.projection import Points
from vision.scene.label_buffer import LabelBuffer

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]

MIN_FIT_NATS = -10.0
"""Log-likelihood above which a character fits, whatever it explains.  Only where none fits or explains most of a face
are faint ones tried: a fitted contrast suits what is no face, too."""

POOR_FIT_NATS = -5.0
"""Log-likelihood below which a character that is not clearly the likeliest is looked for nearby: the edge of a shadow
draws the most even ring 2 mm aside, and so three quite legible faces of two sets were read wrongly.  With -3 the same
are read, and as with it 311 other pictures with characters as before."""

MIN_FAINT_NATS = 10.0
"""Log-likelihood ratio against bare wood above which a faint character that fits identifies a face's character, though
it is no evidence that there is a face.  Beside a window that all faces mirrored the contrast of red ink on pink wood
was four tenths of its template's: right ones had 11 to 23."""

MAX_COUNTER_EVIDENCE = 10.0
"""Largest log-likelihood ratio of bare wood against a piece: every piece has a character, but in noise, or where a lamp
is mirrored, none may fit.  Chosen by eye."""

UNREADABLE_PROBABILITY = 0.1
"""Probability that a face's character is invisible, as in glare or where a stack in front was drawn beside its place.
Of 0.02, 0.1 and 0.5 the truth was likeliest with this in seventeen sets, 54.5 to 43.5 nats."""

FAINT_PROBABILITY = 0.5
"""Probability that ink is fainter than it was at enrolment, where no character of usual contrast explains more than
bare wood.  Of 0.1 and 0.5 the truth was likeliest with this on 50 sets and boards, by 0.4 nats."""

MIN_VISIBLE = 0.05
"""Least share of a face that counts as visible."""

MIN_LOG_PROBABILITY = float(np.log(0.95))
"""Log-probability from which on a character counts as identified.  Chosen by eye."""

WIDE_STEP_MM = 1.6
WIDE_MM = np.array([(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)]) * WIDE_STEP_MM
"""Displacements at which the centre of a face that fits nowhere is tried; comparing characters interpolates."""

REFINEMENT_STEPS = 3
"""Steps of least squares after which the centre of such a face stays within a few hundredths of a millimetre."""


class FaceReadings(NamedTuple):
    """The likeliest faces of some cells (b).

    Attributes:
        faces: where they are.
        centre_log_ratio: (b,) float64, log-likelihood ratio of their centres, see :func:`.face_detection.centre_faces`,
            less the offset from their place, or of the character that explains most of one.
        letters: (b, letters) float32, log-likelihood of each character.
        is_legible: (b,) bool, whether the likeliest one fits, or explains most of the face.
        is_rival: (b,) bool, whether the face was chosen by its character, not its ring.
    """

    faces: Faces
    centre_log_ratio: Points
    letters: Array
    is_legible: Mask
    is_rival: Mask


class FoundFace(NamedTuple):
    """A face that was searched for.

    Attributes:
        face: where it is (1).
        letters: (letters,) float32, log-likelihood of each character.
        explains: how much the likeliest one explains, see :func:`.face_choice.explained_log_ratio`.
        gain: its log-likelihood ratio against bare wood in the light in which it was found, from :func:`face_gain`.
    """

    face: Faces
    letters: Array
    explains: float
    gain: float


def read_faces(
    image: Picture, candidates: Candidates, labels: LabelBuffer, alphabet: Alphabet
) -> tuple[FaceReadings, Indices]:
    """The likeliest face of each of some cells (b).

    Args:
        image: (height, width, 3) uint8, BGR.
        candidates: the faces of all heights in question.
        labels: (height, width) uint16.
        alphabet: of the set.

    Returns:
        The faces; and the numbers of those that were read with their light evened out.
    """
    rings = candidate_rings(image, candidates, labels, alphabet)
    held = likeliest_faces(rings, candidates)
    found = _find(image, exclude_claimed_rings(rings, candidates, held, np.arange(len(held.is_face))), labels, alphabet)
    unclear = np.flatnonzero(~found.is_legible | (log_confidence(found.letters) < MIN_LOG_PROBABILITY))
    if not len(unclear):
        return found, unclear
    some = candidates.select(unclear)
    even = flatten_illumination(image, some.undisplaced)
    again = _find(
        even,
        exclude_claimed_rings(candidate_rings(even, some, labels, alphabet), some, held, unclear),
        labels,
        alphabet,
    )
    is_as_taken = _read_as_taken(image, again, labels, alphabet)
    before = _clearness(found.letters[unclear], visible_shares(labels, found.faces.select(unclear)))
    is_better = again.is_legible & (_clearness(again.letters, visible_shares(labels, again.faces)) > before)
    better = unclear[is_better]
    for column, instead in zip(_columns(found), _columns(again), strict=True):
        column[better] = instead[is_better]
    return found, unclear[is_better & ~is_as_taken]


def _read_as_taken(image: Picture, again: FaceReadings, labels: LabelBuffer, alphabet: Alphabet) -> Mask:
    """Read those faces that were found ``again`` in evened light in the original light, where that is clearer.

    Evened light gives their places, but may take contrast from strokes.  (b,) whether they are read in original light.
    """
    letters, faces = compare(image, again.faces, labels, alphabet, is_faint=True)
    is_clearer = explains_most(letters.max(axis=1), bare_wood_log_likelihood(image, faces, labels))
    visible = visible_shares(labels, faces)
    is_clearer &= _clearness(letters, visible) > _clearness(again.letters, visible)
    again.letters[is_clearer], again.is_legible[is_clearer] = letters[is_clearer], True
    return is_clearer


def _columns(found: FaceReadings) -> tuple[npt.NDArray[Any], ...]:
    """All arrays of ``found``, each with one entry per cell."""
    return (*found.faces, found.centre_log_ratio, found.letters, found.is_legible, found.is_rival)


def log_confidence(letters: Array) -> Array:
    """(k,) log-probability of the likeliest of all characters (k, letters)."""
    log_p: Array = letters.max(axis=1) - np.logaddexp.reduce(letters, axis=1)
    return log_p


def _clearness(letters: Array, visible: Array) -> Array:
    """(k,) the same, given the scatter about it, see :func:`scaled_by_scatter`: what fits badly is not clear for that.

    ``visible`` (k,): share of each face that is visible.
    """
    return log_confidence(scaled_by_scatter(letters, visible))


def character_gain(
    image: Picture, candidates: Candidates, labels: LabelBuffer, alphabet: Alphabet, others: Faces
) -> tuple[Array, Array, Faces]:
    """Evidence for a face on each cell from the likeliest character or ring, and where that face is.

    Args: as for :func:`read_faces`, of cells where it is in doubt whether anything stands; and ``others`` (m), faces of
        stacks that surely stand elsewhere: what is printed there is no evidence here.

    Returns:
        (b,) float32 log-likelihood ratio against bare wood, positive only where a character explains most of a face, or
        a ring of the set's radius is found; at least -:data:`MAX_COUNTER_EVIDENCE`; (b,) the same of faces at other
        places than that, at most 0; and the faces (b).
    """
    gain, otherwise, faces = _gain(image, candidates, labels, alphabet, others)
    unseen = np.flatnonzero(gain <= 0)
    if len(unseen):
        some = candidates.select(unseen)
        again, rest, elsewhere = _gain(flatten_illumination(image, some.undisplaced), some, labels, alphabet, others)
        is_better = again > gain[unseen]
        gain[unseen[is_better]], otherwise[unseen[is_better]] = again[is_better], rest[is_better]
        faces.put(unseen[is_better], elsewhere.select(np.flatnonzero(is_better)))
    return gain, otherwise, faces


def bare_faces(image: Picture, faces: Faces, labels: LabelBuffer, is_evened: Mask) -> Array:
    """(b,) float32 log-likelihood of bare wood on ``faces`` (b), in evened light where ``is_evened`` (b,)."""
    bare = np.empty(len(is_evened), np.float32)
    for numbers, lit in _in_their_light(image, faces, is_evened, np.arange(len(is_evened))):
        bare[numbers] = bare_wood_log_likelihood(lit, faces.select(numbers), labels)
    return bare


def _in_their_light(
    image: Picture, faces: Faces, is_evened: Mask, numbers: Indices
) -> Iterator[tuple[Indices, Picture]]:
    """Those of the ``numbers`` (k,) of ``faces`` (b) that were read as taken, or in evened light, and the picture."""
    as_taken, evened = numbers[~is_evened[numbers]], numbers[is_evened[numbers]]
    if len(as_taken):
        yield as_taken, image
    if len(evened):
        yield evened, flatten_illumination(image, faces.select(evened))


def with_faint_ones(
    image: Picture, found: FaceReadings, labels: LabelBuffer, alphabet: Alphabet, bare: Array, is_evened: Mask
) -> Array:
    """(b, letters) log-likelihood of each character on the ``found`` faces (b), which may also be in fainter ink.

    That is asked where bare wood, of log-likelihood ``bare`` (b,) in the light in which they were read, fits better
    than any character of usual contrast.
    """
    letters = found.letters.copy()
    pale = np.flatnonzero(bare > letters.max(axis=1))
    for numbers, lit in _in_their_light(image, found.faces, is_evened, pale):
        faint, _ = compare(lit, found.faces.select(numbers), labels, alphabet, is_faint=True)
        letters[numbers] = np.logaddexp(letters[numbers], faint + np.float32(np.log(FAINT_PROBABILITY)))
    return letters


def face_gain(letters: Array, bare: Array) -> Array:
    """(b,) float32 as :func:`character_gain`, for faces that were found; 0 where no character explains most.

    ``letters`` (b, letters) and ``bare`` (b,): log-likelihood of each character, and of bare wood (:func:`bare_faces`).
    """
    fits = letters.max(axis=1, initial=-np.inf)
    gain: Array = np.where(explains_most(fits, bare), fits - bare - np.float32(np.log(letters.shape[1])), 0)
    return np.maximum(gain, 0)


def with_unreadable(letters: Array, bare: Array) -> Array:
    """(b, letters) log-likelihood of each character, which may also be invisible, and then looks like bare wood.

    ``letters`` and ``bare``: see :func:`face_gain`.
    """
    told: Array = np.logaddexp(letters, bare[:, None] + np.float32(np.log(UNREADABLE_PROBABILITY)))
    return told


def scaled_by_scatter(letters: Array, visible: Array) -> Array:
    """(b, letters) log-likelihoods of characters, scaled to the scatter of what is seen about the likeliest one.

    That is unknown: the ink of a set may be strong or faint, a character hardly fit, or perfectly.  It is fitted, as in
    :func:`.face_choice.explained_log_ratio`, by as many observations as there are on the ``visible`` share (b,) of a
    face, times that share: the less of it is visible, the better some rotation and displacement suit any character.
    With that power, 2, of 1 to 3 the truth was likeliest on 3,845 faces of 32 sets and boards.
    """
    best, share = letters.max(axis=1, keepdims=True), np.maximum(visible, MIN_VISIBLE)[:, None] ** 2
    scaled: Array = letters * (OBSERVATIONS / 2 * share / (USUAL_MISFIT * share - best)).astype(np.float32)
    return scaled


def _gain(
    image: Picture, candidates: Candidates, labels: LabelBuffer, alphabet: Alphabet, others: Faces
) -> tuple[Array, Array, Faces]:
    """As :func:`character_gain`, in the original light."""
    seen = candidate_rings(image, candidates, labels, alphabet)
    theirs = np.asarray((distances_mm(seen.faces, others) < ELSEWHERE_MM).any(axis=0))
    rings, placed, known = seen.without(theirs)
    # Characters decide which of several rings is a face; where there is none, the most even one is tried.
    cells = np.arange(len(placed))
    asked = placed > FACE_FOUND
    asked[cells, placed.argmax(axis=1)] = True
    cell, ring = np.nonzero(asked)
    (usual, found), (faint, _) = compare_both(image, rings.select(ring), labels, alphabet)
    fits, bare = np.maximum(usual, faint).max(axis=1), bare_wood_log_likelihood(image, found, labels)
    how_likely = np.full(known.shape, -np.inf)
    how_well = explained_log_ratio(fits, bare)
    how_likely[cell, ring] = known[cell, ring] + np.clip(how_well, 0, HALF_EXPLAINED_NATS)
    chosen = how_likely.argmax(axis=1)
    best = np.searchsorted(cell * len(candidates.scores) + ring, cells * len(candidates.scores) + chosen)
    by_character: Array = np.maximum(fits[best] - bare[best] - np.float32(np.log(len(alphabet.letters))), 0)
    # Bare wood where another height has its face is no evidence about the likeliest one.
    unlike, elsewhere = compare(image, rings.select(likeliest_candidates(candidates)), labels, alphabet)
    otherwise = by_ring = _as_bare(unlike, bare_wood_log_likelihood(image, elsewhere, labels))
    if alphabet.ring_mm is not None:
        above = (placed[cells, chosen] - FACE_FOUND).astype(np.float32)
        by_ring = np.where(above > 0, above + _as_bare(usual[best], bare[best]), otherwise)
    is_free, explains = np.isfinite(placed[cells, chosen]), how_well[best] > HALF_EXPLAINED_NATS
    gain = np.where(is_free, np.where(explains, by_character, by_ring), 0)
    return gain, np.where(is_free & ~explains, otherwise, 0), found.select(best)


def _as_bare(letters: Array, bare: Array) -> Array:
    """(k,) log-likelihood ratio, at most 0, of the best of ``letters`` (k, letters) against ``bare`` wood (k,)."""
    against: Array = np.clip(letters.max(axis=1) - bare, -MAX_COUNTER_EVIDENCE, 0)
    return against


def _find(image: Picture, seen: Rings, labels: LabelBuffer, alphabet: Alphabet) -> FaceReadings:
    """As :func:`read_faces`, in the light of the given picture, among the rings ``seen``."""
    chosen, is_rival, letters, faces = choose_rings(image, seen, labels, alphabet)
    how_likely = seen.placed[np.arange(len(chosen)), chosen]
    fits = letters.max(axis=1)
    legible = fits >= MIN_FIT_NATS
    # A character that explains most of a face locates it even if its ring does not.
    unsure = np.flatnonzero(~legible | (how_likely < FACE_FOUND))
    how_well = explained_log_ratio(fits[unsure], bare_wood_log_likelihood(image, faces.select(unsure), labels))
    legible[unsure] |= how_well > HALF_EXPLAINED_NATS
    how_likely[unsure] = np.where(how_well > HALF_EXPLAINED_NATS, how_well, how_likely[unsure])
    pale = np.flatnonzero(~legible)
    if len(pale):
        faint, refined = compare(image, seen.faces.select(chosen[pale]), labels, alphabet, is_faint=True)
        fits = faint.max(axis=1)
        how_well = explained_log_ratio(fits, bare_wood_log_likelihood(image, refined, labels))
        legible[pale[how_well > HALF_EXPLAINED_NATS]] = True
        told = (how_well > HALF_EXPLAINED_NATS) | ((how_well > MIN_FAINT_NATS) & (fits >= MIN_FIT_NATS))
        letters[pale[told]] = faint[told]
    poor = (legible & (letters.max(axis=1) < MIN_FIT_NATS)) | _fits_poorly(letters)
    moved = _search_nearby(image, labels, alphabet, (letters, faces), np.flatnonzero(poor))
    legible[moved] |= letters[moved].max(axis=1) >= MIN_FIT_NATS
    remains = np.flatnonzero(poor & (_fits_poorly(letters) | ~legible))
    _search_faint_nearby(image, labels, alphabet, (letters, faces), remains)
    return FaceReadings(faces, how_likely, letters, legible, is_rival)


def _fits_poorly(letters: Array) -> Mask:
    """(b,) where a character of ``letters`` (b, letters) fits poorly that is not clearly the likeliest."""
    poorly: Mask = (letters.max(axis=1) < POOR_FIT_NATS) & (log_confidence(letters) < MIN_LOG_PROBABILITY)
    return poorly


def _search_nearby(
    image: Picture, labels: LabelBuffer, alphabet: Alphabet, found: tuple[Array, Faces], poor: Indices
) -> Indices:
    """Move faces ``found``, with the log-likelihoods of their characters, to where some character fits better.

    ``poor`` (b,): those whose character does not fit well, as noise or an edge misled its ring.  Returns those moved.
    """
    letters, faces = found
    if not len(poor):
        return poor
    rows, placed, worth = _best_nearby(image, labels, alphabet, faces.select(poor), is_faint=False)
    is_better = worth > letters[poor].max(axis=1)
    letters[poor[is_better]] = rows[is_better]
    moved: Indices = poor[is_better]
    faces.put(moved, placed.select(np.flatnonzero(is_better)))
    return moved


def _search_faint_nearby(
    image: Picture, labels: LabelBuffer, alphabet: Alphabet, found: tuple[Array, Faces], poor: Indices
) -> None:
    """As :func:`_search_nearby`, for faint characters: one that is clearer there is taken, if it explains enough.

    More than bare wood does, and than any character of usual contrast.
    """
    letters, faces = found
    if not len(poor):
        return
    rows, placed, _ = _best_nearby(image, labels, alphabet, faces.select(poor), is_faint=True)
    fits = rows.max(axis=1)
    otherwise = np.maximum(bare_wood_log_likelihood(image, placed, labels), letters[poor].max(axis=1))
    visible = visible_shares(labels, placed)
    is_clearer = _clearness(rows, visible) > _clearness(letters[poor], visible)
    is_told = is_clearer & (explained_log_ratio(fits, otherwise) > MIN_FAINT_NATS) & (fits >= MIN_FIT_NATS)
    letters[poor[is_told]] = rows[is_told]
    faces.put(poor[is_told], placed.select(np.flatnonzero(is_told)))


def _best_nearby(
    image: Picture, labels: LabelBuffer, alphabet: Alphabet, faces: Faces, *, is_faint: bool
) -> tuple[Array, Faces, Points]:
    """For each of some ``faces`` (b) the likeliest place on a wide grid about it.

    Returns:
        (b, letters) float32 log-likelihoods of characters there; the faces (b); and (b,) the log-likelihood of the best
        character, less the negative log-prior of the place.
    """
    rows, placed = compare(image, _on_wide_grid(faces), labels, alphabet, is_faint=is_faint)
    off = _off_place_nats(placed, np.repeat(faces.centres_px, len(WIDE_MM), axis=0))
    worth = (rows.max(axis=1) - off).reshape(len(faces.ranks), -1)
    best = len(WIDE_MM) * np.arange(len(worth)) + worth.argmax(axis=1)
    return rows[best], placed.select(best), worth.max(axis=1)


def search_face(image: Picture, straight: Faces, labels: LabelBuffer, alphabet: Alphabet, scores: Array) -> FoundFace:
    """The face on which some character explains most, where a shadow or a lamp's mirror image misled the detection.

    Args:
        image: (height, width, 3) uint8, BGR; its light is evened out if need be.
        straight: (k) the faces of all heights, undisplaced.
        labels: (height, width) uint16.
        alphabet: of the set.
        scores: (k,) of the heights.
    """
    found = _search(image, straight, labels, alphabet, scores)
    if found.explains > HALF_EXPLAINED_NATS:
        return found
    evened = _search(flatten_illumination(image, straight), straight, labels, alphabet, scores)
    return evened if evened.explains > found.explains else found


def _search(image: Picture, straight: Faces, labels: LabelBuffer, alphabet: Alphabet, scores: Array) -> FoundFace:
    """As :func:`search_face`, in the light of the given picture."""
    rings, _ = centre_faces(image, straight, labels, alphabet.ring_mm)
    height = np.repeat(np.arange(len(scores)), len(WIDE_MM))
    rows, placed = compare(image, _on_wide_grid(rings), labels, alphabet, is_faint=True)
    how_well = explained_log_ratio(rows.max(axis=1), bare_wood_log_likelihood(image, placed, labels))
    off = _off_place_nats(placed, straight.select(height).centres_px)
    best = int((how_well + scores[height] - off).argmax())
    face, letters = placed.select(np.array([best])), rows[[best]]
    for _ in range(REFINEMENT_STEPS):
        letters, face = compare(image, face, labels, alphabet, is_faint=True)
    bare = bare_wood_log_likelihood(image, face, labels)
    explains, gain = explained_log_ratio(letters.max(axis=1), bare), face_gain(letters, bare)
    return FoundFace(face, letters[0], float(explains[0]), float(gain[0]))


def _on_wide_grid(faces: Faces) -> Faces:
    """Each of some faces (k) displaced by all of :data:`WIDE_MM`, one after the other."""
    count = len(faces.ranks)
    return faces.select(np.repeat(np.arange(count), len(WIDE_MM))).displaced(np.tile(WIDE_MM, (count, 1)))


def _off_place_nats(faces: Faces, places_px: Points) -> Points:
    """(k,) negative log-prior, up to a constant, of ``faces`` (k) expected at ``places_px`` (k, 2)."""
    nats: Points = ((faces.offset_mm(places_px) / PLACED_MM) ** 2).sum(axis=1) / 2
    return nats
