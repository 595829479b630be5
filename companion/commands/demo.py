"""`companion demo`: the whole system without hardware; a simulated camera watches simulated players."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass, replace
from pathlib import Path

import cv2

from calibration.kit import available_kits, load_kit
from companion.app.ground import ground_levels
from companion.commands.options.archive import archive_of
from companion.commands.options.game import add_kings, add_start, begin_match, open_kit, with_king_marking
from companion.commands.options.match import OutputOptions, PlayOptions, Session, add_output, referee_match
from companion.commands.options.parser import OptionGroup, Subparsers, add_command
from companion.commands.options.serial import simulated_pillars
from companion.commands.options.source import TableInput, simulated_camera_reader
from companion.commands.options.tls import certificate_of
from companion.commands.options.web import serving_page
from companion.commands.output.codes import DONE, NO
from companion.events import Event
from companion.games import available_games
from companion.recorder.place import default_store, make_folder
from companion.rules.notation import format_position, format_tag, parse_tag
from companion.simulate.evaluation import Result, compare, is_over
from companion.simulate.table import FAST, REAL, SimulatedTable, clock

DEFAULT_GAME = "domination"
DEFAULT_SEED = 1
STORE = "demo.db"
"""Name of the store of demonstrations, separate from real matches."""


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """Options of `companion demo`; it ends after ``plies`` accepted moves."""

    game: str
    kings: str
    start: str | None
    seed: int
    plies: int | None
    fast: bool
    play: PlayOptions
    output: OutputOptions


def add_parser(subparsers: Subparsers) -> None:
    """Add `demo`."""
    what = "show the main job without hardware: a simulated match, refereed"
    demo = add_command(subparsers, "demo", Options, run, help=what)
    demo.add_argument("game", nargs="?", default=DEFAULT_GAME, metavar="GAME[:variant][/n]")
    add_kings(demo)
    add_start(demo)
    demo.add_argument("--seed", type=int, default=DEFAULT_SEED, metavar="S", help="repeats a demonstration exactly")
    demo.add_argument("--plies", type=_count, metavar="N", help="end after N accepted moves")
    demo.add_argument("--fast", action="store_true", help="as fast as it goes instead of in real time")
    add_output(demo)
    demo.set_defaults(resume=False, wait=False, confirm=False, clock=None)


def run(options: Options) -> int:
    """Run a demonstration; exit code 1 if the referee and the record of what the players did disagree."""
    store = options.output.store or _own_store()
    result = demonstrate(replace(options, output=replace(options.output, store=store)))
    if not options.output.json:
        print("\n".join(["", *result.lines()]))
        print(f"kept in {store}: companion verify last --store {store}")
    return DONE if result.is_clean else NO


def _own_store() -> Path:
    """The store of demonstrations; its folder is made if need be.  Raises StoreError."""
    folder = default_store(os.environ).parent
    make_folder(folder)
    return folder / STORE


def demonstrate(options: Options) -> Result:
    """Run one match with ``options``, and compare what the referee said with what was done."""
    cv2.setNumThreads(1)
    match = with_king_marking(begin_match(made_for(options.game), options.start), options.kings)
    kit = open_kit(None, match.game)
    pace, wait = (FAST, None) if options.fast else (REAL, clock())
    table = SimulatedTable(kit, match, options.seed, pace=pace, wait=wait)
    levels = ground_levels(kit, match.game, match.position)
    camera_reader = simulated_camera_reader(kit, table, levels)
    said: list[Event] = []
    pillars = simulated_pillars(table, kit, options.seed, in_real_time=not options.fast)
    session = Session(
        match,
        kit,
        kit.name,
        TableInput(table, camera_reader, (said.append, table.hear), pillars),
        is_live=not options.fast,
        is_over=lambda: options.plies is not None and is_over(options.plies, said, table.truth),
    )
    start = format_position(match.game, match.position)
    proof = certificate_of(options.output.tls, options.output.web)
    with serving_page(
        options.output.web, start, archive_of(options.output.store), lingers=not options.output.json, tls=proof
    ) as table_page:
        referee_match(options.play, options.output, session, table_page)
    return compare(table.truth, said)


def shown_games() -> tuple[str, ...]:
    """Every game for which the program has a kit, in each number of players that it allows."""
    players = {info.name: info.players for info in available_games()}
    games = [parse_tag(load_kit(name).game) for name in available_kits()]
    return tuple(format_tag(name, variant, n) for name, variant, _ in games for n in players[name])


def made_for(tag: str) -> str:
    """The game to demonstrate: without a variant in ``tag``, the one for which the game's kit is made."""
    name, variant, players = parse_tag(tag)
    own = load_kit(name).game if name in available_kits() else name
    return tag if variant else own + (f"/{players}" if players else "")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of moves, 1 or more")
    return int(text)
