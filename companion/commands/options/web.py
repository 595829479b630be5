"""The option `--web`, and serving the page of a running table."""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from companion.commands.options.address import address as parse_address
from companion.web.archive import Archive
from companion.web.starting import Starter
from companion.web.tls import Certificate

if TYPE_CHECKING:
    from companion.commands.options.table_page import TablePage

POLL_S = 0.2
"""Polling interval while waiting."""


def add_page(parser: argparse.ArgumentParser) -> None:
    """Add `--web`."""
    parser.add_argument("--web", type=parse_address, metavar="HOST:PORT", help="serve the page of the table there")


@contextmanager
def serving_page(
    address: tuple[str, int] | None,
    start: str,
    archive: Archive,
    starter: Starter | None = None,
    *,
    lingers: bool,
    tls: Certificate | None = None,
    phones: int = 0,
) -> Iterator[TablePage | None]:
    """Context that serves a page if an address is given; if it ``lingers``, also afterwards until Ctrl-C.

    ``tls`` is its certificate, ``phones`` the number of phones that may be cameras.
    Raises CompanionError when the address cannot be used.
    """
    if address is None:
        yield None
        return
    from companion.commands.options.table_page import TablePage  # noqa: PLC0415 - 8 MB, for pages only

    table_page = TablePage(address, start, archive, starter, tls, phones)
    try:
        yield table_page
        if lingers:
            _linger()
    finally:
        table_page.panels.close()
        table_page.page.close()


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
            time.sleep(POLL_S)
    except KeyboardInterrupt:
        return False
    return True
