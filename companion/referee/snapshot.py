"""The state of a table in words, for display."""

from __future__ import annotations

from dataclasses import dataclass

from companion.referee.clock import Clock
from companion.rules.board import Player
from companion.rules.game import Outcome


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The whole state in words: ``options`` when people are asked, what is left ``todo``, and the ``wrong`` squares."""

    mode: str
    view: str
    position: str
    to_move: Player
    todo: str
    wrong: tuple[str, ...]
    options: tuple[str, ...]
    outcome: Outcome | None
    clock: Clock | None = None
