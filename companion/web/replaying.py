"""A stored match for replay on a page: every step with its board in every view, in one text that browsers read.

The boards of a match differ little from each other.  So each part of them is written once, as a line of JSON, in which
``{"$": 7}`` stands for the content of line 7, and ``{"$": [...]}`` for a text of several lines; the last line is the
match.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from calibration.kit import Kit
from companion.events import Accepted, Corrected, Event, Illegal, Restored, TakenBack, Unfinished
from companion.games import load_game
from companion.rules.game import Game
from companion.rules.notation import position_tag
from companion.web.boards import BoardRequest, whole_row
from companion.web.move_history import MoveHistory, PlayedMove, apply_event
from companion.web.view import game_row, notable, said_row, standing_end

SHORTEST = 40
"""Characters of JSON; anything shorter is written in place, since a reference would save nothing."""


@dataclass(frozen=True)
class KeptMatch:
    """A stored match to be replayed.

    Attributes:
        events: all events in order; the first is the start.
        people: the players' names in turn order; empty if they were not given.
        started_at: when it began, as ISO 8601.
        kit: the set with which it is drawn; None: that of the game.
        pictures: the camera's pictures by event number, as ``data:`` URLs.
    """

    events: Sequence[Event]
    people: tuple[str, ...] = ()
    started_at: str = ""
    kit: Kit | None = None
    pictures: Mapping[int, str] = field(default_factory=dict)


def replay_text(match: KeptMatch) -> str:
    """The match in the format of this module.  Raises CompanionError for a ruling that is no move of the game."""
    game = load_game(position_tag(match.events[0].position))  # type: ignore[attr-defined]
    over = standing_end(match.events)
    row = {
        "game": game_row(game, match.kit, match.people),
        "started_at": match.started_at,
        "result": None if over is None else {"winner": over.winner, "rule": over.rule},
        "steps": list(_steps(match, game)),
    }
    lines = Lines()
    lines.add(row)
    return lines.text


def _steps(match: KeptMatch, game: Game) -> Iterator[dict[str, Any]]:
    history = MoveHistory("")
    for event in notable(match.events):
        before, history = history, apply_event(history, event)
        if isinstance(event, Restored):  # the next step shows that the table is right
            continue
        wanted = BoardRequest(history.position, kit=match.kit, moved=_moved(event, before, history))
        if isinstance(event, Illegal | Unfinished) and event.cells:
            wanted = BoardRequest(history.position, kit=match.kit, event=event)
        turn = history.turns[-1] if len(history.turns) > len(before.turns) else None
        yield {
            **said_row(event, game, match.people),
            **_turn_row(turn, len(history.turns)),
            "board": whole_row(wanted),
            "picture": match.pictures.get(event.n),
        }


def _turn_row(turn: PlayedMove | None, number: int) -> dict[str, Any]:
    """The move made in a step; number 0 means none."""
    if turn is None:
        return {"number": 0, "move": "", "by": ""}
    return {"number": number, "player": turn.player, "move": turn.move, "by": turn.by}


def _moved(event: Event, before: MoveHistory, after: MoveHistory) -> tuple[str, ...]:
    """The squares that a step changed: those of a move, or of moves that were taken back."""
    if isinstance(event, Accepted | Corrected | TakenBack):
        changed = [turn for turn in (*before.turns, *after.turns) if (turn in before.turns) != (turn in after.turns)]
        return tuple(dict.fromkeys(cell for turn in changed for cell in turn.cells))
    return ()


@dataclass
class Lines:
    """Values as lines of JSON, in which each part is written once."""

    _places: dict[str, int] = field(default_factory=dict)

    def add(self, value: Any) -> None:
        """Add a value; the last of its lines is the value itself."""
        text = self._line(value)
        self._places.setdefault(text, len(self._places))

    @property
    def text(self) -> str:
        """All lines."""
        return "\n".join(self._places)

    def _line(self, value: Any) -> str:
        """The value as JSON, with references to the lines of its parts."""
        if isinstance(value, Mapping):
            return "{" + ",".join(f"{json.dumps(key)}:{self._part(part)}" for key, part in value.items()) + "}"
        if isinstance(value, list | tuple):
            return "[" + ",".join(map(self._part, value)) + "]"
        if isinstance(value, str) and "\n" in value:
            return self._line({"$": value.split("\n")})
        return json.dumps(value, ensure_ascii=False)

    def _part(self, value: Any) -> str:
        text = self._line(value)
        if len(text) < SHORTEST:
            return text
        return f'{{"$":{self._places.setdefault(text, len(self._places))}}}'
