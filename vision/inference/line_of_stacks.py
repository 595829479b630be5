"""A tower against a line of two stacks, each of which may be taken for the other, head to head.

The faces and sides of stacks behind each other can look like one tower, whose foot is the nearest one's and whose face
is the farthest one's.  Colours hardly tell which, since pieces of one colour are darker on their sides, too, and ink is
dark.  Boundaries do: in a line of stacks the edge of every face shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled
from vision.inference.block_moves import occluded_singles
from vision.inference.comparison import (
    FIT_NATS,
    Look,
    Stacks,
    View,
    by_colours,
    compared_in,
    make_patch_of,
    rescored,
    scene_round,
    stacks_of,
)
from vision.inference.coordinate_ascent import all_scores, converge
from vision.inference.heights import weigh_heights
from vision.inference.hypothesis import Hypothesis
from vision.likelihood.boundaries import Patch
from vision.likelihood.segmentation import Scene
from vision.scene.prisms import Floats, Prisms

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

SURE_NATS = 5.0
"""How much likelier a line must be to replace a tower of pieces with characters, whose ink has edges, too: it was by
5.4 at most where a tower stood, and by 7 and 13 in the two where none did."""

SURE_OF_PLAIN_NATS = 2.0
"""How much likelier a line, or a tower, of plain faces must be to replace the other.  In 162 pictures of 25 sets a line
was less likely by 3.4 at least where a tower stood, and likelier by 4.5 in the one where none did.  In 110 pictures of
eleven sets a tower was less likely by 5.8 at least where one of 62 lines stood, and of 21 that were lines by mistake
likelier by 4.5 to 29 in seven (the others: −4 to 1)."""

HOPELESS_NATS = 10.0
"""A line that is less likely than the tower by more than this before stacks are fitted cannot replace it: of 66 pairs
fitting gave a line 11 nats more than the tower at most; half of the pairs were farther apart.  Nothing at all, which
needs no fitting, was likelier by 5 to 37 on 16 squares that were bare, and likelier on 24 of 130 where towers stood."""

UNMOVED, MOVED = -1.0, 0.0
"""``fit_nats`` of :func:`vision.inference.comparison.compared`: stacks stand as they are, or are moved only once."""

UNMOVED_NATS = 12.0
"""A line, or a tower, that is less likely than the other by more than this while stacks stand as they are cannot
replace it.  340 of 487 lines were in 35 folders, sets and own boards, and 219 of 413 towers; after stacks were fitted
they still were, by 4.8 and 8.8 at least."""

DOUBT_NATS = 80.0
"""Stacks that are likelier than an empty cell by more than this are no part of a tower before them.  The upper half of
a tower was by 47, and of 41 lines whose stack behind was by 40 to 80 boundaries kept all, by 5.8 nats at least."""

UNKNOWN_NATS = 3.0
"""Stacks that are likelier than an empty cell by less than this behind a tower are no reason not to ask what is there:
hardly anything of them shows.  Before others a tower of pieces with characters may only be replaced by nothing at all:
ground in their shadow looks like its foot, since sides of wood are pale.  Of 327 towers of 14 such sets that stood, if
lower, nothing was likelier in two, by 3.3 nats at most; of 23 that did not stand in 21, by 5 to 35."""

HIGHER = 3
"""Pieces by which a tower is higher than the stack before it that it was taken for, at most, unless its face is where
that of the stack behind seems to be."""

BESIDE = 1.6
"""Distance of two squares that are neighbours, in that of the nearest ones: less than two, more than a diagonal."""

HIGHEST_BEHIND = 3
"""Pieces of a stack behind which is not seen where a tower's face is."""


class _Line(NamedTuple):
    """A line of stacks against a tower.

    Attributes:
        log_likelihoods: (1 + f,) of each stack in front, up to a constant; -inf of the tower and of higher ones.
        tower: that of the tower.
        behind: configuration behind.
    """

    log_likelihoods: Floats
    tower: float
    behind: int


class Towers(NamedTuple):
    """Towers against a line of stacks.

    Attributes:
        log_likelihoods: (1 + f,) of each tower, up to a constant; -inf of lower stacks.
        line: that of the line.
        left: configuration that the likeliest one leaves behind it, -1 for none: a lower stack may be seen beside it.
        gain: by how much likelier it is with that.
    """

    log_likelihoods: Floats
    line: float
    left: int
    gain: float


