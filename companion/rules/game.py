"""What a stacking game is.  Every game file implements :class:`Game`; nothing else in the program names a game.

Legality has a single source of truth: :meth:`Game.violations`.  A move is legal if it returns an empty tuple; the list
of legal moves, the referee's diagnosis and every explanation are derived from it.
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
    """What a player did, as in docs/notation.md; never its consequences.

    One of: ``source``→``target`` with the top ``count`` pieces; ``piece`` (or the hand's) from the reserve onto
    ``target`` (``source`` None); off the board (``target`` None); promotion of the pawn on ``source`` with level
    ``level`` of ``target``; pillar ``target`` by ``step`` (+1/−1).  ``taken`` are the cells that a player clears on the
    way, in the order of their names, if that is his choice and not dictated by the rules.
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
        """Every cell that the move names: only these can have changed."""
        return (*(cell for cell in (self.source, self.target) if cell is not None), *self.taken)


@dataclass(frozen=True, slots=True)
class Rule:
    """One numbered rule: its id (``"DOM-5"``), a short title, and its text for people.

    ``refusal`` is the sentence for a player who breaks it, with named placeholders for the particulars
    (:func:`companion.rules.citing.cite` fills them in); a rule that nobody can break has none.
    """

    id: str
    title: str
    text: str
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule: its id, a sentence for the player that names the squares, and those squares' names."""

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
    """An intermediate table of a turn, e.g. a stack of six before its bottom piece is taken off.

    ``todo`` is one sentence for people; ``cells`` are the names of the squares that it concerns; ``rule`` is the id of
    the rule that demands it.
    """

    table: Table
    todo: str
    cells: tuple[str, ...]
    rule: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """A single act of a hand that has a move text, legal or not, and the table that it leaves.

    ``player`` is the one whose act it is: the owner of the moved piece if he is not to move, else the player to move.
    """

    move: Move
    player: Player
    table: Table


class Game(Protocol):
    """One game in one variant for one number of players.  Stateless: positions come in, values come out."""

    @property
    def tag(self) -> str:
        """The game's tag as in docs/notation.md: ``domination``, ``domination:classic/3``."""
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
        """The owner of ``piece``; None: nobody."""
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
        """Every legal move, without duplicates.  Empty if the game is over."""
        ...

    def violations(self, position: Position, move: Move) -> tuple[Violation, ...]:
        """Every rule that ``move`` breaks, the one that the player should hear first in front; empty if legal."""
        ...

    def play(self, position: Position, move: Move) -> Position:
        """The position after a legal move (unchecked: callers ask :meth:`violations` first)."""
        ...

    def outcome(self, position: Position) -> Outcome | None:
        """The outcome, or None while the game goes on."""
        ...

    def repeated(self, mover: Player) -> Outcome:
        """The outcome when ``mover`` has brought about the same position for the third time; the match counts (G-4)."""
        ...

    @property
    def most_idle(self) -> int:
        """After this many moves in a row without progress the match is drawn by ``idle_rule``; 0: never."""
        ...

    @property
    def idle_rule(self) -> str:
        """The id of the rule that says so; empty if there is none."""
        ...

    def progresses(self, position: Position, move: Move) -> bool:
        """Whether a legal move is progress (a capture, say), which resets the count of idle moves."""
        ...

    def table(self, position: Position) -> Table:
        """What stands on the board in ``position``."""
        ...

    def sight(self, stack: Stack) -> Sight:
        """What a perfect camera sees of ``stack``."""
        ...

    def unmarked(self) -> Game:
        """The game for people who do not mark promoted pieces; itself if nothing is marked by stacking.

        Which pieces are promoted is known from the match; positions and moves are written as before.
        """
        ...

    def stages(self, position: Position, move: Move) -> tuple[Stage, ...]:
        """Intermediate tables that a legal move may pass through before its turn is complete; none for most moves."""
        ...

    def due(self, position: Position) -> Stage | None:
        """What must be done in ``position`` before anything else, if that is not an ordinary move; else None.

        Its table is the present one: a pawn awaits its promotion, a first piece is still in hand.  It names the
        squares that cannot stay as they are; none if it is merely the kind of move of which the player's ordinary turn
        consists, of which nobody needs to be reminded.
        """
        ...

    def attempts(self, position: Position, within: frozenset[Cell] | None = None) -> Iterable[Attempt]:
        """Every single act, legal or not and by any player, that has a move text and that a hand could do now.

        Complete over the physical board: any stack or part of one onto any other cell, any reserve piece onto any
        cell, any pillar by one level, any piece off the board; in games whose moves name what they take, every legal
        move too.  With ``within``, only the acts that visibly change no cell outside it.  The table of a legal move is
        the one after its whole turn; that of an illegal one is what the hand alone leaves.
        """
        ...

    def breaches(self, position: Position, table: Table) -> tuple[Violation, ...]:
        """The rules broken if ``table`` is found and no single act of :meth:`attempts` explains it.

        Never empty.  Two things moved, a piece added, removed or swapped: G-2 and the game's own rule for it
        (DOM-7 for a piece taken off, DIA-2 for a pillar by two levels).  Hidden pieces of ``table`` may be
        ``"?"`` (only tops and heights were seen).
        """
        ...


def view(game: Game, table: Table) -> View:
    """What a perfect camera and perfect pillar sensors see of ``table``."""
    return View(tuple(map(game.sight, table.stacks)), table.levels)
