"""The option `--web` and what it opens: the page beside a running table."""

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
"""The variable in which a set-up hands its page's token to the match that takes its place: people and phones stay."""

LOOK_S = 0.2
"""How often it is looked whether anything is wanted; nobody notices so short a wait."""


def add_page(parser: argparse.ArgumentParser) -> None:
    """Add `--web`."""
    parser.add_argument("--web", type=parse_address, metavar="HOST:PORT", help="serve the page of the table there")


class Front:
    """The page before a table, whatever is played at it."""

    def __init__(
        self,
        address: tuple[str, int],
        start: str,
        archive: Archive,
        starter: Starter | None = None,
        tls: Certificate | None = None,
        phones: int = 0,
    ) -> None:
        """Serve it, and say where.

        ``start`` is the position that it shows before the first match, ``tls`` what the page proves itself with,
        ``phones`` how many may be cameras.
        Raises CompanionError when the address cannot be had.
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
        """Let phones be panels of the match that ``station`` tells, in the language with this ``code``."""
        library = Library(clips_folder(store, os.environ), wishes.tongue.voice)
        panel = PhonePanel(wishes.tongue, code, library, self.panels.bell.ring)
        station.join(LiveDesk(Desk(panel, time.monotonic, wishes.tongue, wishes.names)))
        self.panels.show(Watched(panel, presses))

    @contextmanager
    def shows(
        self, table: Table, info: MatchInfo, past: tuple[Event, ...] = (), phones: Sequence[PhoneCamera] = ()
    ) -> Iterator[None]:
        """Show ``table`` while it runs, whose cameras are ``phones``; ``past`` was said before a restart."""
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
    """Serve a page, if it is wanted; afterwards too, if it ``lingers``, as long as somebody at the terminal likes.

    ``tls`` is what the page proves itself with, ``phones`` how many may be cameras.
    Raises CompanionError when the address cannot be had.
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
    """Tell where phone ``number`` is let in; a ``code`` that is kept stands in no log, but on the arbiter's page."""
    if not code:
        notify(f"phone {number}: its QR code is on the arbiter's page")
        return
    address = address_of(server.url_of(shown_host(server)), number, code)
    notify(f"phone {number}: {address}")
    if sys.stderr.isatty():
        segno.make(address, error="l").terminal(sys.stderr, border=2, compact=True)


def shown_host(server: Server) -> str:
    """What phones call this machine; empty where they call it as it calls itself."""
    is_everywhere = server.host in ("0.0.0.0", "::")  # noqa: S104 - what they mean
    return next(iter(own_address()), "") if is_everywhere else ""


def _linger() -> None:
    """Leave people at the page until Ctrl-C, where somebody is there to press it."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return
    print("The table is closed; the page stays until you press Ctrl-C.", flush=True)
    wait_for_interrupt()


def wait_for_interrupt(wanted: threading.Event | None = None) -> bool:
    """Return when somebody presses Ctrl-C: False; or once something else is ``wanted``: True."""
    try:
        while wanted is None or not wanted.is_set():
            time.sleep(LOOK_S)
    except KeyboardInterrupt:
        return False
    return True
