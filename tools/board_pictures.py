"""Make the pictures of boards in docs/pictures: ``python -m tools.board_pictures``.

A real browser, with WebGL in software, looks at the real page, which is told scripted matches of every game.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from companion.games import available_games
from companion.hall import topics
from companion.hall.hub import Hub
from companion.hall.page import HallPage
from companion.hall.rounds import Pairing, Round
from companion.hall.tournament import Tournament
from companion.recorder.store import MatchInfo, Store
from companion.records.page import page as match_page
from companion.records.record import MatchRecord
from companion.web.feed import Bell
from tools.chromium import launched
from tools.told import Told

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
LAPTOP, PHONE, SCREEN = (1280, 900), (390, 844), (1920, 1080)
QUALITY, SETTLED_MS, TIMEOUT_MS = 72, 1500, 180_000
PLIES, MOVING_PLIES = 14, 3
GIF_WIDTH, GIF_MS, GIF_COLOURS = 820, 1800, 96
TILE = (520, 400)

HALF_DONE = {"domination": 3, "cheight": 24, "draughts": 3}
"""Games that have turns of several steps, and the seed of a match that comes to one."""

TABLES = {"table-1": "domination", "table-2": "cheight", "table-3": "ziggurat", "table-4": "citadel"}
PEOPLE = (("Ada", "Bo"), ("Cy", "Di"), ("Eve", "Fay"), ("Gil", "Hana"))


def opened(
    browser: Browser, told: Told, size: tuple[int, int] = LAPTOP, *, dark: bool = False, code: str = "en"
) -> Page:
    """The page of a match in a browser."""
    scheme = "dark" if dark else "light"
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, locale=code)
    page.set_default_timeout(TIMEOUT_MS)
    page.goto(
        f"{told.page.server.url}#token={told.page.token}"
        if told.feed.standing.snapshot.mode == "asking"
        else told.page.server.url
    )  # type: ignore[union-attr]
    page.locator("#board canvas[data-bodies]").wait_for()
    if page.locator("#camera[open]").count():
        page.locator("#camera summary").click()
    page.mouse.move(1, 1)
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(SETTLED_MS)
    return page


def keep(page: Page, name: str) -> None:
    """Write what the page shows."""
    page.wait_for_timeout(SETTLED_MS)
    page.screenshot(path=str(PICTURES / f"{name}.jpg"), type="jpeg", quality=QUALITY)


def states(browser: Browser, name: str) -> Image.Image:
    """Pictures of a game's page in every state but a turn half done; the board alone is returned."""
    told = Told(name)
    for _ in range(PLIES):
        told.play()
    page = opened(browser, told)
    keep(page, f"board-{name}")
    board = Image.open(io.BytesIO(page.locator("#board").screenshot())).convert("RGB")
    for state, do in (("illegal", told.offend), ("set-up", told.set_up)):
        do()
        keep(page, f"board-{name}-{state}")
        told.restore()
    page.close()
    for state, do in (("question", told.ask), ("over", told.end)):
        do()
        page = opened(browser, told)
        keep(page, f"board-{name}-{state}")
        page.close()
        told.play()
    told.page.close()
    return board


def unfinished(browser: Browser, name: str, seed: int) -> None:
    """A picture of a turn half done."""
    told = Told(name, seed)
    told.leave_unfinished()
    page = opened(browser, told)
    keep(page, f"board-{name}-unfinished")
    page.close()
    told.page.close()


def special(browser: Browser, name: str, do: Callable[[Told], None], game: str = "domination", **look: object) -> None:
    """A picture of one state of ``game``."""
    told = Told(game)
    for _ in range(PLIES):
        told.play()
    do(told)
    page = opened(browser, told, **look)  # type: ignore[arg-type]
    keep(page, name)
    page.close()
    told.page.close()


