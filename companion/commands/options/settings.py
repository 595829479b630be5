"""``companion referee table.toml``: the file's settings, overridden by the command line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NoReturn

from companion.commands.options.parser import parse_group
from companion.commands.options.table import TableOptions, add_table
from companion.errors import BadText
from companion.panel.pins import Pins
from companion.settings.keys import SELF_CONTAINED, SOURCES
from companion.settings.table import SUFFIX, Settings, read_settings

SOURCE_OPTIONS = ("camera", "appearances", "resume")
"""Options that are replaced by a source with its own camera and set."""


class _RaisingParser(argparse.ArgumentParser):
    """A parser that raises errors instead of printing them."""

    def error(self, message: str) -> NoReturn:
        raise BadText(message)


def merge_settings_file(arguments: argparse.Namespace) -> argparse.Namespace:
    """The same arguments; if the game is the name of a file, the file's arguments overridden by these.

    An option on the command line overrides the file's.  A source on it replaces any source in the file, and one with
    its own camera and set replaces these too.

    Raises:
        ProfileError, BadSettings: the file cannot be used.
    """
    return _merged(arguments) if str(arguments.game).endswith(SUFFIX) else arguments


def file_settings(path: Path) -> tuple[Settings, TableOptions]:
    """The settings of a file, and the same as options.  Raises ProfileError, BadSettings."""
    settings, arguments = _read(path, _table_parser())
    return settings, parse_group(TableOptions, arguments)


def _read(path: Path, parser: _RaisingParser) -> tuple[Settings, argparse.Namespace]:
    settings = read_settings(path, lambda words: (parser.parse_args(words), None)[1])
    return settings, parser.parse_args(settings.words)


def _merged(arguments: argparse.Namespace) -> argparse.Namespace:
    parser = _table_parser()
    settings, filed = _read(Path(arguments.game), parser)
    unset = vars(parser.parse_args(["-"]))
    given = {name: value for name, value in vars(arguments).items() if name in unset and value != unset[name]}
    del given["game"]
    replaced: tuple[str, ...] = ()
    if given.keys() & set(SOURCES):
        replaced += SOURCES
    if given.keys() & set(SELF_CONTAINED):
        replaced += SOURCE_OPTIONS
    below = vars(filed) | {name: unset[name] for name in replaced}
    aside = {"names": settings.names, "pins": settings.pins or Pins()}
    return argparse.Namespace(**{**vars(arguments), **below, **given, **aside})


def _table_parser() -> _RaisingParser:
    parser = _RaisingParser()
    add_table(parser)
    return parser
