"""A tower and a line of two stacks compared head to head, each in its likeliest form."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import compiled
from vision.inference.comparison import FIT_NATS, Stacks, compare_in_scene, make_patch_of, make_scene_at
from vision.inference.hypothesis import Hypothesis
from vision.inference.picture_view import View
from vision.likelihood.observations import Observations
from vision.likelihood.segmentation import Scene
from vision.scene.prisms import Floats, Prisms

Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

HOPELESS_NATS = 12.0
"""A line that would have to gain more than this on the tower when stacks are fitted cannot replace it: of 66 pairs
fitting gave a line at most 11 nats more than the tower; half of the pairs were farther apart.  An empty cell, which
needs no fitting, was likelier by 5 to 37 on 16 squares that were bare, and likelier on 24 of 130 where towers stood."""

NO_MOVES, ONE_MOVE = -1.0, 0.0
"""``fit_nats`` of :func:`vision.inference.comparison.compare_in_scene`: stacks stay as they are, or are moved only
once."""

UNMOVED_NATS = 12.0
"""A line, or a tower, that is less likely than the other by more than this while stacks stay as they are cannot replace
it.  340 of 487 lines in 35 folders, sets and own boards were, and 219 of 413 towers; after fitting they were still less
likely, by 4.8 and 8.8 at least."""

MAX_EXTRA_PIECES = 3
"""Most pieces by which a tower is higher than the front stack that it was mistaken for, unless its face is where that
of the stack behind seems to be."""

MAX_PIECES_BEHIND = 3
"""Most pieces of a stack behind, unless its face is seen where the tower's is."""


class Line(NamedTuple):
    """A line of stacks compared with a tower; or a tower, and what it leaves behind, with a line, in swapped roles.

    Attributes:
        log_likelihoods: (1 + f,) of each stack in front, up to a constant; -inf for all others.
        tower: log-likelihood of the tower.
        behind: configuration behind, -1 for none.
    """

    log_likelihoods: Floats
    tower: float
    behind: int


class Towers(NamedTuple):
    """Towers compared with a line of stacks.

    Attributes:
        log_likelihoods: (1 + f,) of each tower, up to a constant; -inf for lower stacks.
        line: log-likelihood of the line.
        left: configuration that the likeliest tower leaves behind it, -1 for none: a lower stack may be seen beside it.
        gain: log-likelihood that the tower gains by that.
        places: (p, 3) of the likeliest tower's pieces, see :func:`vision.inference.comparison.compare_configurations`.
    """

    log_likelihoods: Floats
    line: float
    left: int
    gain: float
    places: Floats


def compare_with_tower(
    view: View, prisms: Prisms, hypothesis: Hypothesis, stacks: Stacks, pair: tuple[int, int]
) -> Towers:
    """Compare the line on a ``pair`` of cells, the second one behind the first, with towers on the first."""
    lower, second = (int(stacks.configurations[cell]) for cell in pair)
    alike = int(faces_apart_mm(prisms, np.array(pair[:1]), pair[1], second)[0].argmin())
    more = np.arange(1 + len(prisms.counts)) - 1 - lower
    tried = (more >= 0) & ((more <= MAX_EXTRA_PIECES) | (np.abs(more + lower - alike) <= 1))
    return Towers(*_compare_against_line(hypothesis.observations, prisms, view, stacks, pair, tried))


@compiled
def _compare_against_line(
    observations: Observations, prisms: Prisms, view: View, stacks: Stacks, pair: tuple[int, int], tried: Mask
) -> tuple[Floats, float, int, float, Floats]:
    """See :class:`Towers`; ``tried`` (1 + f,): the towers to be tried, and the front stack alone.

    Line and tower are fitted only if the tower is still in question while all stacks stay as they are.
    """
    cell, behind = pair
    lower, second = stacks.configurations[cell], stacks.configurations[behind]
    kept, kept_behind = stacks.places[cell].copy(), stacks.places[behind].copy()
    patch = make_patch_of(
        observations, view, np.array([cell, behind]), np.array([np.flatnonzero(tried)[-1] - 1, second])
    )
    nothing = np.full(len(tried), -np.inf)
    towers, in_front, standing, less = np.where(tried, 0.0, nothing), nothing.copy(), nothing.copy(), nothing.copy()
    in_front[lower + 1], standing[second + 1], less[: second + 1] = 0, 0, 0
    stacks.configurations[behind] = -1
    alone, line, scores, left, gain = make_scene_at(patch, prisms, view, stacks, cell), -np.inf, towers, -1, 0.0
    places = kept
    for fit_nats in (NO_MOVES, FIT_NATS):
        stacks.configurations[behind], stacks.places[behind] = second, kept_behind
        if fit_nats != NO_MOVES:
            _, found = _compare_absolute(make_scene_at(patch, prisms, view, stacks, behind), stacks, standing, fit_nats)
            stacks.places[behind] = found[second + 1]
        scores, _ = _compare_absolute(make_scene_at(patch, prisms, view, stacks, cell), stacks, in_front, fit_nats)
        line, stacks.configurations[behind], left, gain = scores[lower + 1], -1, -1, 0.0
        scores, found = _compare_absolute(alone, stacks, towers, fit_nats)
        tower = int(scores.argmax()) - 1
        places = found[tower + 1]
        if second > 0:
            stacks.configurations[cell], stacks.places[cell] = tower, places
            # However little of it is seen.
            stacks.configurations[behind], stacks.places[behind] = 0, 0
            beside, found = _compare_absolute(
                make_scene_at(patch, prisms, view, stacks, behind), stacks, less, fit_nats
            )
            left = int(beside.argmax()) - 1
            stacks.configurations[cell], stacks.places[cell] = lower, kept
            stacks.configurations[behind], stacks.places[behind] = left, found[left + 1]
        if left >= 0:
            alone_nats = scores.max()
            scores, _ = _compare_absolute(make_scene_at(patch, prisms, view, stacks, cell), stacks, towers, fit_nats)
            gain = scores.max() - alone_nats
        if scores.max() < line - UNMOVED_NATS:
            break
        towers[scores < line - UNMOVED_NATS] = -np.inf
    stacks.configurations[behind], stacks.places[behind] = second, kept_behind
    return scores, line, left, gain, places


