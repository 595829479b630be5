"""`companion explain`: shows the reasons for a verdict."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import cv2

from companion.commands.options.parser import OptionGroup, Subparsers
from companion.commands.options.store import LAST, add_store_command, find_match
from companion.commands.output.codes import DONE
from companion.commands.output.files import write_file
from companion.commands.output.lines import say
from companion.errors import CompanionError
from companion.events import to_json
from companion.recorder.place import open_store
from companion.records.record import MatchRecord, load_record
from companion.records.verdict_explanation import explain, lines, listing, to_row
from companion.records.verdict_page import verdict_jpeg, verdict_page


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """Options of `companion explain`."""

    match: str
    n: int | None
    file: Path | None
    store: Path | None
    json: bool


def add_parser(subparsers: Subparsers) -> None:
    """Add `explain`."""
    what = "Show why a verdict fell: picture, squares, grounds."
    explained = add_store_command(subparsers, "explain", Options, run, what)
    explained.add_argument("match", metavar="MATCH", help=f"number of a match, or {LAST}")
    explained.add_argument("n", nargs="?", type=int, metavar="N", help="number of the event; without it all are listed")
    explained.add_argument("-o", dest="file", type=Path, metavar="FILE", help=".html or .jpg: with the picture")


def run(options: Options) -> int:
    """Show one verdict on the terminal, or write it to a file if one is given; without a number list them all."""
    cv2.setNumThreads(1)
    file = options.file
    with open_store(options.store, read_only=True) as store:
        match = find_match(store, options.match)
        if options.n is None:
            return _list(load_record(store, match), is_json=options.json)
        explanation = explain(store, match, options.n)
    if file is not None and file.suffix.lower() not in (".html", ".jpg", ".jpeg"):
        raise CompanionError(f"{file}: this form is not known; end the name with .html or .jpg")
    if file is not None:
        data = verdict_page(explanation).encode() if file.suffix.lower() == ".html" else verdict_jpeg(explanation)
        write_file(file, data)
    if options.json:
        say(json.dumps(to_row(explanation)))
    elif file is None:
        for line in lines(explanation):
            say(line)
    return DONE


def _list(record: MatchRecord, *, is_json: bool) -> int:
    for line in [json.dumps(to_json(event)) for event in record.events] if is_json else listing(record):
        say(line)
    return DONE
