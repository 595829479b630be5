"""The options that record a match while it is refereed, for all commands that referee."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

from calibration.appearance import format_appearance
from calibration.camera import format_camera
from calibration.kit import Kit
from companion.app.camera_reader import CameraReader
from companion.app.multi_camera import MultiCameraReader
from companion.commands.options.parser import OptionGroup
from companion.commands.output.lines import notify
from companion.match import Match
from companion.rules.notation import format_position
from companion.tape.recording_writer import INFO, RecordingInfo, RecordingWriter
from companion.tape.tape import Tape

UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
SPACE = 2 * 10**9
"""Default size limit of a recording in bytes: ten minutes of hands at 12 frames a second, or an evening's match once
its calm has been thinned."""

FPS = 12.0
"""Frame rate written to ``recording.toml``; the frames' true times are in ``frames.csv``."""


@dataclass(frozen=True, slots=True)
class SaveOptions(OptionGroup):
    """The folder of the recording (None: no recording), and its size limit in bytes."""

    save: Path | None
    save_space: int


def add_save(parser: argparse.ArgumentParser) -> None:
    """Add `--save` and `--save-space`."""
    parser.add_argument("--save", type=Path, metavar="DIR", help="keep a recording in the new folder DIR")
    parser.add_argument(
        "--save-space", type=_bytes, default=SPACE, metavar="2GB", help="what it may take; calm frames go first"
    )


def _bytes(text: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kMGT]?)B?", text)
    if found is None or float(found[1]) * UNITS[found[2]] < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no space on a disk; write 500MB or 2GB")
    return int(float(found[1]) * UNITS[found[2]])


def open_tape(
    options: SaveOptions,
    match: Match,
    kit: Kit,
    kit_name: str,
    camera_reader: CameraReader | MultiCameraReader,
    *,
    is_live: bool,
) -> Tape | None:
    """The recorder for the options of :func:`add_save`; None if no recording is wanted.

    ``kit_name`` is the name by which the kit can be found again.  If the folder has a recording already, one beside it
    is used: a table that starts automatically, with the folder in its table.toml, must not be stopped by an old one.

    Raises:
        RecordingError: the folder holds something else, or cannot be written.
    """
    if options.save is None:
        return None
    if isinstance(camera_reader, MultiCameraReader):
        notify("--save keeps the pictures of the first camera only")
    info = RecordingInfo(
        start=format_position(match.game, match.position),
        game=match.game.tag,
        kit=kit_name,
        fps=FPS,
        camera="" if camera_reader.finds_lens else format_camera(camera_reader.reader.camera),
        appearance=format_appearance(camera_reader.reader.appearance),
        pillars=kit.cells if kit.pillars is not None else (),
    )
    return Tape(RecordingWriter(_free_folder(options.save), info, options.save_space), notify, is_live=is_live)


def _free_folder(folder: Path) -> Path:
    """``folder``, or if that is a recording ``folder-2``, ``folder-3`` and so on."""
    names = chain([folder], (folder.with_name(f"{folder.name}-{k}") for k in count(2)))
    return next(name for name in names if not (name / INFO).exists())
