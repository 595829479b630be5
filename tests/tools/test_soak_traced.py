"""Matches in path-traced pictures: which pictures are kept and what is reported."""

import numpy as np

from companion.simulate.evaluation import ASKED, MISSED, Fault, Result
from tools.soak_traced import FrameKeeper, Run, _save_around, summary
from vision.capture.frames import Frame


class Act:
    def __init__(self, t_calm_to):
        self.t_calm_to = t_calm_to


class Film:
    """A film of six frames, with acts beginning at frames 2 and 5."""

    def __init__(self):
        self.truth = []

    def frames(self):
        for number in range(6):
            if number in (2, 5):
                self.truth.append(Act(float(number)))
            yield Frame(np.full((8, 8, 3), 40 * number, np.uint8), number, float(number))


def run_of(*faults, refused=""):
    """Return a run with these faults."""
    result = Result(10, 10, 4, 4 - len(faults), 1, faults)
    return Run(result, refused, "camera", 3.0)


def test_the_last_frame_before_each_act_and_of_all_is_kept():
    keeper = FrameKeeper(Film())
    assert len(list(keeper.frames())) == 6
    assert [t_s for t_s, _ in keeper.kept] == [1.0, 4.0, 5.0]


def test_pictures_round_a_fault_are_saved(tmp_path):
    kept = [(float(t_s), b"picture") for t_s in range(6)]
    _save_around(tmp_path / "faults", "citadel-3", kept, [2.5])
    assert sorted(path.name for path in (tmp_path / "faults").iterdir()) == [
        f"citadel-3-{t_s}.00s.jpg" for t_s in (1, 2, 3)
    ]
    _save_around(None, "citadel-3", kept, [2.5])


def test_refused_sets_are_counted_beside_faults():
    asked, missed = (Fault(1.0, kind, "an act", "a word") for kind in (ASKED, MISSED))
    lines = summary({"citadel": [run_of(asked), run_of(missed)], "cheight": [run_of(refused="too alike")]})
    assert lines[0].split()[:2] == ["game", "runs"]
    assert [line.split()[:3] for line in lines[1:4]] == [
        ["citadel", "2", "20"],
        ["cheight", "1", "10"],
        ["all", "3", "30"],
    ]
    assert lines[4].startswith("sets refused: 1 of 3")
