"""The page of a playing table in a real browser."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from calibration.kit import load_kit, read_kit
from companion.games import load_game
from companion.rules.notation import format_move, format_position, parse_move
from companion.simulate.photographer import Photographer
from companion.web.page import Page as WebPage
from companion.web.setup.config import SetupConfig
from companion.web.setup.page import SetupPage
from companion.web.setup.session import SetupSession
from tests.web.conftest import PICTURE, WAIT_S, WebTable
from tests.web.test_page import OWN_FIVES
from tests.web.test_setup import Bench
from tools.stickered_board import corners_px, own_board

pytestmark = pytest.mark.pictures

PLIES = ("c3-d3", "c4-d4", "d3-d5", "d4-d3", "f7-f6")


expect.set_options(timeout=1000 * WAIT_S)


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Return a function that opens a table's page; no visit may leave an error in the browser's console."""
    pages, faults = list[Page](), list[str]()

    def opened(table: WebTable, path: str = "", size: tuple[int, int] = (1366, 768), locale: str = "en-GB") -> Page:
        width, height = size
        page = browser.new_page(viewport={"width": width, "height": height}, locale=locale)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda line: faults.append(line.text) if "Content Security" in line.text else None)
        page.goto(f"http://127.0.0.1:{table.port}/{path}")
        page.set_default_timeout(1000 * WAIT_S)
        pages.append(page)
        return page

    yield opened
    for page in pages:
        page.close()
    assert faults == []


def cell(page: Page, name: str) -> str:
    """Return the accessible label of a square."""
    return page.locator(f'g.square[data-cell="{name}"]').get_attribute("aria-label") or ""


def test_a_whole_match_is_watched(table: WebTable, visit: Callable[..., Page]) -> None:
    page = visit(table)
    for text in PLIES:
        accepted = table.play(text)
        assert accepted.event == "accepted"
        expect(page.locator("#said")).to_contain_text(f"played {text}")
    expect(page.locator("#moves [aria-current]")).to_contain_text(PLIES[-1])
    expect(page.locator('g.square[data-cell="d5"]')).to_have_attribute("aria-label", "d5, 3 pieces, from the top R G G")
    page.locator("#first").click()
    expect(page.locator("#past")).to_contain_text("the start")
    expect(page.locator('g.square[data-cell="c3"]')).to_have_attribute("aria-label", "c3, R")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#moves [aria-current]")).to_contain_text(PLIES[0])
    page.locator("#now").click()
    expect(page.locator("#past")).to_be_hidden()
    expect(page.locator("#verdict")).to_have_attribute("data-kind", "accepted")


def test_an_illegal_move_is_seen_and_heard(table: WebTable, visit: Callable[..., Page]) -> None:
    page = visit(table)
    expect(page.locator("#said")).to_contain_text("begins")
    table.lay(c3="", c5="RR")
    expect(page.locator("#verdict")).to_have_attribute("data-kind", "illegal")
    expect(page.locator("#rules")).to_contain_text("DOM-5")
    expect(page.locator("#loud")).to_contain_text("not allowed")
    expect(page.locator(".mark.wrong")).to_have_count(2)
    expect(page.locator(".mark.arrow")).to_have_count(1)
    table.restore()
    expect(page.locator("#polite")).to_contain_text("right again")
    expect(page.locator(".mark.wrong")).to_have_count(0)


def test_a_question_is_answered_by_the_arbiter_while_spectators_read(
    open_table: Callable[..., WebTable], visit: Callable[..., Page]
) -> None:
    table = open_table("domination", OWN_FIVES)
    table.wait_for(lambda: table.referee.snapshot.mode == "watching")
    spectator, arbiter = visit(table), visit(table, "#token=secret")
    assert "secret" not in arbiter.url
    table.lay(c5="")
    expect(spectator.locator(".choice")).to_have_count(2)
    expect(spectator.locator("#options button")).to_have_count(0)
    expect(spectator.locator("#verdict")).to_have_attribute("data-kind", "unsure")
    expect(arbiter.locator("#options svg .mark.moved")).to_have_count(4)
    expect(arbiter.locator("#options button", has_text="None of these")).to_be_visible()
    arbiter.locator("#options button", has_text="Red moved a piece from c5 to d5?").click()
    expect(spectator.locator("#said")).to_contain_text("played c5-d5")
    expect(spectator.locator("#arbiter")).to_be_hidden()


