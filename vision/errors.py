"""Errors of seeing.  One line each, saying what is wrong with the picture and what to do."""

from __future__ import annotations


class VisionError(Exception):
    """A picture that cannot be read."""


class MatNotFound(VisionError):
    """The mat's markers are not in view, or too few or contradictory."""
