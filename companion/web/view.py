"""What the page shows, as JSON: the whole state of a table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from calibration.kit import Kit
from companion.descriptions import describe_move
from companion.events import (
    Accepted,
    ClockChanged,
    Corrected,
    Event,
    GameOver,
    Illegal,
    SensorsChanged,
    TakenBack,
    Unfinished,
    Unsure,
    ViewChanged,
)
from companion.games import load_game, read_position, title_of
from companion.phrases import LANGUAGES, language, to_move
from companion.referee.clock import Clock
from companion.referee.snapshot import Snapshot
from companion.rules.game import Game
from companion.rules.notation import parse_move, position_tag, ranks_downward
from companion.scene.display_kit import complete_kit, player_colours
from companion.web.boards import outcome_row
from companion.web.move_history import MoveHistory
from companion.web.words import game_titles, player_names, rule_row, sentences, tasks

LOGGED = 12
"""Number of the last events listed on the page; the moves that stand are all listed."""


@dataclass(frozen=True, slots=True)
class PageState:
    """The state of a table.

    Attributes:
        match: random id of the match, so that a page notices a new one.
        events: all events in order.
        history: the moves that stand.
        snapshot: the referee's state; None if only events are known (in a hall).
        t_s: the match's present time.
        warning: the store's present warning.
        people: the players' names in turn order; empty if they were not given.
        kit: the set on the table; None: that of the game.
        is_idle: no match is being played.
    """

    match: str
    events: tuple[Event, ...]
    history: MoveHistory
    snapshot: Snapshot | None = None
    t_s: float = 0.0
    warning: str | None = None
    people: tuple[str, ...] = ()
    kit: Kit | None = None
    is_idle: bool = False

    @property
    def is_open(self) -> bool:
        """Whether a match is being played and at least one turn stands."""
        is_over = self.snapshot is None or self.snapshot.outcome is not None
        return bool(self.history.turns) and not is_over and not self.is_idle

    @property
    def n(self) -> int:
        """Number of the last event; 0 before the first."""
        return self.events[-1].n if self.events else 0


def state_row(page_state: PageState) -> dict[str, Any]:
    """The whole state, as ``/state`` returns it."""
    game = load_game(position_tag(page_state.history.start))
    snapshot, history = page_state.snapshot, page_state.history
    row: dict[str, Any] = {
        "match": page_state.match,
        "n": page_state.n,
        "t": round(page_state.t_s, 2),
        "game": game_row(game, page_state.kit, page_state.people),
        "start_n": history.start_n,
        "turns": [
            {"n": turn.n, "t": turn.t, "player": turn.player, "move": turn.move, "by": turn.by}
            for turn in history.turns
        ],
        "log": [said_row(event, game, page_state.people) for event in notable(page_state.events)[-LOGGED:]],
        "position": history.position,
        "drawn": _drawn(page_state),
        "asked": _question_row(page_state, game),
        "view": _latest(page_state.events, ViewChanged, "clear"),
        "sensors": _latest(page_state.events, SensorsChanged, ""),
        "warning": page_state.warning,
    }
    row |= _guessed_row(page_state, game) if snapshot is None else _snapshot_row(snapshot, page_state.events, game)
    return row | {"mode": "idle"} if page_state.is_idle and row["outcome"] is None else row


def game_row(game: Game, kit: Kit | None = None, people: tuple[str, ...] = ()) -> dict[str, Any]:
    """What a page needs to know about a game: its name, players, pieces and squares."""
    colours = player_colours(game, complete_kit(game, kit))
    return {
        "tag": game.tag,
        "title": title_of(game.tag),
        "titles": game_titles(game.tag),
        "players": [
            {
                "letter": player,
                "colour": colours[player],
                "names": {code: player_names(game, code, people)[player] for code in LANGUAGES},
                "called": {code: player_names(game, code)[player] for code in LANGUAGES},
            }
            for player in game.players
        ],
        "pieces": list(game.pieces),
        "ranks": [[game.layout.cells[cell] for cell in rank] for rank in ranks_downward(game.layout)],
    }


def _snapshot_row(snapshot: Snapshot, events: Sequence[Event], game: Game) -> dict[str, Any]:
    told = (event for event in reversed(events) if isinstance(event, Unfinished) and event.todo == snapshot.todo)
    return {
        "mode": snapshot.mode,
        "position": snapshot.position,
        "to_move": snapshot.to_move,
        "todo": tasks(next(told, None), game),
        "wrong": list(snapshot.wrong),
        "options": list(snapshot.options),
        "outcome": None if snapshot.outcome is None else outcome_row(snapshot.outcome),
        "clock": None if snapshot.clock is None else _clock_row(snapshot.clock),
    }


def _guessed_row(page_state: PageState, game: Game) -> dict[str, Any]:
    """The state as far as it follows from the events alone, which is all that is known of a table in a hall."""
    said = notable(page_state.events)
    last = said[-1] if said else None
    over = standing_end(said)
    clock = next((event for event in reversed(page_state.events) if isinstance(event, ClockChanged)), None)
    return {
        "mode": "",
        "to_move": to_move(page_state.history.position),
        "todo": tasks(last if isinstance(last, Unfinished) else None, game),
        "wrong": list(getattr(last, "cells", ())),
        "options": list(getattr(last, "options", ())),
        "outcome": None if over is None else {"winner": over.winner, "rule": over.rule},
        "clock": None if clock is None else _clock_event_row(clock),
    }


def _drawn(page_state: PageState) -> int | None:
    """Number of the event that is drawn on the board, an illegal act or unfinished turn; None if the table is right."""
    said = [event for event in notable(page_state.events) if not isinstance(event, ClockChanged)]
    last = said[-1] if said else None
    return last.n if isinstance(last, Illegal | Unfinished) and last.cells else None


def _question_row(page_state: PageState, game: Game) -> dict[str, Any] | None:
    """The referee's question: the event's number, and each move asked about, with that move in words.

    None if nothing is asked.
    """
    said = notable(page_state.events)
    last = said[-1] if said else None
    if not isinstance(last, Unsure):
        return None
    _, position = read_position(page_state.history.position)
    rows = []
    for option in last.options:
        move = parse_move(game, position, option)
        told = {
            code: describe_move(game, position, move, language(code, game), player_names(game, code, page_state.people))
            for code in LANGUAGES
        }
        rows.append({"option": option, "texts": told})
    return {"n": last.n, "choices": rows}


def _clock_event_row(event: ClockChanged) -> dict[str, Any]:
    running = event.player if event.state != "stopped" else None
    left = dict(zip(event.players, event.left, strict=False))
    return {"control": event.control, "left": left, "running": running, "since": event.t}


def _clock_row(clock: Clock) -> dict[str, Any]:
    """Seconds ``left`` to each player at the match's time ``since``, from which the clock of ``running`` runs."""
    return {
        "control": clock.control.text,
        "left": {player: round(s, 1) for player, s in zip(clock.players, clock.left_s, strict=True)},
        "running": clock.running,
        "since": round(clock.since_s, 2),
    }


