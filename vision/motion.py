"""What moves, and what reaches over the board: the cheap checks that every frame gets.

Motion is what :mod:`vision.differencing` finds over the mat: people beside the table never sit still.  A hand that
rests does not move, so it is found by its arm: a change from the last picture of the bare table that reaches from the
picture's edge to the board, wider than any piece all the way.  What is narrower only touches the arm: a stack that has
changed beside it.  An arm's shadow covers nothing: what lies there is seen, if darker.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit
from vision.differencing import Difference, Differencer
from vision.gain_compensation import gain_compensated
from vision.inference.geometry import Geometry
from vision.picture_change import Picture, compare_pictures, may_be_relit, remove_shadows
from vision.pose.projection import Points, back_project

SHRINK = 4
"""Frames are watched at a quarter of their size, each pixel the mean of the four in the middle of its sixteen: that
halves the sensor's noise, and the mean of all sixteen would cost the gate half of its time."""

MOVING_SHARE = 0.2
"""Share of a piece's area that must change for something to count as moving: less is a flicker at an edge."""

MARGIN_PIECES = 1.0
"""Motion counts up to so many pieces' widths beyond the mat, where stacks at its far edge rise in the picture."""

ARM_WIDTHS = 1.3
"""An arm is wider than so many pieces, from where it enters the picture on: a tall stack may reach the edge, or be
connected with the arm in the picture, too."""

HAND_WIDTHS, HAND_MM = 2.0, 60.0
"""The solid part of an arm that reaches the picture's edge only as a shadow is wider than so many pieces: a tower that
was put down near the edge is as wide as a piece's diagonal, and its shadow leads to it as an arm would.  And wider
than so many millimetres: two towers side by side, of which one was moved there, may be as wide as two pieces."""

GAP_MM = 25.0
"""Parts of one arm are up to so far apart: a cuff of the table's colour, or its shadow, is no change, and would cut the
hand off."""

RELIT_SHARE = 0.5
"""A solid part is no arm, but ground from which a shadow has gone, if more than this share of it may be that.  Of 40
arms in six recordings none had more than 0.22; the wooden table beside a mat, where a tower's shadow had lain, 0.88."""

STACK_MM = 25
"""How far up its crop a cell's picture reaches: the upper faces of stacks of the usual heights lie in it."""

ALTERED_SHARE = 0.01
"""Share of a cell's picture that must differ for the cell to be read again: a few pixels."""

IN_SIGHT_SHARE = 0.2
"""Share of the smallest piece's picture on a cell that must be in sight for the rest to be ignored, where something
nearer was put or taken."""

OCCLUDER_MARGIN_MM = 4
"""Distance from something nearer within which a pixel may show it: its place is known to two millimetres, and a change
is seen in a small picture."""

TOUCHED_SHARE = 0.03
"""Share of a cell that an arm must cover for the cell to be hidden."""


@dataclass(frozen=True, eq=False)
class WatchedFrame:
    """A downscaled frame.

    Attributes:
        small: (height / SHRINK, width / SHRINK, 3) uint8, BGR.
        moving: whether anything has moved since the frame before; true for the first.
        difference: to the frame before; None for the first.
    """

    small: Picture
    moving: bool
    difference: Difference | None = None


@dataclass(frozen=True, eq=False)
class Comparison:
    """A frame compared with the picture of the bare table.

    Attributes:
        covered: (n,) bool, cells that an arm reaches over.
        touched: (n,) bool, these, and cells with what is connected with an arm in the picture: fingertips, its shadow,
            or a stack that has changed beside it.
        changed: (n,) float32 in 0…1, share of each cell's picture, up to a stack of some height, that differs.
        changes: (height / SHRINK, width / SHRINK) uint8, 1 where the pictures differ.
    """

    covered: npt.NDArray[np.bool_]
    touched: npt.NDArray[np.bool_]
    changed: npt.NDArray[np.float32]
    changes: Picture


