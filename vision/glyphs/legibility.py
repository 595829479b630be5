"""Faces that are found and read at once: a character that explains most of a face tells that there is one.

What cannot be read is looked at again as in even light, and what fits nowhere is searched for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vision.glyphs.face_detection import PLACED_MM, centred
from vision.glyphs.faces import Faces, distances_mm, offsets_mm
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

ELSEWHERE_MM = 3.0 * PLACED_MM
"""Distance from which on two rings are those of two faces, and a face is none of a height whose straight place is so
far: three standard deviations of a face's place."""

RIVAL_NATS = 30.0
"""A ring elsewhere that is less likely than the best one by more than this is not read: what a character explains
counts for no more, see :data:`MOSTLY`."""

MOST_AGAINST = 10.0
"""Log-likelihood ratio by which bare wood speaks against a piece at most: every piece has a character, but in noise, or
where a lamp is mirrored, none may fit.  Chosen by eye."""

UNREADABLE = 0.1
"""Probability that nothing is seen of a face's character, as in glare or where a stack in front was drawn beside its
place.  Of 0.02, 0.1 and 0.5 the truth was likeliest with this in seventeen sets, 54.5 to 43.5 nats."""

LOG_DISTINCT = float(np.log(0.95))
"""Log-probability from which on a character is told from all others.  Chosen by eye."""

WIDE_STEP_MM = 1.6
WIDE_MM = np.array([(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)]) * WIDE_STEP_MM
"""Steps by which the middle of a face that fits nowhere is tried elsewhere; what lies between them, comparing finds."""

REFINED = 3
"""Steps of least squares after which the middle of such a face stays within a few hundredths of a millimetre."""


class Candidates(NamedTuple):
    """Faces (k) that those of some cells (b) may be.

    Attributes:
        straight: of all heights that are in question, undisplaced.
        owner: (k,) whose each is, from 0, in order.
        scores: (k,) log-likelihoods of the heights: the ring of a stack behind is as good a ring.
    """

    straight: Faces
    owner: Indices
    scores: Array

    def of(self, cells: Indices) -> Candidates:
        """Those of some ``cells`` (c,), in order, which are numbered from 0 then."""
        mine = np.flatnonzero(np.isin(self.owner, cells))
        return Candidates(self.straight.of(mine), np.searchsorted(cells, self.owner[mine]), self.scores[mine])


class Found(NamedTuple):
    """The likeliest faces of some cells (b).

    Attributes:
        faces: where they are.
        how_likely: (b,) float64, log-likelihood ratio of their middles; see :func:`.face_detection.centred`, or of the
            character that explains most of one.
        letters: (b, letters) float32, log-likelihood of each character.
        is_legible: (b,) bool, whether the likeliest one fits.
        is_rival: (b,) bool, whether its character, not its ring, tells which face is the cell's.
    """

    faces: Faces
    how_likely: Points
    letters: Array
    is_legible: Mask
    is_rival: Mask


class _Rings(NamedTuple):
    """Rings (k) that were found for the candidates of some cells (b), and how likely they are: see :func:`_likely`."""

    faces: Faces
    placed: Points
    known: Points


class _Held(NamedTuple):
    """Rings of some cells (b) at their likeliest heights, and (b,) whether each of these is a face."""

    faces: Faces
    is_face: Mask


def read_faces(
    image: Picture, candidates: Candidates, labels: LabelBuffer, alphabet: Alphabet
) -> tuple[Found, Indices]:
    """The likeliest face of each of some cells (b).

    Args:
        image: (height, width, 3) uint8, BGR.
        candidates: the faces of all heights that are in question.
        labels: (height, width) uint16.
        alphabet: of the set.

    Returns:
        The faces; and the numbers of those that could be read as in even light only.
    """
    rings = _rings(image, candidates, labels, alphabet)
    held = _held(rings, candidates)
    found = _find(image, _left(rings, candidates, held, np.arange(len(held.is_face))), labels, alphabet)
    unclear = np.flatnonzero(~found.is_legible | (_distinct(found.letters) < LOG_DISTINCT))
    if not len(unclear):
        return found, unclear
    some = candidates.of(unclear)
    even = evenly_lit(image, some.straight)
    again = _find(even, _left(_rings(even, some, labels, alphabet), some, held, unclear), labels, alphabet)
    is_better = again.is_legible & (_distinct(again.letters) > _distinct(found.letters[unclear]))
    evened = unclear[is_better]
    for before, after in zip(_columns(found), _columns(again), strict=True):
        before[evened] = after[is_better]
    return found, evened


