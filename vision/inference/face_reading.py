"""Faces on some cells, read once: where they are, what is written on them, and which stacks have none.

What has been read changes which heights are likely, and so where faces are looked for: :mod:`.characters` reads until
both agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.glyphs.face_choice import ELSEWHERE_MM, FACE_FOUND, Candidates
from vision.glyphs.face_detection import box_px
from vision.glyphs.face_visibility import visible_shares
from vision.glyphs.faces import Faces, distances_mm
from vision.glyphs.legibility import (
    MIN_LOG_PROBABILITY,
    FaceReadings,
    FoundFace,
    bare_faces,
    character_gain,
    face_gain,
    log_confidence,
    read_faces,
    scaled_by_scatter,
    search_face,
    with_faint_ones,
    with_unreadable,
)
from vision.glyphs.ring import find_ring, ring_log_ratio
from vision.glyphs.templates import Alphabet
from vision.inference.face_evidence import IN_QUESTION_NATS, are_near, evidence_by_height
from vision.inference.hypothesis import Hypothesis
from vision.inference.ring_heights import radius_range
from vision.likelihood.stacks import OUT_OF_REACH
from vision.scene.label_buffer import RANK_BITS, LabelBuffer

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]

NO_FIT_NATS = -15.0
"""Log-likelihood of the best character below which none fits, as most of the face is left unexplained.  The stack may
then have another height, however unlikely: its face is looked for at all of them."""

MIN_TALL_PIECES = 5
"""Towers of at least this many pieces are searched for faces at all heights: few are that high."""

MAX_SEARCHED = 16
"""Most faces on which no character fits that are searched once more: when there are more, a hand lies over them."""

NO_CELLS: Indices = np.zeros(0, np.intp)

Searched = dict[tuple[bytes, bytes, bytes], FoundFace]
"""Results of searches for a face, keyed by the centres of a cell's faces, their scores, and what is visible there."""


class LocatedFace(NamedTuple):
    """A cell whose face was found.

    Attributes:
        cell: its index.
        configurations: (l,) those in question.
        shifts_mm: (l, 2) displacement that the face has for each of them, in the crop.
        face: where it was found (1).
    """

    cell: int
    configurations: Indices
    shifts_mm: Array
    face: Faces

    @property
    def near(self) -> Indices:
        """(k,) those of the configurations that have their face where it was found."""
        near: Indices = self.configurations[np.linalg.norm(self.shifts_mm, axis=1) < ELSEWHERE_MM]
        return near


class FaceResult(NamedTuple):
    """What was read on some cells.

    Attributes:
        located: those whose faces were found.
        searched: (b,) those where no character fitted in the given light, or whose ring is not the most even one, so
            that a face was looked for at all heights.
        faceless: (b,) those where no face of their own was found at any height, either.
        faces: of all that were read, where their characters were compared.
    """

    located: list[LocatedFace]
    searched: Indices
    faceless: Indices
    faces: Faces