def split_lines(look: Look, hypothesis: Hypothesis) -> None:
    """Replace towers on updated cells by lines of two stacks where boundaries in the picture say so.

    ``look`` gives the picture that was observed.  The kit's pieces must be of one size and have upper faces.
    """
    prisms = hypothesis.geometry.prisms
    assert prisms is not None, "pyramids have no upper faces"
    towers = np.flatnonzero((hypothesis.state > hypothesis.colours) & hypothesis.updated)
    pairs = [(cell, one) for cell in towers.tolist() for one in occluded_singles(hypothesis, cell).tolist()]
    is_known = (hypothesis.state > 0) & (hypothesis.scores.max(axis=1) >= UNKNOWN_NATS)
    sure = SURE_NATS
    if hypothesis.geometry.configurations.has_plain_faces:
        sure, pairs = SURE_OF_PLAIN_NATS, [pair for pair in pairs if not is_known[pair[1]]]
    if not pairs:
        return
    view, stacks = look(), stacks_of(hypothesis, prisms)
    split: dict[int, Array] = {}
    for cell, behind in pairs:
        if cell in split:
            continue
        is_bare = bool(is_known[behind])
        line = compare_with_line(view, prisms, hypothesis, stacks, (cell, behind), is_bare=is_bare)
        if line.log_likelihoods.max() > line.tower + sure and not (is_bare and line.log_likelihoods.argmax()):
            split[cell] = _assign(hypothesis, (cell, behind), line)
    _keep(look, hypothesis, split)


def may_be_of_tower(hypothesis: Hypothesis) -> Mask:
    """(n,) updated cells on which what stands is in doubt, so that it may be a part of a tower before them."""
    is_doubtful: Mask = (hypothesis.state > 0) & hypothesis.updated & (hypothesis.scores.max(axis=1) < DOUBT_NATS)
    return is_doubtful


def join_lines(look: Look, hypothesis: Hypothesis, asked: Mask) -> None:
    """Replace lines of two stacks, the one behind on a cell ``asked`` about (n,), by towers where boundaries say so.

    ``look`` gives the picture that was observed.  The kit's pieces must be of one size and have plain upper faces.
    """
    prisms, state = hypothesis.geometry.prisms, hypothesis.state
    assert prisms is not None, "pyramids have no upper faces"
    pairs = [(cell, one) for one in np.flatnonzero(asked).tolist() for cell in _in_front(hypothesis, one)]
    if not pairs:
        return
    view, stacks = look(), stacks_of(hypothesis, prisms)
    joined: dict[int, Array] = {}
    for cell, behind in pairs:
        if cell in joined or not state[cell] or not state[behind]:
            continue
        towers = compare_with_tower(view, prisms, hypothesis, stacks, (cell, behind))
        if towers.log_likelihoods.max() <= towers.line + SURE_OF_PLAIN_NATS:
            continue
        stacks.configurations[cell], stacks.configurations[behind] = towers.log_likelihoods.argmax() - 1, -1
        line = compare_with_line(view, prisms, hypothesis, stacks, (cell, behind), is_bare=False)
        if line.log_likelihoods.max() > line.tower + towers.gain + SURE_OF_PLAIN_NATS:
            # A line of other stacks, both of which may be higher, is likelier still.
            joined[cell] = _assign(hypothesis, (cell, behind), line)
        else:
            hypothesis.invalidate_neighbours(behind, int(state[behind]))
            hypothesis.assign(behind, _likeliest_alone(hypothesis, behind, towers.left))
            joined[cell] = _standing(hypothesis, cell, towers.log_likelihoods, towers.line)
            hypothesis.invalidate(behind)
        for one in (cell, behind):
            stacks.configurations[one] = int(hypothesis.configuration_count(int(state[one]))) - 1 if state[one] else -1
    _keep(look, hypothesis, joined)


