"""Positions and moves as text (docs/notation.md), and back.  Each position and each move has exactly one text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from companion.errors import BadMoveText, BadPositionText, UnknownGame
from companion.rules.board import NOBODY, Cell, Layout, Piece, Stack
from companion.rules.game import Game, Move, Position

LONGEST_TEXT = 2000
"""Longer texts are refused unread; the longest real position (Diamond with every ban) has about 400 characters."""

TAG = re.compile(r"([a-z]+)(?::([a-z]+))?(?:/([1-9]))?")
CELL = "[a-z][1-9][0-9]?"
STACK_MOVE = re.compile(rf"({CELL})-({CELL})(?::([1-9][0-9]?))?((?:x{CELL})*)")
RESERVE_MOVE = re.compile(rf"([A-Za-z]?)\*({CELL})")
OFF_MOVE = re.compile(rf"({CELL})-off")
PROMOTION = re.compile(rf"({CELL})=({CELL})\.([1-9][0-9]?)")
PILLAR_MOVE = re.compile(rf"([+-])({CELL})")


def quoted(text: str) -> str:
    """``text`` made fit for an error message: printable, one line, short."""
    return ascii(text if len(text) <= 60 else text[:57] + "...")


def parse_tag(text: str) -> tuple[str, str, int | None]:
    """Name, variant (``""``: the main rules) and number of players (None: not written) in a game's tag."""
    found = TAG.fullmatch(text)
    if found is None:
        raise UnknownGame(f"{quoted(text)} is not a game; write name[:variant][/players], e.g. domination:classic/3")
    name, variant, players = found.groups()
    return name, variant or "", int(players) if players else None


def format_tag(name: str, variant: str, players: int) -> str:
    """The tag as positions carry it: two players and the main rules are not written."""
    return name + (f":{variant}" if variant else "") + (f"/{players}" if players != 2 else "")


def position_tag(text: str) -> str:
    """The part of a position's text that names its game."""
    if len(text) > LONGEST_TEXT:
        raise BadPositionText(f"a position of {len(text)} characters is too long; none has more than {LONGEST_TEXT}")
    words = text.split(maxsplit=1)
    if not words:
        raise BadPositionText("an empty line is not a position; write <game> <board> <to-move> [key=value ...]")
    return words[0]


def format_position(game: Game, position: Position) -> str:
    """The only text of the position."""
    keys = (f"{key}={value}" for key, value in game.position_keys(position))
    return " ".join((game.tag, format_board(game.layout, position.board), position.to_move, *keys))


def parse_position(game: Game, text: str) -> Position:
    """The position of ``game`` that ``text`` describes.

    Raises:
        BadPositionText: it is no position of this game, or is not written in the one way that docs/notation.md allows.
    """
    if position_tag(text) != game.tag:
        raise BadPositionText(f"{quoted(text)} is not a position of {game.tag}")
    words = text.split(" ")
    if len(words) < 3:
        raise BadPositionText(f"{quoted(text)} is too short; write <game> <board> <to-move> [key=value ...]")
    board = parse_board(game, words[1])
    if words[2] not in (*game.players, NOBODY):
        raise BadPositionText(f"{quoted(words[2])} cannot be to move; write one of {' '.join(game.players)} {NOBODY}")
    position = game.parse_position(board, words[2], parse_keys(words[3:]))
    if (proper := format_position(game, position)) != text:
        raise BadPositionText(f"{quoted(text)} is not written the usual way; write: {proper}")
    return position


def parse_keys(words: list[str]) -> dict[str, str]:
    """The ``key=value`` parts of a position's text."""
    keys: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not (key and equals and value) or key in keys:
            raise BadPositionText(f"{quoted(word)} is not a key=value of its own")
        keys[key] = value
    return keys


def refuse_other_keys(keys: Mapping[str, str], known: tuple[str, ...]) -> None:
    """Raise BadPositionText for a key that is not among ``known``."""
    for key in keys:
        if key not in known:
            allowed = f"write only {' '.join(known)}" if known else "this game has none"
            raise BadPositionText(f"unknown key {quoted(key)}; {allowed}")


def format_board(layout: Layout, board: tuple[Stack, ...]) -> str:
    """Ranks from the highest down, joined by ``/``; each has its cells from file a on, empty runs as numbers."""
    return "/".join(format_rank([board[cell] for cell in rank]) for rank in ranks_downward(layout))


def format_rank(stacks: list[Stack]) -> str:
    """One rank's stacks, runs of empty cells as numbers."""
    parts: list[str] = []
    for empty, run in groupby(stacks, key=lambda stack: not stack):
        cells = list(run)
        parts.extend([str(len(cells))] if empty else cells)
    return ",".join(parts)


def ranks_downward(layout: Layout) -> Iterator[list[Cell]]:
    """The existing cells of each rank, the highest rank first."""
    for y in reversed(range(layout.ranks)):
        yield [layout.at[x, y] for x in range(layout.files) if (x, y) in layout.at]


