"""Evidence of printed faces for whether something stands: every piece has a character, and nothing else has any."""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np
import numpy.typing as npt

from vision.glyphs.face_choice import ELSEWHERE_MM, Candidates
from vision.glyphs.face_detection import box_px
from vision.glyphs.face_visibility import are_visible, sample_places
from vision.glyphs.faces import Faces, distances_mm
from vision.glyphs.legibility import MAX_COUNTER_EVIDENCE, character_gain
from vision.glyphs.templates import Alphabet
from vision.inference.comparison import compare_with_colours, stacks_of
from vision.inference.coordinate_ascent import (
    bound_doubtful,
    complete,
    converge,
    lacks_likeliest,
    score_all,
    with_empty,
)
from vision.inference.ground_hue import are_middles_visible
from vision.inference.hypothesis import Hypothesis
from vision.inference.line_of_stacks import split_lines
from vision.inference.picture_view import make_view
from vision.inference.surfaces import are_unlike_board
from vision.likelihood.stacks import OUT_OF_REACH
from vision.scene.label_buffer import LabelBuffer
from vision.scene.solids import are_inside, hull

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]

IN_QUESTION_NATS = 15.0
"""Heights that are less likely than the best one by so many nats need not be searched for their faces, unless the face
that is found is near theirs: the colours of sides of one wood tell little of how many pieces there are."""

EMPTY_NATS = 30.0
"""Nats by which colours must find a square of a learned board empty for no face to be looked for there: the board is
known more sharply than pieces are, and a green disc with a clear character on a board of its green was likelier ground
by 15.  Where a square is seen not to look like the board, colours are bounded: a tower of four was likelier ground by
41."""

ONE_PX_ROUND = np.ones((3, 3), np.uint8)
"""Structuring element by which what is nearer is widened (greyscale dilation), as it has the greater rank."""


def detect_faces(image: Picture, hypothesis: Hypothesis, alphabet: Alphabet) -> None:
    """Look for faces where colours leave it in doubt whether something stands.

    Bare wood, or ground of its colour, is no piece.  A face that reflects a lamp may be as pale as paper, and its ink
    as pale as the floor.  What is found is evidence only for those heights that have their face there.
    """
    prisms = hypothesis.geometry.prisms
    assert prisms is not None, "only faces have characters"
    lacking = hypothesis.updated & lacks_likeliest(hypothesis)
    complete(hypothesis, np.flatnonzero(lacking))
    # By colours alone a tower is often likely that would occlude others, and whose foot would lie in their shadow.
    if hypothesis.geometry.configurations.is_single_size:
        split_lines(cache(lambda: make_view(image, hypothesis.geometry, prisms)), hypothesis, lacking)
    if hypothesis.is_on_learned_board:
        doubt_colours(hypothesis)
    cells = _in_question(hypothesis)
    if not len(cells):
        return
    seen = visible_parts(hypothesis, cells)
    _detect_on(image, hypothesis, alphabet, cells)
    # What stands by now may hide faces that were looked for while nothing seemed to.
    hidden = cells[(hypothesis.state[cells] == 0) & view_has_changed(hypothesis, seen)]
    if len(hidden):
        hypothesis.set_glyph_log_ratio(hidden, np.zeros_like(hypothesis.glyph_log_ratio[hidden]))
        hypothesis.invalidate(hidden)
        converge(hypothesis)
        _detect_on(image, hypothesis, alphabet, np.intersect1d(hidden, _in_question(hypothesis)))


def _in_question(hypothesis: Hypothesis) -> Indices:
    """(b,) updated cells of which colours do not tell whether anything stands there."""
    best = hypothesis.configuration_scores().max(axis=1)
    empty_nats = EMPTY_NATS if hypothesis.is_on_learned_board else IN_QUESTION_NATS
    is_told = ((best >= IN_QUESTION_NATS) | (best <= -empty_nats)) & ~hypothesis.is_empty_off_hue
    return np.flatnonzero(hypothesis.updated & ~is_told)


