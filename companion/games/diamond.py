"""Diamond: cubes on a field of pillars that rise and sink.

Sources: the rules text of seed 004; the field, whose picture is lost there, and the reading of its numbering are
rulings of the rulebook (game ``diamond``).  Variants: ``table`` (levels 0 to 6, for the model with sensors) and
``pairwise`` (a drop looks only at the two pillars concerned).

What a camera cannot tell: nothing on the board; bans and repetition come from history.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from companion.errors import BadPositionText
from companion.rules import acts
from companion.rules.board import NOBODY, Cell, Layout, Piece, Player, Stack, Table
from companion.rules.citing import cite, counted
from companion.rules.game import Move, Outcome, Position, Rule, Violation
from companion.rules.lines import lines_of
from companion.rules.notation import quoted, refuse_other_keys
from companion.rules.shared import COLOURS, SHARED_RULES, by_id, read_rules
from companion.rules.stacking import StackingGame, check_numbers, check_to_move

TITLE = "Diamond, on raisable pillars"
VARIANTS = ("", "table", "pairwise")
PLAYERS = (2, 4)

RULES = read_rules(
    """
DIA-1 The turn
A turn is either one pillar move or one push.
! a turn is one pillar moved by one level, or one cube pushed; {what}.

DIA-2 Pillar move
Any one pillar, occupied or not, goes up or down by exactly one level within the range; a cube on it rides along.
! a pillar moves by exactly one level and stays within its range; {what}.

DIA-3 Whose cubes
A player may push every big cube, his own small cube and small cubes that nobody owns; never another player's small
cube.
! a player pushes big cubes, his own small cube and those of nobody; {what}.

DIA-4 Level push
To any pillar that orthogonal steps reach over pillars which all have the cube's level (bends allowed). A small cube
passes pillars with small cubes, not with big ones; a big cube passes neither.
! a cube is pushed over pillars that all have its own level, {level}; {why}.

DIA-5 One cube a pillar
No two cubes on one pillar at the end of a turn.
! no two cubes may stand on one pillar; {target} is occupied.

DIA-6 Peak drop
Small cubes only: from a pillar at least two levels above every orthogonal neighbour to any empty one of them.
! a small cube drops from a pillar at least two levels above every neighbour, onto one of them; {source} to {target}
is no such drop.

DIA-7 Pit drop
Small cubes only: to an orthogonally adjacent empty pillar that is more than two levels below every one of its own
orthogonal neighbours.
! a small cube drops onto a neighbour that is more than two levels below all pillars around it; {source} to {target} is
no such drop.

DIA-8 Never up
A drop is a whole turn. Cubes never go up but by riding, and big cubes never drop.
! cubes go up only by riding, and big cubes never drop; {source} to {target} goes from level {level} to {other}.

DIA-9 No reversal
For the latest move of each pillar and cube, by player A, nobody may bring it back to where that move found it until
A's next turn begins. A newer move of the same object replaces the entry.
! {player} has just moved {what}; nobody may undo that before {player}'s next turn.

DIA-10 Never diagonally
A push is never diagonal.
! a push is never diagonal; no level way leads from {source} to {target}.

DIA-11 Winning
The player whose small cube stands in the corner opposite to its start after a push wins at once, at whatever level.

DIA-12 Forcing a draw
Forcing a draw loses: who brings about the same position (levels, cubes, to-move, bans) for the third time loses. With
two players the other wins; with four nobody does.
"""
)
PAIRWISE_RULES = read_rules(
    """
DIA-6 Peak drop
Small cubes only: to an empty orthogonal neighbour at least two levels below.
! a small cube drops onto a neighbour at least two levels below; {source} to {target} is no such drop.

