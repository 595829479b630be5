"""What a game is called in another language: a TOML file beside the game's own, ``<game>.<language>.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from companion.errors import BadText
from companion.rules.board import Player

SECTIONS = ("players", "rules", "titles", "texts")


@dataclass(frozen=True, slots=True)
class Translation:
    """One game's words in one language; empty where nobody has translated it.

    Attributes:
        players: what a player is called, by his letter.
        rules: what who breaks a rule should hear, by the rule's id.
        titles: the rules' titles.
        texts: of rules that nobody can break; the others say what they demand to who breaks them.
    """

    players: Mapping[Player, str] = field(default_factory=lambda: MappingProxyType({}))
    rules: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    titles: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    texts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def read_translation(path: Path) -> Translation:
    """The words of a file.  Raises BadText, naming the file and what is wrong in it."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadText(f"{path}: cannot be read ({error})") from error
    for name, table in tables.items():
        if name not in SECTIONS or not isinstance(table, dict):
            raise BadText(f"{path}: {name} is not known; write only the tables {', '.join(SECTIONS)}")
        for key, word in table.items():
            if not isinstance(word, str):
                raise BadText(f"{path}: {name}: {key} must be text in quotes")
    return Translation(*(MappingProxyType(tables.get(name, {})) for name in SECTIONS))
