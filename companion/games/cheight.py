"""Cheight Chess: Chinese chess in which pieces are never taken but covered, and height decides what blocks.

Sources: the rules text of seed 001; the rulebook (game ``cheight``) adds the loss of a player without a move, and has
the older set-up ``cheight:old`` and the small board ``cheight:minimal``.

What a camera cannot tell: which of several equal buried pieces a promoted pawn changed places with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from companion.errors import BadPositionText
from companion.rules import acts
from companion.rules.board import NOBODY, Cell, Layout, Piece, Player, Stack, Table
from companion.rules.citing import cite, counted, listed, number
from companion.rules.game import Move, Outcome, Position, Rule, Stage, Violation
from companion.rules.heights import is_open, leap, shoot, slide, step
from companion.rules.lines import DOWN, UP, Lines, lines_of
from companion.rules.notation import quoted, refuse_other_keys
from companion.rules.shared import SHARED_RULES, by_id, read_rules
from companion.rules.stacking import StackingGame, check_numbers, check_to_move

TITLE = "Cheight Chess, stacking Chinese chess"
VARIANTS = ("", "old", "minimal")
PLAYERS = (2,)

RULES = read_rules(
    """
CHE-1 The top piece
Only the top piece of a square may move, and only by its owner. It is put on top of the target; nothing is removed.
! only the top piece of a square moves, by its owner, onto another square; {what}.

CHE-2 Pawn
One square straight forward, onto an enemy at any height or onto what is lower than its own stack.
! a pawn goes one square straight forward; {why}.

CHE-3 Rook
Along a rank or file; every square that is lower than its own stack or holds an enemy is a target; it stops after the
first square that is as high as its own stack.
! a rook goes along a rank or file up to the first square as high as its own; {why}.

CHE-4 Bishop
The same along diagonals, any distance; no eye, no river.
! a bishop goes along a diagonal up to the first square as high as its own; {why}.

CHE-5 Knight
A knight's move; the orthogonal neighbour on the long axis must be lower than its own stack, and the target too unless
it holds an enemy.
! a knight goes one square straight and one on diagonally, past a lower neighbour; {why}.

CHE-6 Cannon
Before a screen it may stop on squares that are lower than its own stack and hold no enemy (lower enemies are flown
over). The first square as high as its own stack, of either side, is the screen. Beyond it every enemy square is a
capture, until and including the next square as high; nothing else is a target there.
! a cannon goes along a rank or file, stops only on lower squares without an enemy, and captures only beyond its first
  screen; {why}.

CHE-7 Advisor
One square diagonally, onto anything. It may carry any number k of the pieces directly below it, whoever owns them, in
their order.
! an advisor goes one square diagonally; {why}.

CHE-8 King
One square in any of the eight directions, onto an enemy at any height or onto what is lower than its own stack. There
is no check: moving into danger is legal.
! a king goes one square in any direction; {why}.

CHE-9 Covering
An own piece may be covered only when its stack is lower than the mover's (the advisor excepted); an enemy piece may be
covered at any height.
! an own piece may be covered only when it stands lower; {target} is {there} high, {source} {here}.

CHE-10 The covered king
A player whose king lies under any piece, his own included, has lost at once.

CHE-11 Promotion
Whenever a pawn is on top of a square of its far rank and the game goes on, its owner must exchange it, before anything
else happens, with one of his own non-pawn pieces anywhere on the board, covered or not, except one on top of a square
of that same rank. The piece comes to the pawn's place, the pawn to the piece's exact place. This also holds when the
other side's move uncovered the pawn; the turn order does not change.
! {what}.

CHE-12 No move left
A player who must move and cannot has lost.
"""
)
MINIMAL_RULES = read_rules(
    """
CHE-8 King
One square in any of the eight directions, onto an enemy at any height or onto what is lower than its own stack, but
not onto a square that holds a king. There is no check: moving into danger is legal.
! a king goes one square in any direction, but not onto a king's; {why}.
"""
)
KINDS: Mapping[Piece, tuple[str, str]] = MappingProxyType(
    {
        "K": ("king", "CHE-8"),
        "A": ("advisor", "CHE-7"),
        "B": ("bishop", "CHE-4"),
        "R": ("rook", "CHE-3"),
        "N": ("knight", "CHE-5"),
        "C": ("cannon", "CHE-6"),
        "P": ("pawn", "CHE-2"),
    }
)
"""By red letter: the piece's name, and the rule by which it moves."""

