"""Errors about the numbers of the physical world: kits, cameras, sets.  One line each, naming file and field."""

from __future__ import annotations


class ProfileError(Exception):
    """A kit, camera or set file that cannot be used, or a calibration that cannot be made."""
