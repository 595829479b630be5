"""Options for how a match is played and where its events go, and the refereeing of a match with them."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from calibration.kit import Kit
from companion.app.album import Album
from companion.app.heartbeat import heartbeat
from companion.app.mismatch import MismatchReporter
from companion.app.resumption import InterruptedMatch
from companion.app.station import Station
from companion.app.table import Table
from companion.commands.options.hall import add_hall, publishing
from companion.commands.options.parser import OptionGroup
from companion.commands.options.save import SaveOptions, add_save, open_tape
from companion.commands.options.source import TableInput
from companion.commands.options.station import StationOptions, add_station, listen, open_for
from companion.commands.options.tls import add_tls
from companion.commands.options.web import add_page
from companion.commands.output.lines import notify
from companion.commands.output.saving import SaveFailureReporter, notify_saving, print_saving
from companion.errors import BadText
from companion.events import Event, to_json
from companion.hall.topics import Broker
from companion.languages.english import counted
from companion.match import Match
from companion.phrases import language
from companion.recorder.keeper import Keeper
from companion.recorder.place import open_store
from companion.recorder.store import MatchInfo, Recorded
from companion.referee.clock import TimeControl, new_clock, parse_time_control
from companion.referee.referee import Referee
from companion.rules.board import Player
from companion.rules.notation import format_position
from companion.tape.tape import Tape

if TYPE_CHECKING:
    from companion.commands.options.table_page import TablePage


@dataclass(frozen=True, slots=True)
class PlayOptions(OptionGroup):
    """How a match is played.

    Attributes:
        resume: continue the newest match of the game in the store, if it is unfinished.
        wait: begin no match before somebody starts one on the page.
        confirm: a move counts only once its player has pressed "done".
        clock: the time control; None: without a clock.
    """

    resume: bool
    wait: bool
    confirm: bool
    clock: TimeControl | None


@dataclass(frozen=True, slots=True)
class OutputOptions(OptionGroup):
    """Where the events of a match go.

    Attributes:
        store: the match store; None: the user's own.
        station: what people at the table see and hear.
        web: host and port of the page.
        tls: certificate and key of the page; empty: the table's own; None: served without TLS.
        hall: the broker to which events are published.
        pictures: the folder to which every read picture is written.
        json: print events as JSON.
        recording: the recording to be made.
    """

    store: Path | None
    station: StationOptions
    web: tuple[str, int] | None
    tls: tuple[Path, ...] | None
    hall: Broker | None
    pictures: Path | None
    json: bool
    recording: SaveOptions


def add_play(parser: argparse.ArgumentParser) -> None:
    """Add the options for how a match is played."""
    parser.add_argument(
        "--resume", action="store_true", help="go on with the newest match of this game in the store, if unfinished"
    )
    parser.add_argument(
        "--wait", action="store_true", help="with --web: begin no match before somebody starts one on the page"
    )
    parser.add_argument("--confirm", action="store_true", help='a move counts once its player has pressed "done"')
    parser.add_argument("--clock", type=_time_control, metavar="10m+5s", help="each player's time, and more a move")


def _time_control(text: str) -> TimeControl:
    try:
        return parse_time_control(text)
    except BadText as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add the options for where events go."""
    parser.add_argument(
        "--match", dest="store", type=Path, metavar="FILE", help="the match store (default: the user's own)"
    )
    add_station(parser)
    add_page(parser)
    add_tls(parser)
    add_hall(parser)
    parser.add_argument("--pictures", type=Path, metavar="DIR", help="write every read picture with the belief over it")
    parser.add_argument("--json", action="store_true", help="print one event a line as JSON")
    add_save(parser)


@dataclass(frozen=True, eq=False)
class Session:
    """A match that is to be refereed.

    Attributes:
        match: the match as it begins, or continues.
        kit: the kit with which it is played.
        kit_name: the name by which the kit can be found again.
        sight: frame source and readers.
        is_live: whether the source does not wait for the program.
        is_over: returns whether to end before the source does.
        left: the stored match to be continued; None: a new one begins.
    """

    match: Match
    kit: Kit
    kit_name: str
    sight: TableInput
    is_live: bool
    is_over: Callable[[], bool] = lambda: False
    left: InterruptedMatch | None = None


