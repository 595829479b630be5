"""`companion export`: writes a stored match as a score sheet, a document or pictures."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import cv2

from calibration.writing import write_whole
from companion.commands.options.parser import OptionGroup, Subparsers
from companion.commands.options.store import LAST, add_store_command, find_match
from companion.commands.output.codes import DONE
from companion.commands.output.files import writing
from companion.commands.output.lines import say
from companion.commands.output.progress import track_progress
from companion.errors import CompanionError
from companion.games import title_of
from companion.hall.results import kept_results, results_csv
from companion.hall.rounds import rounds_file, rows
from companion.hall.tournament import Tournament
from companion.recorder.place import HALL_FILE, default_store, open_store
from companion.recorder.store import MatchId, Store
from companion.records.document import format_document
from companion.records.figures import figures
from companion.records.film import film, film_length, write_film
from companion.records.gallery import gif, svg_sheet
from companion.records.page import page
from companion.records.pdn import format_pdn
from companion.records.record import MatchRecord, load_record
from companion.records.sheet import format_sheet
from companion.records.shots import recorded_shots, stills


@dataclass(frozen=True, slots=True)
class Options(OptionGroup):
    """Options of `companion export`."""

    match: str
    is_hall: bool
    rounds: Path | None
    file: Path
    store: Path | None
    json: bool


def add_parser(subparsers: Subparsers) -> None:
    """Add `export`."""
    what = "Write a match as a score sheet, a document or pictures."
    export = add_store_command(subparsers, "export", Options, run, what)
    export.add_argument("match", metavar="MATCH", nargs="?", default=LAST, help=f"number of a match, or {LAST}")
    export.add_argument("--hall", dest="is_hall", action="store_true", help="the results of a hall, as FILE.csv")
    export.add_argument("--rounds", type=Path, metavar="FILE", help="with --hall: who meets whom at which table")
    export.add_argument("-o", dest="file", type=Path, required=True, metavar="FILE", help=" ".join(WRITERS))


def run(options: Options) -> int:
    """Write a match in the format given by the file's suffix."""
    cv2.setNumThreads(1)
    file = options.file
    if options.is_hall:
        return _export_hall(options)
    writer = WRITERS.get(file.suffix.lower())
    if writer is None:
        raise CompanionError(f"{file}: this form is not known; end the name with one of {' '.join(WRITERS)}")
    with open_store(options.store, read_only=True) as store:
        match = find_match(store, options.match)
        record = load_record(store, match)
        with writing(file):
            writer(file, Exported(store, match, record))
    if options.json:
        say(json.dumps({"match": match, "file": str(file)}))
    return DONE


def _export_hall(options: Options) -> int:
    """Write the results of a hall's store."""
    if options.file.suffix.lower() != ".csv":
        raise CompanionError(f"{options.file}: the results of a hall are written as CSV; end the name with .csv")
    path = options.store or default_store(os.environ).with_name(HALL_FILE)
    rounds = Tournament(rounds_file(path, options.rounds)).rounds
    with Store.open(path, read_only=True) as store, writing(options.file):
        write_whole(options.file, results_csv(rows(rounds, kept_results(store))))
    if options.json:
        say(json.dumps({"hall": str(path), "file": str(options.file)}))
    return DONE


class Exported:
    """A match to be exported, with its stored pictures."""

    def __init__(self, store: Store, match: MatchId, record: MatchRecord) -> None:
        self.store, self.match, self.record = store, match, record

    @property
    def title(self) -> str:
        """Title of the match: the game, and the people's names if known."""
        info = self.record.info
        title = title_of(info.game)
        return f"{title}: {', '.join(filter(None, info.names))}" if any(info.names) else title

    def stills(self) -> dict[int, bytes]:
        """The pictures stored as evidence, by event number."""
        return stills(self.store, self.match, (event.n for event in self.record.events))


def _write_film(file: Path, match: Exported) -> None:
    shots = recorded_shots(match.store.recordings(match.match))
    shown = figures(match.record)
    frames = track_progress(film(shown, shots, match.stills()), film_length(shown, shots), "drawing the film")
    write_film(file, frames)


def _write_page(file: Path, match: Exported) -> None:
    write_whole(file, page(match.title, match.record, match.stills()))


WRITERS: dict[str, Callable[[Path, Exported], object]] = {
    ".txt": lambda file, match: write_whole(file, format_sheet(match.record)),
    ".pdn": lambda file, match: write_whole(file, format_pdn(match.record)),
    ".json": lambda file, match: write_whole(file, format_document(match.record)),
    ".svg": lambda file, match: write_whole(file, svg_sheet(match.title, figures(match.record))),
    ".gif": lambda file, match: write_whole(file, gif(figures(match.record))),
    ".mp4": _write_film,
    ".html": _write_page,
}
"""Functions that write each format, by suffix."""
