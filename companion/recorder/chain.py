"""The hash chain of a match's events: each carries the SHA-256 of itself and of the one before.

Whoever alters, adds or drops an event inside a match must alter every hash after it.  The chain reveals damage and
careless edits; it does not stop somebody who recomputes all hashes, or reveal that a match's last events are cut off.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from companion.events import Event, to_json

NO_EVIDENCE = bytes(32)
"""Stands in for the digest of the evidence if an event has none."""


def event_text(event: Event) -> str:
    """The event as it is stored and hashed: one line of ASCII JSON, fields in order, no spaces."""
    return json.dumps(to_json(event), separators=(",", ":"), allow_nan=False)


def first_hash(match_row: Iterable[str]) -> bytes:
    """The hash before a match's first event, made from the match's own row, so that this cannot be altered either."""
    return hashlib.sha256(json.dumps(["match", *match_row]).encode()).digest()


def recording_hash(first: bytes, folder: str, from_s: float) -> bytes:
    """The hash of a recording's location; ``first`` is the match's :func:`first_hash`."""
    return hashlib.sha256(first + json.dumps([folder, from_s]).encode()).digest()


def next_hash(before: bytes, text: str, evidence: bytes | None, grounds: str | None = None) -> bytes:
    """The hash of an event.

    Args:
        before: hash of the event before, 32 bytes.
        text: the event's :func:`event_text`.
        evidence: SHA-256 of the evidence kept with it, 32 bytes.  Only the digest is hashed, so that old evidence
            can be dropped for space and the chain still holds.
        grounds: text of the account kept with it.
    """
    # Two parts of fixed length in front, and an event's text is one line: no two different events can run together
    # into the same bytes.
    body = text if grounds is None else f"{text}\n{grounds}"
    return hashlib.sha256(before + (evidence or NO_EVIDENCE) + body.encode()).digest()
