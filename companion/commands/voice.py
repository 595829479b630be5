"""`companion voice`: makes, before the match, the sounds of everything that may be said."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from companion.commands.options.parser import OptionGroup, Subparsers, add_command
from companion.commands.output.codes import DONE
from companion.games import load_game
from companion.languages.english import counted
from companion.phrases import LANGUAGES, language
from companion.settings.table import SUFFIX
from companion.voice.library import Library, clips_folder
from companion.voice.repertoire import repertoire


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """Options of `companion voice`."""

    game: str
    language: str | None


def add_parser(subparsers: Subparsers) -> None:
    """Add `voice`."""
    what = "make the sounds of everything that may be said in a game, ahead"
    voice = add_command(subparsers, "voice", Options, run, help=what)
    voice.add_argument("game", metavar="GAME[:variant][/n]", help="the game, or the file table.toml that names it")
    voice.add_argument("--language", choices=LANGUAGES, help="default: that of table.toml, else en")


def run(options: Options) -> int:
    """Make the clips of a game."""
    tag, names, code, store = options.game, {}, options.language, None
    if tag.endswith(SUFFIX):
        from companion.commands.options.settings import file_settings  # noqa: PLC0415 - it needs all of OpenCV

        settings, filed = file_settings(Path(tag))
        tag, names, code, store = (
            filed.game,
            dict(settings.names),
            code or filed.output.station.language,
            filed.output.store,
        )
    game = load_game(tag)
    lang = language(code or "en", game)
    library = Library(clips_folder(store, os.environ), lang.voice)
    clips = repertoire(game, lang, names)
    made = library.make_all(clips)
    print(f"{counted(len(clips), 'clip')} for {tag} in {library.folder}; {made} of them are new")
    return DONE
