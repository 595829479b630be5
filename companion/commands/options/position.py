"""Shared by the commands that query the rules: a game or position as argument, and ``--json``."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from companion.commands.options.parser import Subparsers, T, add_command

MANY = "-"
"""Argument in place of a position: read one from each line of standard input."""


def add_rules_command(
    subparsers: Subparsers, name: str, kind: type[T], run: Callable[[T], int], summary: str
) -> argparse.ArgumentParser:
    """Add a command that prints what ``summary`` names."""
    parser = add_command(subparsers, name, kind, run, help=summary, description=f"Print {summary}.")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    return parser
