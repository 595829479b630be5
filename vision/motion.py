"""What moves, and what reaches over the board: the cheap looks that every frame gets.

Motion is what :mod:`vision.differencing` finds over the mat: people beside the table never sit still.  A hand that
rests does not move, so it is found by its arm: a change against the last picture of the bare table that reaches from
the picture's edge to the board, wider than any piece all the way.  What is narrower only touches the arm: a stack that
has changed beside it.  Its shadow covers nothing: what lies there is seen, if darker.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.kit import Kit
from vision.differencing import Difference, Differencer
from vision.inference.geometry import Geometry
from vision.pose.projection import Points, back_project
from vision.relighting import PEDESTAL, relit

Picture = npt.NDArray[np.uint8]

SHRINK = 4
"""Frames are watched at a quarter of their size, each pixel the mean of the four in the middle of its sixteen: that
halves the sensor's noise, and the mean of all sixteen would cost the gate half of its time."""

NOISE_FACTOR = 6.0
"""A pixel has changed when it differs by so many standard deviations of the frame's own noise…"""

LEAST_STEP = 8.0
"""…and at least by so many codes: video compression makes smaller ones."""

BAND, ENOUGH_PX = 64, 30
"""Noise is measured for so many codes of brightness together, where there are so many pixels of them."""

MOST_NOISE = 4.0
"""More codes than this in one band are no noise, but a hand that covers half of it; and in the whole picture a shadow
over much of it, but for what each pixel differs from those round it."""

ROUND_PX = 5
"""Side of the square of pixels that are round one."""

NOISY, SMOOTHED_PX = 2.5, 5
"""From so many codes of noise on pictures are compared without most of it: the means of squares of so many pixels,
narrower than any arm and most pieces.  Less than 15 codes would not be seen otherwise: a hand of nearly the table's
colour would be no arm, and a cell that it has left would seem to show it still."""

TOGETHER_PX = 3
"""A pixel that has changed has two such neighbours at least, as in a line; noise stands alone."""

MOVING_SHARE = 0.2
"""Share of a piece's picture that must change for something to move: less is a flicker at an edge."""

MARGIN_PIECES = 1.0
"""Motion counts up to so many pieces' widths beyond the mat, where stacks at its far edge rise in the picture."""

ARM_WIDTHS = 1.3
"""An arm is wider than so many pieces, from where it enters the picture on: a tall stack may reach the edge, or hang
together with the arm in the picture, too."""

SHADOW_LEAST, SHADOW_TINT = 0.5, 0.05
"""A shadow leaves at least this share of a display value (counted from -PEDESTAL; so a fifth of the light), the same of
all three channels, but for the second, as a share of the brightest one.  Beside a single lamp most shadows of hands
left 0.6 to 0.7, and 4 % of their pixels less than 0.5 (the recording ``diamond-2``)."""

STACK_MM = 25
"""A cell's picture reaches so far up its crop: the upper faces of stacks of the usual heights lie in it."""

ALTERED_SHARE = 0.01
"""Share of a cell's picture that must differ for the cell to be read again: a few pixels."""

IN_SIGHT_SHARE = 0.2
"""Share of the smallest piece's picture on a cell that must be in sight for the rest to be left out, where something
nearer was put or taken."""

BESIDE_MM = 4
"""So close to something nearer a pixel may show it: where it stands is known to two millimetres, and a change is seen
in a small picture."""

TOUCHED_SHARE = 0.03
"""Share of a cell that an arm must cover for the cell to be hidden."""


