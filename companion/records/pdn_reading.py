"""Reads matches of draughts from PDN, move by move through the rules; a file may contain several games."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from calibration.kit import kit_name
from companion.errors import CompanionError
from companion.events import Accepted, ClockChanged, Event, GameOver, Start
from companion.games import load_game
from companion.match import Match
from companion.recorder.store import MatchInfo
from companion.records.pdn import HALVES, OPEN, POINTS, TYPES, landings, parse_fen, square_name
from companion.records.record import MatchRecord
from companion.records.scanner import SheetError
from companion.referee.clock import TimeControl
from companion.rules.game import Move
from companion.rules.notation import format_move, format_position

HEADER = re.compile(r'\[\s*(?P<name>\w+)\s+"(?P<value>[^"\n]*)"\s*\]')
WORD = re.compile(
    r"(?P<space>\s+)|(?P<comment>\{[^}]*\}|;[^\n]*|\$\d+)|(?P<result>\*|1/2-1/2|[012]-[012](?![\w-]))"
    r"|(?P<number>\d+\.+)|(?P<move>[a-jA-J]?\d{1,2}(?:[-x:][a-jA-J]?\d{1,2})+[!?]*)"
)
CLOCK = re.compile(r"\[%clock\s([^\]]*)\]")
TIME = re.compile(r"(?<![\w:])(?P<player>[wbWB])\s?(?P<h>\d{1,2}):(?P<m>[0-5]?\d):(?P<s>[0-5]?\d)(?![\w:])")
"""A player's clock time in a comment, such as ``w0:09:55``."""

CONTROL = re.compile(r"(?P<base>[1-9]\d{0,4})(?:\+(?P<increment>\d{1,5}))?")
"""Seconds for the match, and increment for each move, as in PGN."""

AGREED = "agreed"
"""Rule of a result that does not follow from the moves: by agreement of the players, or an arbiter's ruling."""


def parse_pdn(text: str, now: datetime) -> Iterator[MatchRecord]:
    """The matches in a file, in order; one without a date gets ``now`` as its date.

    Raises:
        SheetError: the text is not PDN of draughts, or its moves break the rules; with line and column.
    """
    at = _past_space(text, 0)
    if at == len(text):
        raise SheetError(text, 0, "there is no game in this file")
    while at < len(text):
        record, at = _game(text, at, now)
        yield record
        at = _past_space(text, at)


def _past_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _game(text: str, at: int, now: datetime) -> tuple[MatchRecord, int]:
    """One game, and where it ends."""
    headers, begun = {}, at
    while found := HEADER.match(text, at):
        headers[found["name"]] = found["value"]
        at = _past_space(text, found.end())
    match = _begun(text, begun, headers)
    start = format_position(match.game, match.position)
    events: list[Event] = [Start(t=0.0, n=1, position=start)]
    result = OPEN
    while at < len(text) and text[at] != "[" and result == OPEN:
        word = WORD.match(text, at)
        if word is None:
            raise SheetError(text, at, f"{text[at : at + 10]!a} is no move, number, comment or result")
        if word["move"]:
            match = _played(text, at, match, word["move"].rstrip("!?"), events)
        if clock := CLOCK.search(word["comment"] or ""):
            events.extend(_clock(match, headers, clock[1], events))
        result, at = word["result"] or result, word.end()
        if word["result"] == OPEN:
            break
    _end(text, at, match, result, events)
    info = MatchInfo(
        match.game.tag,
        match.game.players,
        start,
        _date(headers, now),
        kit_name(match.game.tag),
        _people(match, headers),
    )
    return MatchRecord(info, tuple(events)), at


def _begun(text: str, at: int, headers: Mapping[str, str]) -> Match:
    """The match before its first move."""
    number = headers.get("GameType", "").split(",")[0]
    tags = {str(kind.number): tag for tag, kind in TYPES.items()}
    if number not in tags:
        known = ", ".join(f"{n} {tag}" for n, tag in tags.items())
        raise SheetError(text, at, f"[GameType ...] is missing or unknown; known are {known}")
    game = load_game(tags[number])
    try:
        position = parse_fen(game.tag, headers["FEN"]) if "FEN" in headers else game.start()
    except CompanionError as error:
        raise SheetError(text, at, f"FEN: {error}") from error
    return Match(game, position)


