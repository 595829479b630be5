"""Assignment of rings to stacks: which ring in reach is a stack's face, by place, height, character and other stacks.

The ring of a stack behind is as good a ring as a stack's own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.glyphs.face_detection import PLACED_MM, centre_faces
from vision.glyphs.faces import Faces, distances_mm, offsets_mm
from vision.glyphs.templates import Alphabet, bare_wood_log_likelihood, compare
from vision.pose.projection import Points
from vision.scene.label_buffer import LabelBuffer

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]

OBSERVATIONS = 88.0
"""Independent observations on a face: its area in two channels over ``vision.glyphs.templates.INDEPENDENT_MM2``."""

USUAL_MISFIT = 5.0
"""Negative log-likelihood of the right character on a clearly visible face."""

HALF_EXPLAINED_NATS = float(OBSERVATIONS / 2 * np.log(2.0))
"""Log-likelihood ratio of a character that explains half of the squared difference from bare wood: in five folders of
the collection 95 of 100 right ones explain more than 0.62 of it, and nothing on 150 empty cells more than 0.42.  Dark
ink that a webcam sharpens differs from its template by much, but by more from wood."""

FACE_FOUND = 4.0
"""Log-likelihood ratio from which on the centre of a face counts as known."""

ELSEWHERE_MM = 3.0 * PLACED_MM
"""Distance from which on two rings belong to different faces, and a face does not belong to a height whose undisplaced
face is so far: three standard deviations of a face's place."""

RIVAL_NATS = 30.0
"""A ring elsewhere that is less likely than the best one by more than this is not read: what a character explains
counts for no more, see :data:`HALF_EXPLAINED_NATS`."""


class Candidates(NamedTuple):
    """Candidate faces (k) of some cells (b).

    Attributes:
        undisplaced: of all heights in question, undisplaced.
        owner: (k,) cell of each, numbered from 0, in order.
        scores: (k,) log-likelihoods of the heights: the ring of a stack behind is as good a ring.
    """

    undisplaced: Faces
    owner: Indices
    scores: Array

    def select(self, cells: Indices) -> Candidates:
        """Those of some ``cells`` (c,), in order, which are then numbered from 0."""
        mine = np.flatnonzero(np.isin(self.owner, cells))
        return Candidates(self.undisplaced.select(mine), np.searchsorted(cells, self.owner[mine]), self.scores[mine])


class Rings(NamedTuple):
    """Rings (k) that were found for the candidates of some cells (b).

    Attributes:
        faces: where they are.
        placed: (b, k) log-likelihood ratio of each as a cell's face, by evenness and place; -inf if another cell's.
        known: (b, k) the same with the scores of the heights at which it lies.
    """

    faces: Faces
    placed: Points
    known: Points

    def without(self, others: Mask) -> Rings:
        """The same, with the ``others`` (k,) or (b, k) ruled out for all cells, or for these cells."""
        placed, known = (np.where(others, -np.inf, likely) for likely in (self.placed, self.known))
        return Rings(self.faces, placed, known)


class LikeliestFaces(NamedTuple):
    """Rings of some cells (b) at their likeliest heights, and (b,) whether each of these is a face."""

    faces: Faces
    is_face: Mask


def likeliest_candidates(candidates: Candidates) -> Indices:
    """(b,) the candidate of each cell at its likeliest height, judged without faces."""
    cells = np.arange(candidates.owner[-1] + 1)
    scores = np.where(candidates.owner == cells[:, None], candidates.scores, -np.inf)
    return np.asarray(scores.argmax(axis=1), np.intp)


def candidate_rings(image: Picture, candidates: Candidates, labels: LabelBuffer, alphabet: Alphabet) -> Rings:
    """The rings found for all candidates in a picture (height, width, 3) uint8 BGR."""
    straight, owner, scores = candidates
    rings, observations = centre_faces(image, straight, labels, alphabet.ring_mm)
    apart = ((offsets_mm(straight, rings) / PLACED_MM) ** 2).sum(axis=2) / 2
    is_own, of_cell = owner[:, None] == owner, owner == np.arange(owner[-1] + 1)[:, None]
    placed = observations - np.where(is_own, apart, np.inf).min(axis=1)
    known = observations + np.where(is_own, scores - apart, -np.inf).max(axis=1)
    return Rings(rings, np.where(of_cell, placed, -np.inf), np.where(of_cell, known, -np.inf))


