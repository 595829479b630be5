"""Which piece lies uppermost where pieces differ by their characters, and, since faces are found for that, how high."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.explain import OUT_OF_REACH, Board
from vision.faces import PLACED_MM, Face, centred, face_of, offsets_mm, places
from vision.glyphs import TRIED_MM, Alphabet, compare
from vision.register import Points

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]

IN_QUESTION = 15.0
"""Heights that are less likely than the best one by so many nats need not be looked into by their faces."""

STRANGE = -20.0
"""Log-likelihood under which no character fits: the right one mostly comes to between -2 and -15.  The stack may then
be of another height, of whatever likelihood: its face is looked for at all of them."""

MOST_SEARCHED = 8
"""Faces on which no character fits that are looked into once more: when there are more, a hand lies over them."""

_GRID = sorted(((x, y) for x in range(-3, 4) for y in range(-3, 4)), key=lambda at: at[0] ** 2 + at[1] ** 2)
WIDE_STEP_MM = 0.8
WIDE_MM = np.array(_GRID) * WIDE_STEP_MM
"""Steps by which the middle of such a face is tried elsewhere, none first."""

FACE_FOUND = 4.0
"""Log-likelihood ratio from which on the middle of a face is taken to be known."""


def read_characters(image: npt.NDArray[np.uint8], board: Board, alphabet: Alphabet) -> Array:
    """(n, letters) log-likelihood of each piece's character on each cell, even where nothing stands.

    Where a face is tells a stack's height too: the board's scores of heights in question are found again with that.
    """
    found = np.zeros((len(board.best), len(alphabet.letters)), np.float32)
    known = _read(image, board, alphabet, np.flatnonzero((board.best > 0) & board.explained), found)
    if known:
        _place(board, known)
        again = board.explain_round(np.array([cell for cell, _, _ in known]))
        _read(image, board, alphabet, again[board.best[again] > 0], found)
    return found


def _read(
    image: npt.NDArray[np.uint8], board: Board, alphabet: Alphabet, cells: Indices, found: Array
) -> list[tuple[int, Indices, Array]]:
    """Put into ``found`` (n, letters) what lies on ``cells`` (b,), where something stands.

    Returns the cells whose faces were found, with the figures in question, and how far from its place each has it.
    """
    known: list[tuple[int, Indices, Array]] = []
    if not len(cells):
        return known
    scores = board.scores[cells, 1:]
    trials = [np.flatnonzero(row > row.max() - IN_QUESTION) for row in scores]
    owner = np.repeat(np.arange(len(cells)), [len(trial) for trial in trials])
    heights = zip(cells[owner], np.concatenate(trials), strict=True)
    straight = [face_of(board.geometry, int(cell), int(figure)) for cell, figure in heights]
    ranks = board.ranks()
    rings, evidence = centred(image, straight, ranks)
    found_at = [_likeliest(rings, straight, evidence, np.flatnonzero(owner == k)) for k in range(len(cells))]
    likely, faces = compare(image, [rings[which] for which, _ in found_at], ranks, alphabet)
    is_strange = likely.max(axis=1) < STRANGE
    for k, cell in enumerate(cells):
        mine = np.flatnonzero(owner == k)
        figures, upright = trials[k], [straight[i] for i in mine]
        face, letters, is_found = faces[k], likely[k], found_at[k][1] > FACE_FOUND
        if is_strange[k] and is_strange.sum() <= MOST_SEARCHED:
            every = np.flatnonzero(board.scores[cell, 1:] > OUT_OF_REACH / 2)
            anywhere = [face_of(board.geometry, int(cell), int(figure)) for figure in every]
            face, letters = _best(image, centred(image, anywhere, ranks)[0], ranks, alphabet)
            if letters.max() > STRANGE:
                figures, upright, is_found = every, anywhere, True
            else:
                face, letters = _searched(image, [rings[i] for i in mine], ranks, alphabet)
        found[cell] = letters - np.logaddexp.reduce(letters)
        if len(figures) > 1 and is_found:
            known.append((int(cell), figures, _shifts(board, int(cell), upright, face)))
    return known


def _likeliest(rings: list[Face], straight: list[Face], evidence: Array, mine: Indices) -> tuple[int, float]:
    """Which of the rings that were found for one cell's heights is likeliest its face, and how likely that is."""
    apart = offsets_mm(places([straight[j] for j in mine]), places([rings[i] for i in mine])) / PLACED_MM
    placed = evidence[mine] - (apart**2).sum(axis=2).min(axis=1) / 2
    best = int(placed.argmax())
    return int(mine[best]), float(placed[best])


def _best(
    image: npt.NDArray[np.uint8],
    rings: list[Face],
    ranks: npt.NDArray[np.uint8],
    alphabet: Alphabet,
    steps_mm: Points = TRIED_MM,
) -> tuple[Face, Array]:
    """The face that some character fits best, and (letters,) how well each does."""
    rows, placed = compare(image, rings, ranks, alphabet, steps_mm)
    best = int(rows.max(axis=1).argmax())
    return placed[best], rows[best]


def _searched(
    image: npt.NDArray[np.uint8], rings: list[Face], ranks: npt.NDArray[np.uint8], alphabet: Alphabet
) -> tuple[Face, Array]:
    """A face round which a shadow or a lamp's mirror image misled: its middle where some character fits best."""
    face, _ = _best(image, _distinct(rings), ranks, alphabet, WIDE_MM)
    return _best(image, [face], ranks, alphabet)


def _distinct(rings: list[Face]) -> list[Face]:
    """Rings without those that another height put in the same place."""
    apart = np.linalg.norm(offsets_mm(places(rings), places(rings)), axis=2)
    return [ring for i, ring in enumerate(rings) if not (apart[i, :i] < WIDE_STEP_MM / 2).any()]


def _shifts(board: Board, cell: int, straight: list[Face], ring: Face) -> Array:
    """(l, 2) mm in the crop from each height's straight face to where the face is."""
    to_crop = board.geometry.crops.to_crop[cell]
    return np.array([to_crop @ (ring.middle_px - face.middle_px) for face in straight], np.float32)


def _place(board: Board, known: list[tuple[int, Indices, Array]]) -> None:
    """Score heights again; where a cell has fewer than others, its last one is scored several times."""
    most = max(len(figures) for _, figures, _ in known)
    rows = [np.minimum(np.arange(most), len(figures) - 1) for _, figures, _ in known]
    board.place_faces(
        np.array([cell for cell, _, _ in known]),
        np.array([figures[row] for (_, figures, _), row in zip(known, rows, strict=True)]),
        np.array([shifts[row] for (_, _, shifts), row in zip(known, rows, strict=True)]),
    )
