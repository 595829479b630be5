"""Fuzzes every command that reads files with corrupted ones.  ``python -m tools.soak_files --help``.

Files of every kind that the program reads (kits, cameras, sets, boards, pictures, settings, recordings, sensors, score
sheets, documents, PDN, stores), and the arguments with which a board is measured, are corrupted: bytes changed, deleted
or duplicated, lines dropped, values replaced by nonsense.  Each run of a command must end with exit code 0, 1 or 2,
without a traceback or messages of libraries, within a time limit, and with one line on standard error if the code is 2
(settings: one line per mistake).
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import cv2

from companion.cli import main as companion
from companion.events import Accepted, Event, Start
from companion.games import load_game
from companion.match import Match
from companion.recorder.store import MatchInfo, Store
from companion.records.document import format_document
from companion.records.pdn import format_pdn
from companion.records.record import MatchRecord, save_record
from companion.records.sheet import format_sheet
from companion.rules.notation import format_move, format_position

FILES, SEED = 5000, 1
TIMEOUT_S = 180
"""Time limit of a run: the slowest valid one takes a second or two, on a busy machine ten times as long."""

EXAMPLES = Path(__file__).parent.parent / "examples"
PHOTOS = EXAMPLES / "photos"

NONSENSE = (
    "inf", "-inf", "nan", "-1", "0", "1e308", "9" * 400, "9" * 5000, "-0.0", "true", '""', '"\\u0000"', '"x"', "[]",
    "{}", "[[]]", "[inf, nan]", "1979-05-27", '"' + "x" * 5000 + '"', "'", "[[[[", "é", '"../../../../dev/zero"',
    "\x00",
)  # fmt: skip
"""Replacements of values."""

MEASURE_ARGUMENTS = b"--field 326,393 789,599 956,211 560,80 --side-mm=264,264 --piece-mm=27,7 --files=8 --ranks=8\n"
"""Arguments of `companion measure`: corners and sizes of a board."""

VALUE = re.compile(rb'(?<=[=:,\[])\s*("[^"\n]*"|-?[0-9.]+(?:e-?[0-9]+)?)')
"""A string or a number in a text file."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of file.

    Attributes:
        name: of the kind.
        share: relative number of files of this kind.
        sound: contents of a valid file.
        file: the name that the file must have: a set, for example, refers to its kit by name.
        commands: from the file's path to the arguments of a command that reads it.
        lines: maximum number of lines on standard error: settings have one for each mistake.
        sound_code: maximum exit code for the valid file: 2 if the pictures beside the sensors show another board.
    """

    name: str
    share: int
    sound: bytes
    file: str
    commands: tuple[Callable[[Path], list[str]], ...]
    lines: int = 1
    sound_code: int = 0


def corrupted(data: bytes, rng: random.Random) -> bytes:
    """``data`` with one to three random corruptions of bytes, lines or values."""
    text = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        values = list(VALUE.finditer(bytes(text)))
        at, length = rng.randrange(max(1, len(text))), rng.randint(1, 200)
        match rng.randrange(8):
            case 0 if text:
                text[at] = rng.randrange(256)
            case 1:
                del text[at : at + length]
            case 2:
                text[at:at] = text[at : at + length]
            case 3:
                lines = bytes(text).splitlines(keepends=True)
                text = bytearray(b"".join(line for line in lines if rng.random() > 1 / len(lines)))
            case _ if values:
                found = rng.choice(values)
                text[found.start(1) : found.end(1)] = rng.choice(NONSENSE).encode()
    return bytes(text)


def short_record(plies: int, tag: str = "domination") -> MatchRecord:
    """A match of ``plies`` moves, always the first legal one."""
    game = load_game(tag)
    match = Match(game, game.start())
    start = format_position(game, match.position)
    events: list[Event] = [Start(t=0.0, n=1, position=start)]
    for n in range(2, plies + 2):
        move = game.legal_moves(match.position)[0]
        text, mover = format_move(game, match.position, move), match.position.to_move
        match = match.play(move)
        position = format_position(game, match.position)
        events.append(Accepted(t=float(n), n=n, player=mover, move=text, position=position))
    info = MatchInfo(tag, game.players, start, datetime(2026, 11, 21, tzinfo=UTC), tag, ("Ann", "Bob"))
    return MatchRecord(info, tuple(events))


def store_bytes(folder: Path, record: MatchRecord) -> bytes:
    """The contents of a store file with one match."""
    path = folder / "sound.db"
    with Store.open(path) as store:
        save_record(store, record)
    data = path.read_bytes()
    path.unlink()
    return data


def recording(folder: Path, name: str) -> Path:
    """A new recording folder with three pictures, their times, and pillar heights, for files of the kind ``name``."""
    recording_dir = folder / f"recording-{name}"
    (recording_dir / "frames").mkdir(parents=True)
    rows = ["file,t_s"]
    capture = cv2.VideoCapture(str(EXAMPLES / "domination-1" / "video.mp4"))
    for k in range(3):
        cv2.imwrite(str(recording_dir / "frames" / f"{k}.jpg"), capture.read()[1])
        rows.append(f"{k}.jpg,{k / 4}")
    capture.release()
    (recording_dir / "frames.csv").write_text("\n".join(rows) + "\n")
    for file in ("camera.toml", "set.toml"):
        shutil.copy(EXAMPLES / "domination-1" / file, recording_dir)
    info_text = (EXAMPLES / "domination-1" / "recording.toml").read_text()
    (recording_dir / "recording.toml").write_text(
        "".join(line for line in info_text.splitlines(keepends=True) if "video" not in line)
    )
    cells = [f"{x}{y}" for y in range(1, 6) for x in "abcde"]
    heights = [f"{k / 4}," + ",".join("32.0" for _ in cells) for k in range(3)]
    (recording_dir / "sensors.csv").write_text("\n".join(["t_s," + ",".join(cells), *heights]) + "\n")
    return recording_dir


def kinds(folder: Path) -> tuple[Kind, ...]:
    """All kinds of files, with their commands."""
    photo, camera, set_file = (str(PHOTOS / name) for name in ("domination-b-103.jpg", "camera.toml", "set.toml"))
    record, out = short_record(6), folder / "out"
    out.mkdir()

    def read(
        kit: object = "domination", camera: object = camera, appearance: object = set_file, image: object = photo
    ) -> list[str]:
        return ["read", str(kit), "--camera", str(camera), "--set", str(appearance), str(image)]

    def referee(game: str, recording_dir: Path) -> list[str]:
        return [
            "referee",
            game,
            "--recording",
            str(recording_dir),
            "--panel",
            "none",
            "--match",
            str(out / "matches.db"),
        ]

    def recording_command(name: str, game: str = "domination") -> tuple[bytes, Callable[[Path], list[str]]]:
        recording_dir = recording(folder, name.partition(".")[0])

        def run_command(path: Path) -> list[str]:
            shutil.copy(path, recording_dir / name)
            return referee(game, recording_dir)

        return (recording_dir / name).read_bytes(), run_command

    def of_store(*arguments: str) -> Callable[[Path], list[str]]:
        return lambda path: [*arguments, "--store", str(path)]

    kit = (Path(__file__).parent.parent / "calibration" / "kits" / "domination.toml").read_bytes()
    info_text, play_card = recording_command("recording.toml")
    index, play_index = recording_command("frames.csv")
    heights, play_heights = recording_command("sensors.csv", "diamond")
    recording_dir = recording(folder, "settings")
    settings = f'game = "domination"\nrecording = "{recording_dir}"\nset = "{recording_dir}/set.toml"\npanel = "none"\n'
    settings += f'match = "{out}/settings.db"\nclock = "10m+5s"\nlanguage = "de"\n[names]\nR = "Ann"\nG = "Bob"\n'
    exports = [
        of_store("export", "last", "-o", str(out / f"match{suffix}")) for suffix in (".txt", ".json", ".svg", ".html")
    ]
    return (
        Kind(
            "kit", 22, kit, "domination.toml",
            (lambda p: ["mat", str(p), "-o", str(out / "m.pdf")], lambda p: read(kit=p)),
        ),
        Kind("camera", 12, Path(camera).read_bytes(), "spoilt.toml", (lambda p: read(camera=p),)),
        Kind("set", 12, Path(set_file).read_bytes(), "spoilt.toml", (lambda p: read(appearance=p),)),
        Kind(
            "board", 6, (EXAMPLES / "lens" / "charuco.toml").read_bytes(), "spoilt.toml",
            (lambda p: ["mat", "charuco", "--board", str(p), "-o", str(out / "c.pdf")],),
        ),
        Kind("settings", 8, settings.encode(), "spoilt.toml", (lambda p: ["referee", str(p)],), lines=50),
        Kind("recording", 2, info_text, "spoilt.toml", (play_card,)),
        Kind("frames", 3, index, "spoilt.csv", (play_index,)),
        Kind("sensors", 3, heights, "spoilt.csv", (play_heights,), sound_code=2),
        Kind("sheet", 6, format_sheet(record).encode(), "spoilt.txt", (import_command(out),)),
        Kind("document", 6, format_document(record).encode(), "spoilt.json", (import_command(out),)),
        Kind("pdn", 6, format_pdn(short_record(30, "draughts")).encode(), "spoilt.pdn", (import_command(out),)),
        Kind(
            "measure", 3, MEASURE_ARGUMENTS, "spoilt.txt",
            (lambda p: ["measure", "domination", photo, "-o", str(out / "k.toml"), *p.read_text("latin-1").split()],),
        ),
        Kind(
            "store", 10, store_bytes(folder, record), "spoilt.db",
            (of_store("matches"), of_store("verify"), of_store("stats"), of_store("explain", "last"), *exports),
        ),
        Kind("picture", 10, Path(photo).read_bytes(), "spoilt.jpg", (lambda p: read(image=p),)),
    )  # fmt: skip


def import_command(out: Path) -> Callable[[Path], list[str]]:
    """From a file's path to the arguments of the command that imports it."""
    return lambda path: ["import", str(path), "--store", str(out / "imported.db")]


