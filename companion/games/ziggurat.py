"""Ziggurat, with Icehouse pyramids: single pieces, Towers and Keeps, and a race off the far side of the board.

Sources: the rules text of seed 003, with the rulings of the rulebook (game ``ziggurat``).

What a camera cannot tell: a Keep looks like its outer piece alone, so nobody can count the pieces of a lone Queen or
Drone by looking; yet every two legal moves differ in what is on top.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from types import MappingProxyType

from companion.errors import BadPositionText
from companion.rules import acts
from companion.rules.board import DIAGONAL, NOBODY, Cell, Layout, Piece, Player, Sight, Stack
from companion.rules.citing import cite, counted
from companion.rules.game import Move, Outcome, Position, Violation
from companion.rules.lines import lines_of
from companion.rules.notation import quoted, refuse_other_keys
from companion.rules.shared import SHARED_RULES, by_id, next_player, read_rules
from companion.rules.stacking import StackingGame, check_numbers, check_to_move

TITLE = "Ziggurat, with Icehouse pyramids"
VARIANTS = ("",)
PLAYERS = (2,)

RULES = read_rules(
    """
ZIG-1 Own stacks, whole
A player acts only with stacks that he owns, and moves a stack only as a whole.
! a player moves only stacks that he owns, and only as a whole; {what}.

ZIG-2 The Ziggurat's move
A Ziggurat (a single piece) moves diagonally, up to as many squares as its size, jumping nothing; to an empty square
only forward; to capture, forward or backward.
! a single {piece} goes diagonally, at most {reach}, jumping nothing, onto empty squares only forward; {source} to
{target} is no such move.

ZIG-3 The Tower's move
A Tower (each piece one size smaller than the one below) makes a knight's move in any direction. It passes through
either of two squares (the orthogonal step or the diagonal step); at least one of them must be empty.
! a Tower makes a knight's move past at least one empty square; {source} to {target} {why}.

ZIG-4 The Keep's move
A Keep (each piece one size larger than the one below, which it hides) moves orthogonally in any direction, up to as
many squares as the size of its smallest piece, jumping nothing.
! a Keep with a {piece} inside goes straight, at most {reach}, jumping nothing; {source} to {target} is no such move.

ZIG-5 Captures
A piece lands on another only as a capture: the target's owner is the opponent, and target and mover together, bottom
to top, are a proper Tower or Keep.
! a stack lands on another only to capture it; {why}.

ZIG-6 Leaving the board
A Ziggurat may leave the board: along a forward diagonal, squares up to the edge empty, onto the invisible rank beyond
the last, within its size, staying within files a-f there too.
! a single {piece} leaves the board along a free forward diagonal, at most {reach} to beyond the last rank; from
{source} it cannot.

ZIG-7 Leaving from a Tower or Keep
From a Tower or Keep only the top piece may leave, only by its owner, and only when the stack stands on that owner's
last rank.
! only {owner} may take the top piece of {source} off the board, and only from his last rank; {why}.

ZIG-8 One of each type
A player takes off at most one piece of each type.
! {owner} has already taken a {piece} off the board; the one on {source} stays.

ZIG-9 Reinforcement
A reserve piece is put on an empty square of the own home rank whose start piece was of that type.
! {owner}'s reserve {piece} goes on an empty home square where a {piece} stood at the start; {why}.

ZIG-10 Winning
A player who has taken off a Q, a D and a W wins at once.

ZIG-11 Losing
A player loses at once when, for some type, he has taken off none, has none in reserve, and all of that type on the
board are in stacks that the opponent owns. Checked after every move, after ZIG-10, for the opponent first, then the
mover.
"""
)

LAYOUT = Layout(6, 6)
LINES = lines_of(LAYOUT)
HOME_ROWS: Mapping[Player, str] = MappingProxyType({"S": "QDWWDQ", "N": "qdwwdq"})
RESERVE = "QDWqdw"
PIECES_EACH = 3
SIZES: Mapping[Piece, int] = MappingProxyType({"Q": 3, "D": 2, "W": 1, "q": 3, "d": 2, "w": 1})
KINDS: Mapping[str, str] = MappingProxyType({"Q": "Queen", "D": "Drone", "W": "Worker"})
FORWARD: Mapping[Player, int] = MappingProxyType({"S": 1, "N": -1})


@dataclass(frozen=True, slots=True)
class ZigguratPosition(Position):
    """``reserve``: the pieces that are left, in the order QDWqdw."""

    reserve: str


@cache
def form(stack: Stack) -> str:
    """``Ziggurat``, ``Tower`` or ``Keep``; empty when the pieces form none of them."""
    steps = {SIZES[above] - SIZES[below] for below, above in pairwise(stack)}
    if not steps:
        return "Ziggurat" if stack else ""
    return "Tower" if steps == {-1} else "Keep" if steps == {1} else ""


def owner_of(piece: Piece) -> Player:
    """South's letters are upper case."""
    return "S" if piece.isupper() else "N"


