"""Referees matches at one table, one after another, as people start them on its page."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from calibration.errors import ProfileError
from companion.app.heartbeat import heartbeat
from companion.app.lobby import Asked, Lobby
from companion.app.resumption import Interrupted
from companion.commands.options.archive import archive_of
from companion.commands.options.game import begin_match
from companion.commands.options.match import Session, referee_match
from companion.commands.options.opening import open_session, playable, resumed, started, unfinished
from companion.commands.options.table import TableOptions
from companion.commands.options.tls import certificate_of
from companion.commands.options.web import fronted
from companion.commands.output.lines import notify
from companion.errors import CompanionError
from companion.rules.notation import format_position
from companion.web.starting import Begin
from vision.errors import VisionError

IDLE_S = 0.5
"""Timeout of each wait for somebody to start a match; systemd's watchdog must be reset every few seconds."""


def referee_series(options: TableOptions, left: Interrupted | None) -> None:
    """Referee the match of ``options``, or the one that was ``left``, then each that is started, until Ctrl-C.

    The frame source is opened again for each match, since another game has another set.

    Raises:
        CompanionError, ProfileError, VisionError: from opening the first match, and from any match while it is played.
    """
    station, play = options.output.station, options.play
    match = begin_match(options.game, options.start)
    names = tuple(station.names.get(player, "") for player in match.game.players)
    games = playable(options)
    lobby = Lobby(
        games,
        Begin(options.game, names if any(names) else (), play.clock, play.confirm),
        partial(unfinished, options.output.store, games),
    )
    phones, start = options.source.phone, format_position(match.game, match.position)
    archive = archive_of(options.output.store)
    proof = certificate_of(options.output.tls, options.output.web, has_phones=phones > 0)
    with fronted(options.output.web, start, archive, lobby, lingers=False, tls=proof, phones=phones) as front:

        def play_one(chosen: TableOptions, session: Session) -> None:
            session = replace(session, is_over=lambda: lobby.is_wanted)
            referee_match(chosen.play, chosen.output, session, front)

        if left is not None or not play.wait:
            chosen = resumed(options, left)
            play_one(chosen, open_session(chosen, left))
        for asked in _asked(lobby):
            try:
                chosen, kept = started(options, asked.wanted)
                session = open_session(chosen, kept)
            except (CompanionError, ProfileError, VisionError) as error:
                asked.refuse(error)
                continue
            asked.begun()
            play_one(chosen, session)


def _asked(lobby: Lobby) -> Iterator[Asked]:
    """Each match that is asked for; meanwhile systemd's watchdog is reset."""
    beat = heartbeat(os.environ, time.monotonic)
    while True:
        if not lobby.is_wanted:
            notify("no match is being played; start one on the page")
        while (asked := lobby.take(IDLE_S)) is None:
            if beat is not None:
                beat.rest()
        if beat is not None:
            beat.rest()  # opening a camera takes a while
        yield asked
