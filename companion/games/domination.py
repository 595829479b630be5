"""Domination, also sold as Focus: stacks of draughtsmen on a board without corners, for two to four players.

Sources: "Game of Domination" (rulebook, game ``domination``, seed 002); the set-ups for three and four players and
the variant ``classic`` (a stack moves exactly as many squares as it has pieces) are rulings of the rulebook.

What a camera cannot tell apart: a move onto a stack of five that has the mover's colour on top may leave the target
looking the same, and a reserve piece put on such a stack may leave the whole board as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from companion.errors import BadPositionText
from companion.rules import acts
from companion.rules.board import NOBODY, ORTHOGONAL, Cell, Layout, Piece, Player, Stack, Table
from companion.rules.citing import cite, counted, number
from companion.rules.game import Move, Outcome, Position, Rule, Stage, Violation
from companion.rules.notation import quoted, refuse_other_keys
from companion.rules.shared import COLOURS, SHARED_RULES, by_id, next_player, read_rules
from companion.rules.stacking import StackingGame, check_numbers, check_to_move

TITLE = "Domination (Focus)"
VARIANTS = ("", "classic")
PLAYERS = (2, 3, 4)
HIGHEST = 5
"""Pieces that may stand in one stack (DOM-7)."""

RULES = read_rules(
    """
DOM-1 Control
A player controls the stacks whose top piece is his; only those may he move.
! {who} controls {source}; a player moves only stacks that have his own piece on top.

DOM-2 First turn of three players
Three players: a player's first turn is to put the piece in his hand on an empty square, and nothing else.
! {player} must first put the piece in hand on an empty square{why}.

DOM-3 Taking
A stack move takes the top k pieces of a controlled stack, keeping their order.
! {source} has {held}, so {taken} cannot be taken from its top.

DOM-4 Straight lines
It goes straight along a rank or file, never diagonally, never round a corner, and stays on the board.
! a stack goes straight along a rank or file; {source} to {target} is not straight.

DOM-5 Distance
It goes at least one and at most k squares (a lone piece: exactly one). Pieces passed over do not matter.
! {pieces} at most {reach}; {source} to {target} is {distance}.

DOM-6 Reserve move
Reserve move: instead, one own reserve piece is put on top of any square, empty or not.
! {player} has no piece in reserve to put on {target}.

DOM-7 Overflow
If the stack that received pieces is now higher than five, pieces are taken from its bottom until five remain: the
mover's go to his reserve, all others are captured and out of the game.
! {what}, but pieces leave the board only from the bottom of a stack that a move has made higher than five.

DOM-8 End
The game ends when only one player can still move (he controls a stack, or has a reserve piece, or a piece in hand): he
wins.
"""
)
CLASSIC_RULES = read_rules(
    """
