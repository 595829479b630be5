"""Spoilt files by the thousand, through every command that reads them.  ``python -m tools.soak_files --help``.

Files of every kind that the program reads (kits, cameras, sets, boards, pictures, settings, recordings, sensors, score
sheets, documents, PDN, stores), and the words with which a board is measured, are spoilt: bytes flipped, cut out,
doubled; lines dropped; values exchanged for nonsense.  Each run of a command must end with 0, 1 or 2, without a
traceback, without a word from a library, within its time, and with one line on standard error where it ends with 2
(settings: one a mistake).
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
from companion.records.record import MatchRecord, put_in
from companion.records.sheet import format_sheet
from companion.rules.notation import format_move, format_position

FILES, SEED = 5000, 1
LONGEST_S = 180
"""A run that takes longer hangs: the slowest sound one takes a second or two, on a busy machine ten times as long."""

EXAMPLES = Path(__file__).parent.parent / "examples"
PHOTOS = EXAMPLES / "photos"

NONSENSE = (
    "inf", "-inf", "nan", "-1", "0", "1e308", "9" * 400, "9" * 5000, "-0.0", "true", '""', '"\\u0000"', '"x"', "[]",
    "{}", "[[]]", "[inf, nan]", "1979-05-27", '"' + "x" * 5000 + '"', "'", "[[[[", "é", '"../../../../dev/zero"',
    "\x00",
)  # fmt: skip
"""Replacements for values."""

MEASURED = b"--field 326,393 789,599 956,211 560,80 --side-mm=264,264 --piece-mm=27,7 --files=8 --ranks=8\n"
"""Words of `companion measure`: the corners and sizes of a board."""

VALUE = re.compile(rb'(?<=[=:,\[])\s*("[^"\n]*"|-?[0-9.]+(?:e-?[0-9]+)?)')


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of file: what a sound one holds, and the commands that read it, which are given its path.

    ``file`` is the name that it must have: a set belongs to the kit of a name.  ``lines`` is how many lines on standard
    error are right: a file of settings has one for each of its mistakes.  ``sound_code`` is the exit code for the sound
    one: 2 where the pictures beside the sensors show another board.
    """

    name: str
    share: int
    sound: bytes
    file: str
    commands: tuple[Callable[[Path], list[str]], ...]
    lines: int = 1
    sound_code: int = 0


def spoilt(data: bytes, chance: random.Random) -> bytes:
    """Some bytes changed, or some values exchanged."""
    text = bytearray(data)
    for _ in range(chance.randint(1, 3)):
        values = list(VALUE.finditer(bytes(text)))
        at, more = chance.randrange(max(1, len(text))), chance.randint(1, 200)
        match chance.randrange(8):
            case 0 if text:
                text[at] = chance.randrange(256)
            case 1:
                del text[at : at + more]
            case 2:
                text[at:at] = text[at : at + more]
            case 3:
                lines = bytes(text).splitlines(keepends=True)
                text = bytearray(b"".join(line for line in lines if chance.random() > 1 / len(lines)))
            case _ if values:
                found = chance.choice(values)
                text[found.start(1) : found.end(1)] = chance.choice(NONSENSE).encode()
    return bytes(text)


def match_record(plies: int, tag: str = "domination") -> MatchRecord:
    """A short match."""
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
    """A store with a match in it."""
    path = folder / "sound.db"
    with Store.open(path) as store:
        put_in(store, record)
    data = path.read_bytes()
    path.unlink()
    return data


