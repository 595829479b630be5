"""Which piece lies uppermost where pieces differ by their characters, and, since faces are found for that, how high."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.glyphs.face_detection import PLACED_MM, Faces, centred, offsets_mm
from vision.glyphs.templates import Alphabet, blank, compare
from vision.inference.coordinate_ascent import converge, rescore_placed, update_around
from vision.inference.hypothesis import Hypothesis
from vision.likelihood.stacks import OUT_OF_REACH
from vision.pose.projection import Points
from vision.scene.label_buffer import LabelBuffer

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]

IN_QUESTION = 15.0
"""Heights that are less likely than the best one by so many nats need not be looked into by their faces."""

STRANGE = -15.0
"""Log-likelihood under which no character fits that does not explain most of a face.  The stack may then be of another
height, of whatever likelihood: its face is looked for at all of them."""

FITS = -10.0
"""Log-likelihood above which a character fits, whatever it explains.  Where none does or explains most of a face,
fainter ones are tried: a fitted contrast suits what is no face, too."""

MOST_SEARCHED = 16
"""Faces on which no character fits that are looked into once more: when there are more, a hand lies over them."""

OBSERVATIONS = 88.0
"""Independent observations on a face: its area in two channels, by ``vision.glyphs.templates.INDEPENDENT_MM2``."""

USUAL_MISFIT = 5.0
"""Log-likelihood, negative, of the right character on a face that is seen well."""

MOSTLY = float(OBSERVATIONS / 2 * np.log(2.0))
"""A character explains more than half of what differs from bare wood: in five folders of the collection 95 of 100 right
ones explain more than 0.62 of it, and nothing on 150 empty cells more than 0.42.  Dark ink that a webcam sharpens
differs from its template by much, but by more from wood."""

WIDE_STEP_MM = 1.6
WIDE_MM = np.array([(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)]) * WIDE_STEP_MM
"""Steps by which the middle of such a face is tried elsewhere; what lies between them, comparing finds."""

REFINED = 3
"""Steps of least squares after which the middle of such a face stays within a few hundredths of a millimetre."""

FACE_FOUND = 4.0
"""Log-likelihood ratio from which on the middle of a face is taken to be known."""


NONE: Indices = np.zeros(0, np.intp)


class _Known(NamedTuple):
    """A cell whose face was found.

    Attributes:
        cell: its row.
        configurations: (l,) those in question.
        shifts_mm: (l, 2) how far each then has its face from its place, in the crop.
    """

    cell: int
    configurations: Indices
    shifts_mm: Array


def read_characters(image: npt.NDArray[np.uint8], hypothesis: Hypothesis, alphabet: Alphabet) -> Array:
    """(n, letters) log-likelihood of each piece's character on each cell, even where nothing stands.

    Where a face is tells a stack's height too: the board's scores of heights in question are found again with that.
    """
    found = np.zeros((len(hypothesis.state), len(alphabet.letters)), np.float32)
    _revive(image, hypothesis, alphabet)
    cells = np.flatnonzero((hypothesis.state > 0) & hypothesis.updated)
    known, strange = _read(image, hypothesis, alphabet, cells, found)
    scores = hypothesis.scores.copy()
    again, occluded = _place(hypothesis, known)
    # What a stack that was taken for a higher one occluded may have been strange for that alone.
    hasty = np.intersect1d(strange, occluded)
    hypothesis.score(hasty, scores[hasty])
    for cell in hasty.tolist():
        hypothesis.assign(cell, int(scores[cell].argmax()))
    again = np.union1d(again, hasty)
    sure, _ = _read(image, hypothesis, alphabet, again[hypothesis.state[again] > 0], found)
    placed = {face.cell for face in known} - set(hasty.tolist())
    again, _ = _place(hypothesis, [face for face in sure if face.cell not in placed], known)
    _read(image, hypothesis, alphabet, again[hypothesis.state[again] > 0], found)
    return found


def _revive(image: npt.NDArray[np.uint8], hypothesis: Hypothesis, alphabet: Alphabet) -> None:
    """Look for characters where colours leave it in doubt whether something stands: nothing else has any.

    A face in which a lamp is mirrored may be as pale as paper, and its ink as the floor.
    """
    configurations_of, upright = len(hypothesis.geometry.configurations.all), hypothesis.geometry.faces
    scores = hypothesis.scores[:, 1:].reshape(len(hypothesis.scores), configurations_of, -1).max(axis=2)
    cells = np.flatnonzero(hypothesis.updated & (np.abs(scores.max(axis=1)) < IN_QUESTION))
    if not len(cells):
        return
    owner, configuration = np.nonzero(scores[cells] > -IN_QUESTION)
    straight = upright.of(cells[owner] * configurations_of + configuration)
    labels = hypothesis.all_labels()
    rings, observations = centred(image, straight, labels)
    chosen, _ = _likeliest(rings, straight, observations, owner)
    faces = rings.of(chosen)
    usual, placed = compare(image, faces, labels, alphabet)
    faint, _ = compare(image, faces, labels, alphabet, is_faint=True)
    fits = np.maximum(usual, faint).max(axis=1)
    bare = blank(image, placed, labels)
    gain = fits - bare - np.float32(np.log(len(alphabet.letters)))
    is_seen = _is_legible(fits, bare) & (gain > 0)
    hypothesis.read_glyphs(cells[is_seen], gain[is_seen])
    hypothesis.settle()
    hypothesis.invalidate(cells[is_seen])
    converge(hypothesis)


def _read(
    image: npt.NDArray[np.uint8],
    hypothesis: Hypothesis,
    alphabet: Alphabet,
    cells: Indices,
    found: Array,
) -> tuple[list[_Known], Indices]:
    """Put into ``found`` (n, letters) what lies on ``cells`` (b,), where something stands.

    Returns the cells whose faces were found; and those where no character fitted, so that a face was looked for at all
    heights.
    """
    known: list[_Known] = []
    if not len(cells):
        return known, cells
    configurations_of, upright = len(hypothesis.geometry.configurations.all), hypothesis.geometry.faces
    scores = hypothesis.scores[cells, 1:].reshape(len(cells), configurations_of, -1).max(axis=2)
    owner, configuration = np.nonzero(scores > scores.max(axis=1, keepdims=True) - IN_QUESTION)
    straight = upright.of(cells[owner] * configurations_of + configuration)
    labels = hypothesis.all_labels()
    rings, observations = centred(image, straight, labels)
    chosen, how_likely = _likeliest(rings, straight, observations, owner)
    likely, faces = compare(image, rings.of(chosen), labels, alphabet)
    illegible = np.flatnonzero(likely.max(axis=1) < FITS)
    bare = blank(image, faces.of(illegible), labels)
    illegible = illegible[~_is_legible(likely[illegible].max(axis=1), bare)]
    pale = illegible[how_likely[illegible] > FACE_FOUND]
    if len(pale):
        likely[pale] = _fainter(image, rings.of(chosen[pale]), labels, alphabet, likely[pale])
    strange = cells[illegible[likely[illegible].max(axis=1) < STRANGE]]
    if len(strange) > MOST_SEARCHED:
        strange = NONE
    for k, cell in enumerate(cells):
        mine = owner == k
        configurations, face, letters = configuration[mine], faces.of(np.array([k])), likely[k]
        is_found = how_likely[k] > FACE_FOUND
        if cell in strange:
            every = np.flatnonzero(scores[k] > OUT_OF_REACH / 2)
            straight_here = upright.of(cell * configurations_of + every)
            face, letters, explains = _searched(image, straight_here, labels, alphabet, scores[k, every])
            if explains > FACE_FOUND:
                configurations, is_found = every, True
        found[cell] = letters - np.logaddexp.reduce(letters)
        if len(configurations) > 1 and is_found:
            shifts_mm = _shifts(hypothesis, int(cell), upright.of(cell * configurations_of + configurations), face)
            known.append(_Known(int(cell), configurations, shifts_mm))
    return known, strange


def _likeliest(rings: Faces, straight: Faces, observations: Array, owner: Indices) -> tuple[Indices, Points]:
    """Which of the rings (k) that were found for each cell's heights is likeliest its face, and how likely that is.

    ``owner`` (k,) numbers the cells from 0.
    """
    apart = ((offsets_mm(straight, rings) / PLACED_MM) ** 2).sum(axis=2)
    nearest = np.where(owner[:, None] == owner, apart, np.inf).min(axis=1)
    placed = np.where(owner == np.arange(owner[-1] + 1)[:, None], observations - nearest / 2, -np.inf)
    return placed.argmax(axis=1), placed.max(axis=1)


def _fainter(
    image: npt.NDArray[np.uint8], faces: Faces, labels: LabelBuffer, alphabet: Alphabet, usual: Array
) -> Array:
    """(k, letters) how well characters fit ``faces``: of a fitted contrast where that explains most of what is seen."""
    faint, placed = compare(image, faces, labels, alphabet, is_faint=True)
    return np.where(_is_legible(faint.max(axis=1), blank(image, placed, labels))[:, None], faint, usual)


def _is_legible(fits: Array, bare: Array) -> npt.NDArray[np.bool_]:
    """(k,) whether the likeliest characters explain most of faces; see :func:`_explained`."""
    is_legible: npt.NDArray[np.bool_] = _explained(fits, bare) > MOSTLY
    return is_legible


def _explained(fits: Array, bare: Array) -> Array:
    """(k,) log-likelihood ratio of the likeliest characters (k,) of faces against ``bare`` (k,) wood.

    How far values scatter is not known here, as in noise or across the edge of a shadow, and is fitted to each.
    """
    ratio: Array = (OBSERVATIONS / 2 * np.log((USUAL_MISFIT - bare) / (USUAL_MISFIT - fits))).astype(np.float32)
    return ratio


def _searched(
    image: npt.NDArray[np.uint8], straight: Faces, labels: LabelBuffer, alphabet: Alphabet, scores: Array
) -> tuple[Faces, Array, float]:
    """A face round which a shadow or a lamp's mirror image misled: where some character explains most.

    Args:
        image: (height, width, 3) uint8, BGR.
        straight: (k) the faces of all heights, undisplaced.
        labels: (height, width) uint16.
        alphabet: of the set.
        scores: (k,) of the heights.

    Returns:
        The face; (letters,) how well each fits; and how much the best one explains, see :func:`_explained`.
    """
    rings, _ = centred(image, straight, labels)
    height = np.repeat(np.arange(len(scores)), len(WIDE_MM))
    tried = rings.of(height).moved(np.tile(WIDE_MM, (len(scores), 1)))
    rows, placed = compare(image, tried, labels, alphabet, is_faint=True)
    explained = _explained(rows.max(axis=1), blank(image, placed, labels))
    apart = np.linalg.solve(placed.to_picture, (placed.middles_px - straight.of(height).middles_px)[..., None])[..., 0]
    best = int((explained + scores[height] - ((apart / PLACED_MM) ** 2).sum(axis=1) / 2).argmax())
    face, letters = placed.of(np.array([best])), rows[[best]]
    for _ in range(REFINED):
        letters, face = compare(image, face, labels, alphabet, is_faint=True)
    return face, letters[0], float(explained[best])


def _shifts(hypothesis: Hypothesis, cell: int, straight: Faces, ring: Faces) -> Array:
    """(l, 2) mm in the crop from each height's straight face to where the one face is."""
    to_crop = hypothesis.geometry.crops.to_crop[cell]
    return np.asarray((ring.middles_px - straight.middles_px) @ to_crop.T, np.float32)


def _place(hypothesis: Hypothesis, known: list[_Known], before: Sequence[_Known] = ()) -> tuple[Indices, Indices]:
    """Score heights again by faces that are known now; those that were known ``before`` stay as they are.

    Returns the cells (b,) whose surroundings that has changed and which were updated; and those of the known ones.
    """
    if not known:
        return NONE, NONE
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
