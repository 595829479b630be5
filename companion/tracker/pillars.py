"""How high the pillars stand: what their sensors and the camera say about it, weighed against each other.

Each of the two gives every pillar a likelihood over its levels, and neither is trusted without limit.  If they agree,
they add up; if one says nothing, the other decides.  If they contradict each other, a picture that is clear in several
readings outweighs the sensor.  A less clear picture is overruled by a sensor that was right until the pillar moved and
that reports the smaller move; otherwise neither is believed and people are asked.  A sensor that keeps contradicting a
clear picture, or one that shows what was accepted, is reported and ignored until it has agreed again for a while.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from companion.rules.board import Cell

SENSOR_WRONG, CAMERA_WRONG = 1e-4, 1e-5
"""Probability that a sensor without a known fault, or the camera, is wrong about a pillar without knowing it.  With
seven levels a sensor is worth 11 nats and the camera 13: a legal move of a pillar is accepted on the word of either, an
illegal one is announced at once on that of the camera."""

CLEAR_NATS = 6.0
"""Log-likelihood ratio between their two levels above which sensor and camera contradict each other."""

OUTWEIGHING_NATS, OUTWEIGHING_READINGS = 14.0, 3
"""Above this ratio, in so many readings of one contradiction, the camera outweighs the sensor.  Of 4,625 pillars in
185 pictures, all others being known, the camera preferred a wrong level by more than 9 nats in three, by 13.5 at most;
against sensors that were wrong in three recordings it was right by 20 to 85 nats, except for one pillar that looks like
those around it (5 to 7), and by half of that where several levels were in question (2026-11-27)."""

CONTESTED_NATS = 5.0
"""In a contradiction the level that would be news is favoured by this much over the accepted one: about what the prior
of a move takes away, so that people are asked."""

DISTRUST_S = 2.0
"""A contradiction that has lasted this long is the sensor's fault if the camera outweighs it or shows what was
accepted; otherwise either may be right."""

TRUST_AGAIN_S = 5.0
"""A distrusted sensor that has agreed with the camera for this long is heard again."""

Rows = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Doubt:
    """What counts against the sensor of one pillar.

    ``since_s``: since when it has contradicted the camera, or, once ``is_distrusted``, agreed with it; ``outweighed``:
    in how many readings since then the camera was clear enough to outweigh it; ``is_overruled``: it is the camera that
    is ignored.
    """

    since_s: float
    is_distrusted: bool = False
    outweighed: int = 0
    is_overruled: bool = False

    @property
    def is_trusted(self) -> bool:
        """Whether the sensor's measurements still count."""
        return not self.is_distrusted and self.outweighed < OUTWEIGHING_READINGS


Doubts = dict[Cell, Doubt]


def sensor_log_likelihood(heights_mm: Sequence[float | None], levels_mm: Sequence[float], noise_mm: float) -> Rows:
    """(n, l) log-likelihood of each level, at ``levels_mm`` (l,), of pillars measured at ``heights_mm`` (n,).

    Normal with standard deviation ``noise_mm`` about the true height; rows of pillars without a height are uniform.
    """
    rows = np.zeros((len(heights_mm), len(levels_mm)))
    for i, height in enumerate(heights_mm):
        if height is not None:
            rows[i] = -(((height - np.asarray(levels_mm)) / noise_mm) ** 2) / 2
    return rows - np.logaddexp.reduce(rows, axis=1, keepdims=True)


def fuse(sensed: Rows | None, camera: Rows | None, accepted: Sequence[int], doubts: Doubts) -> Rows:
    """(n, l) log-likelihoods of each pillar's levels by both; ``accepted`` are the levels of the accepted position.

    Either may be None if there is no such measurement.  Rows without any are uniform.
    """
    if sensed is not None and camera is not None:
        camera = _extended(camera, sensed)
    shape = next(rows.shape for rows in (sensed, camera) if rows is not None)
    by_sensor = np.zeros(shape) if sensed is None else _floored(sensed, SENSOR_WRONG)
    by_camera = np.zeros(shape) if camera is None else _floored(camera, CAMERA_WRONG)
    by_sensor[[cell for cell, doubt in doubts.items() if not doubt.is_trusted]] = 0.0
    by_camera[[cell for cell, doubt in doubts.items() if doubt.is_overruled]] = 0.0
    rows = by_sensor + by_camera
    for cell in contradictions(by_sensor, by_camera):
        rows[cell] = rows[cell].min() - CONTESTED_NATS
        for level in {int(by_sensor[cell].argmax()), int(by_camera[cell].argmax())}:
            rows[cell, level] = 0.0 if level != accepted[cell] else -CONTESTED_NATS
    return np.asarray(rows)


