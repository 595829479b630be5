"""`companion hall`: shows all tables of a hall on one page."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue

from companion.commands.options.address import address, broker
from companion.commands.options.parser import OptionGroup, Subparsers, add_command
from companion.commands.output.codes import DONE
from companion.commands.output.lines import notify
from companion.errors import StoreError
from companion.hall import topics
from companion.hall.hub import Hub
from companion.hall.link import Link
from companion.hall.page import HallPage
from companion.hall.rounds import rounds_file
from companion.hall.topics import Broker
from companion.hall.tournament import Tournament
from companion.recorder.place import HALL_FILE, default_store, make_folder
from companion.recorder.store import Store
from companion.web.feed import ChangeSignal

ADDRESS = ("127.0.0.1", 8000)
IDLE_S = 0.5


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """Options of `companion hall`."""

    broker: Broker
    web: tuple[str, int]
    store: Path | None
    rounds: Path | None


def add_parser(subparsers: Subparsers) -> None:
    """Add `hall`."""
    what = "show all tables of a hall on one page, and keep all their matches"
    hall = add_command(subparsers, "hall", Options, run, help=what)
    hall.add_argument("--broker", type=broker, required=True, metavar="mqtt://HOST:PORT", help="the MQTT broker")
    hall.add_argument("--web", type=address, default=ADDRESS, metavar="HOST:PORT", help="default: 127.0.0.1:8000")
    hall.add_argument(
        "--match", dest="store", type=Path, metavar="FILE", help="where the matches are kept (default: the user's own)"
    )
    hall.add_argument(
        "--rounds", type=Path, metavar="FILE", help="who meets whom at which table (default: a file beside the matches)"
    )


def run(options: Options) -> int:
    """Serve until Ctrl-C."""
    path = _store(options.store)
    tournament = Tournament(rounds_file(path, options.rounds))
    with Store.open(path) as store:
        messages: SimpleQueue[tuple[str, bytes]] = SimpleQueue()
        link = Link(
            options.broker,
            f"hall-{socket.gethostname()}",
            topics=[topics.topic(topics.EVERY_TABLE, kind) for kind in (topics.ONLINE, topics.EVENT)],
            connected=lambda: notify(f"hall: connected to {options.broker.name}"),
            heard=lambda topic, data: messages.put((topic, data)),
            lost=lambda why: notify(f"hall: {why}; trying again"),
            is_lasting=True,
        )
        link.start()
        try:
            hub = Hub(
                store,
                lambda topic, data: _send(link, topic, data),
                ChangeSignal(),
                lambda line: notify(f"hall: {line}"),
            )
            page = HallPage(options.web, hub, tournament)
            notify(page.notice)
            try:
                _serve(hub, messages)
            finally:
                page.close()
        except KeyboardInterrupt:
            return DONE
        finally:
            link.close()
    return DONE


def _serve(hub: Hub, messages: SimpleQueue[tuple[str, bytes]]) -> None:
    """Take messages as they come; a failing store is reported once, and what it missed is requested again."""
    is_failing = False
    while True:
        try:
            topic, data = messages.get(timeout=IDLE_S)
        except Empty:
            continue
        try:
            hub.take(topic, data, time.monotonic())
            is_failing = False
        except StoreError as error:
            if not is_failing:
                notify(f"hall: NOT SAVED: {error}")
            is_failing = True


def _send(link: Link, topic: str, data: bytes) -> None:
    link.say(topic, data)


def _store(path: Path | None) -> Path:
    """Path of the hall's store; the default one's folder is made if need be.  Raises StoreError."""
    if path is not None:
        return path
    folder = default_store(os.environ).parent
    make_folder(folder)
    return folder / HALL_FILE
