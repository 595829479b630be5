"""Looking at single verdicts again: ``explain``, ``clip``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import cv2

from companion.commands.records import DONE, LAST, add_command, find_match, say
from companion.commands.writing import writing
from companion.errors import CompanionError
from companion.events import to_json
from companion.recorder.place import open_store
from companion.records.clip import AFTER_S, BEFORE_S, clip
from companion.records.explained import explain, lines, listing, to_row
from companion.records.record import MatchRecord, take_out
from companion.records.verdict_page import verdict_jpeg, verdict_page


def add_parsers(subparsers: argparse._SubParsersAction[Any]) -> None:
    """Add the commands of this module."""
    explained = add_command(subparsers, "explain", run_explain, "Show why a verdict fell: picture, squares, grounds.")
    explained.add_argument("match", metavar="MATCH", help=f"number of a match, or {LAST}")
    explained.add_argument("n", nargs="?", type=int, metavar="N", help="number of the event; without it all are listed")
    explained.add_argument("-o", dest="file", type=Path, metavar="FILE", help=".html or .jpg: with the picture")
    clipped = add_command(subparsers, "clip", run_clip, "Cut the seconds round a verdict out of a match's recording.")
    clipped.add_argument("match", metavar="MATCH", help=f"number of a match, or {LAST}")
    clipped.add_argument("n", type=int, metavar="N", help="number of the event, as `companion explain MATCH` lists it")
    clipped.add_argument(
        "-o", dest="file", type=Path, required=True, metavar="DIR|FILE.mp4", help="a recording again, or a film"
    )
    clipped.add_argument("--before", type=_seconds, default=BEFORE_S, metavar="S", help="seconds before the verdict")
    clipped.add_argument("--after", type=_seconds, default=AFTER_S, metavar="S", help="seconds after it")


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds, 0 or more")
    return value


def run_explain(arguments: argparse.Namespace) -> int:
    """Show one verdict on the terminal, or in a file where one is asked for; without a number list them all."""
    cv2.setNumThreads(1)
    file: Path | None = arguments.file
    with open_store(arguments.store, read_only=True) as store:
        match = find_match(store, arguments.match)
        if arguments.n is None:
            return _list(take_out(store, match), is_json=arguments.json)
        told = explain(store, match, arguments.n)
    if file is not None and file.suffix.lower() not in (".html", ".jpg", ".jpeg"):
        raise CompanionError(f"{file}: this form is not known; end the name with .html or .jpg")
    if file is not None:
        data = verdict_page(told).encode() if file.suffix.lower() == ".html" else verdict_jpeg(told)
        with writing(file):
            file.write_bytes(data)
    if arguments.json:
        say(json.dumps(to_row(told)))
    elif file is None:
        for line in lines(told):
            say(line)
    return DONE


def _list(record: MatchRecord, *, is_json: bool) -> int:
    for line in [json.dumps(to_json(event)) for event in record.events] if is_json else listing(record):
        say(line)
    return DONE


def run_clip(arguments: argparse.Namespace) -> int:
    """Cut a clip."""
    cv2.setNumThreads(1)
    with open_store(arguments.store, read_only=True) as store:
        match = find_match(store, arguments.match)
        frames = clip(store, match, arguments.n, arguments.file, (arguments.before, arguments.after))
    if arguments.json:
        say(json.dumps({"match": match, "n": arguments.n, "file": str(arguments.file), "frames": frames}))
    else:
        say(f"{arguments.file}: {frames} frames round event {arguments.n}")
    return DONE