DOM-5 Distance
It goes exactly k squares. Pieces passed over do not matter.
! {pieces} exactly {reach}; {source} to {target} is {distance}.
"""
)

LAYOUT = Layout(8, 8, frozenset(["a1", "b1", "a2", "g1", "h1", "h2", "a7", "a8", "b8", "h7", "h8", "g8"]))

# Ranks from the highest down, as the rulebook prints them; a dot is an empty square.
STARTS: Mapping[int, str] = {
    2: ".... RRGGRR .GGRRGG. .RRGGRR. .GGRRGG. .RRGGRR. GGRRGG ....",
    3: ".... RRGGBB .GGBBRR. .BBRRGG. .RRGGBB. .GGBBRR. BBRRGG ....",
    4: "RRYG GGGYGY RRRRYGYG GGGGYGYG BRBRBBBB BRBRYYYY RBRBBB BRYY",
}
PIECES_EACH: Mapping[int, int] = {2: 18, 3: 13, 4: 13}


@dataclass(frozen=True, slots=True)
class DominationPosition(Position):
    """``hand``: the players who have still to place their first piece; ``reserve``: pieces, in order of the players."""

    hand: str
    reserve: tuple[int, ...]


def build(variant: str, players: int) -> Domination:
    """The game for ``players`` in ``variant``."""
    return Domination(variant, players)


@dataclass(frozen=True)
class Domination(StackingGame):
    """Domination; see :class:`companion.rules.game.Game`."""

    name = "domination"
    has_lookalikes = True
    loss_rule = "DOM-7"

    @property
    def layout(self) -> Layout:
        """8 × 8 without the three squares in each corner."""
        return LAYOUT

    @cached_property
    def players(self) -> tuple[Player, ...]:
        """R, G and so on."""
        return tuple("RGBY"[: self.count])

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """A player's pieces carry his letter."""
        return self.players

    @cached_property
    def names(self) -> Mapping[Player, str]:
        """Colours."""
        return {player: COLOURS[player] for player in self.players}

    @cached_property
    def rules(self) -> Mapping[str, Rule]:
        """With the variant's DOM-5."""
        return by_id((*SHARED_RULES, *RULES, *(CLASSIC_RULES if self.is_exact else ())))

    @property
    def is_exact(self) -> bool:
        """Whether a stack goes exactly as many squares as it has pieces."""
        return self.variant == "classic"

    def start(self) -> DominationPosition:
        """The printed set-up; three players hold one piece each."""
        ranks = STARTS[self.count].split()
        board = tuple("" if piece == "." else piece for rank in reversed(ranks) for piece in rank)
        return DominationPosition(board, "R", "RGB" if self.count == 3 else "", (0,) * self.count)

    def parse_position(self, board: tuple[Stack, ...], to_move: Player, keys: Mapping[str, str]) -> DominationPosition:
        """Checks heights, numbers of pieces, the keys, and that the player to move can move."""
        refuse_other_keys(keys, ("hand", "reserve"))
        hand = keys.get("hand", "")
        if hand and not (self.count == 3 and hand[0] == to_move and "RGB".endswith(hand)):
            raise BadPositionText(f"hand={quoted(hand)} does not fit; three players write RGB, GB, B from to-move on")
        reserve = self._parse_reserve(keys.get("reserve", ""))
        for cell, stack in enumerate(board):
            if len(stack) > HIGHEST:
                raise BadPositionText(f"{LAYOUT.cells[cell]} is higher than {HIGHEST}: {stack[:20]}")
        position = DominationPosition(board, to_move, hand, reserve)
        beside = hand + "".join(player * n for player, n in zip(self.players, reserve, strict=True))
        check_numbers(board, beside, dict.fromkeys(self.players, PIECES_EACH[self.count]))
        able = self._able(position)
        check_to_move(to_move, able if len(able) > 1 else NOBODY)
        return position

    def _parse_reserve(self, text: str) -> tuple[int, ...]:
        numbers = dict.fromkeys(self.players, 0)
        for part in text.split(",") if text else ():
            player, digits = part[:1], part[1:]
            if player not in numbers or not (digits.isascii() and digits.isdigit() and len(digits) < 3):
                raise BadPositionText(f"reserve={text[:20]} is not written like R2,G1")
            numbers[player] = int(digits)
        return tuple(numbers.values())

    def position_keys(self, position: Position) -> tuple[tuple[str, str], ...]:
        """``hand`` and ``reserve``."""
        assert isinstance(position, DominationPosition)
        reserve = ",".join(f"{p}{n}" for p, n in zip(self.players, position.reserve, strict=True) if n)
        return tuple((key, value) for key, value in (("hand", position.hand), ("reserve", reserve)) if value)

    def legal_moves(self, position: Position) -> tuple[Move, ...]:
        """Stack moves come from a table by square and height: nothing else on the board can forbid one."""
        assert isinstance(position, DominationPosition)
        player, board = position.to_move, position.board
        if player == NOBODY:
            return ()
        if player in position.hand:
            return tuple(m for m in self._drops[player] if not board[m.target or 0])
        moves: list[Move] = []
        for reach, stack in zip(self._reaches, board, strict=True):
            if stack and stack[-1] == player:
                moves += reach[len(stack)]
        if position.reserve[self.players.index(player)]:
            moves += self._drops[player]
        return tuple(moves)

    @cached_property
    def _drops(self) -> dict[Player, tuple[Move, ...]]:
        return {p: tuple(Move(None, target, piece=p) for target in range(len(LAYOUT.cells))) for p in self.players}

    @cached_property
    def _reaches(self) -> tuple[tuple[tuple[Move, ...], ...], ...]:
        """By square and height of the stack on it: all its moves."""
        heights = range(HIGHEST + 1)
        return tuple(tuple(tuple(self._reach(cell, height)) for height in heights) for cell in range(len(LAYOUT.cells)))

    def _reach(self, source: Cell, height: int) -> Iterator[Move]:
        for count in range(1, height + 1):
            for dx, dy in ORTHOGONAL:
                for far in (count,) if self.is_exact else range(1, count + 1):
                    # A corner that is no square does not bend the line: beyond it a rank has no squares either.
                    if (target := LAYOUT.step(source, dx * far, dy * far)) is not None:
                        yield Move(source, target, count)

    def violations(self, position: Position, move: Move) -> tuple[Violation, ...]:
        """DOM-1 … DOM-6, and G-1, G-2, G-5."""
        assert isinstance(position, DominationPosition)
        if position.to_move == NOBODY:
            return self.after_the_end(move)
        if move.source is None and move.target is not None and not move.step:
            return tuple(self._reserve_violations(position, move.piece, move.target))
        if move.source is None or move.target is None or move.level or move.step:
            if move.source is not None and move.target is None:
                return self.unknown_act(move, self.rules["DOM-7"])
            return self.unknown_act(move)
        return tuple(self._stack_violations(position, move.source, move.target, move.count))

    def _reserve_violations(self, position: DominationPosition, piece: Piece, target: Cell) -> Iterator[Violation]:
        name, player = LAYOUT.cells[target], piece or position.to_move
        if player != position.to_move:
            yield self.out_of_turn(position, name, f"the piece put on {name}", player)
        if player in position.hand:
            if position.board[target]:
                yield cite(self.rules["DOM-2"], (name,), player=self.names[player], why=f", and {name} is occupied")
        elif not position.reserve[self.players.index(player)]:
            yield cite(self.rules["DOM-6"], (name,), player=self.names[player], target=name)

    def _stack_violations(
        self, position: DominationPosition, source: Cell, target: Cell, count: int
    ) -> Iterator[Violation]:
        stack, start, end = position.board[source], LAYOUT.cells[source], LAYOUT.cells[target]
        mover = self.names[position.to_move]
        if not stack:
            yield cite(self.rules["G-2"], (start,), what=f"nothing stands on {start}")
            yield cite(self.rules["DOM-1"], (start,), who="nobody", source=start)
            yield cite(self.rules["DOM-3"], (start,), source=start, held="no pieces", taken="nothing")
            return
        if stack[-1] != position.to_move:
            yield self.out_of_turn(position, start, f"the stack on {start}", stack[-1])
            yield cite(self.rules["DOM-1"], (start,), who=self.names[stack[-1]], source=start)
        if position.to_move in position.hand:
            yield cite(self.rules["DOM-2"], (start, end), player=mover, why="")
        if count > len(stack):
            held = counted(len(stack), "piece")
            yield cite(self.rules["DOM-3"], (start,), source=start, held=held, taken=counted(count, "piece"))
            return
        yield from self._way_violations(source, target, count)

    def _way_violations(self, source: Cell, target: Cell, count: int) -> Iterator[Violation]:
        (x, y), (to_x, to_y) = LAYOUT.places[source], LAYOUT.places[target]
        start, end = LAYOUT.cells[source], LAYOUT.cells[target]
        distance = abs(to_x - x) + abs(to_y - y)
        if x != to_x and y != to_y:
            yield cite(self.rules["DOM-4"], (start, end), source=start, target=end)
        if distance != count if self.is_exact else not 1 <= distance <= count:
            pieces = f"{counted(count, 'piece')} {'goes' if count == 1 else 'go'}"
            reach, far = counted(count, "square"), number(distance)
            yield cite(
                self.rules["DOM-5"], (start, end), pieces=pieces, reach=reach, source=start, target=end, distance=far
            )

    def play(self, position: Position, move: Move) -> DominationPosition:
        """The pieces moved, the overflow taken off, the turn passed on (DOM-7, DOM-8, G-3)."""
        assert isinstance(position, DominationPosition)
        assert move.target is not None
        mover, hand, reserve = position.to_move, position.hand, list(position.reserve)
        board = list(position.board)
        own = self.players.index(mover)
        if move.source is None:
            moved = mover
            if mover in hand:
                hand = hand.replace(mover, "")
            else:
                reserve[own] -= 1
        else:
            stack = board[move.source]
            board[move.source], moved = stack[: -move.count], stack[-move.count :]
        tower = board[move.target] + moved
        if len(tower) > HIGHEST:
            reserve[own] += tower[:-HIGHEST].count(mover)
            tower = tower[-HIGHEST:]
        board[move.target] = tower
        return self._turned(DominationPosition(tuple(board), mover, hand, tuple(reserve)))

    def _turned(self, position: DominationPosition) -> DominationPosition:
        able = self._able(position)
        following = next_player(self.players, position.to_move, able.__contains__) if len(able) > 1 else NOBODY
        return replace(position, to_move=following)

    def _able(self, position: DominationPosition) -> frozenset[Player]:
        """The players who can still move, now or when their turn comes (DOM-8)."""
        waiting = (p for p, n in zip(self.players, position.reserve, strict=True) if n)
        return acts.top_owners(position.board).union(position.hand, waiting)

    def outcome(self, position: Position) -> Outcome | None:
        """DOM-8."""
        assert isinstance(position, DominationPosition)
        if position.to_move != NOBODY:
            return None
        return Outcome(next(iter(self._able(position)), None), "DOM-8")

    def stages(self, position: Position, move: Move) -> tuple[Stage, ...]:
        """The stack higher than five as it stands first, and after each piece taken from its bottom but the last."""
        board = self._laid(position.board, move)
        assert move.target is not None
        tower, name = board[move.target], LAYOUT.cells[move.target]
        stages = []
        for done in range(max(0, len(tower) - HIGHEST)):
            left = tower[done:-HIGHEST]
            table = Table(acts.replaced(board, {move.target: tower[done:]}))
            todo = f"take {counted(len(left), 'piece')} from the bottom of {name}: {self._fate(left, position.to_move)}"
            stages.append(Stage(table, todo, (name,), "DOM-7"))
        return tuple(stages)

    def due(self, position: Position) -> Stage | None:
        """The piece still in hand (DOM-2)."""
        assert isinstance(position, DominationPosition)
        if position.to_move not in position.hand:
            return None
        todo = f"{self.names[position.to_move]} puts the piece in hand on an empty square"
        return Stage(self.table(position), todo, (), "DOM-2")

    def _fate(self, pieces: str, mover: Player) -> str:
        """Where overflowing pieces go: ``one to Red's reserve, one out of the game``."""
        kept = pieces.count(mover)
        to_reserve = f"{number(kept)} to {self.names[mover]}'s reserve"
        captured = f"{number(len(pieces) - kept)} out of the game"
        return ", ".join(([to_reserve] if kept else []) + ([captured] if kept < len(pieces) else []))

    def _laid(self, board: tuple[Stack, ...], move: Move) -> tuple[Stack, ...]:
        """The stacks as the hand leaves them, nothing yet taken off."""
        assert move.target is not None
        if move.source is None:
            return acts.replaced(board, {move.target: board[move.target] + move.piece})
        stays, moved = board[move.source][: -move.count], board[move.source][-move.count :]
        return acts.replaced(board, {move.source: stays, move.target: board[move.target] + moved})

    def acts(self, position: Position, within: frozenset[Cell] | None) -> Iterator[acts.Act]:
        """Any part of a stack, or a reserve piece, onto any square; the top of a stack off the board."""
        assert isinstance(position, DominationPosition)
        yield from super().acts(position, within)
        for player, reserve in zip(self.players, position.reserve, strict=True):
            # The player to move may always be caught smuggling a piece in (DOM-6); others need one to put.
            if player == position.to_move or player in position.hand or reserve:
                yield from acts.additions(position.board, player, within)
