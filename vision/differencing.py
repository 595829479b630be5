"""Frame differencing: what differs between two frames is motion only where neither light, shake nor noise explains it.

Three models are fitted to every pair of frames and removed from their difference:

* the light: one gain per band of rows and channel (:mod:`vision.gain_compensation`).  That is exposure, white balance,
  and the bands that mains light leaves under a rolling shutter;
* the camera's shake: one shift of the whole picture, by least squares on its gradient (Lucas and Kanade);
* noise: the variance of every pixel's difference over time, which also holds what repeats in one place, such as
  compression at an edge.

Connected residuals are motion, unless compression explains them: colour is stored coarsely, in blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.compiled import compiled
from vision.gain_compensation import BAND_ROWS, PEDESTAL, gains_of, halved

Array = npt.NDArray[np.float32]
Mask = npt.NDArray[np.uint8]

MIN_NOISE = 0.8
"""Least standard deviation of every pixel, in codes: compressed video is still for long and then corrected in places,
by as much in twelve recordings."""

NOISE_SHARE = 0.9
"""And the same as a share of the usual noise over the picture: where it is smooth, compression hides noise for seconds
and then shows it.  Of a webcam's video 24 of 112 still frames counted as moving without it, with 0.8 eight, with 0.9
two; from 1.0 on one frame of 198 with a real hand was lost."""

COLOUR_STEP = 2.5
"""Compression stores colour (Cb and Cr of ITU-R BT.601) in blocks of sixteen pixels and in coarse steps: a block's mean
in JPEG of quality 50 in steps of 2.1 codes.  As light or white balance drift, one block after another jumps to the next
step.  A patch that has changed by no more, and in colour alone, is such a jump: a hand changes brightness, too."""

SMOOTHED_FROM, SMOOTHED_TO = 1.5, 0.5
"""Noise, in codes, above which pictures are smoothed before they are compared, and the remaining noise below which they
no longer are.  That loses the small movements of a hand that rests, which such noise drowns anyway."""

FIRST_NOISE, MAX_NOISE = 1.5, 8.0
"""Bounds of a pixel's noise when it is estimated from a single difference."""

NOISE_BANDS, MIN_BAND_PIXELS = 8, 64
"""It is then estimated in so many equal bands of brightness; over the whole picture for bands of fewer pixels.  The
display curve is steep in the dark: a webcam's dark pieces had three times the noise of its paper, in codes."""

DEVIATIONS, STILL_DEVIATIONS = 4.0, 3.4
"""A pixel has changed when it differs by so many standard deviations; while something moves, by the second number: a
hand that pauses trembles."""

CERTAIN = 8.0
"""Standard deviations, beyond a step of colour, above which a difference is certainly motion.  Steps of colour right
after a hand came to 7.5 in a webcam's video, a hand to 10 and more in its last frames."""

SOLID_SHARE = 0.3
"""Least share of a patch's pixels that have changed by more than a step of colour.  Right after a hand, when
compression corrects what that had left, it was 0.3 at most in steps of colour, and 0.6 at least in 198 frames with a
real hand."""

MIN_PATCH_PX = 6
"""Least number of connected changed pixels in a patch; noise makes only smaller ones by chance."""

UNEVEN_LIGHT = 0.3
"""Standard deviation of the change of light at a place, as a share of that of its band: where one lamp of several
changes, light does not change by the same factor everywhere."""

MEMORY_FRAMES = 16
"""The variance is averaged over about so many frames…"""

OUTLIER = 4.0
"""…in which a square counts for no more than so many times the variance."""

GROWTH = 1.02
"""Where something moves the variance grows by no more than this factor per frame: it forgets a hand, and learns in ten
seconds what is always restless in one place."""

MAX_SHIFT_PX = 1.0
"""Largest shake that the gradient can measure, in pixels of the differenced pictures: eight of the camera's."""

SHIFT_UNCERTAINTY = 0.7
"""Relative uncertainty of what a shift changes: only a quarter of the camera's pixels is sampled, so edges jump."""

SHIFT_STEP = 2
"""Shake is measured in every second row."""

STABILISED_PIXELS, STABILISED_SQUARES = 0.5, 0.8
"""The camera has shaken when compensating a shift leaves no more than these shares of the changed pixels, and of the
squared differences."""


