"""What is being set up, and how a simulated table is told the present step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from calibration.kit import Kit
from companion.rules.game import Game


class Scene(Protocol):
    """Takes what should be in front of the camera; a simulated table shows it."""

    def __call__(self, scene: str, taken: int) -> None:
        """Show the scene for this step, with ``taken`` photographs taken so far."""
        ...


@dataclass(frozen=True, slots=True)
class SetupConfig:
    """What is being set up.

    Attributes:
        game: its rules.
        kit: the set.
        folder: the folder to which files are written.
        keys: keys of table.toml besides those that the set-up finds out, as TOML text by key.
        cues: trials of panel and voice by name; each is shown when called.
        sensors: returns the pillar controller's present state in one line; None for a kit without pillars.
        levels: levels of terrain, or of pillars at the start, in the order of the kit's cells; empty on a flat board.
    """

    game: Game
    kit: Kit
    folder: Path
    keys: Mapping[str, str]
    cues: Mapping[str, Callable[[], None]] = field(default_factory=dict)
    sensors: Callable[[], str] | None = None
    levels: tuple[int, ...] = ()