DIA-7 Pit drop
Void in this variant.
"""
)

LAYOUT = Layout(5, 5)
LINES = lines_of(LAYOUT)
NEIGHBOURS = tuple(LINES.neighbours(cell) for cell in range(len(LAYOUT.cells)))
ORDER = sorted(range(len(LAYOUT.cells)), key=LAYOUT.cells.__getitem__)
"""The cells by name, as bans are listed."""

BIG = "X"
CORNERS: Mapping[Player, tuple[str, str]] = MappingProxyType(
    {"R": ("a5", "e1"), "G": ("e1", "a5"), "B": ("e5", "a1"), "Y": ("a1", "e5")}
)
"""By small cube: the corner where it starts, and the one where it wins."""

BIG_STARTS = ("c5", "a3", "e3", "c1")

FIELD = ("11 11 9 7 7", "11 9 9 9 7", "9 9 9 9 9", "7 9 9 9 11", "7 7 9 11 11")
"""Levels, from the highest rank down."""

HIGHEST: Mapping[str, int] = MappingProxyType({"": 19, "pairwise": 19, "table": 6})
LOWERED = {"table": 6}


@dataclass(frozen=True, slots=True)
class Ban:
    """DIA-9: what ``player`` moved and stands on ``cell`` now may not go ``back``: a cube's cell, a pillar's level."""

    cell: Cell
    back: int
    player: Player


Bans = tuple[Ban, ...]


@dataclass(frozen=True, slots=True)
class DiamondPosition(Position):
    """``levels`` by cell; the bans on pillars and on cubes, in the order of the cells' names."""

    levels: tuple[int, ...]
    pillar_bans: Bans = ()
    cube_bans: Bans = ()


def build(variant: str, players: int) -> Diamond:
    """The game for ``players`` in ``variant``."""
    return Diamond(variant, players)


