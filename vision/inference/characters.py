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

WIDE_STEP_MM = 1.6
WIDE_MM = np.array([(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)]) * WIDE_STEP_MM
"""Steps by which the middle of such a face is tried elsewhere; what lies between them, comparing finds."""

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
            anywhere, _ = centred(image, upright.of(cell * configurations_of + every), labels)
            face, letters = _best(image, anywhere, labels, alphabet, scores[k, every])
            if letters.max() > STRANGE:
                configurations, is_found = every, True
            else:
                face, letters = _searched(image, rings.of(np.flatnonzero(mine)), labels, alphabet)
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
    """(k, letters) how well characters fit ``faces``: fainter ones where one fits then, elsewhere as ``usual``."""
    faint, _ = compare(image, faces, labels, alphabet, is_faint=True)
    return np.where(faint.max(axis=1, keepdims=True) > FITS, faint, usual)


def _best(
    image: npt.NDArray[np.uint8],
    rings: Faces,
    labels: LabelBuffer,
    alphabet: Alphabet,
    scores: Array | float = 0.0,
) -> tuple[Faces, Array]:
    """The one face that some character fits best, and (letters,) how well each does; ``scores`` (k,) are added."""
    rows, placed = compare(image, rings, labels, alphabet)
    best = int((rows.max(axis=1) + scores).argmax())
    return placed.of(np.array([best])), rows[best]


def _searched(
    image: npt.NDArray[np.uint8], rings: Faces, labels: LabelBuffer, alphabet: Alphabet
) -> tuple[Faces, Array]:
    """A face round which a shadow or a lamp's mirror image misled: its middle where some character fits best."""
    distinct = _distinct(rings)
    wide = distinct.of(np.repeat(np.arange(len(distinct.ranks)), len(WIDE_MM)))
    return _best(image, wide.moved(np.tile(WIDE_MM, (len(distinct.ranks), 1))), labels, alphabet)


def _distinct(rings: Faces) -> Faces:
    """Rings without those that another height put in the same place."""
    close = np.linalg.norm(offsets_mm(rings, rings), axis=2) < WIDE_STEP_MM / 2
    return rings.of(np.flatnonzero(~np.tril(close, -1).any(axis=1)))


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