# Black's ranks, from the highest down; Red's are the same mirrored. Then the number of empty ranks between.
STARTS: Mapping[str, tuple[str, int]] = MappingProxyType(
    {
        "": ("ab,cp,ck,ab rp,np,np,rp", 4),
        "old": ("ab,p,k,ab r,cn,cn,r p,p,p,p", 2),
        "minimal": ("ab,cp,ck,ab rp,np,np,rp", 0),
    }
)
FILES = 4
PIECES: Mapping[Player, str] = MappingProxyType({"R": "KABRNCP", "B": "kabrncp"})


@dataclass(frozen=True, slots=True)
class CheightPosition(Position):
    """``promote``: the pawn that must be exchanged now; ``following``: who moves after that."""

    promote: Cell | None = None
    following: Player = ""


def build(variant: str, players: int) -> Cheight:
    """The game with the set-up of ``variant``."""
    return Cheight(variant, players)


@dataclass(frozen=True)
class Cheight(StackingGame):
    """Cheight Chess; see :class:`companion.rules.game.Game`."""

    name = "cheight"
    has_lookalikes = True
    loss_rule = "CHE-1"
    players = ("R", "B")
    pieces = tuple("KABRNCPkabrncp")
    names = MappingProxyType({"R": "Red", "B": "Black"})

    @cached_property
    def rules(self) -> Mapping[str, Rule]:
        """With the variant's CHE-8."""
        return by_id((*SHARED_RULES, *RULES, *(MINIMAL_RULES if self.variant == "minimal" else ())))

    @cached_property
    def layout(self) -> Layout:
        """Four files, and as many ranks as the set-up has."""
        ranks, between = STARTS[self.variant]
        return Layout(FILES, 2 * len(ranks.split()) + between)

    @cached_property
    def _lines(self) -> Lines:
        return lines_of(self.layout)

    def owner(self, piece: Piece) -> Player:
        """By the case of the letter."""
        return "R" if piece.isupper() else "B"

    def start(self) -> CheightPosition:
        """The set-up of the variant."""
        ranks, between = STARTS[self.variant]
        black = [tuple(rank.split(",")) for rank in reversed(ranks.split())]
        red = [tuple(stack.upper() for stack in rank) for rank in reversed(black)]
        empty = [("",) * FILES] * between
        return CheightPosition(tuple(stack for rank in (*red, *empty, *black) for stack in rank), "R")

    def parse_position(self, board: tuple[Stack, ...], to_move: Player, keys: Mapping[str, str]) -> CheightPosition:
        """Checks the numbers of pieces, that a promotion is noted when it is due, and who is to move."""
        refuse_other_keys(keys, ("promote", "next"))
        pieces = "".join(self.start().board)
        check_numbers(board, "", {piece: pieces.count(piece) for piece in self.pieces})
        over = self._covered_king(board) is not None
        due = None if over else self._due_pawn(board)
        noted = keys.get("promote")
        if noted != (None if due is None else self.layout.cells[due]):
            needed = "no promotion is due" if due is None else f"write promote={self.layout.cells[due]} and next="
            raise BadPositionText(f"promote={quoted(noted or '')} does not fit: {needed}")
        if due is not None:
            if keys.get("next") not in self.players:
                raise BadPositionText("who moves after the promotion? write next=R or next=B")
            check_to_move(to_move, self.owner(board[due][-1]))
            return CheightPosition(board, to_move, due, keys["next"])
        able = [player for player in self.players if self._can_move(board, player)]
        check_to_move(to_move, NOBODY if over else able if len(able) > 1 else (NOBODY, *able))
        return CheightPosition(board, to_move)

    def position_keys(self, position: Position) -> tuple[tuple[str, str], ...]:
        """``promote`` and ``next``."""
        assert isinstance(position, CheightPosition)
        if position.promote is None:
            return ()
        return (("promote", self.layout.cells[position.promote]), ("next", position.following))

    def legal_moves(self, position: Position) -> tuple[Move, ...]:
        """The promotions while one is due, else the moves of all own top pieces."""
        assert isinstance(position, CheightPosition)
        if position.to_move == NOBODY:
            return ()
        if position.promote is not None:
            return tuple(self._promotions(position.board, position.promote))
        return tuple(self._moves(position.board, position.to_move))

    def _moves(self, board: tuple[Stack, ...], player: Player) -> Iterator[Move]:
        own = PIECES[player]
        for source, stack in enumerate(board):
            if stack and stack[-1] in own:
                most = len(stack) if stack[-1] in "Aa" else 1
                for target in self._reach(board, source):
                    for count in range(1, most + 1):
                        yield acts.made(source, target, count)

    def _reach(self, board: tuple[Stack, ...], source: Cell) -> Iterator[Cell]:
        """Where the top piece of ``source`` may go (CHE-2 … CHE-9)."""
        stack, lines = board[source], self._lines
        height, enemies = len(stack), PIECES["B" if stack[-1].isupper() else "R"]
        straight, diagonal = lines.straight[source], lines.diagonal[source]
        match stack[-1].upper():
            case "P":
                return step(board, (straight[UP if stack[-1] == "P" else DOWN],), height, enemies)
            case "R":
                return slide(board, straight, height, enemies)
            case "B":
                return slide(board, diagonal, height, enemies)
            case "N":
                return leap(board, lines.leaps[source], height, enemies)
            case "C":
                return shoot(board, straight, height, enemies)
            case "A":
                return (line[0] for line in diagonal if line)
            case _:
                reach = step(board, straight + diagonal, height, enemies)
                return (cell for cell in reach if self.variant != "minimal" or not {"K", "k"} & set(board[cell]))

    def _can_move(self, board: tuple[Stack, ...], player: Player) -> bool:
        return next(self._moves(board, player), None) is not None

    def _promotions(self, board: tuple[Stack, ...], pawn: Cell) -> Iterator[Move]:
        """With every piece that CHE-11 allows."""
        for cell, stack in enumerate(board):
            for level in range(1, len(stack) + 1):
                if not self._promotion_fault(board, pawn, cell, level):
                    yield Move(pawn, cell, level=level)

    def _promotion_fault(self, board: tuple[Stack, ...], pawn: Cell, cell: Cell, level: int) -> str:
        """Why the pawn may not change places with that piece; empty if it may."""
        stack, names = board[cell], self.layout.cells
        if level > len(stack):
            return f"{names[cell]} has no level {level}"
        piece = stack[level - 1]
        if self.owner(piece) != self.owner(board[pawn][-1]):
            return f"the piece on level {level} of {names[cell]} is the opponent's"
        if piece in "Pp":
            return f"the piece on level {level} of {names[cell]} is a pawn"
        if level == len(stack) and names[cell][1:] == names[pawn][1:]:
            return f"the {KINDS[piece.upper()][0]} is on top of {names[cell]}, on the pawn's own last rank"
        return ""

    def violations(self, position: Position, move: Move) -> tuple[Violation, ...]:
        """CHE-1 … CHE-9 and CHE-11, and G-1, G-2, G-5."""
        assert isinstance(position, CheightPosition)
        if position.to_move == NOBODY:
            return self.after_the_end(move)
        if move.level and move.source is not None and move.target is not None:
            return tuple(self._swap_violations(position, move.source, move.target, move.level))
        if move.source is None or move.target is None or move.step:
            return self.unknown_act(move, self.rules["CHE-1"])
        broken = list(self._stack_violations(position, move.source, move.target, move.count))
        if (first := self.due(position)) is not None:
            # Who moves another's piece should hear that first, all others that the promotion comes first.
            place = 0 if position.board[move.source][-1:] in PIECES[position.to_move] else len(broken)
            broken.insert(place, cite(self.rules["CHE-11"], first.cells, what=f"first {first.todo}"))
        return tuple(broken)

    def _swap_violations(
        self, position: CheightPosition, source: Cell, target: Cell, level: int
    ) -> Iterator[Violation]:
        stack, name = position.board[source], self.layout.cells[source]
        if stack and self.owner(stack[-1]) != position.to_move:
            yield self.out_of_turn(position, name, f"the piece on top of {name}", self.owner(stack[-1]))
        if position.promote is None:
            fault = f"no promotion is due, on {name} or elsewhere"
        elif position.promote != source:
            fault = f"the pawn to be exchanged stands on {self.layout.cells[position.promote]}, not on {name}"
        else:
            fault = self._promotion_fault(position.board, source, target, level)
        if fault:
            yield cite(self.rules["CHE-11"], (name, self.layout.cells[target]), what=fault)

    def _stack_violations(self, position: Position, source: Cell, target: Cell, count: int) -> Iterator[Violation]:
        board, start, end = position.board, self.layout.cells[source], self.layout.cells[target]
        if not (stack := board[source]):
            yield cite(self.rules["G-2"], (start,), what=f"nothing stands on {start}")
            yield cite(self.rules["CHE-1"], (start,), what=f"{start} is empty")
            return
        owner = self.owner(stack[-1])
        faults = []
        if owner != position.to_move:
            yield self.out_of_turn(position, start, f"the piece on top of {start}", owner)
            faults.append(f"the top of {start} is {self.names[owner]}'s")
        if count > len(stack):
            faults.append(f"{start} has not {counted(count, 'piece')}")
        elif count > 1 and stack[-1] not in "Aa":
            faults.append(f"{counted(count, 'piece')} of {start} were taken")
        if faults:
            yield cite(self.rules["CHE-1"], (start,), what=listed(faults))
        if target not in self._reach(board, source):
            yield self._way_violation(board, source, target)
        if stack[-1] not in "Aa" and not is_open(board[target], len(stack), PIECES[self._other(owner)]):
            there, here = number(len(board[target])), number(len(stack))
            yield cite(self.rules["CHE-9"], (start, end), source=start, target=end, there=there, here=here)

    def _way_violation(self, board: tuple[Stack, ...], source: Cell, target: Cell) -> Violation:
        """The rule of the piece on ``source``, which may not go to ``target``."""
        stack, start, end = board[source], self.layout.cells[source], self.layout.cells[target]
        # On an empty board every target of the right shape is open (a king's, also where no king stands).
        bare = acts.replaced(("",) * len(board), {source: stack})
        if target not in self._reach(bare, source):
            why = f"{start} to {end} is no such way"
        else:
            barring = [
                self.layout.cells[cell] for cell in self._lines.way(source, target) if len(board[cell]) >= len(stack)
            ]
            why = (
                f"on the way from {start} to {end} {listed(barring)} is too high"
                if barring
                else f"{end} is closed to it"
            )
        return cite(self.rules[KINDS[stack[-1].upper()][1]], (start, end), why=why)

    def _other(self, player: Player) -> Player:
        return self.players[1 - self.players.index(player)]

    def play(self, position: Position, move: Move) -> CheightPosition:
        """The pieces moved or exchanged; then CHE-10, CHE-11, CHE-12."""
        assert isinstance(position, CheightPosition)
        assert move.source is not None
        assert move.target is not None
        if move.level:
            return self._turned(acts.exchanged(position.board, move), position.following)
        board = list(position.board)
        stack = board[move.source]
        board[move.source] = stack[: -move.count]
        board[move.target] += stack[-move.count :]
        return self._turned(tuple(board), self._other(position.to_move))

    def _turned(self, board: tuple[Stack, ...], following: Player) -> CheightPosition:
        if self._covered_king(board) is not None:
            return CheightPosition(board, NOBODY)
        if (pawn := self._due_pawn(board)) is not None:
            return CheightPosition(board, self.owner(board[pawn][-1]), pawn, following)
        return CheightPosition(board, following if self._can_move(board, following) else NOBODY)

    def _covered_king(self, board: tuple[Stack, ...]) -> Player | None:
        """Whose king lies under a piece (CHE-10); no single move covers both."""
        return next((self.owner(king) for stack in board for king in "Kk" if king in stack[:-1]), None)

    def _due_pawn(self, board: tuple[Stack, ...]) -> Cell | None:
        """The pawn on top of its far rank (CHE-11); a move brings at most one there, by arriving or by uncovering."""
        ends = (*range(FILES), *range(len(board) - FILES, len(board)))
        return next((cell for cell in ends if board[cell][-1:] == ("p" if cell < FILES else "P")), None)

    def outcome(self, position: Position) -> Outcome | None:
        """CHE-10, else CHE-12: then the loser is the one without a move."""
        if position.to_move != NOBODY:
            return None
        if (loser := self._covered_king(position.board)) is not None:
            return Outcome(self._other(loser), "CHE-10")
        stuck = next(player for player in self.players if not self._can_move(position.board, player))
        return Outcome(self._other(stuck), "CHE-12")

    def stages(self, position: Position, move: Move) -> tuple[Stage, ...]:
        """A promotion on its way: the pawn in the hand, then the piece in its place and the pawn still in the hand."""
        if not move.level:
            return ()
        names = self.cell_names(move)
        todo = f"complete the exchange of the pawn from {names[0]}"
        return tuple(Stage(Table(half), todo, names, "CHE-11") for half in acts.half_exchanged(position.board, move))

    def due(self, position: Position) -> Stage | None:
        """The promotion (CHE-11)."""
        assert isinstance(position, CheightPosition)
        if position.promote is None:
            return None
        name, owner = self.layout.cells[position.promote], self.names[position.to_move]
        todo = f"{owner} exchanges the pawn on {name} with an own piece that is no pawn"
        return Stage(self.table(position), todo, (name,), "CHE-11")

    def acts(self, position: Position, within: frozenset[Cell] | None) -> Iterator[acts.Act]:
        """Parts of stacks onto any square, tops off the board, and a pawn on top changing places with any piece."""
        yield from super().acts(position, within)
        yield from acts.exchanges(position.board, "Pp", within)
