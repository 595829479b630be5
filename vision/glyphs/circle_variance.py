"""Variance of colour along concentric circles on a face, for each of several displacements of its centre.

The circle with the largest variance is left out: a lamp is mirrored in the bevel before it is elsewhere.  Each kind of
work is a separate pass over all sample points, of which there is a constant number: all but fetching pixels is then
vectorised.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.compiled import allocation_free, compiled
from vision.glyphs.faces import DIRECTIONS, FRACTION_BITS, ONE_PX, Faces, FlatLabels, FlatPicture, Picture
from vision.pose.projection import Points
from vision.scene.label_buffer import RANK_BITS, LabelBuffer

Array = npt.NDArray[np.float32]
Sums = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]
Wide = npt.NDArray[np.int64]
Triples = npt.NDArray[np.uint64]
"""Codes b g r, each in :data:`_CHANNEL_BITS` bits."""

BORDER = np.array([0.72, 0.80, 0.88, 0.95])
"""Radii, as a share of a face's own, of the circles by which its centre is found: printed rings are round.  Chosen by
eye."""

AROUND_RING_MM = np.array([-2.4, -1.2, 0.0, 1.2])
"""Radii of the circles relative to that of a known ring; a ring is a millimetre wide."""

RING = 2
"""Index of the ring among these circles; those beside it are wood."""

COARSE_MM = np.array([(x, y) for x in range(-3, 4) for y in range(-3, 4)]) * 1.0
FINE_MM = np.array([(x, y) for x in range(-1, 2) for y in range(-1, 2)]) * 0.5
"""(s, 2) grids of displacements of a centre, coarse and then fine about the best; comparing characters refines them.
Chosen by eye."""

CIRCLES, COARSE_STEPS, FINE_STEPS = len(BORDER), len(COARSE_MM), len(FINE_MM)
COARSE_ANGLES, FINE_ANGLES = 12, 24
FINE_PLACES = CIRCLES * FINE_ANGLES
_COARSE, _FINE = (DIRECTIONS[:: len(DIRECTIONS) // angles].copy() for angles in (COARSE_ANGLES, FINE_ANGLES))
"""(angles, 2) directions in which the circles are sampled."""

CODE = ONE_PX**2
"""One code after interpolation across and down, in fixed point."""
_0, _1, _PX, _HALF_PX, _BITS, _FRACTION = (
    np.int32(number) for number in (0, 1, ONE_PX, ONE_PX // 2, FRACTION_BITS, ONE_PX - 1)
)
_CHANNEL_BITS, _LOW = np.uint64(16), np.uint64(0xFFFF)
"""Three channels are interpolated at once, packed in one number: each has 8 bits and those of fixed point."""
_NEXT, _SECOND, _THREE = (np.uint64(number) for number in range(1, 4))


@compiled
def coarse_variance(picture: Picture, labels: LabelBuffer, faces: Faces, circles: Points) -> tuple[Array, Array, Array]:
    """Variance of colour along circles on faces displaced by :data:`COARSE_MM`, as a share of brightness squared.

    For coarse steps the nearest pixels suffice.

    Args:
        picture: (height, width, 3) uint8, BGR.
        labels: (height, width) uint16.
        faces: (k).
        circles: (CIRCLES,) radii, as shares of a face's own.

    Returns:
        (k, s) float32 variance; (k, s) float32 by how much the circle number :data:`RING` is darker than those beside
        it, as a share of their brightness; and (k, s) float32 0…1 the share of sample points that is visible.
    """
    uneven, darker, shares = _no_result(len(faces.radii_mm), COARSE_STEPS)
    places, means = _on_circles(circles, _COARSE), np.empty((CIRCLES, COARSE_STEPS))
    pixel, seen = np.empty(COARSE_STEPS, np.int32), np.empty((4, COARSE_STEPS), np.int32)
    sums, flat, flat_labels = np.empty((5, COARSE_STEPS), np.int32), picture.reshape(-1), labels.reshape(-1)
    for face in range(len(uneven)):
        around = _in_fixed_point(places, faces.to_picture[face] * faces.radii_mm[face], np.zeros(2))
        at = _in_fixed_point(COARSE_MM, faces.to_picture[face], faces.centres_px[face])
        total = np.zeros((5, COARSE_STEPS))
        for i in range(CIRCLES):
            sums[:] = 0
            for j in range(i * COARSE_ANGLES, (i + 1) * COARSE_ANGLES):
                _locate(at, around[0, j], around[1, j], labels.shape, pixel)
                _fetch(flat, flat_labels, pixel, faces.ranks[face], seen)
                for k in range(COARSE_STEPS):
                    blue, green, red = seen[0, k], seen[1, k], seen[2, k]
                    sums[0, k] += blue
                    sums[1, k] += green
                    sums[2, k] += red
                    sums[3, k] += blue * blue + green * green + red * red
                    sums[4, k] += seen[3, k]
            for k in range(COARSE_STEPS):
                circle = (float(sums[0, k]), float(sums[1, k]), float(sums[2, k]), float(sums[3, k]), float(sums[4, k]))
                means[i, k] = _add_circle(circle, total[:, k])
        for k in range(COARSE_STEPS):
            uneven[face, k], shares[face, k] = _variance(total[:, k], 1.0), total[1, k] / len(places)
            darker[face, k] = _darker_ring(means[:, k])
    return uneven, darker, shares


@compiled
def fine_variance(picture: Picture, labels: LabelBuffer, faces: Faces, circles: Points) -> tuple[Array, Array, Array]:
    """As :func:`coarse_variance`, displaced by :data:`FINE_MM`, with interpolation between pixels."""
    uneven, darker, shares = _no_result(len(faces.radii_mm), FINE_STEPS)
    places, means = _on_circles(circles, _FINE), np.empty(CIRCLES)
    pixel, triples = np.empty((3, FINE_PLACES), np.int32), np.empty((4, FINE_PLACES), np.uint64)
    seen, visible = np.empty((3, FINE_PLACES), np.int64), np.empty(FINE_PLACES, np.int64)
    flat, flat_labels, rank_of = picture.reshape(-1), labels.reshape(-1), faces.ranks
    for face in range(len(uneven)):
        around = _in_fixed_point(places, faces.to_picture[face] * faces.radii_mm[face], np.zeros(2))
        at = _in_fixed_point(FINE_MM, faces.to_picture[face], faces.centres_px[face])
        for k in range(FINE_STEPS):
            _locate_between(around, at[0, k], at[1, k], labels.shape, pixel)
            _fetch_between(flat, flat_labels, labels.shape[1], pixel, rank_of[face], triples, visible)
            _interpolate(triples, pixel, visible, seen)
            total = np.zeros(5)
            for i in range(CIRCLES):
                blues, greens, reds, squares, here = 0, 0, 0, 0, 0
                for j in range(i * FINE_ANGLES, (i + 1) * FINE_ANGLES):
                    blue, green, red = seen[0, j], seen[1, j], seen[2, j]
                    blues, greens, reds = blues + blue, greens + green, reds + red
                    squares += blue * blue + green * green + red * red
                    here += visible[j]
                means[i] = _add_circle((float(blues), float(greens), float(reds), float(squares), float(here)), total)
            uneven[face, k], shares[face, k] = _variance(total, float(CODE)), total[1] / FINE_PLACES
            darker[face, k] = _darker_ring(means)
    return uneven, darker, shares


@compiled
def _no_result(count: int, steps: int) -> tuple[Array, Array, Array]:
    size = (count, steps)
    return np.empty(size, np.float32), np.empty(size, np.float32), np.empty(size, np.float32)


@compiled
def _on_circles(circles: Points, directions: Points) -> Points:
    """(CIRCLES · angles, 2) sample points on ``circles`` (CIRCLES,), circle by circle."""
    places = np.empty((CIRCLES * len(directions), 2))
    for i in range(CIRCLES):
        places[i * len(directions) : (i + 1) * len(directions)] = circles[i] * directions
    return places


@allocation_free
def _darker_ring(means: Points) -> float:
    """Share by which the ring is darker than the circles beside it, from ``means`` (CIRCLES,); 0 if one is hidden."""
    inner, ring, outer = means[RING - 1], means[RING], means[RING + 1]
    if min(inner, ring, outer) <= 0:
        return 0.0
    beside = (inner + outer) / 2
    return float((beside - ring) / beside)


@compiled
def _in_fixed_point(places: Points, to_picture: Points, centre_px: Points) -> Codes:
    """(2, k) int32 x and y of ``places`` (k, 2) about a centre (2,) in a picture, rounded to 1/16 px."""
    fixed = np.empty((2, len(places)), np.int32)
    for i in range(len(places)):
        for axis in range(2):
            px = to_picture[axis, 0] * places[i, 0] + to_picture[axis, 1] * places[i, 1] + centre_px[axis]
            fixed[axis, i] = np.int32(np.floor(px * ONE_PX + 0.5))
    return fixed


@allocation_free
def _locate(at: Codes, right: np.int32, down: np.int32, size: tuple[int, int], pixel: Codes) -> None:
    """Put the pixel nearest to each of ``at`` (2, s), displaced and clamped to a picture, into ``pixel`` (s,)."""
    width, most_x, most_y = (
        np.int32(size[1]),
        np.int32(size[1] * ONE_PX) - _PX - _1,
        np.int32(size[0] * ONE_PX) - _PX - _1,
    )
    for k in range(COARSE_STEPS):
        x, y = min(max(at[0, k] + right, _0), most_x), min(max(at[1, k] + down, _0), most_y)
        pixel[k] = (y + _HALF_PX >> _BITS) * width + (x + _HALF_PX >> _BITS)


@allocation_free
def _fetch(codes: FlatPicture, labels: FlatLabels, pixel: Codes, rank: int, seen: Codes) -> None:
    """Put b, g, r and 1 of each ``pixel`` (s,) into ``seen`` (4, s); 0 where one nearer than ``rank`` occludes it."""
    for k in range(COARSE_STEPS):
        # Unsigned: Numba tests every signed index for being negative.
        at = np.uint64(pixel[k])
        is_visible, first = np.int32(labels[at] >> RANK_BITS <= rank), at * _THREE
        seen[0, k], seen[3, k] = is_visible * np.int32(codes[first]), is_visible
        seen[1, k] = is_visible * np.int32(codes[first + _NEXT])
        seen[2, k] = is_visible * np.int32(codes[first + _SECOND])


@allocation_free
def _locate_between(around: Codes, x_at: np.int32, y_at: np.int32, size: tuple[int, int], pixel: Codes) -> None:
    """Put the pixel to the upper left of each point, and the fractions right and down, into ``pixel`` (3, places)."""
    width, most_x, most_y = (
        np.int32(size[1]),
        np.int32(size[1] * ONE_PX) - _PX - _1,
        np.int32(size[0] * ONE_PX) - _PX - _1,
    )
    for i in range(FINE_PLACES):
        x, y = min(max(around[0, i] + x_at, _0), most_x), min(max(around[1, i] + y_at, _0), most_y)
        pixel[0, i] = (y >> _BITS) * width + (x >> _BITS)
        pixel[1, i], pixel[2, i] = x & _FRACTION, y & _FRACTION


@compiled
def _fetch_between(
    codes: FlatPicture, labels: FlatLabels, width: int, pixel: Codes, rank: int, triples: Triples, visible: Wide
) -> None:
    """Put the codes to the upper left of each sample point, right of that, below and below right, into ``triples``.

    These are (4, places); ``visible`` (places,): whether no cell nearer than ``rank`` occludes it.  ``pixel`` from
    :func:`_locate_between`.
    """
    below, across = np.uint64(3 * width), np.int32(width)
    for i in range(FINE_PLACES):
        right, down = pixel[1, i] >> _BITS - _1, pixel[2, i] >> _BITS - _1
        visible[i] = labels[np.uint64(pixel[0, i] + down * across + right)] >> RANK_BITS <= rank
        at = np.uint64(pixel[0, i]) * _THREE
        triples[0, i], triples[1, i] = _three(codes, at), _three(codes, at + _THREE)
        triples[2, i], triples[3, i] = _three(codes, at + below), _three(codes, at + below + _THREE)


@compiled
def _three(codes: FlatPicture, at: np.uint64) -> np.uint64:
    """The codes b g r from index ``at`` on, packed in :data:`_CHANNEL_BITS` bits each."""
    blue, green, red = np.uint64(codes[at]), np.uint64(codes[at + _NEXT]), np.uint64(codes[at + _SECOND])
    return blue | green << _CHANNEL_BITS | red << _CHANNEL_BITS * _SECOND


@allocation_free
def _interpolate(triples: Triples, pixel: Codes, visible: Wide, seen: Wide) -> None:
    """Put bilinearly interpolated b, g, r · :data:`CODE` into ``seen`` (3, places) int64; 0 where not ``visible``."""
    for i in range(FINE_PLACES):
        right, down, shown = np.uint64(pixel[1, i]), np.uint64(pixel[2, i]), np.uint64(visible[i])
        left, up = np.uint64(ONE_PX) - right, np.uint64(ONE_PX) - down
        upper, lower = left * triples[0, i] + right * triples[1, i], left * triples[2, i] + right * triples[3, i]
        both = (up * upper + down * lower) * shown
        seen[0, i], seen[1, i] = np.int64(both & _LOW), np.int64(both >> _CHANNEL_BITS & _LOW)
        seen[2, i] = np.int64(both >> _CHANNEL_BITS * _SECOND)


@allocation_free
def _add_circle(circle: tuple[float, float, float, float, float], total: Sums) -> float:
    """Add one ``circle`` to a ``total``: the sums of its b, g, r, of the squares of all three, and its visible points.

    Returns its mean brightness, 0 where nothing of it is visible.

    ``total`` (5,): the sum of all values, the number of points, the sum of squared deviations, and the latter two of
    the circle with the largest deviations.
    """
    blues, greens, reds, squares, here = circle
    deviations = squares - (blues * blues + greens * greens + reds * reds) / max(here, 1.0)
    total[0] += blues + greens + reds
    total[1] += here
    total[2] += deviations
    if deviations > total[3]:
        total[3], total[4] = deviations, here
    return (blues + greens + reds) / max(here, 1.0)


@allocation_free
def _variance(total: Sums, code: float) -> float:
    """Variance on all circles but the most uneven one, over brightness squared; ``code``: value of one code."""
    brightness = max(total[0] / max(total[1], 1.0), 1.0 / CODE * code)
    return float((total[2] - total[3]) / max(total[1] - total[4], 1.0) / brightness**2)
