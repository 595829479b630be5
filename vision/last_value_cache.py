"""Caches the last value of something that is expensive to make (memoization)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class LastValueCache(Generic[Value]):
    """Caches the last value as long as all of its inputs are the same objects."""

    def __init__(self) -> None:
        self._kept: tuple[tuple[object, ...], Value] | None = None

    def get(self, inputs: tuple[object, ...], make: Callable[[], Value]) -> Value:
        """The value for these ``inputs``, made anew if any of them is a different object than last time."""
        if self._kept is None or any(new is not old for new, old in zip(inputs, self._kept[0], strict=True)):
            self._kept = inputs, make()
        return self._kept[1]