def referee_match(play: PlayOptions, output: OutputOptions, session: Session, table_page: TablePage | None) -> None:
    """Referee one match, from its frame source to the outputs of its events, including the page at ``table_page``.

    Raises CompanionError, VisionError.
    """
    store = open_store(output.store)
    match, sight, left = session.match, session.sight, session.left
    tape = open_tape(
        output.recording, match, session.kit, session.kit_name, sight.camera_reader, is_live=session.is_live
    )
    begun = _info(match, session.kit_name, output.station.names)
    number = left.number if left else store.begin(begun, confirms=play.confirm)
    if tape is not None:
        store.add_recording(number, Recorded(tape.folder.absolute(), left.from_s if left else 0.0))
        if sight.pillars is not None:
            sight.pillars.frame_sink = tape.sense
    keeper = Keeper(store, number)
    station, station_config = open_for(output.station, match.game, output.store, is_json=output.json)
    if left is not None:
        print(left.notice, file=sys.stderr if output.json else sys.stdout)
    table = _table(play, session, keeper, station, tape, left)
    _let_follow(table, output, match, has_panel=station_config.panel != "none")
    presses = listen(station, station_config, table)
    if table_page is not None:
        table_page.add_phone_panel(station, station_config, presses, output.station.language or "en", output.store)
    info, past = store.info(number), left.events if left else ()
    page = nullcontext() if table_page is None else table_page.serving(table, info, past, sight.phones)
    with publishing(output.hall, table, info, past), page, _left_in_order(table, keeper, goes_on=sight.is_lasting):
        table.run()


def _table(
    play: PlayOptions,
    session: Session,
    keeper: Keeper,
    station: Station,
    tape: Tape | None,
    left: InterruptedMatch | None,
) -> Table:
    """The table at which the match of ``session`` begins, or continues as it was ``left``.  Raises BadText."""
    match, sight = session.match, session.sight
    timer = None if play.clock is None else new_clock(play.clock, match.game.players)
    if left is not None:
        timer = left.clock or timer
    return Table(
        sight.source,
        sight.camera_reader,
        Referee(match, left.next_n if left else 1, confirming=play.confirm, timer=timer, verifying=True),
        keeper,
        station,
        list(sight.listeners),
        is_over=session.is_over,
        from_s=left.from_s if left else None,
        frame_sink=tape,
        pillars=sight.pillars,
    )


@contextmanager
def _left_in_order(table: Table, keeper: Keeper, *, goes_on: bool) -> Iterator[None]:
    """Context that, when the program is interrupted, says which match is stored and how it can continue."""
    try:
        yield
    except KeyboardInterrupt:
        match = table.referee.match
        moves = counted(sum(ply.move is not None for ply in match.plies), "move")
        kept = f"match {keeper.match} is kept in {keeper.store.path}, after {moves}"
        is_open = goes_on and table.referee.snapshot.outcome is None
        notify(f"{kept}; the same command with --resume goes on with it" if is_open else kept)
        raise


def _let_follow(table: Table, output: OutputOptions, match: Match, *, has_panel: bool) -> None:
    """Attach to the table everything in this process except its page."""
    if output.json:
        table.listeners.insert(0, print_event)
        table.state_observers.append(SaveFailureReporter(print_saving))
    if not has_panel:
        table.state_observers.append(SaveFailureReporter(notify_saving))
    table.frame_observers.append(MismatchReporter(notify))
    if output.pictures:
        table.frame_observers.append(
            Album(output.pictures, table.camera_reader, match.game.layout.terrain, language("en", match.game))
        )
    if (beat := heartbeat(os.environ, time.monotonic)) is not None:
        table.state_observers.append(beat)


def _info(match: Match, kit: str, names: Mapping[Player, str]) -> MatchInfo:
    """The facts about a match that begins now; ``names`` are the people's, as far as they are known."""
    return MatchInfo(
        game=match.game.tag,
        players=match.game.players,
        start=format_position(match.game, match.position),
        started_at=datetime.now(UTC),
        kit=kit,
        names=tuple(names.get(player, "") for player in match.game.players) if names else (),
    )


def print_event(event: Event) -> None:
    """Print one event as a line of JSON, and flush it."""
    print(json.dumps(to_json(event), ensure_ascii=False), flush=True)