def _detect_on(image: Picture, hypothesis: Hypothesis, alphabet: Alphabet, cells: Indices) -> None:
    """Look for faces on ``cells`` (b,), in doubt, given what else stands."""
    if not len(cells):
        return
    upright, scores = hypothesis.geometry.faces, hypothesis.configuration_scores()
    best = scores.max(axis=1)
    count = scores.shape[1]
    likely = _extended(scores[cells])
    owner, configuration = np.nonzero(likely > likely.max(axis=1, keepdims=True) - IN_QUESTION_NATS)
    candidates = Candidates(upright.select(cells[owner] * count + configuration), owner, likely[owner, configuration])
    standing = np.setdiff1d(np.flatnonzero(hypothesis.state), cells)
    others = hypothesis.faces_on(standing)
    # Otherwise the blurred rim of a nearer stack would pass for the wood of a face behind it, and all else for its ink.
    labels = _widened(hypothesis.labels(), candidates.undisplaced)
    gain, otherwise, faces = character_gain(image, candidates, labels, alphabet, others)
    spoken = evidence_by_height(hypothesis, cells, faces, gain, otherwise)
    for cell in cells[((spoken > 0) & (scores[cells] < OUT_OF_REACH / 2)).any(axis=1)].tolist():
        score_all(hypothesis, cell)
    by_colours = np.where(spoken > 0, hypothesis.configuration_scores(cells), -np.inf)
    worth = spoken + by_colours
    is_theirs = _is_of_another_cell(faces, worth.max(axis=1))
    is_theirs |= _evidence_lost(hypothesis, standing, faces) < np.maximum(best[cells], 0) - by_colours.max(axis=1)
    is_theirs |= hidden_nats(hypothesis, cells, worth.argmax(axis=1), faces, gain) > gain
    spoken[is_theirs & (gain > 0)] = 0
    told = spoken.any(axis=1)
    hypothesis.set_glyph_log_ratio(cells[told], spoken[told])
    hypothesis.clear_stale()
    for cell, ratio in zip(cells[told].tolist(), spoken[told], strict=True):
        scored = hypothesis.scores[cell, 1:].reshape(count, -1) + ratio[:, None]
        before, likeliest = int(hypothesis.state[cell]), int(np.append(0, scored).argmax())
        if likeliest != before:
            hypothesis.assign(cell, likeliest)
            hypothesis.invalidate_neighbours(cell, before)
    hypothesis.invalidate(cells[told])
    converge(hypothesis)


def _widened(labels: LabelBuffer, faces: Faces) -> LabelBuffer:
    """A copy of a label buffer in which what is nearer is a pixel wider where some ``faces`` may be."""
    left, top, right, bottom = box_px(faces, labels.shape)
    widened, near = labels.copy(), np.s_[top:bottom, left:right]
    widened[near] = cv2.dilate(labels[near], ONE_PX_ROUND)
    return widened


def doubt_colours(hypothesis: Hypothesis) -> None:
    """Keep colours from ruling out a piece where a learned board is in view but looks different.

    A face may decide, or boundaries.
    """
    empty = np.flatnonzero(hypothesis.updated & (hypothesis.state == 0) & ~hypothesis.doubts_colours)
    empty = empty[are_middles_visible(hypothesis)[empty]]
    doubtful = empty[are_unlike_board(hypothesis, empty)]
    hypothesis.mark_doubtful(doubtful)
    by_face = hypothesis.glyph_log_ratio[doubtful]
    scores = hypothesis.scores[doubtful, 1:].reshape(*by_face.shape, hypothesis.colours)
    bound_doubtful(hypothesis, doubtful, by_face, scores)
    hypothesis.set_scores(doubtful, with_empty(scores))


def evidence_by_height(hypothesis: Hypothesis, cells: Indices, faces: Faces, gain: Array, otherwise: Array) -> Array:
    """(b, configurations) evidence, in nats, of ``faces`` (b) for each configuration on ``cells`` (b,).

    ``gain`` (b,) counts for the heights that have their face there, ``otherwise`` (b,) for all others.
    """
    spoken: Array = np.where(are_near(hypothesis, cells, faces), gain[:, None], otherwise[:, None])
    return spoken


def are_near(hypothesis: Hypothesis, cells: Indices, faces: Faces) -> Mask:
    """(b, configurations) which configurations on ``cells`` (b,) have their face where ``faces`` (b) are."""
    count = len(hypothesis.geometry.configurations.all)
    off_mm = hypothesis.faces_at_every_height(cells).offset_mm(np.repeat(faces.centres_px, count, axis=0))
    near: Mask = np.linalg.norm(off_mm, axis=1).reshape(-1, count) < ELSEWHERE_MM
    return near


