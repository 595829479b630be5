"""Replaying a recorded match by the rules: does every event agree with them?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from companion.errors import CompanionError
from companion.events import (
    Accepted,
    Corrected,
    Event,
    GameOver,
    Illegal,
    Repeated,
    Skipped,
    Start,
    TakenBack,
    Unfinished,
)
from companion.games import read_position
from companion.languages.english import counted
from companion.match import Match
from companion.rules.board import NOBODY
from companion.rules.game import Move
from companion.rules.notation import format_move, format_position, parse_move, parse_position

MAX_HISTORIES = 64
"""Number of possible histories of a record that are followed: each ruling to the same position doubles them."""


class RuleContradiction(CompanionError):
    """An event that contradicts the rules or the events before it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """The first event that the rules contradict, and ``why`` in one line."""

    n: int
    why: str


class InvalidRecord(CompanionError):
    """A record that the rules contradict, at a ``fault``."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(f"event {fault.n}: {fault.why}")
        self.fault = fault


def first_fault(events: Iterable[Event]) -> Fault | None:
    """The first event that does not follow from the others by the rules; None: all do."""
    try:
        for _ in stages(events):
            pass
    except InvalidRecord as error:
        return error.fault
    return None


def stages(events: Iterable[Event]) -> Iterator[tuple[Event, Match]]:
    """Each event with the match as it stands after it.

    If a record leaves open how a position came about, the fewest possible moves are assumed to have been taken back.

    Raises:
        InvalidRecord: an event cannot follow those before it.
    """
    matches: tuple[Match, ...] = ()
    for event in events:
        try:
            matches = possible_matches(matches, event)
        except CompanionError as error:
            raise InvalidRecord(Fault(event.n, str(error))) from error
        yield event, matches[0]


def possible_matches(matches: tuple[Match, ...], event: Event) -> tuple[Match, ...]:
    """The possible matches after ``event``, given the possible ``matches`` before it, likelier ones first.

    Before the first event there are none.  Raises CompanionError if the event cannot follow.
    """
    return _continued(matches, event) if matches else _started(event)


def _started(event: Event) -> tuple[Match, ...]:
    if not isinstance(event, Start):
        raise RuleContradiction(f"the match begins with {event.event!r}, not with 'start'")
    return (Match(*read_position(event.position)),)


def _continued(matches: tuple[Match, ...], event: Event) -> tuple[Match, ...]:
    """The possible matches after ``event``.

    There may be several: an arbiter who takes moves back, one who sets the same position by hand and one who says that
    no move was made leave the same record, but not the same number of repetitions, nor of moves that can be taken
    back.
    """
    following: list[Match] = []
    faults: list[CompanionError] = []
    for match in matches:
        try:
            following.extend(_after(match, event))
        except CompanionError as error:
            faults.append(error)
    if not following:
        raise faults[-1]
    return tuple(following[:MAX_HISTORIES])


def _after(match: Match, event: Event) -> tuple[Match, ...]:
    """The match after ``event``, in every way in which it may have come about.  Raises CompanionError if in none."""
    _check_names(match, event)
    match event:
        case Start():
            raise RuleContradiction("the match begins a second time")
        case Accepted():
            return (_accepted(match, event),)
        case TakenBack():
            return (_taken_back(match, event),)
        case Corrected():
            return _corrected(match, event)
        case Illegal():
            _check_illegal(match, event)
        case Skipped(player=player):
            _require(player in match.skipped, f"{player} could move and was not skipped")
        case Repeated(times=times, position=position):
            _check_position(match, position)
            _require(times == match.repetitions, f"the position occurred {match.repetitions} times, not {times}")
        case GameOver():
            _check_end(match, event)
        case _:
            pass
    return (match,)


def _check_names(match: Match, event: Event) -> None:
    """Check that squares, players, pieces and rules of an event are those of the game."""
    game = match.game
    for cell in getattr(event, "cells", ()):
        _require(cell in game.layout.index, f"{cell} is no square of {game.tag}")
    players = (getattr(event, "player", None), getattr(event, "winner", None), *getattr(event, "players", ()))
    for player in players:
        _require(player in (None, NOBODY, *game.players), f"{player} does not play {game.tag}")
    cited = event.rules if isinstance(event, Illegal) else (event.rule,) if isinstance(event, Unfinished) else ()
    for rule in cited:
        _require(not rule or rule in game.rules, f"{game.tag} has no rule {rule}")
    pieces = "".join(getattr(event, "stacks", ()))
    _require(set(pieces) <= set(game.pieces), f"{pieces} are not pieces of {game.tag}")


def _accepted(match: Match, event: Accepted) -> Match:
    mover = match.position.to_move
    _require(event.player == mover, f"{event.player} moved, but {mover} was to move")
    following = match.play(_legal_move(match, event.move))
    _check_position(following, event.position)
    return following


def _taken_back(match: Match, event: TakenBack) -> Match:
    count = len(event.moves)
    _require(0 < count <= match.undoable, f"{counted(count, 'move')} taken back, but {match.undoable} could be")
    earlier = match.take_back(count)
    replayed = earlier
    for text, ply in zip(event.moves, match.plies[-count:], strict=True):
        assert ply.move is not None, "only moves are undoable"
        played = format_move(match.game, replayed.position, ply.move)
        _require(text == played, f"{text} was taken back, but {played} had been played")
        replayed = replayed.play(ply.move)
    _check_position(earlier, event.position)
    return earlier


def _corrected(match: Match, event: Corrected) -> tuple[Match, ...]:
    if event.move is not None:
        following = match.play(_legal_move(match, event.move))
        if event.position is not None:
            _check_position(following, event.position)
        return (following,)
    position = parse_position(match.game, event.position or "")
    undone = (match.take_back(count + 1) for count in range(match.undoable))
    return (*(left for left in (match, *undone) if left.position == position), match.set_by_hand(position))


def _check_illegal(match: Match, event: Illegal) -> None:
    # The text of a drop does not say whose piece it is, so only the mover's own attempts can be judged again.
    if event.attempt is None or event.player != match.position.to_move:
        return
    move = parse_move(match.game, match.position, event.attempt)
    broken = {violation.rule for violation in match.game.violations(match.position, move)}
    rules = f"{', '.join(sorted(broken))}" if broken else "nothing"
    _require(broken == set(event.rules), f"{event.attempt} breaks {rules}, not {', '.join(sorted(event.rules))}")


def _check_end(match: Match, event: GameOver) -> None:
    _check_position(match, event.position)
    outcome = match.outcome
    if outcome is None:
        # An arbiter may end a match; what he cites is no rule of the game.
        _require(event.rule not in match.game.rules, f"the game has not ended by {event.rule}")
    else:
        by_rules = f"{outcome.winner or 'nobody'} wins by {outcome.rule}"
        _require((event.winner, event.rule) == (outcome.winner, outcome.rule), f"by the rules {by_rules}")


def _legal_move(match: Match, text: str) -> Move:
    _require(match.outcome is None, f"{text} was played after the end")
    move = parse_move(match.game, match.position, text)
    if broken := match.game.violations(match.position, move):
        raise RuleContradiction(f"{text} is not legal: {broken[0].rule}, {broken[0].text}")
    return move


def _check_position(match: Match, recorded: str) -> None:
    position = format_position(match.game, match.position)
    _require(recorded == position, f"the position is {position!r}, not {recorded!r}")


def _require(is_so: bool, why: str) -> None:  # noqa: FBT001 — reads as "require this, or say that"
    if not is_so:
        raise RuleContradiction(why)
