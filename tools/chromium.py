"""Starts Debian's headless Chromium for tests and for tools that make pictures.

It is the headless shell: the full browser spends two fifths of its time on menus and tabs that nobody sees.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

CHROMIUM = Path("/usr/bin/chromium-headless-shell")

QUIET = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WITHOUT_WEBGL = ("--disable-gpu", "--disable-3d-apis")
SWIFTSHADER = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")
"""Switches for WebGL by software, without a graphics card."""


def launched(playwright: Playwright, *arguments: str, draws_in_space: bool = False) -> Browser:
    """A new browser, with further command line switches; ``draws_in_space``: with software WebGL."""
    drawing = SWIFTSHADER if draws_in_space else WITHOUT_WEBGL
    return playwright.chromium.launch(executable_path=CHROMIUM, args=[*QUIET, *drawing, *arguments])
