"""Opens a session for one match: the first, as the options say, or one that people have started on the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from calibration.appearance import appearance_kit
from calibration.errors import ProfileError
from calibration.kit import Kit
from companion.app.resumption import InterruptedMatch, load_interrupted
from companion.commands.options.game import begin_match, open_kit, persistent_name, with_king_marking
from companion.commands.options.match import Session
from companion.commands.options.serial import PacedSource, open_pillars
from companion.commands.options.source import open_input
from companion.commands.options.table import TableOptions
from companion.errors import CompanionError
from companion.games import available_tags, load_game
from companion.recorder.place import open_store
from companion.recorder.store import MatchId
from companion.recorder.summary import summaries
from companion.rules.board import Player
from companion.rules.game import Game
from companion.web.starting import Choice, NewMatch, Playable, Unfinished
from vision.capture.recording import Recording


def open_session(options: TableOptions, left: InterruptedMatch | None, recordings: Sequence[Recording] = ()) -> Session:
    """Open the session for a new match or for one that was ``left`` unfinished.

    Raises CompanionError, ProfileError, VisionError.
    """
    begins = options.start or (recordings[0].start if recordings else None) or None
    match = with_king_marking(begin_match(options.game, begins) if left is None else left.match, options.kings)
    kit = open_kit(options.kit or (_kit_of(recordings[0]) if recordings else None), match.game)
    pillars = open_pillars(options.serial, kit, recordings)
    try:
        sight = open_input(options.source, kit, match, recordings, resume=options.play.resume)
    except BaseException:
        if pillars is not None:
            pillars.close()
        raise
    source = PacedSource(sight.source) if recordings and options.serial else sight.source
    sight = replace(sight, source=source, pillars=sight.pillars or pillars)
    return Session(match, kit, persistent_name(options.kit, kit), sight, is_live=not recordings, left=left)


def resumed(options: TableOptions, left: InterruptedMatch | None) -> TableOptions:
    """The options with which a match that was ``left`` continues: with its own players and way of confirming."""
    if left is None:
        return options
    names = _by_letter(left.match.game, left.names) or options.output.station.names
    play = replace(options.play, confirm=options.play.confirm or left.confirms)
    return _named(replace(options, play=play), names)


def started(options: TableOptions, wanted: Choice) -> tuple[TableOptions, InterruptedMatch | None]:
    """The options of a match started at the table of ``options``, and its state if it is a stored one.

    Raises CompanionError: there is no such match, or it cannot be continued.
    """
    left = None if isinstance(wanted, NewMatch) else _kept(options, MatchId(wanted.match))
    if isinstance(wanted, NewMatch):
        begin = wanted
    else:
        assert left is not None
        begin = NewMatch(left.match.game.tag, left.names, confirms=left.confirms)
    game = load_game(begin.game)
    kit_option, kit = _kit_for(options, game)
    appearances = tuple(file for file in options.source.appearances if appearance_kit(file) == kit.name)
    play = replace(options.play, resume=False, confirm=begin.confirms, clock=begin.clock)
    chosen = replace(
        options,
        game=begin.game,
        start=None,
        kit=kit_option,
        serial=options.serial if kit.pillars is not None else None,
        source=replace(options.source, appearances=appearances),
        play=play,
    )
    return _named(chosen, _by_letter(game, begin.names)), left


def playable(options: TableOptions) -> tuple[Playable, ...]:
    """Every game that can be played at the table: with the table's kit, or with the game's own."""
    learned = {appearance_kit(file) for file in options.source.appearances}
    found = []
    for tag in available_tags():
        try:
            _, kit = _kit_for(options, load_game(tag))
        except (CompanionError, ProfileError):
            continue
        found.append(Playable(tag, options.source.simulate or kit.name in learned))
    return tuple(found)


def unfinished(store_file: Path | None, games: Sequence[Playable]) -> tuple[Unfinished, ...]:
    """The unfinished matches in a store that can be continued at a table for ``games``, newest first.

    ``store_file`` is None for the user's own store.  Raises StoreError.
    """
    tags = {game.tag for game in games}
    with open_store(store_file) as store:
        found = [
            Unfinished(kept.match, kept.info.game, kept.info.names, kept.info.started_at.isoformat(), kept.moves)
            for kept in summaries(store)
            if kept.info is not None and kept.info.game in tags and kept.result is None and kept.moves
        ]
    return tuple(reversed(found))


def _kit_for(options: TableOptions, game: Game) -> tuple[str | None, Kit]:
    """The value of ``--kit`` for a game at this table, and the kit.  Raises CompanionError, ProfileError."""
    try:
        return options.kit, open_kit(options.kit, game)
    except CompanionError:
        return None, open_kit(None, game)


def _kept(options: TableOptions, number: MatchId) -> InterruptedMatch:
    """The unfinished stored match with this number.  Raises CompanionError if there is none."""
    with open_store(options.output.store) as store:
        left = load_interrupted(store, number)
    if left is None:
        raise CompanionError(f"match {number} is over, or never began; start a new one")
    return left


def _kit_of(recording: Recording) -> str:
    """The name of a recording's kit, or the path of the kit file in its folder."""
    file = recording.folder / recording.kit
    return str(file) if file.is_file() else recording.kit


def _by_letter(game: Game, names: tuple[str, ...]) -> Mapping[Player, str]:
    seats = zip(game.players, names, strict=False)
    return MappingProxyType({letter: name for letter, name in seats if name})


def _named(options: TableOptions, names: Mapping[Player, str]) -> TableOptions:
    station = replace(options.output.station, names=names)
    return replace(options, output=replace(options.output, station=station))
