"""A question about one move, as the page asks it."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from companion.events import Start, Unsure
from companion.games import load_game
from companion.referee.snapshot import Snapshot
from companion.rules.notation import format_position
from companion.web.feed import Feed
from companion.web.page import Page as WebPage

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
