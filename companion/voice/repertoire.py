"""The clips that a match may need, as far as they can be known in advance."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from companion.descriptions import describe_step
from companion.events import (
    Accepted,
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
from companion.languages.language import Language
from companion.panel.cues import SENSORS, VIEWS
from companion.phrases import sentence
from companion.referee.phrases import question
from companion.restoring import RepairStep
from companion.rules.board import Player
from companion.rules.game import Game
from companion.voice.wording import clips

MAX_PIECES = 6
"""Numbers of pieces, and pillars' levels, in instructions for restoring that are made in advance; rarer ones are made
when they are spoken."""


def repertoire(game: Game, lang: Language, names: Mapping[Player, str]) -> tuple[str, ...]:
    """The clips of every event that ``game`` may produce, each once, including squares and signs.

    What a rule's refusal says about particular pieces is not included if the language has no text of its own for the
    rule.
    """
    texts = [sentence(event, lang, names) for event in (*_events(game), *_tasks(lang))]
    texts += [
        lang.texts[key].format(move="a1")
        for key in ("saved", "paused", "resumed", "offer", "put-right", "undo.restoring")
    ]
    texts += [describe_step(game, step, lang, {**lang.players, **names}) for step in _steps(game)]
    texts += [rule for rule in lang.rules.values() if "{" not in rule]
    found = [clip for text in texts for clip in clips(text, lang)]
    signs = [sign.format(count=n) for sign in lang.signs.values() for n in (range(1, 6) if "{" in sign else (0,))]
    return tuple(dict.fromkeys((*found, *signs, *game.layout.cells)))


def _tasks(lang: Language) -> Iterator[Event]:
    """Everything that may be left to do in a turn, as far as the language has texts of its own for it."""
    for task in lang.tasks:
        yield Unfinished(t=0, n=1, todo=re.sub(r"\{\w+\}", "a1", task), cells=("a1",))


def _steps(game: Game) -> Iterator[RepairStep]:
    """One restoring step of every kind, with every piece; squares are clips of their own."""
    for piece in ("", *game.pieces):
        yield from (RepairStep("a1", "a1", 1, piece), RepairStep("a1", "", 1, piece), RepairStep("", "a1", 1, piece))
    for count in range(2, MAX_PIECES + 1):
        yield from (RepairStep("a1", "a1", count), RepairStep("a1", "", count), RepairStep("", "a1", count))
    for level in range(MAX_PIECES + 1):
        yield from (RepairStep("", "a1", 0, level=level, now=now) for now in (level - 1, level + 1))


def _events(game: Game) -> Iterator[Event]:
    """One event of every kind, state, player and rule of ``game``; on one square, since squares are separate clips."""
    for player in game.players:
        position = f"{game.tag} - {player}"
        yield Start(t=0, n=1, position=position)
        yield Accepted(t=0, n=1, player=player, move="a1-a2", position=position)
        yield TakenBack(t=0, n=1, moves=("a1-a2",), position=position)
        yield Corrected(t=0, n=1, by="panel", position=position)
        yield Skipped(t=0, n=1, player=player)
        for rule in game.rules:
            yield GameOver(t=0, n=1, winner=player, rule=rule, position=position)
        for attempt in ("a1-a2", None):
            rules = tuple(game.rules)
            yield Illegal(
                t=0, n=1, player=player, attempt=attempt, rules=rules, reason="", cells=("a1",), seen="", expected=""
            )
    yield GameOver(t=0, n=1, winner=None, rule="G-4", position="")
    yield Restored(t=0, n=1)
    yield from (Withdrawn(t=0, n=1, player=player, cells=("a1",)) for player in game.players)
    yield Unfinished(t=0, n=1, todo="", cells=("a1",))
    for options in (("a1-a2", "a1-a3"), ("a1-a2",), ()):
        for or_one_hand in (False, bool(options)):
            asked = question(options, (), or_one_hand=or_one_hand)
            yield Unsure(t=0, n=1, options=options, question=asked, or_one_hand=or_one_hand)
    yield from (Repeated(t=0, n=1, times=times, position="") for times in (2, 3))
    yield from (ViewChanged(t=0, n=1, state=state) for state in VIEWS)
    yield from (SensorsChanged(t=0, n=1, state=state, cells=("a1",)) for state in SENSORS)
