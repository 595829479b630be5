"""From a stored event's text to the event."""

from __future__ import annotations

from companion.events import Event, from_json
from companion.schema import json_object


def event_of(text: str) -> Event:
    """The event in its :func:`companion.recorder.chain.event_text`.  Raises BadText: the text is none."""
    return from_json(json_object(text))
