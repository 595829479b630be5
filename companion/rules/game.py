"""What a stacking game is.  Every game file implements :class:`Game`; nothing else in the program names a game.

Legality has one truth: :meth:`Game.violations`.  A move is legal when it returns an empty tuple; the list of
legal moves, the referee's diagnosis and every explanation are made from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from companion.rules.board import Cell, Layout, Piece, Player, Sight, Stack, Table, View


@dataclass(frozen=True, slots=True)
class Position:
    """A position of any game.  Games that need more (reserve, bans, …) subclass it with further frozen fields."""

    board: tuple[Stack, ...]
    to_move: Player


@dataclass(frozen=True, slots=True)
class Move:
    """What a player did, as in docs/notation.md; never what followed from it.

    One of: ``source``→``target`` with the top ``count`` pieces; ``piece`` (or the hand's) from the reserve onto
    ``target`` (``source`` None); off the board (``target`` None); promotion of the pawn on ``source`` with level
    ``level`` of ``target``; pillar ``target`` by ``step`` (+1/−1).  ``taken`` are the cells that a player clears on the
    way, in the order of their names, where that is his choice and not the rules'.
    """

    source: Cell | None
    target: Cell | None
    count: int = 0
    piece: Piece = ""
    level: int = 0
    step: int = 0
    taken: tuple[Cell, ...] = ()

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every cell that it names: all that the board can have changed on."""
        return (*(cell for cell in (self.source, self.target) if cell is not None), *self.taken)


@dataclass(frozen=True, slots=True)
class Rule:
    """One numbered rule: its id (``"DOM-5"``), a short title, and its text for people.

    ``refusal`` is the sentence for who breaks it, with named places for the particulars
    (:func:`companion.rules.citing.cite` fills them in); a rule that nobody can break has none.
    """

    id: str
    title: str
    text: str
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule: its id, one sentence for the player that names squares, and those squares' names."""

    rule: str
    text: str
    cells: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a game: the winner (None: drawn) and the rule that ended it."""

    winner: Player | None
    rule: str


@dataclass(frozen=True, slots=True)
class Stage:
    """A table on the way to the end of a turn, e.g. a stack of six before its bottom piece is taken off.

    ``todo`` is one sentence for people; ``cells`` are the names of the squares that it concerns; ``rule`` is the id of
    the rule that demands it.
    """

    table: Table
    todo: str
    cells: tuple[str, ...]
    rule: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """Something a hand can do in one go that has a move text, legal or not, and the table that it leaves.

    ``player`` is whose act it is: the owner of what was moved when he may not move now, else the player to move.
    """

    move: Move
    player: Player
    table: Table


class Game(Protocol):
    """One game in one variant for one number of players.  Stateless: positions come in, values come out."""

    @property
    def tag(self) -> str:
        """As in docs/notation.md: ``domination``, ``domination:classic/3``."""
        ...

    @property
    def layout(self) -> Layout:
        """The board's cells."""
        ...

    @property
    def players(self) -> tuple[Player, ...]:
        """The players in turn order."""
        ...

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Every piece letter that can stand on the board."""
        ...

    @property
    def names(self) -> Mapping[Player, str]:
        """What people call each player: ``{"R": "Red", ...}``."""
        ...

    @property
    def rules(self) -> Mapping[str, Rule]:
        """The rules by id, shared ones (G-…) included, in the order in which people read them."""
        ...

    @property
    def most_taken(self) -> int:
        """How many cells a move can name as taken (``Move.taken``) at most; 0 in games whose moves name none."""
        ...

    @property
    def has_lookalikes(self) -> bool:
        """Whether legal moves of some position look the same to a camera; the game's docstring says which."""
        ...

    def owner(self, piece: Piece) -> Player | None:
        """Whose ``piece`` is; None: nobody's."""
        ...

    def start(self) -> Position:
        """The position in which the game begins."""
        ...

    def parse_position(self, board: tuple[Stack, ...], to_move: Player, keys: Mapping[str, str]) -> Position:
        """The position from its text's parts.  Raises BadPositionText when they do not fit this game."""
        ...

    def position_keys(self, position: Position) -> tuple[tuple[str, str], ...]:
        """The ``key=value`` parts of the position's text, always in the same order, empty ones left out."""
        ...

    def legal_moves(self, position: Position) -> tuple[Move, ...]:
        """Every legal move, each once.  Empty when the game is over."""
        ...

    def violations(self, position: Position, move: Move) -> tuple[Violation, ...]:
        """Every rule that ``move`` breaks, the one that the player should hear first in front; empty if legal."""
        ...

    def play(self, position: Position, move: Move) -> Position:
        """The position after a legal move (unchecked: callers ask :meth:`violations` first)."""
        ...

    def outcome(self, position: Position) -> Outcome | None:
        """The end, or None while the game goes on."""
        ...

    def repeated(self, mover: Player) -> Outcome:
        """The end when ``mover`` has brought about the same position for the third time; the match counts (G-4)."""
        ...

    @property
    def most_idle(self) -> int:
        """After so many moves in a row that are no progress the match is drawn by ``idle_rule``; 0: never."""
        ...

    @property
    def idle_rule(self) -> str:
        """The id of the rule that says so; empty where there is none."""
        ...

    def progresses(self, position: Position, move: Move) -> bool:
        """Whether a legal move is progress (a capture, say), after which idle moves are counted anew."""
        ...

    def table(self, position: Position) -> Table:
        """What stands on the board in ``position``."""
        ...

    def sight(self, stack: Stack) -> Sight:
        """What a perfect camera sees of ``stack``."""
        ...

    def unmarked(self) -> Game:
        """The game where people mark no piece that has been promoted; itself where nothing is marked by stacking.

        Which pieces those are is known from the match; positions and moves are written as ever.
        """
        ...

    def stages(self, position: Position, move: Move) -> tuple[Stage, ...]:
        """Tables that a legal move may pass through before its turn is complete; empty for most moves."""
        ...

    def due(self, position: Position) -> Stage | None:
        """What must be done in ``position`` before anything else, where that is no ordinary move; else None.

        Its table is the one that stands now: a pawn that waits for its promotion, a first piece still in hand.  It
        names the squares that cannot stay as they are; none where it is merely the kind of move that the player's
        ordinary turn consists of, of which nobody needs to be reminded.
        """
        ...

    def attempts(self, position: Position, within: frozenset[Cell] | None = None) -> Iterable[Attempt]:
        """Every single act, legal or not and by any player, that has a move text and that a hand could do now.

        Total over the physical board: any stack or part of one onto any other cell, any reserve piece onto any
        cell, any pillar by one level, any piece off the board; in games whose moves name what they take, every legal
        move too.  With ``within`` only the acts that change no cell outside it to the eye.  The table of a legal move
        is the one after its whole turn; that of an illegal one is what the hand alone leaves.
        """
        ...

    def breaches(self, position: Position, table: Table) -> tuple[Violation, ...]:
        """The rules broken when ``table`` is found and no single act of :meth:`attempts` explains it.

        Never empty.  Two things moved, a piece added, removed or swapped: G-2 and the game's own rule for it
        (DOM-7 for a piece taken off, DIA-2 for a pillar by two levels).  Hidden pieces of ``table`` may be
        ``"?"`` (only tops and heights were seen).
        """
        ...


def view(game: Game, table: Table) -> View:
    """What a perfect camera and perfect pillar sensors see of ``table``."""
    return View(tuple(map(game.sight, table.stacks)), table.levels)
