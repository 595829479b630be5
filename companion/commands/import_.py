"""`companion import`: a score sheet or a document into the store."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from calibration.files import MOST_TEXT_BYTES, read_bytes
from companion.commands.options.parser import OptionGroup, Subparsers
from companion.commands.options.store import add_store_command
from companion.commands.output.codes import DONE
from companion.commands.output.lines import say
from companion.errors import BadText, CompanionError
from companion.languages.english import counted
from companion.recorder.place import open_store
from companion.records.document import parse_document
from companion.records.record import put_in
from companion.records.sheet_reading import parse_sheet


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """What `companion import` is told."""

    file: Path
    store: Path | None
    json: bool


def add_parser(subparsers: Subparsers) -> None:
    """Add `import`."""
    what = "Put a score sheet or a document into the store."
    parser = add_store_command(subparsers, "import", Options, run, what)
    parser.add_argument("file", type=Path, metavar="FILE", help=".txt or .json, as `companion export` writes them")


def run(options: Options) -> int:
    """Put the match of a file into the store, and print its number."""
    file = options.file
    try:
        text = _text(file)
        record = parse_document(text) if text.lstrip().startswith("{") else parse_sheet(text, datetime.now(UTC))
    except BadText as error:
        raise CompanionError(f"{file}: {error}") from error
    with open_store(options.store) as store:
        match = put_in(store, record)
    if options.json:
        say(json.dumps({"match": match, "events": len(record.events)}))
    else:
        say(f"match {match}: {counted(len(record.events), 'event')}")
    return DONE


def _text(file: Path) -> str:
    """What a file says.  Raises BadText where it is no text, CompanionError where it cannot be read."""
    try:
        data = sys.stdin.buffer.read(MOST_TEXT_BYTES) if str(file) == "-" else read_bytes(file)
    except OSError as error:
        raise CompanionError(f"{file}: cannot be read ({error.strerror}); give a .txt or .json file") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = 1 + data.count(b"\n", 0, error.start), error.start - data.rfind(b"\n", 0, error.start)
        raise BadText(f"line {line}, column {column}: not UTF-8; save the file as UTF-8") from error