class MotionDetector:
    """Detects motion in one camera's frames; knows the frame before and the table without hands.

    ``camera`` may be replaced by one of the same size whose lens is known better.
    """

    def __init__(self, kit: Kit, camera: Camera) -> None:
        self._shape = (camera.height_px // SHRINK, camera.width_px // SHRINK)
        self._differencer = Differencer()
        self._bare: Picture | None = None
        self._earlier: Picture | None = None
        self._under: Picture | None = None
        self._arm: Picture | None = None
        self._is_shadow = False
        self._read: Picture | None = None
        self._kit, self.camera = kit, camera
        self._area: Picture | None = None
        self._geometry: Geometry | None = None
        self._places: tuple[Geometry, npt.NDArray[np.intp]] | None = None
        self._piece_mm = max(kind.width_mm for kind in kit.pieces)
        # A piece's size until the mat has been found: as if the mat filled half of the picture's width.
        self._piece_px = self._piece_mm * self._shape[1] / (2 * kit.mat.width_mm)

    def process(self, image: Picture) -> WatchedFrame:
        """Compare a frame (height, width, 3) uint8 BGR with the one before."""
        small = self._shrunk(image)
        least_px = MOVING_SHARE * self.piece_px2
        difference = self._differencer.step(small, self._area, least_px)
        return WatchedFrame(small, difference is None or difference.moving_px >= least_px, difference)

    def process_still(self, image: Picture) -> WatchedFrame:
        """The mean (height, width, 3) uint8 BGR of frames in which nothing moved, downscaled."""
        return WatchedFrame(self._shrunk(image), moving=False)

    def _shrunk(self, image: Picture) -> Picture:
        return np.asarray(cv2.resize(image, self._shape[::-1], interpolation=cv2.INTER_LINEAR), np.uint8)

    @property
    def piece_px2(self) -> float:
        """A piece's area in pixels of a :class:`Difference`, whose pictures are halved once more."""
        return (self._piece_px / 2) ** 2

    def set_region(self, corners_px: Points) -> None:
        """From now on count only what moves inside these corners (k, 2) px of the picture as motion."""
        area = np.zeros(self._shape, np.uint8)
        outline = cv2.convexHull(np.rint(np.asarray(corners_px) / SHRINK).astype(np.int32))
        cv2.fillConvexPoly(area, outline, 1)
        margin = 2 * int(MARGIN_PIECES * self._piece_px) + 1
        self._area = np.ascontiguousarray(cv2.dilate(area, np.ones((margin, margin), np.uint8))[::2, ::2])

    def keep_bare(self, frame: WatchedFrame, *, is_thing: bool, is_same_calm: bool = False) -> None:
        """Remember a picture in which no hand is over the board.

        Where an arm lies beside the board, the picture before is kept; ``is_thing``: it has lain there for so long that
        it is an object.  What was under an object, or was lit before a shadow fell there, is remembered too, for when
        that is gone; and the picture of the calm before, in case a hand was overlooked in this one; ``is_same_calm``:
        nothing has moved since the last one.
        """
        kept, bare = frame.small, self._bare
        if not is_same_calm:
            self._earlier = bare
        if bare is not None and self._arm is not None:
            under = gain_compensated(bare, kept)
            if is_thing or self._is_shadow:
                self._under = under
            else:
                kept = np.where(self._arm[..., None] > 0, under, kept)
        self._bare = kept

    def restore_earlier_bare(self) -> bool:
        """Take the picture of the calm before as that of the bare table again; returns whether there is one.

        A hand may have been overlooked in that one: what looks as it did in this calm is none.
        """
        if self._earlier is None:
            return False
        self._bare, self._earlier = self._earlier, self._bare
        return True

    def keep_read(self, frame: WatchedFrame) -> None:
        """Remember the picture that was read last."""
        self._read = frame.small

    def changed_cells(self, frame: WatchedFrame, geometry: Geometry) -> npt.NDArray[np.bool_] | None:
        """(n,) bool, cells whose pictures differ from the one that was read last; None where none was."""
        if self._read is None:
            return None
        return self._share(compare_pictures(frame.small, self._read).changes, geometry, slice(None)) > ALTERED_SHARE

    def forget_bare(self) -> None:
        """Camera or mat was pushed: the picture of the bare table is of no use any more."""
        self._bare = self._earlier = self._under = self._arm = None

    def compare(self, frame: WatchedFrame, geometry: Geometry) -> Comparison | None:
        """Compare a frame with the bare table; None where there is no picture of that."""
        if geometry is not self._geometry:
            self._geometry, self._piece_px = geometry, self._piece_width_px(geometry)
            self.set_region(geometry.mat_px)
        if self._bare is None:
            return None
        changes, small, bare = compare_pictures(frame.small, self._bare)
        changed = self._share(changes, geometry, _near_rows(geometry))
        news = changes
        for other in (self._under, self._earlier):
            if other is not None and news.any():
                news = news & compare_pictures(frame.small, other).changes
        joined = _close_gaps(news)
        broad = self._opened(joined)
        arms = self._reaching_edge(broad, self._px(GAP_MM))
        self._arm, solid = None, arms
        if arms.any():
            unshaded = remove_shadows(changes, small, bare, self._bare)
            between = unshaded & news
            self._arm = arms = self._with_parts_beside(arms, broad, between)
            solid = self._without_towers(arms & self._without_relit_ground(changes, unshaded, small, bare), between)
        self._is_shadow = not solid.any()
        floor = np.abs(geometry.crops.v_mm) <= geometry.radius_mm
        covered, touched = (
            self._share(mask, geometry, floor) > TOUCHED_SHARE for mask in (solid, self._reaching_edge(joined))
        )
        return Comparison(covered, covered | touched, changed, changes)

    def changed_where_visible(
        self, seen: Comparison, geometry: Geometry, in_sight: npt.NDArray[np.bool_]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
        """(n,) ``seen.changed`` from only those pixels of the crops (n, rows, columns) that are ``in_sight`` in both.

        NaN where something has changed, and a piece might stand there unseen; and (n,) where one might.
        """
        clear = _clear_of_occluders(geometry, in_sight)
        is_hidden = _hides_piece(geometry, clear)
        near = _near_rows(geometry)
        clear = clear[:, near]
        changes = self._pixels(seen.changes, geometry, near) & clear
        shares = changes.sum(axis=(1, 2)) / np.maximum(clear.sum(axis=(1, 2)), 1)
        unseen = np.where(seen.changed > ALTERED_SHARE, np.nan, seen.changed)
        return np.where(is_hidden, unseen, shares).astype(np.float32), is_hidden

    def arm_sides(self, frame: WatchedFrame) -> frozenset[str]:
        """The sides of the mat from which an arm reaches into the picture: of ``S``, ``E``, ``N``, ``W``.

        S is where rank 1 is.  Empty where there is no picture of the bare table to compare with.
        """
        geometry = self._geometry
        if self._bare is None or geometry is None:
            return frozenset()
        sides = set()
        for rows, columns in self._entry_points(frame.small, self._bare):
            entry_px = SHRINK * np.array([[columns.mean(), rows.mean()]])
            x, y = back_project(entry_px, geometry.pose, self.camera)[0]
            across, along = x / self._kit.mat.width_mm, y / self._kit.mat.height_mm
            sides.add(("E" if across > 0 else "W") if abs(across) > abs(along) else "N" if along > 0 else "S")
        return frozenset(sides)

    def _entry_points(self, small: Picture, kept: Picture) -> Iterator[tuple[npt.NDArray[np.intp], ...]]:
        """Rows and columns (k,) of the picture's edge where each arm enters; without its shadow where possible."""
        changes, small, bare = compare_pictures(small, kept)
        entering = self._reaching_edge(_close_gaps(changes))
        if not entering.any():
            return
        changes &= entering
        bodies = remove_shadows(changes, small, bare, kept)
        solid, limbs = bodies > 0, self._without_relit_ground(changes, bodies, small, bare) > 0
        count, labels = cv2.connectedComponents(entering)
        rim = np.zeros(self._shape, np.bool_)
        rim[[0, -1]] = rim[:, [0, -1]] = True
        for label in range(1, count):
            here = labels == label
            if (here & limbs).any():  # no shadow alone
                entry = here & rim
                yield np.nonzero(entry & solid if (entry & solid).any() else entry)

    def _share(self, mask: Picture, geometry: Geometry, rows: npt.NDArray[np.bool_] | slice) -> npt.NDArray[np.float32]:
        """(n,) share of these rows of each crop in which the small ``mask`` is 1."""
        share: npt.NDArray[np.float32] = self._pixels(mask, geometry, rows).mean(axis=(1, 2), dtype=np.float32)
        return share

    def _pixels(self, mask: Picture, geometry: Geometry, rows: npt.NDArray[np.bool_] | slice) -> Picture:
        """(n, rows, columns) uint8, the small ``mask`` in these rows of each crop."""
        if self._places is None or self._places[0] is not geometry:
            x, y = np.rint(geometry.crops.map_px / SHRINK).astype(np.intp)
            height, width = self._shape
            self._places = geometry, np.clip(y, 0, height - 1) * width + np.clip(x, 0, width - 1)
        return mask.ravel()[self._places[1][:, rows]]

    def _reaching_edge(self, mask: Picture, gap_px: int = 0) -> Picture:
        """(height, width) uint8, those connected parts of ``mask`` that are as wide as an arm at the picture's edge.

        Or up to ``gap_px`` from it: a bare arm is not seen on a table of its colour.
        """
        near = cv2.dilate(mask, np.ones((2 * gap_px + 1,) * 2, np.uint8)) if gap_px else mask
        count, labels = cv2.connectedComponents(near)
        wide = np.bincount(_border_values(np.asarray(labels, np.int32)), minlength=count) >= ARM_WIDTHS * self._piece_px
        wide[0] = False
        return np.asarray(mask & wide[labels], np.uint8)

    def _without_relit_ground(self, changes: Picture, solid: Picture, small: Picture, bare: Picture) -> Picture:
        """(height, width) uint8, ``solid`` parts as wide as an arm, except ground from which a shadow has gone.

        ``changes``, ``small`` and ``bare``: see :func:`vision.picture_change.may_be_relit`.
        """
        broad = self._opened(_close_gaps(solid))
        if not broad.any():
            return broad
        count, labels = cv2.connectedComponents(broad)
        of_each = np.bincount(labels.ravel(), solid.ravel(), count)
        relit = np.bincount(labels.ravel(), may_be_relit(changes, solid, small, bare).ravel(), count)
        return np.asarray(broad & (relit <= RELIT_SHARE * of_each)[labels], np.uint8)

    def _without_towers(self, solid: Picture, between: Picture) -> Picture:
        """(height, width) uint8, ``solid`` parts of arms, except those that may be a tower with its shadow.

        ``between``: see :meth:`_with_parts_beside`.
        """
        count, labels = cv2.connectedComponents(solid)
        is_limb = np.zeros(count, np.bool_)
        is_limb[_border_values(np.asarray(labels, np.int32))] = True
        if not is_limb[1:].all():
            is_limb[labels[self._opened(solid, max(HAND_WIDTHS, HAND_MM / self._piece_mm)) > 0]] = True
        is_limb[0] = False
        limbs = np.asarray(is_limb[labels], np.uint8)
        return self._with_parts_beside(limbs, solid, between) if limbs.any() else limbs

    def _with_parts_beside(self, arms: Picture, parts: Picture, between: Picture) -> Picture:
        """(height, width) uint8, those connected ``parts`` that belong to ``arms``, which are among them.

        From one part of an arm to the next there is no more than a gap; where both are farther apart, and the hand
        between them has nearly the table's colour, what is seen of it ``between`` them bridges such gaps (hysteresis
        as in Canny, 1986).  All are (height, width) uint8.
        """
        reach = self._px(GAP_MM / 2)
        disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1, 2 * reach + 1))
        count, labels = cv2.connectedComponents(cv2.dilate(parts | between, disc))
        is_joined = np.zeros(count, np.bool_)
        is_joined[labels[arms > 0]] = True
        return np.asarray(parts & is_joined[labels], np.uint8)

    def _px(self, length_mm: float) -> int:
        """A length on the mat in pixels of small pictures."""
        return round(length_mm / self._piece_mm * self._piece_px)

    def _opened(self, mask: Picture, widths: float = ARM_WIDTHS) -> Picture:
        """(height, width) uint8, 1 where ``mask`` is so many pieces wide: its morphological opening by a disc."""
        radius = int(widths * self._piece_px - 1) // 2
        disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * radius + 1, 2 * radius + 1))
        # An arm continues beyond the picture's edge.
        margin = 2 * radius
        around = cv2.copyMakeBorder(mask, margin, margin, margin, margin, cv2.BORDER_REPLICATE)
        height, width = self._shape
        opened = cv2.morphologyEx(around, cv2.MORPH_OPEN, disc)
        return np.asarray(opened[margin:, margin:][:height, :width], np.uint8)

    def _piece_width_px(self, geometry: Geometry) -> float:
        """Mean width of the widest piece in the small picture."""
        scale = np.linalg.norm(geometry.crops.to_picture[:, :, 0], axis=1).mean()
        return float(self._piece_mm * scale / SHRINK)


