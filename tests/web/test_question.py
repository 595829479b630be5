"""The page's dialog for a question about one move."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from companion.events import Start, Unsure
from companion.games import load_game
from companion.referee.snapshot import Snapshot
from companion.rules.notation import format_position, parse_move
from companion.web.feed import Feed
from companion.web.page import Page as WebPage
from tools.scripted_match import ScriptedMatch

RING_PX = 5
"""Width of the focus ring with its offset, in px, as in the style sheet."""

CUT_OFF = f"""() => [...document.querySelectorAll("button, input, summary, a, select")].flatMap((element) => {{
    if (!element.checkVisibility() || element.disabled) return [];
    element.focus({{ preventScroll: false }});
    const own = element.getBoundingClientRect();
    for (let around = element.parentElement; around !== document.body; around = around.parentElement) {{
        if (getComputedStyle(around).overflowX === "visible") continue;
        const box = around.getBoundingClientRect();
        const isCut = own.left - {RING_PX} < box.left || own.right + {RING_PX} > box.right;
        if (isCut) return [element.outerHTML.slice(0, 90)];
    }}
    return [];
}})"""
"""Focusable elements whose focus ring is clipped at the left or right by an ancestor."""

GAME = load_game("diamond:table")
START = format_position(GAME, GAME.start())


def test_a_question_about_one_move_is_yes_and_no(browser: Browser) -> None:
    feed = Feed(START)
    served = WebPage(("127.0.0.1", 0), feed, token="secret")
    feed(Start(t=0.0, n=1, position=START))
    feed(Unsure(t=2.0, n=2, options=("-a1",), question="Was -a1 played?"))
    feed.follow(2.0, Snapshot("asking", "clear", START, "R", "", (), ("-a1",), None), None)  # type: ignore[arg-type]
    for locale, said, words in (
        ("en-GB", "Red lowered the pillar a1?", ["Yes", "No"]),
        ("de-DE", "Rot hat die Säule a1 gesenkt?", ["Ja", "Nein"]),
    ):
        page = browser.new_page(locale=locale)
        page.goto(f"{served.server.url}#token=secret")
        expect(page.locator("#options figure > span:last-child")).to_have_text(said)
        expect(page.locator("#options svg .mark.moved")).to_have_count(1)
        expect(page.locator("#options button")).to_have_text(words)
        page.close()
    served.close()


def test_what_must_not_be_undone_yet_is_a_sentence(browser: Browser) -> None:
    game = load_game("diamond")
    moved = format_position(game, game.play(game.start(), parse_move(game, game.start(), "-a2")))
    feed = Feed(moved)
    feed(Start(t=0.0, n=1, position=moved))
    served = WebPage(("127.0.0.1", 0), feed)
    for locale, said in (
        ("en-GB", "Until Red has moved, the pillar a2 must not go back to level 7."),
        ("de-DE", "Bis Rot gezogen hat, darf die Säule a2 nicht zurück auf Stufe 7."),
    ):
        page = browser.new_page(locale=locale)
        page.goto(served.server.url)
        expect(page.locator("#aside")).to_have_text(said)
        page.close()
    served.close()


def test_no_ring_of_the_focus_is_cut_off(browser: Browser) -> None:
    scripted = ScriptedMatch("domination")
    for _ in range(30):
        scripted.play()
    scripted.ask_question()
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{scripted.page.server.url}#token={scripted.page.token}")
    expect(page.locator("#moves li")).to_have_count(31)
    expect(page.locator("#options .choice")).to_have_count(2)
    assert page.evaluate(CUT_OFF) == []
    page.close()
    scripted.page.close()
