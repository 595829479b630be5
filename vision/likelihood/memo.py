"""A memo of computed values (memoization): a search that returns to a placement does not evaluate it again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vision.compiled import allocation_free, compiled

Floats = npt.NDArray[np.float64]

SLOTS = 1024
"""Capacity of a memo, a power of two, of which at most half is used.  What finds no room is computed again."""


class Memo(NamedTuple):
    """A hash table with linear probing.

    Attributes:
        keys: (slots / 2, k) in order of insertion: contiguous, so that few pages of memory are touched.
        rows: (slots,) row of each slot's key in ``keys``.
        values: (slots + 1,) value in each slot; the last slot takes what there is no room for.
        is_used: (slots + 1,) bool; never true of the last slot.
        many: (1,) number of used slots.
    """

    keys: Floats
    rows: npt.NDArray[np.int32]
    values: Floats
    is_used: npt.NDArray[np.bool_]
    many: npt.NDArray[np.int32]


@compiled
def make_memo(size: int) -> Memo:
    """An empty memo whose keys are ``size`` numbers each."""
    keys, rows, many = np.empty((SLOTS // 2, size)), np.empty(SLOTS, np.int32), np.zeros(1, np.int32)
    return Memo(keys, rows, np.empty(SLOTS + 1), np.zeros(SLOTS + 1, np.bool_), many)


@allocation_free
def find(memo: Memo, key: npt.NDArray[np.floating]) -> int:
    """The slot of a key of any shape; an unused one if the memo does not hold it."""
    mixed = 0
    for number in key.flat:
        mixed = (mixed * 31 + int(number)) % SLOTS
    while memo.is_used[mixed]:
        is_same = True
        for at, number in enumerate(key.flat):
            is_same &= memo.keys[memo.rows[mixed], at] == number
        if is_same:
            return mixed
        mixed = (mixed + 1) % SLOTS
    return mixed if memo.many[0] < SLOTS // 2 else SLOTS


@allocation_free
def put(memo: Memo, slot: int, key: npt.NDArray[np.floating], value: float) -> None:
    """Store the value of a key in the slot that :func:`find` returned for it."""
    memo.values[slot] = value
    if slot < SLOTS:
        row = memo.many[0]
        for at, number in enumerate(key.flat):
            memo.keys[row, at] = number
        memo.rows[slot], memo.is_used[slot], memo.many[0] = row, True, row + 1
