"""Exit codes."""

DONE, NO, CANNOT = 0, 1, 2
"""Done; the answer is no (an illegal move, a failed check); could not run."""
