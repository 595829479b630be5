"""Which piece lies uppermost where pieces differ by their characters, and, since faces are found for that, how high."""

from __future__ import annotations

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
"""Log-likelihood under which no character fits: the right one mostly comes to between -1 and -10.  The stack may then
be of another height, of whatever likelihood: its face is looked for at all of them."""

FITS = -10.0
"""Log-likelihood above which a character fits.  Where none does, fainter ones are tried, and believed if they fit so
well: a fitted contrast suits what is no face, too."""

MOST_SEARCHED = 16
"""Faces on which no character fits that are looked into once more: when there are more, a hand lies over them."""

OBSERVATIONS = 88.0
"""Independent observations on a face: its area in two channels, by ``vision.glyphs.templates.INDEPENDENT_MM2``."""

USUAL_MISFIT = 5.0
"""Log-likelihood, negative, of the right character on a face that is seen well."""

MOSTLY = float(OBSERVATIONS / 2 * np.log(2.0))
"""A character explains more than half of what differs from bare wood."""

WIDE_STEP_MM = 1.6
WIDE_MM = np.array([(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)]) * WIDE_STEP_MM
"""Steps by which the middle of such a face is tried elsewhere; what lies between them, comparing finds."""

REFINED = 3
"""Steps of least squares after which the middle of such a face stays within a few hundredths of a millimetre."""

FACE_FOUND = 4.0
"""Log-likelihood ratio from which on the middle of a face is taken to be known."""


def read_characters(image: npt.NDArray[np.uint8], hypothesis: Hypothesis, alphabet: Alphabet) -> Array:
    """(n, letters) log-likelihood of each piece's character on each cell, even where nothing stands.

    Where a face is tells a stack's height too: the board's scores of heights in question are found again with that.
    """
    found = np.zeros((len(hypothesis.state), len(alphabet.letters)), np.float32)
    _revive(image, hypothesis, alphabet)
    known = _read(image, hypothesis, alphabet, np.flatnonzero((hypothesis.state > 0) & hypothesis.updated), found)
    if known:
        _place(hypothesis, known)
        again = update_around(hypothesis, np.array([cell for cell, _, _ in known]))
        _read(image, hypothesis, alphabet, again[hypothesis.state[again] > 0], found)
    return found


def _revive(image: npt.NDArray[np.uint8], hypothesis: Hypothesis, alphabet: Alphabet) -> None:
    """Look for characters where colours leave it in doubt whether something stands: nothing else has any.

    A face in which a lamp is mirrored may be as pale as paper, and its ink as the floor.
    """
    configurations_of, upright = len(hypothesis.geometry.configurations.all), hypothesis.geometry.faces
    scores = hypothesis.scores[:, 1:].reshape(len(hypothesis.scores), configurations_of, -1).max(axis=2)
    cells = np.flatnonzero((hypothesis.state == 0) & hypothesis.updated & (scores.max(axis=1) > -IN_QUESTION))
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
    gain = fits - blank(image, placed, labels) - np.float32(np.log(len(alphabet.letters)))
    is_seen = (fits > FITS) & (gain > 0)
    hypothesis.read_glyphs(cells[is_seen], gain[is_seen])
    hypothesis.settle()
    hypothesis.invalidate(cells[is_seen])
    converge(hypothesis)


def _read(
    image: npt.NDArray[np.uint8], hypothesis: Hypothesis, alphabet: Alphabet, cells: Indices, found: Array
) -> list[tuple[int, Indices, Array]]:
    """Put into ``found`` (n, letters) what lies on ``cells`` (b,), where something stands.

    Returns the cells whose faces were found, with the figures in question, and how far from its place each has it.
    """
    known: list[tuple[int, Indices, Array]] = []
    if not len(cells):
        return known
    configurations_of, upright = len(hypothesis.geometry.configurations.all), hypothesis.geometry.faces
    scores = hypothesis.scores[cells, 1:].reshape(len(cells), configurations_of, -1).max(axis=2)
    owner, configuration = np.nonzero(scores > scores.max(axis=1, keepdims=True) - IN_QUESTION)
    straight = upright.of(cells[owner] * configurations_of + configuration)
    labels = hypothesis.all_labels()
    rings, observations = centred(image, straight, labels)
    chosen, how_likely = _likeliest(rings, straight, observations, owner)
    likely, faces = compare(image, rings.of(chosen), labels, alphabet)
    pale = np.flatnonzero((likely.max(axis=1) < FITS) & (how_likely > FACE_FOUND))
    if len(pale):
        likely[pale] = _fainter(image, rings.of(chosen[pale]), labels, alphabet, likely[pale])
    is_strange = likely.max(axis=1) < STRANGE
    for k, cell in enumerate(cells):
        mine = owner == k
        configurations, face, letters = configuration[mine], faces.of(np.array([k])), likely[k]
        is_found = how_likely[k] > FACE_FOUND
        if is_strange[k] and is_strange.sum() <= MOST_SEARCHED:
            every = np.flatnonzero(scores[k] > OUT_OF_REACH / 2)
            straight_here = upright.of(cell * configurations_of + every)
            face, letters, explains = _searched(image, straight_here, labels, alphabet, scores[k, every])
            if explains > FACE_FOUND:
                configurations, is_found = every, True
        found[cell] = letters - np.logaddexp.reduce(letters)
        if len(configurations) > 1 and is_found:
            shifts_mm = _shifts(hypothesis, int(cell), upright.of(cell * configurations_of + configurations), face)
            known.append((int(cell), configurations, shifts_mm))
    return known


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
    is_legible = _explained(faint, blank(image, placed, labels)) > MOSTLY
    return np.where(is_legible[:, None], faint, usual)


def _explained(letters: Array, bare: Array) -> Array:
    """(k,) log-likelihood ratio of the likeliest of ``letters`` (k, letters) against ``bare`` (k,) wood.

    How far values scatter is not known here, as in noise or across the edge of a shadow, and is fitted to each.
    """
    ratio: Array = OBSERVATIONS / 2 * np.log((USUAL_MISFIT - bare) / (USUAL_MISFIT - letters.max(axis=1)))
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
    explained = _explained(rows, blank(image, placed, labels))
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


def _place(hypothesis: Hypothesis, known: list[tuple[int, Indices, Array]]) -> None:
    """Score heights again; where a cell has fewer than others, its last one is scored several times."""
    most = max(len(configurations) for _, configurations, _ in known)
    rows = [np.minimum(np.arange(most), len(configurations) - 1) for _, configurations, _ in known]
    rescore_placed(
        hypothesis,
        np.array([cell for cell, _, _ in known]),
        np.array([configurations[row] for (_, configurations, _), row in zip(known, rows, strict=True)]),
        np.array([shifts[row] for (_, _, shifts), row in zip(known, rows, strict=True)]),
    )
