"""`companion import`: puts a score sheet, a document or a PDN file into the store."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from calibration.files import MAX_TEXT_BYTES, read_bytes
from companion.commands.options.parser import OptionGroup, Subparsers
from companion.commands.options.store import add_store_command
from companion.commands.output.codes import DONE
from companion.commands.output.lines import say
from companion.errors import BadText, CompanionError
from companion.languages.english import counted
from companion.recorder.place import open_store
from companion.records.document import parse_document
from companion.records.pdn_reading import parse_pdn
from companion.records.record import MatchRecord, save_record
from companion.records.sheet_reading import parse_sheet


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """Options of `companion import`."""

    file: Path
    store: Path | None
    json: bool


def add_parser(subparsers: Subparsers) -> None:
    """Add `import`."""
    what = "Put a score sheet, a document or games of draughts (PDN) into the store."
    parser = add_store_command(subparsers, "import", Options, run, what)
    parser.add_argument(
        "file", type=Path, metavar="FILE", help=".txt, .json or .pdn, as `companion export` writes them"
    )


def run(options: Options) -> int:
    """Put all matches of a file into the store, or none, and print their numbers."""
    file = options.file
    try:
        records = _records(file, _text(file))
    except BadText as error:
        raise CompanionError(f"{file}: {error}") from error
    with open_store(options.store) as store:
        for record in records:
            match = save_record(store, record)
            if options.json:
                say(json.dumps({"match": match, "events": len(record.events)}))
            else:
                say(f"match {match}: {counted(len(record.events), 'event')}")
    return DONE


def _records(file: Path, text: str) -> list[MatchRecord]:
    """The matches in a text.  Raises BadText."""
    if text.lstrip().startswith("{"):
        return [parse_document(text)]
    if file.suffix.lower() == ".pdn":
        return list(parse_pdn(text, datetime.now(UTC)))
    return [parse_sheet(text, datetime.now(UTC))]


def _text(file: Path) -> str:
    """The text of a file.  Raises BadText if it is not text, CompanionError if it cannot be read."""
    try:
        data = sys.stdin.buffer.read(MAX_TEXT_BYTES) if str(file) == "-" else read_bytes(file)
    except OSError as error:
        raise CompanionError(f"{file}: cannot be read ({error.strerror}); give a .txt, .json or .pdn file") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = 1 + data.count(b"\n", 0, error.start), error.start - data.rfind(b"\n", 0, error.start)
        raise BadText(f"line {line}, column {column}: not UTF-8; save the file as UTF-8") from error
