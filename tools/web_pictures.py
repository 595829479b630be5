"""Make the pictures of docs/first-evening.md: ``python -m tools.web_pictures``.

A real browser opens the real set-up with the simulated table.
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
SCENE_MS = 2500
"""Time until the simulated table shows the scene that a step asks for."""


@contextmanager
def started(*arguments: str) -> Iterator[str]:
    """Run a command of the program during the block; its value is the address with token that the command prints."""
    command = [sys.executable, "-m", "companion.cli", *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stderr is not None
        found = None
        while found is None:
            found = re.search(r"(http://\S+#token=\S+)", process.stderr.readline())
        try:
            yield found[1]
        finally:
            process.terminate()


def save_screenshot(page: Page, name: str) -> None:
    """Save a screenshot of the page as JPEG."""
    page.wait_for_timeout(1800)
    page.screenshot(path=str(PICTURES / f"{name}.jpg"), type="jpeg", quality=QUALITY)


def walk_through(page: Page, url: str) -> float:
    """Go through the set-up and save its pictures; return how many seconds it took, with the waiting for pictures."""
    begun_s = time.monotonic()
    success = page.locator('#verdict[data-kind="accepted"]')
    page.goto(url)
    success.wait_for()
    save_screenshot(page, "setup-camera")
    for step in ("mat", "empty", "start"):
        page.locator("#next").click()
        if step != "mat":
            page.wait_for_timeout(SCENE_MS)
            page.locator(f"#learn-{step}").click()
        success.wait_for()
        save_screenshot(page, f"setup-{step}")
    page.locator("#next").click()
    page.locator("#actions button").first.click()
    page.locator("#next").click()
    page.locator("#finish").click()
    success.wait_for()
    return time.monotonic() - begun_s


def calibrate_exactly(page: Page) -> None:
    """Save the pictures of the more exact steps: lens calibration, and enrolment of single pieces."""
    success = page.locator('#verdict[data-kind="accepted"]')
    page.get_by_role("button", name="Lens").click()
    for n in range(1, len(HOLDS) + 1):
        page.locator("#photograph").click()
        expect(page.locator("#facts")).to_contain_text(f"{n} photographs", timeout=WAIT_MS)
        if n == 4:
            save_screenshot(page, "setup-lens")
    page.locator("#measure-lens").click()
    success.wait_for()
    page.get_by_role("button", name="Single pieces").click()
    page.wait_for_timeout(SCENE_MS)
    save_screenshot(page, "setup-pieces")


def main() -> None:
    """Make all pictures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = launched(playwright)
        page = browser.new_page(viewport=LAPTOP, locale="en-GB")
        page.set_default_timeout(WAIT_MS)
        with started("setup", "domination", "--simulate", "--web", "127.0.0.1:0", "-o", folder) as url:
            print(f"set up in {walk_through(page, url):.0f} s")
            calibrate_exactly(page)
        browser.close()


if __name__ == "__main__":
    main()