def test_a_lost_connection_is_said_and_survived(table: WebTable, visit: Callable[..., Page]) -> None:
    page = visit(table)
    table.play("c3-d3")
    expect(page.locator("#said")).to_contain_text("c3-d3")
    port = table.port
    table.page.close()
    expect(page.locator("#chips .bad")).to_contain_text("no connection")
    table.feed._is_closed = False
    accepted = table.play("c4-d4")
    table.page = WebPage(("127.0.0.1", port), table.feed, token="secret")
    table.page.serve(table.inbox.put, lambda: PICTURE)
    expect(page.locator("#said")).to_contain_text("c4-d4")
    expect(page.locator("#moves button")).to_have_count(3)
    assert page.evaluate("document.documentElement.dataset.n") == str(accepted.n)
    expect(page.locator("#chips .bad")).to_have_count(0)


def test_the_arbiter_rules_from_the_page(table: WebTable, visit: Callable[..., Page]) -> None:
    page = visit(table)
    page.locator("#unlock").click()
    page.locator("#token").fill("wrong")
    page.keyboard.press("Enter")
    expect(page.locator("#key-reply")).to_have_text("This token is not right.")
    expect(page.locator("#arbiter")).to_be_hidden()
    page.locator("#token").fill("secret")
    page.keyboard.press("Enter")
    page.locator("#pause").click()
    expect(page.locator("#said")).to_have_text("Paused")
    expect(page.locator("#move")).to_have_attribute("list", "legal")
    page.locator("#move").fill("c3-c6")
    expect(page.locator("#legal option")).to_have_count(len(table.game.legal_moves(table.game.start())))
    page.locator("#accept button").click()
    expect(page.locator("#reply")).to_contain_text("not legal")
    page.locator("#move").fill("c3-d3")
    page.locator("#accept button").click()
    expect(page.locator("#moves [aria-current]")).to_contain_text("by arbiter")
    page.locator("#take-back").click()
    expect(page.locator("#moves button")).to_have_count(1)
    page.locator("#pause").click()
    expect(page.locator("#said")).not_to_have_text("Paused")
    page.locator("#end").click()
    expect(page.locator("#winners input:checked")).to_have_count(0)
    page.locator('#winners input[value="G"]').check()
    page.locator('#ending button[value="ok"]').click()
    expect(page.locator("#said")).to_contain_text("Green wins")


def test_no_position_is_set_before_there_is_a_board(table: WebTable, visit: Callable[..., Page]) -> None:
    page = visit(table, "#token=secret")
    held: list[Route] = []
    is_held = True

    def hold(route: Route) -> None:
        if is_held:
            held.append(route)
        else:
            route.continue_()

    page.route("**/board/*", hold)
    with page.expect_request("**/board/*"):
        page.reload()
    expect(page.locator("#arbiter")).to_be_visible()
    expect(page.locator("#set-position")).to_be_disabled()
    is_held = False  # pictures that come later continue at once
    for route in held:
        route.continue_()
    expect(page.locator("#set-position")).to_be_enabled()


def test_the_position_is_set_by_hand(table: WebTable, visit: Callable[..., Page]) -> None:
    page = visit(table, "#token=secret")
    page.locator("#set-position").click()
    for name, stack in (("c3", ""), ("d3", "GR")):
        page.locator(f'g.square[data-cell="{name}"]').click()
        page.locator("#stack").fill(stack)
        told = {"": f"{name}, empty", "GR": f"{name}, 2 pieces, from the top R G"}[stack]
        expect(page.locator(f'g.square[data-cell="{name}"]')).to_have_attribute("aria-label", told)
    page.locator("#turn").select_option("G")
    expect(page.locator("#text")).to_have_value(format_position(table.game, after(table, "c3-d3")))
    page.locator('#editor button[data-word="set-this"]').click()
    table.said("corrected")
    # The table does not show this position, so the set-up instructions soon follow the first message.
    expect(page.locator("#log")).to_contain_text("set the position")
    assert table.referee.match.position == after(table, "c3-d3")


def test_pieces_are_put_on_squares_by_touching_them(table: WebTable, visit: Callable[..., Page]) -> None:
    page = visit(table, "#token=secret")
    page.locator("#set-position").click()
    page.locator("#palette button").last.click()
    page.locator('g.square[data-cell="b2"]').click()
    expect(page.locator('g.square[data-cell="b2"]')).to_have_attribute("aria-label", "b2, empty")
    page.locator('#palette button[aria-label="G"]').click()
    page.locator('g.square[data-cell="c3"]').click()
    expect(page.locator('g.square[data-cell="c3"]')).to_have_attribute("aria-label", "c3, 2 pieces, from the top G R")


