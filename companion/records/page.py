"""A match as one HTML file: a page that replays it and contains its modules and the match.

Nothing is fetched from elsewhere, so that the file can be sent and archived.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Mapping
from html import escape

import cv2

from companion.records.record import MatchRecord
from companion.records.shots import decode
from companion.scene.display_kit import find_kit
from companion.web.answers import STATIC
from companion.web.replaying import KeptMatch, replay_text

SHELL = "replay.html"
MODULES = (
    "board.js",
    "parts.js",
    "replay.js",
    "signs.js",
    "solids.js",
    "space.js",
    "three.core.min.js",
    "three.module.min.js",
    "token.js",
    "words.js",
)
"""Every module that the page may need, including those for 3D."""

POLICY = "default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; img-src data:"
"""Content-Security-Policy: only what is in the file, and nothing from elsewhere."""

STILL_QUALITY = 70
"""JPEG quality of the pictures in the file, at half their size: some 25 kB each."""


def page(title: str, record: MatchRecord, stills: Mapping[int, bytes]) -> str:
    """The file's text; ``stills`` are JPEG pictures by event number.

    Raises InvalidRecord if the rules contradict the record.
    """
    list(record.stages())
    pictures = {n: address for n, jpeg in stills.items() if (address := _data_uri(jpeg)) is not None}
    info = record.info
    match = KeptMatch(record.events, info.names, info.started_at.isoformat(), find_kit(info.game, info.kit), pictures)
    parts = {
        '<link rel="icon" href="/static/icon.svg" type="image/svg+xml">': _meta(),
        '<link rel="stylesheet" href="/static/style.css">': f"<style>{_file('style.css')}</style>",
        '<script src="/static/unpack.js"></script>\n': "",
        '<script type="module" src="/static/replay.js"></script>\n': "",
        "<title>A kept match</title>": f"<title>{escape(title)}</title>",
        "</body>": _inside(match) + "</body>",
    }
    text = _file(SHELL)
    for place, part in parts.items():
        assert place in text
        text = text.replace(place, part)
    return _own_signs(text)


def _meta() -> str:
    return f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">'


def _inside(match: KeptMatch) -> str:
    """The icons, the match, the modules, and the scripts that unpack and start them."""
    # From a blob, which has no base URL, a module can be imported by its bare name only.
    modules = {
        name: _packed(_own_signs(_file(name)).replace('"/static/', '"static/').replace('"./', '"static/'))
        for name in MODULES
    }
    signs = re.sub(r"<symbol id=\"", '<symbol id="sign-', _file("icon.svg"))
    return "\n".join(
        (
            f"<div hidden>{signs}</div>",
            f'<script type="application/octet-stream" id="match">{_packed(replay_text(match))}</script>',
            f'<script type="application/json" id="modules">{json.dumps(modules)}</script>',
            f"<script>{_file('unpack.js')}</script>",
            f"<script>{_file('load.js')}</script>",
            "",
        )
    )


def _own_signs(text: str) -> str:
    """``text`` with references to icons replaced by those inside the file."""
    return text.replace("/static/icon.svg#", "#sign-")


def _file(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")


def _packed(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _data_uri(jpeg: bytes) -> str | None:
    """A picture, reduced in size, as a ``data:`` URL; None if the bytes are not a picture."""
    picture = decode(jpeg, 2)
    if picture is None:
        return None
    _, small = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, STILL_QUALITY])
    return "data:image/jpeg;base64," + base64.b64encode(small.tobytes()).decode()
