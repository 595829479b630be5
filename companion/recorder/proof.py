"""Whether a match's hash chain is intact."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from companion.errors import StoreError
from companion.events import to_json
from companion.recorder.chain import next_hash
from companion.recorder.store import MatchId, Record, Store
from companion.schema import json_object


@dataclass(frozen=True, slots=True)
class Break:
    """Where a match's record stops being trustworthy: at event ``n`` (0: beside its events), ``why`` in one line."""

    n: int
    why: str


def find_break(store: Store, match: MatchId) -> Break | None:
    """The first event at which the chain of ``match`` breaks; None if it is intact.

    Raises:
        StoreError: no such match, or the file cannot be read.
    """
    before = store.first_hash(match)
    for n, record in enumerate(store.records(match), start=1):
        if why := _fault(store, match, record, n, before):
            return Break(record.n, why)
        before = record.hash
    for folder in store.altered_recordings(match):
        return Break(0, f"the row of its recording in {folder} was altered")
    return None


def _fault(store: Store, match: MatchId, record: Record, n: int, before: bytes) -> str:
    """What is wrong with a record that should be the ``n``-th and follow the hash ``before``; empty: nothing."""
    if record.n != n:
        return f"event {n} is missing"
    if next_hash(before, record.text, record.evidence, record.grounds) != record.hash:
        return "it, its grounds, the match's row or an event before it was altered: its hash does not follow"
    try:
        event = store.read(match, record)
    except StoreError as error:
        return str(error)
    if (to_json(event), event.event, event.n) != (json_object(record.text), record.kind, n):
        return "it does not say what its row says"
    content = store.evidence(match, n)
    if content is not None and hashlib.sha256(content).digest() != record.evidence:
        return "its evidence was altered"
    return ""