@dataclass(frozen=True, eq=False)
class Glimpse:
    """A frame made small.

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
    """A frame against the picture of the bare table.

    Attributes:
        covered: (n,) bool, cells that an arm reaches over.
        touched: (n,) bool, these, and cells with what an arm touches in the picture: fingertips, its shadow,
            or a stack that has changed beside it.
        changed: (n,) float32 in 0…1, share of each cell's picture, up to a stack of some height, that differs.
        changes: (height / SHRINK, width / SHRINK) uint8, 1 where the pictures differ.
    """

    covered: npt.NDArray[np.bool_]
    touched: npt.NDArray[np.bool_]
    changed: npt.NDArray[np.float32]
    changes: Picture


class Watch:
    """Watches one camera's frames; knows the frame before and the table without hands.

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
        # A piece's size until the mat has been found: as if the mat filled half of the picture's width.
        self._piece_px = max(kind.width_mm for kind in kit.pieces) * self._shape[1] / (2 * kit.mat.width_mm)

    def glimpse(self, image: Picture) -> Glimpse:
        """Compare a frame (height, width, 3) uint8 BGR with the one before."""
        small = np.asarray(cv2.resize(image, self._shape[::-1], interpolation=cv2.INTER_LINEAR), np.uint8)
        least_px = MOVING_SHARE * self.piece_px2
        difference = self._differencer.step(small, self._area, least_px)
        return Glimpse(small, difference is None or difference.moving_px >= least_px, difference)

    @property
    def piece_px2(self) -> float:
        """A piece's area in pixels of a :class:`Difference`, whose pictures are half as large again."""
        return (self._piece_px / 2) ** 2

    def attend(self, corners_px: Points) -> None:
        """From now on only what moves inside these corners (k, 2), in the picture, counts as motion."""
        area = np.zeros(self._shape, np.uint8)
        outline = cv2.convexHull(np.rint(np.asarray(corners_px) / SHRINK).astype(np.int32))
        cv2.fillConvexPoly(area, outline, 1)
        margin = 2 * int(MARGIN_PIECES * self._piece_px) + 1
        self._area = np.ascontiguousarray(cv2.dilate(area, np.ones((margin, margin), np.uint8))[::2, ::2])

    def keep_bare(self, glimpse: Glimpse, *, is_thing: bool, is_same_calm: bool = False) -> None:
        """Remember a picture in which no hand is over the board.

        Where an arm lies beside it the picture before stays; ``is_thing``: it has lain there for so long that it is a
        thing.  What was under a thing, or in the light before a shadow fell there, is remembered too, for when it is
        gone; and the picture of the calm before, in case a hand was overlooked in this one; ``is_same_calm``: nothing
        has moved since the last one.
        """
        kept, bare = glimpse.small, self._bare
        if not is_same_calm:
            self._earlier = bare
        if bare is not None and self._arm is not None:
            under = relit(bare, kept)
            if is_thing or self._is_shadow:
                self._under = under
            else:
                kept = np.where(self._arm[..., None] > 0, under, kept)
        self._bare = kept

    def keep_read(self, glimpse: Glimpse) -> None:
        """Remember the picture that was read last."""
        self._read = glimpse.small

    def altered(self, glimpse: Glimpse, geometry: Geometry) -> npt.NDArray[np.bool_] | None:
        """(n,) cells whose pictures differ from when one was read last; None where none was."""
        if self._read is None:
            return None
        return self._share(_compared(glimpse.small, self._read).changes, geometry, slice(None)) > ALTERED_SHARE

    def forget_bare(self) -> None:
        """Camera or mat was pushed: the picture of the bare table is of no use any more."""
        self._bare = self._earlier = self._under = self._arm = None

    def compare(self, glimpse: Glimpse, geometry: Geometry) -> Comparison | None:
        """A frame against the bare table; None where there is no picture of it."""
        if geometry is not self._geometry:
            self._geometry, self._piece_px = geometry, self._piece_width_px(geometry)
            self.attend(geometry.mat_px)
        if self._bare is None:
            return None
        changes, small, bare = _compared(glimpse.small, self._bare)
        changed = self._share(changes, geometry, _near(geometry))
        news = changes
        for other in (self._under, self._earlier):
            if other is not None and news.any():
                news = news & _compared(glimpse.small, other).changes
        joined = _joined(news)
        arms = self._entering(self._broad(joined))
        self._arm = arms if arms.any() else None
        solid = arms & self._broad(_joined(_without_shadows(changes, small, bare, self._bare)))
        self._is_shadow = not solid.any()
        floor = np.abs(geometry.crops.v_mm) <= geometry.radius_mm
        covered, touched = (
            self._share(mask, geometry, floor) > TOUCHED_SHARE for mask in (solid, self._entering(joined))
        )
        return Comparison(covered, covered | touched, changed, changes)

    def changed_in_sight(
        self, seen: Comparison, geometry: Geometry, in_sight: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.float32]:
        """(n,) ``seen.changed`` by those pixels of the crops (n, rows, columns) alone that are ``in_sight`` in both.

        NaN where something has changed, and a piece might stand there unseen.
        """
        size = 2 * BESIDE_MM + 1
        around = np.ones((size, size // geometry.crops.column_mm | 1), np.uint8)
        clear = np.array([cv2.erode(crop, around) for crop in in_sight.astype(np.uint8)], np.uint8)
        piece = _smallest(geometry)
        is_hidden = (clear & piece).sum(axis=(1, 2)) < IN_SIGHT_SHARE * piece.sum(axis=(1, 2))
        near = _near(geometry)
        clear = clear[:, near]
        changes = self._pixels(seen.changes, geometry, near) & clear
        shares = changes.sum(axis=(1, 2)) / np.maximum(clear.sum(axis=(1, 2)), 1)
        unseen = np.where(seen.changed > ALTERED_SHARE, np.nan, seen.changed)
        return np.where(is_hidden, unseen, shares).astype(np.float32)

    def reaching_from(self, glimpse: Glimpse) -> frozenset[str]:
        """The sides of the mat from which an arm reaches into the picture: of ``S``, ``E``, ``N``, ``W``.

        S is where rank 1 is.  Empty where there is no picture of the bare table to compare with.
        """
        geometry = self._geometry
        if self._bare is None or geometry is None:
            return frozenset()
        sides = set()
        for rows, columns in self._entries(glimpse.small, self._bare):
            entry_px = SHRINK * np.array([[columns.mean(), rows.mean()]])
            x, y = back_project(entry_px, geometry.pose, self.camera)[0]
            across, along = x / self._kit.mat.width_mm, y / self._kit.mat.height_mm
            sides.add(("E" if across > 0 else "W") if abs(across) > abs(along) else "N" if along > 0 else "S")
        return frozenset(sides)

    def _entries(self, small: Picture, kept: Picture) -> Iterator[tuple[npt.NDArray[np.intp], ...]]:
        """Rows and columns (k,) of the picture's edge where each arm enters; beside its shadow where that is told."""
        changes, small, bare = _compared(small, kept)
        entering = self._entering(_joined(changes))
        if not entering.any():
            return
        without_shadows = _without_shadows(changes & entering, small, bare, kept)
        solid, limbs = without_shadows > 0, self._broad(_joined(without_shadows)) > 0
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

    def _entering(self, mask: Picture) -> Picture:
        """(height, width) uint8, those parts of ``mask`` that hang together and are as wide as an arm at the edge."""
        count, labels = cv2.connectedComponents(mask)
        edge = np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]])
        wide = np.bincount(edge, minlength=count) >= ARM_WIDTHS * self._piece_px
        wide[0] = False
        return np.asarray(wide[labels], np.uint8)

    def _broad(self, mask: Picture) -> Picture:
        """(height, width) uint8, 1 where ``mask`` is as wide as an arm: its morphological opening by a disc."""
        radius = int(ARM_WIDTHS * self._piece_px - 1) // 2
        disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * radius + 1, 2 * radius + 1))
        # Beyond the picture's edge an arm goes on.
        margin = 2 * radius
        around = cv2.copyMakeBorder(mask, margin, margin, margin, margin, cv2.BORDER_REPLICATE)
        height, width = self._shape
        opened = cv2.morphologyEx(around, cv2.MORPH_OPEN, disc)
        return np.asarray(opened[margin:, margin:][:height, :width], np.uint8)

    def _piece_width_px(self, geometry: Geometry) -> float:
        """Mean width of the widest piece in the small picture."""
        scale = np.linalg.norm(geometry.crops.to_picture[:, :, 0], axis=1).mean()
        return float(max(kind.width_mm for kind in self._kit.pieces) * scale / SHRINK)


