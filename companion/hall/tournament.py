"""The rounds of a hall and their file: read once, and written whole whenever somebody changes one on the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calibration.writing import write_whole
from companion.errors import BadText, CompanionError
from companion.hall.rounds import Pairing, Round, format_rounds, read_rounds, rounds_of
from companion.schema import Name, read


@dataclass(frozen=True, slots=True)
class _Match:
    table: Name
    names: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class _Arranged:
    title: Name
    matches: tuple[_Match, ...]


class Tournament:
    """The rounds of a hall; ``edition`` counts their changes."""

    def __init__(self, file: Path) -> None:
        """Read the rounds in ``file``; none if it does not exist yet.  Raises CompanionError: it cannot be read."""
        self._file = file
        self.rounds = rounds_of(file) if file.exists() else ()
        self.edition = 0

    def arrange(self, place: int, wanted: Round) -> None:
        """Replace the round at a place, or append one at the place after the last; without matches it is removed.

        Raises CompanionError: there is no such place, or the file cannot be written.
        """
        if place > len(self.rounds):
            raise BadText(f"round: there are {len(self.rounds)}; the next one has the number {len(self.rounds)}")
        changed = (*self.rounds[:place], *((wanted,) if wanted.pairings else ()), *self.rounds[place + 1 :])
        try:
            write_whole(self._file, format_rounds(changed))
        except OSError as error:
            raise CompanionError(f"{self._file}: cannot be written ({error.strerror})") from error
        self.rounds = changed
        self.edition += 1


def rounds_row(tournament: Tournament) -> Mapping[str, Any]:
    """The rounds as JSON."""
    return {
        "rounds": [
            {"title": one.title, "matches": [{"table": pair.table, "names": pair.names} for pair in one.pairings]}
            for one in tournament.rounds
        ]
    }


def arranged(body: Mapping[str, Any]) -> Round:
    """The round in the body of a request.  Raises BadText for what a file of rounds cannot contain."""
    asked = read(_Arranged, dict(body))
    pairings = tuple(Pairing(match.table, tuple(name.strip() for name in match.names)) for match in asked.matches)
    one = Round(asked.title.strip(), pairings)
    if not one.title:
        raise BadText("title: give the round a name")
    for pairing in one.pairings:
        if not pairing.table or any(letter.isspace() or letter == ":" for letter in pairing.table):
            raise BadText("table: give a name without spaces and colons")
        if not all(pairing.names):
            raise BadText(f"{pairing.table}: give each player a name")
    if one.pairings and read_rounds(format_rounds((one,))) != (one,):
        raise BadText("names: no name may have a dash between two spaces")
    return one
