"""What phones' pages have in common: their QR codes, and what people are told of refused messages."""

from __future__ import annotations

import io
from collections.abc import Callable

import segno
from starlette.responses import Response

TOLD = (1, 10, 100, 1000)
"""After so many messages that were turned away the table's owner is told."""


def code_picture(address: str) -> Response:
    """The QR code of an address as SVG, which is not to be kept."""
    picture = io.BytesIO()
    segno.make(address, error="m").save(picture, "svg", border=4, xmldecl=False, dark="#231f18", light="#ffffff")
    return Response(picture.getvalue(), media_type="image/svg+xml", headers={"cache-control": "no-store"})


def tell_refused(say: Callable[[str], None], whose: str, count: int) -> None:
    """Say how many messages were refused so far, now and then."""
    if count in TOLD:
        say(f"{whose}: messages refused so far: {count}")
