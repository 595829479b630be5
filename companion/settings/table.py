"""Reads ``table.toml``: all mistakes are found, each with its line, before anything is opened."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from calibration.files import read_text
from calibration.toml import is_plain, load
from companion.errors import BadText, CompanionError
from companion.panel.pins import Pins
from companion.rules.board import Player
from companion.schema import LONGEST_NAME
from companion.settings.keys import AUTO, GAME, NAMES, OPTIONS, PIN_KEYS, PINS, Key, Kind
from companion.settings.lines import key_lines

SUFFIX = ".toml"

LOGIN = re.compile(r"(?<=://)[^/@\s]*@")
"""User and password in an address, which no message may show."""

Check = Callable[[tuple[str, ...]], None]
"""Raises BadText when ``companion referee`` would not accept these words."""


class BadSettings(CompanionError):
    """A settings file with mistakes; one line for each."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings in a file.

    Attributes:
        words: the same as command-line arguments: the game, then options; files are relative to the folder in which
            the program runs.
        names: players' names by letter.
        pins: the panel's pins; None: not given.
    """

    words: tuple[str, ...]
    names: Mapping[Player, str] = field(default_factory=lambda: MappingProxyType({}))
    pins: Pins | None = None


@dataclass
class _Reader:
    """Collects the mistakes of one file."""

    path: Path
    lines: Mapping[tuple[str, ...], int]
    mistakes: dict[str, int] = field(default_factory=dict)

    def wrong(self, key: tuple[str, ...], what: str) -> None:
        """Record a mistake at ``key``."""
        line = self.lines.get(key, self.lines.get(key[:1], 1))
        self.mistakes[f"{self.path}:{line}: {what}"] = line

    def unknown(self, key: tuple[str, ...], known: Iterable[str]) -> None:
        """Record an unknown key, with the most similar known one."""
        near = difflib.get_close_matches(key[-1], tuple(known), n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
        self.wrong(key, f"{key[-1]} is not known; {hint}")


def read_settings(path: Path, check: Check) -> Settings:
    """The settings in a file.

    Raises:
        ProfileError: it cannot be read, or is not TOML.
        BadSettings: it has mistakes; all are listed, in the order of their lines.
    """
    values = load(path)
    reader = _Reader(path, key_lines(read_text(path)))
    known = {key.name: key for key in OPTIONS}
    for name in values.keys() - known.keys() - {GAME, NAMES, PINS}:
        reader.unknown((name,), (GAME, *known, NAMES, PINS))
    words = [_game(reader, values.get(GAME))]
    for name, key in known.items():
        if name in values:
            words += _option(reader, key, values[name], check)
    settings = Settings(tuple(words), _names(reader, values.get(NAMES, {})), _pins(reader, values.get(PINS)))
    if not reader.mistakes:
        _tried(reader, (), settings.words, check)
    if reader.mistakes:
        raise BadSettings("\n".join(sorted(reader.mistakes, key=reader.mistakes.__getitem__)))
    return settings


def _game(reader: _Reader, value: object) -> str:
    if isinstance(value, str):
        return value
    reader.wrong((GAME,), f'{GAME} {"is missing" if value is None else "must be text"}; write {GAME} = "domination"')
    return ""


def _option(reader: _Reader, key: Key, value: object, check: Check) -> tuple[str, ...]:
    """The words of one option; none if its value is wrong."""
    if not _fits(key.kind, value):
        reader.wrong((key.name,), f"{key.name} must be {key.kind.value}, got {LOGIN.sub('', repr(value))}")
        return ()
    words: tuple[str, ...]
    if key.kind is Kind.FLAG or (key.kind is Kind.PHONES and isinstance(value, bool)):
        words = (f"--{key.name}",) if value else (f"--no-{key.name}",) if key.has_no else ()
    elif key.kind is Kind.PROOF:
        files = value if isinstance(value, list) else ()
        words = (f"--{key.name}", *(str(_beside(reader.path, file)) for file in files)) if value else ()
    else:
        each = value if isinstance(value, list) else [value]
        words = tuple(f"--{key.name}={_beside(reader.path, one) if _is_file(key.kind, one) else one}" for one in each)
    _tried(reader, (key.name,), ("-", *words), check)
    return words


def _is_file(kind: Kind, value: object) -> bool:
    return (kind in (Kind.FILE, Kind.FILES) and value != AUTO) or (kind is Kind.KIT and str(value).endswith(SUFFIX))


def _beside(settings: Path, name: object) -> Path:
    """A file named in the settings: relative to their folder, unless its path is absolute."""
    return settings.parent / Path(str(name)).expanduser()


def _tried(reader: _Reader, key: tuple[str, ...], words: tuple[str, ...], check: Check) -> None:
    try:
        check(words)
    except BadText as error:
        reader.wrong(key, str(error).removeprefix(f"argument --{''.join(key)}: ") if key else str(error))


def _fits(kind: Kind, value: object) -> bool:
    match kind:
        case Kind.FLAG:
            return isinstance(value, bool)
        case Kind.PHONES:
            return isinstance(value, int)
        case Kind.PROOF:
            return isinstance(value, bool) or (
                isinstance(value, list) and len(value) == 2 and all(map(_is_text, value))
            )
        case Kind.DEVICES:
            return all(_is_text(each) or _is_number(each) for each in _each(value))
        case Kind.MODULES:
            return all(map(_is_number, _each(value)))
        case Kind.FILES:
            return all(_is_text(each) for each in _each(value))
        case _:
            return _is_text(value)


def _each(value: object) -> list[object]:
    """One value or several as a list; an empty list becomes [None], which fits no kind."""
    return (value or [None]) if isinstance(value, list) else [value]


def _is_text(value: object) -> bool:
    return isinstance(value, str) and is_plain(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _names(reader: _Reader, value: object) -> Mapping[Player, str]:
    if not isinstance(value, dict):
        reader.wrong((NAMES,), f'{NAMES} must be a table: [{NAMES}], then R = "Ann"')
        return MappingProxyType({})
    for letter, name in value.items():
        if not isinstance(name, str) or not name.strip() or not is_plain(name) or len(name) > LONGEST_NAME:
            reader.wrong((NAMES, letter), f"{letter} must be a name in quotes, got {name!r}")
    return MappingProxyType(value)


def _pins(reader: _Reader, value: object) -> Pins | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        reader.wrong((PINS,), f"{PINS} must be a table: [{PINS}], then red = 17")
        return None
    before = len(reader.mistakes)
    given: dict[str, Any] = {}
    for name, pin in value.items():
        if name not in PIN_KEYS:
            reader.unknown((PINS, name), PIN_KEYS)
        elif name == "players" and not (isinstance(pin, list) and all(_is_number(each) for each in pin)):
            reader.wrong((PINS, name), f"{name} must be GPIO numbers, such as [5, 6], got {pin!r}")
        elif name != "players" and not _is_number(pin):
            reader.wrong((PINS, name), f"{name} must be a GPIO number, got {pin!r}")
        else:
            given[name] = tuple(pin) if isinstance(pin, list) else pin
    try:
        return Pins(**given) if len(reader.mistakes) == before else None
    except BadText as error:
        reader.wrong((PINS,), str(error))
        return None
