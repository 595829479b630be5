"""Records of matches of every game, with every kind of event."""

from collections.abc import Callable
from datetime import UTC, datetime
from random import Random

import pytest

from companion.events import (
    Accepted,
    ClockChanged,
    Corrected,
    Event,
    GameOver,
    Illegal,
    Repeated,
    Restored,
    SensorsChanged,
    Skipped,
    Start,
    TakenBack,
    Unfinished,
    Unsure,
    ViewChanged,
    Withdrawn,
)
from companion.games import load_game
from companion.match import Match
from companion.recorder.store import MatchInfo
from companion.records.record import MatchRecord
from companion.rules.game import Game
from companion.rules.notation import format_move, format_position

Play = Callable[..., MatchRecord]


def played(tag: str, seed: int = 1, plies: int = 40, names: tuple[str, ...] = ()) -> MatchRecord:
    """Return the record of a random legal match with an illegal act, a take-back, rulings, questions and so on."""
    game, chance = load_game(tag), Random(f"{tag} {seed}")
    match = Match(game, game.start())
    start = format_position(game, match.position)
    events: list[Event] = [Start(t=0.0, n=1, position=start)]

    def say(kind: type[Event], **fields: object) -> None:
        events.append(kind(t=len(events) * 1.25, n=len(events) + 1, **fields))

    for k in range(plies):
        if match.outcome is not None:
            break
        if k == 3:
            _incidents(game, match, say)
        if k == 5 and match.undoable:
            move = format_move(game, match.before, match.plies[-1].move)
            match = match.take_back(1)
            say(TakenBack, moves=(move,), position=format_position(game, match.position))
        move = chance.choice(game.legal_moves(match.position))
        text, mover = format_move(game, match.position, move), match.position.to_move
        match = match.play(move)
        if k == 7:
            say(Corrected, by='Zoë "Z" O’Hara \\ judge', move=text)
        else:
            say(Accepted, player=mover, move=text, position=format_position(game, match.position))
        for player in match.skipped:
            say(Skipped, player=player)
        if match.repetitions > 1:
            say(Repeated, times=match.repetitions, position=format_position(game, match.position))
    if match.outcome is not None:
        outcome, position = match.outcome, format_position(game, match.position)
        say(GameOver, winner=outcome.winner, rule=outcome.rule, position=position)
    begun = datetime(2026, 11, 21, 19, 30, tzinfo=UTC)
    return MatchRecord(MatchInfo(tag, game.players, start, begun, "kit", names), tuple(events))


def _incidents(game: Game, match: Match, say: Callable[..., None]) -> None:
    """Add an illegal act and further events that may occur in a match."""
    position = format_position(game, match.position)
    attempt = next(
        attempt for attempt in game.attempts(match.position) if game.violations(match.position, attempt.move)
    )
    broken = game.violations(match.position, attempt.move)
    say(
        Illegal,
        player=match.position.to_move,
        attempt=format_move(game, match.position, attempt.move),
        rules=tuple(dict.fromkeys(violation.rule for violation in broken)),
        reason=broken[0].text,
        cells=tuple(dict.fromkeys(cell for violation in broken for cell in violation.cells)),
        seen="4/1R,2G",
        expected="",
    )
    say(Restored)
    say(Withdrawn, player=match.position.to_move, cells=("c3",))
    say(ViewChanged, state="hand")
    say(SensorsChanged, state="fault", cells=("c3", "b2"))
    say(Unfinished, todo="take two, from the bottom; of c3", cells=())
    say(Unsure, options=("c3-c4", "c3-c5:2"), question="Which? ; {really}")
    players = tuple(game.players)
    say(ClockChanged, state="running", player=None, players=players, left=(59.5,) * len(players), control="1m+5s")
    say(Corrected, by="arbiter", position=position)


@pytest.fixture
def play() -> Play:
    """Return the function that makes records."""
    return played


@pytest.fixture(
    params=["citadel", "cheight", "domination", "domination:classic/3", "ziggurat", "diamond", "diamond:table/4"]
)
def record(request: pytest.FixtureRequest) -> MatchRecord:
    """Return a match of each game."""
    return played(request.param)