def _columns(found: Found) -> tuple[npt.NDArray[Any], ...]:
    """All that is known of each cell, an array for each thing."""
    return (*found.faces, found.how_likely, found.letters, found.is_legible, found.is_rival)


def _distinct(letters: Array) -> Array:
    """(k,) log-probability of the likeliest one of all characters (k, letters)."""
    likeliest: Array = letters.max(axis=1) - np.logaddexp.reduce(letters, axis=1)
    return likeliest


def character_gain(
    image: Picture, candidates: Candidates, labels: LabelBuffer, alphabet: Alphabet, others: Faces
) -> tuple[Array, Array, Faces]:
    """How much the likeliest character or ring on each cell speaks for a face, and where that is.

    Args: as of :func:`read_faces`, of cells where it is in doubt whether anything stands; and ``others`` (m), faces of
        stacks that surely stand elsewhere: what is printed there speaks for nothing here.

    Returns:
        (b,) float32 log-likelihood ratio against bare wood, positive only where a character explains most of a face, or
        a ring of the set's radius is found; at least -:data:`MOST_AGAINST`; (b,) the same of faces at other places than
        that, at most 0; and the faces (b).
    """
    gain, otherwise, faces = _gain(image, candidates, labels, alphabet, others)
    unseen = np.flatnonzero(gain <= 0)
    if len(unseen):
        some = candidates.of(unseen)
        again, rest, elsewhere = _gain(evenly_lit(image, some.straight), some, labels, alphabet, others)
        is_better = again > gain[unseen]
        gain[unseen[is_better]], otherwise[unseen[is_better]] = again[is_better], rest[is_better]
        faces.put(unseen[is_better], elsewhere.of(np.flatnonzero(is_better)))
    return gain, otherwise, faces


def bare_faces(image: Picture, faces: Faces, labels: LabelBuffer, is_evened: Mask) -> Array:
    """(b,) float32 log-likelihood of bare wood on ``faces`` (b) that were found, ``is_evened`` (b,) in even light."""
    bare = blank(image, faces, labels)
    if is_evened.any():
        some = faces.of(np.flatnonzero(is_evened))
        bare[is_evened] = blank(evenly_lit(image, some), some, labels)
    return bare


def face_gain(letters: Array, bare: Array) -> Array:
    """(b,) float32 as :func:`character_gain` of faces that were found; 0 where no character explains most.

    ``letters`` (b, letters) and ``bare`` (b,): log-likelihood of each character, and of :func:`bare_faces`.
    """
    fits = letters.max(axis=1, initial=-np.inf)
    gain: Array = np.where(_explains_most(fits, bare), fits - bare - np.float32(np.log(letters.shape[1])), 0)
    return np.maximum(gain, 0)


def or_unreadable(letters: Array, bare: Array) -> Array:
    """(b, letters) log-likelihood of each character, which may also be one that nothing is seen of: as bare wood.

    ``letters`` and ``bare``: see :func:`face_gain`.
    """
    told: Array = np.logaddexp(letters, bare[:, None] + np.float32(np.log(UNREADABLE)))
    return told


