"""Completion of commands, options, games, kits and files in a shell."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import shtab

from calibration.kit import available_kits
from companion.games import available_games

SHELLS: tuple[str, ...] = tuple(shtab.SUPPORTED_SHELLS)


def completion(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script by which ``shell`` (one of :data:`SHELLS`) completes the arguments of ``parser``, which is changed."""
    names = {"GAME": [info.name for info in available_games()], "KIT": available_kits()}
    for action in _actions(parser):
        what = str(action.metavar).partition("[")[0]
        if action.type is Path:
            vars(action)["complete"] = shtab.DIRECTORY if what == "DIR" else shtab.FILE
        elif what in names:
            action.choices = names[what]
    return shtab.complete(parser, shell)


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Every option and argument of a parser and of the commands below it."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way to ask
        yield action
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for below in action.choices.values():
                yield from _actions(below)
