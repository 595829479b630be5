"""Matches out of the store and into it: ``export``, ``import``, ``clip``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import cv2

from companion.commands.records import DONE, LAST, add_command, find_match, result_words, say
from companion.commands.writing import writing
from companion.errors import BadText, CompanionError
from companion.games import available_games
from companion.recorder.place import open_store
from companion.recorder.store import MatchId, Store
from companion.records.document import format_document, parse_document
from companion.records.film import film, write_film
from companion.records.gallery import gif, svg_sheet
from companion.records.page import page
from companion.records.plates import plates
from companion.records.record import MatchRecord, put_in, take_out
from companion.records.sheet import format_sheet
from companion.records.sheet_reading import parse_sheet
from companion.records.shots import recorded_shots, stills


def add_parsers(subparsers: argparse._SubParsersAction[Any]) -> None:
    """Add the commands of this module."""
    export = add_command(subparsers, "export", run_export, "Write a match as a score sheet, a document or pictures.")
    export.add_argument("match", metavar="MATCH", help=f"number of a match, or {LAST}")
    export.add_argument("-o", dest="file", type=Path, required=True, metavar="FILE", help=" ".join(WRITERS))
    imported = add_command(subparsers, "import", run_import, "Put a score sheet or a document into the store.")
    imported.add_argument("file", type=Path, metavar="FILE", help=".txt or .json, as `companion export` writes them")


def run_export(arguments: argparse.Namespace) -> int:
    """Write a match in the form that the file's suffix asks for."""
    cv2.setNumThreads(1)
    file: Path = arguments.file
    writer = WRITERS.get(file.suffix.lower())
    if writer is None:
        raise CompanionError(f"{file}: this form is not known; end the name with one of {' '.join(WRITERS)}")
    with open_store(arguments.store, read_only=True) as store:
        match = find_match(store, arguments.match)
        record = take_out(store, match)
        with writing(file):
            writer(file, Exported(store, match, record))
    if arguments.json:
        say(json.dumps({"match": match, "file": str(file)}))
    return DONE


class Exported:
    """A match that is being exported, with the pictures that were kept of it."""

    def __init__(self, store: Store, match: MatchId, record: MatchRecord) -> None:
        self.store, self.match, self.record = store, match, record

    @property
    def title(self) -> str:
        """Who played what."""
        info = self.record.info
        title = next((game.title for game in available_games() if info.game in game.tags), info.game)
        return f"{title}: {', '.join(filter(None, info.names))}" if any(info.names) else title

    @property
    def subtitle(self) -> str:
        """When, and how it ended."""
        result = self.record.result
        return f"{self.record.info.started_at:%Y-%m-%d}, {self.record.info.game}, {result_words(result)}"

    def stills(self) -> dict[int, bytes]:
        """The pictures kept as evidence."""
        return stills(self.store, self.match, (event.n for event in self.record.events))


def _write_film(file: Path, match: Exported) -> None:
    shots = recorded_shots(match.store.recordings(match.match))
    write_film(file, film(plates(match.record), shots, match.stills()))


def _write_page(file: Path, match: Exported) -> None:
    text = page(match.title, match.subtitle, plates(match.record), match.stills())
    file.write_text(text, encoding="utf-8")


WRITERS: dict[str, Callable[[Path, Exported], object]] = {
    ".txt": lambda file, match: file.write_text(format_sheet(match.record), encoding="utf-8"),
    ".json": lambda file, match: file.write_text(format_document(match.record), encoding="utf-8"),
    ".svg": lambda file, match: file.write_text(svg_sheet(match.title, plates(match.record)), encoding="utf-8"),
    ".gif": lambda file, match: file.write_bytes(gif(plates(match.record))),
    ".mp4": _write_film,
    ".html": _write_page,
}
"""How each form is written, by suffix."""


def run_import(arguments: argparse.Namespace) -> int:
    """Put the match of a file into the store, and print its number."""
    file: Path = arguments.file
    try:
        text = _text(file)
        record = parse_document(text) if text.lstrip().startswith("{") else parse_sheet(text, datetime.now(UTC))
    except BadText as error:
        raise CompanionError(f"{file}: {error}") from error
    with open_store(arguments.store) as store:
        match = put_in(store, record)
    if arguments.json:
        say(json.dumps({"match": match, "events": len(record.events)}))
    else:
        say(f"match {match}: {len(record.events)} events")
    return DONE


def _text(file: Path) -> str:
    """What a file says.  Raises BadText where it is no text, CompanionError where it cannot be read."""
    try:
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise CompanionError(f"{file}: cannot be read ({error.strerror}); give a .txt or .json file") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = 1 + data.count(b"\n", 0, error.start), error.start - data.rfind(b"\n", 0, error.start)
        raise BadText(f"line {line}, column {column}: not UTF-8; save the file as UTF-8") from error
