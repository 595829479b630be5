"""The games, found by file name: a module here with ``TITLE``, ``VARIANTS``, ``PLAYERS`` and ``build`` is a game.

This file knows none of them by name, so that a new game is one new file, with one more beside it for each language
but English (:mod:`companion.rules.translation`).
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import ModuleType

from companion.errors import UnknownGame
from companion.rules import notation
from companion.rules.game import Game, Position
from companion.rules.translation import Translation, read_translation


@dataclass(frozen=True, slots=True)
class GameInfo:
    """One game: what it is about, and what can be chosen: variants (``""`` is the main rules), numbers of players."""

    name: str
    title: str
    about: str
    variants: tuple[str, ...]
    players: tuple[int, ...]

    @property
    def tags(self) -> tuple[str, ...]:
        """The game in every variant for every number of players, the main one first."""
        return tuple(notation.format_tag(self.name, variant, n) for variant in self.variants for n in self.players)


@cache
def available_games() -> tuple[GameInfo, ...]:
    """Every game in this folder, by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return tuple(_info(name, _module(name)) for name in names)


def _info(name: str, module: ModuleType) -> GameInfo:
    return GameInfo(name, module.TITLE, module.__doc__ or "", module.VARIANTS, module.PLAYERS)


def title_of(tag: str, language: str = "en") -> str:
    """What the game of ``tag`` is called in a language, by its two-letter code.

    It is the game's own title where nobody has translated it, and the tag itself where there is no such game any more.
    """
    info = next((info for info in available_games() if tag in info.tags), None)
    return tag if info is None else translation(info.name, language).title or info.title


def available_tags() -> tuple[str, ...]:
    """The tag of every game in every variant for every number of players."""
    return tuple(tag for info in available_games() for tag in info.tags)


@cache
def load_game(tag: str) -> Game:
    """The game of ``tag`` (``domination``, ``domination:classic/3``; two players need not be written).

    Raises:
        UnknownGame: no such game, variant or number of players; the message names those that there are.
    """
    name, variant, players = notation.parse_tag(tag)
    known = {info.name: info for info in available_games()}
    if name not in known:
        nearest = get_close_matches(name, known, n=2)
        hint = f"did you mean {' or '.join(nearest)}?" if nearest else f"there are {', '.join(known)}"
        raise UnknownGame(f"there is no game {notation.quoted(name)}; {hint}")
    info = known[name]
    if variant not in info.variants:
        others = ", ".join(f"{name}:{other}" if other else name for other in info.variants)
        raise UnknownGame(f"{name} has no variant {notation.quoted(variant)}; there are {others}")
    count = 2 if players is None else players
    if count not in info.players:
        raise UnknownGame(f"{name} is not played by {count}; write {' or '.join(f'/{n}' for n in info.players)}")
    game: Game = _module(name).build(variant, count)
    return game


def read_position(text: str) -> tuple[Game, Position]:
    """The game and the position that a position's text means.

    Raises:
        UnknownGame: it names no game.
        BadPositionText: it is no position of its game.
    """
    game = load_game(notation.position_tag(text))
    return game, notation.parse_position(game, text)


@cache
def translation(name: str, language: str) -> Translation:
    """The words of the game ``name`` in a language, by its two-letter code.  Raises BadText for a faulty file."""
    path = Path(_module(name).__file__ or "").with_suffix(f".{language}.toml")
    return read_translation(path) if path.exists() else Translation()


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"companion.games.{name}")
