"""A board as a page shows it: as a 3D scene or a picture, with what stands on each square."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from calibration.kit import Kit
from companion.events import Illegal, Unfinished, Unsure
from companion.games import read_position
from companion.rules.board import Player
from companion.rules.game import Game, Outcome, Position
from companion.rules.notation import format_move, parse_move
from companion.scene.build import scene
from companion.scene.marks import repair_scene
from companion.scene.model import Scene, to_json
from companion.scene.oblique import diagram, plan
from companion.scene.svg import svg_text
from companion.web.move_history import CELL

DRAWN_BOARDS = 32
"""Number of drawn boards cached: the newest, in every view, shared by all viewers.  One takes up to 100 kB."""

VIEWS: Mapping[str, Callable[[Scene], Mapping[str, Any]]] = {
    "oblique": lambda shown: {"svg": svg_text(diagram(shown))},
    "plan": lambda shown: {"svg": svg_text(plan(shown))},
    "space": lambda shown: {"scene": to_json(shown)},
}
"""Views that a page can ask for: the picture from the players' side, the picture from above, or the 3D scene."""


@dataclass(frozen=True, slots=True)
class BoardRequest:
    """A board to draw: the position's text, the view, the kit, and what is marked on it.

    ``moved`` are the squares that a move changed; ``event`` says what is wrong or left to do.
    """

    text: str
    view: str = "oblique"
    kit: Kit | None = None
    moved: tuple[str, ...] = ()
    event: Illegal | Unfinished | None = None


@lru_cache(maxsize=DRAWN_BOARDS)
def board_body(wanted: BoardRequest) -> bytes:
    """The board as JSON, ready to be sent.  Raises CompanionError: the text is not a position."""
    return json.dumps(board_row(wanted), ensure_ascii=False, separators=(",", ":")).encode()


def board_row(wanted: BoardRequest) -> Mapping[str, Any]:
    """The board, what stands on each square, and what a picture does not show.

    Raises:
        CompanionError: the text is not a position.
    """
    game, position = read_position(wanted.text)
    return _row(game, position, wanted, VIEWS[wanted.view])


def whole_row(wanted: BoardRequest) -> Mapping[str, Any]:
    """The board in every view, under ``views``, and what no view shows.

    Raises:
        CompanionError: the text is not a position.
    """
    game, position = read_position(wanted.text)
    return _row(game, position, wanted, lambda shown: {"views": {name: draw(shown) for name, draw in VIEWS.items()}})


def option_row(event: Unsure, option: str, wanted: BoardRequest) -> Mapping[str, Any]:
    """The board after ``option``, one of the moves that ``event`` asks about, from the position of ``wanted``."""
    assert option in event.options
    game, position = read_position(wanted.text)
    after = game.play(position, parse_move(game, position, option))
    asked = BoardRequest("", wanted.view, wanted.kit, tuple(CELL.findall(option)))
    return _row(game, after, asked, VIEWS[asked.view])


@lru_cache(maxsize=1)
def legal_moves(text: str) -> tuple[str, ...]:
    """The texts of the legal moves in a position, sorted.  Raises CompanionError: ``text`` is not a position."""
    game, position = read_position(text)
    return tuple(sorted(format_move(game, position, move) for move in game.legal_moves(position)))


def _row(
    game: Game, position: Position, wanted: BoardRequest, drawn: Callable[[Scene], Mapping[str, Any]]
) -> Mapping[str, Any]:
    table, outcome = game.table(position), game.outcome(position)
    levels = table.levels or game.layout.terrain or (None,) * len(table.stacks)
    cells = zip(game.layout.cells, table.stacks, levels, strict=True)
    if wanted.event is None:
        shown = scene(game, position, wanted.kit, wanted.moved)
    else:
        shown = repair_scene(game, position, wanted.event, wanted.kit)
    return {
        "position": shown.title,
        **drawn(shown),
        "squares": {name: {"stack": stack, "level": level} for name, stack, level in cells},
        "owners": _owners(game),
        "marks": {body.piece: body.mark for body in shown.bodies},
        "colours": {body.piece: body.ink if body.is_drawn else body.colour for body in shown.bodies},
        "moved": list(wanted.moved),
        "to_move": position.to_move,
        "outcome": None if outcome is None else outcome_row(outcome),
        "keys": dict(game.position_keys(position)),
    }


def _owners(game: Game) -> dict[str, Player | None]:
    return {piece: game.owner(piece) for piece in game.pieces}


def outcome_row(outcome: Outcome) -> dict[str, Any]:
    """The outcome of a game, as JSON."""
    return {"winner": outcome.winner, "rule": outcome.rule}
