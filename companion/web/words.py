"""Names of players and games, and sentences for events, in every language of the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from companion.events import Event, Unfinished
from companion.games import title_of
from companion.phrases import LANGUAGES, language, sentence, task
from companion.rules.board import Player
from companion.rules.game import Game, Rule


def player_names(game: Game, code: str, people: Sequence[str] = ()) -> dict[Player, str]:
    """The name of each player in the language ``code``: the person's own name from ``people``, if there is one.

    ``people`` are in turn order, empty texts for those without a name.
    """
    words, own = language(code, game).players, dict(zip(game.players, people, strict=False))
    return {player: own.get(player) or words[player] for player in game.players}


def game_titles(tag: str) -> dict[str, str]:
    """The title of the game ``tag``, by language."""
    return {code: title_of(tag, code) for code in LANGUAGES}


def rule_row(rule: Rule, game: Game) -> dict[str, Any]:
    """A rule's number, and its title and text by language."""
    tongues = {code: language(code, game) for code in LANGUAGES}
    return {
        "id": rule.id,
        "title": rule.title,
        "text": rule.text,
        "titles": {code: lang.titles.get(rule.id, rule.title) for code, lang in tongues.items()},
        "texts": {code: lang.explained.get(rule.id, rule.text) for code, lang in tongues.items()},
    }


def tasks(event: Unfinished | None, game: Game) -> dict[str, str]:
    """What is left to do, by language; empty texts if nothing is."""
    return {code: "" if event is None else task(event, language(code, game)) for code in LANGUAGES}


def sentences(event: Event, game: Game, people: Sequence[str] = ()) -> dict[str, str]:
    """The event's sentence, by language."""
    return {code: sentence(event, language(code, game), player_names(game, code, people)) for code in LANGUAGES}
