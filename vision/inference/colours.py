"""The colours that a set's surfaces may have, and those of what lies round its mat, learned anew in each picture."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calibration.appearance import ColumnAppearance, Reflectance, SetAppearance, linear
from calibration.kit import Kit
from vision.appearance import colour_model
from vision.appearance.board_view import BoardView
from vision.appearance.colour_model import Lamp
from vision.appearance.illumination import Illumination
from vision.appearance.saturation import NOTHING_SATURATED, Bins, CensoredTable, censor, saturated_bins
from vision.appearance.tone_curve import gain_at
from vision.inference.face_colours import face_change
from vision.inference.geometry import Geometry
from vision.inference.hypothesis import Hypothesis
from vision.inference.lamp import estimate_lamp
from vision.inference.outliers import UNLIKE_SHARE, max_log_likelihood, outlier_shares, unexplained_shares
from vision.likelihood.denoising import denoise
from vision.likelihood.observations import Observations, observe
from vision.scene.configurations import Configurations
from vision.scene.ground import has_paper
from vision.scene.materials import Materials

Array = npt.NDArray[np.float32]
Picture = npt.NDArray[np.uint8]


DARK_NOISE = 2.0
"""Noise of a side in deep shade, where the display curve is steep, as a multiple of that in the middle of the mat: 12
codes against 6 in a dim picture (Citadel 10105 of ``tools.soak_traced``)."""

MIN_BRIGHTNESS_CHANGE = 0.2
"""Log reflectance, averaged over the channels, by which a learned colour must be too bright, or have been made too
dark, to be changed.  With 0.1 and 0.4 28 own boards were read alike."""


class _LampModel(NamedTuple):
    """The colour model under one lamp, and that by which pictures count as understood: sides may be in deep shade, too.

    Attributes:
        model, shaded: of (BINS³, materials) float32 log-likelihoods.
        likeliest: (BINS³,) of ``shaded``, see :func:`vision.inference.outliers.max_log_likelihood`.
        pieces: (BINS³,) likelihood of the likeliest piece, see :func:`.colour_model.piece_likelihood`; 0 with pillars,
            whose levels are inferred from colours, too, which must then distinguish cubes from the cloth.
    """

    model: CensoredTable
    shaded: CensoredTable
    likeliest: Array
    pieces: Array

    def censor_from(self, first: Bins) -> None:
        """Let saturated channels stand for all bins from ``first`` on."""
        if self.model.censor_from(first) and self.shaded.censor_from(first):
            self.likeliest[:] = max_log_likelihood(self.shaded.table)


class Colours:
    """The colour model of one set, whose column for what lies round the mat changes with each picture.

    Attributes:
        reflectances: of the set's surfaces, see :func:`.colour_model.reflectances`.
    """

    def __init__(self, kit: Kit, appearance: SetAppearance, configurations: Configurations) -> None:
        """``configurations``: what may stand on the cells of ``kit``."""
        self._kit, self._configurations, self._learned = kit, configurations, appearance
        # On a learned board sides may be as dark as any, and of pyramids as bright, too.
        told = {Lamp.LOW, Lamp.BEHIND} if appearance.board is None else {Lamp.LOW}
        self._lamps = told if configurations.is_single_size and configurations.has_faces else set()
        self._are_faces_followed = appearance.board is not None and configurations.has_plain_faces
        self._change = np.zeros((len(configurations.colours), 3))  # log of the reflectances over those learned
        self._build_model(appearance)

    def _build_model(self, appearance: SetAppearance) -> None:
        """Make the model of a set of this ``appearance``."""
        kit, configurations = self._kit, self._configurations
        self._appearance = appearance
        self.reflectances = colour_model.reflectances(appearance, configurations)
        self._contrast = colour_model.contrast_to_ground(self.reflectances, _grounds(kit, appearance, configurations))
        paper = linear(kit.mat.paper) if has_paper(kit) else None
        model = colour_model.build_colour_model(appearance, configurations, paper)
        self._deep = colour_model.sides_in_deep_shade(appearance, configurations)
        self._lit = self._usual = self._lamp_model(model)
        self._unusual: dict[Lamp, _LampModel] = {}  # made when they are wanted
        self._paper = np.exp(self.model[:, Materials.PAPER])

    @property
    def model(self) -> Array:
        """(BINS³, materials) float32 log-likelihoods under the lamp of the picture that was last read whole."""
        return self._lit.model.table

    def update_faces(self, hypothesis: Hypothesis) -> bool:
        """Change the model if, given the hypothesis, a learned colour is too bright; returns whether it was changed.

        Faces that are brighter than was learned reflect a lamp, which the model allows for.
        """
        if not self._are_faces_followed:
            return False
        change = self._change + face_change(hypothesis, self.reflectances)
        change[change.mean(axis=1) > 0] = 0.0
        is_other = np.abs((change - self._change).mean(axis=1)) > MIN_BRIGHTNESS_CHANGE
        if not is_other.any():
            return False
        self._change = change = np.where(is_other[:, None], change, self._change)
        pieces = dict(self._learned.pieces)
        for (letter,), share in zip(self._configurations.colours, np.exp(change), strict=True):
            r, g, b = (share * pieces[letter]).tolist()
            pieces[letter] = r, g, b
        self._build_model(replace(self._learned, pieces=pieces))
        return True

    def reset_refuted_lamp(self, hypothesis: Hypothesis) -> bool:
        """Return to the usual lamp if, given the hypothesis, that of the last picture is not this one's.

        Returns whether the model was changed.
        """
        if self._lit is self._usual or self._lit is self._unusual.get(self._lamp(hypothesis)):
            return False
        self._lit = self._usual
        return True

    def update_lamp(self, hypothesis: Hypothesis) -> bool:
        """Leave the usual lamp if, given the hypothesis, another one is lit; returns whether the model was changed."""
        lamp = self._lamp(hypothesis) if self._lit is self._usual else Lamp.USUAL
        if lamp not in self._lamps:
            return False
        self._lit = self._model_under(lamp)
        return True

    def make_lamp_models(self) -> None:
        """Make the models under unusual lamps before they are wanted: each takes milliseconds of the first reading."""
        for lamp in self._lamps:
            self._model_under(lamp)

    def _model_under(self, lamp: Lamp) -> _LampModel:
        if lamp not in self._unusual:
            self._usual.censor_from(NOTHING_SATURATED)
            usual = self._usual.model.table
            model = colour_model.model_for_lamp(lamp, usual, self._appearance, self._configurations)
            self._unusual[lamp] = self._lamp_model(model)
        return self._unusual[lamp]

    def _lamp_model(self, model: Array) -> _LampModel:
        """A colour ``model`` with what is derived from it."""
        shaded = colour_model.with_deep_shade(model, self._deep)
        likeliest, pieces = max_log_likelihood(shaded), np.zeros(len(model), np.float32)
        if self._kit.pillars is None:
            pieces = colour_model.piece_likelihood(model, len(self._configurations.colours))
        return _LampModel(CensoredTable(model), CensoredTable(shaded), likeliest, pieces)

    def _lamp(self, hypothesis: Hypothesis) -> Lamp:
        return estimate_lamp(hypothesis, self.reflectances) if self._lamps else Lamp.USUAL

    def update_column(self, column: ColumnAppearance) -> None:
        """Continue with another ``column``."""
        self._usual.censor_from(NOTHING_SATURATED)
        model = self._usual.model.table
        colour_model.repaint_column(model, column)
        self._lit = self._usual = self._lamp_model(model)
        self._unusual.clear()

    def learn_surroundings(self, image: Picture, geometry: Geometry, light: Illumination) -> None:
        """Learn the colours of what lies outside the mat in a picture (height, width, 3) uint8 BGR."""
        first = saturated_bins(light)
        self._lit.censor_from(first)
        rows = colour_model.rows_at(image, geometry.surround_px, light.at(np.zeros((1, 3)))[0])
        table = colour_model.table_column(rows, self._paper, self._lit.pieces)
        censor(table, first)
        self.model[:, Materials.TABLE] = table

    def denoise(self, image: Picture, geometry: Geometry, light: Illumination) -> Picture:
        """A picture (height, width, 3) uint8 BGR without the noise that would hide pieces in this light."""
        return denoise(image, geometry.mat_px, _gain(light), self._contrast)

    def outlier_share(self, shown: Observations, geometry: Geometry, cells: npt.NDArray[np.intp] | slice) -> Array:
        """(n,) float32, share of the pixels round each cell's middle or its stack that no material explains."""
        outside, rows = geometry.crops.outside[cells], geometry.rows_round
        return outlier_shares(shown.bins, shown.floor, outside, rows, self._lit.likeliest, self.model)

    def unexplained(
        self, hypothesis: Hypothesis, images: tuple[Picture, Picture], light: Illumination, board: BoardView | None
    ) -> Array:
        """(n,) share of pixels round each cell that are unlikely under what is believed there.

        Nothing explains noise: where much is unexplained, noise that the colour model does not allow for is removed.

        Args:
            hypothesis: what is believed.
            images: (height, width, 3) uint8 BGR, the picture and the one that was read, denoised or the same.
            light: in the picture.
            board: in the crops, where its appearance was learned.
        """
        (image, smooth), geometry = images, hypothesis.geometry
        shares = self._unlikely(hypothesis, hypothesis.observations)
        if smooth is not image or not (shares > UNLIKE_SHARE).any():
            return shares
        quiet = denoise(image, geometry.mat_px, DARK_NOISE * _gain(light), 0.0)
        if quiet is image:
            return shares
        shown = observe(quiet, geometry.crops, slice(None), light, self.model, board)
        return self._unlikely(hypothesis, shown)

    def _unlikely(self, hypothesis: Hypothesis, shown: Observations) -> Array:
        return unexplained_shares(hypothesis, shown, hypothesis.geometry.rows_round, self._lit.shaded.table)


def _grounds(kit: Kit, appearance: SetAppearance, configurations: Configurations) -> list[Reflectance]:
    """Uniform surfaces under pieces, from which denoised colours distinguish the pieces; a learned board is none.

    Faces with characters are not uniform, and tell less once smoothed.
    """
    if configurations.has_faces and any(len(letters) > 1 for letters in configurations.colours):
        return []
    column = None if appearance.column is None else appearance.column.top
    floor = appearance.floor if kit.pillars is None else None
    return [ground for ground in (floor, column) if ground is not None]


def _gain(light: Illumination) -> float:
    """Display value relative to white paper that one code adds in the middle of the mat."""
    return float(gain_at(light.at(np.zeros((1, 2)))).mean())
