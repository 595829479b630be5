"""Where others find the pages of this machine."""

from __future__ import annotations

from starlette.requests import Request

from companion.web.connections import is_own
from companion.web.tls import own_address


def base_of(request: Request) -> str:
    """Where phones find the page that a request was sent to: who asks at this very machine may call it localhost."""
    name, there = request.url.hostname or "", own_address()
    if not there or not (name == "localhost" or is_own(name)):
        return str(request.base_url)
    return str(request.base_url.replace(hostname=there[0]))