def _in_front(hypothesis: Hypothesis, behind: int) -> list[int]:
    """Cells on which a higher stack would have its face where that of the one ``behind`` is, or occlude that."""
    geometry, prisms = hypothesis.geometry, hypothesis.geometry.prisms
    assert prisms is not None, "pyramids have no upper faces"
    near = np.flatnonzero((geometry.rank > geometry.rank[behind]) & (hypothesis.state > 0))
    own = hypothesis.configuration_count(hypothesis.state[near]) - 1
    apart_mm = _faces_apart_mm(prisms, near, behind, int(hypothesis.configuration(behind)))
    apart_mm[~_are_neighbours(geometry.crops.centres_mm, near, behind)] = np.inf
    is_higher = np.arange(len(prisms.counts)) > own[:, None]
    middle = hypothesis.silhouettes.centres_px[behind]
    boxes = geometry.outlines.boxes_px[near, np.minimum(own + HIGHER, len(prisms.counts) - 1)]
    occludes = (boxes[:, :2] < middle).all(axis=1) & (middle < boxes[:, 2:]).all(axis=1)
    return list(map(int, near[occludes | ((apart_mm < geometry.radius_mm) & is_higher).any(axis=1)]))


def _are_neighbours(centres_mm: Floats, cells: Indices, other: int) -> Mask:
    """(b,) which ``cells`` (b,) of those with these middles (n, 3) are as near to another one as one beside it, or so.

    Of a line of squares that are farther apart the ground between them is seen.
    """
    apart_mm = np.linalg.norm(centres_mm[:, :2] - centres_mm[other, :2], axis=1)
    near: Mask = apart_mm[cells] < BESIDE * np.partition(apart_mm, 1)[1]
    return near


def _faces_apart_mm(prisms: Prisms, cells: Indices, other: int, configuration: int) -> Floats:
    """(b, f) how far the faces of all that may stand on ``cells`` (b,) seem from that of one on another cell."""
    tops = prisms.faces[np.arange(len(prisms.counts)), prisms.counts - 1]
    face = prisms.maps[other, tops[configuration]]
    apart_px: Floats = np.linalg.norm(prisms.maps[cells, :, :, 2][:, tops] - face[:, 2], axis=2)
    return apart_px / np.linalg.norm(face[:, 0])


def compare_with_tower(
    view: View, prisms: Prisms, hypothesis: Hypothesis, stacks: Stacks, pair: tuple[int, int]
) -> Towers:
    """The line on a ``pair`` of cells, the second one behind the first, against towers on the first."""
    lower, second = (int(stacks.configurations[cell]) for cell in pair)
    alike = int(_faces_apart_mm(prisms, np.array(pair[:1]), pair[1], second)[0].argmin())
    more = np.arange(1 + len(prisms.counts)) - 1 - lower
    tried = (more >= 0) & ((more <= HIGHER) | (np.abs(more + lower - alike) <= 1))
    patch = make_patch_of(hypothesis, view, np.array(pair), np.array([np.flatnonzero(tried)[-1] - 1, second]))
    return Towers(*_against_line(patch, prisms, view, stacks, pair, tried))


