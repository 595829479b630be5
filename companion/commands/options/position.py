"""The commands that ask the rules: a game or a position on the command line, an answer with ``--json``."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from companion.commands.options.parser import Subparsers, T, add_command

MANY = "-"
"""In place of a position: there is one on each line of standard input."""


def add_rules_command(
    subparsers: Subparsers, name: str, kind: type[T], run: Callable[[T], int], summary: str
) -> argparse.ArgumentParser:
    """Add a command that prints what ``summary`` names."""
    parser = add_command(subparsers, name, kind, run, help=summary, description=f"Print {summary}.")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    return parser
