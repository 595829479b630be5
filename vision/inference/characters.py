"""Characters on the uppermost pieces and, since faces are located for that, the heights of their stacks."""

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
from vision.inference.comparison import combine_scores, compare_with_colours, reweight_heights, stacks_of
from vision.inference.coordinate_ascent import converge, rescore_placed, update_around
from vision.inference.face_evidence import (
    IN_QUESTION_NATS,
    are_near,
    detect_faces,
    evidence_by_height,
    remove_faceless,
    view_has_changed,
    visible_parts,
)
from vision.inference.hypothesis import Hypothesis
from vision.inference.picture_view import make_view
from vision.inference.ring_heights import CLOSE_NATS, radius_range, rescore, weigh_by_rings
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


class _ReadResult(NamedTuple):
    """What was read on some cells.

    Attributes:
        located: those whose faces were found.
        searched: (b,) those where no character fitted in the given light, or whose ring is not the most even one, so
            that a face was looked for at all heights.
        faceless: (b,) those where no face of their own was found at any height, either.
    """

    located: list[_LocatedFace]
    searched: Indices
    faceless: Indices


class _LocatedFace(NamedTuple):
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


class _Work(NamedTuple):
    """What characters are read from: picture, hypothesis, alphabet; and into: ``found`` (n, letters), the cache."""

    image: Picture
    hypothesis: Hypothesis
    alphabet: Alphabet
    found: Array
    searched: Searched

    def read(self, cells: Indices, *before: list[_LocatedFace]) -> _ReadResult:
        """Read those of ``cells`` (b,) where something stands, see :func:`_read`."""
        standing = cells[self.hypothesis.state[cells] > 0]
        return _read(self.image, self.hypothesis, self.alphabet, standing, self.found, self.searched, *before)


class _FirstReading(NamedTuple):
    """What all stacks have shown when they were first read.

    Attributes:
        located: those whose faces were found.
        placed: of these, the cells on which heights were rescored with them.
        faceless: (b,) cells on which no face was found.
        again: (b,) cells to be read again, as what surrounds them has changed, or is not sure.
    """

    located: list[_LocatedFace]
    placed: set[int]
    faceless: Indices
    again: Indices


def read_characters(
    image: Picture, hypothesis: Hypothesis, alphabet: Alphabet, legible: Picture | None = None
) -> Array:
    """(n, letters) log-likelihoods of the characters on each cell; 0 where none was looked for.

    The location of a face tells the height of its stack, too: heights in question are rescored with it.  So does the
    apparent size of its ring, in the ``image`` as it was taken: in a blurred one it appears smaller, the more so the
    fewer pixels it has.  ``legible``: the same without halos, if it has any, in which all else is compared.
    """
    shown = image if legible is None else legible
    found = np.zeros((len(hypothesis.state), len(alphabet.letters)), np.float32)
    work = _Work(shown, hypothesis, alphabet, found, Searched())
    detect_faces(shown, hypothesis, alphabet)
    first = _read_all(work)
    located, faceless = _read_again(work, first)
    if alphabet.ring_mm is not None:
        weigh_by_rings(image, hypothesis, {cell: one.face for cell, one in located.items()}, alphabet.ring_mm)
    held = hypothesis.state.copy()
    weigh_by_boundaries(shown, hypothesis, np.flatnonzero(hypothesis.updated))
    # What had no face because it seemed occluded by a stack that boundaries have since removed was judged too early.
    removed = _neighbours_of_removed(hypothesis, held)
    _read_uncovered(work, located, np.intersect1d(np.union1d(first.faceless, faceless), removed))
    return found


def _read_all(work: _Work) -> _FirstReading:
    """Read all stacks that were updated, and rescore heights with the faces that are found."""
    image, hypothesis, _, found, _ = work
    cells = np.flatnonzero((hypothesis.state > 0) & hypothesis.updated)
    known, strange, faceless = work.read(cells)
    seen = visible_parts(hypothesis, faceless)
    if remove_faceless(image, hypothesis, faceless):
        cells = cells[hypothesis.state[cells] > 0]
        known, strange, _ = work.read(cells, known)
    _discard_misplaced(hypothesis, known)
    scores = hypothesis.scores.copy()
    again, occluded = _rescore_by_faces(hypothesis, known)
    # What was occluded by a stack that was mistaken for a higher one may have been strange for that alone…
    hasty = np.intersect1d(strange, occluded)
    hypothesis.set_scores(hasty, scores[hasty])
    for cell in hasty.tolist():
        hypothesis.assign(cell, int(scores[cell].argmax()))
    # …and if no face was found there at all, that has counted against it too early; so it has if the face of one that
    # was mistaken for a lower one was taken for part of it.
    is_early = np.isin(faceless, np.union1d(hasty, again)) | view_has_changed(hypothesis, seen)
    early = faceless[is_early]
    _discard_face_evidence(hypothesis, early)
    found[early] = 0
    update_around(hypothesis, NO_CELLS)
    unsure = cells[found[cells].max(axis=1) < MIN_LOG_PROBABILITY]
    again = np.unique(np.concatenate([again, hasty, early, unsure]))
    return _FirstReading(known, {face.cell for face in known} - set(hasty.tolist()), faceless, again)