def _gain(
    image: Picture, candidates: Candidates, labels: LabelBuffer, alphabet: Alphabet, others: Faces
) -> tuple[Array, Array, Faces]:
    """As :func:`character_gain`, in the light that there is."""
    rings, observations = centred(image, candidates.straight, labels, alphabet.ring_mm)
    placed, known = _likely(rings, candidates, observations)
    theirs = (distances_mm(rings, others) < ELSEWHERE_MM).any(axis=0)
    placed, known = (np.where(theirs, -np.inf, likely) for likely in (placed, known))
    # A character tells which of several rings is a face; where there is none, the most even one is looked at.
    cells = np.arange(len(placed))
    asked = placed > FACE_FOUND
    asked[cells, placed.argmax(axis=1)] = True
    cell, ring = np.nonzero(asked)
    usual, found = compare(image, rings.of(ring), labels, alphabet)
    faint, _ = compare(image, rings.of(ring), labels, alphabet, is_faint=True)
    fits, bare = np.maximum(usual, faint).max(axis=1), blank(image, found, labels)
    how_likely = np.full(known.shape, -np.inf)
    explained = _explained(fits, bare)
    how_likely[cell, ring] = known[cell, ring] + np.clip(explained, 0, MOSTLY)
    chosen = how_likely.argmax(axis=1)
    best = np.searchsorted(cell * len(candidates.scores) + ring, cells * len(candidates.scores) + chosen)
    by_character: Array = np.maximum(fits[best] - bare[best] - np.float32(np.log(len(alphabet.letters))), 0)
    # Bare wood where another height has its face says nothing of the likeliest one.
    likeliest = np.where(candidates.owner == cells[:, None], candidates.scores, -np.inf).argmax(axis=1)
    unlike, elsewhere = compare(image, rings.of(likeliest), labels, alphabet)
    otherwise = by_ring = _as_bare(unlike, blank(image, elsewhere, labels))
    if alphabet.ring_mm is not None:
        above = (placed[cells, chosen] - FACE_FOUND).astype(np.float32)
        by_ring = np.where(above > 0, above + _as_bare(usual[best], bare[best]), otherwise)
    is_free, explains = np.isfinite(placed[cells, chosen]), explained[best] > MOSTLY
    gain = np.where(is_free, np.where(explains, by_character, by_ring), 0)
    return gain, np.where(is_free & ~explains, otherwise, 0), found.of(best)


def _as_bare(letters: Array, bare: Array) -> Array:
    """(k,) how much ``bare`` wood (k,) speaks against a face whose characters fit so well, ``letters`` (k, letters)."""
    against: Array = np.clip(letters.max(axis=1) - bare, -MOST_AGAINST, 0)
    return against


def _find(image: Picture, seen: _Rings, labels: LabelBuffer, alphabet: Alphabet) -> Found:
    """As :func:`read_faces`, in the light that there is, among the rings that are ``seen``."""
    rings, placed, known = seen
    chosen, is_rival, letters, faces = _chosen(image, rings, (placed, known), labels, alphabet)
    how_likely = placed[np.arange(len(chosen)), chosen]
    fits = letters.max(axis=1)
    legible = fits >= FITS
    # A character that explains most of a face tells where it is, though its ring does not.
    unsure = np.flatnonzero(~legible | (how_likely < FACE_FOUND))
    how_well = _explained(fits[unsure], blank(image, faces.of(unsure), labels))
    legible[unsure] |= how_well > MOSTLY
    how_likely[unsure] = np.where(how_well > MOSTLY, how_well, how_likely[unsure])
    pale = np.flatnonzero(~legible)
    if len(pale):
        faint, refined = compare(image, rings.of(chosen[pale]), labels, alphabet, is_faint=True)
        fitting = _explains_most(faint.max(axis=1), blank(image, refined, labels))
        letters[pale[fitting]], legible[pale[fitting]] = faint[fitting], True
    return Found(faces, how_likely, letters, legible, is_rival)


def _rings(image: Picture, candidates: Candidates, labels: LabelBuffer, alphabet: Alphabet) -> _Rings:
    """The rings that are found for all candidates."""
    rings, observations = centred(image, candidates.straight, labels, alphabet.ring_mm)
    return _Rings(rings, *_likely(rings, candidates, observations))


def _likely(rings: Faces, candidates: Candidates, observations: Array) -> tuple[Points, Points]:
    """How likely the rings (k) that were found for ``candidates`` of some cells (b) are those of their faces.

    Returns:
        (b, k) how likely each ring is by its evenness and place, -inf if another cell's; and with the scores of the
        heights at which it lies.
    """
    straight, owner, scores = candidates
    apart = ((offsets_mm(straight, rings) / PLACED_MM) ** 2).sum(axis=2) / 2
    is_own, of_cell = owner[:, None] == owner, owner == np.arange(owner[-1] + 1)[:, None]
    placed = observations - np.where(is_own, apart, np.inf).min(axis=1)
    known = observations + np.where(is_own, scores - apart, -np.inf).max(axis=1)
    return np.where(of_cell, placed, -np.inf), np.where(of_cell, known, -np.inf)


def _held(seen: _Rings, candidates: Candidates) -> _Held:
    """Where each cell has its face at the height that is likeliest by all but faces."""
    cells = np.arange(len(seen.placed))
    likeliest = np.where(candidates.owner == cells[:, None], candidates.scores, -np.inf).argmax(axis=1)
    return _Held(seen.faces.of(likeliest), seen.placed[cells, likeliest] > FACE_FOUND)


