"""Make the pictures of a phone in docs/phone.md: ``python -m tools.phone_pictures``.

A real browser of a phone's size, whose fake camera plays the example recording, opens the real program: first over TLS,
where the browser shows its warning, then as camera and panel, in English and light mode, in German and dark mode.
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Error, Page, Playwright, sync_playwright

from companion.simulate.photographer import HOLDS, board_held
from companion.simulate.viewpoint import default_camera
from tools.board_pictures import LAPTOP
from tools.page_pictures import side_by_side
from tools.phone_table import (
    PHONE_SIZE_PX,
    WAIT_S,
    Profile,
    browser_with_camera,
    noisy_copies,
    opened_on_phone,
    pictures_of,
    running_referee,
    write_film,
)

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "pictures"
EXAMPLE = ROOT / "examples" / "domination-1"
QUALITY = 78
FILM = "film.y4m"
FPS = 2
"""A sixth of the recording's frame rate, so that each state of the match lasts for a while."""

ACCEPTED, ILLEGAL = "accepted", "illegal"
SETTLED_MS = 700
HELD_FRAMES = 4
"""Number of frames for which the calibration board is held still."""


def screenshot(page: Page) -> Image.Image:
    """A screenshot of the page, once it has settled."""
    page.wait_for_timeout(SETTLED_MS)
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


@contextmanager
def set_up(folder: Path, web: str) -> Iterator[tuple[str, str]]:
    """Run the set-up at ``web`` with a phone as camera: the address of its page, and that in the phone's QR code."""
    command = [sys.executable, "-m", "companion.cli", "setup", "domination", "--phone", "--web", web]
    with subprocess.Popen([*command, "-o", str(folder)], stderr=subprocess.PIPE, text=True) as program:  # noqa: S603
        assert program.stderr is not None
        messages = ""
        while (found := re.search(r"phone 1: (http\S+)", messages)) is None:
            messages += program.stderr.readline()
        try:
            yield re.findall(r"http\S+", messages)[0], found[1]
        finally:
            program.terminate()


def first_visit(browser: Browser, folder: Path) -> list[Image.Image]:
    """Screenshots: the browser's certificate warning, its details, and the page before the camera is started."""
    write_film(folder / FILM, pictures_of(EXAMPLE)[:1], FPS)
    with set_up(folder, "0.0.0.0:0") as (_, address):
        page = new_phone(browser)
        with suppress(Error):  # behind the warning, the page has not been loaded
            page.goto(address)
        screenshots = [screenshot(page)]
        page.locator("#details-button").click()
        screenshots.append(screenshot(page))
        page.locator("#proceed-link").click()
        page.locator("#start").wait_for()
        screenshots.append(screenshot(page))
        page.context.close()
    return screenshots


def new_phone(browser: Browser) -> Page:
    """A page on a new simulated phone."""
    size = {"width": PHONE_SIZE_PX[0], "height": PHONE_SIZE_PX[1]}
    page = browser.new_context(viewport=size, locale="en-GB", is_mobile=True, device_scale_factor=1).new_page()  # type: ignore[arg-type]
    page.set_default_timeout(1000 * WAIT_S)
    return page


def match_pages(browser: Browser, folder: Path, code: str) -> list[Image.Image]:
    """Screenshots: the camera's page after a legal and an illegal move and in landscape; a phone as panel only."""
    write_film(folder / FILM, pictures_of(EXAMPLE), FPS)
    profile = Profile(EXAMPLE, EXAMPLE / "camera.toml", EXAMPLE / "set.toml")
    with running_referee(profile, folder, "--language", code) as table:
        page = opened_on_phone(browser, table.addresses[0])
        page.emulate_media(color_scheme="dark" if code == "de" else "light")
        table.until(lambda: any(event["event"] == ACCEPTED for event in table.events))
        screenshots = [screenshot(page)]
        table.until(lambda: any(event["event"] == ILLEGAL for event in table.events))
        screenshots.append(screenshot(page))
        page.set_viewport_size({"width": PHONE_SIZE_PX[1], "height": PHONE_SIZE_PX[0]})
        screenshots.append(screenshot(page))
        panel_page = new_phone(browser)
        panel_page.goto(table.panel)
        panel_page.locator("#start").click()
        screenshots.append(screenshot(panel_page))
        page.context.close()
        panel_page.context.close()
    return screenshots


def lens_calibration(browser: Browser, folder: Path) -> list[Image.Image]:
    """Screenshots of the set-up's page and the phone's while views of the calibration board are captured."""
    camera = default_camera()
    pictures = [
        picture for hold in range(len(HOLDS)) for picture in noisy_copies(board_held(camera, hold), HELD_FRAMES)
    ]
    write_film(folder / FILM, pictures, FPS)
    with set_up(folder, "127.0.0.1:0") as (address, phone_address):
        page = browser.new_page(viewport={"width": LAPTOP[0], "height": LAPTOP[1]}, locale="en-GB")
        page.set_default_timeout(1000 * WAIT_S)
        page.goto(address)
        page.get_by_role("button", name="Lens").click()
        phone_page = opened_on_phone(browser, phone_address)
        page.locator("#collect").click()
        phone_page.get_by_text("4 good views").wait_for()
        screenshots = [screenshot(page), screenshot(phone_page)]
        page.close()
        phone_page.context.close()
    return screenshots


PICTURE_SETS: Mapping[str, Callable[[Browser, Path], list[Image.Image]]] = {
    "phone-first-visit": first_visit,
    "phone-match": partial(match_pages, code="en"),
    "phone-match-dark": partial(match_pages, code="de"),
    "setup-views": lens_calibration,
}


def make(playwright: Playwright, folder: Path, names: Sequence[str]) -> None:
    """Save the named pictures."""
    write_film(folder / FILM, pictures_of(EXAMPLE)[:1], FPS)
    browser = browser_with_camera(playwright, folder / FILM)
    for name in names:
        side_by_side(PICTURE_SETS[name](browser, folder)).save(PICTURES / f"{name}.jpg", quality=QUALITY)
        print(name, flush=True)
    browser.close()


def main() -> None:
    """Make the pictures that the command line names, by default all."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("pictures", nargs="*", help=f"any of {', '.join(PICTURE_SETS)} (default: all)")
    names = parser.parse_args().pictures or list(PICTURE_SETS)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        make(playwright, Path(folder), names)


if __name__ == "__main__":
    main()