def likeliest_faces(seen: Rings, candidates: Candidates) -> LikeliestFaces:
    """The ring of each cell at its likeliest height."""
    rings = likeliest_candidates(candidates)
    return LikeliestFaces(seen.faces.select(rings), seen.placed[np.arange(len(rings)), rings] > FACE_FOUND)


def exclude_claimed_rings(seen: Rings, candidates: Candidates, held: LikeliestFaces, numbers: Indices) -> Rings:
    """The rings ``seen``, without those of a cell that another cell holds, if the first has another face.

    A ring that a cell has at its own likeliest height stays its own.  ``numbers`` (b,): of the cells, in ``held``.
    """
    rings, owner = np.arange(len(candidates.owner)), numbers[candidates.owner]
    is_there = distances_mm(held.faces, seen.faces) < ELSEWHERE_MM
    is_theirs = (is_there & held.is_face).any(axis=1) & ~is_there[rings, owner]
    has_others = seen.without(is_theirs).placed.max(axis=1) > FACE_FOUND
    return seen.without(is_theirs & has_others[:, None])


def choose_rings(
    image: Picture, seen: Rings, labels: LabelBuffer, alphabet: Alphabet
) -> tuple[Indices, Mask, Array, Faces]:
    """The ring that is the face of each cell (b): the most even one, or one elsewhere on which a character fits better.

    The ring of a stack behind is as good a ring, so that only heights and characters tell which is the cell's own.

    Returns:
        (b,) the ring, and whether it is not the most even one; (b, letters) each character's log-likelihood; the faces.
    """
    rings, placed, known = seen
    chosen = placed.argmax(axis=1)
    letters, faces = compare(image, rings.select(chosen), labels, alphabet)
    rivals = _rivals(rings, known, chosen)
    contested, is_rival = np.flatnonzero(rivals != chosen), np.zeros(len(chosen), np.bool_)
    if len(contested):
        others, elsewhere = compare(image, rings.select(rivals[contested]), labels, alphabet)
        ratio = _is_face(image, elsewhere, others, labels)
        ratio -= _is_face(image, faces.select(contested), letters[contested], labels)
        is_better = ratio + known[contested, rivals[contested]] > known[contested, chosen[contested]]
        won = contested[is_better]
        chosen[won], letters[won], is_rival[won] = rivals[won], others[is_better], True
        faces.put(won, elsewhere.select(np.flatnonzero(is_better)))
    return chosen, is_rival, letters, faces


def _rivals(rings: Faces, known: Points, chosen: Indices) -> Indices:
    """(b,) the likeliest ring at another place than the ``chosen`` one of each cell; that one where none is likely."""
    away = distances_mm(rings.select(chosen), rings).T > ELSEWHERE_MM
    best = known[np.arange(len(chosen)), chosen]
    others = np.where(away & (known > best[:, None] - RIVAL_NATS), known, -np.inf)
    return np.where(np.isfinite(others.max(axis=1)), others.argmax(axis=1), chosen)


def explains_most(fits: Array, bare: Array) -> Mask:
    """(k,) whether the likeliest characters, of log-likelihood ``fits``, explain most.

    See :func:`explained_log_ratio`.
    """
    legible: Mask = explained_log_ratio(fits, bare) > HALF_EXPLAINED_NATS
    return legible


def _is_face(image: Picture, faces: Faces, letters: Array, labels: LabelBuffer) -> Array:
    """(k,) log-likelihood ratio that there are ``faces`` (k), bounded: more ink is no further evidence of a face."""
    return np.minimum(
        explained_log_ratio(letters.max(axis=1), bare_wood_log_likelihood(image, faces, labels)),
        np.float32(HALF_EXPLAINED_NATS),
    )


def explained_log_ratio(fits: Array, bare: Array) -> Array:
    """(k,) log-likelihood ratio of the likeliest characters, ``fits`` (k,), of faces against ``bare`` (k,) wood.

    The scatter of values is unknown here, as in noise or across the edge of a shadow, and is fitted to each.
    """
    ratio: Array = (OBSERVATIONS / 2 * np.log((USUAL_MISFIT - bare) / (USUAL_MISFIT - fits))).astype(np.float32)
    return ratio