def test_no_light_stays_green_when_the_server_is_gone(table: WebTable, visit: Callable[..., Page]) -> None:
    page = visit(table)
    expect(page.locator("#chips li")).to_have_count(3)
    table.page.close()
    expect(page.locator("#chips li")).to_have_text(["no connection"])


def test_rules_are_told_in_german(table: WebTable, visit: Callable[..., Page]) -> None:
    page = visit(table, locale="de-DE")
    table.lay(c3="", c5="RR")
    expect(page.locator("#rules dt")).to_have_text("DOM-5 Weite")
    expect(page.locator("#rules dd")).to_contain_text("Er geht mindestens ein und höchstens k Felder weit")
    expect(page.locator("#said")).to_contain_text("Bitte den roten Stein von c5 zurück auf c3 stellen.")


def test_an_answer_that_comes_late_does_not_undo_what_was_typed_since(
    table: WebTable, visit: Callable[..., Page]
) -> None:
    page = visit(table, "#token=secret")
    held = list[Route]()
    page.route("**/preview*", lambda route: held.append(route) if not held else route.continue_())
    page.locator("#set-position").click()
    page.locator('g.square[data-cell="c3"]').click()
    page.locator("#stack").fill("")
    expect(page.locator('g.square[data-cell="c3"]')).to_have_attribute("aria-label", "c3, empty")
    with page.expect_response("**/preview*"):
        held[0].continue_()
    page.locator('g.square[data-cell="d3"]').click()
    page.locator('g.square[data-cell="c3"]').click()
    expect(page.locator("#stack")).to_have_value("")
    expect(page.locator('g.square[data-cell="c3"]')).to_have_attribute("aria-label", "c3, empty")


def after(table: WebTable, text: str):  # type: ignore[no-untyped-def]
    """Return the position after one move from the start."""
    start = table.game.start()
    move = parse_move(table.game, start, text)
    assert format_move(table.game, start, move) == text
    return table.game.play(start, move)


def test_a_stack_is_read_by_pointer_and_by_keys(
    open_table: Callable[..., WebTable], visit: Callable[..., Page]
) -> None:
    table = open_table("domination", OWN_FIVES)
    page = visit(table)
    page.locator('g.square[data-cell="d5"]').hover()
    expect(page.locator("#lens li")).to_have_text([*"RGGGG"])
    page.locator("g.square[tabindex='0']").focus()
    assert page.evaluate("document.activeElement.dataset.cell") == "c1"
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.dataset.cell") == "c2"
    expect(page.locator("#lens strong")).to_have_text("c2")


@pytest.mark.parametrize("size", [(390, 844), (1366, 768), (1920, 1080)])
def test_nothing_is_cut_off_at_any_size(table: WebTable, visit: Callable[..., Page], size: tuple[int, int]) -> None:
    page = visit(table, "#token=secret", size)
    table.lay(c3="", c5="RR")
    expect(page.locator("#verdict")).to_have_attribute("data-kind", "illegal")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    board, verdict = page.locator("#board").bounding_box(), page.locator("#verdict").bounding_box()
    assert board is not None
    assert verdict is not None
    assert board["width"] >= 0.9 * min(size[0], 500)
    assert verdict["y"] + 100 < size[1], "the verdict begins on the first screen"


def test_the_page_speaks_german(table: WebTable, visit: Callable[..., Page]) -> None:
    page = visit(table, locale="de-DE")
    table.play("c3-d3")
    expect(page.locator("#said")).to_contain_text("Rot hat c3-d3 gezogen")
    page.locator("#language").click()
    expect(page.locator("#said")).to_contain_text("Red played c3-d3")
    assert page.evaluate("document.documentElement.lang") == "en"


def test_what_is_left_to_do_is_told_once_and_in_german(
    open_table: Callable[..., WebTable], visit: Callable[..., Page]
) -> None:
    table = open_table("domination", OWN_FIVES)
    table.wait_for(lambda: table.referee.snapshot.mode == "watching")
    page = visit(table, locale="de-DE")
    table.lay(c5="", d5="GGGGRR")
    expect(page.locator("#said")).to_have_text("Der Zug ist noch nicht zu Ende: auf d5 muss GGGRR stehen.")
    expect(page.locator("#todo")).to_be_empty()


