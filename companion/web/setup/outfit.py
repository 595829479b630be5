"""What is set up, and what a simulated table is told meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from calibration.kit import Kit
from companion.rules.game import Game


class Scene(Protocol):
    """Told what should be before the camera: a simulated table obeys."""

    def __call__(self, scene: str, taken: int) -> None:
        """Show this step, with so many photographs taken."""
        ...


@dataclass(frozen=True, slots=True)
class Outfit:
    """What is set up.

    Attributes:
        game: its rules.
        kit: the set.
        folder: where files are written.
        keys: of table.toml besides those that the set-up finds out, as TOML text by key.
        cues: tries of panel and voice by name; each shows itself when called.
        sensors: says what the pillars' controller tells now, in one line; None for a kit without pillars.
        levels: of terrain, or of the pillars at the start, in the order of the kit's cells; empty on a flat board.
    """

    game: Game
    kit: Kit
    folder: Path
    keys: Mapping[str, str]
    cues: Mapping[str, Callable[[], None]] = field(default_factory=dict)
    sensors: Callable[[], str] | None = None
    levels: tuple[int, ...] = ()