def remove_faceless(image: Picture, hypothesis: Hypothesis, cells: Indices) -> bool:
    """Remove stacks on ``cells`` (b,), on which no character fits, where boundaries do not show them either.

    The sides of a stack and the shadow in front of it may look like the face of another one, full of ink: that no
    character fits counts against a stack as much as bare wood does at most.  Returns whether some were removed.
    """
    prisms = hypothesis.geometry.prisms
    assert prisms is not None, "only faces have characters"
    if not len(cells):
        return False
    view, stacks = make_view(image, hypothesis.geometry, prisms), stacks_of(hypothesis, prisms)
    for cell in cells.tolist():
        by_colour = hypothesis.configuration_scores(np.array([cell]))[0]
        heights = np.append(0.0, by_colour)
        tried = np.append(True, by_colour > by_colour.max() - IN_QUESTION_NATS)
        compared, _ = compare_with_colours(view, prisms, hypothesis, stacks, (cell, heights, tried))
        stands = float(compared[1:].max() - compared[0]) - MAX_COUNTER_EVIDENCE
        if stands < 0:
            against = np.full((1, len(by_colour)), stands - by_colour.max(), np.float32)
            hypothesis.set_glyph_log_ratio(np.array([cell]), against)
            hypothesis.invalidate(cell)
            stacks.configurations[cell] = -1
    converge(hypothesis)
    return bool((hypothesis.state[cells] == 0).any())


def _extended(scores: Array) -> Array:
    """``scores`` (b, configurations), with higher stacks than ascent has reached as likely as the highest scored."""
    likely, is_scored = scores.copy(), scores > OUT_OF_REACH / 2
    for row, scored in zip(likely, is_scored, strict=True):
        if scored.any():
            last = int(np.flatnonzero(scored)[-1])
            row[last + 1 :] = row[last]
    return likely


def _evidence_lost(hypothesis: Hypothesis, standing: Indices, faces: Faces) -> Array:
    """(b,) least nats that a stack on one of the cells ``standing`` loses if its face is that of ``faces`` (b).

    inf where none has a height in question at which its face is there.
    """
    scores = hypothesis.configuration_scores(standing)
    lost = (scores.max(axis=1, keepdims=True) - scores).ravel()
    asked = np.flatnonzero(lost < IN_QUESTION_NATS)
    apart_mm = distances_mm(faces, hypothesis.faces_at_every_height(standing).select(asked))
    every = np.where(apart_mm < ELSEWHERE_MM, lost[asked, None], np.inf)
    return np.asarray(every.min(axis=0, initial=np.inf), np.float32)


def hidden_nats(hypothesis: Hypothesis, cells: Indices, chosen: Indices, faces: Faces, gain: Array) -> Array:
    """(b,) nats of evidence for ``faces`` (b) that the ``chosen`` (b,) stack on each of ``cells`` (b,) would hide.

    ``gain`` (b,): evidence for each face.  Characters that are read behind a stack count as much against it.
    """
    geometry, hidden, places_px = hypothesis.geometry, np.zeros(len(cells), np.float32), sample_places(faces)
    for k in np.flatnonzero(gain > 0).tolist():
        cell, behind = int(cells[k]), np.flatnonzero((gain > 0) & (faces.ranks < faces.ranks[k]))
        outline = hull(geometry.outlines.corners_px(geometry.crops, cell, int(chosen[k]), np.zeros(2)))
        for other in behind.tolist():
            hidden[k] += gain[other] * are_inside(places_px[other], outline).mean()
    return hidden


def visible_parts(hypothesis: Hypothesis, cells: Indices) -> list[tuple[Faces, Mask]]:
    """For each of ``cells`` (b,) its faces (h) at heights in question, and which places on each are visible, (h, k).

    As far as no nearer stack of the hypothesis occludes them.
    """
    count, scores = len(hypothesis.geometry.configurations.all), hypothesis.configuration_scores(cells)
    labels, parts = hypothesis.labels(), []
    for cell, its in zip(cells.tolist(), scores, strict=True):
        asked = np.flatnonzero(its > its.max() - IN_QUESTION_NATS)
        faces = hypothesis.geometry.faces.select(cell * count + asked)
        parts.append((faces, are_visible(labels, faces)))
    return parts


def view_has_changed(hypothesis: Hypothesis, parts: list[tuple[Faces, Mask]]) -> Mask:
    """(b,) whether other places than before are visible on the faces of ``parts`` (b) of :func:`visible_parts`."""
    labels = hypothesis.labels()
    changed = [(are_visible(labels, faces) != visible).any() for faces, visible in parts]
    return np.array(changed, np.bool_)


def _is_of_another_cell(faces: Faces, worth: Array) -> npt.NDArray[np.bool_]:
    """(b,) which of ``faces`` (b) coincide with that of a cell for which there is more evidence, by ``worth`` (b,)."""
    together = distances_mm(faces, faces) < ELSEWHERE_MM
    return np.asarray((together & (worth > worth[:, None])).any(axis=1), np.bool_)
