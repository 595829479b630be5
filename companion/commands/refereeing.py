"""`companion referee`: a real table, or a recording of one, refereed."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import cv2

from calibration.kit import Kit, available_kits, load_kit
from companion.app.album import Album
from companion.app.eyes import Eyes
from companion.app.heartbeat import heartbeat
from companion.app.resumption import interrupted
from companion.app.several import SeveralEyes
from companion.app.table import Table
from companion.commands.paging import add_page, paged
from companion.commands.sensing import PacedSource, add_serial, open_pillars
from companion.commands.settled import settled
from companion.commands.sources import add_sources, open_sight
from companion.commands.station import add_station, listen, open_for
from companion.commands.taping import add_save, kit_name, open_tape
from companion.commands.telling import add_hall, told_to_hall
from companion.errors import BadText, CompanionError
from companion.events import Event, to_json
from companion.games import load_game, read_position
from companion.match import Match
from companion.phrases import language
from companion.recorder.keeper import Keeper
from companion.recorder.place import open_store
from companion.recorder.store import MatchInfo, Recorded
from companion.referee.clock import TimeControl, parse_time_control, wound
from companion.referee.referee import Referee
from companion.rules.board import Player
from companion.rules.game import Game
from companion.rules.notation import format_position, format_tag, parse_tag
from vision.capture.frames import FrameSource
from vision.capture.recording import Recording, read_recording


def add_parsers(subparsers: Any) -> None:
    """Add `referee`."""
    referee = subparsers.add_parser("referee", help="referee a match at a table, or a recording of one")
    referee.add_argument("game", metavar="GAME[:variant][/n]", help="the game, or the file table.toml that names it")
    referee.add_argument("--kit", metavar="KIT", help="name or file of the kit (default: the game's own)")
    referee.add_argument("--start", metavar="POSITION", help="where the match begins (default: the game's start)")
    add_sources(referee)
    add_serial(referee)
    referee.add_argument(
        "--resume", action="store_true", help="go on with the newest match of this game in the store, if unfinished"
    )
    add_play(referee)
    add_output(referee)
    referee.set_defaults(run=run_referee)


def add_play(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how a match is played."""
    parser.add_argument("--confirm", action="store_true", help='a move counts once its player has pressed "done"')
    parser.add_argument("--clock", type=_time_control, metavar="10m+5s", help="each player's time, and more a move")


