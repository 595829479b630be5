"""How large discs are, from where their upper faces are seen.

The higher a face lies, the farther it is seen from the middle of its square, away from the camera.  Pieces are put down
a millimetre off that middle, in any direction: from many of them the height is found (by triangulation against the
known grid), from few it is not.  Where a piece meets the board is not looked at: shadows look like its side there.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from calibration.kit import Kit, PieceKind
from vision.pose.projection import Points
from vision.scene.configurations import PLACE_MM
from vision.scene.solids import piece
from vision.sizing.evidence import MAX_WIDTH_FACTOR, Evidence, Stack
from vision.sizing.sizes import WIDTH_RELATIVE_DEVIATION, Sizes

STEPS_MM = (1.0, 0.5, 0.25, 0.12)
"""Step sizes of the search for a face, one after the other."""

GRID_MM = 0.5
"""Standard deviation, along each axis, of the offset that all pieces share from the grid: its corners were pointed at,
and one hand puts all of them down alike."""

ROBUST_ROUNDS, OUTLIER = 8, 1.5
"""Rounds of reweighting, and the residual, in standard deviations, above which pieces count less (Huber's function)."""

_MOVES = np.array([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)], np.float64)


def disc_sizes(kit: Kit, evidence: Evidence) -> Sizes | None:
    """The sizes of discs, all alike; the ``kit`` gives approximate ones.  None where no face is seen."""
    stacks = [_above_foot(stack, evidence) for stack in evidence.stacks]
    seen = [(stack, place) for stack in stacks if (place := _fit_disc(stack, evidence)) is not None]
    if not seen:
        return None
    counts = np.array([stack.count for stack, _ in seen])
    middles = evidence.crops.centres_mm[[stack.number for stack, _ in seen]]
    off_mm = middles - evidence.photograph.pose.centre_mm
    letters = "".join(kind.letter for kind in kit.pieces)
    return _sizes(letters, kit.pieces[0], np.array([place for _, place in seen]), counts, off_mm)


def _above_foot(stack: Stack, evidence: Evidence) -> Stack:
    """``stack`` without evidence from pixels nearer than the middle of its foot."""
    farther = (evidence.crops.v_mm <= 0)[:, None]
    return replace(stack, face=stack.face * farther, side=stack.side * farther)


def _fit_disc(stack: Stack, evidence: Evidence) -> Points | None:
    """(3,) mm, the width of a stack, and its offset in x and y from the middle, as its upper face is seen.

    None where none is seen.
    """
    at = np.array([stack.kind.width_mm, 0.0, 0.0])
    best = _score(stack, at, evidence)
    for step in STEPS_MM:
        better = True
        while better:
            tried = at + step * _MOVES
            scores = [_score(stack, place, evidence) for place in tried]
            better = max(scores) > best
            if better:
                best, at = max(scores), tried[int(np.argmax(scores))]
    return at if best > 0 else None


def _score(stack: Stack, at: Points, evidence: Evidence) -> float:
    """Log-likelihood ratio of a crop with a stack of this width and place (3,) to a bare one."""
    kind = stack.kind
    if not kind.width_mm / MAX_WIDTH_FACTOR < at[0] < kind.width_mm * MAX_WIDTH_FACTOR:
        return -np.inf
    wider, rise_mm = float(at[0]) / kind.width_mm, np.array([0.0, 0.0, (stack.count - 1) * kind.height_mm])
    lowest = piece(kind).points * np.array([wider, wider, 1.0])
    lowest = lowest + evidence.crops.centres_mm[stack.number] + np.array([at[1], at[2], 0.0])
    body = np.vstack([lowest, lowest + rise_mm])
    return evidence.log_ratio(stack, body, body[np.isclose(body[:, 2], body[:, 2].max())])


def _sizes(letters: str, kind: PieceKind, found: Points, counts: npt.NDArray[np.intp], off_mm: Points) -> Sizes:
    """The sizes that follow from faces ``found`` (n, 3) as if pieces were as high as ``kind``: robust least squares.

    ``counts`` (n,): of pieces in their stacks; ``off_mm`` (n, 3): from the camera to the middles of their squares.
    """
    away = off_mm[:, :2] / -off_mm[:, 2:] * counts[:, None]
    ones, none = np.ones(len(found)), np.zeros(len(found))
    rows = np.vstack([np.column_stack([away[:, 0], ones, none]), np.column_stack([away[:, 1], none, ones])])
    seen, weights = np.concatenate([found[:, 1], found[:, 2]]) / PLACE_MM, np.ones(2 * len(found))
    rows, known = rows / PLACE_MM, np.diag([0.0, GRID_MM**-2, GRID_MM**-2])
    for _ in range(ROBUST_ROUNDS):
        normal = rows.T @ (weights[:, None] * rows) + known
        values = np.linalg.solve(normal, rows.T @ (weights * seen))
        errors = seen - rows @ values
        weights = OUTLIER / np.maximum(np.abs(errors), OUTLIER)
    scatter = max(1.0, float(np.sqrt((weights * errors**2).mean())))
    width = float(np.median(found[:, 0]))
    spread = 1.4826 * float(np.median(np.abs(found[:, 0] - width))) / np.sqrt(len(found))
    return Sizes(
        letters=letters,
        width_mm=width,
        width_deviation_mm=float(np.hypot(spread, WIDTH_RELATIVE_DEVIATION * width)),
        height_mm=kind.height_mm + float(values[0]),
        height_deviation_mm=scatter * float(np.sqrt(np.linalg.inv(normal)[0, 0])),
    )
