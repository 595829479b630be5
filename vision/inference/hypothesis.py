"""What is believed to stand on every cell, and the picture of it: what hides what, and how likely that is."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from vision.inference.geometry import Geometry
from vision.likelihood.observations import Observations, log_likelihood
from vision.scene.label_buffer import LabelBuffer, render, visible_px
from vision.scene.materials import Materials
from vision.scene.silhouettes import Silhouettes, draw, no_silhouettes

Array = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]
Number = TypeVar("Number", int, npt.NDArray[np.intp])


class Snapshot(NamedTuple):
    """What was believed of some cells (b,)."""

    best: Indices
    shift: Array
    materials: Indices
    silhouettes: Silhouettes


class Belief:
    """One state a cell (n), 0 for the empty one: figure and colour of what stands there.

    Attributes:
        best: (n,) the states.
        shift: (n, 2) mm in the crop by which their upper faces are off their places.
        silhouettes: of what stands on the cells.
    """

    def __init__(self, geometry: Geometry) -> None:
        count = len(geometry.rank)
        self.geometry, self.colours = geometry, len(geometry.configurations.colours)
        self.best, self.shift = np.zeros(count, np.intp), np.zeros((count, 2), np.float32)
        self.silhouettes = no_silhouettes(count, geometry.size[0])
        self._materials = np.zeros(count, np.intp)
        self._labels, self._rendered = geometry.bare.copy(), np.zeros((count, 4), np.int32)

    def put(self, cell: int, state: int, shift_mm: Array | float = 0.0) -> None:
        """Believe ``state`` of a cell, its face off by ``shift_mm`` (2,)."""
        self.best[cell], self.shift[cell] = state, shift_mm
        self.silhouettes.rows[cell], self._materials[cell] = 0, 0
        if state:
            geometry = self.geometry
            configuration, colour = divmod(state - 1, self.colours)
            outlines, crops = geometry.outlines, geometry.crops
            place = crops.to_picture[cell], crops.origin_px[cell], self.shift[cell]
            corners_mm = outlines.corners_mm[configuration][cell]
            draw(self.silhouettes, cell, corners_mm, outlines.first[configuration], place, geometry.size[1])
            self._materials[cell] = Materials.TOPS + colour

    def keep(self, cells: Indices) -> Snapshot:
        """What is believed of ``cells`` (b,), for :meth:`put_back`."""
        return Snapshot(self.best[cells], self.shift[cells], self._materials[cells], self.silhouettes.of(cells))

    def put_back(self, cells: Indices, kept: Snapshot) -> None:
        """Believe of ``cells`` (b,) again what was ``kept``."""
        self.best[cells], self.shift[cells], self._materials[cells] = kept.best, kept.shift, kept.materials
        self.silhouettes.put(cells, kept.silhouettes)

    def configuration(self, cell: int) -> int:
        """Number of the figure on a cell where something stands."""
        return (int(self.best[cell]) - 1) // self.colours

    def height(self, state: Number) -> Number:
        """Number of a state's figure from 1: of a ladder, its pieces; 0 for the empty cell."""
        return (state - 1) // self.colours + 1

    def likelihood(self, observations: Observations, cells: Indices, first_row: int) -> float:
        """Log-likelihood of the pixels in the crops of ``cells`` (b,), each under what is believed to be in front."""
        return log_likelihood(observations, self.geometry.visibility, self.render(cells), cells, first_row)

    def visible_px(self) -> npt.NDArray[np.int32]:
        """(n, n + 1) see :func:`vision.scene.label_buffer.visible_px`."""
        return visible_px(self.render_all(), self.silhouettes)

    def render_all(self) -> LabelBuffer:
        """What may be seen in the whole picture, see :meth:`render`."""
        return self.render(np.arange(len(self.best)))

    def render(self, cells: Indices, *, bare: bool = False) -> LabelBuffer:
        """What may be seen in the crops of ``cells`` (b,); with ``bare``, if nothing stood on them.

        It is painted over when this is called again.
        """
        materials = self._materials.copy()
        if bare:
            materials[cells] = 0
        geometry = self.geometry
        render(
            (self._labels, geometry.bare, self._rendered),
            self.silhouettes,
            geometry.far_first,
            materials,
            (*geometry.crop_boxes_px, cells),
        )
        return self._labels
