"""Shared by the commands on the match store: ``--store``, ``--json`` and the choice of a match."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

from companion.commands.options.parser import Subparsers, T, add_command
from companion.errors import StoreError
from companion.recorder.place import default_store
from companion.recorder.store import MatchId, Store

LAST, ALL = "last", "all"


def add_store_command(
    subparsers: Subparsers, name: str, kind: type[T], run: Callable[[T], int], description: str
) -> argparse.ArgumentParser:
    """Add a command on the match store."""
    parser = add_command(subparsers, name, kind, run, help=description, description=description)
    parser.add_argument("--store", type=Path, metavar="FILE", help="the match store; default: the user's own")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    return parser


def is_default_missing(store: Path | None) -> bool:
    """Whether nothing has been stored yet: no store is named, and the user's own does not exist.  Raises StoreError."""
    return store is None and not default_store(os.environ).exists()


def find_match(store: Store, name: str) -> MatchId:
    """The match with this number, or the last.  Raises StoreError when there is none."""
    matches = store.match_ids()
    if name == LAST and matches:
        return matches[-1]
    if name.isascii() and name.isdigit() and len(name) < 10 and MatchId(int(name)) in matches:
        return MatchId(int(name))
    what = "no match yet" if not matches else f"matches {matches[0]} to {matches[-1]} and no {ascii(name)[:40]}"
    raise StoreError(f"{store.path}: holds {what}; `companion matches` lists them")
