"""Heights of stacks of round pieces, from the apparent size of the ring on the uppermost one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from vision.glyphs.face_detection import centre_faces
from vision.glyphs.faces import Faces, distances_mm
from vision.glyphs.ring import (
    NO_RING,
    OUTLIER,
    RING_REACH,
    SPREAD_MM,
    Ring,
    find_ring,
    find_rings,
    groove_log_ratio,
    ring_log_ratio,
)
from vision.inference.hypothesis import Hypothesis
from vision.scene.label_buffer import LabelBuffer

Array = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
Picture = npt.NDArray[np.uint8]

CLOSE_NATS = 9.0
"""Heights that are less likely than the best one by more than this once faces are known are left alone."""

GROOVE_REACH = 0.06
"""Share of its radius by which a groove may appear larger or smaller: beyond is the bevel, or another groove."""

GUIDED_REACH = 0.02
"""The same where the inner groove predicts its size: three standard deviations of that prediction."""

GROOVE_TRUST = (0.04, 0.01)
"""Standard deviation (mm) of a groove's radius besides that of its fit, and how often it is an outlier, as a share of
its density: of 799 discs in 57 sets the scatter was 0.03 to 0.04 mm up to :data:`FAINT_MM`, and one in a hundred was
more than 0.1 mm off; from one height to the next a radius changes by 0.07 to 0.13 mm."""

FAINT_MM = 0.065
"""Standard deviation of a radius from which on it may be fitted to noise, as on black pieces in dim light, and is not
used: half of those were more than 0.1 mm off."""

FITTED_MM, ASTRAY = 0.75, 0.01
"""Standard deviation, along each axis, of a face about where boundaries put it, and how often it is elsewhere: density
of its place then, as a share of that of the right one.  Of 1,192 stacks in 60 sets and boards half were within 0.7 mm,
one in ten beyond 1.4 and one in a hundred beyond 2.0; with a piece more or less one in ten beyond 4.8 and 5.9."""

EMPTY_NATS = 16.0
"""Where a piece is less likely than none by less than this, grooves are looked for."""

MIN_GROOVE_VARIANCE = 0.0004
"""Variance along a circle, as :data:`vision.glyphs.face_detection.MIN_CIRCLE_VARIANCE`, for faces of draughtsmen, which
have less grain than wood.  Of 0.0001 to 0.0015 this made the true heights likeliest on 13 sets and 19 own boards."""

SAME_MM = 0.5
"""Centres no farther apart than this count as one: it is the resolution of their search."""

RING_FOUND = 1.0
"""Log-likelihood ratio from which on a place is considered."""


def radius_range(ring_mm: float, reach: float = RING_REACH) -> tuple[float, float]:
    """The least and the largest radius at which a ring is looked for."""
    return (1 - reach) * ring_mm, (1 + reach) * ring_mm


def weigh_by_grooves(image: Picture, hypothesis: Hypothesis, ring_mm: float, inner_mm: float | None = None) -> None:
    """Weigh heights of draughtsmen that are in doubt, by the apparent size of the groove of radius ``ring_mm``.

    In some light the bevel is as dark a circle.  So where a set has another groove inside, of radius ``inner_mm``, that
    is looked for first, and roughly predicts the size of the outer one.  Where both are as round as on pieces there is
    one, even if its face has the board's own colour.
    """
    upright, labels = hypothesis.geometry.faces, hypothesis.labels()
    count, in_doubt = len(hypothesis.geometry.configurations.all), _in_doubt(hypothesis)
    is_asked = (hypothesis.state > 0) & (in_doubt.sum(axis=1) > 1)
    stands = hypothesis.scores[:, 1:].max(axis=1)
    may_stand = (stands > -EMPTY_NATS) & (stands < CLOSE_NATS) & (inner_mm is not None)
    for cell in np.flatnonzero((is_asked | may_stand) & hypothesis.updated).tolist():
        straight = upright.select(cell * count + np.flatnonzero(in_doubt[cell]))
        face, ring, outer, places = _roundest(image, straight, labels, ring_mm, inner_mm)
        if outer != NO_RING:
            # One of so many places may look like grooves by chance.
            are_grooves = groove_log_ratio(ring, outer) - float(np.log(places))
            if may_stand[cell] and not _covers_another(hypothesis, cell, face):
                fits = ring_log_ratio(outer, straight.px_per_mm / face.px_per_mm, ring_mm, GROOVE_TRUST).max()
                _weigh_presence(hypothesis, cell, max(are_grooves + fits, 0.0))
            is_face = are_grooves > 0 and not _covers_another(hypothesis, cell, face, CLOSE_NATS)
            if is_face and hypothesis.state[cell] > 0:
                _weigh_place(hypothesis, cell, face, are_grooves)
        its_mm = ring_mm if inner_mm is None or outer != NO_RING else inner_mm
        ring = outer if outer != NO_RING else ring
        if ring.variance_mm2 < FAINT_MM**2 and hypothesis.state[cell] > 0:
            _weigh(hypothesis, cell, face, ring, its_mm, GROOVE_TRUST)
    hypothesis.clear_stale()


def _covers_another(hypothesis: Hypothesis, cell: int, face: Faces, nats: float = 0.0) -> bool:
    """Whether a ``face`` (1) covers the centre of one on another cell, where something stands by more than ``nats``."""
    stands = (hypothesis.state > 0) & (hypothesis.scores.max(axis=1) > nats)
    stands[cell] = False
    others = hypothesis.faces_on(np.flatnonzero(stands))
    return bool((distances_mm(face, others) < face.radii_mm).any())


def _weigh_presence(hypothesis: Hypothesis, cell: int, log_ratio: float) -> None:
    """Weigh whether anything stands on a cell."""
    scores = hypothesis.scores[cell].copy()
    scores[1:] += np.float32(log_ratio)
    rescore(hypothesis, cell, scores)


def _weigh_place(hypothesis: Hypothesis, cell: int, face: Faces, are_grooves: float) -> None:
    """Weigh the heights of a stack by where its ``face`` (1) is; ``are_grooves``: log-likelihood ratio that it is one.

    It should be where boundaries have put it for each height or, if they have not, over the middle of the cell.
    """
    count = len(hypothesis.geometry.configurations.all)
    every, straight = np.arange(count), hypothesis.faces_at_every_height(np.array([cell]))
    off_mm = straight.offset_mm(np.repeat(face.centres_px, count, axis=0))
    fitted_mm = hypothesis.places_mm.get(cell, np.zeros((1 + count, count, 3)))[1 + every, every, :2]
    at_place = np.exp(-0.5 * ((off_mm - fitted_mm) ** 2).sum(axis=1) / FITTED_MM**2)
    is_none = max(ASTRAY, 1 / (1 + np.exp(are_grooves)))
    _weigh_heights(hypothesis, cell, np.log(is_none + (1 - is_none) * at_place))


def _roundest(
    image: Picture, straight: Faces, labels: LabelBuffer, ring_mm: float, inner_mm: float | None
) -> tuple[Faces, Ring, Ring, int]:
    """The face (1) with the roundest grooves, of those that ``straight`` (k) may be; its inner and its outer groove.

    About any centre but the right one, circles are less round.  Last comes the number of places that were searched.
    """
    its_mm = ring_mm if inner_mm is None else inner_mm
    faces, log_ratio = centre_faces(image, straight, labels, its_mm, MIN_GROOVE_VARIANCE)
    faces = _distinct(faces, log_ratio)
    if not len(faces.ranks):
        return straight, NO_RING, NO_RING, 1
    inners = find_rings(image, faces, labels, radius_range(its_mm, GROOVE_REACH))
    each = [faces.select(np.array([number])) for number in range(len(inners))]
    outers = [NO_RING] * len(inners)
    if inner_mm is not None:
        for number, ring in enumerate(inners):
            if ring != NO_RING:
                guided_mm = radius_range(ring_mm * ring.radius_mm / inner_mm, GUIDED_REACH)
                outers[number] = find_ring(image, each[number], labels, guided_mm)
    spreads = [(outer.variance_mm2, inner.variance_mm2) for inner, outer in zip(inners, outers, strict=True)]
    best = min(range(len(each)), key=lambda number: (np.prod(spreads[number]), spreads[number]))
    return each[best], inners[best], outers[best], len(each)


def _distinct(faces: Faces, log_ratio: Array) -> Faces:
    """Those of ``faces`` (k) that are found, the likeliest first; of several heights in one place only one."""
    kept: list[int] = []
    are_apart = distances_mm(faces, faces) > SAME_MM
    for number in np.argsort(-log_ratio).tolist():
        if log_ratio[number] > RING_FOUND and are_apart[kept, number].all():
            kept.append(number)
    return faces.select(np.array(kept, np.intp))


def weigh_by_rings(image: Picture, hypothesis: Hypothesis, faces: Mapping[int, Faces], ring_mm: float) -> None:
    """Weigh heights that are in doubt by the apparent size of the rings on ``faces``, by cell."""
    labels, is_told = hypothesis.labels(), _in_doubt(hypothesis).sum(axis=1) < 2
    for cell, face in faces.items():
        if hypothesis.updated[cell] and not is_told[cell]:
            ring = find_ring(image, face, labels, radius_range(ring_mm))
            _weigh(hypothesis, cell, face, ring, ring_mm, (SPREAD_MM, OUTLIER))
    hypothesis.clear_stale()


def _in_doubt(hypothesis: Hypothesis) -> Mask:
    """(n, configurations) which are hardly less likely than the best one of each cell."""
    heights = hypothesis.configuration_scores()
    in_doubt: Mask = heights > heights.max(axis=1, keepdims=True) - CLOSE_NATS
    return in_doubt


def _weigh(
    hypothesis: Hypothesis, cell: int, face: Faces, ring: Ring, ring_mm: float, trust: tuple[float, float]
) -> None:
    """Weigh all heights of a stack by the ``ring`` on its ``face`` (1): see :func:`.ring.ring_log_ratio`."""
    planes = hypothesis.faces_at_every_height(np.array([cell])).px_per_mm / face.px_per_mm
    _weigh_heights(hypothesis, cell, ring_log_ratio(ring, planes, ring_mm, trust))


def _weigh_heights(hypothesis: Hypothesis, cell: int, ratio: npt.NDArray[np.float64]) -> None:
    """Weigh all heights of a stack by the log-likelihood ``ratio`` (configurations,) from its face."""
    heights = hypothesis.configuration_scores(np.array([cell]))[0]
    by_colour = hypothesis.scores[cell, 1:].reshape(len(heights), -1)
    # A face tells how high its stack is, not whether there is one.
    ratio -= ratio[heights.argmax()]
    scores = np.append(0, by_colour + ratio[:, None]).astype(np.float32)
    scores[1:] -= scores[1:].max() - heights.max()
    rescore(hypothesis, cell, scores)


def rescore(hypothesis: Hypothesis, cell: int, scores: Array) -> None:
    """Store ``scores`` (states,) of a cell and hypothesise the likeliest state; an unchanged one keeps its place."""
    hypothesis.set_scores(np.array([cell]), scores[None])
    state = int(scores.argmax())
    if state != hypothesis.state[cell]:
        hypothesis.assign(cell, state)