@compiled
def _compare_absolute(scene: Scene, stacks: Stacks, given: Floats, fit_nats: float) -> tuple[Floats, Floats]:
    """See :func:`vision.inference.comparison.compare_in_scene`; scores are comparable with those in other scenes."""
    return compare_in_scene(scene, stacks, given, fit_nats, True)  # noqa: FBT003


def compare_with_line(
    view: View,
    prisms: Prisms,
    hypothesis: Hypothesis,
    stacks: Stacks,
    pair: tuple[int, int],
    *,
    is_bare: bool,
    sure_nats: float,
) -> Line:
    """Compare the tower on the first cell of a ``pair`` with a lower stack, or none, in front of one on the second.

    With ``is_bare`` lower stacks are of interest only where an empty cell is likelier than the tower.  ``sure_nats``:
    how much likelier a line must be to be of interest.
    """
    may_be_behind = _candidates_behind(prisms, stacks, pair)
    lead = 0.0 if is_bare else sure_nats - HOPELESS_NATS
    return Line(*_compare_line(hypothesis.observations, prisms, view, stacks, pair, may_be_behind, is_bare, lead))


def _candidates_behind(prisms: Prisms, stacks: Stacks, pair: tuple[int, int]) -> Mask:
    """(1 + f,) configurations that may stand behind: low ones, and those whose face may be taken for the tower's."""
    (cell, behind), numbers = pair, np.arange(1 + len(prisms.counts))
    tops, tower = _tops(prisms), int(stacks.configurations[cell])
    of_tower = prisms.maps[cell, tops[tower]] @ np.append(stacks.places[cell, prisms.counts[tower] - 1, :2], 1)
    alike = 1 + int(np.linalg.norm(prisms.maps[behind, tops, :, 2] - of_tower, axis=1).argmin())
    return (numbers > 0) & ((numbers <= MAX_PIECES_BEHIND) | (np.abs(numbers - alike) <= 1))


@compiled
def _compare_line(
    observations: Observations,
    prisms: Prisms,
    view: View,
    stacks: Stacks,
    pair: tuple[int, int],
    may_be_behind: Mask,
    is_bare: bool,  # noqa: FBT001
    lead: float,
) -> tuple[Floats, float, int]:
    """See :func:`compare_with_line`; ``may_be_behind``: (1 + f,) configurations.  Returns the fields of :class:`Line`.

    Stacks are moved only if the line is still in question while all stay as they are, and fitted only if it is then
    ahead of the tower by more than ``lead`` nats.
    """
    (cell, behind), kept, kept_behind = pair, stacks.places[pair[0]].copy(), stacks.places[pair[1]].copy()
    tower, before = stacks.configurations[cell], stacks.configurations[behind]
    patch = make_patch_of(
        observations, view, np.array([cell, behind]), np.array([tower, np.flatnonzero(may_be_behind)[-1] - 1])
    )
    nothing = np.full(len(may_be_behind), -np.inf)
    its, in_front, asked = nothing.copy(), nothing.copy(), np.where(may_be_behind, 0.0, nothing)
    its[tower + 1], in_front[: 1 if is_bare else tower + 1] = 0, 0
    stacks.configurations[behind] = -1
    alone = make_scene_at(patch, prisms, view, stacks, cell)
    # What stands behind is found with a single piece in front of it.
    stacks.configurations[cell], stacks.places[cell] = 0, 0
    occluded, of_tower, scores, second = make_scene_at(patch, prisms, view, stacks, behind), -np.inf, in_front, -1
    for fit_nats in (NO_MOVES, ONE_MOVE, FIT_NATS):
        if fit_nats == FIT_NATS:
            in_front[: tower + 1] = 0
        stacks.configurations[cell], stacks.places[cell], stacks.configurations[behind] = tower, kept, -1
        of_tower = _compare_absolute(alone, stacks, its, fit_nats)[0][tower + 1]
        stacks.configurations[cell], stacks.places[cell] = 0, 0
        scores, found = _compare_absolute(occluded, stacks, asked, fit_nats)
        second = int(scores.argmax()) - 1
        stacks.configurations[behind], stacks.places[behind] = second, found[second + 1]
        scores, _ = _compare_absolute(make_scene_at(patch, prisms, view, stacks, cell), stacks, in_front, fit_nats)
        if scores.max() <= of_tower + (-UNMOVED_NATS if fit_nats == NO_MOVES else lead):
            break
    stacks.configurations[cell], stacks.places[cell] = tower, kept
    stacks.configurations[behind], stacks.places[behind] = before, kept_behind
    return scores, of_tower, second


def faces_apart_mm(prisms: Prisms, cells: Indices, other: int, configuration: int) -> Floats:
    """(b, f) apparent distances between the faces of all configurations on ``cells`` (b,) and one on another cell."""
    tops = _tops(prisms)
    face = prisms.maps[other, tops[configuration]]
    apart_px: Floats = np.linalg.norm(prisms.maps[cells, :, :, 2][:, tops] - face[:, 2], axis=2)
    return apart_px / np.linalg.norm(face[:, 0])


def _tops(prisms: Prisms) -> Indices:
    """(f,) numbers of the heights of the uppermost faces of all configurations."""
    tops: Indices = prisms.faces[np.arange(len(prisms.counts)), prisms.counts - 1]
    return tops
