"""Recordings of Diamond again with sensors that are wrong, out or missing: what the referee loses, and whom it accuses.

    python -m tools.pillar_faults                         # every recording with sensors of the larger collection
    python -m tools.pillar_faults DIR… --only jammed      # these, and of the ways one

Each way is a copy of the recording with another ``sensors.csv``, scored by the collection's own script.
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

GONE_S, WRONG_S = 6.0, 4.0
"""Times from which nothing is measured any more, or a sensor reads one level too high."""

JAMMED_S = 1.0
"""A jammed sensor repeats its readings of this period instead of following its pillar."""

STILL = 2
"""So many pillars that never move have a wrong sensor too, one after the other."""

Rows = npt.NDArray[np.float64]
"""(n, 1 + cells) float64, a moment's time in s, then the height of each pillar in mm."""

Way = Callable[[Rows], Rows]


def main(words: Sequence[str] | None = None) -> int:
    """Print a row for each recording and way; 1 when one had a fault.  Without the collection nothing is scored."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", nargs="*", type=Path, metavar="DIR")
    parser.add_argument("--only", default="", metavar="WAY", help="only ways whose name begins like this")
    parser.add_argument("--companion", default=str(COMPANION), metavar="COMMAND")
    told = parser.parse_args(words)
    if not (SHARED / "tools").is_dir():
        print(f"{SHARED}: the collection of pictures is not here; nothing was scored", file=sys.stderr)
        return 0
    folders = told.recordings or sorted(file.parent for file in (SHARED / "recordings").glob(f"*/{FILE}"))
    with tempfile.TemporaryDirectory() as work:
        codes = [
            run("score_referee.py", "--verbose", altered(folder, Path(work), name, way), companion=told.companion)
            for folder in folders
            for name, way in ways(folder).items()
            if name.startswith(told.only)
        ]
    return max(codes, default=0)


def ways(folder: Path) -> Mapping[str, Way | None]:
    """By name, what is done to the sensors of a recording; None: there are none."""
    kit = load_kit(tomllib.loads((folder / "recording.toml").read_text(encoding="utf-8"))["kit"])
    assert kit.pillars is not None, "sensors measure pillars"
    rows, step_mm = _rows(folder, kit.cells), kit.pillars.step_mm
    is_moved = np.ptp(rows[:, 1:], axis=0) > step_mm
    still = random.Random(folder.name).sample(np.flatnonzero(~is_moved).tolist(), STILL)
    moved = np.flatnonzero(is_moved).tolist()
    return {
        "with": lambda rows: rows,
        "none": None,
        "gone": lambda rows: rows[rows[:, 0] < GONE_S],
        **{f"jammed-{kit.cells[cell]}": _jammed(cell) for cell in moved},
        **{f"high-{kit.cells[cell]}": _high(cell, step_mm) for cell in (*moved, *still)},
    }


def altered(folder: Path, work: Path, name: str, way: Way | None) -> Path:
    """A copy of a recording, in a folder of ``work``, with sensors that are wrong in this ``way``."""
    copy = work / f"{folder.name}-{name}"
    copy.mkdir()
    for file in folder.iterdir():
        if file.name not in (FILE, "recording.toml"):
            (copy / file.name).symlink_to(file.resolve())
    card = (folder / "recording.toml").read_text(encoding="utf-8")
    lens = tomllib.loads(card)["lens"]
    (copy / "recording.toml").write_text(card.replace(f'"{lens}"', f'"{(folder / lens).resolve()}"'), encoding="utf-8")
    if way is not None:
        with (folder / FILE).open(encoding="utf-8") as before, (copy / FILE).open("w", encoding="utf-8") as after:
            head = next(csv.reader(before))
            lines = csv.writer(after)
            lines.writerow(head)
            lines.writerows([f"{value:.2f}" for value in row] for row in way(_rows(folder, head[1:])))
    return copy


def _rows(folder: Path, cells: Sequence[str]) -> Rows:
    return np.array([(scan.t_s, *scan.heights_mm) for scan in read_heights(folder / FILE, cells)], np.float64)


def _jammed(cell: int) -> Way:
    def way(rows: Rows) -> Rows:
        first = int(np.searchsorted(rows[:, 0], rows[0, 0] + JAMMED_S))
        jammed = rows.copy()
        jammed[:, 1 + cell] = np.resize(rows[:first, 1 + cell], len(rows))
        return jammed

    return way


def _high(cell: int, step_mm: float) -> Way:
    def way(rows: Rows) -> Rows:
        high = rows.copy()
        high[rows[:, 0] >= WRONG_S, 1 + cell] += step_mm
        return high

    return way


if __name__ == "__main__":
    sys.exit(main())
