"""The option `--hall`, with which a table takes part in a hall."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

from companion.app.table import Table
from companion.commands.options.address import broker_and_table
from companion.commands.output.lines import notify
from companion.events import Event
from companion.hall.topics import Broker
from companion.recorder.store import MatchInfo


def add_hall(parser: argparse.ArgumentParser) -> None:
    """Add `--hall`."""
    parser.add_argument(
        "--hall",
        type=broker_and_table,
        metavar="mqtt://HOST:PORT/TABLE",
        help="tell a hall's broker what is said at this table",
    )


@contextmanager
def publishing(broker: Broker | None, table: Table, info: MatchInfo, past: tuple[Event, ...] = ()) -> Iterator[None]:
    """Publish the events of ``table`` while it runs, if there is a broker; ``past`` are those before a restart."""
    if broker is None:
        yield
        return
    from companion.hall.publisher import Publisher  # noqa: PLC0415 - few tables have a hall

    publisher = Publisher(broker, info, past, notify)
    table.listeners.append(publisher)
    try:
        yield
    finally:
        publisher.close()
