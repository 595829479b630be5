"""A tower against a line of two stacks that it may be taken for, head to head.

The faces and sides of stacks behind each other can look like one tower, whose foot is the nearest one's and whose face
is the farthest one's.  Colours hardly tell which, since pieces of one colour are darker on their sides, too, and ink is
dark.  Boundaries do: in a line of stacks the edge of every face shows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.inference.block_moves import occluded_singles
from vision.inference.comparison import (
    Stacks,
    View,
    by_colours,
    compared,
    make_patch_of,
    make_view,
    rescored,
    scene_round,
    stacks_of,
)
from vision.inference.coordinate_ascent import all_scores, converge
from vision.inference.hypothesis import Hypothesis
from vision.scene.prisms import Floats, Prisms

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]

SPLIT_NATS = 5.0
"""How much likelier a line of stacks must be than a tower: in 171 pictures of printed mats it was by 2.9 at most where
a tower stood, and by 7 and 13 in the two where none did."""

HIGHEST_BEHIND = 3
"""Pieces of a stack behind: of a higher one more than the face shows above a tower."""


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


def split_lines(image: Picture, hypothesis: Hypothesis) -> None:
    """Replace towers on updated cells by lines of two stacks where boundaries in the picture say so.

    ``image`` (height, width, 3) uint8 BGR is that which was observed.  The kit's pieces must be of one size and have
    upper faces.
    """
    prisms = hypothesis.geometry.prisms
    assert prisms is not None, "pyramids have no upper faces"
    towers = np.flatnonzero((hypothesis.state > hypothesis.colours) & hypothesis.updated)
    pairs = [(cell, one) for cell in towers.tolist() for one in occluded_singles(hypothesis, cell).tolist()]
    pairs = [pair for pair in pairs if hypothesis.state[pair[1]] == 0]
    if not pairs:
        return
    view, stacks = make_view(image, hypothesis.geometry, prisms), stacks_of(hypothesis, prisms)
    split: dict[int, Array] = {}
    for cell, behind in pairs:
        line = _compared(view, prisms, hypothesis, stacks, (cell, behind)) if cell not in split else None
        if line is not None and line.log_likelihoods.max() > line.tower + SPLIT_NATS:
            split[cell] = _assign(hypothesis, (cell, behind), line)
    if split:
        converge(hypothesis)
    # What was compared stands, whatever colours say of it again.
    for cell, scores in split.items():
        hypothesis.score(np.array([cell]), scores[None])
        hypothesis.assign(cell, int(scores.argmax()))


def _compared(view: View, prisms: Prisms, hypothesis: Hypothesis, stacks: Stacks, pair: tuple[int, int]) -> _Line:
    """The tower on the first cell of a ``pair``, and a lower stack there before another one on the second."""
    cell, behind = pair
    tower, places = int(stacks.configurations[cell]), stacks.places[cell].copy()
    numbers, highest = np.arange(1 + len(prisms.counts)), min(HIGHEST_BEHIND, len(prisms.counts))
    patch = make_patch_of(hypothesis, view, np.array(pair), np.array([tower, highest - 1]))

    def likely(standing: int, tried: Mask) -> tuple[Floats, Floats]:
        return compared(scene_round(patch, prisms, view, stacks, standing), stacks, np.where(tried, 0.0, -np.inf))

    of_tower = likely(cell, numbers == tower + 1)[0][tower + 1]
    # What stands behind is found with a single piece in front of it.
    stacks.configurations[cell], stacks.places[cell] = 0, 0
    scores, found = likely(behind, (numbers > 0) & (numbers <= highest))
    second = int(scores.argmax()) - 1
    stacks.configurations[behind], stacks.places[behind] = second, found[second + 1]
    scores, _ = likely(cell, numbers <= tower)
    best = int(scores.argmax())
    scores[best] = likely(cell, numbers == best)[0][best]
    stacks.configurations[cell], stacks.places[cell] = tower, places
    stacks.configurations[behind] = -1
    return _Line(scores, of_tower, second)


def _assign(hypothesis: Hypothesis, pair: tuple[int, int], line: _Line) -> Array:
    """Hypothesise a line of stacks on a ``pair`` of cells in place of the tower; (states,) scores on the first one."""
    (cell, behind), colours = pair, hypothesis.colours
    first = 1 + line.behind * colours
    tower = int(hypothesis.state[cell])
    hypothesis.assign(behind, first + int(hypothesis.isolated.scores[behind, first : first + colours].argmax()))
    by_colour = all_scores(hypothesis, cell)
    heights = np.append(0.0, by_colour.max(axis=1))
    is_line = np.isfinite(line.log_likelihoods)
    both = np.where(is_line, line.log_likelihoods + by_colours(heights - heights[is_line].max()), -np.inf)
    both[~is_line] = both.max() - (line.log_likelihoods.max() - line.tower)
    scores = rescored(by_colour, heights, both, np.ones(len(both), np.bool_))
    hypothesis.assign(cell, int(scores.argmax()))
    hypothesis.invalidate_neighbours(cell, tower)
    hypothesis.invalidate(behind)
    return scores