@dataclass(frozen=True, eq=False)
class Difference:
    """The difference of two frames, in codes of the picture at an eighth of its size.

    Attributes:
        moving_px: number of pixels of the shrunk picture, in patches, that neither light, shake nor noise explains.
        patch_px: of the largest patch.
        noise: standard deviation of a pixel's difference, in codes: the median over the picture.
        flicker: root mean square change by light, in codes.
        shake: the same by a shift of the whole picture; 0 where none was needed to explain the difference.
    """

    moving_px: int
    patch_px: int
    noise: float
    flicker: float
    shake: float


class Differencer:
    """Compares every frame with the one before, and learns how noisy each pixel is."""

    def __init__(self) -> None:
        self._before: Array | None = None
        self._variance: Array | None = None
        self._frames = 0
        self._usual_light = 0.0
        self._usual_noise = 0.0
        self._moved = self._was_solid = False
        self._is_smoothed = False

    def step(self, small: npt.NDArray[np.uint8], area: Mask | None, least_px: float) -> Difference | None:
        """The difference from the frame before; None for the first frame.

        Args:
            small: (h, w, 3) uint8 BGR, of even height and width; it is halved once more.
            area: (h / 2, w / 2) uint8, 1 where motion counts; None: everywhere.
            least_px: patches that have fewer pixels together do not count as motion.
        """
        before, self._before = self._before, halved(small)
        if before is None:
            return None
        pair = (
            _FramePair(_smooth(self._before), _smooth(before))
            if self._is_smoothed
            else _FramePair(self._before, before)
        )
        if self._variance is None:
            self._variance = _first_variance(pair.squares, pair.before)
        # What a pixel's neighbours do counts too.
        noise = np.maximum(cv2.blur(self._variance, (3, 3)), max(MIN_NOISE, NOISE_SHARE * self._usual_noise) ** 2)
        variance = noise + pair.uneven_light_variance(self._usual_light)
        self._usual_light += (pair.light - self._usual_light) / MEMORY_FRAMES
        area = np.ones(noise.shape, np.uint8) if area is None else area
        deviations = STILL_DEVIATIONS if self._moved else DEVIATIONS
        # Right after what was certainly motion, changes of colour alone count as its end.
        solid = pair.squares if self._was_solid else pair.solid
        patches, shake = _patches(pair.squares, solid, variance, area, deviations), 0.0
        if patches.total_px >= least_px:
            patches, shake = _stabilised(pair, variance, area, deviations, patches)
        self._moved = patches.total_px >= least_px
        self._was_solid = self._moved and bool((pair.solid > CERTAIN**2 * variance)[patches.mask > 0].any())
        self._frames += 1
        share = np.float32(max(1 / MEMORY_FRAMES, 1 / (self._frames + 1)))
        moving = cv2.dilate(patches.mask & (self._moved and not shake), np.ones((3, 3), np.uint8))
        _update_variance(self._variance, patches.squares, noise, share, np.asarray(moving, np.uint8))
        return Difference(patches.total_px, patches.largest_px, self._adapt(self._variance), pair.flicker, shake)

    def _adapt(self, variance: Array) -> float:
        """The usual noise, in codes; where it requires so, switches the smoothing of pictures on or off."""
        if self._frames % MEMORY_FRAMES == 1:
            self._usual_noise = float(np.sqrt(np.median(variance)))
        usual = self._usual_noise
        is_wrong = usual < SMOOTHED_TO if self._is_smoothed else usual > SMOOTHED_FROM
        if is_wrong and not self._moved and self._frames >= MEMORY_FRAMES:
            # The variance that was learned is that of pictures of the other kind.
            self._is_smoothed, self._variance, self._frames = not self._is_smoothed, None, 0
        return usual


def _first_variance(squares: Array, before: Array) -> Array:
    """(h, w) variance of each pixel's difference, from the first difference (h, w) and its picture (h, w, 3) alone."""
    variance = np.full(squares.shape, np.median(squares), np.float32)
    bands = (before.mean(axis=2) * (NOISE_BANDS / 256)).astype(np.intp)
    for band in range(NOISE_BANDS):
        inside = bands == band
        if np.count_nonzero(inside) >= MIN_BAND_PIXELS:
            variance[inside] = np.median(squares[inside])
    return np.clip(variance, FIRST_NOISE**2, MAX_NOISE**2)


