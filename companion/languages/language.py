"""What a language consists of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from companion.rules.board import Player
from companion.rules.game import Game


@dataclass(frozen=True, slots=True)
class Language:
    """One language.

    Attributes:
        players: what a player is called by his letter, where neither people nor the game gave names.
        texts: sentence by event; ``view.dark`` is the event ``view`` in its state ``dark``.  Besides, ``turn`` says who
            is next, ``saved`` that a failing disk has taken all events after all, and those after ``part.`` are parts
            of sentences.
        either: stands between the last two of several choices.
        both: stands between the last two of several things.
        voice: espeak-ng's name of the voice that speaks it.
        signs: how the signs of a move are spoken: ``to`` (between two squares), ``off``, ``=``, ``*`` (from the
            reserve), ``+`` and ``-`` (a pillar), ``:`` (with ``{count}`` pieces), ``x`` (before what it
            takes).
        troubles: what is wrong with a picture, a camera or a set-up, by the program's own words in English; both with
            ``{places}`` for what differs.  Empty where those words serve.
        rules: what who breaks a rule should hear, by the rule's id; empty where the events' own words serve.  A
            language's own file has those that all games share, each game's file beside it has the others.
        titles: of rules, by the rule's id; empty where the rules' own serve.
        explained: the rules' texts, by the rule's id; empty where the rules' own serve.
        tasks: what is left to do of a turn, by the game's own words in English; both with ``{places}``.
            What it has no words for is told by the rule and the squares.
        colours: how the pieces are called of a player who is called by a colour: ``Red`` has ``red`` ones.
        game: that whose words it has; None: none in particular.
    """

    players: Mapping[Player, str]
    texts: Mapping[str, str]
    either: str
    both: str
    voice: str
    signs: Mapping[str, str]
    troubles: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    rules: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    titles: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    explained: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    tasks: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    colours: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    game: Game | None = None
