"""The kept matches of a table as its page lists them, and the forms in which it hands them out."""

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
"""What a match can be exported as, by suffix, and its media type."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A kept match.

    Attributes:
        match: its number.
        game: its tag.
        players: their letters in turn order.
        names: the people in turn order; empty where they were not given.
        started_at: when it began, as ISO 8601.
        moves: how many were played.
        rule: by which rule it ended; empty: it is open.
        winner: who has won; None: nobody.
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
    """The kept matches of a table.  Both calls may take long, and come from any thread."""

    def matches(self) -> tuple[Kept, ...]:
        """All that were begun, the newest first.  Raises CompanionError."""
        ...

    def exported(self, match: int, form: str) -> bytes:
        """A match in one of the forms.  Raises CompanionError."""
        ...


def matches_row(archive: Archive) -> dict[str, Any]:
    """The list of kept matches, as JSON.  Raises CompanionError."""
    return {
        "matches": [
            {**asdict(kept), "titles": game_titles(kept.game), "forms": forms_of(kept)} for kept in archive.matches()
        ]
    }


def forms_of(kept: Kept) -> list[str]:
    """The forms that a match has: PDN is of draughts."""
    return [form for form in FORMS if form != "pdn" or kept.game.startswith("draughts")]