@compiled
def _against_line(
    patch: Patch, prisms: Prisms, view: View, stacks: Stacks, pair: tuple[int, int], tried: Mask
) -> tuple[Floats, float, int, float]:
    """See :class:`Towers`; ``tried`` (1 + f,): which towers are, and the stack in front alone.

    Both are fitted only where the tower is still in question with all as they stand.
    """
    cell, behind = pair
    lower, second = stacks.configurations[cell], stacks.configurations[behind]
    kept, kept_behind = stacks.places[cell].copy(), stacks.places[behind].copy()
    nothing = np.full(len(tried), -np.inf)
    towers, in_front, standing, less = np.where(tried, 0.0, nothing), nothing.copy(), nothing.copy(), nothing.copy()
    in_front[lower + 1], standing[second + 1], less[: second + 1] = 0, 0, 0
    stacks.configurations[behind] = -1
    alone, line, scores, left, gain = scene_round(patch, prisms, view, stacks, cell), -np.inf, towers, -1, 0.0
    for fit_nats in (UNMOVED, FIT_NATS):
        stacks.configurations[behind], stacks.places[behind] = second, kept_behind
        if fit_nats != UNMOVED:
            _, found = _absolute(scene_round(patch, prisms, view, stacks, behind), stacks, standing, fit_nats)
            stacks.places[behind] = found[second + 1]
        scores, _ = _absolute(scene_round(patch, prisms, view, stacks, cell), stacks, in_front, fit_nats)
        line, stacks.configurations[behind], left, gain = scores[lower + 1], -1, -1, 0.0
        scores, found = _absolute(alone, stacks, towers, fit_nats)
        if second > 0:
            tower = int(scores.argmax()) - 1
            stacks.configurations[cell], stacks.places[cell] = tower, found[tower + 1]
            # However little of it is seen.
            stacks.configurations[behind], stacks.places[behind] = 0, 0
            beside, found = _absolute(scene_round(patch, prisms, view, stacks, behind), stacks, less, fit_nats)
            left = int(beside.argmax()) - 1
            stacks.configurations[cell], stacks.places[cell] = lower, kept
            stacks.configurations[behind], stacks.places[behind] = left, found[left + 1]
        if left >= 0:
            alone_nats = scores.max()
            scores, _ = _absolute(scene_round(patch, prisms, view, stacks, cell), stacks, towers, fit_nats)
            gain = scores.max() - alone_nats
        if scores.max() < line - UNMOVED_NATS:
            break
        towers[scores < line - UNMOVED_NATS] = -np.inf
    stacks.configurations[behind], stacks.places[behind] = second, kept_behind
    return scores, line, left, gain


@compiled
def _absolute(scene: Scene, stacks: Stacks, given: Floats, fit_nats: float) -> tuple[Floats, Floats]:
    """See :func:`vision.inference.comparison.compared_in`; scores that are held against those in other scenes."""
    return compared_in(scene, stacks, given, fit_nats, True)  # noqa: FBT003


def compare_with_line(
    view: View, prisms: Prisms, hypothesis: Hypothesis, stacks: Stacks, pair: tuple[int, int], *, is_bare: bool
) -> _Line:
    """The tower on the first cell of a ``pair``, and a lower stack there, or none, before another one on the second.

    With ``is_bare`` lower stacks are of interest only where nothing at all is likelier than the tower.
    """
    tower, behind = int(stacks.configurations[pair[0]]), _behind(prisms, stacks, pair)
    patch = make_patch_of(hypothesis, view, np.array(pair), np.array([tower, np.flatnonzero(behind)[-1] - 1]))
    return _Line(*_weighed(patch, prisms, view, stacks, pair, behind, is_bare))


def _behind(prisms: Prisms, stacks: Stacks, pair: tuple[int, int]) -> Mask:
    """(1 + f,) configurations that may stand behind: low ones, and those whose face may be that of the tower."""
    (cell, behind), numbers = pair, np.arange(1 + len(prisms.counts))
    tops, tower = prisms.faces[np.arange(len(prisms.counts)), prisms.counts - 1], int(stacks.configurations[cell])
    of_tower = prisms.maps[cell, tops[tower]] @ np.append(stacks.places[cell, prisms.counts[tower] - 1, :2], 1)
    alike = 1 + int(np.linalg.norm(prisms.maps[behind, tops, :, 2] - of_tower, axis=1).argmin())
    return (numbers > 0) & ((numbers <= HIGHEST_BEHIND) | (np.abs(numbers - alike) <= 1))


