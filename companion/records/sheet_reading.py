"""Reads a match from a score sheet, move by move through the rules.  docs/score-sheet.md has the grammar."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

from calibration.kit import kit_name
from companion.errors import CompanionError
from companion.events import KINDS, Accepted, Event, GameOver, Start, TakenBack
from companion.games import load_game, read_position
from companion.match import Match
from companion.recorder.store import MatchInfo, parse_time
from companion.records.fields import IMPLYING, parse_fields, unquoted
from companion.records.record import MatchRecord
from companion.records.scanner import Kind, SheetError, Word, words
from companion.records.sheet import format_result, move_number
from companion.replay import possible_matches
from companion.rules.notation import format_position, parse_move
from companion.schema import checked

LARGEST = 20_000_000
"""Largest score sheet in characters; a match of a whole day has a hundredth of it."""

HEADERS = ("Game", "Date", "Kit", "Player", "Start", "Result")
NOT_A_MOVE = "what stands outside of {} is a move number (12.), a player's letter, a move or a time (@3.5)"


def parse_sheet(text: str, now: datetime) -> MatchRecord:
    """The match in a score sheet; without a date there, ``now`` is its date.

    Raises:
        SheetError: the text is not a score sheet, or its match breaks the rules; with line and column.
    """
    if len(text) > LARGEST:
        raise SheetError(text, LARGEST, "no score sheet is that long")
    return _Reader(text, now).read()


@dataclass
class _Reader:
    """Reads one sheet from beginning to end."""

    text: str
    now: datetime
    _events: list[Event] = field(default_factory=list)
    _matches: tuple[Match, ...] = ()
    _t_s: float = 0.0

    def read(self) -> MatchRecord:
        waiting = _Words(self.text)
        headers = self._headers(waiting)
        info = self._begin(headers)
        while (word := waiting.next()) is not None:
            if word.kind is Kind.OPEN:
                self._comment(word, waiting)
            else:
                self._move(word, waiting)
        self._end()
        record = MatchRecord(info, tuple(self._events))
        result = headers.get("Result")
        if result is not None and (stands := format_result(record.result)) != result.value:
            raise self._error(result.at, f"by what follows the result is {stands!r}, not {result.value!r}")
        return record

    @property
    def _match(self) -> Match:
        return self._matches[0]

    def _error(self, at: int, why: object) -> SheetError:
        return SheetError(self.text, at, " ".join(str(why).split()))

    def _headers(self, waiting: _Words) -> dict[str, _Header]:
        """The headers by name; ``Player`` headers are stored as ``Player R``, ``Player G``."""
        found: dict[str, _Header] = {}
        while (word := waiting.next_if(Kind.HEADER)) is not None:
            name, value = word.parts[0], self._trying(word.at, unquoted, word.parts[1])
            if name not in HEADERS:
                raise self._error(word.at, f"there is no header {name}; write {', '.join(HEADERS)}")
            if name == "Player":
                letter, _, value = value.partition(" ")
                name = f"Player {letter}"
            if name in found:
                raise self._error(word.at, f"a second header {name}")
            found[name] = _Header(value, word.at)
        return found

    def _begin(self, headers: dict[str, _Header]) -> MatchInfo:
        if "Game" not in headers:
            raise self._error(0, 'a score sheet begins with [Game "..."]')
        game = self._trying(headers["Game"].at, load_game, headers["Game"].value)
        start = headers.get("Start") or _Header(format_position(game, game.start()), 0)
        start_game, _ = self._trying(start.at, read_position, start.value)
        if start_game.tag != game.tag:
            raise self._error(start.at, f"is a position of {start_game.tag}, not of {game.tag}")
        self._add(start.at, Start(t=0.0, n=1, position=start.value))
        date = headers.get("Date")
        begun = self.now if date is None else self._trying(date.at, parse_time, date.value)
        kit = headers["Kit"].value if "Kit" in headers else kit_name(game.tag)
        info = MatchInfo(game.tag, game.players, start.value, begun.astimezone(UTC), kit, self._names(headers))
        checked_info: MatchInfo = self._trying(0, checked, info)
        return checked_info

    def _names(self, headers: dict[str, _Header]) -> tuple[str, ...]:
        players = self._match.game.players
        named = {name.partition(" ")[2]: header for name, header in headers.items() if name.startswith("Player")}
        for letter, header in named.items():
            if letter not in players:
                raise self._error(header.at, f"{letter!r} is no player; they are {' '.join(players)}")
        return tuple(named[player].value if player in named else "" for player in players) if named else ()

    def _move(self, word: Word, waiting: _Words) -> None:
        """Read a move such as ``12. R c3-d3 @3.5``; number, letter and time may be missing."""
        if word.kind is Kind.NUMBER:
            if int(word.parts[0]) != move_number(self._match):
                raise self._error(word.at, f"the next move is number {move_number(self._match)}")
            word = waiting.take(Kind.WORD, "a move", word.at)
        player = ""
        if word.kind is Kind.WORD and word.text in self._match.game.players:
            player, word = word.text, waiting.take(Kind.WORD, "a move", word.at)
        if word.kind is not Kind.WORD:
            raise self._error(word.at, NOT_A_MOVE)
        if (time := waiting.next_if(Kind.TIME)) is not None:
            self._t_s = float(time.parts[0])
        mover = self._match.position.to_move
        if player not in ("", mover):
            raise self._error(word.at, f"{mover} is to move, not {player}")
        position = self._trying(word.at, _position_after, self._match, word.text)
        self._add(word.at, Accepted(t=self._t_s, n=0, player=mover, move=word.text, position=position))

    def _comment(self, opening: Word, waiting: _Words) -> None:
        """Read a comment such as ``{@3.5 illegal player=R …}``."""
        time = waiting.take(Kind.TIME, "a time such as @3.5 (remarks begin with ;)", opening.at)
        name = waiting.take(Kind.WORD, "an event such as illegal or restored", opening.at)
        kind = KINDS.get(name.text)
        if kind is None:
            raise self._error(name.at, f"there is no event {ascii(name.text)[:40]}; known are {', '.join(KINDS)}")
        given: dict[str, str] = {}
        while (word := waiting.next_if(Kind.FIELD)) is not None:
            if word.parts[0] in given:
                raise self._error(word.at, f"a second {word.parts[0]}=")
            given[word.parts[0]] = word.parts[1]
        waiting.take(Kind.CLOSE, "name=value, or } at the end of the comment", opening.at)
        self._t_s = float(time.parts[0])
        self._add(name.at, self._trying(name.at, _event, kind, self._t_s, given, self._match))

    def _end(self) -> None:
        """Add the end if it is missing: a handwritten sheet need not say that its last move ended the game."""
        outcome = self._match.outcome
        if outcome is not None and not any(isinstance(event, GameOver) for event in self._events[-3:]):
            position = format_position(self._match.game, self._match.position)
            over = GameOver(t=self._t_s, n=0, winner=outcome.winner, rule=outcome.rule, position=position)
            self._add(len(self.text), over)

    def _add(self, at: int, event: Event) -> None:
        """Add an event, if the rules allow it."""
        values = {part.name: getattr(event, part.name) for part in fields(event)}
        numbered = self._trying(at, checked, type(event)(**values | {"n": len(self._events) + 1}))
        self._matches = self._trying(at, possible_matches, self._matches, numbered)
        self._events.append(numbered)

    def _trying(self, at: int, function: Any, *words: Any) -> Any:
        """The result of ``function``; its errors are raised as errors at ``at``."""
        try:
            return function(*words)
        except (CompanionError, ValueError) as error:
            raise self._error(at, error) from error


@dataclass(frozen=True, slots=True)
class _Header:
    value: str
    at: int


class _Words:
    """The words still to be read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._words: Iterator[Word] = words(text)
        self._ahead = next(self._words, None)

    def next(self) -> Word | None:
        """The next word; None at the end."""
        word, self._ahead = self._ahead, next(self._words, None)
        return word

    def next_if(self, kind: Kind) -> Word | None:
        """The next word if it is of this kind."""
        return self.next() if self._ahead is not None and self._ahead.kind is kind else None

    def take(self, kind: Kind, what: str, since: int) -> Word:
        """The next word, which must be of this kind; ``since`` is the start of the item that requires it."""
        word = self.next_if(kind)
        if word is None:
            at = since if self._ahead is None else self._ahead.at
            raise SheetError(self._text, at, f"here must stand {what}")
        return word


def _position_after(match: Match, text: str) -> str:
    """The position after a move; after an illegal one the present position, since the rules refuse it later."""
    move = parse_move(match.game, match.position, text)
    is_possible = match.outcome is None and not match.game.violations(match.position, move)
    return format_position(match.game, match.play(move).position if is_possible else match.position)


def _event(kind: type[Event], t_s: float, given: Mapping[str, str], match: Match) -> Event:
    """The event of a comment; a position that follows from the moves is filled in."""
    values = parse_fields(kind, given)
    if kind is TakenBack:
        match = match.take_back(len(values["moves"]))
    if kind is Accepted:
        values["position"] = _position_after(match, values["move"])
    elif kind.event in IMPLYING:
        values["position"] = format_position(match.game, match.position)
    return kind(t=t_s, n=0, **values)
