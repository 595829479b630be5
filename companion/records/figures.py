"""A match as a sequence of figures: a board, what happened, and the squares concerned."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from companion.events import Accepted, Corrected, Event, GameOver, Illegal, Start, TakenBack
from companion.match import Match
from companion.phrases import language, sentence
from companion.records.record import MatchRecord
from companion.records.sheet import move_number
from companion.rules.board import Player
from companion.scene.build import scene
from companion.scene.display_kit import find_kit
from companion.scene.marks import repair_scene
from companion.scene.oblique import diagram
from companion.scene.shapes import Diagram

FigureEvent = Start | Accepted | Illegal | TakenBack | Corrected | GameOver
"""Events that get a figure, since people want to see them again; the rest is in the score sheet."""

CELL = re.compile(r"[a-z][0-9]+")
"""Matches a possible square's name in the text of a move."""


@dataclass(frozen=True)
class Figure:
    """One picture of a match.

    Attributes:
        event: what happened.
        match: the match after it.
        title: a short title: the move with its number, or the kind of event.
        caption: what happened, in a sentence.
        moved: squares that a move went from and to.
        wrong: squares that a verdict is about.
    """

    event: Event
    match: Match
    title: str
    caption: str
    moved: tuple[str, ...]
    wrong: tuple[str, ...]

    @cached_property
    def diagram(self) -> Diagram:
        """The accepted position with frames around squares; for an illegal act, what is wrong and the way back."""
        match, kit = self.match, find_kit(self.match.game.tag)
        if isinstance(self.event, Illegal):
            return diagram(repair_scene(match.game, match.position, self.event, kit))
        return diagram(scene(match.game, match.position, kit, self.moved, self.wrong))


def figures(record: MatchRecord) -> list[Figure]:
    """The figures of a match, in order.  Raises InvalidRecord if the rules contradict the record."""
    made = []
    before: Match | None = None
    for event, match in record.stages():
        if isinstance(event, FigureEvent):
            made.append(make_figure(event, before or match, match, record.names))
        before = match
    return made


def make_figure(event: Event, before: Match, after: Match, names: Mapping[Player, str]) -> Figure:
    """The figure of one event between two states of the match; ``names`` are the people's."""
    caption = sentence(event, language("en", after.game), names)
    return Figure(event, after, _title(event, before), caption, _moved(event, after), getattr(event, "cells", ()))


def _title(event: Event, before: Match) -> str:
    match event:
        case Accepted(move=move, player=player):
            return f"{move_number(before)}. {player} {move}"
        case Corrected(move=str(move)):
            return f"{move_number(before)}. {move} (ruling)"
        case Corrected():
            return "position set"
        case Illegal(attempt=attempt):
            return f"illegal: {attempt}" if attempt else "illegal"
        case _:
            return event.event.replace("-", " ")


def _moved(event: Event, match: Match) -> tuple[str, ...]:
    """The squares in the text of a move, or of those that were taken back."""
    texts = (getattr(event, "move", None) or "", *getattr(event, "moves", ()))
    found = dict.fromkeys(cell for text in texts for cell in CELL.findall(text))
    return tuple(cell for cell in found if cell in match.game.layout.index)