def _border_values(picture: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """(k,) the values along the four edges of a picture (height, width)."""
    return np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])


def _near_rows(geometry: Geometry) -> npt.NDArray[np.bool_]:
    """(rows,) bool, those rows of a crop in which its cell's floor lies, and stacks of the usual heights on it."""
    v_mm: npt.NDArray[np.int32] = geometry.crops.v_mm
    return (v_mm >= -STACK_MM) & (v_mm <= geometry.radius_mm)


def hidden_cells(geometry: Geometry, in_sight: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """(n,) the cells on which the smallest piece might stand unseen, by the pixels (n, rows, columns) ``in_sight``."""
    return _hides_piece(geometry, _clear_of_occluders(geometry, in_sight))


def _clear_of_occluders(geometry: Geometry, in_sight: npt.NDArray[np.bool_]) -> Picture:
    """(n, rows, columns) uint8, 1 where a crop is ``in_sight`` and farther than a margin from what is nearer."""
    size = 2 * OCCLUDER_MARGIN_MM + 1
    around = np.ones((size, size // geometry.crops.column_mm | 1), np.uint8)
    return np.array([cv2.erode(crop, around) for crop in in_sight.astype(np.uint8)], np.uint8)


def _hides_piece(geometry: Geometry, clear: Picture) -> npt.NDArray[np.bool_]:
    """(n,) cells where hardly any of the smallest piece would be ``clear`` (n, rows, columns)."""
    piece = _smallest_piece_masks(geometry)
    is_hidden: npt.NDArray[np.bool_] = (clear & piece).sum(axis=(1, 2)) < IN_SIGHT_SHARE * piece.sum(axis=(1, 2))
    return is_hidden


def _smallest_piece_masks(geometry: Geometry) -> Picture:
    """(n, rows, columns) uint8, 1 where the smallest piece would be seen if it stood alone on each cell."""
    outlines, rows = geometry.outlines, np.arange(len(geometry.crops.v_mm))[:, None] + 0.5
    far, near = outlines.edges[:, :, 0], outlines.edges[:, :, -1]
    number = int((near - far).sum(axis=(0, 2)).argmin())
    shown = (rows >= far[:, number, None]) & (rows < near[:, number, None]) & outlines.covers[:, number, None]
    return shown.astype(np.uint8)


def _close_gaps(mask: Picture) -> Picture:
    """(height, width) uint8, ``mask`` with gaps of a few pixels closed, as between fingers."""
    return np.asarray(cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8)), np.uint8)
