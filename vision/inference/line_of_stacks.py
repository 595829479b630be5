"""Towers and lines of two stacks, each of which may be mistaken for the other: block moves from one to the other.

The faces and sides of stacks behind each other can look like one tower, whose foot is the nearest one's and whose face
is the farthest one's.  Colours hardly distinguish them, since pieces of one colour are darker on their sides, too, and
ink is dark.  Boundaries do: in a line of stacks the edge of every face is visible.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.glyphs.face_choice import ELSEWHERE_MM
from vision.glyphs.faces import distances_mm
from vision.inference.block_moves import occluded_singles
from vision.inference.comparison import stacks_of
from vision.inference.coordinate_ascent import all_scores, converge, update
from vision.inference.evidence_weights import UNINFORMATIVE, bounded_colour_evidence, combine_scores
from vision.inference.heights import weigh_heights
from vision.inference.hypothesis import Hypothesis, Proposal
from vision.inference.line_comparison import (
    MAX_EXTRA_PIECES,
    Line,
    compare_with_line,
    compare_with_tower,
    faces_apart_mm,
)
from vision.inference.picture_view import ViewFactory
from vision.likelihood.stacks import OUT_OF_REACH
from vision.scene.prisms import Floats

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

SURE_NATS = 6.0
"""How much likelier a line must be to replace a tower of pieces with characters, whose ink has edges, too: it was
likelier by 5.4 at most where a tower stood, and by 7 and 13 in the two cases where none did.  In 289 pictures of 24
sets and boards the next were 5.0 and 7.6; the tower of the former, once split, was surely no stack at all."""

SURE_OF_PLAIN_NATS = 2.0
"""How much likelier a line, or a tower, of plain faces must be to replace the other.  In 162 pictures of 25 sets a line
was less likely by 3.4 at least where a tower stood, and likelier by 4.5 in the one where none did.  In 110 pictures of
eleven sets a tower was less likely by 5.8 at least where one of 62 lines stood, and of 21 that were mistaken for lines
likelier by 4.5 to 29 in seven (the others: −4 to 1)."""

DOUBT_NATS = 80.0
"""Stacks that are likelier than an empty cell by more than this are not part of a tower in front of them.  The upper
half of a tower was likelier by 47; 41 lines whose stack behind was likelier by 40 to 80 were all kept by boundaries, by
5.8 nats at least."""

UNKNOWN_NATS = 3.0
"""Stacks behind a tower that are likelier than an empty cell by less than this count as unknown: hardly anything of
them is visible.  In front of other stacks a tower of pieces with characters may only be replaced by an empty cell:
ground in their shadow looks like its foot, since sides of wood are pale.  Of 327 towers of 14 such sets that did stand,
if lower, an empty cell was likelier in two, by 3.3 nats at most; of 23 that did not, in 21, by 5 to 35."""

GROUND_NATS = 80.0
"""Towers that colours make likelier than an empty cell by more than this are not held against bare ground before such
stacks: eleven where nothing stood were likelier by up to 33; of 398 that were asked about two in three by more than
this."""

NEIGHBOUR_PITCHES = 1.6
"""Distance below which two squares are neighbours, in units of the smallest: less than two, more than a diagonal."""

RAISED_NATS = 3.0
"""How much likelier a tower must be by boundaries than the face behind it alone, to stand on a cell that seems empty:
it was so by 5.5 where one stood; where none did, less likely by 20 (five such cells in 74 pictures of eight sets)."""

PALE_NATS = 20.0
"""Towers that colours make less likely than an empty cell by more than this are not tried there.  Chosen by eye."""

SPLIT_ROUNDS = 3
"""How many times towers are split in a row: as many stacks are seldom seen one behind the other."""


class ComparedLine(NamedTuple):
    """Two stacks in a line that were compared with a tower: their cells, and the state of the one in front then."""

    cell: int
    behind: int
    state: int


def split_lines(look: ViewFactory, hypothesis: Hypothesis, asked: Mask) -> None:
    """Replace towers on the cells ``asked`` (n,) by lines of two stacks where boundaries in the picture say so.

    What colours then take for a tower behind may hide a third stack: it is asked about, too.  ``look`` gives the
    picture that was observed.  The kit's pieces must be of one size and have upper faces.
    """
    for _ in range(SPLIT_ROUNDS):
        asked = _split_once(look, hypothesis, asked)
        if not asked.any():
            return


def _split_once(look: ViewFactory, hypothesis: Hypothesis, asked: Mask) -> Mask:
    """See :func:`split_lines`; returns (n,) the cells that colours have changed since."""
    prisms = hypothesis.geometry.prisms
    assert prisms is not None, "pyramids have no upper faces"
    towers = np.flatnonzero((hypothesis.state > hypothesis.colours) & asked)
    pairs = [(cell, one) for cell in towers.tolist() for one in occluded_singles(hypothesis, cell).tolist()]
    scores = hypothesis.scores.max(axis=1)
    is_known, may_be_bare = (hypothesis.state > 0) & (scores >= UNKNOWN_NATS), scores < GROUND_NATS
    pairs = [(cell, behind) for cell, behind in pairs if may_be_bare[cell] or not is_known[behind]]
    sure = SURE_NATS
    if hypothesis.geometry.configurations.has_plain_faces:
        sure, pairs = SURE_OF_PLAIN_NATS, [pair for pair in pairs if not is_known[pair[1]]]
    if not pairs:
        return np.zeros(len(scores), np.bool_)
    view, stacks = look(), stacks_of(hypothesis, prisms)
    lines: dict[int, tuple[int, Line]] = {}
    for cell, behind in pairs:
        if (is_bare := bool(is_known[behind])) and cell in lines:
            continue
        line = compare_with_line(view, prisms, hypothesis, stacks, (cell, behind), is_bare=is_bare, sure_nats=sure)
        # A tower may hide several stacks, and seem to be a line with each.
        least = max(sure, _lead(lines[cell][1])) if cell in lines else sure
        if _lead(line) > least and not (is_bare and line.log_likelihoods.argmax()):
            lines[cell] = behind, line
    split = {cell: _assign(hypothesis, (cell, behind), line) for cell, (behind, line) in lines.items()}
    told = hypothesis.state.copy()
    _update_neighbours(look, hypothesis, split)
    changed: Mask = (hypothesis.state != told) & ~np.isin(np.arange(len(told)), list(split))
    return changed


def _lead(line: Line) -> float:
    """How much likelier the likeliest line is than the tower."""
    return float(line.log_likelihoods.max()) - line.tower


def raise_towers(look: ViewFactory, hypothesis: Hypothesis) -> None:
    """Replace stacks by towers of which they are the faces, on cells before them that seem empty, if boundaries say so.

    Sides of pale wood may be taken for ground, and the character above them for that of a piece behind.  ``look`` gives
    the picture that was observed.  The kit's pieces must be of one size and have upper faces.
    """
    prisms = hypothesis.geometry.prisms
    assert prisms is not None, "pyramids have no upper faces"
    pairs = _pairs_with_one_face(hypothesis)
    if not pairs:
        return
    view, stacks = look(), stacks_of(hypothesis, prisms)
    raised: dict[int, Array] = {}
    for cell, behind in pairs:
        if hypothesis.state[cell] or not hypothesis.state[behind]:
            continue
        towers = compare_with_tower(view, prisms, hypothesis, stacks, (cell, behind))
        if towers.log_likelihoods[1:].max() > towers.line + RAISED_NATS:
            raised[cell] = _assign(hypothesis, (cell, behind), Line(towers.log_likelihoods, towers.line, towers.left))
            for one in (cell, behind):
                stacks.configurations[one] = hypothesis.configuration(one)
    _update_neighbours(look, hypothesis, raised)


def _pairs_with_one_face(hypothesis: Hypothesis) -> list[tuple[int, int]]:
    """Cells that seem empty, each with one behind it whose stack has its face where a tower in front would have it.

    Colours tell how likely that tower is, in isolation where ascent has not reached it, as the one behind has its face.
    """
    rank, heights = hypothesis.geometry.rank, hypothesis.configuration_scores()
    isolated = hypothesis.in_likeliest_colour(hypothesis.isolated.scores)
    are_likely = np.where(heights > OUT_OF_REACH / 2, heights, isolated) > -PALE_NATS
    behind, empty = np.flatnonzero(may_be_of_tower(hypothesis)), hypothesis.updated & (hypothesis.state == 0)
    faces, pairs = hypothesis.faces_on(behind), []
    for cell in np.flatnonzero(empty & are_likely.any(axis=1)).tolist():
        apart_mm = distances_mm(faces, hypothesis.faces_at_every_height(np.array([cell])))
        is_one = (apart_mm < ELSEWHERE_MM) & are_likely[cell, :, None] & (rank[behind] < rank[cell])
        pairs += [(cell, one) for one in behind[is_one[1:].any(axis=0)].tolist()]
    return pairs


def may_be_of_tower(hypothesis: Hypothesis) -> Mask:
    """(n,) updated cells whose stack is in doubt, so that it may be part of a tower in front of it."""
    is_doubtful: Mask = (hypothesis.state > 0) & hypothesis.updated & (hypothesis.scores.max(axis=1) < DOUBT_NATS)
    return is_doubtful


def join_lines(
    look: ViewFactory, hypothesis: Hypothesis, asked: Mask, compared: Set[ComparedLine] = frozenset()
) -> set[ComparedLine]:
    """Replace lines of two stacks, the rear one on one of the cells ``asked`` (n,), by towers if boundaries say so.

    Where these leave it open, colours do, see :func:`_tower_support`.  ``look`` gives the picture that was observed.
    The kit's pieces must be of one size and have plain upper faces.  Lines that were ``compared`` before are left as
    they are.  Returns all that have been compared.
    """
    prisms, state = hypothesis.geometry.prisms, hypothesis.state
    assert prisms is not None, "pyramids have no upper faces"
    lines = [
        ComparedLine(cell, behind, int(state[cell]))
        for behind in np.flatnonzero(asked).tolist()
        for cell in _in_front(hypothesis, behind)
    ]
    pairs = [(line.cell, line.behind) for line in lines if line not in compared]
    if not pairs:
        return set(lines)
    view, stacks = look(), stacks_of(hypothesis, prisms)
    joined: dict[int, Array] = {}
    for cell, behind in pairs:
        if cell in joined or not state[cell] or not state[behind]:
            continue
        towers = compare_with_tower(view, prisms, hypothesis, stacks, (cell, behind))
        tower = int(towers.log_likelihoods.argmax()) - 1, towers.left
        lacks = SURE_OF_PLAIN_NATS + towers.line - float(towers.log_likelihoods.max())
        is_higher = tower[0] > hypothesis.configuration(cell)
        support = _tower_support(hypothesis, (cell, behind), tower, None, lacks) if is_higher else 0.0
        if support <= lacks:
            continue
        kept = stacks.configurations[[cell, behind]], stacks.places[cell].copy()
        stacks.configurations[cell], stacks.places[cell], stacks.configurations[behind] = tower[0], towers.places, -1
        line = compare_with_line(
            view, prisms, hypothesis, stacks, (cell, behind), is_bare=False, sure_nats=SURE_OF_PLAIN_NATS
        )
        # A line of other stacks, both of which may be higher, may be likelier still.
        lacks = float(line.log_likelihoods.max()) - line.tower - towers.gain - SURE_OF_PLAIN_NATS
        other = int(line.log_likelihoods.argmax()) - 1, line.behind
        if _tower_support(hypothesis, (cell, behind), tower, other, lacks) >= lacks:
            line = Line(towers.log_likelihoods + support, towers.line, towers.left)
        elif support > 0:
            # By boundaries the tower was no likelier than the line that stands.
            stacks.configurations[[cell, behind]], stacks.places[cell] = kept
            continue
        joined[cell] = _assign(hypothesis, (cell, behind), line)
        for one in (cell, behind):
            stacks.configurations[one] = hypothesis.configuration(one)
    _update_neighbours(look, hypothesis, joined)
    return set(lines)


def _tower_support(
    hypothesis: Hypothesis, pair: tuple[int, int], tower: tuple[int, int], line: tuple[int, int] | None, lacks: float
) -> float:
    """Nats by which colours make a tower on a ``pair`` of cells likelier than a line of two stacks, at least 0.

    Coordinate ascent does not see them: each stack of a line is likely only while the other one stands.  They count
    only where they can decide.  Whether anything is hidden behind a stack that stays as high they do not tell.

    Args:
        hypothesis: stays as it is.
        pair: the cells, the second one behind the first.
        tower: configurations on them, -1 for none.
        line: configurations on them; None if they are those hypothesised.
        lacks: nats that the tower lacks by boundaries.
    """
    if not 0 <= lacks < -np.log(UNINFORMATIVE):
        return 0.0
    ratio = _colour_log_ratio(hypothesis, pair, tower)
    if line is not None:
        ratio -= _colour_log_ratio(hypothesis, pair, line)
    likelier, less = bounded_colour_evidence(np.array([0.0, -max(ratio, 0.0)]))
    return float(likelier - less)


def _colour_log_ratio(hypothesis: Hypothesis, pair: tuple[int, int], configurations: tuple[int, int]) -> float:
    """Log-likelihood ratio of the pixels on a ``pair`` of cells under two ``configurations``, against those now."""
    proposal = Proposal(hypothesis, np.array(pair), len(hypothesis.geometry.configurations.all))
    for cell, configuration in zip(pair, configurations, strict=True):
        hypothesis.assign(cell, _likeliest_alone(hypothesis, cell, configuration))
    update(hypothesis, np.array(pair[:1]))
    ratio = proposal.log_ratio()
    proposal.reject()
    return ratio


def _in_front(hypothesis: Hypothesis, behind: int) -> list[int]:
    """Cells on which a higher stack would have its face where that of the stack ``behind`` is, or would occlude it."""
    geometry, prisms = hypothesis.geometry, hypothesis.geometry.prisms
    assert prisms is not None, "pyramids have no upper faces"
    near = np.flatnonzero((geometry.rank > geometry.rank[behind]) & (hypothesis.state > 0))
    own = hypothesis.configuration_count(hypothesis.state[near]) - 1
    apart_mm = faces_apart_mm(prisms, near, behind, hypothesis.configuration(behind))
    apart_mm[~_are_neighbours(geometry.crops.centres_mm, near, behind)] = np.inf
    is_higher = np.arange(len(prisms.counts)) > own[:, None]
    middle = hypothesis.silhouettes.centres_px[behind]
    boxes = geometry.outlines.boxes_px[near, np.minimum(own + MAX_EXTRA_PIECES, len(prisms.counts) - 1)]
    occludes = (boxes[:, :2] < middle).all(axis=1) & (middle < boxes[:, 2:]).all(axis=1)
    return list(map(int, near[occludes | ((apart_mm < geometry.radius_mm) & is_higher).any(axis=1)]))


def _are_neighbours(centres_mm: Floats, cells: Indices, other: int) -> Mask:
    """(b,) which of ``cells`` (b,) are neighbours of the cell ``other``; ``centres_mm`` (n, 3): of all cells.

    Between the squares of a line that are farther apart, the ground is visible.
    """
    apart_mm = np.linalg.norm(centres_mm[:, :2] - centres_mm[other, :2], axis=1)
    near: Mask = apart_mm[cells] < NEIGHBOUR_PITCHES * np.partition(apart_mm, 1)[1]
    return near


def _assign(hypothesis: Hypothesis, pair: tuple[int, int], line: Line) -> Array:
    """Hypothesise the winner on a ``pair`` of cells, a line or a tower; returns (states,) scores on the first cell."""
    cell, behind = pair
    if before := int(hypothesis.state[behind]):
        hypothesis.invalidate_neighbours(behind, before)
    hypothesis.assign(behind, _likeliest_alone(hypothesis, behind, line.behind))
    scores = _assign_likeliest(hypothesis, cell, line.log_likelihoods, line.tower)
    hypothesis.invalidate(behind)
    return scores


def _likeliest_alone(hypothesis: Hypothesis, cell: int, configuration: int) -> int:
    """The state of a ``configuration``, -1 for none, in the colour that is likeliest on a cell in isolation."""
    first = 1 + configuration * hypothesis.colours
    scores = hypothesis.isolated.scores[cell, first : first + hypothesis.colours]
    return first + int(scores.argmax()) if configuration >= 0 else 0


def _assign_likeliest(hypothesis: Hypothesis, cell: int, compared_ones: Floats, others: float) -> Array:
    """Hypothesise the likeliest stack on a cell; returns the cell's (states,) scores.

    By colours, and by boundaries: ``compared_ones`` (1 + f,), -inf where not compared; there ``others`` stands instead.
    """
    before, by_colour = int(hypothesis.state[cell]), all_scores(hypothesis, cell)
    heights = np.append(0.0, by_colour.max(axis=1))
    tried = np.isfinite(compared_ones)
    both = np.where(tried, compared_ones + bounded_colour_evidence(heights - heights[tried].max()), -np.inf)
    both[~tried] = both.max() - (compared_ones.max() - others)
    scores = combine_scores(by_colour, heights, both, np.ones(len(both), np.bool_))
    hypothesis.assign(cell, int(scores.argmax()))
    hypothesis.invalidate_neighbours(cell, before)
    return scores


def _update_neighbours(look: ViewFactory, hypothesis: Hypothesis, found: Mapping[int, Array]) -> None:
    """Update what changes on some cells touch; the scores ``found`` there are kept, whatever colours now say.

    On a learned board heights near them are weighed again, since colours alone have just scored them.
    """
    if not found:
        return
    before = hypothesis.scores.copy()
    converge(hypothesis)
    if hypothesis.is_on_learned_board and hypothesis.geometry.configurations.has_plain_faces:
        again = np.flatnonzero((hypothesis.scores != before).any(axis=1))
        weigh_heights(look, hypothesis, np.setdiff1d(again, list(found)))
    for cell, scores in found.items():
        hypothesis.set_scores(np.array([cell]), scores[None])
        hypothesis.assign(cell, int(scores.argmax()))
    cells = np.array(list(found))
    hypothesis.mark_decided_by_boundaries(cells)
    hypothesis.clear_stale(cells)
