"""Explanations that colours leave in doubt, compared head to head in the picture.

Each explanation of a cell is rendered as a segmentation of the picture, among the stacks hypothesised around it, its
pieces are moved to where they fit best, and the segmentations are compared: boundaries should lie where the picture
changes, and surfaces have colours that their materials can show.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt

from vision.appearance.bare_picture import NO_BARE, BarePicture
from vision.inference.comparison import compare_in_doubt, compare_on_cell, stacks_of
from vision.inference.coordinate_ascent import AllScores, score_all
from vision.inference.evidence_weights import combine_scores
from vision.inference.heights import weigh_heights
from vision.inference.hypothesis import Hypothesis
from vision.inference.line_of_stacks import join_lines, may_be_of_tower, raise_towers, split_lines
from vision.inference.picture_view import View, hides_table, make_view
from vision.scene.prisms import Floats, Prisms

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]

DOUBT_NATS, DOUBT_ON_PILLARS_NATS = 20.0, 32.0
"""Explanations that colours make less likely than the best one by more than this are not compared: of 5,164 pairs in
five folders of the collection colours preferred the wrong one in 12, in two of them by more than this.  Pillars stand
in each other's shade and may be as dark as any cube: there colours are wrong by 24 nats (Diamond 9504 of
``tools.soak_traced``)."""

GROUND_HUED_NATS = 80.0
"""The same for pieces of the pillars' own hue: colours preferred bare pillars by 39 and 55 nats to gray cubes that
stood there in full sight (``diamond+s157005``), boundaries the cubes.  Sets without such pieces are read as before."""

DECIDED_NATS = 12.0
"""Nothing is compared where colours make the best explanation likelier than all others by more than this, except on
pillars: of 671 such stacks, and 254 bare cells, in 22 folders and sets of discs and blocks no comparison preferred
another, and at least 5.7 nats of the lead were left; with a lead of 8 to 10 nats one of 404 did."""


def rescore_by_rendering(
    image: Picture,
    hypothesis: Hypothesis,
    bare: Callable[[], BarePicture] = lambda: NO_BARE,
    *,
    is_smoothed: bool = False,
) -> None:
    """Compare what is in doubt on updated cells, in the picture (height, width, 3) uint8 BGR that was observed.

    Neighbours of those that change are updated again, and compared once.  Faces with characters are not uniform, and a
    learned board has grain, lines and pictures, whereas terrain and pillars have none: with other kits only towers are
    compared, with lines of stacks, and on a learned board heights of plain pieces as well, by their surfaces, too.
    ``bare`` gives the learned board in that picture; it is called only where something is compared.  ``is_smoothed``:
    whether noise was removed from the picture.
    """
    geometry, is_learned = hypothesis.geometry, hypothesis.is_on_learned_board
    prisms, has_plain_faces = geometry.prisms, geometry.configurations.has_plain_faces
    is_plain = has_plain_faces and not is_learned
    if prisms is None:
        return
    look = cache(lambda: make_view(image, geometry, prisms, bare(), is_smoothed=is_smoothed))
    if has_plain_faces and is_learned:
        weigh_heights(look, hypothesis, np.flatnonzero(hypothesis.updated))
    if geometry.configurations.is_single_size:
        split_lines(look, hypothesis, hypothesis.updated)
        if not has_plain_faces:
            raise_towers(look, hypothesis)
    are_joined = has_plain_faces and geometry.configurations.is_single_size
    compared = join_lines(look, hypothesis, may_be_of_tower(hypothesis) & are_joined)
    if not (is_plain or geometry.is_edged):
        return
    if _rescore(look(), prisms, hypothesis, np.flatnonzero(hypothesis.updated)) and hypothesis.stale.any():
        # Colours alone would restore the previous states: they are scored again, given what has been found now.
        again = np.flatnonzero(hypothesis.stale)
        for cell in again.tolist():
            score_all(hypothesis, cell)
        _rescore(look(), prisms, hypothesis, again)
        hypothesis.clear_stale()
    # Boundaries may put in doubt what colours were sure of, and make other lines.
    join_lines(look, hypothesis, may_be_of_tower(hypothesis) & are_joined, compared)


def _rescore(view: View, prisms: Prisms, hypothesis: Hypothesis, cells: Indices) -> bool:
    """Compare what is in doubt on ``cells`` (b,); returns whether the state of some has changed."""
    stacks, changed = stacks_of(hypothesis, prisms), False
    doubt = DOUBT_ON_PILLARS_NATS if hypothesis.geometry.is_edged else DOUBT_NATS
    cells = cells[~_is_decided(hypothesis, cells, doubt if hypothesis.geometry.is_edged else DECIDED_NATS)]
    cells = cells[np.argsort(view.rank[cells])]
    lacks_heights, may_be_ground = _lacks_heights(hypothesis, cells), hypothesis.may_be_ground
    every = AllScores(hypothesis, cells[lacks_heights])
    for cell, lacks in zip(cells.tolist(), lacks_heights.tolist(), strict=True):
        by_colour: Array = every.get(cell) if lacks else hypothesis.scores[cell, 1:].reshape(-1, hypothesis.colours)
        heights = np.append(0.0, by_colour.max(axis=1))
        # An object on the table may have a piece's colour all over the tower that it resembles: colours are then sure.
        is_tower_before_table = hides_table(view, cell, int(heights.argmax()) - 1)
        tried = heights >= (-doubt if is_tower_before_table else heights.max() - doubt)
        tried[0] |= may_be_ground[cell]
        tried[1:] |= _may_be_of_ground_hue(hypothesis, by_colour, heights.max())
        if hypothesis.is_empty_off_hue[cell]:
            # Colours say ground, unless the set's colours were learned wrongly.
            tried[1:] |= heights[1:] >= heights[1:].max() - doubt
            if hypothesis.hue_log_ratio[cell] > 0:
                heights[0] = heights[1:].max()
        if tried.sum() > 1:
            which = cell, heights, tried
            compared, places = compare_in_doubt(view, prisms, hypothesis, stacks, which, doubt)
            hypothesis.set_places(cell, places)
            hypothesis.set_scores(np.array([cell]), combine_scores(by_colour, heights, compared, tried)[None])
            stacks.places[cell] = places[compared.argmax()]
        before, state = int(hypothesis.state[cell]), int(hypothesis.scores[cell].argmax())
        stacks.configurations[cell] = int(hypothesis.configuration_count(state)) - 1 if state else -1
        if state != before:
            hypothesis.assign(cell, state)
            hypothesis.invalidate_neighbours(cell, before)
            every.invalidate(cell, before)
            changed = True
    return changed


def _is_decided(hypothesis: Hypothesis, cells: Indices, doubt: float) -> Mask:
    """(b,) on which of ``cells`` (b,) colours leave nothing within ``doubt`` nats that would have to be compared."""
    scores, heights = hypothesis.scores[cells], hypothesis.explanation_scores(cells)
    likeliest = heights.argmax(axis=1)
    # A tower may hide the table, where less likely ones are compared, too.
    least = np.where(likeliest > 1, 0, heights.max(axis=1)) - doubt
    is_held, is_sole = hypothesis.state[cells] == scores.argmax(axis=1), (heights >= least[:, None]).sum(axis=1) == 1
    by_colour = scores[:, 1:].reshape(len(cells), -1, hypothesis.colours)
    may_be = _may_be_of_ground_hue(hypothesis, by_colour, heights.max(axis=1, keepdims=True))
    told: Mask = is_held & is_sole & ~may_be.any(axis=1) & ~_lacks_heights(hypothesis, cells)
    return told & ~(hypothesis.is_empty_off_hue | hypothesis.may_be_ground)[cells]


def _may_be_of_ground_hue(hypothesis: Hypothesis, by_colour: Array, best: Floats) -> Mask:
    """(…, f) which configurations are in doubt in a colour of the pillars' hue; none where no piece has one.

    ``by_colour`` (…, f, colours): scores; ``best``: that of the likeliest explanation.
    """
    likely: Mask = by_colour[..., hypothesis.ground_hued].max(axis=-1, initial=-np.inf) >= best - GROUND_HUED_NATS
    return likely


def _lacks_heights(hypothesis: Hypothesis, cells: Indices) -> Mask:
    """(b,) on which of ``cells`` (b,) some configurations may not have been scored, as lower ones were likelier."""
    by_colour, isolated = hypothesis.scores[cells, 1:], hypothesis.isolated.scores[cells, 1:]
    lacks: Mask = (by_colour.max(axis=1) < DOUBT_NATS) & (isolated.max(axis=1) > -DOUBT_NATS)
    return lacks


def compare(image: Picture, hypothesis: Hypothesis, cell: int, tried: Mask) -> Floats:
    """(1 + f,) log-likelihoods, up to a constant, of the empty cell and the configurations ``tried`` on it; else -inf.

    From the picture (height, width, 3) uint8 BGR alone, given the stacks hypothesised around the cell.  The kit's
    pieces must have upper faces.
    """
    prisms = hypothesis.geometry.prisms
    assert prisms is not None, "pyramids have no upper faces"
    view, stacks = make_view(image, hypothesis.geometry, prisms), stacks_of(hypothesis, prisms)
    return compare_on_cell(view, prisms, hypothesis, stacks, (cell, np.where(tried, 0.0, -np.inf)))[0]