@contextmanager
def captured_output() -> Iterator[tuple[Path, Path]]:
    """Redirect standard output and standard error to files, at the level of descriptors: also output of C libraries."""
    saved = os.dup(1), os.dup(2)
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "out", Path(folder) / "err"
        for descriptor_number, file in enumerate(files, start=1):
            with file.open("wb") as stream:
                os.dup2(stream.fileno(), descriptor_number)
        try:
            yield files
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for descriptor_number, descriptor in enumerate(saved, start=1):
                os.dup2(descriptor, descriptor_number)
                os.close(descriptor)


class HangError(BaseException):
    """A run has exceeded its time limit; a BaseException, so that the program's own handlers do not catch it."""


def run_command(arguments: list[str], max_lines: int, timeout_s: int = TIMEOUT_S) -> tuple[int, str]:
    """Exit code of a command, and the fault of the run (empty if none); ``timeout_s`` 0: no time limit."""

    def on_timeout(*_: object) -> None:
        raise HangError

    signal.signal(signal.SIGALRM, on_timeout)
    signal.alarm(timeout_s)
    code, fault = -1, ""
    with captured_output() as (_, stderr_file):
        try:
            code = companion(arguments)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else -1
        except BaseException:  # users would see a traceback
            fault = traceback.format_exc()
        finally:
            signal.alarm(0)
        sys.stderr.flush()
        stderr_text = stderr_file.read_text(errors="replace")
    lines = [line for line in stderr_text.splitlines() if line.strip()]
    if not fault and code not in (0, 1, 2):
        fault = f"exit code {code}"
    if not fault and code == 2 and not 1 <= len(lines) <= max_lines:
        fault = f"{len(lines)} lines on standard error: {stderr_text[:400]}"
    if not fault and any(word in stderr_text for word in ("Traceback", "libpng", "JPEG data", "Warning", "warning:")):
        fault = f"standard error: {stderr_text[:400]}"
    return code, fault