def _extended(camera: Rows, sensed: Rows) -> Rows:
    """``camera`` with the levels that only sensors know: to it, such a pillar seems to be at its highest level."""
    beyond = sensed.shape[1] - camera.shape[1]
    if beyond <= 0:
        return camera
    is_beyond = sensed.argmax(axis=1) >= camera.shape[1]
    last = np.where(is_beyond, camera[:, -1], camera.min(axis=1))
    return np.asarray(np.column_stack((camera, *[last] * beyond)))


def contradictions(sensed: Rows, camera: Rows, nats: float = CLEAR_NATS) -> frozenset[Cell]:
    """Pillars for which both prefer different levels, the sensor by more than CLEAR_NATS, the camera by ``nats``."""
    here = np.arange(len(sensed))
    one, other = sensed.argmax(axis=1), camera.argmax(axis=1)
    by_one = sensed[here, one] - sensed[here, other]
    by_other = camera[here, other] - camera[here, one]
    return frozenset(int(cell) for cell in np.flatnonzero((by_one > CLEAR_NATS) & (by_other > nats)))


def update_doubts(
    doubts: Doubts, sensed: Rows | None, camera: Rows | None, accepted: Sequence[int], t_s: float
) -> Doubts:
    """The doubts after one more reading, at ``t_s``; if either says nothing, nobody is proved right or wrong.

    ``accepted`` are the levels of the last accepted position.
    """
    if sensed is None or camera is None:
        return doubts
    camera = _extended(camera, sensed)
    against = contradictions(sensed, camera)
    outweighed = contradictions(sensed, camera, OUTWEIGHING_NATS)
    silent = (np.ptp(sensed, axis=1) == 0.0) | (np.ptp(camera, axis=1) == 0.0)
    following: Doubts = {}
    for cell in against | doubts.keys():
        doubt = doubts.get(cell) or Doubt(t_s)
        if silent[cell]:
            following[cell] = replace(doubt, outweighed=0) if doubt.is_trusted else doubt
        elif cell in against:
            is_proved = cell in outweighed or int(camera[cell].argmax()) == accepted[cell]
            has_lasted = t_s - doubt.since_s >= DISTRUST_S
            is_fault = doubt.is_distrusted or (is_proved and has_lasted)
            # Do not wait for clearer readings for ever.
            is_open = cell in outweighed or not (has_lasted and doubt.is_trusted)
            count = doubt.outweighed + int(cell in outweighed) if is_open else 0
            is_new = cell not in doubts and _moves_less(sensed[cell], camera[cell], accepted[cell])
            is_overruled = (is_new or doubt.is_overruled) and not count and not is_fault
            following[cell] = Doubt(t_s if is_fault else doubt.since_s, is_fault, count, is_overruled)
        elif not doubt.is_trusted and t_s - doubt.since_s < TRUST_AGAIN_S:
            following[cell] = doubt
    return following


def _moves_less(sensed: npt.NDArray[np.float64], camera: npt.NDArray[np.float64], accepted: int) -> bool:
    """Whether by both (l,) the pillar has left its ``accepted`` level, and by its sensor it has moved less far."""
    return 0 < abs(int(sensed.argmax()) - accepted) < abs(int(camera.argmax()) - accepted)


def _floored(rows: Rows, wrong: float) -> Rows:
    """``rows``, each normalised, mixed with the probability ``wrong`` that they are unrelated to the pillar."""
    floored: Rows = np.log((1 - wrong) * np.exp(rows) + wrong / rows.shape[1])
    return floored