def _near(geometry: Geometry) -> npt.NDArray[np.bool_]:
    """(rows,) bool, those rows of a crop in which its cell's floor lies, and stacks of the usual heights on it."""
    v_mm: npt.NDArray[np.int32] = geometry.crops.v_mm
    return (v_mm >= -STACK_MM) & (v_mm <= geometry.radius_mm)


def _smallest(geometry: Geometry) -> Picture:
    """(n, rows, columns) uint8, 1 where the smallest piece would be seen if it stood alone on each cell."""
    outlines, rows = geometry.outlines, np.arange(len(geometry.crops.v_mm))[:, None] + 0.5
    far, near = outlines.edges[:, :, 0], outlines.edges[:, :, -1]
    number = int((near - far).sum(axis=(0, 2)).argmin())
    shown = (rows >= far[:, number, None]) & (rows < near[:, number, None]) & outlines.covers[:, number, None]
    return shown.astype(np.uint8)


def _joined(mask: Picture) -> Picture:
    """(height, width) uint8, ``mask`` without gaps of a few pixels, as between fingers."""
    return np.asarray(cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8)), np.uint8)


def _without_shadows(changes: Picture, small: Picture, bare: Picture, kept: Picture) -> Picture:
    """(height, width) uint8, ``changes`` but where ``small`` may show what ``bare`` does, in a shadow.

    Or in the light that it had when it was ``kept``, where a shadow over most of the picture has dimmed ``bare``.
    """
    changed = changes > 0
    now, dimmed = ((picture[changed] + np.float32(PEDESTAL)).T.copy() for picture in (small, bare))
    share, is_tinted = _shaded(now, dimmed)
    is_solid = (share >= 1) | (share <= SHADOW_LEAST) | is_tinted
    brighter = share >= 1
    if brighter.any():
        share, is_tinted = _shaded(now[:, brighter], (kept[changed][brighter] + np.float32(PEDESTAL)).T.copy())
        is_solid[brighter] = (share > 1 + SHADOW_TINT) | is_tinted
    solid = np.zeros_like(changes)
    solid[changed] = is_solid
    return solid


