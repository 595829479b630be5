"""Shared by the phone pages: QR codes, and reports of refused messages."""

from __future__ import annotations

import io
from collections.abc import Callable

import segno
from starlette.responses import Response

REPORTED_COUNTS = (1, 10, 100, 1000)
"""Numbers of refused messages at which the table's owner is told."""


def qr_code_response(address: str) -> Response:
    """The QR code of an address as an SVG response that must not be cached."""
    picture = io.BytesIO()
    segno.make(address, error="m").save(picture, "svg", border=4, xmldecl=False, dark="#231f18", light="#ffffff")
    return Response(picture.getvalue(), media_type="image/svg+xml", headers={"cache-control": "no-store"})


def report_refused(say: Callable[[str], None], whose: str, count: int) -> None:
    """Report the number of messages refused so far, if it is one of :data:`REPORTED_COUNTS`."""
    if count in REPORTED_COUNTS:
        say(f"{whose}: messages refused so far: {count}")
