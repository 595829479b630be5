"""Pieces as hands put them down: slightly off the middle, turned, in stacks that lean."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

OFF_CENTRE_MM = 1.5
"""How far the foot of a stack may lie off the middle of its cell."""

STEP_MM = 0.7
"""How far a piece may lie off the one below it."""

LEAN_MM = 2.4
"""How far any piece of a stack may lie off its foot."""

TINT = 0.03
"""Largest relative deviation of a piece's brightness from that of its kind."""


@dataclass(frozen=True, slots=True)
class PlacedPiece:
    """One piece at its place: its letter, offset in mm from the middle of its cell, rotation, relative brightness.

    ``turn`` is −1…1 of the largest rotation from upright of pieces of its shape.
    """

    letter: str
    off_mm: tuple[float, float]
    turn: float
    tint: float


Pile = tuple[PlacedPiece, ...]
"""The pieces of one cell, bottom first."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Everything on the board: the pile of each cell in the kit's order, and the pillar or terrain levels."""

    piles: tuple[Pile, ...]
    levels: tuple[int, ...] | None = None

    @property
    def stacks(self) -> tuple[str, ...]:
        """The letters of each pile, without the placement."""
        return tuple("".join(piece.letter for piece in pile) for pile in self.piles)


def make_rng(purpose: str, seed: int) -> random.Random:
    """A random generator per purpose, so that the draws of one part do not shift those of another."""
    return random.Random(f"{purpose} {seed}")  # noqa: S311 - a game, not a secret


def set_up(stacks: Sequence[str], levels: tuple[int, ...] | None, rng: random.Random) -> Setup:
    """``stacks`` as a hand would set them up."""
    return Setup(tuple(_piled((), stack, rng) for stack in stacks), levels)


def rearranged(setup: Setup, stacks: Sequence[str], levels: tuple[int, ...] | None, rng: random.Random) -> Setup:
    """``setup`` after a hand changed it to ``stacks``; pieces that were not lifted keep their places."""
    changes = zip(setup.piles, setup.stacks, stacks, strict=True)
    return Setup(tuple(_piled(pile[: untouched(old, new)], new, rng) for pile, old, new in changes), levels)


def upright(setup: Setup) -> Setup:
    """``setup`` with every piece turned as the first player reads it."""
    return Setup(tuple(tuple(replace(piece, turn=0.0) for piece in pile) for pile in setup.piles), setup.levels)


def untouched(before: str, after: str) -> int:
    """Number of pieces that two stacks have in common, counted from the bottom."""
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))


def _piled(below: Pile, stack: str, rng: random.Random) -> Pile:
    """``below`` with the rest of ``stack`` put on it, each piece nearly straight on the one before."""
    pile = list(below)
    for letter in stack[len(below) :]:
        if pile:
            foot, last = np.array(pile[0].off_mm), np.array(pile[-1].off_mm)
            lean = last + _within(STEP_MM, rng) - foot
            x, y = foot + lean * min(1.0, LEAN_MM / float(np.hypot(*lean)))
        else:
            x, y = _within(OFF_CENTRE_MM, rng)
        turn, tint = rng.uniform(-1, 1), rng.uniform(-TINT, TINT)
        pile.append(PlacedPiece(letter, (float(x), float(y)), turn, tint))
    return tuple(pile)


def _within(radius: float, rng: random.Random) -> npt.NDArray[np.float64]:
    """A random point (2,) within a disc of this radius, in mm."""
    r, angle = radius * rng.random() ** 0.5, rng.uniform(0, 2 * np.pi)
    return np.array([r * np.cos(angle), r * np.sin(angle)])