def _shaded(
    now: npt.NDArray[np.float32], before: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """(k,) by what share pixels (3, k) have become darker than ``before``, and whether not by the same in each channel.

    Channel by channel, which is four times as fast as along an axis of three.
    """
    share: npt.NDArray[np.float32] = (now[0] + now[1] + now[2]) / (before[0] + before[1] + before[2])
    is_tinted: npt.NDArray[np.bool_] = _largest(np.abs(now - share * before)) / _largest(before) >= SHADOW_TINT
    return share, is_tinted


def _largest(channels: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """(k,) the largest of (3, k)."""
    largest: npt.NDArray[np.float32] = np.maximum(np.maximum(channels[0], channels[1]), channels[2])
    return largest


class _Compared(NamedTuple):
    """Two small pictures as they were compared: in the same light, and without most of their noise where it is strong.

    Attributes:
        changes: (height, width) uint8, 1 where they differ by more than noise makes them.
        small: (height, width, 3) uint8, the one.
        bare: likewise the other, in the light of the first.
    """

    changes: Picture
    small: Picture
    bare: Picture


def _compared(small: Picture, kept: Picture) -> _Compared:
    """A small picture against one that was kept."""
    bare = relit(kept, small)
    grain = _grain(small, bare)
    if grain >= NOISY:
        small, bare = (np.asarray(cv2.blur(picture, (SMOOTHED_PX, SMOOTHED_PX)), np.uint8) for picture in (small, bare))
        grain = _grain(small, bare)
    return _Compared(_changes(small, bare, grain), small, bare)


def _changes(small: Picture, other: Picture, grain: float) -> Picture:
    """(height, width) uint8, 1 where two small pictures in the same light differ by more than noise makes them.

    ``grain``: of :func:`_grain`.
    """
    largest = _brightest(np.asarray(cv2.absdiff(small, other), np.uint8))
    brightness = _brightest(other)
    # Most of a frame is still, so the median difference is the noise's own (of the largest of three channels); where it
    # is dark the display curve is steep, and noise is larger.
    sampled, band = largest[::4, ::4], brightness[::4, ::4] // BAND
    usual = max(LEAST_STEP, NOISE_FACTOR * min(float(np.median(sampled)), max(MOST_NOISE, grain)))
    least = np.full(256, usual, np.float32)
    for number in range(256 // BAND):
        here = sampled[band == number]
        if len(here) >= ENOUGH_PX:
            noise = min(float(np.median(here)), MOST_NOISE)
            least[number * BAND : (number + 1) * BAND] = max(usual, NOISE_FACTOR * noise)
    steps = cv2.LUT(brightness, np.minimum(least, 255).astype(np.uint8))
    changed = np.asarray(cv2.compare(largest, steps, cv2.CMP_GT), np.uint8) // 255
    together = cv2.boxFilter(changed, -1, (3, 3), normalize=False, borderType=cv2.BORDER_CONSTANT)
    return changed & (together >= TOGETHER_PX)


def _grain(small: Picture, other: Picture) -> float:
    """Codes, the median difference without what each pixel shares with those round it, which is light and no noise."""
    difference = np.asarray(cv2.subtract(small, other, dtype=cv2.CV_16S))
    grain = np.abs(difference - cv2.blur(difference, (ROUND_PX, ROUND_PX)))[::4, ::4]
    return float(np.median(grain.max(axis=2)))


def _brightest(picture: Picture) -> Picture:
    """(height, width) the largest of three channels."""
    return np.asarray(cv2.max(cv2.max(picture[..., 0], picture[..., 1]), picture[..., 2]), np.uint8)
