"""Make the pictures of boards in docs/pictures: ``python -m tools.board_pictures``.

A real browser, with WebGL in software, looks at the real page, which is told scripted matches of every game.
"""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from companion.events import Accepted, Event, GameOver, Illegal, Restored, Start, Unsure
from companion.games import available_games, load_game
from companion.match import Match
from companion.referee.snapshot import Snapshot
from companion.rules.game import Attempt
from companion.rules.notation import format_move, format_position
from companion.tracker.sights import format_sights, seen_of
from companion.web.feed import Feed
from companion.web.page import Page as WebPage
from tools.chromium import launched

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
LAPTOP, PHONE = (1280, 900), (390, 844)
QUALITY, SETTLED_MS, TIMEOUT_MS = 72, 1500, 180_000
PLIES, MOVING_PLIES = 14, 3
GIF_WIDTH, GIF_MS, GIF_COLOURS = 820, 1800, 96
TILE = (520, 400)


class Told:
    """A match that is told to a page without a table."""

    def __init__(self, name: str, seed: int = 3) -> None:
        self.game = load_game(name)
        self.match, self._rng = Match(self.game, self.game.start()), random.Random(seed)
        self.n = 0
        self.feed = Feed(self.text)
        self.page = WebPage(("127.0.0.1", 0), self.feed)
        self.tell(Start(t=0.0, n=1, position=self.text), "watching")

    @property
    def text(self) -> str:
        """The position."""
        return format_position(self.game, self.match.position)

    def tell(self, event: Event, mode: str, wrong: tuple[str, ...] = (), options: tuple[str, ...] = ()) -> None:
        """One event, and how the table stands after it."""
        self.n = event.n
        self.feed(event)
        mover = self.match.position.to_move
        self.feed.follow(event.t, Snapshot(mode, "clear", self.text, mover, "", wrong, options, None), None)  # type: ignore[arg-type]

    def play(self) -> None:
        """A random legal move."""
        position, mover = self.match.position, self.match.position.to_move
        move = self._rng.choice(self.game.legal_moves(position))
        text = format_move(self.game, position, move)
        self.match = self.match.play(move)
        self.tell(Accepted(t=self.n * 7.0, n=self.n + 1, player=mover, move=text, position=self.text), "watching")

    def offend(self) -> None:
        """An illegal move by whose turn it is."""
        position = self.match.position
        attempts = [act for act in self.game.attempts(position) if self._is_offence(act)]
        act = self._rng.choice(attempts)
        broken = self.game.violations(position, act.move)
        cells = tuple(self.game.layout.cells[cell] for cell in act.move.cells)
        layout, before = self.game.layout, self.game.table(position)
        event = Illegal(
            t=self.n * 7.0,
            n=self.n + 1,
            player=act.player,
            attempt=format_move(self.game, position, act.move),
            rules=tuple(one.rule for one in broken[:1]),
            reason=broken[0].text,
            cells=cells,
            seen=format_sights(layout, seen_of(self.game, act.table)),
            expected=format_sights(layout, seen_of(self.game, before)),
        )
        self.tell(event, "restoring", cells)

    def _is_offence(self, act: Attempt) -> bool:
        move, position = act.move, self.match.position
        both = move.source is not None and move.target is not None and not move.level
        return both and act.player == position.to_move and bool(self.game.violations(position, move))

    def restore(self) -> None:
        """The table is right again."""
        self.tell(Restored(t=self.n * 7.0, n=self.n + 1), "watching")

    def ask(self) -> None:
        """Which of two moves it was."""
        position = self.match.position
        moves = [format_move(self.game, position, move) for move in self.game.legal_moves(position)]
        options = tuple(self._rng.sample(moves, 2))
        question = f"Which was played: {options[0]} or {options[1]}?"
        self.tell(Unsure(t=self.n * 7.0, n=self.n + 1, options=options, question=question), "asking", (), options)

    def end(self) -> None:
        """The player to move wins by a ruling."""
        winner = self.match.position.to_move
        self.tell(GameOver(t=self.n * 7.0, n=self.n + 1, winner=winner, rule="arbiter", position=self.text), "over")


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
    """Pictures of a game's page while it goes well and after an illegal move; the board alone is returned."""
    told = Told(name)
    for _ in range(PLIES):
        told.play()
    page = opened(browser, told)
    keep(page, f"board-{name}")
    board = Image.open(io.BytesIO(page.locator("#board").screenshot())).convert("RGB")
    told.offend()
    page.locator('#verdict[data-kind="illegal"]').wait_for()
    keep(page, f"board-{name}-illegal")
    page.close()
    told.page.close()
    return board


def special(browser: Browser, name: str, do: Callable[[Told], None], **look: object) -> None:
    """A picture of one state."""
    told = Told("domination")
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


def main() -> None:
    """Make all pictures."""
    with sync_playwright() as playwright:
        browser = launched(playwright, draws_in_space=True)
        moving(browser)
        together([states(browser, info.name) for info in available_games()])
        special(browser, "board-question", Told.ask)
        special(browser, "board-over", Told.end)
        special(browser, "board-dark", Told.offend, dark=True, code="de")
        special(browser, "board-phone", Told.offend, size=PHONE)
        browser.close()


if __name__ == "__main__":
    main()
