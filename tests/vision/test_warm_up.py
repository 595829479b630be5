"""Loops are compiled before the first picture arrives."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from calibration.camera import Camera
from calibration.kit import load_kit
from vision.pose.projection import project
from vision.warm_up import _pose

LOOPS = """
import gc, json, sys
from pathlib import Path
import numpy as np
from numba.core.registry import CPUDispatcher
from calibration.appearance import read_appearance
from calibration.camera import read_camera
from calibration.kit import load_kit
from calibration.picture import load_picture
from vision.reader import Reader
from vision.capture.frames import Frame
from vision.inference import colours, pale_pyramids
from vision.motion import MotionDetector
from vision.warm_up import warm_up

def compiled():
    loops = [one for one in gc.get_objects() if isinstance(one, CPUDispatcher) and one.signatures]
    return {f"{loop.py_func.__module__}.{loop.py_func.__name__}": len(loop.signatures) for loop in loops}

folder, kit = Path(sys.argv[1]), load_kit(sys.argv[2])
reader = Reader(kit, read_camera(folder / "camera.toml"), read_appearance(folder / "set.toml", kit))
before = compiled()
warm_up(reader)
warmed = compiled()
colours.UNLIKE_SHARE, pale_pyramids.UNLIKE_SHARE, pale_pyramids.EMPTY_NATS = -1, -1, np.inf
frames = [Frame(load_picture(file), 0, 0.0) for file in sorted(folder.glob(f"{sys.argv[2]}-*.jpg"))]
watch = MotionDetector(kit, reader.camera)
for image in (frames[0].image, frames[0].image[::-1].copy()):
    watch.process(image)
asked = (None, *reader.levels[1:]) if kit.pillars else None
for frame in frames:
    geometry = reader.geometry(reader.register(frame.image))
    reader.read_at(frame, geometry, asked)
    for cells in (1, 9):
        reader.read_at(frame, geometry, None, np.arange(len(kit.cells)) < cells)
print(json.dumps([before, warmed, compiled()]))
"""


@pytest.mark.parametrize("kit", ["cheight", "citadel", "diamond", "ziggurat"])
def test_a_reader_that_has_warmed_up_compiles_nothing_more(kit, examples):
    """Run in a separate process, because here other tests have already compiled the loops.

    The script forces the search for pale pyramids on all empty cells, and that for noise in what is unexplained.
    """
    folder = examples / "sets" / kit
    command = [sys.executable, "-c", LOOPS, str(folder), kit]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    before, warmed, after = json.loads(run.stdout)
    assert len(warmed) > len(before) + 5
    assert after == warmed


FORMS = """
from vision.inference.comparison import compare_observed
from vision.warm_up import main
main(["domination", "draughts"])
print(len(compare_observed.signatures))
"""


def test_what_takes_longest_to_compile_is_compiled_once_for_boards_with_lines_and_without():
    """Arrays of one kind have the same memory layout whether they are empty or not."""
    run = subprocess.run([sys.executable, "-c", FORMS], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.split()) == (0, ["1"]), run.stderr


def test_a_kit_that_there_is_not_is_one_line():
    """An unknown kit gives a one-line error and exit code 1."""
    words = [sys.executable, "-m", "vision.warm_up", "nonsense"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "nonsense" in done.stderr


@pytest.mark.parametrize("mat_mm", [(420, 297), (240, 420), (314, 314), (300, 600)])
@pytest.mark.parametrize("size_px", [(1280, 720), (640, 480), (720, 1280)])
def test_the_whole_of_any_board_is_in_the_synthetic_picture(mat_mm, size_px):
    """This includes boards taller than wide, with towers: squares outside the picture could not be compared."""
    kit, (width_mm, height_mm), (width_px, height_px) = load_kit("cheight"), mat_mm, size_px
    kit = replace(kit, mat=replace(kit.mat, width_mm=width_mm, height_mm=height_mm))
    matrix = np.array([[1000.0, 0, width_px / 2], [0, 1000, height_px / 2], [0, 0, 1]])
    camera = Camera(width_px, height_px, matrix, np.zeros(5), 0.0)
    across, along = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]).T / 2
    corners = np.column_stack([width_mm * across, height_mm * along, np.zeros(4)])
    for up_mm in (0.0, 80.0):
        places_px = project(corners + np.array([0, 0, up_mm]), _pose(kit, camera), camera)
        assert (places_px > 0).all()
        assert (places_px < (width_px, height_px)).all()