def test_every_button_has_a_name_and_every_field_a_label(table: WebTable, visit: Callable[..., Page]) -> None:
    page = visit(table, "#token=secret")
    expect(page.locator("#said")).not_to_be_empty()
    nameless = """[...document.querySelectorAll("button, input, select, textarea")].filter((element) =>
        !(element.textContent.trim() || element.getAttribute("aria-label") || element.labels?.length))
        .map((element) => element.outerHTML)"""
    assert page.evaluate(nameless) == []


def test_the_set_up_says_what_is_wrong_in_the_language_of_the_page(browser: Browser, tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    served = SetupPage(("127.0.0.1", 0), bench.session, token="secret")
    page = browser.new_page(locale="de-DE")
    page.goto(f"{served.server.url}setup#token=secret")
    assert "secret" not in page.url
    page.get_by_role("button", name="Bereit").click()
    page.locator("#finish").click()
    said = "erst das leere Brett fotografieren, oder die Linse vermessen"
    expect(page.locator("#reply")).to_have_text(said)
    page.locator("#language").click()
    expect(page).to_have_title("Set up the table")
    page.locator("#finish").click()
    expect(page.locator("#reply")).to_have_text("photograph the empty board first, or measure the lens")
    page.close()
    served.close()
    bench.session.close()


def test_the_sizes_of_pieces_are_given_on_the_page(browser: Browser, tmp_path: Path) -> None:
    bench = Bench(tmp_path, kit="ziggurat")
    bench.session.is_own = True
    served = SetupPage(("127.0.0.1", 0), bench.session, token="secret")
    page = browser.new_page(locale="de-DE")
    page.goto(f"{served.server.url}setup#token=secret")
    page.locator(".steps button", has_text="Anfang").click()
    expect(page.get_by_label("Höhe von D, d, mm")).to_have_value("34.9")
    page.get_by_label("Höhe von D, d, mm").fill("120")
    page.get_by_role("button", name="So groß sind sie").click()
    expect(page.locator("#reply")).to_contain_text("ist kein Stein; bitte 1 bis 100 mm angeben")
    page.get_by_label("Höhe von D, d, mm").fill("36.5")
    page.get_by_role("button", name="So groß sind sie").click()
    expect(page.locator("#sizes p")).to_have_text("Diese Größen sind angegeben.")
    assert {kind.height_mm for kind in read_kit(tmp_path / "board.toml").pieces} == {25.4, 36.5, 44.5}
    page.close()
    served.close()
    bench.session.close()


@pytest.mark.soak
def test_an_own_board_is_set_up_on_the_page_from_its_corners_to_the_match(browser: Browser, tmp_path: Path) -> None:
    kit, game = own_board(), load_game("draughts")
    source = Photographer(kit, game, lambda _: time.sleep(0.05))
    session = SetupSession(
        SetupConfig(game, load_kit("draughts"), tmp_path, {}), source, source.show, patience_s=WAIT_S
    )
    served = SetupPage(("127.0.0.1", 0), session, token="secret")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(WAIT_S * 1000)
    page.goto(f"{served.server.url}setup#token=secret")
    right = page.locator('#verdict[data-kind="accepted"]')
    right.wait_for()
    page.locator("#next").click()
    page.locator("#own").wait_for()
    picture = page.locator("#live")
    expect(picture).to_have_js_property("naturalWidth", source.camera.width_px, timeout=WAIT_S * 1000)
    flat = corners_px(kit)
    for x, y in zip(flat[::2], flat[1::2], strict=True):
        box = picture.bounding_box()
        assert box is not None
        scale = box["width"] / source.camera.width_px
        page.mouse.click(box["x"] + (x + 0.5) * scale, box["y"] + (y + 0.5) * scale)
    page.fill("#side", "264")
    for action in ("measure", "learn-empty"):
        page.locator(f"#{action}").click()
        right.wait_for()
        page.locator("#next").click()
    page.get_by_label("Diameter, mm").fill("27")
    page.get_by_label("Height, mm").fill("7")
    page.locator("#size").click()
    expect(page.locator("#sizes p")).to_have_text("You gave these sizes.")
    page.locator("#learn-start").click()
    right.wait_for()
    page.locator("#next").click()
    page.get_by_role("button", name="Ready").click()
    page.locator("#begin").click()
    expect(page.locator("#reply")).to_contain_text("The match begins")
    assert session.wants_match.is_set()
    assert {file.name for file in tmp_path.iterdir()} >= {"board.toml", "camera.toml", "set.toml", "table.toml"}
    page.close()
    served.close()
    session.close()