def _read_again(work: _Work, first: _FirstReading) -> tuple[dict[int, _LocatedFace], Indices]:
    """Read what the ``first`` reading left open, and what is occluded otherwise since then.

    Returns all faces that are located by now, by cell; and (b,) cells on which none was found this time.
    """
    image, hypothesis, _, _, _ = work
    sure, _, faceless = work.read(first.again)
    seen = visible_parts(hypothesis, faceless)
    again, _ = _rescore_by_faces(hypothesis, [face for face in sure if face.cell not in first.placed], first.located)
    is_early = view_has_changed(hypothesis, seen)
    last = work.read(np.union1d(again, faceless[is_early]).astype(np.intp))
    # What is known by now of the stacks behind may have brought some back.
    faceless = np.union1d(faceless[~is_early], last.faceless)
    before, located = hypothesis.scores.copy(), {one.cell: one for one in (*first.located, *sure, *last.located)}
    if remove_faceless(image, hypothesis, faceless[hypothesis.state[faceless] > 0]):
        # Round those that were removed colours alone have told the heights again.
        told = np.flatnonzero((hypothesis.scores != before).any(axis=1) & (hypothesis.state > 0)).tolist()
        _rescore_by_faces(hypothesis, [located[cell] for cell in told if cell in located], [*located.values()])
    return located, faceless


def _read_uncovered(work: _Work, located: dict[int, _LocatedFace], uncovered: Indices) -> None:
    """Judge anew the cells ``uncovered`` (b,) by a stack that was removed, and read all that has not been read yet."""
    image, hypothesis, _, found, _ = work
    _discard_face_evidence(hypothesis, uncovered)
    converge(hypothesis)
    found[uncovered] = 0
    unread = (hypothesis.state > 0) & hypothesis.updated & (found == 0).all(axis=1)
    read = work.read(np.flatnonzero(unread))
    again, _ = _rescore_by_faces(hypothesis, read.located, [*located.values()])
    weigh_by_boundaries(image, hypothesis, again)


def _discard_misplaced(hypothesis: Hypothesis, known: list[_LocatedFace]) -> None:
    """Discard evidence for heights at none of which the face of a cell was found in the end, as now ``known``."""
    for one in known:
        so_far = hypothesis.glyph_log_ratio[one.cell]
        if so_far.max() > 0 >= so_far[one.near].max(initial=0):
            hypothesis.set_glyph_log_ratio(np.array([one.cell]), np.zeros((1, len(so_far)), np.float32))


def _discard_face_evidence(hypothesis: Hypothesis, cells: Indices) -> None:
    """Have ``cells`` (b,) updated by colours alone, discarding all evidence of faces there."""
    hypothesis.set_glyph_log_ratio(cells, np.zeros_like(hypothesis.glyph_log_ratio[cells]))
    hypothesis.invalidate(cells)


def _neighbours_of_removed(hypothesis: Hypothesis, held: Indices) -> Indices:
    """(b,) cells whose pixels are touched by stacks of the states ``held`` (n,) that no longer stand."""
    hypothesis.clear_stale()
    for cell in np.flatnonzero((held > 0) & (hypothesis.state == 0)).tolist():
        hypothesis.invalidate_neighbours(cell, int(held[cell]))
    beside = np.flatnonzero(hypothesis.stale)
    hypothesis.clear_stale()
    return beside


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
    alone, labels = hypothesis.faces_on(np.array([cell])), hypothesis.labels()
    candidate = Candidates(alone, np.zeros(1, np.intp), np.zeros(1, np.float32))
    found, _ = read_faces(image, candidate, labels, alphabet)
    face, letters = found.faces, found.letters[0]
    searched = search_face(image, alone, labels, alphabet, candidate.scores) if _fits_no_character(found)[0] else None
    if searched:
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


