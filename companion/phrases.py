"""What the referee's events mean in words: one sentence for people, in each language of :data:`LANGUAGES`.

:func:`sentence` serves everything that speaks to people.  What the rules say of a broken rule (``reason``), a task
(``todo``) and a question exist in English only; the other languages name the rules, squares and moves instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType

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
    Unsure,
    ViewChanged,
)
from companion.rules.board import NOBODY, Player


@dataclass(frozen=True, slots=True)
class Language:
    """One language.

    Attributes:
        players: what a player is called by his letter, where nobody gave names.
        texts: sentence by event; ``view.dark`` is the event ``view`` in its state ``dark``.  Besides, ``turn`` says who
            is next, and ``saved`` that a failing disk has taken all events after all.
        either: stands between the last two of several choices.
    """

    players: Mapping[Player, str]
    texts: Mapping[str, str]
    either: str


ENGLISH = Language(
    players=MappingProxyType(
        {"R": "Red", "G": "Green", "B": "Blue", "Y": "Yellow", "S": "South", "N": "North"},
    ),
    texts=MappingProxyType(
        {
            "turn": "{next} to move.",
            "start": "The match begins.",
            "accepted": "{player} played {move}.",
            "illegal": "{player}: {attempt} is not allowed ({rules}): {reason} Put it back.",
            "illegal.table": "{player}: this is not allowed ({rules}): {reason} Put it back.",
            "unfinished": "The move is not finished: {todo}.",
            "restored": "The table is right again.",
            "taken-back": "Taken back: {moves}.",
            "unsure": "{question}",
            "unsure.table": "{question}",
            "corrected.position": "{by} has set the position.",
            "corrected": "{by} rules that {move} was played.",
            "view": "Camera: {state}.",
            "view.clear": "The board is in view.",
            "view.hand": "A hand is over the board.",
            "view.blocked": "Something stands before the board; take it away.",
            "view.no-mat": "The mat is not in view; uncover its corner markers.",
            "view.moved": "The camera or the mat was pushed; it is measured anew.",
            "view.dark": "It is too dark to see; switch on a light.",
            "view.camera-lost": "The camera is gone; check its cable.",
            "sensors": "Pillar sensors: {state}.",
            "sensors.ok": "The pillar sensors work.",
            "sensors.lost": "The pillar sensors are silent; check the cable.",
            "sensors.fault": "The pillar sensors of {cells} are at fault.",
            "skipped": "{player} cannot move and is skipped.",
            "repeated": "This position has now been on the table {times} times.",
            "game-over": "{winner} wins ({rule}).",
            "game-over.drawn": "The game is drawn ({rule}).",
            "clock": "Clock: {left}.",
            "clock.flag": "{player} has no time left.",
            "saved": "Everything is saved again.",
            "offer": "Was it {move}?",
            "put-right": "If something has been changed, put it right; if not, press undo.",
            "undo.restoring": "First put back what lies wrong.",
        }
    ),
    either="or",
)

GERMAN = Language(
    players=MappingProxyType(
        {"R": "Rot", "G": "Grün", "B": "Blau", "Y": "Gelb", "S": "Süd", "N": "Nord"},
    ),
    texts=MappingProxyType(
        {
            "turn": "{next} ist am Zug.",
            "start": "Die Partie beginnt.",
            "accepted": "{player} hat {move} gezogen.",
            "illegal": "{player}: {attempt} ist nicht erlaubt ({rules}), Felder {cells}. Bitte zurückstellen.",
            "illegal.table": "{player}: Das ist nicht erlaubt ({rules}), Felder {cells}. Bitte zurückstellen.",
            "unfinished": "Der Zug ist noch nicht zu Ende, Felder {cells}.",
            "restored": "Das Brett stimmt wieder.",
            "taken-back": "Zurückgenommen: {moves}.",
            "unsure": "Welcher Zug war es: {options}?",
            "unsure.table": "Ist etwas verändert worden, das nicht sollte? Bitte das Brett prüfen.",
            "corrected.position": "{by} hat die Stellung gesetzt.",
            "corrected": "{by} entscheidet: Gezogen wurde {move}.",
            "view": "Kamera: {state}.",
            "view.clear": "Das Brett ist zu sehen.",
            "view.hand": "Eine Hand ist über dem Brett.",
            "view.blocked": "Etwas steht vor dem Brett; bitte wegnehmen.",
            "view.no-mat": "Die Matte ist nicht zu sehen; bitte ihre Eckmarken frei machen.",
            "view.moved": "Kamera oder Matte wurde verschoben; sie wird neu eingemessen.",
            "view.dark": "Es ist zu dunkel; bitte Licht machen.",
            "view.camera-lost": "Die Kamera ist weg; bitte das Kabel prüfen.",
            "sensors": "Säulensensoren: {state}.",
            "sensors.ok": "Die Säulensensoren arbeiten.",
            "sensors.lost": "Die Säulensensoren schweigen; bitte das Kabel prüfen.",
            "sensors.fault": "Die Säulensensoren von {cells} sind gestört.",
            "skipped": "{player} kann nicht ziehen und setzt aus.",
            "repeated": "Diese Stellung steht zum {times}. Mal auf dem Brett.",
            "game-over": "{winner} gewinnt ({rule}).",
            "game-over.drawn": "Die Partie ist unentschieden ({rule}).",
            "clock": "Uhr: {left}.",
            "clock.flag": "Die Zeit von {player} ist abgelaufen.",
            "saved": "Alles ist wieder gesichert.",
            "offer": "War es {move}?",
            "put-right": "Ist etwas verändert worden, dann bitte richtigstellen; wenn nicht, „zurück“ drücken.",
            "undo.restoring": "Erst zurückstellen, was falsch liegt.",
        }
    ),
    either="oder",
)

LANGUAGES: Mapping[str, Language] = MappingProxyType({"en": ENGLISH, "de": GERMAN})


def language(code: str) -> Language:
    """The language of a two-letter code.  Raises BadText, naming those that there are."""
    if code not in LANGUAGES:
        raise BadText(f"there is no language {code!r}; write one of {' '.join(LANGUAGES)}")
    return LANGUAGES[code]


def to_move(position: str) -> Player:
    """The letter of the player to move in a position's text, NOBODY when the game is over (notation.md)."""
    words = position.split(" ")
    return words[2] if len(words) > 2 else NOBODY


