"""Moves, and the way back from illegal acts, as plain sentences of a language."""

from __future__ import annotations

from collections.abc import Mapping

from companion.events import Illegal
from companion.languages.language import Language
from companion.restoring import RepairStep, repair_steps
from companion.rules.board import Piece, Player
from companion.rules.game import Game, Move, Position

MAX_STEPS = 3
"""A longer way back is not spoken, since nobody listens to it; it is drawn."""


def describe_move(game: Game, position: Position, move: Move, lang: Language, names: Mapping[Player, str]) -> str:
    """The effect of ``move`` in words, without a full stop: ``Green lowered the pillar d1``."""
    cells = game.layout.cells
    words = {"player": names.get(position.to_move, position.to_move)}
    if move.source is not None:
        words["source"] = cells[move.source]
    if move.target is not None:
        words["target"] = cells[move.target]
    if move.step:
        kind = "raise" if move.step > 0 else "lower"
    elif move.source is None:
        kind = "place"
    elif move.target is None:
        kind = "off"
    elif move.level:
        kind = "exchange"
    else:
        kind = "move" if move.count <= 1 else "moves"
    return lang.texts[f"did.{kind}"].format(n=move.count, **words)


def describe_repair(game: Game, event: Illegal, lang: Language, names: Mapping[Player, str]) -> str:
    """The way back to the accepted position, a sentence a step; empty if there is none or it is too long."""
    steps = repair_steps(game, event)
    if not 0 < len(steps) <= MAX_STEPS:
        return ""
    return " ".join(describe_step(game, step, lang, names) for step in steps)


def describe_step(game: Game, step: RepairStep, lang: Language, names: Mapping[Player, str]) -> str:
    """One step of a way back, as a sentence."""
    if step.level is not None and step.now is not None:
        kind = "lower" if step.level < step.now else "raise"
    else:
        kind = "move" if step.source and step.target else "off" if step.source else "on"
        kind += "s" if step.count > 1 else ""
    piece = _piece_name(game, step.piece, lang, names)
    text = lang.texts[f"back.{kind}"]
    return text.format(piece=piece, n=step.count, source=step.source, target=step.target, level=step.level)


def _piece_name(game: Game, piece: Piece, lang: Language, names: Mapping[Player, str]) -> str:
    """``the red piece``, ``South's piece``, ``the piece``."""
    owner = game.owner(piece) if piece in game.pieces else None
    if owner is None:
        return lang.texts["piece"]
    name = names.get(owner, owner)
    if name in lang.colours:
        return lang.texts["piece.coloured"].format(colour=lang.colours[name])
    return lang.texts["piece.of"].format(name=name)
