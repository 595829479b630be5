"""Copies of a recording with sensor faults: only the intended values differ."""

import csv
from pathlib import Path

import numpy as np
import pytest

from calibration.kit import load_kit
from tools.pillar_faults import DROPOUT_S, OFFSET_S, faulty_copy, sensor_faults

CELLS = load_kit("diamond").cells
TIMES_S = np.arange(0.0, 10.0, 0.5)
MOVES = CELLS.index("c3")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a recording of ten seconds, in which c3 is raised by two levels after five."""
    made = tmp_path / "match"
    made.mkdir()
    (made / "recording.toml").write_text('kit = "diamond"\nlens = "../lens"\n')
    (made / "truth.jsonl").write_text("{}\n")
    with (made / "sensors.csv").open("w") as file:
        lines = csv.writer(file)
        lines.writerow(["t_s", *CELLS])
        lines.writerows(
            [t_s, *(42.0 + 20 * (t_s >= 5 and cell == MOVES) for cell in range(len(CELLS)))] for t_s in TIMES_S
        )
    return made


def heights(copy: Path) -> np.ndarray:
    """Return time and sensor heights (rows, 1 + cells), in s and mm."""
    return np.loadtxt(copy / "sensors.csv", delimiter=",", skiprows=1)


def test_each_way_makes_one_thing_wrong(folder: Path, tmp_path: Path) -> None:
    found = {name: faulty_copy(folder, tmp_path, name, fault) for name, fault in sensor_faults(folder).items()}
    right = heights(found["with"])
    assert (right == heights(folder)).all()
    assert not (found.pop("none") / "sensors.csv").exists()
    assert heights(found.pop("gone"))[-1, 0] < DROPOUT_S
    assert {name for name in found if name.startswith("jammed")} == {"jammed-c3"}
    assert (heights(found.pop("jammed-c3"))[:, 1 + MOVES] == 42).all()
    high = {name for name in found if name.startswith("high")}
    assert len(high) == 3
    for name in high:
        off = heights(found[name]) - right
        assert (off[TIMES_S < OFFSET_S] == 0).all()
        assert (off[TIMES_S >= OFFSET_S].sum(axis=1) == 10).all()


def test_all_else_of_a_copy_is_as_it_was(folder: Path, tmp_path: Path) -> None:
    copy = faulty_copy(folder, tmp_path, "none", None)
    assert (copy / "truth.jsonl").read_text() == "{}\n"
    assert f'lens = "{(folder.parent / "lens").resolve()}"' in (copy / "recording.toml").read_text()