def recording(folder: Path, name: str) -> Path:
    """A folder of three pictures with their times and pillars' heights, in which ``name`` can be spoilt."""
    place = folder / f"recording-{name}"
    (place / "frames").mkdir(parents=True)
    rows = ["file,t_s"]
    capture = cv2.VideoCapture(str(EXAMPLES / "domination-1" / "video.mp4"))
    for k in range(3):
        cv2.imwrite(str(place / "frames" / f"{k}.jpg"), capture.read()[1])
        rows.append(f"{k}.jpg,{k / 4}")
    capture.release()
    (place / "frames.csv").write_text("\n".join(rows) + "\n")
    for file in ("camera.toml", "set.toml"):
        shutil.copy(EXAMPLES / "domination-1" / file, place)
    card = (EXAMPLES / "domination-1" / "recording.toml").read_text()
    (place / "recording.toml").write_text(
        "".join(line for line in card.splitlines(keepends=True) if "video" not in line)
    )
    cells = [f"{x}{y}" for y in range(1, 6) for x in "abcde"]
    heights = [f"{k / 4}," + ",".join("32.0" for _ in cells) for k in range(3)]
    (place / "sensors.csv").write_text("\n".join(["t_s," + ",".join(cells), *heights]) + "\n")
    return place


def kinds(folder: Path) -> tuple[Kind, ...]:
    """Every kind of file, with its commands."""
    photo, camera, told = (str(PHOTOS / name) for name in ("domination-b-103.jpg", "camera.toml", "set.toml"))
    record, out = match_record(6), folder / "out"
    out.mkdir()

    def read(
        kit: object = "domination", camera: object = camera, appearance: object = told, image: object = photo
    ) -> list[str]:
        return ["read", str(kit), "--camera", str(camera), "--set", str(appearance), str(image)]

    def referee(game: str, place: Path) -> list[str]:
        return ["referee", game, "--recording", str(place), "--panel", "none", "--match", str(out / "matches.db")]

    def played(name: str, game: str = "domination") -> tuple[bytes, Callable[[Path], list[str]]]:
        place = recording(folder, name.partition(".")[0])

        def run(path: Path) -> list[str]:
            shutil.copy(path, place / name)
            return referee(game, place)

        return (place / name).read_bytes(), run

    def of_store(*words: str) -> Callable[[Path], list[str]]:
        return lambda path: [*words, "--store", str(path)]

    kit = (Path(__file__).parent.parent / "calibration" / "kits" / "domination.toml").read_bytes()
    card, play_card = played("recording.toml")
    index, play_index = played("frames.csv")
    heights, play_heights = played("sensors.csv", "diamond")
    place = recording(folder, "settings")
    settings = f'game = "domination"\nrecording = "{place}"\nset = "{place}/set.toml"\npanel = "none"\n'
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
        Kind("set", 12, Path(told).read_bytes(), "spoilt.toml", (lambda p: read(appearance=p),)),
        Kind(
            "board", 6, (EXAMPLES / "lens" / "charuco.toml").read_bytes(), "spoilt.toml",
            (lambda p: ["mat", "charuco", "--board", str(p), "-o", str(out / "c.pdf")],),
        ),
        Kind("settings", 8, settings.encode(), "spoilt.toml", (lambda p: ["referee", str(p)],), lines=50),
        Kind("recording", 2, card, "spoilt.toml", (play_card,)),
        Kind("frames", 3, index, "spoilt.csv", (play_index,)),
        Kind("sensors", 3, heights, "spoilt.csv", (play_heights,), sound_code=2),
        Kind("sheet", 6, format_sheet(record).encode(), "spoilt.txt", (of_import(out),)),
        Kind("document", 6, format_document(record).encode(), "spoilt.json", (of_import(out),)),
        Kind("pdn", 6, format_pdn(match_record(30, "draughts")).encode(), "spoilt.pdn", (of_import(out),)),
        Kind(
            "measure", 3, MEASURED, "spoilt.txt",
            (lambda p: ["measure", "domination", photo, "-o", str(out / "k.toml"), *p.read_text("latin-1").split()],),
        ),
        Kind(
            "store", 10, store_bytes(folder, record), "spoilt.db",
            (of_store("matches"), of_store("verify"), of_store("stats"), of_store("explain", "last"), *exports),
        ),
        Kind("picture", 10, Path(photo).read_bytes(), "spoilt.jpg", (lambda p: read(image=p),)),
    )  # fmt: skip


