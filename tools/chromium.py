"""Debian's Chromium without a window, as the tests and the tools that make pictures start it.

The shell that never had one: the whole program prepares menus and tabs that nobody sees, for two fifths of its time.
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
"""WebGL without a graphics card."""


def launched(playwright: Playwright, *arguments: str, draws_in_space: bool = False) -> Browser:
    """A browser; ``draws_in_space``: with WebGL, in software.  ``arguments`` are passed on unchanged."""
    drawing = SWIFTSHADER if draws_in_space else WITHOUT_WEBGL
    return playwright.chromium.launch(executable_path=CHROMIUM, args=[*QUIET, *drawing, *arguments])
