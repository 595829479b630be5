"""Converts argparse's namespace to frozen values; nothing else reads the namespace."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TypeAlias, TypeVar, get_type_hints

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001 - it has no other name
Completion: TypeAlias = Callable[[argparse.Namespace], argparse.Namespace]


@dataclass(frozen=True, slots=True)
class OptionGroup:
    """Base class of the options of a command, or of some that several commands share.

    Each field of a subclass is an option, under argparse's name (``dest``) for it, or a group of options: another
    subclass.  Options that may be given several times are tuples.
    """


T = TypeVar("T", bound=OptionGroup)


def parse_group(kind: type[T], arguments: argparse.Namespace) -> T:
    """An instance of ``kind`` with the values in ``arguments``."""
    hints, values = get_type_hints(kind), {}
    for field in fields(kind):
        hint = hints[field.name]
        is_group = isinstance(hint, type) and issubclass(hint, OptionGroup)
        values[field.name] = parse_group(hint, arguments) if is_group else _frozen(getattr(arguments, field.name))
    return kind(**values)


def _frozen(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def add_command(
    subparsers: Subparsers,
    name: str,
    kind: type[T],
    run: Callable[[T], int],
    *,
    help: str,  # noqa: A002 - argparse's word
    description: str | None = None,
    complete: Completion = lambda arguments: arguments,
) -> argparse.ArgumentParser:
    """Add the parser of a command whose ``run`` takes its options as an instance of ``kind``.

    ``complete`` may add options that are given elsewhere than on the command line.
    """
    parser = subparsers.add_parser(name, help=help, description=description)
    parser.set_defaults(run=lambda arguments: run(parse_group(kind, complete(arguments))))
    return parser