def _time_control(text: str) -> TimeControl:
    try:
        return parse_time_control(text)
    except BadText as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where events go."""
    parser.add_argument("--match", type=Path, metavar="FILE", help="the match store (default: the user's own)")
    add_station(parser)
    add_page(parser)
    add_hall(parser)
    parser.add_argument("--pictures", type=Path, metavar="DIR", help="write every read picture with the belief over it")
    parser.add_argument("--json", action="store_true", help="print one event a line as JSON")
    add_save(parser)


def run_referee(arguments: argparse.Namespace) -> int:
    """`companion referee`."""
    arguments = settled(arguments, add_parsers)
    cv2.setNumThreads(1)
    recordings = tuple(map(read_recording, arguments.recording or ()))
    match = begin_match(arguments.game, arguments.start or (recordings[0].start if recordings else None) or None)
    kit = open_kit(arguments.kit or (_kit_of(recordings[0]) if recordings else None), match.game)
    pillars = open_pillars(arguments, kit, recordings)
    sight = open_sight(arguments, kit, match, recordings)
    source = PacedSource(sight.source) if recordings and arguments.serial else sight.source
    referee_match(
        arguments,
        match,
        kit,
        sight.eyes,
        source,
        resume=arguments.resume,
        listeners=list(sight.listeners),
        pillars=sight.pillars or pillars,
    )
    return 0


def referee_match(
    arguments: argparse.Namespace,
    match: Match,
    kit: Kit,
    eyes: Eyes | SeveralEyes,
    source: FrameSource,
    *,
    resume: bool = False,
    **table: Any,
) -> None:
    """Run one match from a source to the outputs that :func:`add_output` offers.

    With ``resume`` the newest match of the game in the store goes on, if it is unfinished; else ``match`` begins.
    """
    store = open_store(arguments.match)
    left = interrupted(store, match.game.tag) if resume else None
    is_live = not vars(arguments).get("recording") and not vars(arguments).get("fast")
    tape = open_tape(arguments, left.match if left else match, kit, eyes, is_live=is_live)
    names = vars(arguments).get("names") or {}
    number = left.number if left else store.begin(_info(match, kit_name(arguments, kit), names))
    if tape is not None:
        store.add_recording(number, Recorded(tape.folder.absolute(), left.from_s if left else 0.0))
        if (pillars := table.get("pillars")) is not None:
            pillars.witness = tape.sense
    keeper = Keeper(store, number)
    station, wishes = open_for(arguments, match.game)
    timer = None if arguments.clock is None else wound(arguments.clock, match.game.players)
    if left is not None:
        print(left.notice, file=sys.stderr if arguments.json else sys.stdout)
        match, timer = left.match, left.clock or timer
        table |= {"from_s": left.from_s}
    first_n = left.next_n if left else 1
    referee = Referee(match, first_n, confirming=arguments.confirm, timer=timer)
    running = Table(source, eyes, referee, keeper, station, witness=tape, **table)
    if arguments.json:
        running.listeners.insert(0, print_event)
    if arguments.pictures:
        running.onlookers.append(Album(arguments.pictures, eyes, match.game.layout.terrain, language("en", match.game)))
    if (beat := heartbeat(os.environ, time.monotonic)) is not None:
        running.followers.append(beat)
    listen(station, wishes, running)
    info, past = store.info(number), left.events if left else ()
    with told_to_hall(arguments.hall, running, info, past), paged(arguments, running, info, past):
        running.run()


def _kit_of(recording: Recording) -> str:
    """The name of a recording's kit, or the path of the kit file that lies in its folder."""
    file = recording.folder / recording.kit
    return str(file) if file.is_file() else recording.kit


def _info(match: Match, kit: str, names: Mapping[Player, str]) -> MatchInfo:
    """What is known of a match that begins now; ``names`` are the people's, as far as they are known."""
    return MatchInfo(
        game=match.game.tag,
        players=match.game.players,
        start=format_position(match.game, match.position),
        started_at=datetime.now(UTC),
        kit=kit,
        names=tuple(names.get(player, "") for player in match.game.players) if names else (),
    )


def print_event(event: Event) -> None:
    """One event as a line of JSON, at once."""
    print(json.dumps(to_json(event), ensure_ascii=False), flush=True)


def begin_match(tag: str, start: str | None) -> Match:
    """A match of the game ``tag`` from a position text, or from the game's start.  Raises CompanionError."""
    game = load_game(tag)
    if start is None:
        return Match(game, game.start())
    start_game, position = read_position(start)
    if start_game.tag != game.tag:
        raise CompanionError(f"--start: is a position of {start_game.tag}, not of {game.tag}")
    return Match(game, position)


def own_kit(game: Game) -> str:
    """The kit that comes with the program for ``game``: one made for its variant, else the one of its name."""
    name, variant, _ = parse_tag(game.tag)
    return next((kit for kit in available_kits() if load_kit(kit).game == format_tag(name, variant, 2)), name)


def open_kit(name: str | None, game: Game) -> Kit:
    """The kit of that name or file, or the game's own.

    Raises ProfileError; CompanionError when its squares, pieces or pillars are not those of the game.
    """
    kit = load_kit(name or own_kit(game))
    if set(kit.cells) != set(game.layout.cells):
        raise CompanionError(
            f"the kit {kit.name} has {len(kit.cells)} squares that do not fit {game.tag}; choose another"
        )
    missing = set(game.pieces) - {kind.letter for kind in kit.pieces}
    if missing:
        raise CompanionError(f"the kit {kit.name} lacks the pieces {', '.join(sorted(missing))} of {game.tag}")
    levels, pillars = game.table(game.start()).levels, kit.pillars
    if levels and (pillars is None or min(levels) < pillars.lowest or max(levels) > pillars.highest):
        raise CompanionError(f"the pillars of the kit {kit.name} are made for {kit.game}, not for {game.tag}")
    return kit