@cache
def is_capture(mover: Stack, target: Stack) -> bool:
    """ZIG-5 for ``mover`` on ``target``."""
    return owner_of(mover[-1]) != owner_of(target[-1]) and form(target + mover) != ""


def build(variant: str, players: int) -> Ziggurat:
    """The game; there is one form of it."""
    return Ziggurat(variant, players)


@dataclass(frozen=True)
class Ziggurat(StackingGame):
    """Ziggurat; see :class:`companion.rules.game.Game`."""

    name = "ziggurat"
    layout = LAYOUT
    players = ("S", "N")
    pieces = tuple(SIZES)
    names = MappingProxyType({"S": "South", "N": "North"})
    rules = by_id((*SHARED_RULES, *RULES))

    def owner(self, piece: Piece) -> Player:
        """By the case of the letter."""
        return owner_of(piece)

    def start(self) -> ZigguratPosition:
        """One piece on each home square."""
        empty = ("",) * (len(LAYOUT.cells) - 2 * LAYOUT.files)
        return ZigguratPosition((*HOME_ROWS["S"], *empty, *HOME_ROWS["N"]), "S", RESERVE)

    def parse_position(self, board: tuple[Stack, ...], to_move: Player, keys: Mapping[str, str]) -> ZigguratPosition:
        """Checks the stacks, the numbers of pieces, and that the player to move can move."""
        refuse_other_keys(keys, ("reserve",))
        reserve = keys.get("reserve", "")
        if any(piece not in RESERVE or reserve.count(piece) > 1 for piece in reserve):
            raise BadPositionText(f"reserve={quoted(reserve)} does not fit; write some of {RESERVE}")
        for cell, stack in enumerate(board):
            if stack and not form(stack):
                raise BadPositionText(f"{stack[:20]} on {LAYOUT.cells[cell]} is neither a Tower nor a Keep")
        check_numbers(board, reserve, dict.fromkeys(self.pieces, PIECES_EACH))
        position = ZigguratPosition(board, to_move, reserve)
        for piece in self.pieces:
            if self._taken_off(position, piece) > 1:
                raise BadPositionText(f"{piece} is missing more than once; only one may have left the board (ZIG-8)")
        able = [player for player in self.players if self._can_move(position, player)]
        check_to_move(to_move, NOBODY if self._decision(position) or not able else able)
        return position

    def position_keys(self, position: Position) -> tuple[tuple[str, str], ...]:
        """``reserve``."""
        assert isinstance(position, ZigguratPosition)
        return (("reserve", position.reserve),) if position.reserve else ()

    def legal_moves(self, position: Position) -> tuple[Move, ...]:
        """The moves of all own stacks, those off the board, and reinforcements."""
        assert isinstance(position, ZigguratPosition)
        return () if position.to_move == NOBODY else tuple(self._moves(position, position.to_move))

    def _moves(self, position: ZigguratPosition, player: Player) -> Iterator[Move]:
        board = position.board
        for source, stack in enumerate(board):
            if stack and owner_of(stack[-1]) == player:
                for target in self._targets(board, source):
                    if not board[target] or is_capture(stack, board[target]):
                        yield acts.made(source, target, len(stack))
                if self._can_leave(board, source) and not self._taken_off(position, stack[-1]):
                    yield acts.made(source, None, 1)
        for piece in position.reserve:
            if owner_of(piece) == player:
                for target in self._homes[piece]:
                    if not board[target]:
                        yield acts.made(None, target, 0, piece)

    def _targets(self, board: tuple[Stack, ...], source: Cell) -> Iterator[Cell]:
        """Where the stack may go by its way of moving; whether it may land on what stands there is ZIG-5."""
        stack = board[source]
        match form(stack):
            case "Ziggurat":
                yield from self._slants(board, source)
            case "Tower":
                for cell, straight, slanted in LINES.leaps[source]:
                    if not (board[straight] and board[slanted]):
                        yield cell
            case _:
                for line in LINES.straight[source]:
                    for cell in line[: SIZES[stack[0]]]:
                        yield cell
                        if board[cell]:
                            break

    def _slants(self, board: tuple[Stack, ...], source: Cell) -> Iterator[Cell]:
        """ZIG-2: empty squares forward, and the first piece in each direction."""
        piece = board[source]
        forward = FORWARD[owner_of(piece)]
        for (_, dy), line in zip(DIAGONAL, LINES.diagonal[source], strict=True):
            for cell in line[: SIZES[piece]]:
                if board[cell]:
                    yield cell
                    break
                if dy == forward:
                    yield cell

    def _can_leave(self, board: tuple[Stack, ...], source: Cell) -> bool:
        """ZIG-6 and ZIG-7 for the top piece of ``source``."""
        stack = board[source]
        exits = self._exits[owner_of(stack[-1])][source]
        if len(stack) > 1:
            return () in exits
        return any(len(line) < SIZES[stack] and not any(board[cell] for cell in line) for line in exits)

    @cached_property
    def _exits(self) -> Mapping[Player, tuple[tuple[tuple[Cell, ...], ...], ...]]:
        """By player and cell: the squares of each forward diagonal that leads to the rank beyond the last."""
        cells = range(len(LAYOUT.cells))
        return {player: tuple(tuple(self._ways_out(player, cell)) for cell in cells) for player in self.players}

    def _ways_out(self, player: Player, cell: Cell) -> Iterator[tuple[Cell, ...]]:
        x, y = LAYOUT.places[cell]
        ranks_left = LAYOUT.ranks - 1 - y if player == "S" else y
        for (dx, dy), line in zip(DIAGONAL, LINES.diagonal[cell], strict=True):
            if dy == FORWARD[player] and len(line) == ranks_left and 0 <= x + dx * (ranks_left + 1) < LAYOUT.files:
                yield line

    @cached_property
    def _homes(self) -> Mapping[Piece, tuple[Cell, ...]]:
        start = self.start().board
        return {piece: tuple(cell for cell, stack in enumerate(start) if stack == piece) for piece in self.pieces}

    def _taken_off(self, position: ZigguratPosition, piece: Piece) -> int:
        """How many of ``piece`` have left the board: all that are nowhere else."""
        return PIECES_EACH - ("".join(position.board) + position.reserve).count(piece)

    def _can_move(self, position: ZigguratPosition, player: Player) -> bool:
        return next(self._moves(position, player), None) is not None

    def violations(self, position: Position, move: Move) -> tuple[Violation, ...]:
        """ZIG-1 … ZIG-9, and G-1, G-2, G-5."""
        assert isinstance(position, ZigguratPosition)
        if position.to_move == NOBODY:
            return self.after_the_end(move)
        if move.level or move.step or (move.source is None and move.piece not in self.pieces):
            return self.unknown_act(move)
        if move.source is None:
            assert move.target is not None
            return tuple(self._reserve_violations(position, move.piece, move.target))
        return tuple(self._stack_violations(position, move.source, move.target, move.count))

    def _reserve_violations(self, position: ZigguratPosition, piece: Piece, target: Cell) -> Iterator[Violation]:
        name, owner, kind = LAYOUT.cells[target], owner_of(piece), KINDS[piece.upper()]
        if owner != position.to_move:
            yield self.out_of_turn(position, name, f"the {kind} put on {name}", owner)
        if piece not in position.reserve:
            why = "there is none in reserve"
        elif target not in self._homes[piece]:
            why = f"{name} is no such square"
        else:
            why = f"{name} is occupied" if position.board[target] else ""
        if why:
            yield cite(self.rules["ZIG-9"], (name,), owner=self.names[owner], piece=kind, why=why)

    def _stack_violations(
        self, position: ZigguratPosition, source: Cell, target: Cell | None, count: int
    ) -> Iterator[Violation]:
        stack, start = position.board[source], LAYOUT.cells[source]
        if not stack:
            yield cite(self.rules["G-2"], (start,), what=f"nothing stands on {start}")
            yield cite(self.rules["ZIG-1"], (start,), what=f"{start} is empty")
            return
        owner = owner_of(stack[-1])
        if owner != position.to_move:
            yield self.out_of_turn(position, start, f"the stack on {start}", owner)
            yield cite(self.rules["ZIG-1"], (start,), what=f"{start} is {self.names[owner]}'s")
        elif target is not None and count != len(stack):
            what = f"{counted(count, 'piece')} of {start} moved, and it has {len(stack)}"
            yield cite(self.rules["ZIG-1"], (start,), what=what)
        if target is None:
            yield from self._exit_violations(position, source)
        else:
            yield from self._way_violations(position.board, source, target, count)

    def _exit_violations(self, position: ZigguratPosition, source: Cell) -> Iterator[Violation]:
        stack, start = position.board[source], LAYOUT.cells[source]
        owner, kind = self.names[owner_of(stack[-1])], KINDS[stack[-1].upper()]
        can_leave = self._can_leave(position.board, source)
        if len(stack) == 1 and not can_leave:
            yield cite(self.rules["ZIG-6"], (start,), piece=kind, reach=_squares(stack), source=start)
        elif len(stack) > 1 and (not can_leave or owner_of(stack[-1]) != position.to_move):
            why = f"it is {self.names[position.to_move]}'s turn" if can_leave else f"{start} is not on it"
            yield cite(self.rules["ZIG-7"], (start,), owner=owner, source=start, why=why)
        if self._taken_off(position, stack[-1]):
            yield cite(self.rules["ZIG-8"], (start,), owner=owner, piece=kind, source=start)

    def _way_violations(self, board: tuple[Stack, ...], source: Cell, target: Cell, count: int) -> Iterator[Violation]:
        stack, below, start, end = board[source], board[target], LAYOUT.cells[source], LAYOUT.cells[target]
        if target not in self._targets(board, source):
            leaps = any(cell == target for cell, _, _ in LINES.leaps[source])
            why = "has both squares on the way occupied" if leaps else "is none"
            rule = self.rules[{"Ziggurat": "ZIG-2", "Tower": "ZIG-3", "Keep": "ZIG-4"}[form(stack)]]
            kind, reach = KINDS[stack[0].upper()], _squares(stack[0])
            yield cite(rule, (start, end), piece=kind, reach=reach, source=start, target=end, why=why)
        # A part of a stack breaks ZIG-1 anyway; ZIG-5 only if it could not capture by itself either.
        if below and source != target and not is_capture(stack, below) and not is_capture(stack[-count:], below):
            if owner_of(below[-1]) == owner_of(stack[-1]):
                why = f"{end} is {self.names[owner_of(stack[-1])]}'s own"
            else:
                why = f"{stack} on {below} of {end} makes neither a Tower nor a Keep"
            yield cite(self.rules["ZIG-5"], (start, end), why=why)

    def play(self, position: Position, move: Move) -> ZigguratPosition:
        """The stack moved, a piece taken off or put on; then ZIG-10, ZIG-11, and the turn passes on (G-3)."""
        assert isinstance(position, ZigguratPosition)
        board, reserve = list(position.board), position.reserve
        if move.source is None:
            assert move.target is not None
            board[move.target] = move.piece
            reserve = reserve.replace(move.piece, "")
        elif move.target is None:
            board[move.source] = board[move.source][:-1]
        else:
            board[move.target] += board[move.source]
            board[move.source] = ""
        after = ZigguratPosition(tuple(board), NOBODY, reserve)
        if self._decision(after):
            return after
        following = next_player(self.players, position.to_move, lambda player: self._can_move(after, player))
        return ZigguratPosition(after.board, following, reserve)

    def _decision(self, position: ZigguratPosition) -> Outcome | None:
        """ZIG-10, then ZIG-11; no move can bring both players under the latter, so their order decides nothing."""
        off = {piece for piece in self.pieces if self._taken_off(position, piece)}
        for player, row in HOME_ROWS.items():
            if off.issuperset(row):
                return Outcome(player, "ZIG-10")
        for loser, winner in (self.players, self.players[::-1]):
            owned = "".join(stack for stack in position.board if stack and owner_of(stack[-1]) == loser)
            if any(p not in off and p not in position.reserve and p not in owned for p in HOME_ROWS[loser]):
                return Outcome(winner, "ZIG-11")
        return None

    def outcome(self, position: Position) -> Outcome | None:
        """ZIG-10, ZIG-11, or a draw when nobody can move (G-3)."""
        assert isinstance(position, ZigguratPosition)
        return None if position.to_move != NOBODY else self._decision(position) or Outcome(None, "G-3")

    def sight(self, stack: Stack) -> Sight:
        """A piece is hidden by a larger one above it; what may hide others cannot be counted when alone."""
        sizes = [SIZES[piece] for piece in stack]
        seen = sum(size >= max(sizes[i + 1 :], default=0) for i, size in enumerate(sizes))
        if seen == 1 and sizes[-1] > 1:
            return None, stack[-1]
        return (seen, stack[-1]) if stack else (0, None)

    def acts(self, position: Position, within: frozenset[Cell] | None) -> Iterator[acts.Act]:
        """Parts of stacks onto any square, tops off the board, reserve pieces onto any square."""
        assert isinstance(position, ZigguratPosition)
        yield from super().acts(position, within)
        for piece in position.reserve:
            yield from acts.additions(position.board, piece, within)


def _squares(piece: Piece) -> str:
    return counted(SIZES[piece], "square")