def of_import(out: Path) -> Callable[[Path], list[str]]:
    """The command that imports a file."""
    return lambda path: ["import", str(path), "--store", str(out / "imported.db")]


@contextmanager
def caught() -> Iterator[tuple[Path, Path]]:
    """Standard output and standard error go to files, also what libraries write there by themselves."""
    kept = os.dup(1), os.dup(2)
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "out", Path(folder) / "err"
        for number, file in enumerate(files, start=1):
            with file.open("wb") as opened:
                os.dup2(opened.fileno(), number)
        try:
            yield files
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for number, descriptor in enumerate(kept, start=1):
                os.dup2(descriptor, number)
                os.close(descriptor)


class Hangs(BaseException):
    """A run takes too long; no handler of the program's own catches this."""


def run(words: list[str], most_lines: int, within_s: int = LONGEST_S) -> tuple[int, str]:
    """Exit code of a command, and what is wrong with the run; empty: nothing.  ``within_s`` 0: it may take for ever."""

    def late(*_: object) -> None:
        raise Hangs

    signal.signal(signal.SIGALRM, late)
    signal.alarm(within_s)
    code, wrong = -1, ""
    with caught() as (_, errors):
        try:
            code = companion(words)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else -1
        except BaseException:  # whatever it is, people would see a traceback
            wrong = traceback.format_exc()
        finally:
            signal.alarm(0)
        sys.stderr.flush()
        said = errors.read_text(errors="replace")
    lines = [line for line in said.splitlines() if line.strip()]
    if not wrong and code not in (0, 1, 2):
        wrong = f"exit code {code}"
    if not wrong and code == 2 and not 1 <= len(lines) <= most_lines:
        wrong = f"{len(lines)} lines on standard error: {said[:400]}"
    if not wrong and any(word in said for word in ("Traceback", "libpng", "JPEG data", "Warning", "warning:")):
        wrong = f"standard error: {said[:400]}"
    return code, wrong


def campaign(folder: Path, files: int, seed: int, only: str) -> Iterator[str]:
    """Every fault as text."""
    chosen = [kind for kind in kinds(folder) if only in ("", kind.name)]
    shares = sum(kind.share for kind in chosen)
    for kind in chosen:
        path = folder / kind.file
        for command in kind.commands:
            path.write_bytes(kind.sound)
            code, wrong = run(command(path), kind.lines, within_s=0)  # compiles what is not yet compiled
            if wrong or code > kind.sound_code:
                yield f"sound {kind.name}, companion {' '.join(command(path))}: {code} {wrong}"
        codes, begun = Counter[int](), time.monotonic()
        for k in range(max(1, files * kind.share // shares)):
            chance = random.Random(f"{kind.name} {seed} {k}")
            path.write_bytes(spoilt(kind.sound, chance))
            words = chance.choice(kind.commands)(path)
            code, wrong = run(words, kind.lines)
            codes[code] += 1
            for side in ("-wal", "-shm"):
                path.with_name(path.name + side).unlink(missing_ok=True)
            if wrong:
                yield f"{kind.name} {k}, companion {' '.join(words)}:\n{wrong}"
        ended = ", ".join(f"{count} with {code}" for code, count in sorted(codes.items()))
        print(f"{kind.name:<10} {codes.total():>5} runs ended: {ended}; {time.monotonic() - begun:.0f} s", flush=True)


def main() -> int:
    """Run the campaign; exit code 1 when there was any fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=FILES, metavar="N")
    parser.add_argument("--seed", type=int, default=SEED, metavar="S")
    parser.add_argument("--only", default="", metavar="KIND", help="one kind of file")
    told = parser.parse_args()
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        for fault in campaign(Path(folder), told.files, told.seed, told.only):
            count += 1
            print(fault, flush=True)
    print(f"{told.files} spoilt files: {count} faults")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
