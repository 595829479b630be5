"""Read a board from one picture: register, measure the light, look up colours, explain every cell, give probabilities.

Each cell is explained against the picture that its neighbours would give without it: what stands behind is its
background, what stands before it hides its pixels.  Cells that are no neighbours are explained together.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit
from calibration.looks import SetLook
from vision import palette, stacks
from vision.crops import COLUMN_MM
from vision.geometry import TALLEST, Geometry, make_geometry, same_pose
from vision.light import measure_light
from vision.outlines import face_polygon
from vision.reading import EMPTY, Reading, State
from vision.register import Registration, check_size, register, to_gray
from vision.source import Frame

SWEEPS = 4
"""Most passes over the board; a pass looks only at cells whose neighbours have changed, and two mostly do."""

MOSTLY_HIDDEN = 0.2
"""Share of a crop that nearer stacks hide from which on its silence does not mean that the cell is empty."""

LEAST_VISIBLE = 0.05
"""Share of a piece's face that must look more like a piece than like the floor for a cell to be looked into."""

STRAY_LOG = np.log(palette.STRAY / palette.BINS**3) + 0.7
"""A pixel whose likeliest material is no likelier than stray pixels are (twice their density) is unexplained."""

SUBPIXEL_BITS = 4
"""Binary digits of a pixel's fraction in polygons, as ``cv2.fillConvexPoly`` takes them."""

Array = npt.NDArray[np.float32]


