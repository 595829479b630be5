"""Reads a board from one picture: registration, illumination, pixel likelihoods, inference, probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from calibration.appearance import FLAT_RIM, ColumnAppearance, SetAppearance
from calibration.camera import Camera
from calibration.kit import Kit
from vision.appearance.board_following import update_changed_texels
from vision.appearance.board_learning import learn_bare
from vision.appearance.cell_views import CellViews
from vision.appearance.colour_model import has_colours
from vision.appearance.column_following import update_column_colour
from vision.appearance.ground_light import measure_ground
from vision.appearance.hard_shadow import HardShadow
from vision.appearance.illumination import Illumination
from vision.appearance.light_references import references
from vision.appearance.piece_colours import Photograph
from vision.appearance.sharpening import is_sharpened, remove_halo
from vision.appearance.veiling_glare import VeilingGlare
from vision.bare_board import BareBoard
from vision.capture.frames import Frame
from vision.glyphs.face_detection import box_px
from vision.glyphs.templates import make_alphabet
from vision.inference.characters import read_characters
from vision.inference.colours import Colours
from vision.inference.face_reading import read_character
from vision.inference.geometry import Geometry, is_pushed, make_geometry, same_pose
from vision.inference.ground_hue import are_ground_hued, off_hue, pillars_log_ratio, store_hue_evidence
from vision.inference.hypothesis import Hypothesis
from vision.inference.joint_scoring import score_characters, score_tables, score_towers
from vision.inference.lateral_faces import rescore_by_lateral_faces
from vision.inference.outliers import (
    UNLIKE_SHARE,
    covered_cells,
    is_explained,
    is_wrong_board,
    state_log_posteriors,
    surely_empty,
    temper,
)
from vision.inference.pale_pyramids import find_pale_pyramids
from vision.inference.pillar_levels import LevelQuery
from vision.inference.render_and_compare import rescore_by_rendering
from vision.inference.rims import discount_rims
from vision.inference.ring_heights import weigh_by_grooves
from vision.inference.search import infer, infer_again
from vision.inference.shadows import weigh_by_shadows
from vision.last_value_cache import LastValueCache
from vision.level_estimator import Estimate, LevelEstimator
from vision.likelihood.observations import Observations, observe
from vision.likelihood.regions import make_colours
from vision.pose.diagnosis import is_colourless
from vision.pose.projection import Registration
from vision.pose.registration import check_size
from vision.pose.tracking import PoseTracker
from vision.reading import CellState, Reading
from vision.scene.configurations import kit_configurations
from vision.scene.visibility import visible_pixels

Array = npt.NDArray[np.float32]
Levels = tuple[int | None, ...]

SURE_NATS = 20.0
"""Log-likelihood ratio above which colours alone decide whether anything stands on a pillar, against the estimate of
its level: edges were wrong about that by 8 (Diamond 14001 of ``tools.soak_traced``).  Chosen by eye."""


@dataclass(frozen=True, eq=False)
class _LastReading:
    """The last reading: hypothesis, (n, states) log-likelihoods, (n,) shares of outliers and of unexplained pixels."""

    hypothesis: Hypothesis
    log_likelihood: Array
    outlier_share: Array
    unexplained: Array

    @property
    def is_unexplained(self) -> npt.NDArray[np.bool_]:
        """(n,) cells that were not understood: under a hand, or because a hand disturbed the light estimate."""
        return np.maximum(self.outlier_share, self.unexplained) > UNLIKE_SHARE


class Reader:
    """Reads pictures of one kit from one camera; caches the geometry while camera and mat stay where they are.

    Attributes:
        bare: the bare board, of the appearance learned so far.
    """

    def __init__(self, kit: Kit, camera: Camera, appearance: SetAppearance, levels: tuple[int, ...] = ()) -> None:
        """``levels``: per cell, of the terrain, or initially of the pillars; empty where all are at the lowest."""
        self.kit = kit
        self.camera = camera
        self.appearance = appearance
        lowest = () if kit.pillars is None else (kit.pillars.lowest,) * len(kit.cells)
        self.levels = levels or lowest
        configurations = kit_configurations(kit)
        self.states = configurations.states
        self._columns, self._firsts = configurations.state_columns
        self._colours = Colours(kit, appearance, configurations)
        self._pillars = None if kit.pillars is None else LevelEstimator(kit, kit.pillars)
        self._white = references(kit, appearance.floor, levels)
        self.bare = BareBoard(kit, appearance, self._white)
        # Pieces of several sizes have sides of several heights, which one shading profile does not fit.
        self._rim = np.array(FLAT_RIM if configurations.has_several_sizes else appearance.rim, np.float32)
        self._alphabet = make_alphabet(appearance.glyphs, appearance.ring_mm) if appearance.glyphs else None
        self._poses = PoseTracker(kit, camera)
        self._glare = VeilingGlare(kit, appearance.black)
        self._shadow = HardShadow(kit, appearance.floor, self.bare.blocks, levels)
        self._geometry: Geometry | None = None
        self._cell_views, self._sharpened = CellViews(), LastValueCache[bool]()
        self._last: _LastReading | None = None

    def use_camera(self, camera: Camera) -> None:
        """Read pictures of another camera from now on, whose pose is still unknown."""
        self.camera = camera
        self._poses = PoseTracker(self.kit, camera)
        self._geometry = self._last = None

    def register(self, image: npt.NDArray[np.uint8]) -> Registration:
        """The camera pose in a picture (height, width, 3) uint8 BGR.  Raises VisionError, MatNotFound."""
        check_size(image, self.camera)
        return self._poses.pose(image)

    @property
    def undiscounted_log_likelihood(self) -> Array:
        """(n, states) log-likelihoods of the last reading, not discounted for unexplained parts of the picture."""
        assert self._last is not None, "nothing was read"
        return self._last.log_likelihood

    def visible_crop_pixels(self) -> tuple[Geometry, npt.NDArray[np.bool_]]:
        """The last reading's geometry, and (n, rows, columns) crop pixels not occluded by anything nearer."""
        assert self._last is not None, "nothing was read"
        hypothesis = self._last.hypothesis
        geometry, labels = hypothesis.geometry, hypothesis.labels().ravel()
        return geometry, visible_pixels(geometry.crops.flat_px, geometry.crops.outside, labels, geometry.rank)

    def is_same(self, known: Registration, pose: Registration) -> bool:
        """Whether ``pose`` projects the mat to the same place as the ``known`` one."""
        return same_pose(known, self.kit, pose, self.camera)

    def is_pushed(self, known: Registration, pose: Registration) -> bool:
        """Whether ``pose`` shows that camera or mat was moved, rather than that something lies at one marker."""
        return is_pushed(known, self.kit, pose, self.camera)

    def geometry(self, pose: Registration) -> Geometry:
        """The geometry for a pose, cached while the mat stays where it is."""
        if self._geometry is None or not self.is_same(self._geometry.pose, pose):
            self._geometry = make_geometry(self.kit, self.levels, pose, self.camera)
        return self._geometry

    def read(self, frame: Frame, levels: Levels | None = None) -> Reading:
        """The reading of a frame; ``levels`` as in :meth:`read_at`.  Raises VisionError, MatNotFound."""
        return self.read_with_geometry(frame, levels)[0]

    def read_with_geometry(
        self, frame: Frame, levels: Levels | None = None, expected: Levels | None = None
    ) -> tuple[Reading, Geometry]:
        """The reading of a frame, and its geometry; ``levels`` and ``expected`` as in :meth:`read_at`.

        Raises VisionError, MatNotFound.
        """
        pose = self.register(frame.image)
        self.levels = self._filled_levels(levels or self.levels)
        geometry = self.geometry(pose)
        return self.read_at(frame, geometry, levels, expected=expected), geometry

    def read_at(
        self,
        frame: Frame,
        geometry: Geometry,
        levels: Levels | None = None,
        changed: npt.NDArray[np.bool_] | None = None,
        expected: Levels | None = None,
    ) -> Reading:
        """The reading of a frame whose pose is known.

        ``levels`` are those of the pillars, one per cell.  Where one is None, it is estimated from the picture, which
        takes longer; where a level is ``expected`` there, only clear evidence overrules it.  Without ``levels`` the
        pillars stand as they last did.  ``changed`` (n,) are the cells whose appearance differs from the last call: if
        the geometry is the same, only these, their affected neighbours and cells not understood are read again.

        Raises VisionError.
        """
        image = self._clear(frame.image, geometry.pose)
        if self.kit.pillars is None:
            last, likely_levels = self._explained(image, geometry, changed), None
        else:
            known = levels or self.levels
            told = known, expected or known
            last, likely_levels = self._explained_on_pillars(image, geometry, told, changed)
        unlike, centres_mm = last.unexplained > UNLIKE_SHARE, last.hypothesis.geometry.crops.centres_mm
        otherwise = is_wrong_board(last.unexplained, centres_mm)
        hidden = covered_cells(last.unexplained, centres_mm, max(self.kit.board.pitch_mm)) & (not otherwise)
        return Reading(
            self.kit.cells,
            self.states,
            temper(last.log_likelihood, last.unexplained, otherwise=otherwise or self._lacks_colours(image)),
            np.where(hidden, np.maximum(last.outlier_share, last.unexplained), last.outlier_share),
            frame.t_s,
            mismatched=tuple(np.flatnonzero(unlike).tolist()) if otherwise else (),
            levels=None if likely_levels is None else self.levels,
            level_log_likelihood=likely_levels,
        )

    def prepare(self) -> None:
        """Make what no picture is needed for, and would take time of the first reading that wants it."""
        self._colours.make_lamp_models()

    def _lacks_colours(self, image: npt.NDArray[np.uint8]) -> bool:
        """Whether a picture (height, width, 3) uint8 BGR is grey though the pieces are not: then no square is sure."""
        return has_colours(self.appearance) and is_colourless(image)

    def learn_bare(self, image: npt.NDArray[np.uint8], layout: Mapping[str, str]) -> bool:
        """Learn parts of the board not seen before and follow slow changes; returns whether the appearance changed.

        On pillars, only their colour is followed.  ``image`` (height, width, 3) uint8 BGR shows the table that was read
        last; ``layout`` has the stack on each cell that is not empty.  Only cells that were also read as empty are
        used.  Raises VisionError when it is too dark.
        """
        last, board, column = self._last, self.appearance.board, self.appearance.column
        if last is None:
            return False
        pose, is_bare = last.hypothesis.geometry.pose, surely_empty(last.log_likelihood)
        if self.kit.pillars is None:
            is_bare &= is_explained(last.unexplained)
        cells = {self.kit.cells[number] for number in np.flatnonzero(is_bare)} - layout.keys()
        if self.kit.pillars is not None:
            return column is not None and self._follow_pillars(column, self._photograph(image, pose), cells)
        if board is None or self.levels:
            return False
        photograph = self._photograph(image, pose)
        learned = learn_bare(board, photograph, self.kit, layout, cells)
        followed = update_changed_texels(learned, photograph, self.kit, layout, cells)
        if followed is not board:
            self.appearance = replace(self.appearance, board=followed)
            self.bare = BareBoard(self.kit, self.appearance, self._white)
            self._shadow = HardShadow(self.kit, self.appearance.floor, self.bare.blocks)
            self._last = last if learned is board else None  # The newly learned parts may now be read differently.
        return followed is not board

    def _photograph(self, image: npt.NDArray[np.uint8], pose: Registration) -> Photograph:
        clear = self._clear(image, pose)
        return Photograph(clear, pose, self.camera, self.light(clear, pose))

    def _clear(self, image: npt.NDArray[np.uint8], pose: Registration) -> npt.NDArray[np.uint8]:
        """A picture (height, width, 3) uint8 BGR without veiling glare and without a hard shadow across the board."""
        return self._shadow.remove(self._glare.remove(image, pose, self.camera), pose, self.camera)

    def _follow_pillars(self, known: ColumnAppearance, photograph: Photograph, bare: set[str]) -> bool:
        followed = update_column_colour(known, photograph, self.kit, self.levels, bare)
        if followed is not known:
            self.appearance, self._last = replace(self.appearance, column=followed), None
            self._colours.update_column(followed)
        return followed is not known

    def score(self, frame: Frame, tables: Sequence[Sequence[CellState]]) -> npt.NDArray[np.float64]:
        """(k,) log-likelihoods of ``tables``, each the (n) states of all cells, up to a constant, in nats.

        The mat must lie as in the last reading, whose hypothesis is kept for all other cells.  Raises VisionError.
        """
        if self._last is None:
            return np.zeros(len(tables))
        geometry = self._last.hypothesis.geometry
        image = self._clear(frame.image, geometry.pose)
        light = self.light(image, geometry.pose)
        smooth = self._colours.denoise(image, geometry, light)
        hypothesis = Hypothesis(self.observations(smooth, geometry, light), self._rim, geometry)
        hypothesis.copy_from(self._last.hypothesis)
        columns = dict(zip(self.states, np.split(self._columns, self._firsts[1:]), strict=True))
        states = [[columns[state] for state in table] for table in tables]
        if geometry.close_up is not None:
            return score_towers(hypothesis, states, partial(self.score_lateral_faces, image, hypothesis, light))
        scores = score_tables(smooth, hypothesis, states)
        if self._alphabet is None:
            return scores
        letters = [self._alphabet.numbers([letter for _, letter in table]) for table in tables]
        legible = self._legible(image, geometry)
        read = partial(read_character, image, hypothesis, self._alphabet, legible=legible)
        return scores + score_characters(hypothesis, states, letters, read)

    def _explained(
        self, image: npt.NDArray[np.uint8], geometry: Geometry, changed: npt.NDArray[np.bool_] | None
    ) -> _LastReading:
        """The explanation of a picture; cells not ``changed`` (n,) since the last one keep theirs where possible."""
        last = self._last
        if changed is None or last is None or last.hypothesis.geometry is not geometry:
            last = self._last = self._read_all(image, geometry)
        elif (again := changed | last.is_unexplained).any():
            self._read_again(image, np.flatnonzero(again), last)
        return last

    def _explained_on_pillars(
        self,
        image: npt.NDArray[np.uint8],
        geometry: Geometry,
        told: tuple[Levels, Levels],
        changed: npt.NDArray[np.bool_] | None,
    ) -> tuple[_LastReading, Array]:
        """As :func:`_explained`, after levels were estimated; and their likelihoods, see :func:`_estimated_levels`.

        Levels are estimated jointly with what stands on the pillars, mostly from edges: a dark cube may look like the
        shaded side of a higher pillar, and the edges of a shadow on a bare one like those of a cube on a lower one.
        Where colours firmly contradict the result, or find a pillar bare at the level where it is expected, levels are
        estimated again.
        """
        self.levels, likely, supposed = self._estimated_levels(image, geometry, told, changed)
        last = self._explained(image, self._geometry_at_levels(geometry), changed)
        surplus = _surplus(last)
        is_other = (np.abs(surplus) > SURE_NATS) & ((surplus > 0) != (supposed > 0))
        occupied = {
            cell: bool(surplus[cell] > 0) for cell in np.flatnonzero(is_other).tolist() if told[0][cell] is None
        }
        elsewhere = tuple(
            level if known is None and supposed[cell] > 0 and level is not None else self.levels[cell]
            for cell, (known, level) in enumerate(zip(*told, strict=True))
        )
        if elsewhere != self.levels:
            bare = _surplus(self._read_all(image, make_geometry(self.kit, elsewhere, geometry.pose, self.camera)))
            moved = np.flatnonzero(np.array(elsewhere) != self.levels)
            occupied |= dict.fromkeys(moved[bare[moved] < -SURE_NATS].tolist(), False)
        if occupied:
            self.levels, likely, _ = self._estimated_levels(image, geometry, told, changed, occupied)
            if (levelled := self._geometry_at_levels(geometry)) is not last.hypothesis.geometry:
                last = self._explained(image, levelled, changed)
        return last, likely

    def _read_all(self, image: npt.NDArray[np.uint8], geometry: Geometry) -> _LastReading:
        light = self.light(image, geometry.pose)
        smooth = self._colours.denoise(image, geometry, light)
        shown = self.observations(smooth, geometry, light)
        hypothesis = infer(shown, self._rim, geometry)
        # The lamp of the last picture is assumed; a refuted one is forgotten before another is looked for.
        for follow in (self._colours.reset_refuted_lamp, self._colours.update_faces, self._colours.update_lamp):
            if follow(hypothesis):
                self._colours.learn_surroundings(smooth, geometry, light)
                shown = shown._replace(colour_model=self._colours.model)  # the bare board's is the same
                hypothesis = infer(shown, self._rim, geometry)
        outlier_share = self._colours.outlier_share(shown, geometry, slice(None))
        states = self._states((image, smooth), hypothesis, light)
        unexplained = self._colours.unexplained(hypothesis, (image, smooth), light, self.bare.in_crops(geometry))
        return _LastReading(hypothesis, states, outlier_share, unexplained)

    def _read_again(self, image: npt.NDArray[np.uint8], cells: npt.NDArray[np.intp], last: _LastReading) -> None:
        geometry = last.hypothesis.geometry
        light = self.light(image, geometry.pose)
        smooth = self._colours.denoise(image, geometry, light)
        shown = self.observations(smooth, geometry, light, cells)
        last.outlier_share[cells] = self._colours.outlier_share(shown, geometry, cells)
        infer_again(last.hypothesis, cells, shown)
        explained = last.hypothesis.updated
        last.log_likelihood[explained] = self._states((image, smooth), last.hypothesis, light)[explained]
        board = self.bare.in_crops(geometry)
        last.unexplained[:] = self._colours.unexplained(last.hypothesis, (image, smooth), light, board)

    def _states(
        self, images: tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]], hypothesis: Hypothesis, light: Illumination
    ) -> Array:
        """(n, states) log-likelihoods from ``images``, the picture and its denoised version.

        Characters are matched in the former: they are compared as wholes, which noise does not hide.
        """
        image, smooth = images
        self.score_lateral_faces(image, hypothesis, light)
        is_faced = hypothesis.geometry.prisms is not None
        if self.kit.pillars is not None and self.appearance.column is not None:
            top, pieces = np.array(self.appearance.column.top), self._colours.reflectances
            by_hue = pillars_log_ratio(hypothesis, top, pieces)
            hypothesis.set_off_hue(by_hue > 0, by_hue)
            hypothesis.set_ground_hued(are_ground_hued(top, pieces))
        elif is_faced and self.appearance.floor is not None and self.appearance.board is None:
            hypothesis.set_off_hue(off_hue(hypothesis, np.array(self.appearance.floor)))
        elif is_faced and hypothesis.is_on_learned_board and hypothesis.geometry.configurations.has_plain_faces:
            store_hue_evidence(hypothesis, self._colours.reflectances)
        bare = partial(self.bare.picture, hypothesis.geometry)
        rescore_by_rendering(smooth, hypothesis, bare, is_smoothed=smooth is not image)
        letters = None
        if self._alphabet is None:
            self.look_at_shadows(smooth, hypothesis, light)
            if self.appearance.ring_mm is not None:
                weigh_by_grooves(image, hypothesis, self.appearance.ring_mm, self.appearance.inner_ring_mm)
        else:
            legible = self._legible(image, hypothesis.geometry)
            characters = read_characters(image, hypothesis, self._alphabet, legible)
            self.look_at_shadows(smooth, hypothesis, light)
            letters = characters[:, self._alphabet.numbers([letter for _, letter in self.states[1:]])]
        scores = discount_rims(hypothesis) if hypothesis.geometry.prisms is not None else hypothesis.scores
        return state_log_posteriors(scores, (self._columns, self._firsts), letters)

    def score_lateral_faces(
        self,
        image: npt.NDArray[np.uint8],
        hypothesis: Hypothesis,
        light: Illumination,
        asked: Mapping[int, npt.NDArray[np.intp]] = MappingProxyType({}),
    ) -> None:
        """Score pyramids by their lateral faces: those in doubt, and the configurations ``asked`` about, by cell."""
        close_up, floor, board = hypothesis.geometry.close_up, self.appearance.floor, self.appearance.board
        if close_up is not None and floor is not None:
            view = hypothesis.geometry.pose, self.camera
            colours = self._colours.reflectances, np.array(floor)
            bare = None if board is None else partial(self._cell_views.predict, board, view, light)
            if not asked:
                find_pale_pyramids(image, hypothesis, close_up, colours, bare)
            rescore_by_lateral_faces(image, hypothesis, close_up, colours, bare, asked)

    def _legible(self, image: npt.NDArray[np.uint8], geometry: Geometry) -> npt.NDArray[np.uint8]:
        """The picture in which characters are read: without the halos of a camera that sharpens.

        Sharpening is tested for only once while the mat stays where it is.
        """
        sharpens = self._sharpened.get((geometry,), lambda: is_sharpened(image, self.kit, geometry.pose, self.camera))
        return remove_halo(image, box_px(geometry.faces, image.shape)) if sharpens else image

    def _estimated_levels(
        self,
        image: npt.NDArray[np.uint8],
        geometry: Geometry,
        told: tuple[Levels, Levels],
        changed: npt.NDArray[np.bool_] | None,
        occupied: Mapping[int, bool] = MappingProxyType({}),
    ) -> Estimate:
        """The pillars' levels, their log-likelihoods, uniform where they were given, and what may stand on the pillars.

        ``told`` are the known and the expected levels; ``occupied`` as in :class:`LevelQuery`.  What may stand on
        the pillars are (n,) configurations, counted from 1, 0 for none.
        """
        assert self._pillars is not None, "only pillars have levels that change"
        unknown = [number for number, level in enumerate(told[0]) if level is None]
        expected = [number for number in unknown if told[1][number] is not None]
        begin = self._filled_levels(
            tuple(level if level is not None else likely for level, likely in zip(*told, strict=True))
        )
        if not unknown:
            return self._pillars.from_known_levels(begin)
        light = self.light(image, geometry.pose)
        self._colours.learn_surroundings(image, geometry, light)
        colours = make_colours(self._colours.model, len(geometry.configurations.colours))
        configurations, loose = self._last_configurations(changed)
        question = LevelQuery(begin, configurations, unknown, expected, loose, occupied)
        return self._pillars.estimate(image, (geometry.pose, self.camera), light, colours, question)

    def _filled_levels(self, levels: Levels) -> tuple[int, ...]:
        """``levels``, with the last known ones in place of those that are None."""
        return tuple(old if level is None else level for level, old in zip(levels, self.levels, strict=True))

    def _last_configurations(self, changed: npt.NDArray[np.bool_] | None) -> tuple[list[int], list[int]]:
        """The configuration last inferred on each cell, from 1, 0 for none; and the cells where it may have changed."""
        everywhere = list(range(len(self.kit.cells)))
        if self._last is None:
            return [0] * len(everywhere), everywhere
        hypothesis = self._last.hypothesis
        configurations = [hypothesis.configuration(cell) + 1 if hypothesis.state[cell] else 0 for cell in everywhere]
        return configurations, everywhere if changed is None else [int(cell) for cell in np.flatnonzero(changed)]

    def _geometry_at_levels(self, geometry: Geometry) -> Geometry:
        """``geometry`` with the pillars at their current levels."""
        if geometry.levels == self.levels:
            return geometry
        kept = self._geometry
        if kept is None or kept.pose is not geometry.pose or kept.levels != self.levels:
            self._geometry = kept = make_geometry(self.kit, self.levels, geometry.pose, self.camera)
        return kept

    def light(self, image: npt.NDArray[np.uint8], pose: Registration) -> Illumination:
        """The illumination in a picture (height, width, 3) uint8 BGR.  Raises VisionError when it is too dark."""
        return self.bare.light(image, pose, self.camera)

    def observations(
        self,
        image: npt.NDArray[np.uint8],
        geometry: Geometry,
        light: Illumination,
        cells: npt.NDArray[np.intp] | slice = slice(None),
    ) -> Observations:
        """The observations of ``cells`` in a picture (height, width, 3) uint8 BGR under this light."""
        if isinstance(cells, slice):
            self._colours.learn_surroundings(image, geometry, light)
        return observe(image, geometry.crops, cells, light, self._colours.model, self.bare.in_crops(geometry))

    def look_at_shadows(self, image: npt.NDArray[np.uint8], hypothesis: Hypothesis, light: Illumination) -> None:
        """Weigh heights by the shadows in a picture (height, width, 3) uint8 BGR, for discs on a flat board."""
        is_known = self.appearance.board is not None or self.appearance.floor is not None
        if is_known and not self.levels and hypothesis.geometry.configurations.are_discs:
            measure = partial(measure_ground, image, light=light)
            weigh_by_shadows(hypothesis, partial(self.bare.ground, hypothesis.geometry), measure)


def _surplus(reading: _LastReading) -> npt.NDArray[np.floating]:
    """(n,) log-likelihood ratio of the likeliest stack on each cell against none."""
    surplus: npt.NDArray[np.floating] = reading.log_likelihood[:, 1:].max(axis=1) - reading.log_likelihood[:, 0]
    return surplus
