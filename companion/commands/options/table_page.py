"""The page of a running table: what is served there, and the codes of its phones."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import segno

from companion.app.live_preview import LivePreview
from companion.app.presses import Presses
from companion.app.station import Station, StationConfig
from companion.app.table import Table
from companion.commands.output.lines import notify
from companion.events import Event
from companion.games import load_game
from companion.panel.controller import PanelController
from companion.panel.threaded import ThreadedPanel
from companion.phone.access import PhoneAccess, code_of
from companion.phone.camera_routes import PhoneCameraRoutes, camera_url
from companion.phone.panel import PhonePanel
from companion.phone.panels import PanelBinding, PanelRoutes, panel_url
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

HANDOVER_VARIABLE = "STACKING_GAMES_TOKEN"
"""Environment variable in which a set-up passes its page's token to the match that replaces it, for open pages."""


class TablePage:
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
        token = kept or os.environ.pop(HANDOVER_VARIABLE, "") or new_token()
        accesses = [PhoneAccess(code_of(token, n)) for n in range(1, phones + 1)]
        panel_code = code_of(token, 0)
        self.panels = PanelRoutes(panel_code, lambda: self.page.token, notify)
        self.phone_cameras = PhoneCameraRoutes(accesses, lambda: self.page.token, notify, panel_code=panel_code)
        routes = [*self.panels.routes(), *(self.phone_cameras.routes() if accesses else ())]
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
            notify(f"a phone as panel: {panel_url(self.page.server.url_of(shown_host(self.page.server)), panel_code)}")
        for n, access in enumerate(accesses, start=1):
            show_code(self.page.server, n, "" if kept else access.code)

    def add_phone_panel(
        self, station: Station, station_config: StationConfig, presses: Presses, code: str, store: Path | None
    ) -> None:
        """Let phones be panels of the match that ``station`` follows, in the language with this ``code``."""
        library = Library(clips_folder(store, os.environ), station_config.lang.voice)
        panel = PhonePanel(station_config.lang, code, library, self.panels.change_signal.notify_all)
        station.join(ThreadedPanel(PanelController(panel, time.monotonic, station_config.lang, station_config.names)))
        self.panels.show(PanelBinding(panel, presses))

    @contextmanager
    def serving(
        self, table: Table, info: MatchInfo, past: tuple[Event, ...] = (), phones: Sequence[PhoneCamera] = ()
    ) -> Iterator[None]:
        """Show ``table``, whose cameras are ``phones``, while it runs; ``past`` are the events before a restart."""
        preview = LivePreview(table.camera_reader, load_game(info.game).layout.terrain, time.monotonic)
        self.feed.begin(info.start, past, info.names, table.camera_reader.reader.kit)
        self.page.serve(table.inbox.put, preview.picture)
        table.listeners.append(self.feed)
        table.state_observers += [self.feed, preview]
        table.frame_observers.append(preview)
        self.phone_cameras.look(phones)
        try:
            yield
        finally:
            self.phone_cameras.look(())
            self.panels.show(None)
            self.page.rest()


def show_code(server: Server, number: int, code: str) -> None:
    """Print the address for phone ``number``; with an empty ``code``, refer to the QR code on the arbiter's page."""
    if not code:
        notify(f"phone {number}: its QR code is on the arbiter's page")
        return
    address = camera_url(server.url_of(shown_host(server)), number, code)
    notify(f"phone {number}: {address}")
    if sys.stderr.isatty():
        segno.make(address, error="l").terminal(sys.stderr, border=2, compact=True)


def shown_host(server: Server) -> str:
    """The name under which phones reach this machine; empty if it is the server's own host name."""
    is_everywhere = server.host in ("0.0.0.0", "::")  # noqa: S104 - what they mean
    return next(iter(own_address()), "") if is_everywhere else ""
