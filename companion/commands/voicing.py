"""`companion voice`: make the sounds of everything that may be said, before the match."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from companion.commands.settled import file_settings
from companion.games import load_game
from companion.phrases import LANGUAGES, language
from companion.settings.table import SUFFIX
from companion.voice.library import Library, clips_folder
from companion.voice.repertoire import repertoire


def add_parsers(subparsers: Any) -> None:
    """Add `voice`."""
    voice = subparsers.add_parser("voice", help="make the sounds of everything that may be said in a game, ahead")
    voice.add_argument("game", metavar="GAME[:variant][/n]", help="the game, or the file table.toml that names it")
    voice.add_argument("--language", choices=LANGUAGES, help="default: that of table.toml, else en")
    voice.set_defaults(run=run_voice)


def run_voice(arguments: argparse.Namespace) -> int:
    """`companion voice`."""
    tag, names, code, store = arguments.game, {}, arguments.language, None
    if tag.endswith(SUFFIX):
        from companion.commands.refereeing import add_parsers as add_referee  # noqa: PLC0415

        settings, filed = file_settings(Path(tag), add_referee)
        tag, names, code, store = filed.game, dict(settings.names), code or filed.language, filed.match
    game = load_game(tag)
    tongue = language(code or "en", game)
    library = Library(clips_folder(store, os.environ), tongue.voice)
    clips = repertoire(game, tongue, names)
    made = library.make_all(clips)
    print(f"{len(clips)} clips for {tag} are in {library.folder}; {made} of them are new")
    return 0
