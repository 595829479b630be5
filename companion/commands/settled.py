"""``companion referee table.toml``: the file's settings, and over them what the command line says."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from companion.errors import BadText, CompanionError
from companion.settings.keys import SELF_CONTAINED, SOURCES
from companion.settings.table import SUFFIX, Settings, read_settings


class _Trial(argparse.ArgumentParser):
    """A parser that raises what others print."""

    def error(self, message: str) -> NoReturn:
        raise BadText(message)


def settled(arguments: argparse.Namespace, add_parsers: Callable[[Any], None]) -> argparse.Namespace:
    """All options of ``companion referee``, those of the file included if the game is the name of one.

    An option of the command line goes before the file's.  So does a source: it replaces whatever source is in the file,
    and one that knows camera and set itself replaces these too.

    Args:
        arguments: of the command line.
        add_parsers: adds the parser of ``referee``.

    Raises:
        ProfileError, BadSettings: the file cannot be used.
        CompanionError: neither names a source of pictures.
    """
    arguments = over_file(arguments, add_parsers)
    if all(_is_unset(vars(arguments)[source]) for source in SOURCES):
        *others, last = (f"--{source}" for source in SOURCES)
        raise CompanionError(f"nothing to look at: give one of {', '.join(others)} and {last}")
    return arguments


def over_file(arguments: argparse.Namespace, add_parsers: Callable[[Any], None]) -> argparse.Namespace:
    """The same, but that no source need be named.  Raises ProfileError, BadSettings."""
    is_file = str(arguments.game).endswith(SUFFIX)
    return _over(arguments, _trial(add_parsers)) if is_file else arguments


def file_settings(path: Path, add_parsers: Callable[[Any], None]) -> tuple[Settings, argparse.Namespace]:
    """What a file says, and the same as options of ``companion referee``.  Raises ProfileError, BadSettings."""
    return _read(path, _trial(add_parsers))


def _read(path: Path, parser: _Trial) -> tuple[Settings, argparse.Namespace]:
    settings = read_settings(path, lambda words: (parser.parse_args(words), None)[1])
    return settings, parser.parse_args(settings.words)


def _over(arguments: argparse.Namespace, parser: _Trial) -> argparse.Namespace:
    settings, filed = _read(Path(arguments.game), parser)
    unset = vars(parser.parse_args(["-"]))
    given = {name: value for name, value in vars(arguments).items() if name in unset and value != unset[name]}
    del given["game"]
    below = vars(filed)
    replaced: tuple[str, ...] = ()
    if given.keys() & set(SOURCES):
        replaced += SOURCES
    if given.keys() & set(SELF_CONTAINED):
        replaced += ("camera", "set", "resume")
    below |= {name: unset[name] for name in replaced}
    return argparse.Namespace(**{**vars(arguments), **below, **given, "names": settings.names, "pins": settings.pins})


def _is_unset(value: object) -> bool:
    return value is None or value is False


def _trial(add_parsers: Callable[[Any], None]) -> _Trial:
    adders = _Trial(prog="companion").add_subparsers(parser_class=_Trial)
    add_parsers(adders)
    parser: _Trial = adders.choices["referee"]
    return parser
