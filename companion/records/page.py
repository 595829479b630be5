"""A match as one HTML file to leaf through: nothing is fetched from anywhere, so that it can be sent and kept."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from html import escape
from pathlib import Path

import cv2

from companion.records.plates import Plate
from companion.records.shots import decode
from companion.scene.svg import svg_text

TEMPLATE = Path(__file__).with_name("page.html")
STILL_QUALITY = 70
"""JPEG quality of the pictures in the file, at half their size: some 25 kB each."""


def page(title: str, subtitle: str, shown: list[Plate], stills: Mapping[int, bytes]) -> str:
    """The file's text; ``stills`` are JPEG pictures by number of the event."""
    rows = [
        {
            "title": plate.title,
            "caption": plate.caption,
            "svg": svg_text(plate.diagram),
            "still": data_uri(stills[plate.event.n]) if plate.event.n in stills else None,
            "wrong": bool(plate.wrong),
        }
        for plate in shown
    ]
    # Inside a script element only "</" could end it; in JSON a slash may be escaped.
    plates = json.dumps(rows, ensure_ascii=False).replace("</", "<\\/").replace("<!--", "<\\u0021--")
    text = TEMPLATE.read_text(encoding="utf-8")
    for name, value in (("title", escape(title)), ("subtitle", escape(subtitle)), ("plates", plates)):
        text = text.replace("{{" + name + "}}", value)
    return text


def data_uri(jpeg: bytes) -> str | None:
    """A picture, made smaller, as a ``data:`` address; None where the bytes are no picture."""
    picture = decode(jpeg, 2)
    if picture is None:
        return None
    _, small = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, STILL_QUALITY])
    return "data:image/jpeg;base64," + base64.b64encode(small.tobytes()).decode()
