"""The address at which other devices reach the pages of this machine."""

from __future__ import annotations

from starlette.requests import Request

from companion.web.address import is_loopback_address
from companion.web.tls import own_address


def reachable_base_url(request: Request) -> str:
    """The base URL at which phones reach the page; a request from this machine itself may call it localhost."""
    name, there = request.url.hostname or "", own_address()
    if not there or not (name == "localhost" or is_loopback_address(name)):
        return str(request.base_url)
    return str(request.base_url.replace(hostname=there[0]))
