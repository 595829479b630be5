"""Requests to play at a table: a new match, or an unfinished one to be continued."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from companion.errors import BadText
from companion.games import load_game
from companion.phrases import LANGUAGES
from companion.referee.clock import TimeControl, parse_time_control
from companion.rules.notation import parse_tag, quoted
from companion.schema import Name, read
from companion.web.words import game_titles, player_names

FIELDS = ("game", "names", "clock", "confirm", "leave")
"""Fields of a request for a new match."""


@dataclass(frozen=True, slots=True)
class NewMatch:
    """A new match.

    Attributes:
        game: its tag.
        names: the people in turn order, empty texts for those without a name; empty if nobody has one.
        clock: the time control; None: without a clock.
        confirms: whether a move counts only once its player has confirmed it.
    """

    game: str
    names: tuple[str, ...] = ()
    clock: TimeControl | None = None
    confirms: bool = False


@dataclass(frozen=True, slots=True)
class ContinueMatch:
    """Continue the stored match of this number."""

    match: int


Choice = NewMatch | ContinueMatch


@dataclass(frozen=True, slots=True)
class Playable:
    """A game that can be played at a table; ``is_learned``: the appearance of its set has been learned there."""

    tag: str
    is_learned: bool


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An unfinished stored match: its number and game, the people, when it began, how many moves were played."""

    match: int
    game: str
    names: tuple[str, ...]
    started_at: str
    moves: int


class Starter(Protocol):
    """Starts matches at a table."""

    @property
    def games(self) -> tuple[Playable, ...]:
        """The games that can be played there."""
        ...

    @property
    def usual(self) -> NewMatch:
        """The match that is offered by default."""
        ...

    def unfinished(self) -> tuple[Unfinished, ...]:
        """The stored matches that can be continued, newest first.  Raises StoreError; from any thread."""
        ...

    def put(self, wanted: Choice) -> Future[None]:
        """Ask for a match; the future is done when it has begun, or raises why it has not.  From any thread."""
        ...


@dataclass
class _Names:
    names: tuple[Name, ...]


def pop_leave(body: dict[str, Any]) -> bool:
    """Whether the match being played may be left unfinished; removes ``leave`` from ``body``.  Raises BadText."""
    value = body.pop("leave", False)
    if not isinstance(value, bool):
        raise BadText("leave: write true or false")
    return value


def parse_new_match(body: Mapping[str, Any], starter: Starter) -> NewMatch:
    """The new match that a request asks for.  Raises CompanionError for what cannot be played."""
    _refuse_unknown(body, FIELDS, "start")
    tag, confirms, clock = body.get("game"), body.get("confirm", False), body.get("clock") or ""
    if not isinstance(tag, str) or tag not in (game.tag for game in starter.games):
        raise BadText(f"game: {quoted(str(tag))} cannot be played at this table; /start lists what can")
    if not isinstance(confirms, bool):
        raise BadText("confirm: write true or false")
    if not isinstance(clock, str):
        raise BadText('clock: write a text such as "10m+5s"')
    names = _names(body.get("names", {}), load_game(tag).players)
    return NewMatch(tag, names, parse_time_control(clock) if clock.strip() else None, confirms)


def parse_continue_match(body: Mapping[str, Any], starter: Starter) -> ContinueMatch:
    """The stored match that a request asks to continue.  Raises BadText if it cannot be, StoreError."""
    _refuse_unknown(body, ("match", "leave"), "go-on")
    number = body.get("match")
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < 10**9:
        raise BadText("match: give the number of a kept match")
    if number not in (left.match for left in starter.unfinished()):
        raise BadText(f"match: there is no match {number} that can go on; /start lists those that can")
    return ContinueMatch(number)


def _refuse_unknown(body: Mapping[str, Any], known: tuple[str, ...], action: str) -> None:
    if unknown := sorted(body.keys() - known):
        raise BadText(f"{action}: unknown field {quoted(unknown[0])}; write only {', '.join(known)}")


def _names(given: object, players: tuple[str, ...]) -> tuple[str, ...]:
    """The names given as ``{"R": "Ann"}``, in turn order; empty if there are none.  Raises BadText."""
    if not isinstance(given, dict) or given.keys() - set(players):
        raise BadText(f'names: write an object of names by letter, such as {{"{players[0]}": "Ann"}}')
    names = read(_Names, {"names": [given.get(player, "") for player in players]}).names
    stripped = tuple(name.strip() for name in names)
    return stripped if any(stripped) else ()


def form_row(starter: Starter) -> dict[str, Any]:
    """What the form for a new match offers, as JSON.  Raises StoreError."""
    usual = starter.usual
    names = dict(zip(load_game(usual.game).players, usual.names, strict=False))
    return {
        "games": [_game_row(game) for game in starter.games],
        "unfinished": [_unfinished_row(left) for left in starter.unfinished()],
        "usual": {
            "game": usual.game,
            "names": names,
            "clock": "" if usual.clock is None else usual.clock.text,
            "confirm": usual.confirms,
        },
    }


def _unfinished_row(left: Unfinished) -> dict[str, Any]:
    return {**asdict(left), "titles": game_titles(left.game)}


def _game_row(playable: Playable) -> dict[str, Any]:
    game = load_game(playable.tag)
    _, variant, _ = parse_tag(playable.tag)
    words = {code: player_names(game, code) for code in LANGUAGES}
    return {
        "tag": playable.tag,
        "titles": game_titles(playable.tag),
        "variant": variant,
        "learned": playable.is_learned,
        "players": [
            {"letter": letter, "names": {code: names[letter] for code, names in words.items()}}
            for letter in game.players
        ],
    }