def _left(seen: _Rings, candidates: Candidates, held: _Held, numbers: Indices) -> _Rings:
    """The rings, of which none is left that another cell holds where there is another face for a cell.

    A ring that a cell has at its own likeliest height stays its own.  ``numbers`` (b,): of the cells, in ``held``.
    """
    rings, owner = np.arange(len(candidates.owner)), numbers[candidates.owner]
    is_there = distances_mm(held.faces, seen.faces) < ELSEWHERE_MM
    is_theirs = (is_there & held.is_face).any(axis=1) & ~is_there[rings, owner]
    has_others = np.where(is_theirs, -np.inf, seen.placed).max(axis=1) > FACE_FOUND
    is_left = is_theirs & has_others[:, None]
    return seen._replace(placed=np.where(is_left, -np.inf, seen.placed), known=np.where(is_left, -np.inf, seen.known))


def _chosen(
    image: Picture, rings: Faces, likely: tuple[Points, Points], labels: LabelBuffer, alphabet: Alphabet
) -> tuple[Indices, Mask, Array, Faces]:
    """Which ring is the face of each cell (b): the most even one, or one elsewhere on which a character fits better.

    The ring of a stack behind is as good a ring, so that only heights and characters tell which is the cell's own.

    ``rings`` (k) were found, and are as ``likely`` as :func:`_likely` tells.

    Returns:
        (b,) the ring, and whether it is not the most even one; (b, letters) how well each character fits; the faces.
    """
    placed, known = likely
    chosen = placed.argmax(axis=1)
    letters, faces = compare(image, rings.of(chosen), labels, alphabet)
    rivals = _rivals(rings, known, chosen)
    contested, is_rival = np.flatnonzero(rivals != chosen), np.zeros(len(chosen), np.bool_)
    if len(contested):
        others, elsewhere = compare(image, rings.of(rivals[contested]), labels, alphabet)
        ratio = _is_face(image, elsewhere, others, labels)
        ratio -= _is_face(image, faces.of(contested), letters[contested], labels)
        is_better = ratio + known[contested, rivals[contested]] > known[contested, chosen[contested]]
        won = contested[is_better]
        chosen[won], letters[won], is_rival[won] = rivals[won], others[is_better], True
        for before, after in zip(tuple(faces), tuple(elsewhere), strict=True):
            before[won] = after[is_better]
    return chosen, is_rival, letters, faces


def _rivals(rings: Faces, known: Points, chosen: Indices) -> Indices:
    """(b,) the likeliest ring at another place than the ``chosen`` one of each cell; that one where none is likely."""
    away = distances_mm(rings.of(chosen), rings).T > ELSEWHERE_MM
    best = known[np.arange(len(chosen)), chosen]
    others = np.where(away & (known > best[:, None] - RIVAL_NATS), known, -np.inf)
    return np.where(np.isfinite(others.max(axis=1)), others.argmax(axis=1), chosen)


def _explains_most(fits: Array, bare: Array) -> Mask:
    """(k,) whether the likeliest characters, which fit so well, explain most of faces; see :func:`_explained`."""
    legible: Mask = _explained(fits, bare) > MOSTLY
    return legible


def _is_face(image: Picture, faces: Faces, letters: Array, labels: LabelBuffer) -> Array:
    """(k,) log-likelihood ratio that there are ``faces`` (k): a character with more ink is no more of a face."""
    return np.minimum(_explained(letters.max(axis=1), blank(image, faces, labels)), np.float32(MOSTLY))


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
    rings, _ = centred(image, straight, labels, alphabet.ring_mm)
    height = np.repeat(np.arange(len(scores)), len(WIDE_MM))
    tried = rings.of(height).moved(np.tile(WIDE_MM, (len(scores), 1)))
    rows, placed = compare(image, tried, labels, alphabet, is_faint=True)
    how_well = _explained(rows.max(axis=1), blank(image, placed, labels))
    apart = placed.off_mm(straight.of(height).centres_px)
    best = int((how_well + scores[height] - ((apart / PLACED_MM) ** 2).sum(axis=1) / 2).argmax())
    face, letters = placed.of(np.array([best])), rows[[best]]
    for _ in range(REFINED):
        letters, face = compare(image, face, labels, alphabet, is_faint=True)
    return face, letters[0], float(_explained(letters.max(axis=1), blank(image, face, labels))[0])
