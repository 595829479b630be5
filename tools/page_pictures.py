"""Make the pictures of pages in docs/pictures, each looked at in three ways: ``python -m tools.page_pictures``.

A real browser looks at the real pages: light and in English on 1280 x 900, dark and in German on 390 x 844, dark and in
English on 1920 x 1080.  Names of pages as arguments make only those.
"""

from __future__ import annotations

import argparse
import io
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from companion.hall.hub import Hub
from companion.hall.page import HallPage
from companion.hall.tournament import Tournament
from companion.recorder.store import MatchInfo, Store
from companion.records.page import page as match_page
from companion.records.record import MatchRecord
from companion.web.feed import Bell
from tools.board_pictures import LAPTOP, PEOPLE, PHONE, PICTURES, PLIES, QUALITY, SCREEN, TIMEOUT_MS, played_hall
from tools.chromium import launched
from tools.told import Told
from tools.web_pictures import started

HEIGHT, GAP, PAPER = 640, 16, "#8a8377"
SETTLED_MS = 2000


@dataclass(frozen=True, slots=True)
class View:
    """How a page is looked at."""

    size: tuple[int, int]
    scheme: str
    code: str


VIEWS = (View(LAPTOP, "light", "en"), View(PHONE, "dark", "de"), View(SCREEN, "dark", "en"))


@dataclass(frozen=True, slots=True)
class Subject:
    """A page: its address, and what is done there before the picture is taken."""

    address: str
    prepare: Callable[[Page], object] = lambda _page: None


def in_space(page: Page) -> None:
    """Wait for a board in three dimensions; the camera's part is folded."""
    page.locator("#board canvas[data-bodies]").wait_for()
    if page.locator("#camera[open]").count():
        page.locator("#camera summary").click()


@contextmanager
def table(*acts: Callable[[Told], object]) -> Iterator[Subject]:
    """The page of a match in which this has happened."""
    told = Told("domination")
    for act in (*(Told.play,) * PLIES, *acts):
        act(told)
    yield Subject(f"{told.page.server.url}#token={told.page.token}", in_space)
    told.page.close()


@contextmanager
def starting() -> Iterator[Subject]:
    """The form of a new match, at a table that waits for one."""

    def ask(page: Page) -> None:
        page.locator("#new").click()
        page.locator("#game").wait_for()

    with (
        tempfile.TemporaryDirectory() as folder,
        started(
            *("referee", "domination", "--simulate", "--wait", "--web", "127.0.0.1:0", "--panel", "none"),
            *("--match", f"{folder}/matches.db"),
        ) as address,
    ):
        yield Subject(address, ask)


@contextmanager
def replaying() -> Iterator[Subject]:
    """A kept match at an illegal move."""
    told = Told("domination")
    for act in (*(told.play,) * PLIES, told.offend, told.restore, told.play):
        act()
    told.page.close()
    begun = datetime(2026, 11, 23, 19, 0, tzinfo=UTC)
    info = MatchInfo(told.game.tag, told.game.players, told.start, begun, told.game.tag, PEOPLE[0])

    def go(page: Page) -> None:
        page.locator("#moves button", has_text=re.compile("Not allowed|Nicht erlaubt")).click()
        page.locator("#board canvas[data-bodies]").wait_for()

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "match.html"
        file.write_text(match_page("", MatchRecord(info, told.feed.standing.events), {}), encoding="utf-8")
        yield Subject(file.as_uri(), go)


@contextmanager
def hall() -> Iterator[Subject]:
    """A hall with a featured table and results."""
    with played_hall() as served:
        yield Subject(served.server.url, lambda page: page.locator(".tables .square").first.wait_for())


@contextmanager
def empty_hall() -> Iterator[Subject]:
    """A hall to which no table has come."""
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "hall.db") as store:
        hub = Hub(store, lambda *_: None, Bell())
        served = HallPage(("127.0.0.1", 0), hub, Tournament(Path(folder) / "rounds.txt"))
        yield Subject(served.server.url)
        served.close()


@contextmanager
def setup() -> Iterator[Subject]:
    """The set-up, where a phone is chosen as the camera."""

    def choose(page: Page) -> None:
        page.locator(".choices button").last.click()
        page.locator("#cameras figure").wait_for()

    with (
        tempfile.TemporaryDirectory() as folder,
        started("setup", "domination", "--web", "127.0.0.1:0", "--panel", "none", "-o", folder) as address,
    ):
        yield Subject(address, choose)


SUBJECTS: dict[str, Callable[[], object]] = {
    "table": table,
    "illegal": lambda: table(Told.offend),
    "question": lambda: table(Told.ask),
    "over": lambda: table(Told.end),
    "start": starting,
    "replay": replaying,
    "hall": hall,
    "hall-empty": empty_hall,
    "setup": setup,
}


def seen(browser: Browser, subject: Subject, view: View) -> Image.Image:
    """A page as it is looked at."""
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
    """All in one picture, of one height."""
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
    """Make the pictures of these pages."""
    browser = launched(playwright, draws_in_space=True)
    for name in names:
        with SUBJECTS[name]() as subject:  # type: ignore[attr-defined]
            sheet = side_by_side([seen(browser, subject, view) for view in VIEWS])
        sheet.save(PICTURES / f"page-{name}.jpg", quality=QUALITY)
        print(name, flush=True)
    browser.close()


def main() -> None:
    """Make what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("pages", nargs="*", help=f"of {', '.join(SUBJECTS)} (all)")
    with sync_playwright() as playwright:
        make(playwright, parser.parse_args().pages or list(SUBJECTS))


if __name__ == "__main__":
    main()
