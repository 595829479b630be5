"""Network addresses of pages: what is written in options, and whether one is of this machine only."""

from __future__ import annotations

import ipaddress

from companion.errors import BadText


def parse_address(text: str) -> tuple[str, int]:
    """Host and port of ``HOST:PORT``; ``PORT`` alone means this machine only.  Raises BadText."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not (port.isascii() and port.isdigit() and int(port) < 65536):
        raise BadText(f"{text!r} is no address; write HOST:PORT, such as 127.0.0.1:8000")
    return host, int(port)


def is_loopback_address(address: str) -> bool:
    """Whether an address is a loopback address."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
