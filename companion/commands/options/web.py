"""The option `--web` and what it opens: the page beside a running table."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from companion.app.table import Table
from companion.app.window import Window
from companion.commands.options.address import address as parse_address
from companion.commands.output.lines import notify
from companion.events import Event
from companion.games import load_game
from companion.recorder.place import state_folder
from companion.recorder.store import MatchInfo
from companion.web.certificate import Certificate
from companion.web.feed import Feed
from companion.web.page import Page
from companion.web.starting import Starter
from companion.web.token import kept_token


def add_page(parser: argparse.ArgumentParser) -> None:
    """Add `--web`."""
    parser.add_argument("--web", type=parse_address, metavar="HOST:PORT", help="serve the page of the table there")


class Front:
    """The page before a table, whatever is played at it."""

    def __init__(
        self, address: tuple[str, int], start: str, starter: Starter | None = None, tls: Certificate | None = None
    ) -> None:
        """Serve it, and say where.

        ``start`` is the position that it shows before the first match, ``tls`` what the page proves itself with.
        Raises CompanionError when the address cannot be had.
        """
        state = state_folder(os.environ)
        self.feed = Feed(start)
        self.feed.rest()
        token = "" if state is None else kept_token(state)
        self.page = Page(address, self.feed, token=token, tls=tls, starter=starter)
        notify(self.page.notice)

    @contextmanager
    def shows(self, table: Table, info: MatchInfo, past: tuple[Event, ...] = ()) -> Iterator[None]:
        """Show ``table`` while it runs; ``past`` was said before a restart."""
        window = Window(table.eyes, load_game(info.game).layout.terrain, time.monotonic)
        self.feed.begin(info.start, past, info.names, table.eyes.reader.kit)
        self.page.serve(table.inbox.put, window.picture)
        table.listeners.append(self.feed)
        table.followers += [self.feed, window]
        table.onlookers.append(window)
        try:
            yield
        finally:
            self.page.rest()


@contextmanager
def fronted(
    address: tuple[str, int] | None,
    start: str,
    starter: Starter | None = None,
    *,
    lingers: bool,
    tls: Certificate | None = None,
) -> Iterator[Front | None]:
    """Serve a page, if it is wanted; afterwards too, if it ``lingers``, as long as somebody at the terminal likes.

    ``tls`` is what the page proves itself with.  Raises CompanionError when the address cannot be had.
    """
    if address is None:
        yield None
        return
    front = Front(address, start, starter, tls)
    try:
        yield front
        if lingers:
            _linger()
    finally:
        front.page.close()


def _linger() -> None:
    """Leave people at the page until Ctrl-C, where somebody is there to press it."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return
    print("The table is closed; the page stays until you press Ctrl-C.", flush=True)
    wait_for_interrupt()


def wait_for_interrupt() -> None:
    """Return when somebody presses Ctrl-C."""
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        return
