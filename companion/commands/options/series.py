"""Referees matches at one table, one after another, as people start them on its page."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from calibration.errors import ProfileError
from companion.app.heartbeat import heartbeat
from companion.app.match_requests import MatchRequest, MatchRequestQueue
from companion.app.resumption import InterruptedMatch
from companion.commands.options.archive import archive_of
from companion.commands.options.game import begin_match
from companion.commands.options.match import Session, referee_match
from companion.commands.options.opening import open_session, playable, resumed, started, unfinished
from companion.commands.options.table import TableOptions
from companion.commands.options.tls import certificate_of
from companion.commands.options.web import serving_page
from companion.commands.output.lines import notify
from companion.errors import CompanionError
from companion.rules.notation import format_position
from companion.web.starting import NewMatch
from vision.errors import VisionError

IDLE_S = 0.5
"""Timeout of each wait for somebody to start a match; systemd's watchdog must be reset every few seconds."""


def referee_series(options: TableOptions, left: InterruptedMatch | None) -> None:
    """Referee the match of ``options``, or the one that was ``left``, then each that is started, until Ctrl-C.

    The frame source is opened again for each match, since another game has another set.

    Raises:
        CompanionError, ProfileError, VisionError: from opening the first match, and from any match while it is played.
    """
    station, play = options.output.station, options.play
    match = begin_match(options.game, options.start)
    names = tuple(station.names.get(player, "") for player in match.game.players)
    games = playable(options)
    match_requests = MatchRequestQueue(
        games,
        NewMatch(options.game, names if any(names) else (), play.clock, play.confirm),
        partial(unfinished, options.output.store, games),
    )
    phones, start = options.source.phone, format_position(match.game, match.position)
    archive = archive_of(options.output.store)
    proof = certificate_of(options.output.tls, options.output.web, has_phones=phones > 0)
    with serving_page(
        options.output.web, start, archive, match_requests, lingers=False, tls=proof, phones=phones
    ) as table_page:

        def play_one(chosen: TableOptions, session: Session) -> None:
            session = replace(session, is_over=lambda: match_requests.has_request)
            referee_match(chosen.play, chosen.output, session, table_page)

        if left is not None or not play.wait:
            chosen = resumed(options, left)
            play_one(chosen, open_session(chosen, left))
        for request in _requests(match_requests):
            try:
                chosen, kept = started(options, request.wanted)
                session = open_session(chosen, kept)
            except (CompanionError, ProfileError, VisionError) as error:
                request.refuse(error)
                continue
            request.begun()
            play_one(chosen, session)


def _requests(match_requests: MatchRequestQueue) -> Iterator[MatchRequest]:
    """Each requested match; meanwhile systemd's watchdog is reset."""
    beat = heartbeat(os.environ, time.monotonic)
    while True:
        if not match_requests.has_request:
            notify("no match is being played; start one on the page")
        while (request := match_requests.take(IDLE_S)) is None:
            if beat is not None:
                beat.rest()
        if beat is not None:
            beat.rest()  # opening a camera takes a while
        yield request