@compiled
def _weighed(
    patch: Patch,
    prisms: Prisms,
    view: View,
    stacks: Stacks,
    pair: tuple[int, int],
    may_be_behind: Mask,
    is_bare: bool,  # noqa: FBT001
) -> tuple[Floats, float, int]:
    """See :func:`compare_with_line`; ``may_be_behind``: (1 + f,) configurations.  Returns what :class:`_Line` holds.

    They are moved only where the line is still in question with all as they stand, and fitted where it is after that.
    """
    (cell, behind), kept, kept_behind = pair, stacks.places[pair[0]].copy(), stacks.places[pair[1]].copy()
    tower, before = stacks.configurations[cell], stacks.configurations[behind]
    nothing = np.full(len(may_be_behind), -np.inf)
    its, in_front, asked = nothing.copy(), nothing.copy(), np.where(may_be_behind, 0.0, nothing)
    its[tower + 1], in_front[: 1 if is_bare else tower + 1] = 0, 0
    stacks.configurations[behind] = -1
    alone = scene_round(patch, prisms, view, stacks, cell)
    # What stands behind is found with a single piece in front of it.
    stacks.configurations[cell], stacks.places[cell] = 0, 0
    occluded, of_tower, scores, second = scene_round(patch, prisms, view, stacks, behind), -np.inf, in_front, -1
    for fit_nats in (UNMOVED, MOVED, FIT_NATS):
        if fit_nats == FIT_NATS:
            in_front[: tower + 1] = 0
        stacks.configurations[cell], stacks.places[cell], stacks.configurations[behind] = tower, kept, -1
        of_tower = _absolute(alone, stacks, its, fit_nats)[0][tower + 1]
        stacks.configurations[cell], stacks.places[cell] = 0, 0
        scores, found = _absolute(occluded, stacks, asked, fit_nats)
        second = int(scores.argmax()) - 1
        stacks.configurations[behind], stacks.places[behind] = second, found[second + 1]
        scores, _ = _absolute(scene_round(patch, prisms, view, stacks, cell), stacks, in_front, fit_nats)
        behind_by = UNMOVED_NATS if fit_nats == UNMOVED else 0.0 if is_bare else HOPELESS_NATS
        if scores.max() <= of_tower - behind_by:
            break
    stacks.configurations[cell], stacks.places[cell] = tower, kept
    stacks.configurations[behind], stacks.places[behind] = before, kept_behind
    return scores, of_tower, second


def _assign(hypothesis: Hypothesis, pair: tuple[int, int], line: _Line) -> Array:
    """Hypothesise a line of stacks on a ``pair`` of cells in place of the tower; (states,) scores on the first one."""
    cell, behind = pair
    if before := int(hypothesis.state[behind]):
        hypothesis.invalidate_neighbours(behind, before)
    hypothesis.assign(behind, _likeliest_alone(hypothesis, behind, line.behind))
    scores = _standing(hypothesis, cell, line.log_likelihoods, line.tower)
    hypothesis.invalidate(behind)
    return scores


def _likeliest_alone(hypothesis: Hypothesis, cell: int, configuration: int) -> int:
    """The state with a ``configuration``, -1 for none, that is likeliest on a cell alone."""
    first = 1 + configuration * hypothesis.colours
    scores = hypothesis.isolated.scores[cell, first : first + hypothesis.colours]
    return first + int(scores.argmax()) if configuration >= 0 else 0


def _standing(hypothesis: Hypothesis, cell: int, compared_ones: Floats, others: float) -> Array:
    """Hypothesise the likeliest stack on a cell; (states,) its scores.

    By colours, and by boundaries: (1 + f,) of those that were compared, -inf of all ``others``.
    """
    before, by_colour = int(hypothesis.state[cell]), all_scores(hypothesis, cell)
    heights = np.append(0.0, by_colour.max(axis=1))
    tried = np.isfinite(compared_ones)
    both = np.where(tried, compared_ones + by_colours(heights - heights[tried].max()), -np.inf)
    both[~tried] = both.max() - (compared_ones.max() - others)
    scores = rescored(by_colour, heights, both, np.ones(len(both), np.bool_))
    hypothesis.assign(cell, int(scores.argmax()))
    hypothesis.invalidate_neighbours(cell, before)
    return scores


def _keep(look: Look, hypothesis: Hypothesis, found: Mapping[int, Array]) -> None:
    """Update what changes of some cells touch; what was ``found`` there stands, whatever colours say of it again.

    On a learned board heights near them are weighed again: colours alone have just scored them.
    """
    if not found:
        return
    before = hypothesis.scores.copy()
    converge(hypothesis)
    if hypothesis.is_on_learned_board and hypothesis.geometry.configurations.has_plain_faces:
        again = np.flatnonzero((hypothesis.scores != before).any(axis=1))
        weigh_heights(look, hypothesis, np.setdiff1d(again, list(found)))
    for cell, scores in found.items():
        hypothesis.score(np.array([cell]), scores[None])
        hypothesis.assign(cell, int(scores.argmax()))
    cells = np.array(list(found))
    hypothesis.tell_by_boundaries(cells)
    hypothesis.settle(cells)
