"""What players are called, and what an event says, in every language of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from companion.events import Event, Unfinished
from companion.phrases import LANGUAGES, sentence, task
from companion.rules.board import Player
from companion.rules.game import Game

TRANSLATED: Mapping[str, Mapping[str, str]] = {
    "de": {
        "Red": "Rot",
        "Green": "Grün",
        "Blue": "Blau",
        "Yellow": "Gelb",
        "Black": "Schwarz",
        "South": "Süd",
        "North": "Nord",
    }
}
"""The games' own names of the players in other languages."""


def player_names(game: Game, code: str, people: Sequence[str] = ()) -> dict[Player, str]:
    """What each player of ``game`` is called in the language ``code``: by his own name among ``people``, if he has one.

    ``people`` are in turn order, empty texts for those without a name.
    """
    words, own = TRANSLATED.get(code, {}), dict(zip(game.players, people, strict=False))
    return {player: own.get(player) or words.get(name, name) for player, name in game.names.items()}


def tasks(event: Unfinished | None) -> dict[str, str]:
    """What is left to do by language; empty texts where it is nothing."""
    return {code: "" if event is None else task(event, tongue) for code, tongue in LANGUAGES.items()}


def sentences(event: Event, game: Game, people: Sequence[str] = ()) -> dict[str, str]:
    """The event's sentence by language."""
    return {code: sentence(event, tongue, player_names(game, code, people)) for code, tongue in LANGUAGES.items()}
