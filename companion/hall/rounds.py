"""Rounds of a tournament: who meets whom at which table, and the results as they come in.

A file of rounds is text: a line ``# Round 1`` begins a round, a line ``table-1: Ada - Bo`` is a match at a table, with
the players in turn order; empty lines are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from calibration.files import read_text
from companion.errors import BadText, CompanionError

HEADING = re.compile(r"#\s*(\S.*)")
PAIRING = re.compile(r"(\S+)\s*:\s*(\S.*)")
BETWEEN = re.compile(r"\s+[-–]\s+")
"""Separator of two players: a dash with space on both sides, since names may contain dashes."""

MAX_PLAYERS, LONGEST_NAME = 4, 60


@dataclass(frozen=True, slots=True)
class Pairing:
    """A match of a round: its table, and its players in turn order."""

    table: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Round:
    """One round: its heading and its matches."""

    title: str
    pairings: tuple[Pairing, ...]


@dataclass(frozen=True, slots=True)
class Finished:
    """A match that has ended.

    ``winner`` is the winner's index in ``names``; None: drawn.  ``rule`` ended it.  Without ``is_named`` the names are
    those of the colours.
    """

    table: str
    names: tuple[str, ...]
    winner: int | None
    rule: str
    is_named: bool = True

    @property
    def points(self) -> tuple[float, ...]:
        """Points of each player: one for the winner; in a draw it is shared."""
        if self.winner is None:
            return (1 / len(self.names),) * len(self.names)
        return tuple(float(place == self.winner) for place in range(len(self.names)))


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the results: a match of a round, and each player's points; None while it is not over."""

    round: str
    table: str
    names: tuple[str, ...]
    points: tuple[float, ...] | None


def rounds_file(store: Path, given: Path | None) -> Path:
    """The file of rounds for a hall with this ``store``: the file that is ``given``, else one beside the store.

    Raises CompanionError: the given file does not exist.
    """
    if given is not None and not given.is_file():
        raise CompanionError(f"--rounds {given}: there is no such file")
    return given or store.with_name(f"{store.stem}-rounds.txt")


def rounds_of(file: Path) -> tuple[Round, ...]:
    """The rounds in a file.  Raises CompanionError, naming the file."""
    try:
        return read_rounds(read_text(file))
    except (OSError, UnicodeDecodeError) as error:
        raise CompanionError(f"{file}: cannot be read ({error})") from None
    except BadText as error:
        raise CompanionError(f"{file}: {error}") from None


def read_rounds(text: str) -> tuple[Round, ...]:
    """The rounds in the text of a file.  Raises BadText, naming the line that is neither heading nor match."""
    found: list[tuple[str, list[Pairing]]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if heading := HEADING.fullmatch(stripped):
            found.append((heading[1], []))
        elif pairing := PAIRING.fullmatch(stripped):
            if not found:
                raise BadText(f"line {number}: a match before the first round; begin with a line such as # Round 1")
            found[-1][1].append(Pairing(pairing[1], _names(pairing[2], number)))
        elif stripped:
            raise BadText(f"line {number}: write # and a round's name, or a match such as table-1: Ada - Bo")
    return tuple(Round(title, tuple(pairings)) for title, pairings in found)


def format_rounds(rounds: Iterable[Round]) -> str:
    """The text of a file with these rounds, which :func:`read_rounds` reads."""
    parts = [
        "\n".join([f"# {one.title}", *(f"{pair.table}: {' - '.join(pair.names)}" for pair in one.pairings), ""])
        for one in rounds
    ]
    return "\n".join(parts)


def _names(text: str, number: int) -> tuple[str, ...]:
    names = tuple(name.strip() for name in BETWEEN.split(text))
    if not 2 <= len(names) <= MAX_PLAYERS or max(map(len, names)) > LONGEST_NAME:
        raise BadText(f"line {number}: give 2 to {MAX_PLAYERS} names with ' - ' between them")
    return names


def rows(rounds: Iterable[Round], finished: Iterable[Finished]) -> Iterator[Row]:
    """The results round by round; matches that are in no round follow, without a round's name."""
    left = list(finished)
    for one in rounds:
        for pairing in one.pairings:
            ended = next((match for match in left if _fits(pairing, match)), None)
            if ended is not None:
                left.remove(ended)
            yield Row(one.title, pairing.table, pairing.names, None if ended is None else ended.points)
    for match in left:
        yield Row("", match.table, match.names, match.points)


def _fits(pairing: Pairing, match: Finished) -> bool:
    return pairing.table == match.table and (pairing.names == match.names or _is_unnamed(pairing, match))


def _is_unnamed(pairing: Pairing, match: Finished) -> bool:
    return not match.is_named and len(pairing.names) == len(match.names)


def scores(results: Iterable[Row]) -> list[tuple[str, float, int]]:
    """Name, points and number of matches of everybody, best first."""
    points, played = dict[str, float](), dict[str, int]()
    for row in results:
        for i, name in enumerate(row.names):
            points[name] = points.get(name, 0.0) + (row.points[i] if row.points else 0.0)
            played[name] = played.get(name, 0) + (row.points is not None)
    return sorted(((name, total, played[name]) for name, total in points.items()), key=lambda one: (-one[1], one[0]))