def read_on_cells(
    image: Picture,
    hypothesis: Hypothesis,
    alphabet: Alphabet,
    cells: Indices,
    found: Array,
    searched: Searched,
    before: Sequence[LocatedFace] = (),
) -> FaceResult:
    """Read the characters on ``cells`` (b,), where something stands, into ``found`` (n, letters).

    Heights at which faces were found ``before`` are looked at again, however unlikely colours have become there.
    """
    known: list[LocatedFace] = []
    if not len(cells):
        return FaceResult(known, cells, cells, hypothesis.faces_on(cells))
    count, upright = len(hypothesis.geometry.configurations.all), hypothesis.geometry.faces
    scores, labels = hypothesis.configuration_scores(cells), hypothesis.labels()
    # Where the evidence of a face already counts, heights stay in question that are so by colours alone.
    spoken = hypothesis.glyph_log_ratio[cells].max(axis=1, keepdims=True, initial=0)
    is_asked = scores > scores.max(axis=1, keepdims=True) - IN_QUESTION_NATS - spoken
    is_scored = scores > OUT_OF_REACH / 2
    # Sides have no characters: what colours take for a tower may be a lower stack in front of another one.
    is_asked |= (scores.argmax(axis=1) >= MIN_TALL_PIECES - 1)[:, None] & is_scored
    for one in before:
        is_asked[np.ix_(cells == one.cell, one.near)] = True
    owner, configuration = np.nonzero(is_asked)
    straight = upright.select(cells[owner] * count + configuration)
    candidates = Candidates(straight, owner, scores[owner, configuration])
    seen, evened = read_faces(image, candidates, labels, alphabet)
    is_evened, is_found = np.isin(np.arange(len(cells)), evened), seen.centre_log_ratio > FACE_FOUND
    letters, gain = _log_likelihoods(image, seen, labels, alphabet, is_evened)
    is_misled = is_evened | seen.is_rival
    strange = np.flatnonzero(_fits_no_character(seen))
    if len(strange) > MAX_SEARCHED:
        strange = NO_CELLS
    others = seen.faces.select(np.setdiff1d(np.flatnonzero(is_found), strange))
    looked_for = cells[np.union1d(strange, np.flatnonzero(is_misled))]
    for k in strange.tolist():
        every = np.flatnonzero(is_scored[k])
        straight = upright.select(cells[k] * count + every)
        face, its_letters, explains, its_gain = search_face_cached(
            image, straight, labels, alphabet, scores[k, every], searched
        )
        # What is seen where a stack is hypothesised that does not stand there is the face of another one.
        is_own = not (distances_mm(face, others) < ELSEWHERE_MM).any()
        is_told = not is_own and log_confidence(letters[[k]])[0] > MIN_LOG_PROBABILITY
        # Where more is dark, as between two pieces, a character explains more of it, though it fits worse.
        if is_found[k] and (is_told or its_letters.max() < seen.letters[k].max()):
            continue
        seen.faces.put(np.array([k]), face)
        letters[k], is_misled[k], gain[k] = its_letters, explains > FACE_FOUND, 0
        if is_own and log_confidence(its_letters[None])[0] > MIN_LOG_PROBABILITY:
            gain[k] = its_gain
    is_claimed = _is_claimed(hypothesis, cells, seen.faces)
    letters[is_claimed], gain[is_claimed], is_found[is_claimed], is_misled[is_claimed] = 0, 0, False, False
    found[cells] = _log_probabilities(letters, visible_shares(labels, seen.faces))
    is_everywhere = is_misled & (found[cells].max(axis=1) > MIN_LOG_PROBABILITY)
    for k, cell in enumerate(cells.tolist()):
        if not (is_found[k] or is_everywhere[k]):
            continue
        every = np.flatnonzero(is_scored[k])
        shifts_mm = _shifts(hypothesis, cell, upright.select(cell * count + every), seen.faces.select(np.array([k])))
        asked = is_everywhere[k] | is_asked[k, every]
        asked |= np.linalg.norm(shifts_mm, axis=1) < ELSEWHERE_MM
        if asked.sum() > 1:
            known.append(LocatedFace(cell, every[asked], shifts_mm[asked], seen.faces.select(np.array([k]))))
    _count_faces(hypothesis, cells, scores, seen.faces, gain)
    # Nothing fits where their own faces would be, nor, but for the face of another stack, elsewhere.
    is_faceless = is_claimed | (letters.max(axis=1) <= NO_FIT_NATS) & (gain <= 0)
    faceless = cells[strange[is_faceless[strange]]]
    return FaceResult(known, looked_for, faceless, seen.faces)


def read_at_heights(image: Picture, hypothesis: Hypothesis, alphabet: Alphabet, cells: Indices) -> Array:
    """(b, letters) log-probabilities of the characters on ``cells`` (b,), where stacks of these heights have faces."""
    labels = hypothesis.labels()
    seen, evened = read_faces(image, _hypothesised(hypothesis, cells), labels, alphabet)
    is_evened = np.isin(np.arange(len(cells)), evened)
    letters, _ = _log_likelihoods(image, seen, labels, alphabet, is_evened)
    return _log_probabilities(letters, visible_shares(labels, seen.faces))


def _hypothesised(hypothesis: Hypothesis, cells: Indices) -> Candidates:
    """The faces of the stacks hypothesised on ``cells`` (b,), as the only candidates there."""
    return Candidates(hypothesis.faces_on(cells), np.arange(len(cells)), np.zeros(len(cells), np.float32))


def _log_likelihoods(
    image: Picture, seen: FaceReadings, labels: LabelBuffer, alphabet: Alphabet, is_evened: Mask
) -> tuple[Array, Array]:
    """(b, letters) log-likelihoods of characters, faint or invisible ones, too; (b,) the gain of each face they make.

    ``is_evened`` (b,): which faces were read with their light evened out.
    """
    bare = bare_faces(image, seen.faces, labels, is_evened)
    letters = with_unreadable(with_faint_ones(image, seen, labels, alphabet, bare, is_evened), bare)
    return letters, face_gain(seen.letters, bare)


def _log_probabilities(letters: Array, visible: Array) -> Array:
    """(b, letters) of characters with log-likelihoods ``letters`` on faces of which a share is ``visible`` (b,)."""
    scaled = scaled_by_scatter(letters, visible)
    normalised: Array = scaled - np.logaddexp.reduce(scaled, axis=1, keepdims=True)
    return normalised


