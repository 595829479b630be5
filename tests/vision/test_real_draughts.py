"""Two real photographs of draughtsmen on a printed board, hazy and much compressed, read as a user would.

They lie beside the repository (real/draughts, from github.com/rursprung/fhgr-checkers-detector, GPL-3.0-or-later).
"""

import json

from companion.cli import main

LEARNED = "1,B,5,BB/8/8/6,B,1/3,WW,4/8/8/B,5,BB,1"
"""Ground truth of the photograph from which the set and the board are learned, far rank first."""


def test_all_squares_of_both_are_read(shared, tmp_path, capsys):
    """Lens and set are calibrated from the photographs, and all cells of both are then read correctly."""
    folder, camera, appearance = shared / "real" / "draughts", tmp_path / "camera.toml", tmp_path / "set.toml"
    kit, learned, other = (str(folder / name) for name in ("kit.toml", "board-v2.jpg", "full-board-v2.jpg"))
    assert main(["calibrate", "lens", "--kit", kit, other, learned, "-o", str(camera)]) == 0
    words = ["calibrate", "pieces", kit, "--camera", str(camera), "--layout", LEARNED, learned, "-o", str(appearance)]
    assert main(words) == 0
    for line in (folder / "truth.jsonl").read_text().splitlines():
        truth = json.loads(line)
        capsys.readouterr()
        image = str(folder / truth["image"])
        assert main(["read", kit, "--camera", str(camera), "--set", str(appearance), "--json", image]) == 0
        cells = json.loads(capsys.readouterr().out.splitlines()[-1])["cells"]
        stacks = {
            name: (len(truth["table"].get(name, "")), truth["table"].get(name, "")[-1:] or None) for name in cells
        }
        assert {name: (cell["height"], cell.get("top")) for name, cell in cells.items()} == stacks
