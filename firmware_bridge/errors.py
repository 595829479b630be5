"""Errors of the wire.  Each message is one line that names the port or file and what to do."""

from __future__ import annotations


class BridgeError(Exception):
    """A port, a file or an option that cannot be used."""