def campaign(folder: Path, files: int, seed: int, only: str) -> Iterator[str]:
    """Run the campaign; yield every fault as text."""
    chosen = [kind for kind in kinds(folder) if only in ("", kind.name)]
    total_share = sum(kind.share for kind in chosen)
    for kind in chosen:
        path = folder / kind.file
        for command in kind.commands:
            path.write_bytes(kind.sound)
            code, fault = run_command(command(path), kind.lines, timeout_s=0)  # includes compilation, so no time limit
            if fault or code > kind.sound_code:
                yield f"sound {kind.name}, companion {' '.join(command(path))}: {code} {fault}"
        exit_codes, begun_s = Counter[int](), time.monotonic()
        for k in range(max(1, files * kind.share // total_share)):
            rng = random.Random(f"{kind.name} {seed} {k}")
            path.write_bytes(corrupted(kind.sound, rng))
            arguments = rng.choice(kind.commands)(path)
            code, fault = run_command(arguments, kind.lines)
            exit_codes[code] += 1
            for side in ("-wal", "-shm"):
                path.with_name(path.name + side).unlink(missing_ok=True)
            if fault:
                yield f"{kind.name} {k}, companion {' '.join(arguments)}:\n{fault}"
        endings = ", ".join(f"{count} with {code}" for code, count in sorted(exit_codes.items()))
        print(
            f"{kind.name:<10} {exit_codes.total():>5} runs ended: {endings}; {time.monotonic() - begun_s:.0f} s",
            flush=True,
        )


def main() -> int:
    """Run the campaign; return 1 if there was any fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=FILES, metavar="N")
    parser.add_argument("--seed", type=int, default=SEED, metavar="S")
    parser.add_argument("--only", default="", metavar="KIND", help="only this kind of file")
    options = parser.parse_args()
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        for fault in campaign(Path(folder), options.files, options.seed, options.only):
            count += 1
            print(fault, flush=True)
    print(f"{options.files} spoilt files: {count} faults")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
