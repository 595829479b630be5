"""Where the match store lies by default."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from companion.errors import StoreError
from companion.recorder.store import Store

FOLDER = "stacking-games-referee"
FILE = "matches.db"
HALL_FILE = "hall.db"
"""In the same folder: the matches of a hall are kept apart from those of a table."""


def open_store(path: Path | None, *, read_only: bool = False) -> Store:
    """The store ``path``, or by default the usual one, whose folder is created (private to its owner) for writing.

    Raises:
        StoreError: see :meth:`companion.recorder.store.Store.open`.
    """
    if path is not None:
        return Store.open(path, read_only=read_only)
    default = default_store(os.environ)
    if not read_only:
        make_folder(default.parent)
    elif not default.exists():
        raise StoreError(f"{default}: there is no match store yet; play a match, or give --store FILE")
    return Store.open(default, read_only=read_only)


def default_store(environment: Mapping[str, str]) -> Path:
    """The store's path by the platform's rules.

    Under systemd ``$STATE_DIRECTORY/matches.db`` (in its first folder if it names several), else
    ``stacking-games-referee/matches.db`` in ``$XDG_DATA_HOME``, which counts only if absolute, or ``~/.local/share``.

    Raises:
        StoreError: nothing says where the user's files lie.
    """
    if state := state_folder(environment):
        return state / FILE
    data = Path(environment.get("XDG_DATA_HOME", ""))
    if data.is_absolute():
        return data / FOLDER / FILE
    home = Path(environment.get("HOME", ""))
    if not home.is_absolute():
        raise StoreError("no place for the match store is known ($HOME is not set); give --match FILE or --store FILE")
    return home / ".local" / "share" / FOLDER / FILE


def state_folder(environment: Mapping[str, str]) -> Path | None:
    """The folder that systemd gives a service for its state, the first of several; None: this is not a service."""
    state = environment.get("STATE_DIRECTORY", "").split(":")[0]
    return Path(state) if state else None


def make_folder(folder: Path) -> None:
    """Make a folder and its parents.  Raises StoreError."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder}: cannot make this folder ({error.strerror}); give --match FILE") from error
