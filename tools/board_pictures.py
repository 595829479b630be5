"""Make the pictures of boards in docs/pictures: ``python -m tools.board_pictures``.

A real browser with software WebGL opens the real page, to which scripted matches of every game are published.
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
from companion.web.feed import ChangeSignal
from tools.chromium import launched
from tools.scripted_match import ScriptedMatch

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
LAPTOP, PHONE, SCREEN = (1280, 900), (390, 844), (1920, 1080)
QUALITY, SETTLED_MS, TIMEOUT_MS = 72, 1500, 180_000
PLIES, MOVING_PLIES = 14, 3
GIF_WIDTH, GIF_MS, GIF_COLOURS = 820, 1800, 96
TILE = (520, 400)

HALF_DONE = {"domination": 3, "cheight": 24, "draughts": 3}
"""Games whose turns have several steps, and the seed of a match in which one can be left unfinished."""

TABLES = {"table-1": "domination", "table-2": "cheight", "table-3": "ziggurat", "table-4": "citadel"}
PEOPLE = (("Ada", "Bo"), ("Cy", "Di"), ("Eve", "Fay"), ("Gil", "Hana"))


def open_page(
    browser: Browser, scripted: ScriptedMatch, size: tuple[int, int] = LAPTOP, *, dark: bool = False, code: str = "en"
) -> Page:
    """Open a match's page, with its token if a question is asked, and wait until the board is drawn in 3D."""
    scheme = "dark" if dark else "light"
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, locale=code)
    page.set_default_timeout(TIMEOUT_MS)
    page.goto(
        f"{scripted.page.server.url}#token={scripted.page.token}"
        if scripted.feed.page_state.snapshot.mode == "asking"
        else scripted.page.server.url
    )  # type: ignore[union-attr]
    page.locator("#board canvas[data-bodies]").wait_for()
    if page.locator("#camera[open]").count():
        page.locator("#camera summary").click()
    page.mouse.move(1, 1)
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(SETTLED_MS)
    return page


def save_screenshot(page: Page, name: str) -> None:
    """Save a screenshot of the page as JPEG."""
    page.wait_for_timeout(SETTLED_MS)
    page.screenshot(path=str(PICTURES / f"{name}.jpg"), type="jpeg", quality=QUALITY)


def save_states(browser: Browser, name: str) -> Image.Image:
    """Save pictures of a game's page in every state except an unfinished turn; return a picture of the board alone."""
    scripted = ScriptedMatch(name)
    for _ in range(PLIES):
        scripted.play()
    page = open_page(browser, scripted)
    save_screenshot(page, f"board-{name}")
    board = Image.open(io.BytesIO(page.locator("#board").screenshot())).convert("RGB")
    for state, action in (("illegal", scripted.play_illegal), ("set-up", scripted.begin_setup)):
        action()
        save_screenshot(page, f"board-{name}-{state}")
        scripted.restore()
    page.close()
    for state, action in (("question", scripted.ask_question), ("over", scripted.end_by_ruling)):
        action()
        page = open_page(browser, scripted)
        save_screenshot(page, f"board-{name}-{state}")
        page.close()
        scripted.play()
    scripted.page.close()
    return board


def save_unfinished(browser: Browser, name: str, seed: int) -> None:
    """Save a picture of an unfinished turn."""
    scripted = ScriptedMatch(name, seed)
    scripted.leave_unfinished()
    page = open_page(browser, scripted)
    save_screenshot(page, f"board-{name}-unfinished")
    page.close()
    scripted.page.close()


def save_state(
    browser: Browser, name: str, action: Callable[[ScriptedMatch], None], game: str = "domination", **look: object
) -> None:
    """Save a picture of ``game`` after PLIES moves and one action; ``look``: keywords of :func:`open_page`."""
    scripted = ScriptedMatch(game)
    for _ in range(PLIES):
        scripted.play()
    action(scripted)
    page = open_page(browser, scripted, **look)  # type: ignore[arg-type]
    save_screenshot(page, name)
    page.close()
    scripted.page.close()


def save_animation(browser: Browser) -> None:
    """Save an animated GIF of a match: legal moves, an illegal one, its restoration."""
    scripted = ScriptedMatch("domination", seed=5)
    page = open_page(browser, scripted)
    frames = []
    actions = [*(scripted.play,) * MOVING_PLIES, scripted.play_illegal, scripted.restore, scripted.play]
    for action in [lambda: None, *actions]:
        action()
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
    scripted.page.close()


