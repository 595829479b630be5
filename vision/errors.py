"""Errors of vision.  One line each, saying what is wrong with the picture and what to do."""

from __future__ import annotations

from collections.abc import Callable


class VisionError(Exception):
    """A picture that cannot be read."""


class MatNotFound(VisionError):
    """The mat's markers are not in view, or too few or contradictory."""

    def __init__(self, why: str | Callable[[], str]) -> None:
        """``why``: a function, called by str(), where finding the reason takes longer than looking for the mat."""
        super().__init__(why)
        self._why = why

    def __str__(self) -> str:
        return self._why if isinstance(self._why, str) else self._why()