def moving(browser: Browser) -> None:
    """A match on the page as a moving picture: moves, an illegal one, its way back."""
    told = Told("domination", seed=5)
    page = opened(browser, told)
    frames = []
    acts = [*(told.play,) * MOVING_PLIES, told.offend, told.restore, told.play]
    for act in [lambda: None, *acts]:
        act()
        page.wait_for_timeout(SETTLED_MS)
        frames.append(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
    height = round(GIF_WIDTH * LAPTOP[1] / LAPTOP[0] * 0.9)
    small = [
        frame.crop((0, 0, LAPTOP[0], round(0.9 * LAPTOP[1]))).resize((GIF_WIDTH, height), Image.Resampling.LANCZOS)
        for frame in frames
    ]
    quantized = [frame.quantize(GIF_COLOURS, dither=Image.Dither.NONE) for frame in small]
    times = [GIF_MS if i != MOVING_PLIES + 1 else 3 * GIF_MS for i in range(len(quantized))]
    file = PICTURES / "match.gif"
    quantized[0].save(file, "GIF", save_all=True, append_images=quantized[1:], duration=times, loop=0)
    page.close()
    told.page.close()


def together(boards: list[Image.Image]) -> None:
    """All games in one picture."""
    columns = 3
    rows = -(-len(boards) // columns)
    sheet = Image.new("RGB", (columns * TILE[0], rows * TILE[1]), "#f5f1e7")
    for i, board in enumerate(boards):
        board.thumbnail(TILE)
        row, column = divmod(i, columns)
        place = (column * TILE[0] + (TILE[0] - board.width) // 2, row * TILE[1] + (TILE[1] - board.height) // 2)
        sheet.paste(board, place)
    sheet.save(PICTURES / "games.jpg", quality=QUALITY)


@contextmanager
def played_hall() -> Iterator[HallPage]:
    """A hall of four tables: one has ended, at one there is an illegal move."""
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "hall.db") as store:
        hub = Hub(store, lambda *_: None, Bell())
        pairings = tuple(Pairing(table, names) for table, names in zip(TABLES, PEOPLE, strict=True))
        tournament = Tournament(Path(folder) / "rounds.txt")
        tournament.arrange(0, Round("Round 1", pairings))
        page = HallPage(("127.0.0.1", 0), hub, tournament)
        for pairing, name, last in zip(
            pairings, TABLES.values(), (Told.offend, Told.play, Told.play, Told.end), strict=True
        ):
            told = Told(name)
            for _ in range(PLIES):
                told.play()
            last(told)
            begun = datetime(2026, 11, 23, 19, 0, tzinfo=UTC)
            info = MatchInfo(told.game.tag, told.game.players, told.start, begun, told.game.tag, pairing.names)
            hub.take(topics.topic(pairing.table, topics.ONLINE), topics.online_message(info), 0.0)
            for event in told.feed.standing.events:
                hub.take(
                    topics.topic(pairing.table, topics.EVENT), topics.event_message(topics.key_of(info), event), 0.0
                )
            told.page.close()
        yield page
        page.close()


def replayed(browser: Browser) -> None:
    """A picture of a kept match that is replayed, at an illegal move."""
    told = Told("domination")
    for act in (*(told.play,) * PLIES, told.offend, told.restore, told.play):
        act()
    told.page.close()
    begun = datetime(2026, 11, 23, 19, 0, tzinfo=UTC)
    info = MatchInfo(told.game.tag, told.game.players, told.start, begun, told.game.tag, PEOPLE[0])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "match.html"
        file.write_text(match_page("", MatchRecord(info, told.feed.standing.events), {}), encoding="utf-8")
        page = browser.new_page(viewport={"width": LAPTOP[0], "height": LAPTOP[1]}, locale="en")
        page.set_default_timeout(TIMEOUT_MS)
        page.goto(file.as_uri())
        page.locator("#moves button", has_text="Not allowed").click()
        page.locator("#board canvas[data-bodies]").wait_for()
        keep(page, "replay")
        page.close()


def hall(browser: Browser) -> None:
    """Pictures of a hall, and of the form of its rounds."""
    with played_hall() as served:
        page = browser.new_page(viewport={"width": SCREEN[0], "height": SCREEN[1]}, locale="en")
        page.goto(f"{served.server.url}#token={served.token}")
        page.locator(".tables .square").first.wait_for()
        keep(page, "hall")
        page.set_viewport_size({"width": LAPTOP[0], "height": LAPTOP[1]})
        page.locator("#arrange").click()
        page.locator("#round").select_option(index=0)
        keep(page, "hall-rounds")
        page.close()


def main() -> None:
    """Make all pictures."""
    with sync_playwright() as playwright:
        browser = launched(playwright, draws_in_space=True)
        moving(browser)
        together([states(browser, info.name) for info in available_games()])
        for name, seed in HALF_DONE.items():
            unfinished(browser, name, seed)
        special(browser, "board-dark", Told.offend, dark=True, code="de")
        special(browser, "board-phone", Told.offend, size=PHONE)
        special(browser, "board-draughts-10", Told.offend, game="draughts:international")
        hall(browser)
        replayed(browser)
        browser.close()


if __name__ == "__main__":
    main()
