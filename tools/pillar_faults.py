"""Scores recordings of Diamond with simulated sensor faults: wrong, failed or missing sensors.

    python -m tools.pillar_faults                         # every recording with sensors of the larger collection
    python -m tools.pillar_faults DIR… --only jammed      # these recordings, one kind of fault

Each fault is applied to a copy of the recording's ``sensors.csv``, which the collection's own script then scores.
"""

from __future__ import annotations

import argparse
import csv
import random
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from calibration.kit import load_kit
from companion.app.sensors import FILE, read_heights
from tools.score import COMPANION, SHARED, run

DROPOUT_S, OFFSET_S = 6.0, 4.0
"""Times from which nothing is measured any more, or a sensor reads one level too high."""

STUCK_S = 1.0
"""A stuck sensor repeats its readings of this initial period instead of following its pillar."""

STILL_COUNT = 2
"""Number of pillars that never move, but whose sensors read too high too, one at a time."""

Rows = npt.NDArray[np.float64]
"""(n, 1 + cells) float64: time in s, then the height of each pillar in mm."""

Fault = Callable[[Rows], Rows]


def main(argv: Sequence[str] | None = None) -> int:
    """Print a row per recording and fault; return 1 if the referee was wrong, 0 if the collection is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", nargs="*", type=Path, metavar="DIR")
    parser.add_argument("--only", default="", metavar="WAY", help="only faults whose name begins like this")
    parser.add_argument("--companion", default=str(COMPANION), metavar="COMMAND")
    options = parser.parse_args(argv)
    if not (SHARED / "tools").is_dir():
        print(f"{SHARED}: the collection of pictures is not here; nothing was scored", file=sys.stderr)
        return 0
    folders = options.recordings or sorted(file.parent for file in (SHARED / "recordings").glob(f"*/{FILE}"))
    with tempfile.TemporaryDirectory() as work:
        codes = [
            run(
                "score_referee.py",
                "--verbose",
                faulty_copy(folder, Path(work), name, fault),
                companion=options.companion,
            )
            for folder in folders
            for name, fault in sensor_faults(folder).items()
            if name.startswith(options.only)
        ]
    return max(codes, default=0)


def sensor_faults(folder: Path) -> Mapping[str, Fault | None]:
    """The sensor faults for a recording, by name; None: without sensors."""
    kit = load_kit(tomllib.loads((folder / "recording.toml").read_text(encoding="utf-8"))["kit"])
    assert kit.pillars is not None, "sensors measure pillars"
    rows, step_mm = _rows(folder, kit.cells), kit.pillars.step_mm
    is_moved = np.ptp(rows[:, 1:], axis=0) > step_mm
    still = random.Random(folder.name).sample(np.flatnonzero(~is_moved).tolist(), STILL_COUNT)
    moved = np.flatnonzero(is_moved).tolist()
    return {
        "with": lambda rows: rows,
        "none": None,
        "gone": lambda rows: rows[rows[:, 0] < DROPOUT_S],
        **{f"jammed-{kit.cells[cell]}": _stuck(cell) for cell in moved},
        **{f"high-{kit.cells[cell]}": _too_high(cell, step_mm) for cell in (*moved, *still)},
    }


def faulty_copy(folder: Path, work: Path, name: str, fault: Fault | None) -> Path:
    """Make a copy of a recording in ``work`` with this sensor fault (None: without sensors); return its folder."""
    copy = work / f"{folder.name}-{name}"
    copy.mkdir()
    for file in folder.iterdir():
        if file.name not in (FILE, "recording.toml"):
            (copy / file.name).symlink_to(file.resolve())
    info_text = (folder / "recording.toml").read_text(encoding="utf-8")
    lens = tomllib.loads(info_text)["lens"]
    (copy / "recording.toml").write_text(
        info_text.replace(f'"{lens}"', f'"{(folder / lens).resolve()}"'), encoding="utf-8"
    )
    if fault is not None:
        with (folder / FILE).open(encoding="utf-8") as before, (copy / FILE).open("w", encoding="utf-8") as after:
            head = next(csv.reader(before))
            lines = csv.writer(after)
            lines.writerow(head)
            lines.writerows([f"{value:.2f}" for value in row] for row in fault(_rows(folder, head[1:])))
    return copy


def _rows(folder: Path, cells: Sequence[str]) -> Rows:
    return np.array([(scan.t_s, *scan.heights_mm) for scan in read_heights(folder / FILE, cells)], np.float64)


def _stuck(cell: int) -> Fault:
    """The sensor of ``cell`` repeats its first readings."""

    def fault(rows: Rows) -> Rows:
        first = int(np.searchsorted(rows[:, 0], rows[0, 0] + STUCK_S))
        stuck = rows.copy()
        stuck[:, 1 + cell] = np.resize(rows[:first, 1 + cell], len(rows))
        return stuck

    return fault


def _too_high(cell: int, step_mm: float) -> Fault:
    """The sensor of ``cell`` reads ``step_mm`` too high from OFFSET_S on."""

    def fault(rows: Rows) -> Rows:
        too_high = rows.copy()
        too_high[rows[:, 0] >= OFFSET_S, 1 + cell] += step_mm
        return too_high

    return fault


if __name__ == "__main__":
    sys.exit(main())
