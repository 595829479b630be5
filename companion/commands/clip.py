"""`companion clip`: cuts the seconds around a verdict out of a match's recording."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import cv2

from companion.commands.options.parser import OptionGroup, Subparsers
from companion.commands.options.store import LAST, add_store_command, find_match
from companion.commands.output.codes import DONE
from companion.commands.output.lines import say
from companion.languages.english import counted
from companion.recorder.place import open_store
from companion.records.clip import AFTER_S, BEFORE_S, clip


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """Options of `companion clip`; times in seconds before and after the verdict."""

    match: str
    n: int
    file: Path
    before: float
    after: float
    store: Path | None
    json: bool


def add_parser(subparsers: Subparsers) -> None:
    """Add `clip`."""
    what = "Cut the seconds round a verdict out of a match's recording."
    clipped = add_store_command(subparsers, "clip", Options, run, what)
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


def run(options: Options) -> int:
    """Cut a clip."""
    cv2.setNumThreads(1)
    with open_store(options.store, read_only=True) as store:
        match = find_match(store, options.match)
        frames = clip(store, match, options.n, options.file, (options.before, options.after))
    if options.json:
        say(json.dumps({"match": match, "n": options.n, "file": str(options.file), "frames": frames}))
    else:
        say(f"{options.file}: {counted(frames, 'frame')} round event {options.n}")
    return DONE
