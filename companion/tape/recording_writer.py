"""A recording's folder while it is written: pictures, their times, and what is needed to referee it again.

At every moment the folder is a complete recording: a picture is on the disk before ``frames.csv`` names it, and a line
of ``frames.csv`` is written in one piece.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from calibration.files import number, read_bytes
from companion.errors import RecordingError
from companion.tape.faults import recording_errors

FRAMES, INDEX, INFO, SENSORS = "frames", "frames.csv", "recording.toml", "sensors.csv"
HEAD = "file,t_s\n"

KEPT_SHARE = 0.9
"""When the space is used up, calm pictures are dropped down to this share: the index is rewritten each time."""

RESERVE_BYTES = 256 * 2**20
"""Left free on the disk, since the match store takes priority over any recording."""


class RecordingFull(RecordingError):
    """No further picture fits into the recording's space."""


@dataclass(frozen=True, slots=True)
class RecordingInfo:
    """The contents of ``recording.toml`` and of the files beside it.

    Attributes:
        start: text of the position at the recording's beginning.
        game: the game's tag.
        kit: name of a kit that comes with the program, or the absolute path of a kit file, which is copied.
        fps: pictures a second, about; their true times are in ``frames.csv``.
        camera: text of the camera file; "" if its lens is found from the board.
        appearance: text of the file of the set's appearance.
        pillars: names of the cells whose pillars are measured; empty if there are none.
    """

    start: str
    game: str
    kit: str
    fps: float
    camera: str
    appearance: str
    pillars: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Kept:
    line: str
    file: Path
    size: int
    is_calm: bool


class RecordingWriter:
    """Writes one recording.  One thread calls everything.

    Every method raises RecordingError, in one line that names the file and the remedy, if the disk refuses.
    """

    def __init__(self, folder: Path, info: RecordingInfo, space_bytes: int) -> None:
        """Begin a recording in ``folder``, which must be new or empty; it takes ``space_bytes`` at most."""
        self.folder, self.frames, self.used_bytes = folder, 0, 0
        self._space_bytes = space_bytes
        self._kept: list[_Kept] = []
        self._sensors: TextIO | None = None
        with recording_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise RecordingError(f"{folder}: is not empty; give --save a new folder")
            (folder / FRAMES).mkdir()
            write_info(folder, info)
            (folder / INDEX).write_text(HEAD, encoding="ascii")
            self._index = (folder / INDEX).open("a", encoding="ascii")
            if info.pillars:
                (folder / SENSORS).write_text(",".join(("t_s", *info.pillars)) + "\n", encoding="ascii")
                self._sensors = (folder / SENSORS).open("a", encoding="ascii")

    def add(self, picture: bytes, t_s: float, *, is_calm: bool) -> None:
        """Keep a JPEG picture of the time ``t_s``.

        When the space is used up, the oldest pictures with ``is_calm`` are dropped: in them nothing moved, and nobody
        read them.

        Raises:
            RecordingFull: even that makes no room.
        """
        file = self.folder / FRAMES / f"{self.frames:06d}.jpg"
        line = f"{file.name},{float(t_s)!r}\n"
        with recording_errors(file):
            self._make_room(len(picture) + len(line))
            file.write_bytes(picture)
            self._index.write(line)
            self._index.flush()
        self._kept.append(_Kept(line, file, len(picture) + len(line), is_calm))
        self.used_bytes += len(picture) + len(line)
        self.frames += 1

    def add_heights(self, t_s: float, heights_mm: Sequence[float | None]) -> None:
        """Keep the heights that the pillars' sensors measured at ``t_s``, in the card's order; None: sensor failed."""
        if self._sensors is None:
            return
        line = ",".join((repr(float(t_s)), *("" if mm is None else f"{mm:.3f}" for mm in heights_mm))) + "\n"
        with recording_errors(self.folder / SENSORS):
            self._sensors.write(line)
            self._sensors.flush()
        self.used_bytes += len(line)

    def close(self) -> None:
        """Close the files; the recording is complete without that, too."""
        for file in filter(None, (self._index, self._sensors)):
            with contextlib.suppress(OSError):
                file.close()

    def _make_room(self, size: int) -> None:
        if self.used_bytes + size > self._space_bytes:
            self._drop_calm(self.used_bytes + size - int(KEPT_SHARE * self._space_bytes))
        if self.used_bytes + size > self._space_bytes:
            raise RecordingFull(f"{self.folder}: the recording's space is full; it ends here (--save-space gives more)")
        if shutil.disk_usage(self.folder).free < RESERVE_BYTES + size:
            raise RecordingFull(f"{self.folder}: the disk is nearly full; the recording ends here, the match goes on")

    def _drop_calm(self, excess: int) -> None:
        """Drop calm pictures, the oldest first, until ``excess`` bytes are free or none is left."""
        gone: list[_Kept] = []
        kept: list[_Kept] = []
        freed = 0
        for picture in self._kept:
            is_gone = picture.is_calm and freed < excess
            (gone if is_gone else kept).append(picture)
            freed += picture.size * is_gone
        self._kept = kept
        self._rewrite_index()
        for picture in gone:
            picture.file.unlink(missing_ok=True)
        self.used_bytes -= freed

    def _rewrite_index(self) -> None:
        """Replace the index at once by one without the dropped pictures; they are deleted after that."""
        index, fresh = self.folder / INDEX, self.folder / f"{INDEX}.new"
        fresh.write_text(HEAD + "".join(picture.line for picture in self._kept), encoding="ascii")
        self._index.close()
        fresh.replace(index)
        self._index = index.open("a", encoding="ascii")


def write_info(folder: Path, info: RecordingInfo) -> None:
    """Write ``recording.toml`` and the files that it names.  Raises OSError."""
    kit = info.kit
    if Path(kit).is_absolute():
        # Under its own name, which is the kit's; in a folder of its own, where no other file can have that name.
        (folder / "kit").mkdir()
        kit = str(Path(shutil.copy(kit, folder / "kit")).relative_to(folder))
    if info.camera:
        (folder / "camera.toml").write_text(info.camera, encoding="utf-8")
    (folder / "set.toml").write_text(info.appearance, encoding="utf-8")
    lines = (
        "# Recorded by `companion referee --save`; the pictures and their times are in frames.csv.",
        f'game = "{info.game}"',
        f'kit = "{kit}"',
        f'start = "{info.start}"',
        f"fps = {info.fps:g}",
        *(['camera = "camera.toml"'] if info.camera else []),
        'set = "set.toml"',
    )
    (folder / INFO).write_text("\n".join((*lines, "")), encoding="utf-8")


def read_index(folder: Path) -> Sequence[tuple[Path, float]]:
    """The pictures of a recording and their times, in order.  Raises RecordingError."""
    index = folder / INDEX
    with recording_errors(index):
        lines = read_bytes(index).decode("ascii", "replace").splitlines()[1:]
    try:
        rows = [(name, number(t_s)) for name, _, t_s in (line.partition(",") for line in lines)]
    except ValueError:
        raise RecordingError(f"{index}: is damaged; each line must be file,t_s") from None
    return [(folder / FRAMES / name, t_s) for name, t_s in rows]
