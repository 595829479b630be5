"""The referee's events in words: one sentence for people, in each language of :data:`LANGUAGES`.

:func:`sentence` serves everything that speaks to people.  The events themselves are in English; for a broken rule, a
task or a question, another language says what its file beside the game's own has for the rule, with the squares.
:func:`trouble` does the same for faults of a picture or a device.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache
from types import MappingProxyType

from companion.descriptions import describe_repair
from companion.errors import BadText
from companion.events import (
    Accepted,
    ClockChanged,
    Corrected,
    Event,
    GameOver,
    Illegal,
    SensorsChanged,
    Start,
    TakenBack,
    Unfinished,
    Unsure,
    ViewChanged,
)
from companion.games import translation
from companion.languages.english import ENGLISH
from companion.languages.german import GERMAN
from companion.languages.language import Language
from companion.rules.board import NOBODY, Player
from companion.rules.game import Game
from companion.rules.notation import parse_tag

__all__ = [
    "ENGLISH",
    "GERMAN",
    "LANGUAGES",
    "Language",
    "language",
    "minutes",
    "sentence",
    "task",
    "to_move",
    "trouble",
]

MAX_RULES = 2
"""Number of broken rules that are explained at most; nobody listens to a longer sentence."""

LANGUAGES: Mapping[str, Language] = MappingProxyType({"en": ENGLISH, "de": GERMAN})


def language(code: str, game: Game | None = None) -> Language:
    """The language of a two-letter code, with the names that ``game`` has in it for its players and its rules.

    Raises:
        BadText: there is no such language; the message names those that there are.
    """
    if code not in LANGUAGES:
        raise BadText(f"there is no language {code!r}; write one of {' '.join(LANGUAGES)}")
    lang = LANGUAGES[code]
    if game is None:
        return lang
    name, variant, _ = parse_tag(game.tag)
    own = translation(name, code)
    return replace(
        lang,
        players=MappingProxyType({**lang.players, **game.names, **own.players}),
        rules=MappingProxyType({**lang.rules, **own.rules}),
        titles=MappingProxyType({**lang.titles, **own.titles}),
        explained=MappingProxyType({**lang.explained, **own.texts, **own.variants.get(variant, {})}),
        tasks=own.tasks,
        game=game,
    )


def to_move(position: str) -> Player:
    """The letter of the player to move in a position's text, NOBODY when the game is over (docs/notation.md)."""
    words = position.split(" ")
    return words[2] if len(words) > 2 else NOBODY


def sentence(event: Event, lang: Language = ENGLISH, names: Mapping[Player, str] = MappingProxyType({})) -> str:
    """The event as one line for people; ``names`` take priority over the language's own words for the players."""
    called = {**lang.players, **names}
    words = {field.name: _words(field.name, getattr(event, field.name), lang, called) for field in fields(event)}
    if lang.rules and isinstance(event, Illegal):
        words["reason"] = ". ".join(lang.rules.get(rule, rule) for rule in event.rules[:MAX_RULES])
    if isinstance(event, Illegal):
        way = "" if lang.game is None else describe_repair(lang.game, event, lang, called)
        words["back"] = way or lang.texts["back"].format_map(words)
    if isinstance(event, Unfinished):
        words["todo"] = task(event, lang).rstrip(".")
    if isinstance(event, ClockChanged):
        times = zip(event.players, event.left, strict=True)
        words["left"] = ", ".join(f"{called.get(player, player)} {minutes(left)}" for player, left in times)
    parts = [lang.texts.get(_key(event)) or lang.texts[event.event]]
    if isinstance(event, Start | Accepted | TakenBack | Corrected) and event.position is not None:
        words["next"] = called.get(to_move(event.position), NOBODY)
        parts += [lang.texts["turn"]] * (words["next"] != NOBODY)
    return " ".join(" ".join(parts).format_map(words).split())


def task(event: Unfinished, lang: Language) -> str:
    """What is left to do: the event's own words or their translation in ``lang``, else its rule and squares."""
    if not lang.rules:
        return event.todo
    if (told := _translated(event.todo, lang.tasks)) is not None:
        return told
    if event.stacks:
        parts = []
        for i, (cell, stack) in enumerate(zip(event.cells, event.stacks, strict=True)):
            parts.append(lang.texts["part.holds" if stack else "part.empty"].format(cell=cell, stack=stack))
            if event.levels:
                parts.append(lang.texts["part.stands"].format(cell=cell, level=event.levels[i]))
        return f" {lang.both} ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
    rule = lang.rules.get(event.rule, "")
    cells = lang.texts["part.cells"].format(cells=", ".join(event.cells)) if event.cells else ""
    return ", ".join(filter(None, (rule, cells)))


def trouble(message: str, lang: Language) -> str:
    """What is wrong with a picture, a camera or a set-up, in ``lang``; a message without translation is unchanged."""
    return _translated(message, lang.troubles) or message


def _translated(message: str, words: Mapping[str, str]) -> str | None:
    """``message`` by the first of ``words`` that matches, its placeholders translated likewise; None: none matches."""
    for english, said in words.items():
        if found := _pattern(english).fullmatch(message):
            parts = found.groupdict().items()
            return said.format_map({place: _translated(part, words) or part for place, part in parts})
    return None


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """The pattern of a text whose ``{places}`` have been filled in."""
    parts = re.split(r"\{(\w+)\}", text)
    return re.compile("".join(f"(?P<{part}>.+)" if i % 2 else re.escape(part) for i, part in enumerate(parts)))


def minutes(seconds: float) -> str:
    """A time as clocks show it: ``9:55``, ``1:30:00``."""
    whole = int(seconds)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"


def _key(event: Event) -> str:
    """The key of the text for an event."""
    match event:
        case ViewChanged(state=state) | SensorsChanged(state=state) | ClockChanged(state=state):
            return f"{event.event}.{state}"
        case Unfinished() | Unsure():
            return _task_key(event)
        case Illegal(attempt=None):
            return "illegal.table"
        case Corrected(move=None):
            return "corrected.position"
        case GameOver(winner=None):
            return "game-over.drawn"
        case _:
            return event.event


def _task_key(event: Unfinished | Unsure) -> str:
    match event:
        case Unfinished(cells=(), stacks=()):
            return "unfinished.unmoved"
        case Unfinished(stacks=(_, *_), rule=""):
            return "unfinished.set-up"
        case Unsure(options=()):
            return "unsure.squares" if event.cells else "unsure.table"
        case Unsure(or_one_hand=True):
            return "unsure.one-hand"
        case Unsure(options=(_,)):
            return "unsure.one"
        case _:
            return event.event


def _words(name: str, value: object, lang: Language, called: Mapping[Player, str]) -> str:
    """The text of an event's field within a sentence."""
    if name == "options" and isinstance(value, tuple):
        return f" {lang.either} ".join(value)
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    text = "" if value is None else str(value)
    if name == "rule":
        return lang.texts.get(f"part.{text}", text)
    return called.get(text, text) if name in ("player", "winner") else text
