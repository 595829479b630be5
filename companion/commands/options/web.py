"""The option `--web` and what it opens: the page of a running table."""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import segno

from companion.app.presses import Presses
from companion.app.station import Station, Wishes
from companion.app.table import Table
from companion.app.window import Window
from companion.commands.options.address import address as parse_address
from companion.commands.output.lines import notify
from companion.events import Event
from companion.games import load_game
from companion.panel.desk import Desk
from companion.panel.live import LiveDesk
from companion.phone.door import Door, code_of
from companion.phone.eye import EyeRoutes, address_of
from companion.phone.panel import PhonePanel
from companion.phone.panels import PanelRoutes, Watched, panel_address
from companion.recorder.place import state_folder
from companion.recorder.store import MatchInfo
from companion.voice.library import Library, clips_folder
from companion.web.archive import Archive
from companion.web.feed import Feed
from companion.web.page import Page
from companion.web.server import Server
from companion.web.starting import Starter
from companion.web.tls import Certificate, own_address
from companion.web.token import kept_token, new_token
from vision.capture.phone import PhoneCamera

HANDED_ON = "STACKING_GAMES_TOKEN"
"""Environment variable in which a set-up passes its page's token to the match that replaces it, for open pages."""

LOOK_S = 0.2
"""Polling interval while waiting; nobody notices so short a wait."""


def add_page(parser: argparse.ArgumentParser) -> None:
    """Add `--web`."""
    parser.add_argument("--web", type=parse_address, metavar="HOST:PORT", help="serve the page of the table there")


class Front:
    """The page of a table, which stays from match to match."""

    def __init__(
        self,
        address: tuple[str, int],
        start: str,
        archive: Archive,
        starter: Starter | None = None,
        tls: Certificate | None = None,
        phones: int = 0,
    ) -> None:
        """Serve the page, and print its address.

        ``start`` is the position that it shows before the first match, ``tls`` its certificate, ``phones`` the number
        of phones that may be cameras.
        Raises CompanionError when the address cannot be used.
        """
        state = state_folder(os.environ)
        self.feed = Feed(start)
        self.feed.rest()
        kept = "" if state is None else kept_token(state)
        token = kept or os.environ.pop(HANDED_ON, "") or new_token()
        doors = [Door(code_of(token, n)) for n in range(1, phones + 1)]
        panel_code = code_of(token, 0)
        self.panels = PanelRoutes(panel_code, lambda: self.page.token, notify)
        self.eyes = EyeRoutes(doors, lambda: self.page.token, notify, panel_code=panel_code)
        routes = [*self.panels.routes(), *(self.eyes.routes() if doors else ())]
        self.page = Page(
            address,
            self.feed,
            token=token,
            tells_token=not kept,
            tls=tls,
            starter=starter,
            archive=archive,
            routes=routes,
        )
        notify(self.page.notice)
        if not kept:
            notify(
                f"a phone as panel: {panel_address(self.page.server.url_of(shown_host(self.page.server)), panel_code)}"
            )
        for n, door in enumerate(doors, start=1):
            show_code(self.page.server, n, "" if kept else door.code)

    def is_panel(self, station: Station, wishes: Wishes, presses: Presses, code: str, store: Path | None) -> None:
        """Let phones be panels of the match that ``station`` follows, in the language with this ``code``."""
        library = Library(clips_folder(store, os.environ), wishes.tongue.voice)
        panel = PhonePanel(wishes.tongue, code, library, self.panels.bell.ring)
        station.join(LiveDesk(Desk(panel, time.monotonic, wishes.tongue, wishes.names)))
        self.panels.show(Watched(panel, presses))

    @contextmanager
    def shows(
        self, table: Table, info: MatchInfo, past: tuple[Event, ...] = (), phones: Sequence[PhoneCamera] = ()
    ) -> Iterator[None]:
        """Show ``table``, whose cameras are ``phones``, while it runs; ``past`` are the events before a restart."""
        window = Window(table.eyes, load_game(info.game).layout.terrain, time.monotonic)
        self.feed.begin(info.start, past, info.names, table.eyes.reader.kit)
        self.page.serve(table.inbox.put, window.picture)
        table.listeners.append(self.feed)
        table.followers += [self.feed, window]
        table.onlookers.append(window)
        self.eyes.look(phones)
        try:
            yield
        finally:
            self.eyes.look(())
            self.panels.show(None)
            self.page.rest()


@contextmanager
def fronted(
    address: tuple[str, int] | None,
    start: str,
    archive: Archive,
    starter: Starter | None = None,
    *,
    lingers: bool,
    tls: Certificate | None = None,
    phones: int = 0,
) -> Iterator[Front | None]:
    """Context that serves a page if an address is given; if it ``lingers``, also afterwards until Ctrl-C.

    ``tls`` is its certificate, ``phones`` the number of phones that may be cameras.
    Raises CompanionError when the address cannot be used.
    """
    if address is None:
        yield None
        return
    front = Front(address, start, archive, starter, tls, phones)
    try:
        yield front
        if lingers:
            _linger()
    finally:
        front.panels.close()
        front.page.close()


def show_code(server: Server, number: int, code: str) -> None:
    """Print the address for phone ``number``; with an empty ``code``, refer to the QR code on the arbiter's page."""
    if not code:
        notify(f"phone {number}: its QR code is on the arbiter's page")
        return
    address = address_of(server.url_of(shown_host(server)), number, code)
    notify(f"phone {number}: {address}")
    if sys.stderr.isatty():
        segno.make(address, error="l").terminal(sys.stderr, border=2, compact=True)


def shown_host(server: Server) -> str:
    """The name under which phones reach this machine; empty if it is the server's own host name."""
    is_everywhere = server.host in ("0.0.0.0", "::")  # noqa: S104 - what they mean
    return next(iter(own_address()), "") if is_everywhere else ""


def _linger() -> None:
    """Keep the page until Ctrl-C, if the program runs at a terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return
    print("The table is closed; the page stays until you press Ctrl-C.", flush=True)
    wait_for_interrupt()


def wait_for_interrupt(wanted: threading.Event | None = None) -> bool:
    """Wait for Ctrl-C and return False, or until ``wanted`` is set and return True."""
    try:
        while wanted is None or not wanted.is_set():
            time.sleep(LOOK_S)
    except KeyboardInterrupt:
        return False
    return True
