"""The kit with which a game is drawn: the one on the table, else the program's own, else a plain one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from calibration.kit import Board, Colour, Kit, Mat, PieceKind, available_kits, kit_name, load_kit
from companion.rules.board import Piece, Player
from companion.rules.game import Game

PLAIN_PITCH_MM, PLAIN_DISC_MM, PLAIN_HEIGHT_MM, PLAIN_STEP_MM = 33.0, 27.0, 7.0, 20.0
"""Dimensions for a game without a kit: those of draughtsmen on suitable squares."""

PLAIN_COLOURS: tuple[Colour, ...] = ((179, 32, 42), (29, 79, 163), (31, 122, 58), (224, 176, 32))
"""Default colours of the players' pieces, in turn order: they differ in lightness too."""

NOBODYS: Colour = (92, 92, 96)
PAPER: Colour = (239, 234, 222)
SQUARE: Colour = (216, 210, 192)
LINE: Colour = (91, 84, 70)
GROUND: Colour = (168, 152, 120)


def to_hex(colour: Colour) -> str:
    """The colour as ``#rrggbb``."""
    return "#" + bytes(colour).hex()


@lru_cache(maxsize=32)
def find_kit(tag: str, name: str = "") -> Kit | None:
    """The kit called ``name``, if the program has it, else the one for the game ``tag``; None if there is none."""
    known = available_kits()
    found = next((kit for kit in (name, kit_name(tag)) if kit in known), None)
    return None if found is None else load_kit(found)


def complete_kit(game: Game, kit: Kit | None) -> Kit:
    """``kit``, or the game's own or a plain one; what it lacks is taken from the game's own, or plain."""
    own = find_kit(game.tag)
    kit = kit or own or _plain(game)
    if own is not None and kit.board.cell_colour is None:
        colours = own.board.cell_colour, own.board.chequer_colour
        kit = replace(kit, board=replace(kit.board, cell_colour=colours[0], chequer_colour=colours[1]))
    known = {kind.letter for kind in kit.pieces}
    missing = tuple(_plain_kind(game, piece, kit) for piece in game.pieces if piece not in known)
    if not missing:
        return kit
    return replace(kit, pieces=(*kit.pieces, *missing))


def player_colours(game: Game, kit: Kit) -> Mapping[Player, str]:
    """The colour that identifies each player's pieces: their own, or that of their characters if all are alike."""
    own = {player: [kind for kind in kit.pieces if game.owner(kind.letter) == player] for player in game.players}
    bodies = {player: _commonest(kind.colour for kind in kinds) for player, kinds in own.items()}
    if len(set(bodies.values())) == len(bodies):
        return {player: to_hex(colour) for player, colour in bodies.items()}
    return {player: to_hex(_commonest(kind.glyph_colour for kind in kinds)) for player, kinds in own.items()}


def _commonest(colours: Iterator[Colour]) -> Colour:
    return (Counter(colours).most_common(1) or [(NOBODYS, 0)])[0][0]


def _plain(game: Game) -> Kit:
    layout = game.layout
    board = Board(
        files=layout.files,
        ranks=layout.ranks,
        pitch_mm=(PLAIN_PITCH_MM, PLAIN_PITCH_MM),
        a1_mm=(0.0, 0.0),
        missing=layout.missing,
        cell_colour=SQUARE,
        line_colour=LINE,
        terrain_step_mm=PLAIN_STEP_MM,
        terrain_colour=GROUND,
    )
    mat = Mat(0.0, 0.0, PAPER, "", 0.0, (), ())
    return Kit("plain", game.tag, mat, board, (), None, None, {})


def _plain_kind(game: Game, piece: Piece, kit: Kit) -> PieceKind:
    owner = game.owner(piece)
    colour = NOBODYS if owner is None else PLAIN_COLOURS[game.players.index(owner) % len(PLAIN_COLOURS)]
    width = min(PLAIN_DISC_MM, PLAIN_DISC_MM / PLAIN_PITCH_MM * min(kit.board.pitch_mm))
    return PieceKind(piece, "disc", width, PLAIN_HEIGHT_MM, colour, "", (0, 0, 0))