@dataclass(frozen=True)
class Diamond(StackingGame):
    """Diamond; see :class:`companion.rules.game.Game`."""

    name = "diamond"
    turn_rule = "DIA-1"
    jump_rule = "DIA-2"
    layout = LAYOUT
    pieces = (*CORNERS, BIG)

    @cached_property
    def players(self) -> tuple[Player, ...]:
        """With two players the cubes B and Y belong to nobody."""
        return tuple(CORNERS)[: self.count]

    @cached_property
    def names(self) -> Mapping[Player, str]:
        """Colours."""
        return {player: COLOURS[player] for player in self.players}

    @cached_property
    def rules(self) -> Mapping[str, Rule]:
        """With the variant's DIA-6 and DIA-7."""
        return by_id((*SHARED_RULES, *RULES, *(PAIRWISE_RULES if self.is_pairwise else ())))

    @property
    def is_pairwise(self) -> bool:
        """Whether a drop looks only at the two pillars concerned."""
        return self.variant == "pairwise"

    def start(self) -> DiamondPosition:
        """Small cubes in their corners, big ones on the middles of the edges."""
        places = {start: cube for cube, (start, _) in CORNERS.items()} | dict.fromkeys(BIG_STARTS, BIG)
        levels = (int(level) - LOWERED.get(self.variant, 0) for rank in reversed(FIELD) for level in rank.split())
        return DiamondPosition(tuple(places.get(name, "") for name in LAYOUT.cells), "R", tuple(levels))

    def parse_position(self, board: tuple[Stack, ...], to_move: Player, keys: Mapping[str, str]) -> DiamondPosition:
        """Checks cubes, levels, bans, and who is to move."""
        refuse_other_keys(keys, ("levels", "ban"))
        if any(len(stack) > 1 for stack in board):
            raise BadPositionText("two cubes stand on one pillar (DIA-5)")
        check_numbers(board, "", {**dict.fromkeys(CORNERS, 1), BIG: len(BIG_STARTS)})
        levels = self._parse_levels(keys.get("levels", ""))
        pillars, cubes = self._parse_bans(keys.get("ban", ""), board, levels)
        check_to_move(to_move, NOBODY if self._winner(board) else self.players)
        if any(ban.player == to_move for ban in (*pillars, *cubes)):
            raise BadPositionText(f"a ban of {to_move} has ended with the beginning of {to_move}'s turn; leave it out")
        return DiamondPosition(board, to_move, levels, pillars, cubes)

    def _parse_levels(self, text: str) -> tuple[int, ...]:
        ranks = [rank.split(",") for rank in text.split("/")]
        if [len(rank) for rank in ranks] != [LAYOUT.files] * LAYOUT.ranks:
            raise BadPositionText("levels= is 25 numbers: five ranks from 5 down, joined by /, files joined by ,")
        words = [word for rank in reversed(ranks) for word in rank]
        for word in words:
            if not (word.isascii() and word.isdigit() and len(word) < 3 and int(word) <= HIGHEST[self.variant]):
                raise BadPositionText(
                    f"{quoted(word)} is no level; pillars stand between 0 and {HIGHEST[self.variant]}"
                )
        return tuple(map(int, words))

    def _parse_bans(self, text: str, board: tuple[Stack, ...], levels: tuple[int, ...]) -> tuple[Bans, Bans]:
        pillars: Bans = ()
        cubes: Bans = ()
        for part in text.split(",") if text else ():
            name, _, rest = part.partition(">")
            back, _, player = rest.partition("@")
            if name not in LAYOUT.index or player not in self.players:
                raise BadPositionText(f"ban {quoted(part)} is not written like c3>9@R or c4>c3@G")
            cell = LAYOUT.index[name]
            if back in LAYOUT.index and back != name and board[cell]:
                cubes = banned(cubes, cell, Ban(cell, LAYOUT.index[back], player))
            elif back in (str(levels[cell] - 1), str(levels[cell] + 1)):
                pillars = banned(pillars, cell, Ban(cell, int(back), player))
            else:
                raise BadPositionText(f"ban {quoted(part)} names neither a level next to {name}'s nor a cube there")
        return pillars, cubes

    def position_keys(self, position: Position) -> tuple[tuple[str, str], ...]:
        """``levels`` and ``ban``."""
        assert isinstance(position, DiamondPosition)
        width, levels, names = LAYOUT.files, position.levels, LAYOUT.cells
        ranks = (levels[first : first + width] for first in reversed(range(0, len(levels), width)))
        pillars = (f"{names[ban.cell]}>{ban.back}@{ban.player}" for ban in position.pillar_bans)
        cubes = (f"{names[ban.cell]}>{names[ban.back]}@{ban.player}" for ban in position.cube_bans)
        keys = (("levels", "/".join(",".join(map(str, rank)) for rank in ranks)), ("ban", ",".join((*pillars, *cubes))))
        return tuple((key, value) for key, value in keys if value)

    def legal_moves(self, position: Position) -> tuple[Move, ...]:
        """Every pillar up and down, and every push, but for what is banned."""
        assert isinstance(position, DiamondPosition)
        if position.to_move == NOBODY:
            return ()
        levels, highest = position.levels, HIGHEST[self.variant]
        moves = [move for move, level in zip(RISES, levels, strict=True) if level < highest]
        moves += [move for move, level in zip(FALLS, levels, strict=True) if level > 0]
        for source, cube in enumerate(position.board):
            if cube and self._may_push(position.to_move, cube):
                moves += [PUSHES[source][target] for target in self._targets(position, source)]
        undoing = {(RISES if ban.back > levels[ban.cell] else FALLS)[ban.cell] for ban in position.pillar_bans}
        undoing |= {PUSHES[ban.cell][ban.back] for ban in position.cube_bans}
        return tuple(move for move in moves if move not in undoing) if undoing else tuple(moves)

    def _may_push(self, player: Player, cube: Piece) -> bool:
        return cube == player or cube not in self.players

    def _targets(self, position: DiamondPosition, source: Cell) -> Iterator[Cell]:
        """Empty pillars that the cube on ``source`` may be pushed to (DIA-4, DIA-6, DIA-7)."""
        board = position.board
        for target in self._level_ways(position, source):
            if not board[target]:
                yield target
        if board[source] != BIG:
            for target in NEIGHBOURS[source]:
                if not board[target] and self._is_drop(position.levels, source, target):
                    yield target

    def _level_ways(self, position: DiamondPosition, source: Cell) -> list[Cell]:
        """The pillars that level steps reach, those with a cube included; only cubes that may be passed are passed."""
        board, levels = position.board, position.levels
        level, is_big = levels[source], board[source] == BIG
        seen = {source}
        reached = [source]
        for cell in reached:
            if cell != source and board[cell] and (is_big or board[cell] == BIG):
                continue
            for neighbour in NEIGHBOURS[cell]:
                if levels[neighbour] == level and neighbour not in seen:
                    seen.add(neighbour)
                    reached.append(neighbour)
        return reached[1:]

    def _is_drop(self, levels: tuple[int, ...], source: Cell, target: Cell) -> bool:
        """DIA-6, DIA-7 for a small cube and a neighbour, whatever stands on it."""
        if self.is_pairwise:
            return levels[source] - levels[target] >= 2
        is_peak = all(levels[source] - levels[around] >= 2 for around in NEIGHBOURS[source])
        return is_peak or all(levels[around] - levels[target] > 2 for around in NEIGHBOURS[target])

    def violations(self, position: Position, move: Move) -> tuple[Violation, ...]:
        """DIA-1 … DIA-10, and G-1, G-2, G-5."""
        assert isinstance(position, DiamondPosition)
        if position.to_move == NOBODY:
            return self.after_the_end(move)
        if move.step and move.target is not None:
            return tuple(self._pillar_violations(position, move.target, move.step))
        if move.source is None or move.target is None or move.level:
            return self.unknown_act(move, self.rules["DIA-1"])
        return tuple(self._push_faults(position, move.source, move.target, move.count))

    def _pillar_violations(self, position: DiamondPosition, cell: Cell, step: int) -> Iterator[Violation]:
        name, level = LAYOUT.cells[cell], position.levels[cell] + step
        if not 0 <= level <= HIGHEST[self.variant] or abs(step) > 1:
            yield cite(self.rules["DIA-2"], (name,), what=f"{name} cannot go to level {level}")
        for ban in position.pillar_bans:
            if ban.cell == cell and ban.back == level:
                yield self._reversal(ban, f"pillar {name} away from level {level}", (name,))

    def _reversal(self, ban: Ban, what: str, cells: tuple[str, ...]) -> Violation:
        return cite(self.rules["DIA-9"], cells, player=self.names[ban.player], what=what)

    def _push_faults(self, position: DiamondPosition, source: Cell, target: Cell, count: int) -> Iterator[Violation]:
        board, start, end = position.board, LAYOUT.cells[source], LAYOUT.cells[target]
        cube = board[source]
        if not cube:
            yield cite(self.rules["G-2"], (start,), what=f"nothing stands on {start}")
            yield cite(self.rules["DIA-1"], (start,), what=f"there is no cube on {start}")
            yield cite(self.rules["DIA-3"], (start,), what=f"there is none on {start}")
            return
        if not self._may_push(position.to_move, cube):
            yield self.out_of_turn(position, start, f"the small cube on {start}", cube)
            yield cite(self.rules["DIA-3"], (start,), what=f"that on {start} is {self.names[cube]}'s")
        if count > 1:
            yield cite(self.rules["DIA-1"], (start,), what=f"{start} has not {counted(count, 'cube')}")
            return
        yield from self._way_violations(position, source, target)
        if board[target] and source != target:
            yield cite(self.rules["DIA-5"], (end,), target=end)
        for ban in position.cube_bans:
            if ban.cell == source and ban.back == target:
                yield self._reversal(ban, f"the cube from {end} to {start}", (start, end))

    def _way_violations(self, position: DiamondPosition, source: Cell, target: Cell) -> Iterator[Violation]:
        levels, is_big = position.levels, position.board[source] == BIG
        if target in self._level_ways(position, source):
            return
        if not is_big and target in NEIGHBOURS[source] and self._is_drop(levels, source, target):
            return
        start, end, level, other = LAYOUT.cells[source], LAYOUT.cells[target], levels[source], levels[target]
        cells = (start, end)
        why = f"none leads from {start} to {end}" if level == other else f"{end} has level {other}"
        yield cite(self.rules["DIA-4"], cells, level=str(level), why=why)
        if other < level:
            for rule in ("DIA-6",) if self.is_pairwise else ("DIA-6", "DIA-7"):
                yield cite(self.rules[rule], cells, source=start, target=end)
        if other > level or (is_big and other < level):
            yield cite(self.rules["DIA-8"], cells, source=start, target=end, level=str(level), other=str(other))
        if start[0] != end[0] and start[1] != end[1]:
            yield cite(self.rules["DIA-10"], cells, source=start, target=end)

    def play(self, position: Position, move: Move) -> DiamondPosition:
        """The pillar or the cube moved, the bans brought up to date; then DIA-11, and the turn passes on."""
        assert isinstance(position, DiamondPosition)
        assert move.target is not None
        board, levels, mover = position.board, position.levels, position.to_move
        pillars, cubes = position.pillar_bans, position.cube_bans
        if move.source is None:
            old = levels[move.target]
            levels = (*levels[: move.target], old + move.step, *levels[move.target + 1 :])
            pillars = banned(pillars, move.target, Ban(move.target, old, mover))
        else:
            board = acts.replaced(board, {move.source: "", move.target: board[move.source]})
            cubes = banned(cubes, move.source, Ban(move.target, move.source, mover))
            if self._winner(board):
                return DiamondPosition(board, NOBODY, levels, pillars, cubes)
        # A turn always follows: some pillar can always move, for no field has room for 25 bans.
        following = self.players[(self.players.index(mover) + 1) % self.count]
        pillars = tuple(ban for ban in pillars if ban.player != following)
        cubes = tuple(ban for ban in cubes if ban.player != following)
        return DiamondPosition(board, following, levels, pillars, cubes)

    def _winner(self, board: tuple[Stack, ...]) -> Player | None:
        """Whose small cube stands in its goal; only a push can have brought it there (DIA-11)."""
        return next((player for player in self.players if board[GOALS[player]] == player), None)

    def outcome(self, position: Position) -> Outcome | None:
        """DIA-11."""
        return None if position.to_move != NOBODY else Outcome(self._winner(position.board), "DIA-11")

    def repeated(self, mover: Player) -> Outcome:
        """DIA-12: of two players the other wins, of four nobody does."""
        others = [player for player in self.players if player != mover]
        return Outcome(others[0] if len(others) == 1 else None, "DIA-12")

    def table(self, position: Position) -> Table:
        """Cubes and levels."""
        assert isinstance(position, DiamondPosition)
        return Table(position.board, position.levels)

    def acts(self, position: Position, within: frozenset[Cell] | None) -> Iterator[acts.Act]:
        """Any cube onto any pillar or off the board, any pillar by one level."""
        yield from super().acts(position, within)
        for cell in acts.cells_within(position.board, within):
            yield RISES[cell], position.board
            yield FALLS[cell], position.board


def banned(bans: Bans, moved: Cell, new: Ban) -> Bans:
    """``bans`` with ``new`` in place of the entry of what stood on ``moved``, in the order of the cells' names."""
    return tuple(sorted((*(ban for ban in bans if ban.cell != moved), new), key=lambda ban: ORDER.index(ban.cell)))


GOALS: Mapping[Player, Cell] = MappingProxyType({player: LAYOUT.index[goal] for player, (_, goal) in CORNERS.items()})
RISES = tuple(Move(None, cell, step=1) for cell in range(len(LAYOUT.cells)))
FALLS = tuple(Move(None, cell, step=-1) for cell in range(len(LAYOUT.cells)))
PUSHES = tuple(tuple(Move(source, target, 1) for target in range(len(RISES))) for source in range(len(RISES)))
