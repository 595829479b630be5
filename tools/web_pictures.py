"""Make the pictures of docs/first-evening.md: ``python -m tools.web_pictures``.

A real browser looks at the real set-up with the simulated table.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from companion.simulate.photographer import HOLDS
from tools.chromium import launched

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
LAPTOP = {"width": 1200, "height": 720}
QUALITY = 72
WAIT_MS = 240_000
SHOWN_MS = 2500
"""Until the simulated table shows what a step asks for."""


@contextmanager
def started(*words: str) -> Iterator[str]:
    """A command of the program, and the address that it prints."""
    command = [sys.executable, "-m", "companion.cli", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stderr is not None
        found = None
        while found is None:
            found = re.search(r"(http://\S+#token=\S+)", process.stderr.readline())
        try:
            yield found[1]
        finally:
            process.terminate()


def keep(page: Page, name: str) -> None:
    """Write what the page shows."""
    page.wait_for_timeout(1800)
    page.screenshot(path=str(PICTURES / f"{name}.jpg"), type="jpeg", quality=QUALITY)


def evening(page: Page, url: str) -> float:
    """Go through the set-up; returns how many seconds it took without the pictures' own waiting."""
    begun = time.monotonic()
    right = page.locator('#verdict[data-kind="accepted"]')
    page.goto(url)
    right.wait_for()
    keep(page, "setup-camera")
    for step in ("mat", "empty", "start"):
        page.locator("#next").click()
        if step != "mat":
            page.wait_for_timeout(SHOWN_MS)
            page.locator(f"#learn-{step}").click()
        right.wait_for()
        keep(page, f"setup-{step}")
    page.locator("#next").click()
    page.locator("#actions button").first.click()
    page.locator("#next").click()
    page.locator("#finish").click()
    right.wait_for()
    return time.monotonic() - begun


def more_exact(page: Page) -> None:
    """The calibration board, and single pieces."""
    right = page.locator('#verdict[data-kind="accepted"]')
    page.get_by_role("button", name="Lens").click()
    for n in range(1, len(HOLDS) + 1):
        page.locator("#photograph").click()
        expect(page.locator("#facts")).to_contain_text(f"{n} photographs", timeout=WAIT_MS)
        if n == 4:
            keep(page, "setup-lens")
    page.locator("#measure-lens").click()
    right.wait_for()
    page.get_by_role("button", name="Single pieces").click()
    page.wait_for_timeout(SHOWN_MS)
    keep(page, "setup-pieces")


def main() -> None:
    """Make all pictures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = launched(playwright)
        page = browser.new_page(viewport=LAPTOP, locale="en-GB")
        page.set_default_timeout(WAIT_MS)
        with started("setup", "domination", "--simulate", "--web", "127.0.0.1:0", "-o", folder) as url:
            print(f"set up in {evening(page, url):.0f} s")
            more_exact(page)
        browser.close()


if __name__ == "__main__":
    main()
