"""Make the pictures of a phone in docs/phone.md: ``python -m tools.phone_pictures``.

A real browser of a phone's size, whose camera plays the example recording, visits the real program: first over TLS,
where it warns, then as camera and panel, in English by day and in German by night.
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
    UPRIGHT,
    WAIT_S,
    Profile,
    alive,
    filming,
    pictures_of,
    refereed,
    taken_in_hand,
    write_film,
)

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "pictures"
EXAMPLE = ROOT / "examples" / "domination-1"
QUALITY = 78
FILM = "film.y4m"
FPS = 2
"""A sixth of its pace, so that each state of the match stands for a while."""

ACCEPTED, ILLEGAL = "accepted", "illegal"
SETTLED_MS = 700
HELD = 4
"""So many pictures the calibration board is held still."""


def taken(page: Page) -> Image.Image:
    """What the phone shows."""
    page.wait_for_timeout(SETTLED_MS)
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


@contextmanager
def set_up(folder: Path, web: str) -> Iterator[tuple[str, str]]:
    """A set-up at ``web`` with a phone as its camera: the address of its page, and that in the phone's QR code."""
    command = [sys.executable, "-m", "companion.cli", "setup", "domination", "--phone", "--web", web]
    with subprocess.Popen([*command, "-o", str(folder)], stderr=subprocess.PIPE, text=True) as program:  # noqa: S603
        assert program.stderr is not None
        said = ""
        while (found := re.search(r"phone 1: (http\S+)", said)) is None:
            said += program.stderr.readline()
        try:
            yield re.findall(r"http\S+", said)[0], found[1]
        finally:
            program.terminate()


def first_visit(browser: Browser, folder: Path) -> list[Image.Image]:
    """The browser's warning, what is behind its button, and the page before it is touched."""
    write_film(folder / FILM, pictures_of(EXAMPLE)[:1], FPS)
    with set_up(folder, "0.0.0.0:0") as (_, address):
        page = phone(browser)
        with suppress(Error):  # A page that is warned of has not been loaded.
            page.goto(address)
        shown = [taken(page)]
        page.locator("#details-button").click()
        shown.append(taken(page))
        page.locator("#proceed-link").click()
        page.locator("#start").wait_for()
        shown.append(taken(page))
        page.context.close()
    return shown


def phone(browser: Browser) -> Page:
    """A phone of its own."""
    size = {"width": UPRIGHT[0], "height": UPRIGHT[1]}
    page = browser.new_context(viewport=size, locale="en-GB", is_mobile=True, device_scale_factor=1).new_page()  # type: ignore[arg-type]
    page.set_default_timeout(1000 * WAIT_S)
    return page


def match(browser: Browser, folder: Path, code: str) -> list[Image.Image]:
    """The camera's page after a move, at an illegal one, and there on its side; a phone that is only a panel."""
    write_film(folder / FILM, pictures_of(EXAMPLE), FPS)
    profile = Profile(EXAMPLE, EXAMPLE / "camera.toml", EXAMPLE / "set.toml")
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


def lens(browser: Browser, folder: Path) -> list[Image.Image]:
    """The set-up's page and the phone's while views of the calibration board are taken by themselves."""
    camera = default_camera()
    held = [picture for hold in range(len(HOLDS)) for picture in alive(board_held(camera, hold), HELD)]
    write_film(folder / FILM, held, FPS)
    with set_up(folder, "127.0.0.1:0") as (address, code):
        page = browser.new_page(viewport={"width": LAPTOP[0], "height": LAPTOP[1]}, locale="en-GB")
        page.set_default_timeout(1000 * WAIT_S)
        page.goto(address)
        page.get_by_role("button", name="Lens").click()
        held_one = taken_in_hand(browser, code)
        page.locator("#collect").click()
        held_one.get_by_text("4 good views").wait_for()
        shown = [taken(page), taken(held_one)]
        page.close()
        held_one.context.close()
    return shown


PICTURED: Mapping[str, Callable[[Browser, Path], list[Image.Image]]] = {
    "phone-first-visit": first_visit,
    "phone-match": partial(match, code="en"),
    "phone-match-dark": partial(match, code="de"),
    "setup-views": lens,
}


def make(playwright: Playwright, folder: Path, names: Sequence[str]) -> None:
    """Make these pictures."""
    write_film(folder / FILM, pictures_of(EXAMPLE)[:1], FPS)
    browser = filming(playwright, folder / FILM)
    for name in names:
        side_by_side(PICTURED[name](browser, folder)).save(PICTURES / f"{name}.jpg", quality=QUALITY)
        print(name, flush=True)
    browser.close()


def main() -> None:
    """Make what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("pictures", nargs="*", help=f"of {', '.join(PICTURED)} (all)")
    names = parser.parse_args().pictures or list(PICTURED)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        make(playwright, Path(folder), names)


if __name__ == "__main__":
    main()
