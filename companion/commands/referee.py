"""`companion referee`: referees a match at a table, or a recording of one."""

from __future__ import annotations

from collections.abc import Collection

import cv2

from companion.app.resumption import InterruptedMatch, find_interrupted
from companion.commands.options.archive import archive_of
from companion.commands.options.match import referee_match
from companion.commands.options.opening import open_session, playable, resumed
from companion.commands.options.parser import Subparsers, add_command
from companion.commands.options.series import referee_series
from companion.commands.options.settings import merge_settings_file
from companion.commands.options.table import TableOptions as Options
from companion.commands.options.table import add_table
from companion.commands.options.tls import certificate_of
from companion.commands.options.web import serving_page
from companion.commands.output.codes import DONE
from companion.errors import CompanionError
from companion.games import load_game
from companion.recorder.place import open_store
from companion.rules.notation import format_position
from companion.settings.keys import SOURCES
from vision.capture.recording import read_recording


def add_parser(subparsers: Subparsers) -> None:
    """Add `referee`."""
    what = "referee a match at a table, or a recording of one"
    add_table(add_command(subparsers, "referee", Options, run, help=what, complete=merge_settings_file))


def run(options: Options) -> int:
    """Referee until the source ends; at a table with a page, one match after another."""
    load_game(options.game)  # a mistyped name is reported first
    if not options.source.is_given:
        *others, last = (f"--{source}" for source in SOURCES)
        raise CompanionError(f"nothing to look at: give one of {', '.join(others)} and {last}")
    cv2.setNumThreads(1)
    is_series = options.output.web is not None and not options.source.recording
    if options.play.wait and not is_series:
        raise CompanionError("--wait: give --web HOST:PORT too, and no recording: matches are started on the page")
    if is_series:
        games = {game.tag for game in playable(options)} if options.play.wait else {options.game}
        referee_series(options, _left(options, games))
    else:
        _referee_one(options)
    return DONE


def _referee_one(options: Options) -> None:
    """Referee one match from a camera without a page, or from recordings."""
    recordings = tuple(map(read_recording, options.source.recording))
    left = _left(options, {options.game})
    options = resumed(options, left)
    session = open_session(options, left, recordings)
    start = format_position(session.match.game, session.match.position)
    archive = archive_of(options.output.store)
    proof = certificate_of(options.output.tls, options.output.web, has_phones=options.source.phone > 0)
    with serving_page(options.output.web, start, archive, lingers=not options.output.json, tls=proof) as table_page:
        referee_match(options.play, options.output, session, table_page)


def _left(options: Options, games: Collection[str]) -> InterruptedMatch | None:
    """The newest unfinished match of these games, if it is to be resumed and there is one.  Raises CompanionError."""
    if not options.play.resume:
        return None
    tags = {load_game(game).tag for game in games}
    with open_store(options.output.store) as store:
        return find_interrupted(store, tags)
