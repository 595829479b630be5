"""From the text of a stored event to the event."""

from __future__ import annotations

from companion.errors import BadText
from companion.events import Event, from_json
from companion.recorder.plain import json_object, mistyped


def event_of(text: str) -> Event:
    """The event of its :func:`companion.recorder.chain.event_text`.

    Raises:
        BadText: the text is no event, or a field has a value of the wrong type.
    """
    row = json_object(text)
    if not isinstance(row.get("event"), str):
        raise BadText("not a JSON object that names its event")
    event = from_json(row)
    if name := mistyped(event):
        raise BadText(f"event {event.event!r} cannot have {name} {ascii(getattr(event, name))[:40]}")
    return event
