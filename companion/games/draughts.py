"""Draughts: English (American checkers), Russian, Brazilian, and international on a board of 10 × 10.

Sources: the rules that the federations of each variant play by, as far as a match needs them, with rulings where their
texts differ; the numbers of moves after which a game is drawn are data of the variant.  A king is a stack of two men.

A camera tells all legal moves apart: ways that begin and end alike and take the same pieces are one move.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from types import MappingProxyType

from companion.errors import BadPositionText
from companion.rules import acts
from companion.rules.board import NOBODY, Cell, Layout, Player, Stack, Table
from companion.rules.citing import cite, listed
from companion.rules.diagonals import FLY, PASS, STOP, Capture, Diagonals, capture_prefixes, uncleared_pieces
from companion.rules.game import Move, Outcome, Position, Stage, Violation
from companion.rules.notation import in_order, refuse_other_keys
from companion.rules.shared import SHARED_RULES, by_id, read_rules
from companion.rules.stacking import StackingGame, check_to_move

TITLE = "Draughts (checkers)"
VARIANTS = ("", "russian", "brazilian", "international")
PLAYERS = (2,)

RULES = read_rules(
    """
DRA-1 Diagonals
Pieces move along diagonals, from dark square to dark square, to an empty one.
! pieces go along diagonals to empty squares; {why}.

DRA-2 Men and kings
A man moves one square, forward. A king moves one square in any direction (English), or any number of empty squares (the
others).
! a man goes one square forward, a king {reach}; {why}.

DRA-3 Jumping
A capture jumps over one opposing piece next to it to the empty square behind it. Men capture forward only (English), or
backward too (the others). A king of the others captures from any distance along empty squares and comes down on any
empty square behind the captured piece.
! what is taken is jumped, to an empty square behind it; no jumps lead from {source} to {target} over {taken}.

DRA-4 Captures are compulsory
Who can capture must.
! who can capture must; {there}.

DRA-5 To the end
A capture goes on with the same piece as long as it can. No piece is jumped twice. What was jumped leaves the board when
the capture is over, all together; until then it is in the way.
! a capture goes on as long as it can, and what was jumped leaves the board; {why}.

DRA-6 The most
International and Brazilian: of the captures that there are, one that takes the most pieces. English and Russian: any.
! of the captures that there are, one that takes the most pieces; {there}.

DRA-7 Crowning
A man that ends its turn on the last rank is crowned: a second man of its colour is put on it, in the same turn. A
capture that reaches it ends there (English), goes on at once as a king's (Russian), or goes on as a man's, without
crowning unless it ends there (international, Brazilian).
! a man that ends its turn on the last rank gets a second one on top, and no other man does; {why}.

DRA-8 No move
Who is to move and has no legal move has lost.

