"""Make the pictures of a phone in docs/phone.md: ``python -m tools.phone_pictures``.

A real browser of a phone's size, whose camera plays the example recording, visits the real program: first over TLS,
where it warns, then as camera and panel, in English by day and in German by night.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Error, Page, Playwright, sync_playwright

from tools.page_pictures import side_by_side
from tools.phone_table import UPRIGHT, WAIT_S, Profile, filming, pictures_of, refereed, taken_in_hand, write_film

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "pictures"
EXAMPLE = ROOT / "examples" / "domination-1"
QUALITY = 78
FPS = 2
"""A sixth of its pace, so that each state of the match stands for a while."""

ACCEPTED, ILLEGAL = "accepted", "illegal"
SETTLED_MS = 700


def taken(page: Page) -> Image.Image:
    """What the phone shows."""
    page.wait_for_timeout(SETTLED_MS)
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def first_visit(browser: Browser, folder: Path) -> list[Image.Image]:
    """The browser's warning, what is behind its button, and the page before it is touched."""
    command = [sys.executable, "-m", "companion.cli", "setup", "domination", "--phone", "--web", "0.0.0.0:0", "-o", "."]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=folder) as program:  # noqa: S603
        assert program.stderr is not None
        found = None
        while found is None:
            found = re.search(r"phone 1: (https://\S+)", program.stderr.readline())
        page = phone(browser)
        with suppress(Error):  # A page that is warned of has not been loaded.
            page.goto(found[1])
        shown = [taken(page)]
        page.locator("#details-button").click()
        shown.append(taken(page))
        page.locator("#proceed-link").scroll_into_view_if_needed()
        page.locator("#proceed-link").click()
        page.locator("#start").wait_for()
        shown.append(taken(page))
        page.context.close()
        program.terminate()
    return shown


def phone(browser: Browser) -> Page:
    """A phone of its own."""
    size = {"width": UPRIGHT[0], "height": UPRIGHT[1]}
    page = browser.new_context(viewport=size, locale="en-GB", is_mobile=True, device_scale_factor=1).new_page()  # type: ignore[arg-type]
    page.set_default_timeout(1000 * WAIT_S)
    return page


def match(browser: Browser, profile: Profile, folder: Path, code: str) -> list[Image.Image]:
    """The camera's page after a move, at an illegal one, and there on its side; a phone that is only a panel."""
    with refereed(profile, folder, "--language", code) as table:
        page = taken_in_hand(browser, table.addresses[0])
        page.emulate_media(color_scheme="dark" if code == "de" else "light")
        table.until(lambda: any(event["event"] == ACCEPTED for event in table.events))
        shown = [taken(page)]
        table.until(lambda: any(event["event"] == ILLEGAL for event in table.events))
        shown.append(taken(page))
        page.set_viewport_size({"width": UPRIGHT[1], "height": UPRIGHT[0]})
        shown.append(taken(page))
        other = phone(browser)
        other.goto(table.panel)
        other.locator("#start").click()
        shown.append(taken(other))
        page.context.close()
        other.context.close()
    return shown


def keep(images: list[Image.Image], name: str) -> None:
    """Write some pictures as one."""
    side_by_side(images).save(PICTURES / f"{name}.jpg", quality=QUALITY)


def make(playwright: Playwright, folder: Path) -> None:
    """Make all pictures."""
    film = folder / "film.y4m"
    write_film(film, pictures_of(EXAMPLE), FPS)
    browser = filming(playwright, film)
    keep(first_visit(browser, folder), "phone-first-visit")
    profile = Profile(EXAMPLE, EXAMPLE / "camera.toml", EXAMPLE / "set.toml")
    for code, name in (("en", "phone-match"), ("de", "phone-match-dark")):
        keep(match(browser, profile, folder, code), name)
    browser.close()


def main() -> None:
    """Make all pictures in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        make(playwright, Path(folder))


if __name__ == "__main__":
    main()