def _played(text: str, at: int, match: Match, word: str, events: list[Event]) -> Match:
    """The match after one more move, which is added to ``events``."""
    game, position = match.game, match.position
    if match.outcome is not None:
        raise SheetError(text, at, f"{word} was played after the end")
    try:
        move = _move(match, word)
    except CompanionError as error:
        raise SheetError(text, at, str(error)) from error
    following = match.play(move)
    after = format_position(game, following.position)
    said = format_move(game, position, move)
    events.append(Accepted(t=0.0, n=len(events) + 1, player=position.to_move, move=said, position=after))
    return following


def _clock(match: Match, headers: Mapping[str, str], told: str, events: list[Event]) -> Iterator[ClockChanged]:
    """The clock times in a comment; nothing unless all players' times are known from this or earlier ones."""
    before = next((event for event in reversed(events) if isinstance(event, ClockChanged)), None)
    times = dict(zip(before.players, before.left, strict=True)) if before else {}
    for found in TIME.finditer(told):
        times[found["player"].upper()] = 3600.0 * int(found["h"]) + 60 * int(found["m"]) + int(found["s"])
    players = match.game.players
    if all(player in times for player in players):
        given = CONTROL.fullmatch(headers.get("TimeControl", ""))
        control = TimeControl(int(given["base"]), int(given["increment"] or 0)).text if given else ""
        mover = None if match.outcome else match.position.to_move
        left = tuple(times[player] for player in players)
        state = "running" if mover else "stopped"
        yield ClockChanged(
            t=0.0, n=len(events) + 1, state=state, player=mover, players=players, left=left, control=control
        )


def _move(match: Match, word: str) -> Move:
    """The legal move written as ``word``, whose squares are on the piece's way in this order."""
    game = match.game
    style = TYPES[game.tag].squares
    named = [game.layout.index[square_name(game.layout, style, part.lower())] for part in re.split("[-x:]", word)]
    legal = [move for move in game.legal_moves(match.position) if (move.source, move.target) == (named[0], named[-1])]
    exact = [move for move in legal if _goes(named, landings(game, match.position, move))]
    found = exact if len(exact) == 1 or len(legal) > 1 else legal
    if len(found) != 1:
        words = ", ".join(format_move(game, match.position, move) for move in found)
        raise CompanionError(
            f"{word} may be {words}; name every square" if found else f"{word} is not a legal move here"
        )
    return found[0]


def _goes(named: list[int], way: tuple[int, ...]) -> bool:
    """Whether ``named`` is a subsequence of the squares of ``way``."""
    rest = iter(way)
    return all(cell in rest for cell in named)


def _end(text: str, at: int, match: Match, result: str, events: list[Event]) -> None:
    """Add the end of the match by the rules or, if they have not ended it, by the result."""
    position = format_position(match.game, match.position)
    winner = {POINTS[0]: "W", HALVES[0]: "W", POINTS[2]: "B", HALVES[2]: "B"}.get(result)
    outcome = match.outcome
    if outcome is not None and result != OPEN and winner != outcome.winner:
        raise SheetError(text, at, f"by the moves {outcome.winner or 'nobody'} wins, not as the result {result} says")
    if outcome is not None:
        events.append(GameOver(t=0.0, n=len(events) + 1, winner=outcome.winner, rule=outcome.rule, position=position))
    elif result != OPEN:
        events.append(GameOver(t=0.0, n=len(events) + 1, winner=winner, rule=AGREED, position=position))


def _date(headers: Mapping[str, str], now: datetime) -> datetime:
    """The date in the headers, else ``now``."""
    try:
        return datetime.strptime(headers.get("Date", ""), "%Y.%m.%d").replace(tzinfo=UTC)
    except ValueError:
        return now


def _people(match: Match, headers: Mapping[str, str]) -> tuple[str, ...]:
    named = {"W": headers.get("White", "?"), "B": headers.get("Black", "?")}
    names = tuple("" if named[player].strip("? ") == "" else named[player] for player in match.game.players)
    return names if any(names) else ()