class Reader:
    """Reads pictures of one kit through one camera; keeps the geometry while nothing is moved."""

    def __init__(self, kit: Kit, camera: Camera, look: SetLook) -> None:
        self.kit = kit
        self.camera = camera
        self.look = look
        self.letters = tuple(kind.letter for kind in kit.pieces)
        standing = [(height, letter) for height in range(1, TALLEST + 1) for letter in self.letters]
        self.states: tuple[State, ...] = (EMPTY, *standing)
        self._palette = palette.build_palette(look, self.letters)
        self._rim = np.array(look.rim, np.float32)
        self._geometry: Geometry | None = None

    def register(self, image: npt.NDArray[np.uint8]) -> Registration:
        """The pose in a picture (height, width, 3) uint8 BGR.  Raises VisionError, MatNotFound."""
        return register(to_gray(image), self.kit, self.camera)

    @property
    def pose(self) -> Registration:
        """The pose of the last picture that was read."""
        assert self._geometry is not None, "nothing was read yet"
        return self._geometry.pose

    def geometry(self, pose: Registration) -> Geometry:
        """The geometry for a pose, kept while the mat stays where it is."""
        if self._geometry is None or not same_pose(self._geometry, self.kit, pose, self.camera):
            self._geometry = make_geometry(self.kit, pose, self.camera)
        return self._geometry

    def check_size(self, image: npt.NDArray[np.uint8]) -> None:
        """Raise VisionError for a picture of another size than the camera was calibrated for."""
        check_size(image, self.camera)

    def read(self, frame: Frame) -> Reading:
        """The reading of a frame.  Raises VisionError, MatNotFound."""
        return self.read_with_geometry(frame)[0]

    def read_with_geometry(self, frame: Frame) -> tuple[Reading, Geometry]:
        """The reading of a frame and the geometry that it rests on.  Raises VisionError, MatNotFound."""
        geometry = self.geometry(self.register(frame.image))
        evidence, values = self.evidence(frame.image, geometry)
        board = explain(evidence, values, self._rim, geometry, (self.camera.height_px, self.camera.width_px))
        scores = board.scores
        log_likelihood = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        foreign = _foreign(evidence, geometry)
        return Reading(self.kit.cells, self.states, log_likelihood.astype(np.float32), foreign, frame.t_s), geometry

    def evidence(self, image: npt.NDArray[np.uint8], geometry: Geometry) -> tuple[Array, Array]:
        """What every crop pixel shows.

        Returns:
            (n, rows, columns, materials) log-likelihood for every material of the palette, and (n, rows, columns, 3)
            display values r g b relative to white paper.
        """
        light = measure_light(image, self.kit, geometry.pose, self.camera)
        crops = geometry.crops
        n, rows, columns = crops.flat_px.shape
        place = crops.map_px.reshape(n * rows, columns, 2)
        codes = np.asarray(
            cv2.remap(image, place, np.empty(0), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.uint8
        ).reshape(n, rows, columns, 3)
        local = light.at(crops.centres_mm)[:, None, None]
        middle = light.at(np.zeros((1, 3)))
        around = image.reshape(-1, 3)[geometry.surround_px]
        self._palette[:, palette.TABLE] = palette.table_column(
            np.clip(palette.normalise(around, middle), 0, palette.TOP_VALUE)
        )
        values = palette.normalise(codes, local)
        return self._palette[palette.bin_index(values)], values


class Board:
    """The explanation of a whole board while it is being found.

    Attributes:
        scores: (n, 1 + heights * tops) log-likelihood ratio of every state against an empty cell.
        best: (n,) the best state of each cell.
        sides: of each cell that was looked into, the shading of its best stack's side (:func:`stacks.score_askew`).
    """

    def __init__(self, evidence: Array, values: Array, rim: Array, geometry: Geometry, size: tuple[int, int]) -> None:
        self.evidence, self.values, self.rim, self.geometry, self.size = evidence, values, rim, geometry, size
        self.sides: dict[int, Array] = {}
        n = len(evidence)
        floor = evidence[..., palette.FLOOR]
        either = np.logaddexp(evidence[..., palette.TABLE], floor) - np.float32(np.log(2))
        self.bare = np.where(geometry.off_mat, either, floor)
        self.visible = ~geometry.crops.outside
        gain = evidence[..., palette.SIDE : palette.TOPS + geometry.tops] - self.bare[..., None]
        gain *= self.visible[..., None]
        upright = stacks.score_upright(stacks.accumulate(gain), geometry, np.arange(n))
        self.scores = np.concatenate([np.zeros((n, 1), np.float32), upright.reshape(n, -1)], axis=1)
        self.best = self.scores.argmax(axis=1)
        self.shift = np.zeros((n, 2), np.float32)
        self.outlines: list[tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]] | None] = [None] * n
        for cell in range(n):
            self._outline(cell)
        # A cell where hardly anything looks more like a piece than like the floor stays empty, whatever its neighbours.
        likely = (gain[..., 0] > 0).sum(axis=(1, 2)) * COLUMN_MM
        self.active = likely > LEAST_VISIBLE * np.pi * geometry.outlines.radius_mm**2
        self.stale = self.active.copy()

    def sweep(self) -> bool:
        """Explain every cell whose neighbours have changed, given the others; true when more is to be done."""
        for party in self.geometry.parties:
            cells = party[self.stale[party]]
            if len(cells):
                self.stale[cells] = False
                self._explain(cells)
        return bool(self.stale.any())

    def _explain(self, cells: npt.NDArray[np.intp]) -> None:
        labels, ranks = self._paint(set(cells.tolist()))
        flat = self.geometry.crops.flat_px[cells]
        label = labels.ravel()[flat]
        evidence = self.evidence[cells]
        behind = np.take_along_axis(evidence, label[..., None].astype(np.intp), axis=3)[..., 0]
        base = np.where(label > 0, behind, self.bare[cells])
        hidden = ranks.ravel()[flat] > self.geometry.rank[cells][:, None, None]
        seen = self.visible[cells] & ~hidden
        gain = evidence[..., palette.SIDE :] - base[..., None]
        gain *= seen[..., None]
        sums = stacks.accumulate(gain)
        shade = stacks.accumulate_shade(self.values[cells], seen)
        upright = stacks.score_upright(sums, self.geometry, cells)
        height = upright.max(axis=2).argmax(axis=1) + 1
        levels = np.clip(height[:, None] + (-1, 0, 1), 1, TALLEST)
        askew, shift, sides = stacks.score_askew(sums, shade, self.rim, self.geometry, cells, levels)
        np.put_along_axis(upright, levels[..., None] - 1, askew, axis=1)
        self.scores[cells, 1:] = upright.reshape(len(cells), -1)
        which = askew.max(axis=2).argmax(axis=1)
        stand = shift[np.arange(len(cells)), which]
        for k, cell in enumerate(cells):
            self.sides[int(cell)] = sides[k, which[k]]
            self._settle(int(cell), stand[k], hidden[k])

    def _settle(self, cell: int, shift: Array, hidden: npt.NDArray[np.bool_]) -> None:
        """Take over a cell's best state and tell its neighbours, unless most of what was believed there is hidden.

        A stack wrongly believed in front must not wipe out the one behind, whose colours would then seem to be its own.
        """
        best = int(self.scores[cell].argmax())
        if best == 0 and self.best[cell] and hidden.mean() > MOSTLY_HIDDEN:
            return
        if best != self.best[cell] or np.abs(shift - self.shift[cell]).max() > 1:
            if best != self.best[cell]:
                self.stale |= self.geometry.neighbours[cell] & self.active
            self.best[cell], self.shift[cell] = best, shift
            self._outline(cell)

    def _outline(self, cell: int) -> None:
        """Keep the polygons (hull, face) of what is believed on a cell, in fixed point."""
        state = int(self.best[cell])
        self.outlines[cell] = None
        if state:
            outlines, crops = self.geometry.outlines, self.geometry.crops
            level = (state - 1) // self.geometry.tops + 1
            foot = face_polygon(outlines, crops, cell, 0, np.zeros(2))
            face = face_polygon(outlines, crops, cell, level, self.shift[cell])
            fixed = np.rint(np.vstack([foot, face]) * (1 << SUBPIXEL_BITS)).astype(np.int32)
            self.outlines[cell] = (np.asarray(cv2.convexHull(fixed), np.int32), fixed[len(foot) :])

    def _paint(self, without: set[int]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
        """What stands on the other cells, far to near: material labels, and the rank of the nearest, per pixel."""
        labels, ranks = np.zeros(self.size, np.uint8), np.zeros(self.size, np.uint8)
        for cell in self.geometry.far_first:
            outline = self.outlines[cell]
            if outline is None or int(cell) in without:
                continue
            hull, face = outline
            top = (int(self.best[cell]) - 1) % self.geometry.tops
            cv2.fillConvexPoly(labels, hull, palette.SIDE, shift=SUBPIXEL_BITS)
            cv2.fillConvexPoly(labels, face, palette.TOPS + top, shift=SUBPIXEL_BITS)
            cv2.fillConvexPoly(ranks, hull, int(self.geometry.rank[cell]), shift=SUBPIXEL_BITS)
        return labels, ranks


def explain(evidence: Array, values: Array, rim: Array, geometry: Geometry, size: tuple[int, int]) -> Board:
    """The explanation of a whole board, neighbours considered.

    Args:
        evidence: (n, rows, columns, materials) log-likelihoods of the palette's materials.
        values: (n, rows, columns, 3) display values.
        rim: shading of a piece's side, see :class:`calibration.looks.SetLook`.
        geometry: of the pose.
        size: (height, width) of the picture.
    """
    board = Board(evidence, values, rim, geometry, size)
    for _ in range(SWEEPS):
        if not board.sweep():
            break
    return board


def _foreign(evidence: Array, geometry: Geometry) -> Array:
    """(n,) share of the pixels of each cell's floor, or of what stands on it, that no material explains."""
    rows = np.abs(geometry.crops.v_mm) <= geometry.outlines.radius_mm
    stray = (evidence[:, rows].max(axis=3) < STRAY_LOG) & ~geometry.crops.outside[:, rows]
    share: Array = stray.mean(axis=(1, 2)).astype(np.float32)
    return share
