"""The three-dimensional board in a real browser with SwiftShader."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from companion.games import available_games
from tests.web.conftest import WAIT_S, WebTable

COLOURS = """(canvas) => new Promise((done) => requestAnimationFrame(() => {
    const copy = Object.assign(document.createElement("canvas"), {width: 160, height: 120});
    const pen = copy.getContext("2d");
    window.board.space.render();
    pen.drawImage(canvas, 0, 0, 160, 120);
    const data = pen.getImageData(0, 0, 160, 120).data;
    done(new Set(Array.from({length: 160 * 120}, (_, i) => data.slice(4 * i, 4 * i + 3).join())).size);
}))"""
"""Number of colours in a small copy of the picture; a black or empty one has few."""


@pytest.fixture(scope="module")
def browser(launch: Callable[..., Browser]) -> Browser:
    """Launch Chromium with WebGL in software."""
    return launch(draws_in_space=True)


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Return a function that opens a table's page; no foreign requests and no errors may occur."""
    pages, faults = list[Page](), list[str]()

    def opened(table: WebTable, path: str = "", size: tuple[int, int] = (1280, 900)) -> Page:
        page = browser.new_page(viewport={"width": size[0], "height": size[1]}, locale="en-GB")
        home = f"http://127.0.0.1:{table.port}/"
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith(home) else faults.append(request.url))
        page.set_default_timeout(1000 * WAIT_S)
        page.goto(home + path)
        pages.append(page)
        return page

    yield opened
    for page in pages:
        page.close()
    assert faults == []


@pytest.mark.parametrize("name", [info.name for info in available_games()])
def test_every_game_is_drawn(name: str, open_table: Callable[..., WebTable], visit: Callable[..., Page]) -> None:
    table = open_table(name)
    page = visit(table, size=(640, 450))
    pieces = sum(map(len, table.game.start().board))
    expect(page.locator("#board canvas")).to_have_attribute("data-bodies", str(pieces))
    assert page.locator("#board canvas").evaluate(COLOURS) > 100
    expect(page.locator("#board .square")).to_have_count(len(table.game.layout.cells))


def test_a_stack_is_read_by_pointer_and_by_keys(table: WebTable, visit: Callable[..., Page]) -> None:
    page = visit(table)
    square = page.locator('.square[data-cell="d2"]')
    expect(square).to_have_attribute("aria-label", "d2, R")
    box = square.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator("#lens strong")).to_have_text("d2")
    page.locator(".square[tabindex='0']").focus()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#lens strong")).to_have_text("c2")


def test_the_board_is_turned_and_comes_back(table: WebTable, visit: Callable[..., Page]) -> None:
    page = visit(table)
    square = page.locator('.square[data-cell="b2"]')
    expect(square).to_have_attribute("aria-label", "b2, G")
    before = square.bounding_box()
    page.locator(".square[tabindex='0']").focus()
    page.keyboard.press("Shift+ArrowRight")
    assert square.bounding_box() != before
    page.locator("#home").click()
    assert square.bounding_box() == before


def test_an_illegal_move_is_drawn_with_its_way_back_and_no_square_moves(
    table: WebTable, visit: Callable[..., Page]
) -> None:
    page = visit(table)
    canvas, square = page.locator("#board canvas"), page.locator('.square[data-cell="c3"]')
    expect(canvas).to_have_attribute("data-marks", "")
    before = square.bounding_box()
    table.lay(c3="", c5="RR")
    expect(canvas).to_have_attribute("data-marks", "wrong wrong arrow")
    assert square.bounding_box() == before
    table.restore()
    expect(canvas).to_have_attribute("data-marks", "")


def test_the_plan_is_one_key_away(table: WebTable, visit: Callable[..., Page]) -> None:
    page = visit(table)
    expect(page.locator("#board canvas")).to_be_visible()
    page.keyboard.press("v")
    expect(page.locator("#board svg .square")).to_have_count(len(table.game.layout.cells))
    page.keyboard.press("v")
    expect(page.locator("#board canvas")).to_be_visible()


def test_nothing_is_drawn_while_nothing_changes(table: WebTable, visit: Callable[..., Page]) -> None:
    page = visit(table)
    expect(page.locator("#board canvas")).to_be_visible()
    page.evaluate(
        "window.drawn = 0; const { space } = window.board; const render = space.render.bind(space);"
        "space.render = () => { window.drawn += 1; window.drawnAt = performance.now(); render(); }; 0"
    )
    quiet = "performance.now() - (window.drawnAt ?? 0) > 1500"
    table.wait_for(lambda: page.evaluate(quiet))
    before = page.evaluate("window.drawn")
    page.wait_for_timeout(1500)
    assert page.evaluate("window.drawn") == before
    table.play("c3-d3")
    table.wait_for(lambda: page.evaluate("window.drawn") > before)
