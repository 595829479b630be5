"""The stored matches of a table as its page lists them, and the formats in which they can be downloaded."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol

from companion.web.words import game_titles

FORMS = {
    "txt": "text/plain",
    "json": "application/json",
    "pdn": "text/plain",
    "svg": "image/svg+xml",
    "gif": "image/gif",
    "mp4": "video/mp4",
    "html": "text/html",
}
"""Export formats of a match: file suffix -> media type."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A stored match.

    Attributes:
        match: its number.
        game: its tag.
        players: their letters in turn order.
        names: the people in turn order; empty where they were not given.
        started_at: when it began, as ISO 8601.
        moves: how many were played.
        rule: the rule by which it ended; empty if it is unfinished.
        winner: the winner's letter; None if there is none.
    """

    match: int
    game: str
    players: tuple[str, ...]
    names: tuple[str, ...]
    started_at: str
    moves: int
    rule: str
    winner: str | None


class Archive(Protocol):
    """The stored matches of a table.  Both methods may take long, and may be called from any thread."""

    def matches(self) -> tuple[Kept, ...]:
        """All matches that were begun, newest first.  Raises CompanionError."""
        ...

    def exported(self, match: int, form: str) -> bytes:
        """A match in one of the formats.  Raises CompanionError."""
        ...


def matches_row(archive: Archive) -> dict[str, Any]:
    """The list of stored matches, as JSON.  Raises CompanionError."""
    return {
        "matches": [
            {**asdict(kept), "titles": game_titles(kept.game), "forms": forms_of(kept)} for kept in archive.matches()
        ]
    }


def forms_of(kept: Kept) -> list[str]:
    """The formats available for a match: PDN is for draughts only."""
    return [form for form in FORMS if form != "pdn" or kept.game.startswith("draughts")]
