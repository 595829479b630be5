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
from companion.web.token import kept_token


def add_page(parser: argparse.ArgumentParser) -> None:
    """Add `--web`."""
    parser.add_argument("--web", type=parse_address, metavar="HOST:PORT", help="serve the page of the table there")


@contextmanager
def paged(
    address: tuple[str, int] | None,
    table: Table,
    info: MatchInfo,
    past: tuple[Event, ...] = (),
    *,
    lingers: bool,
    tls: Certificate | None = None,
) -> Iterator[None]:
    """Serve the page of ``table`` at an address while it runs, if it is wanted.

    Afterwards too, if it ``lingers``, as long as somebody at the terminal likes.  ``past`` was said before a restart;
    ``tls`` is what the page proves itself with.
    Raises CompanionError when the address cannot be had.
    """
    if address is None:
        yield
        return
    feed = Feed(info.start, past, info.names, table.eyes.reader.kit)
    window = Window(table.eyes, load_game(info.game).layout.terrain, time.monotonic)
    state = state_folder(os.environ)
    page = Page(address, feed, table.inbox.put, window.picture, "" if state is None else kept_token(state), tls)
    notify(page.notice)
    table.listeners.append(feed)
    table.followers += [feed, window]
    table.onlookers.append(window)
    try:
        yield
        if lingers:
            _linger()
    finally:
        page.close()


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
