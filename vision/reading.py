"""The reading of one picture: for every cell a probability of each thing that could stand there.

This is the one type of vision that other packages import.  It knows letters and heights, but no rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

CellState = tuple[int | None, str | None]
"""What can stand on a cell, as a camera sees it: (height in pieces or None where it cannot be seen, top piece)."""

EMPTY: CellState = (0, None)


@dataclass(frozen=True)
class Reading:
    """Per-cell distributions of one frame.

    Attributes:
        cells: names of the cells, in the kit's order (n).
        states: everything that can stand on a cell of this kit; ``states[0]`` is :data:`EMPTY` (m).
        log_likelihood: (n, m) float32, natural logarithm of p(picture | state) up to a constant a row; each row is
            shifted so that its logsumexp is 0, which makes ``exp`` the posterior under equal priors.
        outlier_share: (n,) float32 in 0…1, the share of outliers in the cell's surroundings: what neither the empty
            board nor any piece explains, or nothing that may stand there, such as a hand, a sleeve, an arm.
        mismatched: numbers of cells that look different from what they should, where a good part of the board does: the
            reading is not to be trusted then.  Empty for a board that is understood.
        t_s: time of the frame in seconds.
        changed: (n,) float32 in 0…1, the share of the cell's picture that differs from the last picture that made
            sense; NaN where hardly anything of the cell is in sight beside what has been put or taken in front of it;
            None where there is no picture to compare with, or the light has changed.
        unseen: (n,) bool, cells of which so little is in sight, now or in that picture, that a piece could come or go
            without changing what is seen of them; None where that is not known.
        levels: of the pillars that the cells are, as the picture was read with; None for a kit without pillars.
        level_log_likelihood: (n, l) float32, natural logarithm of p(picture | level) for each level of a pillar from
            the lowest on, from the picture alone, shifted like ``log_likelihood``; None for a kit without pillars.
    """

    cells: tuple[str, ...]
    states: tuple[CellState, ...]
    log_likelihood: npt.NDArray[np.float32]
    outlier_share: npt.NDArray[np.float32]
    t_s: float = 0.0
    changed: npt.NDArray[np.float32] | None = None
    unseen: npt.NDArray[np.bool_] | None = None
    levels: tuple[int, ...] | None = None
    level_log_likelihood: npt.NDArray[np.float32] | None = None
    mismatched: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Check shapes once, here."""
        expected = (len(self.cells), len(self.states))
        if self.log_likelihood.shape != expected:
            raise ValueError(f"log_likelihood: expected {expected}, got {self.log_likelihood.shape}")
        if self.outlier_share.shape != expected[:1]:
            raise ValueError(f"outlier_share: expected {expected[:1]}, got {self.outlier_share.shape}")
        if self.changed is not None and self.changed.shape != expected[:1]:
            raise ValueError(f"changed: expected {expected[:1]}, got {self.changed.shape}")
        if self.unseen is not None and self.unseen.shape != expected[:1]:
            raise ValueError(f"unseen: expected {expected[:1]}, got {self.unseen.shape}")

    @cached_property
    def index(self) -> dict[CellState, int]:
        """Column of each state in ``log_likelihood``."""
        return {state: i for i, state in enumerate(self.states)}

    @property
    def mismatch(self) -> str:
        """What is wrong where a good part of the board looks otherwise than it should, and what to do; or ""."""
        if not self.mismatched:
            return ""
        where = ", ".join(self.cells[cell] for cell in self.mismatched)
        return (
            f"the board looks otherwise than the kit says on {where}: "
            "learn its look again (--empty), or correct the kit"
        )

    def best(self, cell: int) -> tuple[CellState, float]:
        """The likeliest state of cell number ``cell`` and its probability (0…1)."""
        row = self.log_likelihood[cell]
        i = int(row.argmax())
        return self.states[i], float(np.exp(row[i]))
