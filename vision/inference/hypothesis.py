"""The hypothesis: everything that changes while a board is inferred from one picture, in one place.

Coordinate ascent, block moves and the reading of characters change a board only through the methods of
:class:`Hypothesis`.  A change that turns out less likely is reverted as a whole (:class:`Proposal`).
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from vision.glyphs.faces import Faces
from vision.inference.geometry import Geometry
from vision.likelihood.lateral_runs import LATERAL_FACES, SUMS
from vision.likelihood.observations import Observations, log_likelihood, update_observations
from vision.scene.boxes import Boxes, overlaps
from vision.scene.label_buffer import CHANGED, LabelBuffer, bare_buffers, render, visible_px
from vision.scene.materials import Materials
from vision.scene.silhouettes import CropPose, Silhouettes, no_silhouettes, trace_silhouettes

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
State = TypeVar("State", int, npt.NDArray[np.intp])

MARGIN_LEVELS = 2
"""How many configurations above the highest hypothesised one are scored; the next sweep may go higher.  Chosen by
eye."""

ROOM_ROWS = 7
"""Crop rows above the highest face that a leaning stack may need: the five of
``vision.likelihood.placement.FACE_FIRST_ROW``, and two more."""


class IsolatedScores(NamedTuple):
    """Scores of each cell (b) as if nothing else stood on the board, kept as starting points for block moves.

    Attributes:
        scores: (b, states) log-likelihood ratio of every state against an empty cell.
        single: (b,) the best state with a single piece.
        may_be_single: (b,) bool, whether that is likelier than an empty cell.
        is_active: (b,) bool, whether anything may stand there at all.
    """

    scores: Array
    single: Indices
    may_be_single: Mask
    is_active: Mask


class Snapshot(NamedTuple):
    """Everything that a proposal may change: in some cells (b), and which of all cells (n) are stale or updated."""

    state: Indices
    shift_mm: Array
    materials: Indices
    silhouettes: Silhouettes
    scores: Array
    side_steps: Array
    stale: Mask
    updated: Mask


class Hypothesis:
    """One state for every cell (n) of a board, with its scores: 0 is empty, any other is a configuration in a colour.

    Attributes:
        observations: what the picture shows; :meth:`observe` replaces those of some cells.
        rim: (steps,) float32, shading of a piece's side, see :class:`calibration.appearance.SetAppearance`.
        geometry: of the camera's pose.
        colours: number of colours of pieces.
        state: (n,) intp, the hypothesised states.
        shift_mm: (n, 2) float32, displacement of each upper face from its nominal position, in the crop.
        silhouettes: of the hypothesised stacks.
        scores: (n, 1 + configurations · colours) float32, log-likelihood ratio of every state against an empty cell,
            given the other cells' states.
        side_steps: (n, parts, steps, 2) float32, sums of log brightness and of pixels over each step of the sides of
            the likeliest stack, see :class:`vision.likelihood.stacks.StackScores`; 0 where none was scored.
        lateral_sums: (n, p, faces, SUMS) float64, sums over the faces of the likeliest tower of pyramids, see
            :attr:`vision.likelihood.crop_faces.CropFaceFits.sums`; 0 where none was fitted.
        lateral_wireframes: (n, p) intp, the pyramids of that tower; −1 where none was fitted.
        isolated: scores of all cells as if nothing else stood on the board.
        glyph_log_ratio: (n, configurations) float32, log-likelihood ratio from a character, read where colours leave
            open whether anything stands there: for configurations whose face it may be on, or against all.
        camouflaged: (n,) bool, cells where, by surfaces or hue, a piece of a learned board's colour may stand.
        doubts_colours: (n,) bool, cells where a learned board looks otherwise than it should: colours there do not rule
            a piece out, see :func:`vision.inference.evidence_weights.bound_log_ratios`.
        decided_by_boundaries: (n,) bool, cells where boundaries have decided between a tower and a line of stacks.
        off_hue: (n,) bool, cells whose visible surface does not have the ground's hue.
        hue_log_ratio: (n,) float64, log-likelihood ratio, from hue, that something stands there; 0 where unknown.
        ground_hued: (colours,) bool, colours of pieces that have the pillars' own hue.
        face_hue_log_ratio: (n, f) float64, log-likelihood ratio, from hue, that the upper face of each configuration is
            visible where it would be; 0 where unknown.
        places_mm: by cell whose explanations were compared in the picture, (1 + f, p, 3) best-fitting places of the
            pieces of each explanation, see :class:`vision.scene.prisms.Prisms`; the empty cell comes first.
        stale: (n,) bool, cells whose neighbours' states have changed since they were last updated.
        updated: (n,) bool, cells updated since the picture was observed.
    """

    def __init__(self, observations: Observations, rim: Array, geometry: Geometry) -> None:
        """An empty board on which nothing is scored yet."""
        self.observations, self.rim, self.geometry = observations, rim, geometry
        self.colours = len(geometry.configurations.colours)
        n, states = len(observations.bins), 1 + len(geometry.configurations.all) * self.colours
        self.state, self.shift_mm = np.zeros(n, np.intp), np.zeros((n, 2), np.float32)
        self.silhouettes = no_silhouettes(n, geometry.size[0])
        self.scores = np.zeros((n, states), np.float32)
        self.side_steps = np.zeros((n, int(geometry.outline_table.bands.max()), len(rim), 2), np.float32)
        most = int(geometry.configurations.parts.max())
        self.lateral_sums = np.zeros((n, most, len(LATERAL_FACES), SUMS))
        self.lateral_wireframes = np.full((n, most), -1, np.intp)
        self.isolated = IsolatedScores(
            np.zeros((n, states), np.float32), np.zeros(n, np.intp), np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        )
        self.glyph_log_ratio = np.zeros((n, len(geometry.configurations.all)), np.float32)
        self.camouflaged, self.off_hue = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        self.decided_by_boundaries, self.doubts_colours = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        self.hue_log_ratio, self.face_hue_log_ratio = np.zeros(n), np.zeros((n, len(geometry.configurations.all)))
        self.ground_hued = np.zeros(self.colours, np.bool_)
        self.places_mm: dict[int, npt.NDArray[np.float64]] = {}
        self.stale, self.updated = np.zeros(n, np.bool_), np.ones(n, np.bool_)
        self._materials = np.zeros(n, np.intp)
        self._buffers = bare_buffers(geometry.bare, n)

    @property
    def overrides_colours(self) -> Mask:
        """(n,) cells whose state was decided against the evidence of their colours, which alone would overturn it."""
        overrides: Mask = self.camouflaged | self.decided_by_boundaries
        return overrides

    @property
    def is_empty_off_hue(self) -> Mask:
        """(n,) cells hypothesised to be empty although what is visible there does not have the ground's hue."""
        is_off: Mask = self.off_hue & (self.state == 0)
        return is_off

    @property
    def may_be_ground(self) -> Mask:
        """(n,) cells of a flat board that show the ground's hue where colours prefer a piece: ground in other light."""
        may_be: Mask = ~self.off_hue & (self.scores[:, 1:].max(axis=1) > 0) & (not self.geometry.levels)
        return may_be

    @property
    def is_on_learned_board(self) -> bool:
        """Whether pieces stand on a board whose appearance was learned, and not on terrain or pillars."""
        return self.observations.is_board_learned and not self.geometry.levels

    def copy_from(self, other: Hypothesis) -> None:
        """Adopt the states and scores of another hypothesis with the same geometry."""
        everywhere = np.arange(len(self.state))
        self.set_scores(everywhere, other.scores)
        self.set_lateral_sums(everywhere, other.lateral_sums, other.lateral_wireframes)
        for cell, (state, shift_mm) in enumerate(zip(other.state, other.shift_mm, strict=True)):
            self.assign(cell, int(state), shift_mm)

    def observe(self, cells: Indices, observations: Observations) -> None:
        """Replace the observations of ``cells`` (b,); only they count as updated, and nothing else is known of them."""
        update_observations(self.observations, cells, observations)
        self.updated[:] = False
        self.updated[cells], self.glyph_log_ratio[cells] = True, 0
        self.camouflaged[cells] = self.decided_by_boundaries[cells] = self.doubts_colours[cells] = False
        self.lateral_sums[cells] = 0
        for cell in cells.tolist():
            self.places_mm.pop(cell, None)

    def set_isolated(self, cells: Indices, isolated: IsolatedScores) -> None:
        """Store the ``isolated`` scores of ``cells`` (b,); those that are active become stale."""
        everywhere = self.isolated
        everywhere.scores[cells], everywhere.single[cells] = isolated.scores, isolated.single
        everywhere.may_be_single[cells], everywhere.is_active[cells] = isolated.may_be_single, isolated.is_active
        self.scores[cells] = isolated.scores
        self.stale[cells] = isolated.is_active

    def assign(self, cell: int, state: int, shift_mm: Array | float = 0.0) -> None:
        """Hypothesise ``state`` on a cell, with its face displaced by ``shift_mm`` (2,)."""
        self.state[cell], self.shift_mm[cell] = state, shift_mm
        self.silhouettes.rows[cell], self._materials[cell], self._buffers.materials[cell] = 0, 0, CHANGED
        if state:
            geometry = self.geometry
            configuration, colour = divmod(state - 1, self.colours)
            outlines, crops = geometry.outlines, geometry.crops
            pose = CropPose(crops.to_picture[cell], crops.origin_px[cell], self.shift_mm[cell])
            corners_mm = outlines.corners_mm[configuration][cell]
            trace_silhouettes(self.silhouettes, cell, corners_mm, outlines.first[configuration], pose, geometry.size[1])
            self._materials[cell] = Materials.TOPS + colour

    def set_scores(self, cells: Indices, scores: Array) -> None:
        """Store ``scores`` (b, states) of ``cells`` (b,)."""
        self.scores[cells] = scores

    def set_side_steps(self, cells: Indices, side_steps: Array) -> None:
        """Store ``side_steps`` (b, parts, steps, 2) of ``cells`` (b,), which then count as updated."""
        self.side_steps[cells, : side_steps.shape[1]] = side_steps
        self.updated[cells] = True
        self.camouflaged[cells] = self.decided_by_boundaries[cells] = False

    def set_lateral_sums(self, cells: Indices, sums: npt.NDArray[np.floating], wireframes: Indices) -> None:
        """Store ``lateral_sums`` (b, p, faces, SUMS) and ``lateral_wireframes`` (b, p) of ``cells`` (b,)."""
        self.lateral_sums[cells], self.lateral_wireframes[cells] = sums, wireframes

    def set_glyph_log_ratio(self, cells: Indices, log_ratio: Array) -> None:
        """Store ``log_ratio`` (b, configurations), the evidence of faces for or against those on ``cells`` (b,)."""
        self.glyph_log_ratio[cells] = log_ratio

    def set_off_hue(self, off_hue: Mask, log_ratio: npt.NDArray[np.float64] | float = 0.0) -> None:
        """Store which cells (n,) do not show the ground's hue, and the log-likelihood ratio of a piece that follows."""
        self.off_hue[:], self.hue_log_ratio[:] = off_hue, log_ratio

    def set_ground_hued(self, ground_hued: Mask) -> None:
        """Store which colours of pieces (colours,) are of the pillars' own hue."""
        self.ground_hued[:] = ground_hued

    def set_places(self, cell: int, places_mm: npt.NDArray[np.float64]) -> None:
        """Store where the pieces of each explanation of a cell fit best: an entry of ``places_mm``."""
        self.places_mm[cell] = places_mm

    def set_face_hues(self, cells: Indices, log_ratio: npt.NDArray[np.float64]) -> None:
        """Store ``log_ratio`` (b, f), the evidence of hue for the face of each configuration on ``cells`` (b,)."""
        self.face_hue_log_ratio[cells] = log_ratio

    def mark_doubtful(self, cells: Indices) -> None:
        """Have colours rule out no piece on ``cells`` (b,) from now on: an entry of ``doubts_colours``."""
        self.doubts_colours[cells] = True

    def mark_camouflaged(self, cells: Indices) -> None:
        """Mark ``cells`` (b,) on which, by surfaces or hue, a piece stands or may stand."""
        self.camouflaged[cells] = True

    def mark_decided_by_boundaries(self, cells: Indices) -> None:
        """Mark ``cells`` (b,) on which boundaries have decided what stands, if anything."""
        self.decided_by_boundaries[cells] = True

    def invalidate(self, cells: Indices | int) -> None:
        """Mark cells as stale, to be updated again."""
        self.stale[cells] = True

    def clear_stale(self, cells: Indices | slice = slice(None)) -> None:
        """Mark cells as needing no update."""
        self.stale[cells] = False

    def invalidate_neighbours(self, cell: int, other: int) -> None:
        """Mark as stale the active cells whose pixels a change of ``cell`` from or to the state ``other`` touches."""
        reach = self.configuration_count(max(int(self.state[cell]), other))
        touched = overlaps(self.geometry.outlines.boxes_px[cell, reach - 1], self.boxes_px())
        touched[cell] = False
        self.stale |= touched & self.isolated.is_active

    def snapshot(self, cells: Indices) -> Snapshot:
        """A copy of the state of ``cells`` (b,), for :meth:`restore`."""
        return Snapshot(
            self.state[cells],
            self.shift_mm[cells],
            self._materials[cells],
            self.silhouettes.select(cells),
            self.scores[cells],
            self.side_steps[cells],
            self.stale.copy(),
            self.updated.copy(),
        )

    def restore(self, cells: Indices, before: Snapshot) -> None:
        """Restore ``cells`` (b,) to the snapshot ``before``."""
        self.state[cells], self.shift_mm[cells], self._materials[cells] = (
            before.state,
            before.shift_mm,
            before.materials,
        )
        self.silhouettes.put(cells, before.silhouettes)
        self._buffers.materials[cells] = CHANGED
        self.scores[cells], self.side_steps[cells] = before.scores, before.side_steps
        self.stale, self.updated = before.stale, before.updated

    def configuration(self, cell: int) -> int:
        """Number of the configuration on a cell, -1 where nothing stands."""
        return (int(self.state[cell]) - 1) // self.colours

    def configuration_count(self, state: State) -> State:
        """Number of a state's configuration, from 1: for pieces of one size, their count; 0 for the empty cell."""
        return (state - 1) // self.colours + 1

    def faces_on(self, cells: Indices) -> Faces:
        """(b) upper faces, undisplaced, of the stacks of round pieces hypothesised on ``cells`` (b,)."""
        numbers = self.configuration_count(self.state[cells]) - 1
        return self.geometry.faces.select(cells * len(self.geometry.configurations.all) + numbers)

    def faces_at_every_height(self, cells: Indices) -> Faces:
        """(b · configurations) upper faces, undisplaced, of round pieces at every height on ``cells`` (b,), by cell."""
        count = len(self.geometry.configurations.all)
        return self.geometry.faces.select((cells[:, None] * count + np.arange(count)).ravel())

    def configuration_scores(self, cells: Indices | slice = slice(None)) -> Array:
        """(b, configurations) scores on ``cells`` (b,) of each configuration in its likeliest colour."""
        return self.in_likeliest_colour(self.scores[cells])

    def in_likeliest_colour(self, scores: Array) -> Array:
        """(b, configurations) the same of any ``scores`` (b, states)."""
        standing = scores[:, 1:]
        best: Array = standing.reshape(len(scores), standing.shape[1] // self.colours, self.colours).max(axis=2)
        return best

    def explanation_scores(self, cells: Indices | slice = slice(None)) -> npt.NDArray[np.float64]:
        """(b, 1 + configurations) the same, preceded by the score of the empty cell."""
        by_configuration = self.configuration_scores(cells)
        return np.column_stack([np.zeros(len(by_configuration)), by_configuration])

    def scored_configurations(self, cells: Indices) -> int:
        """How many configurations are scored on ``cells`` (b,): for pieces of one size, up to a little above now."""
        configurations = self.geometry.configurations
        highest = self.configuration_count(int(self.state[cells].max()))
        count = len(configurations.all)
        return min(count, highest + MARGIN_LEVELS) if configurations.is_single_size else count

    def first_row(self, cells: Indices, count: int) -> int:
        """The first crop row of ``cells`` (b,) that the first ``count`` configurations can touch."""
        if not self.geometry.configurations.is_single_size:
            return 0
        return max(0, int(self.geometry.outline_table.edges[cells, count - 1, 0].min()) - ROOM_ROWS)

    def boxes_px(self) -> Boxes:
        """Bounding boxes of everything that is scored on each cell (n)."""
        highest = len(self.geometry.configurations.all)
        reach = np.minimum(self.configuration_count(self.state) + MARGIN_LEVELS, highest)
        boxes: Boxes = self.geometry.outlines.boxes_px[np.arange(len(reach)), reach - 1]
        return boxes

    def log_likelihood(self, cells: Indices, first_row: int) -> float:
        """Log-likelihood of the crop pixels of ``cells`` (b,) from ``first_row`` on, each under its nearest surface."""
        return log_likelihood(self.observations, self.geometry.visibility, self.labels(), cells, first_row)

    def visible_px(self) -> npt.NDArray[np.int32]:
        """(n, n + 1) pixels of each cell's silhouette by the rank of the cell seen there: see :func:`visible_px`."""
        counts: npt.NDArray[np.int32] = visible_px(self.labels(), self.silhouettes)
        return counts

    def shows_less_than(self, share: float, by_rank_px: npt.NDArray[np.int32]) -> Mask:
        """(n,) cells on which something is hypothesised, less than a ``share`` of which is visible.

        ``by_rank_px``: the counts of :meth:`visible_px`.
        """
        own_px = by_rank_px[np.arange(len(self.state)), self.geometry.rank]
        is_hidden: Mask = (self.state > 0) & (own_px < share * by_rank_px.sum(axis=1))
        return is_hidden

    def labels(self, bare: Indices | None = None) -> LabelBuffer:
        """The label buffer, as if nothing stood on the cells ``bare`` (b,), if any.  The next call changes it."""
        materials = self._materials
        if bare is not None:
            materials = materials.copy()
            materials[bare] = 0
        render(self._buffers, self.silhouettes, self.geometry.far_first, materials)
        return self._buffers.labels


class Proposal:
    """A change of several cells at once, judged by the likelihood of their crops; :meth:`reject` reverts it."""

    def __init__(self, hypothesis: Hypothesis, cells: Indices, count: int) -> None:
        """To be made before anything is changed.  ``count``: how many configurations on ``cells`` (b,) matter."""
        self._hypothesis, self._cells = hypothesis, cells
        self._first_row = hypothesis.first_row(cells, count)
        self._log_likelihood, self.before = self._now(), hypothesis.snapshot(cells)

    def log_ratio(self) -> float:
        """Log-likelihood ratio of the picture, now against before, in nats."""
        return self._now() - self._log_likelihood

    def reject(self) -> None:
        """Revert everything."""
        self._hypothesis.restore(self._cells, self.before)

    def _now(self) -> float:
        return self._hypothesis.log_likelihood(self._cells, self._first_row)