def _count_faces(hypothesis: Hypothesis, cells: Indices, scores: Array, faces: Faces, gain: Array) -> None:
    """Have the ``gain`` (b,) of ``faces`` (b) count for heights that have them, in doubt by ``scores`` (b, f)."""
    spoken = evidence_by_height(hypothesis, cells, faces, gain, np.zeros_like(gain))
    in_doubt = np.where(spoken > 0, scores, -np.inf).max(axis=1) < IN_QUESTION_NATS
    speaking = np.flatnonzero(in_doubt & (gain > 0))
    so_far = hypothesis.glyph_log_ratio[cells[speaking]]
    hypothesis.set_glyph_log_ratio(cells[speaking], np.maximum(spoken[speaking], so_far))


def _is_claimed(hypothesis: Hypothesis, cells: Indices, faces: Faces) -> Mask:
    """(b,) which of ``faces`` (b), found for ``cells`` (b,), are likelier that of a stack elsewhere.

    So it is where the cell is likelier empty than to have it, and the stack elsewhere is likeliest to have it.
    """
    others = np.setdiff1d(np.flatnonzero(hypothesis.state), cells)
    every = Faces(*(np.concatenate(pair) for pair in zip(faces, hypothesis.faces_on(others), strict=True)))
    of = np.append(cells, others)
    scores, near = hypothesis.configuration_scores(of), are_near(hypothesis, of, every)
    there = np.where(near, scores, -np.inf).max(axis=1)
    is_held = there > np.where(near, 0.0, scores).max(axis=1, initial=0)
    together = distances_mm(every, faces) < ELSEWHERE_MM
    claimed: Mask = (there[: len(cells)] < 0) & (together & is_held).any(axis=1)
    return claimed


def search_face_cached(
    image: Picture, straight: Faces, labels: LabelBuffer, alphabet: Alphabet, scores: Array, searched: Searched
) -> FoundFace:
    """As :func:`search_face`, with results cached in ``searched``, since cells are read several times."""
    left, top, right, bottom = box_px(straight, labels.shape)
    visible = labels[top:bottom, left:right] >> RANK_BITS <= straight.ranks[0]
    key = (straight.centres_px.tobytes(), scores.tobytes(), visible.tobytes())
    if key not in searched:
        searched[key] = search_face(image, straight, labels, alphabet, scores)
    return searched[key]


def _fits_no_character(found: FaceReadings) -> Mask:
    """(b,) where no character fits in the given light, so that a face is searched for."""
    strange: Mask = ~found.is_legible & (found.letters.max(axis=1) < NO_FIT_NATS)
    return strange


def _shifts(hypothesis: Hypothesis, cell: int, straight: Faces, ring: Faces) -> Array:
    """(l, 2) mm, in the crop, from the undisplaced face at each height to where the face was found."""
    to_crop = hypothesis.geometry.crops.to_crop[cell]
    return np.asarray((ring.centres_px - straight.centres_px) @ to_crop.T, np.float32)


def read_character(
    image: Picture, hypothesis: Hypothesis, alphabet: Alphabet, cell: int, legible: Picture | None = None
) -> tuple[Array, float]:
    """Read the uppermost piece of the stack hypothesised on a cell; the pictures are as in :func:`read_characters`.

    Returns:
        (letters,) log-likelihood of each character, and of the apparent size of its ring; and the log-likelihood ratio
        of the likeliest one against bare wood, 0 where that is no less likely, and of that ring.  All 0 where the face
        of a nearer stack is seen there.
    """
    taken, image = image, image if legible is None else legible
    candidate, labels = _hypothesised(hypothesis, np.array([cell])), hypothesis.labels()
    found, _ = read_faces(image, candidate, labels, alphabet)
    face, letters = found.faces, found.letters[0]
    searched = None
    if _fits_no_character(found)[0]:
        searched = search_face(image, candidate.undisplaced, labels, alphabet, candidate.scores)
        face, letters = searched.face, searched.letters
    rank = hypothesis.geometry.rank
    nearer = hypothesis.faces_on(np.flatnonzero((hypothesis.state > 0) & (rank > rank[cell])))
    if (distances_mm(face, nearer) < ELSEWHERE_MM).any():
        return np.zeros_like(letters), 0.0
    gain = float(character_gain(image, candidate, labels, alphabet, hypothesis.faces_on(NO_CELLS))[0][0])
    if searched:
        gain = max(gain, searched.gain)
    if alphabet.ring_mm is None:
        return letters, gain
    ring = find_ring(taken, face, labels, radius_range(alphabet.ring_mm))
    by_ring = float(ring_log_ratio(ring, np.ones(1), alphabet.ring_mm)[0])
    return letters + np.float32(by_ring), gain + by_ring