DRA-9 Draws
The game is drawn after so many moves of each side without a capture and without a man's move: English 40, international
25, Brazilian 20, Russian 15. The match reports it, as it does G-4.
"""
)


@dataclass(frozen=True, kw_only=True)
class Form:
    """In what a variant differs: squares a side, ranks of men, who begins, how men and kings move, what draws."""

    size: int = 8
    rows: int = 3
    first: Player = "W"
    is_flying: bool = True
    is_backward: bool = True
    is_most: bool = False
    on_last_rank: str = PASS
    idle_moves: int


FORMS = MappingProxyType(
    {
        "": Form(first="B", is_flying=False, is_backward=False, on_last_rank=STOP, idle_moves=40),
        "russian": Form(on_last_rank=FLY, idle_moves=15),
        "brazilian": Form(is_most=True, idle_moves=20),
        "international": Form(size=10, rows=4, is_most=True, idle_moves=25),
    }
)

MAX_NAMED = 3
"""A sentence names no more captures than this; nobody listens to more."""


@dataclass(frozen=True, slots=True)
class DraughtsPosition(Position):
    """Once the game is over: who has ``won``."""

    won: Player = ""


def build(variant: str, players: int) -> Draughts:
    """The game in the form of ``variant``."""
    return Draughts(variant, players)


@dataclass(frozen=True)
class Draughts(StackingGame):
    """Draughts; see :class:`companion.rules.game.Game`.  Without ``has_crowns`` a king lies there as one disc."""

    has_crowns: bool = True

    name = "draughts"
    idle_rule = "DRA-9"
    pieces = ("W", "B")
    names = MappingProxyType({"W": "White", "B": "Black"})
    rules = by_id((*(rule for rule in SHARED_RULES if rule.id != "G-3"), *RULES))

    @cached_property
    def form(self) -> Form:
        """What the variant says."""
        return FORMS[self.variant]

    @cached_property
    def layout(self) -> Layout:
        """All squares, light ones too: a man laid there is seen."""
        return Layout(self.form.size, self.form.size)

    @cached_property
    def players(self) -> tuple[Player, Player]:
        """Who moves first sits at rank 1."""
        return ("W", "B") if self.form.first == "W" else ("B", "W")

    @cached_property
    def most_taken(self) -> int:  # type: ignore[override]
        """All men of the other side."""
        return self.form.rows * self.form.size // 2

    @cached_property
    def most_idle(self) -> int:  # type: ignore[override]
        """DRA-9, of both sides."""
        return 2 * self.form.idle_moves

    @cached_property
    def diagonals(self) -> Diagonals:
        """How men and kings move."""
        form = self.form
        return Diagonals(self.layout, self.players, form.is_flying, form.is_backward, form.on_last_rank)

    def start(self) -> Position:
        """Men on the dark squares of each player's first ranks."""
        first, second = self.players
        last = self.form.size - self.form.rows
        ranks = [first if y < self.form.rows else second if y >= last else "" for _, y in self.layout.places]
        board = (owner if self._is_dark(cell) else "" for cell, owner in enumerate(ranks))
        return DraughtsPosition(tuple(board), first)

    def _is_dark(self, cell: Cell) -> bool:
        x, y = self.layout.places[cell]
        return (x + y) % 2 == 0

    def parse_position(self, board: tuple[Stack, ...], to_move: Player, keys: Mapping[str, str]) -> Position:
        """Checks squares, kings and numbers, and that who is to move can."""
        refuse_other_keys(keys, ("won",))
        for cell, stack in enumerate(board):
            name = self.layout.cells[cell]
            if stack and (stack not in ("W", "WW", "B", "BB") or not self._is_dark(cell)):
                raise BadPositionText(f"{name} cannot hold {stack}: dark squares hold a man, or a king of two men")
            if len(stack) == 1 and cell in self.diagonals.last_rank[stack]:
                raise BadPositionText(f"the man on {name} has reached his last rank; write {2 * stack}")
        for player in self.players:
            if (number := sum(stack[-1:] == player for stack in board)) > self.most_taken:
                raise BadPositionText(f"{number} pieces {player} are too many; the game has {self.most_taken}")
        won = keys.get("won", "")
        if to_move == NOBODY:
            losers = [player for player in self.players if not self.diagonals.can_move(board, player)]
            if won not in [self.diagonals.other(player) for player in losers]:
                raise BadPositionText("the game is over when a player cannot move; write won= and the other one")
        else:
            check_to_move(to_move, [player for player in self.players if self.diagonals.can_move(board, player)])
        return DraughtsPosition(board, to_move, won)

    def position_keys(self, position: Position) -> tuple[tuple[str, str], ...]:
        """``won``."""
        assert isinstance(position, DraughtsPosition)
        return (("won", position.won),) if position.won else ()

    def legal_moves(self, position: Position) -> tuple[Move, ...]:
        """Captures where there are any, else steps."""
        board, player = position.board, position.to_move
        if player == NOBODY:
            return ()
        if captures := captures_of(self, board, player):
            return tuple(dict.fromkeys(move for move, _ in captures))
        own = [cell for cell, stack in enumerate(board) if stack and stack[-1] == player]
        return tuple(
            [acts.made(cell, target, len(board[cell])) for cell in own for target in self.diagonals.steps(board, cell)]
        )

    def all_captures(self, board: tuple[Stack, ...], player: Player) -> Iterator[tuple[Move, Capture]]:
        """Every capture of ``player`` to its end, whether or not it takes the most."""
        for cell, stack in enumerate(board):
            if stack and stack[-1] == player and self.diagonals.can_jump(board, cell):
                for way in self.diagonals.ways(board, cell):
                    yield self._move(board, cell, way), way

    def _move(self, board: tuple[Stack, ...], cell: Cell, way: Capture) -> Move:
        return Move(cell, way.landings[-1], len(board[cell]), taken=in_order(self.layout, way.jumped))

    def violations(self, position: Position, move: Move) -> tuple[Violation, ...]:
        """DRA-1 … DRA-6, and G-1, G-2, G-5."""
        if position.to_move == NOBODY:
            return self.after_the_end(move)
        if move.source is None or move.target is None or move.level or move.step:
            return self.unknown_act(move)
        return tuple(self._piece_violations(position, move, move.source, move.target))

    def _piece_violations(self, position: Position, move: Move, source: Cell, target: Cell) -> Iterator[Violation]:
        board, start = position.board, self.layout.cells[source]
        stack = board[source]
        if not stack:
            what = f"nothing stands on {start}"
            yield cite(self.rules["G-2"], (start,), what=what)
            yield cite(self.rules["DRA-2"], (start,), reach=self._reach, why=what)
            return
        if stack[-1] != position.to_move:
            yield self.out_of_turn(position, start, f"the piece on {start}", stack[-1])
        if move.count != len(stack):
            why = f"all of what stands on {start} moves, and nothing else"
            yield cite(self.rules["DRA-2"], (start,), reach=self._reach, why=why)
        elif move.taken:
            yield from self._capture_violations(position, move)
            return
        else:
            yield from self._step_violations(board, source, target)
        if captures := captures_of(self, board, position.to_move):
            yield self._owed("DRA-4", move, tuple(dict.fromkeys(capture for capture, _ in captures)))

    @property
    def _reach(self) -> str:
        return "any number of empty squares in any direction" if self.form.is_flying else "one in any direction"

    def _step_violations(self, board: tuple[Stack, ...], source: Cell, target: Cell) -> Iterator[Violation]:
        start, end, stack = self.layout.cells[source], self.layout.cells[target], board[source]
        line = next((line for line in self.diagonals.lines[source] if target in line), ())
        if not line or board[target]:
            why = f"{end} is occupied" if line else f"{start} and {end} do not lie on one diagonal"
            yield cite(self.rules["DRA-1"], (start, end), why=why)
        emptied = tuple("" if cell == target else other for cell, other in enumerate(board))
        if target not in self.diagonals.steps(emptied, source):
            kind = "man" if len(stack) == 1 else "king"
            why = f"the {kind} on {start} cannot go to {end}"
            yield cite(self.rules["DRA-2"], (start, end), reach=self._reach, why=why)

    def _capture_violations(self, position: Position, move: Move) -> Iterator[Violation]:
        """DRA-3, DRA-5 and DRA-6."""
        board, source = position.board, move.source
        assert source is not None
        assert move.target is not None
        whole = list(self.diagonals.ways(board, source))
        begun = [part for way in whole for part in capture_prefixes(way) if self._move(board, source, part) == move]
        ended = [way for way in whole if self._move(board, source, way) == move]
        cells = [self.layout.cells[cell] for cell in move.cells]
        start, end = cells[0], cells[1]
        if not begun and not ended:
            yield cite(self.rules["DRA-3"], cells, source=start, target=end, taken=listed(cells[2:]))
            return
        if not ended:
            yield cite(self.rules["DRA-5"], cells, why=f"the jump goes on from {end}")
        captures = captures_of(self, board, board[source][-1])
        if self.form.is_most and captures and len(move.taken) < len(captures[0][0].taken):
            yield self._owed("DRA-6", move, tuple(dict.fromkeys(capture for capture, _ in captures)))

    def _owed(self, rule: str, move: Move, captures: tuple[Move, ...]) -> Violation:
        """``rule``, with the squares of every capture that there was."""
        names = self.layout.cells
        cells = [names[cell] for each in (move, *captures) for cell in each.cells]
        there = [
            f"{names[m.cells[0]]}-{names[m.cells[1]]} takes {listed([names[c] for c in m.taken])}" for m in captures
        ]
        more = [f"{len(there) - MAX_NAMED} more"] if len(there) > MAX_NAMED else []
        return cite(self.rules[rule], cells, there=f"{listed([*there[:MAX_NAMED], *more])}")

    def play(self, position: Position, move: Move) -> Position:
        """The piece stands on its target, crowned where it must be; what it took has gone; then DRA-8."""
        after, mover = self._moved(position.board, move), position.to_move
        assert move.target is not None
        if len(after[move.target]) == 1 and self._is_crowned(position.board, move):
            after = acts.replaced(after, {move.target: 2 * mover})
        following = self.diagonals.other(mover)
        if self.diagonals.can_move(after, following):
            return DraughtsPosition(after, following)
        return DraughtsPosition(after, NOBODY, mover)

    def _moved(self, board: tuple[Stack, ...], move: Move) -> tuple[Stack, ...]:
        assert move.source is not None
        assert move.target is not None
        cleared = dict.fromkeys((move.source, *move.taken), "")
        return acts.replaced(board, cleared | {move.target: board[move.source]})

    def _is_crowned(self, board: tuple[Stack, ...], move: Move) -> bool:
        """Whether a man that makes ``move`` is crowned: it ends on the last rank, or passed there and jumped on."""
        assert move.source is not None
        owner = board[move.source][-1]
        if move.target in self.diagonals.last_rank[owner]:
            return True
        if self.form.on_last_rank != FLY or not move.taken:
            return False
        return any(way.is_king for capture, way in captures_of(self, board, owner) if capture == move)

    def unmarked(self) -> Draughts:
        """Without crowns."""
        return replace(self, has_crowns=False)

    def table(self, position: Position) -> Table:
        """The stacks; a king without a crown is one disc."""
        return Table(self._lying(position.board))

    def _lying(self, board: tuple[Stack, ...]) -> tuple[Stack, ...]:
        return board if self.has_crowns else tuple(stack[-1:] for stack in board)

    def outcome(self, position: Position) -> Outcome | None:
        """DRA-8."""
        assert isinstance(position, DraughtsPosition)
        return Outcome(position.won, "DRA-8") if position.to_move == NOBODY else None

    def stages(self, position: Position, move: Move) -> tuple[Stage, ...]:
        """A jump that goes on, jumped men that still lie there, a man on the last rank without his second disc."""
        board, after = position.board, self.play(position, move).board
        captures = captures_of(self, board, position.to_move)
        found = [stage for capture, way in captures if capture == move for stage in self._jumping(board, move, way)]
        found += self._clearing(board, after, move)
        ends = [self._lying(board), self._lying(after)]
        tables = {self._lying(stage.table.stacks): stage for stage in reversed(found)}
        return tuple(replace(stage, table=Table(lie)) for lie, stage in reversed(tables.items()) if lie not in ends)

    def _jumping(self, board: tuple[Stack, ...], move: Move, way: Capture) -> Iterator[Stage]:
        """The piece has come down between two jumps; what it has jumped so far lies there, or is gone."""
        for part in capture_prefixes(way):
            name = self.layout.cells[part.landings[-1]]
            here = self._moved(board, replace(move, target=part.landings[-1], taken=part.jumped))
            for left in (*uncleared_pieces(part.jumped), ()):
                table = Table(acts.replaced(here, {cell: board[cell] for cell in left}))
                yield Stage(table, f"the jump goes on from {name}", (name,), "DRA-5")

    def _clearing(self, board: tuple[Stack, ...], after: tuple[Stack, ...], move: Move) -> Iterator[Stage]:
        """The piece stands where it will; something that was jumped lies there, or its crown is missing."""
        assert move.target is not None
        end, bare = self.layout.cells[move.target], {move.target: self._moved(board, move)[move.target]}
        crownings = (False, True) if after[move.target] != bare[move.target] else (False,)
        for left in (*uncleared_pieces(move.taken), ()):
            names = [self.layout.cells[cell] for cell in left]
            for is_bare in crownings:
                if names or is_bare:
                    stacks = {cell: board[cell] for cell in left} | (bare if is_bare else {})
                    tasks = [f"take what was jumped off {listed(names)}"] * bool(names)
                    tasks += [f"crown the man on {end}"] * is_bare
                    cells = (*names, *[end] * is_bare)
                    rule = "DRA-5" if names else "DRA-7"
                    yield Stage(Table(acts.replaced(after, stacks)), listed(tasks), cells, rule)

    def acts(self, position: Position, within: frozenset[Cell] | None) -> Iterator[acts.Act]:
        """What a hand can do to any game, and captures: those that there are, parts of them, and one piece more."""
        board, seen = position.board, set[Move]()
        yield from super().acts(position, within) if self.has_crowns else acts.whole_stacks(board, within)
        for player in self.players:
            for move, way in self.all_captures(board, player):
                parts = (self._move(board, move.cells[0], part) for part in capture_prefixes(way))
                for capture in (move, *parts, *self._with_one_more(board, move)):
                    if capture not in seen and (within is None or within.issuperset(capture.cells)):
                        seen.add(capture)
                        yield capture, self._lying(self._moved(board, capture))

    def _with_one_more(self, board: tuple[Stack, ...], move: Move) -> Iterator[Move]:
        foe = self.diagonals.other(board[move.cells[0]][-1])
        for cell, stack in enumerate(board):
            if stack and stack[-1] == foe and cell not in move.taken:
                yield replace(move, taken=in_order(self.layout, (*move.taken, cell)))

    def progresses(self, position: Position, move: Move) -> bool:
        """A capture, or a man's move (DRA-9)."""
        return bool(move.taken) or (move.source is not None and len(position.board[move.source]) == 1)


@lru_cache(maxsize=1024)
def captures_of(game: Draughts, board: tuple[Stack, ...], player: Player) -> tuple[tuple[Move, Capture], ...]:
    """The captures that ``player`` may make, one entry a way: to the end, and the most where that is the rule."""
    found = tuple(game.all_captures(board, player))
    if not (found and game.form.is_most):
        return found
    most = max(len(move.taken) for move, _ in found)
    return tuple((move, way) for move, way in found if len(move.taken) == most)
