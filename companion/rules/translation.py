"""A game's words in another language: a TOML file beside the game's own, ``<game>.<language>.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from companion.errors import BadText
from companion.rules.board import Player

SECTIONS = ("players", "rules", "titles", "texts", "tasks")
TITLE, VARIANTS = "title", "variants"


@dataclass(frozen=True, slots=True)
class Translation:
    """One game's words in one language; empty if nobody has translated it.

    Attributes:
        title: the game's own.
        players: each player's name, by his letter.
        rules: what a player who breaks a rule should hear, by the rule's id.
        titles: the rules' titles.
        texts: the rules' texts.
        tasks: what is left to do in a turn, by the game's own English words; both with ``{places}``.
        variants: texts that differ in a variant, by its name.
    """

    title: str = ""
    players: Mapping[Player, str] = field(default_factory=lambda: MappingProxyType({}))
    rules: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    titles: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    texts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    tasks: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    variants: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: MappingProxyType({}))


def read_translation(path: Path) -> Translation:
    """The translation in a file.  Raises BadText, naming the file and what is wrong in it."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadText(f"{path}: cannot be read ({error})") from error
    title, variants = tables.pop(TITLE, ""), tables.pop(VARIANTS, {})
    if not isinstance(title, str) or not isinstance(variants, dict):
        raise BadText(f"{path}: {TITLE} must be text in quotes, and {VARIANTS} tables")
    if unknown := tables.keys() - set(SECTIONS):
        allowed = f"{TITLE} and the tables {', '.join(SECTIONS)}, {VARIANTS}.NAME"
        raise BadText(f"{path}: {min(unknown)} is not known; write only {allowed}")
    players, rules, titles, texts, tasks = (_words(path, name, tables.get(name, {})) for name in SECTIONS)
    own = {name: _words(path, f"{VARIANTS}.{name}", table) for name, table in variants.items()}
    return Translation(title, players, rules, titles, texts, tasks, MappingProxyType(own))


def _words(path: Path, name: str, table: object) -> Mapping[str, str]:
    """A table of texts.  Raises BadText."""
    if not isinstance(table, dict):
        raise BadText(f"{path}: {name} must be a table")
    for key, word in table.items():
        if not isinstance(word, str):
            raise BadText(f"{path}: {name}: {key} must be text in quotes")
    return MappingProxyType(table)