class _FramePair:
    """Two frames, and the change of light between them."""

    def __init__(self, now: Array, before: Array) -> None:
        self.now, self.before = now, before
        self.gains = gains_of(now, before)
        self.light = float(np.sqrt(np.mean(self.gains**2)))
        self.squares, self.solid = _squares(now, before, self.gains, np.zeros(2, np.float32))
        self._level = float(before.mean()) + PEDESTAL

    @property
    def flicker(self) -> float:
        """Root mean square change by light, in codes."""
        return self.light * self._level

    def uneven_light_variance(self, usual: float) -> Array:
        """(h, 1) variance in codes squared: light that changes more than ``usual`` may do so unevenly."""
        change = np.maximum(np.abs(self.gains).max(axis=1) - usual, 0.0) * self._level
        bands = np.minimum(np.arange(len(self.before)) // BAND_ROWS, len(change) - 1)
        return np.asarray((UNEVEN_LIGHT * change[bands, None]) ** 2, np.float32)


@dataclass(frozen=True, eq=False)
class _Patches:
    """What has changed: squared differences (h, w), pixels in patches, those of the largest, (h, w) 1 in patches."""

    squares: Array
    total_px: int
    largest_px: int
    mask: Mask


def _patches(squares: Array, solid: Array, variance: Array, area: Mask, deviations: float) -> _Patches:
    """The patches in which ``squares`` exceed noise of ``variance``, and so does a share of ``solid``."""
    mask, total_px, largest_px = _connected_patches(squares, solid, variance, area, np.float32(deviations**2))
    return _Patches(squares, total_px, largest_px, mask)


def _stabilised(
    pair: _FramePair, variance: Array, area: Mask, deviations: float, patches: _Patches
) -> tuple[_Patches, float]:
    """The patches that remain after compensating the camera's shake, and by how many codes it changed the picture.

    ``patches`` themselves and 0 where a shift of the whole picture explains little.
    """
    shift, share = _shift(pair.now, pair.before, pair.gains)
    if share > STABILISED_SQUARES or float(np.abs(shift).max()) > MAX_SHIFT_PX:
        return patches, 0.0
    squares, solid = _squares(pair.now, pair.before, pair.gains, shift)
    down, right = np.gradient(pair.before[..., 1])
    change = np.asarray(right * shift[0] + down * shift[1], np.float32)
    aliased = np.asarray(cv2.blur((SHIFT_UNCERTAINTY * change) ** 2, (3, 3)), np.float32)
    left = _patches(squares, solid, variance + aliased, area, deviations)
    if left.total_px > STABILISED_PIXELS * patches.total_px:
        return patches, 0.0
    return left, float(np.sqrt(np.mean(change**2)))


def _smooth(picture: Array) -> Array:
    return np.asarray(cv2.blur(picture, (3, 3)), np.float32)


@compiled
def _squares(now: Array, before: Array, gains: Array, shift: Array) -> tuple[Array, Array]:
    """(h, w) squared difference in codes, the largest of three channels, after compensating light and ``shift`` (x, y).

    And the same less what steps of colour explain (:data:`COLOUR_STEP`).
    """
    height, width, _ = now.shape
    squares, solid = np.empty((height, width), np.float32), np.empty((height, width), np.float32)
    change = np.empty(3, np.float32)
    moved = shift[0] != 0 or shift[1] != 0
    for y in range(height):
        band = min(y // BAND_ROWS, len(gains) - 1)
        up, down = max(y - 1, 0), min(y + 1, height - 1)
        for x in range(width):
            left, right = max(x - 1, 0), min(x + 1, width - 1)
            for c in range(3):
                was = before[y, x, c]
                if moved:
                    was -= (before[y, right, c] - before[y, left, c]) / 2 * shift[0]
                    was -= (before[down, x, c] - before[up, x, c]) / 2 * shift[1]
                change[c] = now[y, x, c] - was - gains[band, c] * (was + PEDESTAL)
            blue, green, red = change
            squares[y, x] = max(blue * blue, green * green, red * red)
            luma = np.float32(0.114) * blue + np.float32(0.587) * green + np.float32(0.299) * red
            cb, cr = (
                _beyond_quantisation((blue - luma) / np.float32(1.772)),
                _beyond_quantisation((red - luma) / np.float32(1.402)),
            )
            blue, red = luma + np.float32(1.772) * cb, luma + np.float32(1.402) * cr
            green = luma - np.float32(0.344) * cb - np.float32(0.714) * cr
            solid[y, x] = max(blue * blue, green * green, red * red)
    return squares, solid


@compiled
def _beyond_quantisation(difference: np.float32) -> np.float32:
    """The part of a ``difference`` of colour (Cb or Cr) that a quantisation step does not explain."""
    step = np.float32(COLOUR_STEP)
    return max(difference - step, np.float32(0)) + min(difference + step, np.float32(0))


@compiled
def _update_variance(variance: Array, squares: Array, noise: Array, share: np.float32, moving: Mask) -> None:
    """Blend a ``share`` of ``squares`` into the ``variance`` (h, w); at ``moving`` pixels slowly."""
    height, width = variance.shape
    for y in range(height):
        for x in range(width):
            old = variance[y, x]
            new = old + share * (min(squares[y, x], np.float32(OUTLIER) * noise[y, x]) - old)
            variance[y, x] = min(new, np.float32(GROWTH) * old) if moving[y, x] else new


@compiled
def _connected_patches(
    squares: Array, solid: Array, variance: Array, area: Mask, factor: np.float32
) -> tuple[Mask, int, int]:
    """(h, w) 1 in patches of ``squares`` above ``factor`` times their variance; pixels in all, and in the largest.

    Of each patch's pixels at least :data:`SOLID_SHARE` are above that in ``solid``, too.
    """
    height, width = squares.shape
    mask = np.zeros((height, width), np.uint8)
    for y in range(height):
        for x in range(width):
            mask[y, x] = area[y, x] and squares[y, x] > factor * variance[y, x]
    patch = np.empty((height * width, 2), np.int32)
    total, largest = 0, 0
    for y in range(height):
        for x in range(width):
            if mask[y, x] == 1:
                count = _flood(mask, patch, y, x)
                many = 0
                for i in range(count):
                    v, u = patch[i]
                    many += int(solid[v, u] > factor * variance[v, u])
                is_solid = many >= SOLID_SHARE * count
                largest = max(largest, count * is_solid)
                if count >= MIN_PATCH_PX and is_solid:
                    total += count
                else:
                    for i in range(count):
                        mask[patch[i, 0], patch[i, 1]] = 0
    return (mask >> 1).astype(np.uint8), total, largest


@compiled
def _flood(mask: Mask, patch: npt.NDArray[np.int32], y: int, x: int) -> int:
    """Number of pixels in the connected patch of ones at one of them: they become twos, and are put into ``patch``."""
    height, width = mask.shape
    patch[0, 0], patch[0, 1] = y, x
    mask[y, x] = 2
    done, count = 0, 1
    while done < count:
        v, u = patch[done]
        done += 1
        for row in range(max(v - 1, 0), min(v + 2, height)):
            for column in range(max(u - 1, 0), min(u + 2, width)):
                if mask[row, column] == 1:
                    mask[row, column] = 2
                    patch[count, 0], patch[count, 1] = row, column
                    count += 1
    return count


@compiled
def _shift(now: Array, before: Array, gains: Array) -> tuple[Array, float]:
    """X and y (2,) by which the whole picture has moved, in pixels, and the share of squared differences that remains.

    Least squares on the gradient of the green channel; done twice: the second time without the outliers of the first
    fit.
    """
    height, width, _ = now.shape
    shift, least, share = np.zeros(2, np.float32), np.float32(np.inf), 1.0
    for round_ in range(2):
        xx, xy, yy, xd, yd, rest, count = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0
        for y in range(1, height - 1, SHIFT_STEP):
            gain = gains[min(y // BAND_ROWS, len(gains) - 1), 1]
            for x in range(1, width - 1):
                across = (before[y, x + 1, 1] - before[y, x - 1, 1]) / 2
                along = (before[y + 1, x, 1] - before[y - 1, x, 1]) / 2
                difference = now[y, x, 1] - before[y, x, 1] - gain * (before[y, x, 1] + PEDESTAL)
                left = difference + across * shift[0] + along * shift[1]
                if left * left <= least:
                    xx, xy, yy = xx + across * across, xy + across * along, yy + along * along
                    xd, yd = xd + across * difference, yd + along * difference
                    rest, count = rest + left * left, count + 1
        determinant = xx * yy - xy * xy
        if determinant <= 0 or rest <= 0:
            return np.zeros(2, np.float32), share
        shift = np.array([(xy * yd - yy * xd) / determinant, (xy * xd - xx * yd) / determinant], np.float32)
        if round_ == 0:
            share = 1 + (shift[0] * xd + shift[1] * yd) / rest
            least = np.float32(OUTLIER * share * rest / count)
    return shift, share
