"""Make the pictures of pages in docs/pictures, each in three views: ``python -m tools.page_pictures``.

A real browser opens the real pages: 1280 x 900 in light mode and English, 390 x 844 in dark mode and German, 1920 x
1080 in dark mode and English.  Arguments restrict the run to the named pages.
"""

from __future__ import annotations

import argparse
import io
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from companion.hall.hub import Hub
from companion.hall.page import HallPage
from companion.hall.tournament import Tournament
from companion.recorder.store import Store
from companion.web.feed import ChangeSignal
from tools.board_pictures import (
    LAPTOP,
    PHONE,
    PICTURES,
    PLIES,
    QUALITY,
    SCREEN,
    TIMEOUT_MS,
    played_hall,
    replay_with_illegal_move,
)
from tools.chromium import launched
from tools.scripted_match import ScriptedMatch
from tools.web_pictures import started

HEIGHT, GAP, PAPER = 640, 16, "#8a8377"
"""Height of each view and the gap between two, in px, and the background colour."""

SETTLED_MS = 2000


@dataclass(frozen=True, slots=True)
class View:
    """Window size in px, colour scheme and language in which a page is shown."""

    size: tuple[int, int]
    scheme: str
    code: str


VIEWS = (View(LAPTOP, "light", "en"), View(PHONE, "dark", "de"), View(SCREEN, "dark", "en"))


@dataclass(frozen=True, slots=True)
class Subject:
    """A page: its address, and the actions to perform before the screenshot."""

    address: str
    prepare: Callable[[Page], object] = lambda _page: None


def wait_for_3d_board(page: Page) -> None:
    """Wait until the board is drawn in 3D, and fold the camera's panel."""
    page.locator("#board canvas[data-bodies]").wait_for()
    if page.locator("#camera[open]").count():
        page.locator("#camera summary").click()


@contextmanager
def table(*actions: Callable[[ScriptedMatch], object]) -> Iterator[Subject]:
    """The page of a match after PLIES moves and these actions."""
    scripted = ScriptedMatch("domination")
    for action in (*(ScriptedMatch.play,) * PLIES, *actions):
        action(scripted)
    yield Subject(f"{scripted.page.server.url}#token={scripted.page.token}", wait_for_3d_board)
    scripted.page.close()


@contextmanager
def starting() -> Iterator[Subject]:
    """The form for a new match, at a table that waits for one."""

    def open_form(page: Page) -> None:
        page.locator("#new").click()
        page.locator("#game").wait_for()

    with (
        tempfile.TemporaryDirectory() as folder,
        started(
            *("referee", "domination", "--simulate", "--wait", "--web", "127.0.0.1:0", "--panel", "none"),
            *("--match", f"{folder}/matches.db"),
        ) as address,
    ):
        yield Subject(address, open_form)


@contextmanager
def replaying() -> Iterator[Subject]:
    """The page of an exported match, at an illegal move."""

    def open_illegal_move(page: Page) -> None:
        page.locator("#moves button", has_text=re.compile("Not allowed|Nicht erlaubt")).click()
        page.locator("#board canvas[data-bodies]").wait_for()

    with replay_with_illegal_move() as uri:
        yield Subject(uri, open_illegal_move)


@contextmanager
def hall() -> Iterator[Subject]:
    """A hall with a featured table and results."""
    with played_hall() as served:
        yield Subject(served.server.url, lambda page: page.locator(".tables .square").first.wait_for())


@contextmanager
def empty_hall() -> Iterator[Subject]:
    """A hall without tables."""
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "hall.db") as store:
        hub = Hub(store, lambda *_: None, ChangeSignal())
        served = HallPage(("127.0.0.1", 0), hub, Tournament(Path(folder) / "rounds.txt"))
        yield Subject(served.server.url)
        served.close()


@contextmanager
def setup() -> Iterator[Subject]:
    """The set-up page on which a phone is chosen as the camera."""

    def choose_phone(page: Page) -> None:
        page.locator(".choices button").last.click()
        page.locator("#cameras figure").wait_for()

    with (
        tempfile.TemporaryDirectory() as folder,
        started("setup", "domination", "--web", "127.0.0.1:0", "--panel", "none", "-o", folder) as address,
    ):
        yield Subject(address, choose_phone)


SUBJECTS: dict[str, Callable[[], object]] = {
    "table": table,
    "illegal": lambda: table(ScriptedMatch.play_illegal),
    "question": lambda: table(ScriptedMatch.ask_question),
    "over": lambda: table(ScriptedMatch.end_by_ruling),
    "start": starting,
    "replay": replaying,
    "hall": hall,
    "hall-empty": empty_hall,
    "setup": setup,
}


def screenshot(browser: Browser, subject: Subject, view: View) -> Image.Image:
    """A screenshot of a page in one view."""
    width, height = view.size
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=view.scheme, locale=view.code)  # type: ignore[arg-type]
    page.set_default_timeout(TIMEOUT_MS)
    page.goto(subject.address)
    subject.prepare(page)
    page.mouse.move(1, 1)
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(SETTLED_MS)
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    page.close()
    return image


def side_by_side(images: list[Image.Image]) -> Image.Image:
    """All images side by side in one, scaled to the same height."""
    small = [
        image.resize((round(image.width * HEIGHT / image.height), HEIGHT), Image.Resampling.LANCZOS) for image in images
    ]
    sheet = Image.new("RGB", (sum(image.width + GAP for image in small) - GAP, HEIGHT), PAPER)
    x = 0
    for image in small:
        sheet.paste(image, (x, 0))
        x += image.width + GAP
    return sheet


def make(playwright: Playwright, names: list[str]) -> None:
    """Save the pictures of the named pages."""
    browser = launched(playwright, draws_in_space=True)
    for name in names:
        with SUBJECTS[name]() as subject:  # type: ignore[attr-defined]
            sheet = side_by_side([screenshot(browser, subject, view) for view in VIEWS])
        sheet.save(PICTURES / f"page-{name}.jpg", quality=QUALITY)
        print(name, flush=True)
    browser.close()


def main() -> None:
    """Make the pictures that the command line names, by default all."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("pages", nargs="*", help=f"any of {', '.join(SUBJECTS)} (default: all)")
    with sync_playwright() as playwright:
        make(playwright, parser.parse_args().pages or list(SUBJECTS))


if __name__ == "__main__":
    main()