def standing_end(events: Sequence[Event]) -> GameOver | None:
    """The event that ended the match; None if it goes on, as after an end that was taken back."""
    decided = [event for event in events if isinstance(event, (Accepted, TakenBack, Corrected, GameOver))]
    return decided[-1] if decided and isinstance(decided[-1], GameOver) else None


def notable(events: Sequence[Event]) -> list[Event]:
    """The events worth a sentence of their own: changes of view, sensors and running clocks are not."""
    return [event for event in events if not _is_routine(event)]


def _is_routine(event: Event) -> bool:
    return isinstance(event, (ViewChanged, SensorsChanged)) or (
        isinstance(event, ClockChanged) and event.state != "flag"
    )


def said_row(event: Event, game: Game, people: tuple[str, ...]) -> dict[str, Any]:
    """An event as sentences, with the rules that it cites and the squares that it is about."""
    cited: Collection[str] = getattr(event, "rules", ()) or tuple(filter(None, (getattr(event, "rule", ""),)))
    rules = [game.rules[rule] for rule in cited if rule in game.rules]
    return {
        "n": event.n,
        "t": event.t,
        "event": event.event,
        "player": getattr(event, "player", None),
        "texts": sentences(event, game, people),
        "rules": [rule_row(rule, game) for rule in rules],
        "cells": list(getattr(event, "cells", ())),
    }


def _latest(events: Sequence[Event], kind: type[ViewChanged] | type[SensorsChanged], otherwise: str) -> str:
    """The state in the last event of one kind; ``otherwise`` if there is none."""
    return next((event.state for event in reversed(events) if isinstance(event, kind)), otherwise)
