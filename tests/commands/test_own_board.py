"""Boards unknown to the program: the steps of docs/own-board.md, and boards of other sizes."""

import json
import re
import shlex
from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration.kit import load_kit
from companion.cli import main
from companion.simulate.light import WINDOW
from companion.simulate.placement import make_rng, set_up
from companion.simulate.render import Renderer
from companion.simulate.sprite import Scene
from companion.simulate.viewpoint import default_camera, default_pose
from tools.own_board import BOARD, picture
from vision.capture.frames import Frame
from vision.enrolment import enrol
from vision.reader import Reader
from vision.reading import EMPTY

pytestmark = pytest.mark.pictures

PAGE = Path(__file__).parent.parent.parent / "docs" / "own-board.md"

KIT = """
game = "own"
[mat]
width_mm = 330
height_mm = 290
dictionary = "{dictionary}"
marker_mm = {marker_mm}
markers = [{{ id = 3, at = [-140, -110] }}, {{ id = 7, at = [140, -110] }}, {{ id = 1, at = [140, 110] }},
  {{ id = 9, at = [-140, 110] }}]
patches = [
  {{ colour = "#c0c0c0", at = [-140, -40], size_mm = 20 }}, {{ colour = "#808080", at = [-140, 40], size_mm = 20 }},
  {{ colour = "#808080", at = [140, -40], size_mm = 20 }}, {{ colour = "#c0c0c0", at = [140, 40], size_mm = 20 }}]
[board]
files = {files}
ranks = {ranks}
pitch_mm = {pitch_mm}
a1_mm = [{x}, {y}]
[pieces]
X = {{ shape = "disc", diameter_mm = {diameter_mm}, height_mm = {height_mm}, colour = "#c03028" }}
O = {{ shape = "disc", diameter_mm = {diameter_mm}, height_mm = {height_mm}, colour = "#20508c" }}
[enrol]
b3 = "X"
d3 = "O"
"""


def commands(text):
    """Return the commands in a page's blocks, except those that need a table or the reader's own photographs."""
    blocks = re.findall(r"```\n(companion .*?)```", text, re.DOTALL)
    words = (shlex.split(block.replace("\\\n", " ")) for block in blocks)
    return [row[1:] for row in words if "--device" not in row and "my-board.toml" not in row]


def expanded(words, repository):
    """Yield the words of a command with example paths expanded as a shell would do."""
    for word in words:
        if word.startswith("examples/"):
            yield from (sorted(map(str, repository.glob(word))) if "*" in word else [str(repository / word)])
        else:
            yield word


def test_the_page_can_be_followed_to_the_letter(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    rows = commands(text)
    assert [row[0] for row in rows] == ["mat", "mat", "calibrate", "calibrate", "read"]
    for row in rows:
        assert main(list(expanded(row, PAGE.parent.parent))) == 0
    said = capsys.readouterr().out
    (promised,) = re.findall(r"```\nexamples/own-board/board\.jpg: (.*)\n```", text)
    assert promised in said
    assert {file.name for file in tmp_path.iterdir()} == {
        "stickers.pdf",
        "mat.pdf",
        "camera.toml",
        "set.toml",
        "belief.jpg",
    }
    main(["read", *expanded(rows[-1][1:-2], PAGE.parent.parent), "--json"])
    cells = json.loads(capsys.readouterr().out)["cells"]
    stacks = {cell: (row["height"], row["top"]) for cell, row in cells.items() if row["height"]}
    assert stacks == {cell: (len(stack), stack[-1]) for cell, stack in BOARD.items()}


@pytest.mark.parametrize(
    "numbers",
    [
        {
            "dictionary": "DICT_4X4_50",
            "marker_mm": 22,
            "files": 6,
            "ranks": 6,
            "pitch_mm": 38,
            "diameter_mm": 34,
            "height_mm": 6,
        },
        {
            "dictionary": "DICT_ARUCO_ORIGINAL",
            "marker_mm": 30,
            "files": 5,
            "ranks": 7,
            "pitch_mm": 33,
            "diameter_mm": 22,
            "height_mm": 11,
        },
    ],
)
def test_a_board_of_other_sizes_is_enrolled_and_read(tmp_path, numbers):
    x, y = -numbers["pitch_mm"] * (numbers["files"] - 1) / 2, -numbers["pitch_mm"] * (numbers["ranks"] - 1) / 2
    (tmp_path / "own.toml").write_text(KIT.format(**numbers, x=x, y=y), encoding="utf-8")
    kit, camera = load_kit(str(tmp_path / "own.toml")), default_camera()

    renderer = Renderer(Scene(kit, camera, default_pose(kit, camera), WINDOW))

    def photographed(stacks):
        return renderer.picture(set_up(tuple(stacks.get(cell, "") for cell in kit.cells), None, make_rng("own", 3)), 0)

    appearance = enrol(photographed(dict(kit.enrol)), kit, camera)
    stacks = {"a1": "X", "b2": "OX", "c3": "XXO", "e5": "OO", "d1": "XOX", "a5": "O", "e2": "X"}
    reading = Reader(kit, camera, appearance).read(Frame(photographed(stacks), 0, 0.0))
    best = {cell: reading.best(i)[0] for i, cell in enumerate(reading.cells)}
    seen = {cell: state for cell, state in best.items() if state != EMPTY}
    assert seen == {cell: (len(stack), stack[-1]) for cell, stack in stacks.items()}


def test_the_example_pictures_are_those_of_the_program(examples):
    """They are made by `python -m tools.own_board`; JPEG changes them slightly."""
    kit = load_kit(str(examples / "own-board" / "six.toml"))
    kept = cv2.imread(str(examples / "own-board" / "board.jpg"))
    assert np.abs(picture(kit, BOARD).astype(int) - kept).mean() < 3
