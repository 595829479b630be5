"""GAME, ``--kit``, ``--kings`` and ``--start``: the match and the kit that they name."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from calibration.kit import Kit, kit_name, load_kit
from companion.errors import CompanionError
from companion.games import load_game, read_position
from companion.match import Match
from companion.rules.game import Game

STACKED, UNMARKED = "stacked", "unmarked"


def add_kit(parser: argparse.ArgumentParser) -> None:
    """Add ``--kit``."""
    parser.add_argument("--kit", metavar="KIT", help="name or file of the kit (default: the game's own)")


def add_start(parser: argparse.ArgumentParser) -> None:
    """Add ``--start``."""
    parser.add_argument("--start", metavar="POSITION", help="where the match begins (default: the game's start)")


def add_kings(parser: argparse.ArgumentParser) -> None:
    """Add ``--kings``."""
    what = "whether kings lie as stacks of two, or look like men and are known from the match (default: stacked)"
    parser.add_argument("--kings", choices=(STACKED, UNMARKED), default=STACKED, help=what)


def with_king_marking(match: Match, kings: str) -> Match:
    """``match`` at a table where kings are marked as ``--kings`` says."""
    return replace(match, game=match.game.unmarked()) if kings == UNMARKED else match


def begin_match(tag: str, start: str | None) -> Match:
    """A match of the game ``tag`` from a position text, or from the game's start.  Raises CompanionError."""
    game = load_game(tag)
    if start is None:
        return Match(game, game.start())
    start_game, position = read_position(start)
    if start_game.tag != game.tag:
        raise CompanionError(f"--start: is a position of {start_game.tag}, not of {game.tag}")
    return Match(game, position)


def open_kit(name: str | None, game: Game) -> Kit:
    """The kit with this name or file, or the game's own.

    Raises ProfileError; CompanionError when its squares, pieces or pillars do not fit the game.
    """
    kit = load_kit(name or kit_name(game.tag))
    if set(kit.cells) != set(game.layout.cells):
        raise CompanionError(
            f"the kit {kit.name} has {len(kit.cells)} squares that do not fit {game.tag}; choose another"
        )
    missing = set(game.pieces) - {kind.letter for kind in kit.pieces}
    if missing:
        raise CompanionError(f"the kit {kit.name} lacks the pieces {', '.join(sorted(missing))} of {game.tag}")
    levels, pillars = game.table(game.start()).levels, kit.pillars
    if levels and (pillars is None or min(levels) < pillars.lowest or max(levels) > pillars.highest):
        raise CompanionError(f"the pillars of the kit {kit.name} are made for {kit.game}, not for {game.tag}")
    return kit


def persistent_name(option: str | None, kit: Kit) -> str:
    """The name by which the kit of ``--kit`` can be found again: the path of a user's file, else the kit's name."""
    return str(Path(option).absolute()) if option and Path(option).is_file() else kit.name