def _read(
    image: Picture,
    hypothesis: Hypothesis,
    alphabet: Alphabet,
    cells: Indices,
    found: Array,
    searched: Searched,
    before: Sequence[_LocatedFace] = (),
) -> _ReadResult:
    """Read the characters on ``cells`` (b,), where something stands, into ``found`` (n, letters).

    Heights at which faces were found ``before`` are looked at again, however unlikely colours have become there.
    """
    known: list[_LocatedFace] = []
    if not len(cells):
        return _ReadResult(known, cells, cells)
    count, upright = len(hypothesis.geometry.configurations.all), hypothesis.geometry.faces
    scores, labels = hypothesis.configuration_scores(cells), hypothesis.labels()
    # Where the evidence of a face already counts, heights stay in question that are so by colours alone.
    spoken = hypothesis.glyph_log_ratio[cells].max(axis=1, keepdims=True, initial=0)
    is_asked, is_scored = (
        scores > scores.max(axis=1, keepdims=True) - IN_QUESTION_NATS - spoken,
        scores > OUT_OF_REACH / 2,
    )
    # Sides have no characters: what colours take for a tower may be a lower stack in front of another one.
    is_asked |= (scores.argmax(axis=1) >= MIN_TALL_PIECES - 1)[:, None] & is_scored
    for one in before:
        is_asked[np.ix_(cells == one.cell, one.near)] = True
    owner, configuration = np.nonzero(is_asked)
    straight = upright.select(cells[owner] * count + configuration)
    candidates = Candidates(straight, owner, scores[owner, configuration])
    seen, evened = read_faces(image, candidates, labels, alphabet)
    is_evened, is_found = np.isin(np.arange(len(cells)), evened), seen.centre_log_ratio > FACE_FOUND
    bare = bare_faces(image, seen.faces, labels, is_evened)
    letters = with_unreadable(with_faint_ones(image, seen, labels, alphabet, bare, is_evened), bare)
    gain = face_gain(seen.letters, bare)
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
        if not is_own and is_found[k] and log_confidence(letters[[k]])[0] > MIN_LOG_PROBABILITY:
            continue
        seen.faces.put(np.array([k]), face)
        letters[k], is_misled[k], gain[k] = its_letters, explains > FACE_FOUND, 0
        if is_own and log_confidence(its_letters[None])[0] > MIN_LOG_PROBABILITY:
            gain[k] = its_gain
    is_claimed = _is_claimed(hypothesis, cells, seen.faces)
    letters[is_claimed], gain[is_claimed], is_found[is_claimed], is_misled[is_claimed] = 0, 0, False, False
    scaled = scaled_by_scatter(letters, visible_shares(labels, seen.faces))
    found[cells] = scaled - np.logaddexp.reduce(scaled, axis=1, keepdims=True)
    is_everywhere = is_misled & (found[cells].max(axis=1) > MIN_LOG_PROBABILITY)
    for k, cell in enumerate(cells.tolist()):
        if not (is_found[k] or is_everywhere[k]):
            continue
        every = np.flatnonzero(is_scored[k])
        shifts_mm = _shifts(hypothesis, cell, upright.select(cell * count + every), seen.faces.select(np.array([k])))
        asked = is_everywhere[k] | is_asked[k, every]
        asked |= np.linalg.norm(shifts_mm, axis=1) < ELSEWHERE_MM
        if asked.sum() > 1:
            known.append(_LocatedFace(cell, every[asked], shifts_mm[asked], seen.faces.select(np.array([k]))))
    _count_faces(hypothesis, cells, scores, seen.faces, gain)
    # Nothing fits where their own faces would be, nor, but for the face of another stack, elsewhere.
    is_faceless = is_claimed | (letters.max(axis=1) <= NO_FIT_NATS) & (gain <= 0)
    faceless = cells[strange[is_faceless[strange]]]
    return _ReadResult(known, looked_for, faceless)


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


def weigh_by_boundaries(image: Picture, hypothesis: Hypothesis, cells: Indices) -> None:
    """Weigh heights on ``cells`` (b,) that are still in doubt, "none" among them, by boundaries as well.

    The colours of sides of one wood hardly tell how many pieces there are; the seams between the pieces do.
    """
    prisms, scores = hypothesis.geometry.prisms, hypothesis.scores
    assert prisms is not None, "only faces have characters"
    by_colour = scores[:, 1:].reshape(len(scores), -1, hypothesis.colours)
    heights = hypothesis.explanation_scores()
    tried = heights > heights.max(axis=1, keepdims=True) - CLOSE_NATS
    cells = cells[tried[cells].sum(axis=1) > 1]
    if not len(cells):
        return
    view, stacks = make_view(image, hypothesis.geometry, prisms), stacks_of(hypothesis, prisms)
    for cell in cells[np.argsort(view.rank[cells])].tolist():
        which = cell, heights[cell], tried[cell]
        compared, places = compare_with_colours(view, prisms, hypothesis, stacks, which)
        compared = reweight_heights(compared, heights[cell], tried[cell])
        hypothesis.set_places(cell, places)
        rescore(hypothesis, cell, combine_scores(by_colour[cell], heights[cell], compared, tried[cell]))
        stacks.configurations[cell], stacks.places[cell] = compared.argmax() - 1, places[compared.argmax()]
    hypothesis.clear_stale()


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


def _rescore_by_faces(
    hypothesis: Hypothesis, known: list[_LocatedFace], before: Sequence[_LocatedFace] = ()
) -> tuple[Indices, Indices]:
    """Rescore heights by the faces that are now ``known``; those that were known ``before`` stay as they are.

    Returns the cells (b,) whose surroundings this has changed; and those among the known ones.
    """
    if not known:
        return NO_CELLS, NO_CELLS
    # Where a cell has fewer heights than others, its last one is scored several times.
    most = max(len(face.configurations) for face in known)
    rows = [np.minimum(np.arange(most), len(face.configurations) - 1) for face in known]
    cells = np.array([face.cell for face in known])
    rescore_placed(
        hypothesis,
        cells,
        np.array([face.configurations[row] for face, row in zip(known, rows, strict=True)]),
        np.array([face.shifts_mm[row] for face, row in zip(known, rows, strict=True)]),
    )
    changed = cells[hypothesis.stale[cells]]
    return update_around(hypothesis, np.array([face.cell for face in (*known, *before)])), changed
