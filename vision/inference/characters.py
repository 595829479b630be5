"""Characters on the uppermost pieces and, since faces are located for that, the heights of their stacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.glyphs.face_choice import ELSEWHERE_MM
from vision.glyphs.faces import Faces, distances_mm
from vision.glyphs.legibility import MIN_LOG_PROBABILITY
from vision.glyphs.templates import Alphabet
from vision.inference.comparison import compare_with_colours, stacks_of
from vision.inference.coordinate_ascent import converge, rescore_placed, update_around
from vision.inference.evidence_weights import combine_scores, reweight_heights
from vision.inference.face_evidence import (
    IN_QUESTION_NATS,
    detect_faces,
    doubt_colours,
    remove_faceless,
    view_has_changed,
    visible_parts,
)
from vision.inference.face_reading import NO_CELLS, FaceResult, LocatedFace, Searched, read_at_heights, read_on_cells
from vision.inference.hypothesis import Hypothesis
from vision.inference.picture_view import make_view
from vision.inference.ring_heights import CLOSE_NATS, rescore, weigh_by_rings

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]


class _Work(NamedTuple):
    """What characters are read from: picture, hypothesis, alphabet; and into: ``found`` (n, letters), the cache.

    And into ``faces``: for each reading so far the cells (b,), and the faces (b) on which their characters were read.
    """

    image: Picture
    hypothesis: Hypothesis
    alphabet: Alphabet
    found: Array
    searched: Searched
    faces: list[tuple[Indices, Faces]]

    def read(self, cells: Indices, *before: list[LocatedFace]) -> FaceResult:
        """Read those of ``cells`` (b,) where something stands, see :func:`read_on_cells`."""
        standing = cells[self.hypothesis.state[cells] > 0]
        result = read_on_cells(self.image, self.hypothesis, self.alphabet, standing, self.found, self.searched, *before)
        self.faces.append((standing, result.faces))
        return result


class _FirstReading(NamedTuple):
    """What all stacks have shown when they were first read.

    Attributes:
        located: those whose faces were found.
        placed: of these, the cells on which heights were rescored with them.
        faceless: (b,) cells on which no face was found.
        again: (b,) cells to be read again, as what surrounds them has changed, or is not sure.
    """

    located: list[LocatedFace]
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
    work = _Work(shown, hypothesis, alphabet, found, Searched(), [])
    detect_faces(shown, hypothesis, alphabet)
    first = _read_all(work)
    located, faceless = _read_again(work, first)
    if alphabet.ring_mm is not None:
        weigh_by_rings(image, hypothesis, {cell: one.face for cell, one in located.items()}, alphabet.ring_mm)
    held = hypothesis.state.copy()
    if hypothesis.is_on_learned_board:
        doubt_colours(hypothesis)  # of more squares the middle may be in view by now
    weigh_by_boundaries(shown, hypothesis, np.flatnonzero(hypothesis.updated))
    # What had no face because it seemed occluded by a stack that boundaries have since removed was judged too early.
    removed = _neighbours_of_removed(hypothesis, held)
    _read_uncovered(work, located, np.intersect1d(np.union1d(first.faceless, faceless), removed))
    _read_misplaced(work)
    return found


def _read_all(work: _Work) -> _FirstReading:
    """Read all stacks that were updated, and rescore heights with the faces that are found."""
    image, hypothesis, found = work.image, work.hypothesis, work.found
    cells = np.flatnonzero((hypothesis.state > 0) & hypothesis.updated)
    known, strange, faceless, _ = work.read(cells)
    seen = visible_parts(hypothesis, faceless)
    if remove_faceless(image, hypothesis, faceless):
        cells = cells[hypothesis.state[cells] > 0]
        known, strange, _, _ = work.read(cells, known)
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


def _read_again(work: _Work, first: _FirstReading) -> tuple[dict[int, LocatedFace], Indices]:
    """Read what the ``first`` reading left open, and what is occluded otherwise since then.

    Returns all faces that are located by now, by cell; and (b,) cells on which none was found this time.
    """
    image, hypothesis = work.image, work.hypothesis
    sure, _, faceless, _ = work.read(first.again)
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


def _read_uncovered(work: _Work, located: dict[int, LocatedFace], uncovered: Indices) -> None:
    """Judge anew the cells ``uncovered`` (b,) by a stack that was removed, and read all that has not been read yet."""
    image, hypothesis, found = work.image, work.hypothesis, work.found
    _discard_face_evidence(hypothesis, uncovered)
    converge(hypothesis)
    found[uncovered] = 0
    unread = (hypothesis.state > 0) & hypothesis.updated & (found == 0).all(axis=1)
    read = work.read(np.flatnonzero(unread))
    again, _ = _rescore_by_faces(hypothesis, read.located, [*located.values()])
    placed = np.array([one.cell for one in read.located], np.intp)
    weigh_by_boundaries(image, hypothesis, np.union1d(again, placed))


def _read_misplaced(work: _Work) -> None:
    """Read unsure characters again where stacks have their faces as they are believed now, if they were read elsewhere.

    A face is looked for at all heights in question: the likeliest one may have none of them in the end.
    """
    image, hypothesis, alphabet, found = work.image, work.hypothesis, work.alphabet, work.found
    last = {cell: (k, faces) for cells, faces in work.faces for k, cell in enumerate(cells.tolist())}
    unsure = np.flatnonzero((hypothesis.state > 0) & (found.max(axis=1) < MIN_LOG_PROBABILITY))
    misplaced = np.array(
        [cell for cell in unsure.tolist() if cell in last and _is_elsewhere(hypothesis, cell, *last[cell])]
    )
    if not len(misplaced):
        return
    found[misplaced] = read_at_heights(image, hypothesis, alphabet, misplaced)


def _is_elsewhere(hypothesis: Hypothesis, cell: int, number: int, faces: Faces) -> bool:
    """Whether the face with this ``number`` is not where the stack hypothesised on a cell has its own."""
    own = hypothesis.faces_on(np.array([cell]))
    return bool(distances_mm(faces.select(np.array([number])), own)[0, 0] > ELSEWHERE_MM)


def _discard_misplaced(hypothesis: Hypothesis, known: list[LocatedFace]) -> None:
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


def weigh_by_boundaries(image: Picture, hypothesis: Hypothesis, cells: Indices) -> None:
    """Weigh heights on ``cells`` (b,) that are still in doubt, "none" among them, by boundaries as well.

    The colours of sides of one wood hardly tell how many pieces there are; the seams between the pieces do.
    """
    prisms, scores = hypothesis.geometry.prisms, hypothesis.scores
    assert prisms is not None, "only faces have characters"
    by_colour = scores[:, 1:].reshape(len(scores), -1, hypothesis.colours)
    heights = hypothesis.explanation_scores()
    tried = heights > heights.max(axis=1, keepdims=True) - CLOSE_NATS
    # Colours say little there, and a mirrored lamp may hide a character, but not the outlines of a stack.
    stands = heights[:, 1:].max(axis=1, keepdims=True)
    is_open = hypothesis.doubts_colours[:, None] & (stands > -IN_QUESTION_NATS)
    tried[:, :1] |= is_open
    tried[:, 1:] |= is_open & (heights[:, 1:] > stands - CLOSE_NATS)
    cells = cells[tried[cells].sum(axis=1) > 1]
    if not len(cells):
        return
    view, stacks = make_view(image, hypothesis.geometry, prisms), stacks_of(hypothesis, prisms)
    for cell in cells[np.argsort(view.rank[cells])].tolist():
        which = cell, heights[cell], tried[cell]
        compared, places = compare_with_colours(view, prisms, hypothesis, stacks, which)
        compared = reweight_heights(compared, heights[cell], tried[cell], prisms.counts)
        hypothesis.set_places(cell, places)
        rescore(hypothesis, cell, combine_scores(by_colour[cell], heights[cell], compared, tried[cell]))
        stacks.configurations[cell], stacks.places[cell] = compared.argmax() - 1, places[compared.argmax()]
    hypothesis.clear_stale()


def _rescore_by_faces(
    hypothesis: Hypothesis, known: list[LocatedFace], before: Sequence[LocatedFace] = ()
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