def parse_board(game: Game, text: str) -> tuple[Stack, ...]:
    """The stacks of a board's text, in the order of ``layout.cells``."""
    ranks = list(ranks_downward(game.layout))
    texts = text.split("/")
    if len(texts) != len(ranks):
        raise BadPositionText(f"the board has {len(ranks)} ranks, not {len(texts)}: {quoted(text)}")
    board = [""] * len(game.layout.cells)
    letters = frozenset(game.pieces)
    for rank, rank_text in zip(ranks, texts, strict=True):
        stacks = list(parse_rank(rank_text, letters, len(rank)))
        if len(stacks) != len(rank):
            name = game.layout.cells[rank[0]][1:]
            raise BadPositionText(f"rank {name} has {len(rank)} squares, not {len(stacks)}: {quoted(rank_text)}")
        for cell, stack in zip(rank, stacks, strict=True):
            board[cell] = stack
    return tuple(board)


def parse_rank(text: str, letters: frozenset[Piece], width: int) -> Iterator[Stack]:
    """The stacks of one rank's text; ``width`` bounds a run of empty cells."""
    for part in text.split(","):
        if part.isascii() and part.isdigit() and len(part) < 3 and 0 < int(part) <= width:
            yield from [""] * int(part)
        elif part and letters.issuperset(part):
            yield part
        else:
            raise BadPositionText(
                f"{quoted(part)} is neither a stack of {' '.join(sorted(letters))} nor a run of 1-{width}"
            )


def format_move(game: Game, position: Position, move: Move) -> str:
    """The only text of the move in ``position``."""
    name = game.layout.cells
    if move.step:
        return f"{'+' if move.step > 0 else '-'}{name[_cell(move.target)]}"
    if move.source is None:
        return f"{move.piece if _is_piece_named(game) else ''}*{name[_cell(move.target)]}"
    source = name[move.source]
    if move.target is None:
        return f"{source}-off"
    if move.level:
        return f"{source}={name[move.target]}.{move.level}"
    part = "" if move.count == len(position.board[move.source]) else f":{move.count}"
    return f"{source}-{name[move.target]}{part}{''.join(f'x{name[cell]}' for cell in move.taken)}"


def parse_move(game: Game, position: Position, text: str) -> Move:
    """The move, legal or not, that ``text`` means in ``position``.

    Raises:
        BadMoveText: it names no cell of the board, or is not written as docs/notation.md says.
    """
    if found := STACK_MOVE.fullmatch(text):
        return _parse_stack_move(game, position, *found.groups())
    if found := RESERVE_MOVE.fullmatch(text):
        return _parse_reserve_move(game, position, *found.groups())
    if found := OFF_MOVE.fullmatch(text):
        return Move(_named(game, found[1]), None, 1)
    if found := PROMOTION.fullmatch(text):
        return Move(_named(game, found[1]), _named(game, found[2]), level=int(found[3]))
    if found := PILLAR_MOVE.fullmatch(text):
        return Move(None, _named(game, found[2]), step=1 if found[1] == "+" else -1)
    raise BadMoveText(f"{quoted(text)} is not a move; write e.g. c3-d3, c3-c5:2, c3-e5xd4, *c3, e6-off, b8=c2.1 or +c3")


def _parse_stack_move(game: Game, position: Position, source: str, target: str, part: str | None, taken: str) -> Move:
    cell = _named(game, source)
    height = len(position.board[cell])
    if part is not None and int(part) == height:
        raise BadMoveText(f":{part} is the whole stack on {source}; write {source}-{target}")
    count = height if part is None else int(part)
    return Move(cell, _named(game, target), count, taken=_parse_taken(game, taken.split("x")[1:]))


def _parse_taken(game: Game, names: list[str]) -> tuple[Cell, ...]:
    if names and not game.most_taken:
        raise BadMoveText(f"x{names[0]}: a move of {game.tag} does not say what it takes")
    taken = tuple(_named(game, name) for name in names)
    if taken != (ordered := in_order(game.layout, taken)):
        proper = "".join(f"x{game.layout.cells[cell]}" for cell in ordered)
        raise BadMoveText(f"what is taken is named once, by file, then rank: write {proper}")
    return taken


def in_order(layout: Layout, cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """``cells`` without duplicates, by file, then rank: the order in which a move names what it takes."""
    return tuple(sorted(set(cells), key=lambda cell: layout.places[cell]))


def _parse_reserve_move(game: Game, position: Position, piece: str, target: str) -> Move:
    if not _is_piece_named(game):
        if piece:
            raise BadMoveText(f"a reserve piece has no letter in {game.tag}; write *{target}")
        return Move(None, _named(game, target), piece=position.to_move.strip(NOBODY))
    if piece not in game.pieces:
        raise BadMoveText(f"write which piece is put on {target}: one of {' '.join(game.pieces)} before the *")
    return Move(None, _named(game, target), piece=piece)


def _is_piece_named(game: Game) -> bool:
    """Whether a reserve piece is written with its letter: needless if each player's pieces are all of one kind."""
    return not set(game.pieces) <= set(game.players)


def _named(game: Game, name: str) -> Cell:
    if name not in game.layout.index:
        raise BadMoveText(f"{name} is no square of this board")
    return game.layout.index[name]


def _cell(cell: Cell | None) -> Cell:
    assert cell is not None, "every move but one off the board has a target"
    return cell
