"""`companion referee`: a real table, or a recording of one, refereed."""

from __future__ import annotations

from dataclasses import replace

import cv2

from companion.commands.options.game import begin_match, lasting_name, open_kit
from companion.commands.options.match import Session, referee_match
from companion.commands.options.parser import Subparsers, add_command
from companion.commands.options.serial import PacedSource, open_pillars
from companion.commands.options.settings import over_file
from companion.commands.options.source import open_sight
from companion.commands.options.table import TableOptions as Options
from companion.commands.options.table import add_table
from companion.commands.output.codes import DONE
from companion.errors import CompanionError
from companion.games import load_game
from companion.settings.keys import SOURCES
from vision.capture.recording import Recording, read_recording


def add_parser(subparsers: Subparsers) -> None:
    """Add `referee`."""
    what = "referee a match at a table, or a recording of one"
    add_table(add_command(subparsers, "referee", Options, run, help=what, complete=over_file))


def run(options: Options) -> int:
    """Referee until the source ends."""
    load_game(options.game)  # a name that is mistyped is said first
    if not options.source.is_given:
        *others, last = (f"--{source}" for source in SOURCES)
        raise CompanionError(f"nothing to look at: give one of {', '.join(others)} and {last}")
    cv2.setNumThreads(1)
    recordings = tuple(map(read_recording, options.source.recording))
    match = begin_match(options.game, options.start or (recordings[0].start if recordings else None) or None)
    kit = open_kit(options.kit or (_kit_of(recordings[0]) if recordings else None), match.game)
    pillars = open_pillars(options.serial, kit, recordings)
    sight = open_sight(options.source, kit, match, recordings, resume=options.play.resume)
    source = PacedSource(sight.source) if recordings and options.serial else sight.source
    sight = replace(sight, source=source, pillars=sight.pillars or pillars)
    session = Session(match, kit, lasting_name(options.kit, kit), sight, is_live=not recordings)
    referee_match(options.play, options.output, session)
    return DONE


def _kit_of(recording: Recording) -> str:
    """The name of a recording's kit, or the path of the kit file that lies in its folder."""
    file = recording.folder / recording.kit
    return str(file) if file.is_file() else recording.kit