def sentence(event: Event, tongue: Language = ENGLISH, names: Mapping[Player, str] = MappingProxyType({})) -> str:
    """The event as one line for people; ``names`` go before the language's own words for the players."""
    called = {**tongue.players, **names}
    words = {field.name: _words(field.name, getattr(event, field.name), tongue, called) for field in fields(event)}
    if isinstance(event, ClockChanged):
        times = zip(event.players, event.left, strict=True)
        words["left"] = ", ".join(f"{called.get(player, player)} {minutes(left)}" for player, left in times)
    parts = [tongue.texts.get(_key(event)) or tongue.texts[event.event]]
    if isinstance(event, Start | Accepted | TakenBack | Corrected) and event.position is not None:
        words["next"] = called.get(to_move(event.position), NOBODY)
        parts += [tongue.texts["turn"]] * (words["next"] != NOBODY)
    return " ".join(" ".join(parts).format_map(words).split())


def minutes(seconds: float) -> str:
    """A time as clocks show it: ``9:55``, ``1:30:00``."""
    whole = int(seconds)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"


def _key(event: Event) -> str:
    """Which text says it."""
    match event:
        case Illegal(attempt=None):
            return "illegal.table"
        case Corrected(move=None):
            return "corrected.position"
        case Unsure(options=()):
            return "unsure.table"
        case GameOver(winner=None):
            return "game-over.drawn"
        case ViewChanged(state=state) | SensorsChanged(state=state) | ClockChanged(state=state):
            return f"{event.event}.{state}"
        case _:
            return event.event


def _words(name: str, value: object, tongue: Language, called: Mapping[Player, str]) -> str:
    """How a field of an event reads inside a sentence."""
    if name == "options" and isinstance(value, tuple):
        return f" {tongue.either} ".join(value)
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    text = "" if value is None else str(value)
    if name in ("player", "winner"):
        return called.get(text, text)
    return text.rstrip(".") if name == "todo" else text
