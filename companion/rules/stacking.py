"""What the games have in common: each game file states only its differences.

A game derives from :class:`StackingGame` and adds the rest of :class:`companion.rules.game.Game`: ``layout``,
``players``, ``pieces``, ``names``, ``rules``, ``start``, its keys, ``legal_moves``, ``violations``, ``play`` and
``outcome``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from companion.errors import BadPositionText
from companion.rules import acts
from companion.rules.board import NOBODY, Cell, Piece, Player, Sight, Stack, Table
from companion.rules.citing import (
    are_two_moves,
    changed_cells,
    cite,
    cite_together,
    disturbance,
    is_same_stack,
    jumped_pillars,
    listed,
    surplus,
)
from companion.rules.game import Attempt, Game, Move, Outcome, Position, Rule, Stage, Violation
from companion.rules.notation import format_tag


@dataclass(frozen=True)
class StackingGame(Game):
    """A game in ``variant`` (``""``: the main rules) for ``count`` players."""

    variant: str
    count: int

    name: ClassVar[str]
    """The name in the tag."""

    loss_rule: ClassVar[str] = ""
    """The rule that is broken, with G-2, if a piece has gone from the board; empty if there is none."""

    turn_rule: ClassVar[str] = ""
    """The rule that is broken, with G-2, if two moves have been made in one turn; empty if G-2 says it all."""

    jump_rule: ClassVar[str] = ""
    """The rule that is broken if a pillar has moved by more than one level; empty if there are no pillars."""

    most_taken: ClassVar[int] = 0
    has_lookalikes: ClassVar[bool] = False
    most_idle: ClassVar[int] = 0
    idle_rule: ClassVar[str] = ""

    @cached_property
    def tag(self) -> str:
        """``domination``, ``domination:classic/3``."""
        return format_tag(self.name, self.variant, self.count)

    def owner(self, piece: Piece) -> Player | None:
        """The owner of ``piece``; None: nobody."""
        return piece if piece in self.players else None

    def repeated(self, mover: Player) -> Outcome:  # noqa: ARG002 - matters where forcing a draw is punished
        """A draw (G-4)."""
        return Outcome(None, "G-4")

    def progresses(self, position: Position, move: Move) -> bool:  # noqa: ARG002 - matters where idling draws
        """Always true: no game is drawn by idling unless it says so."""
        return True

    def table(self, position: Position) -> Table:
        """The stacks; anything else lies beside the board."""
        return Table(position.board)

    def sight(self, stack: Stack) -> Sight:
        """Height and top piece."""
        return (len(stack), stack[-1]) if stack else (0, None)

    def unmarked(self) -> Game:
        """The game itself: its pieces show what they are."""
        return self

    def stages(self, position: Position, move: Move) -> tuple[Stage, ...]:  # noqa: ARG002 - most games have none
        """Nothing: a turn is complete when the pieces stand where they were moved."""
        return ()

    def due(self, position: Position) -> Stage | None:  # noqa: ARG002 - most games have none
        """Nothing: any move may be made."""
        return None

    def attempts(self, position: Position, within: frozenset[Cell] | None = None) -> Iterable[Attempt]:
        """The game's acts, each with the table that it leaves: for a legal one, that after the whole turn."""
        for move, stacks in self.acts(position, within):
            player = self._actor(position, move)
            if self.violations(position, move):
                yield Attempt(move, player, self.left_by(position, move, stacks))
            else:
                yield Attempt(move, player, self.table(self.play(position, move)))

    def acts(self, position: Position, within: frozenset[Cell] | None) -> Iterator[acts.Act]:
        """What a hand can do: here any part of a stack onto any other cell, or its top piece off the board."""
        yield from acts.transfers(position.board, within)
        yield from acts.removals(position.board, within)

    def left_by(self, position: Position, move: Move, stacks: tuple[Stack, ...]) -> Table:
        """The table after a hand has made the illegal ``move`` and left ``stacks``."""
        levels = self.table(position).levels
        if levels is not None and move.step and move.target is not None:
            levels = (*levels[: move.target], levels[move.target] + move.step, *levels[move.target + 1 :])
        return Table(stacks, levels)

    def _actor(self, position: Position, move: Move) -> Player:
        piece = move.piece if move.source is None else position.board[move.source][-1:]
        return (self.owner(piece) if piece else None) or position.to_move

    def breaches(self, position: Position, table: Table) -> tuple[Violation, ...]:
        """G-2, with the game's own rule if pieces have gone or a pillar jumped; preceded by G-5 after the end.

        If a turn was left half done and the next player has moved, the rule that demands the rest comes first.
        """
        before = self.table(position)
        cells = changed_cells(self.layout, before, table)
        jumps = jumped_pillars(self.layout, before, table)
        broken = []
        if position.to_move == NOBODY:
            broken.append(cite(self.rules["G-5"], cells, what="what was done on the board"))
        if (stage := self._left_half_done(position, table)) is not None:
            broken.append(Violation(stage.rule, f"the turn was not finished: {stage.todo}.", stage.cells))
        # A single pillar that moved too far, and nothing else, is one thing.
        if len(cells) != 1 or not jumps:
            surplus_pieces = surplus(before, table)
            other = self.loss_rule if surplus_pieces < 0 else self.turn_rule if are_two_moves(before, table) else ""
            rules = [self.rules[rule] for rule in ("G-2", other) if rule]
            broken += cite_together(rules, cells, disturbance(cells, surplus_pieces))
        if jumps:
            what = f"{listed(jumps)} moved by more than one"
            broken.append(cite(self.rules[self.jump_rule], jumps, what=what))
        return tuple(broken)

    def _left_half_done(self, position: Position, table: Table) -> Stage | None:
        """The stage at which a turn was left, if ``table`` is what the next player's move has made of it."""
        for move in self.legal_moves(position):
            for stage in self.stages(position, move):
                since = frozenset(self.layout.index[name] for name in changed_cells(self.layout, stage.table, table))
                if since and self._is_legal_next(self.play(position, move), table, since):
                    return stage
        return None

    def _is_legal_next(self, position: Position, table: Table, changed: frozenset[Cell]) -> bool:
        """Whether a legal move leaves what lies in ``table`` on the cells that it changes, ``changed`` among them."""
        for move in self.legal_moves(position):
            if changed.issubset(move.cells):
                after = self.table(self.play(position, move)).stacks
                if all(is_same_stack(after[cell], table.stacks[cell]) for cell in move.cells):
                    return True
        return False

    def cell_names(self, move: Move) -> tuple[str, ...]:
        """The names of the cells that ``move`` names."""
        return tuple(self.layout.cells[cell] for cell in move.cells)

    def after_the_end(self, move: Move) -> tuple[Violation, ...]:
        """G-5 for any move."""
        return (cite(self.rules["G-5"], self.cell_names(move), what="this move"),)

    def out_of_turn(self, position: Position, cell: str, what: str, owner: Player) -> Violation:
        """G-1: ``what`` on ``cell`` belongs to ``owner``, who is not to move."""
        owner, mover = self.names[owner], self.names[position.to_move]
        return cite(self.rules["G-1"], (cell,), what=what, owner=owner, mover=mover)

    def unknown_act(self, move: Move, *others: Rule) -> tuple[Violation, ...]:
        """G-2, and ``others``, for an act that has a text but is no kind of move in this game."""
        cells = self.cell_names(move)
        if move.source is not None and move.target is None:
            what = f"a piece was taken off {cells[0]}"
        else:
            what = f"{self.name.title()} has no such move on {listed(cells)}"
        return cite_together((self.rules["G-2"], *others), cells, what)


def check_numbers(board: Iterable[Stack], beside: str, most: Mapping[Piece, int]) -> None:
    """Raise BadPositionText if there are more of a piece, on the board and ``beside`` it, than ``most`` allows."""
    pieces = "".join(board) + beside
    for piece, allowed in most.items():
        if (found := pieces.count(piece)) > allowed:
            raise BadPositionText(f"{found} pieces {piece} are too many; the game has {allowed}")


def check_to_move(to_move: Player, proper: Iterable[Player]) -> None:
    """Raise BadPositionText if ``to_move`` is not among ``proper``."""
    allowed = sorted(proper)
    if to_move not in allowed:
        raise BadPositionText(f"{to_move} cannot be to move here; write {' or '.join(allowed)}")
