"""Where the match store lies when nobody says so."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from companion.errors import StoreError

FOLDER = "stacking-games-referee"
FILE = "matches.db"


def default_store(environment: Mapping[str, str], home: Path) -> Path:
    """The store's path by the platform's rules.

    Under systemd ``$STATE_DIRECTORY/matches.db`` (its first folder, where it names several), else
    ``stacking-games-referee/matches.db`` in ``$XDG_DATA_HOME``, which counts only if absolute, or ``~/.local/share``.
    """
    if state := environment.get("STATE_DIRECTORY", "").split(":")[0]:
        return Path(state) / FILE
    data = Path(environment.get("XDG_DATA_HOME", ""))
    return (data if data.is_absolute() else home / ".local" / "share") / FOLDER / FILE


def make_folder(store: Path) -> None:
    """Make the folder of the default store, readable by its owner only.

    Raises:
        StoreError: it cannot be made.
    """
    try:
        store.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{store.parent}: cannot make this folder ({error.strerror}); give --match FILE") from error