def save_overview(boards: list[Image.Image]) -> None:
    """Save one picture with the boards of all games."""
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
    """A hall of four tables: one match has ended, another one is at an illegal move."""
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "hall.db") as store:
        hub = Hub(store, lambda *_: None, ChangeSignal())
        pairings = tuple(Pairing(table, names) for table, names in zip(TABLES, PEOPLE, strict=True))
        tournament = Tournament(Path(folder) / "rounds.txt")
        tournament.arrange(0, Round("Round 1", pairings))
        page = HallPage(("127.0.0.1", 0), hub, tournament)
        for pairing, name, last_action in zip(
            pairings,
            TABLES.values(),
            (ScriptedMatch.play_illegal, ScriptedMatch.play, ScriptedMatch.play, ScriptedMatch.end_by_ruling),
            strict=True,
        ):
            scripted = ScriptedMatch(name)
            for _ in range(PLIES):
                scripted.play()
            last_action(scripted)
            started_at = datetime(2026, 11, 23, 19, 0, tzinfo=UTC)
            info = MatchInfo(
                scripted.game.tag, scripted.game.players, scripted.start, started_at, scripted.game.tag, pairing.names
            )
            hub.take(topics.topic(pairing.table, topics.ONLINE), topics.online_message(info), 0.0)
            for event in scripted.feed.page_state.events:
                hub.take(
                    topics.topic(pairing.table, topics.EVENT), topics.event_message(topics.key_of(info), event), 0.0
                )
            scripted.page.close()
        yield page
        page.close()


@contextmanager
def replay_with_illegal_move() -> Iterator[str]:
    """The URI of an exported match page, in which a move was illegal."""
    scripted = ScriptedMatch("domination")
    for action in (*(scripted.play,) * PLIES, scripted.play_illegal, scripted.restore, scripted.play):
        action()
    scripted.page.close()
    started_at = datetime(2026, 11, 23, 19, 0, tzinfo=UTC)
    info = MatchInfo(scripted.game.tag, scripted.game.players, scripted.start, started_at, scripted.game.tag, PEOPLE[0])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "match.html"
        file.write_text(match_page("", MatchRecord(info, scripted.feed.page_state.events), {}), encoding="utf-8")
        yield file.as_uri()


def save_replay(browser: Browser) -> None:
    """Save a picture of an exported match page, at an illegal move."""
    with replay_with_illegal_move() as uri:
        page = browser.new_page(viewport={"width": LAPTOP[0], "height": LAPTOP[1]}, locale="en")
        page.set_default_timeout(TIMEOUT_MS)
        page.goto(uri)
        page.locator("#moves button", has_text="Not allowed").click()
        page.locator("#board canvas[data-bodies]").wait_for()
        save_screenshot(page, "replay")
        page.close()


def save_hall(browser: Browser) -> None:
    """Save pictures of a hall, and of the form in which its rounds are arranged."""
    with played_hall() as served:
        page = browser.new_page(viewport={"width": SCREEN[0], "height": SCREEN[1]}, locale="en")
        page.goto(f"{served.server.url}#token={served.token}")
        page.locator(".tables .square").first.wait_for()
        save_screenshot(page, "hall")
        page.set_viewport_size({"width": LAPTOP[0], "height": LAPTOP[1]})
        page.locator("#arrange").click()
        page.locator("#round").select_option(index=0)
        save_screenshot(page, "hall-rounds")
        page.close()


def main() -> None:
    """Make all pictures."""
    with sync_playwright() as playwright:
        browser = launched(playwright, draws_in_space=True)
        save_animation(browser)
        save_overview([save_states(browser, info.name) for info in available_games()])
        for name, seed in HALF_DONE.items():
            save_unfinished(browser, name, seed)
        save_state(browser, "board-dark", ScriptedMatch.play_illegal, dark=True, code="de")
        save_state(browser, "board-phone", ScriptedMatch.play_illegal, size=PHONE)
        save_state(browser, "board-draughts-10", ScriptedMatch.play_illegal, game="draughts:international")
        save_hall(browser)
        save_replay(browser)
        browser.close()


if __name__ == "__main__":
    main()
