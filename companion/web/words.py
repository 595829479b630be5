"""What players are called, and what an event says, in every language of the page."""

from __future__ import annotations

from collections.abc import Sequence

from companion.events import Event, Unfinished
from companion.phrases import LANGUAGES, language, sentence, task
from companion.rules.board import Player
from companion.rules.game import Game


def player_names(game: Game, code: str, people: Sequence[str] = ()) -> dict[Player, str]:
    """What each player of ``game`` is called in the language ``code``: by his own name among ``people``, if he has one.

    ``people`` are in turn order, empty texts for those without a name.
    """
    words, own = language(code, game).players, dict(zip(game.players, people, strict=False))
    return {player: own.get(player) or words[player] for player in game.players}


def tasks(event: Unfinished | None, game: Game) -> dict[str, str]:
    """What is left to do by language; empty texts where it is nothing."""
    return {code: "" if event is None else task(event, language(code, game)) for code in LANGUAGES}


def sentences(event: Event, game: Game, people: Sequence[str] = ()) -> dict[str, str]:
    """The event's sentence by language."""
    return {code: sentence(event, language(code, game), player_names(game, code, people)) for code in LANGUAGES}
