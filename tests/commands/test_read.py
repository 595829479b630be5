"""`companion read` as a user calls it."""

import json
import re
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.cli import main
from companion.commands.read import describe
from tests.commands.conftest import complaint
from vision.reader import Reader

pytestmark = pytest.mark.pictures


def lines(capsys):
    """Return the printed JSON objects, and standard error."""
    out = capsys.readouterr()
    return [json.loads(line) for line in out.out.splitlines()], out.err


def test_photographs_are_read_as_json(photos, capsys):
    truth = [json.loads(line) for line in (photos / "truth.jsonl").read_text(encoding="utf-8").splitlines()]
    names = [row["image"] for row in truth]
    words = ["--camera", photos / "camera.toml", "--set", photos / "set.toml", "--json"]
    assert main([str(w) for w in ("read", "domination", *words, *(photos / name for name in names))]) == 0
    rows, _ = lines(capsys)
    assert [row["image"] for row in rows] == [str(photos / name) for name in names]
    for row, really in zip(rows, truth, strict=True):
        assert row["found"]
        assert row["ms"] > 0
        seen = {cell: (s["height"], s["top"]) for cell, s in row["cells"].items() if s["height"]}
        assert seen == {cell: (len(stack), stack[-1]) for cell, stack in really["table"].items()}
        assert all("top" not in s for s in row["cells"].values() if not s["height"])
        assert all(0 < s["p"] <= 1 for s in row["cells"].values())


def test_a_reading_for_people(photos, capsys):
    options = ["--camera", str(photos / "camera.toml"), "--set", str(photos / "set.toml")]
    assert main(["read", "domination", *options, str(photos / "enrol.jpg")]) == 0
    assert ": 4 stacks: c5 1R, d5 1G, e5 1B, f5 1Y (" in capsys.readouterr().out


def test_a_height_that_no_camera_sees_is_a_question_mark():
    cells = {"a1": {"height": 0, "p": 1.0}, "b1": {"height": None, "top": "Q", "p": 0.998}}
    assert describe({"image": "k.jpg", "found": True, "cells": cells, "ms": 3.0}) == "k.jpg: 1 stack: b1 ?Q (3.0 ms)"


def test_a_picture_is_read_once_for_its_row_and_its_overlay(photos, tmp_path, monkeypatch):
    seen = []
    register = Reader.register
    monkeypatch.setattr(Reader, "register", lambda self, image: seen.append(image) or register(self, image))
    options = ["--camera", str(photos / "camera.toml"), "--set", str(photos / "set.toml")]
    photo = str(photos / "domination-b-103.jpg")
    assert main(["read", "domination", *options, "--overlay", str(tmp_path / "belief.jpg"), photo]) == 0
    assert len(seen) == 1


def test_the_overlay_is_the_picture_with_the_belief_over_it(photos, tmp_path, capsys):
    options = ["--camera", str(photos / "camera.toml"), "--set", str(photos / "set.toml")]
    photo = str(photos / "domination-b-103.jpg")
    for name in ("belief.png", "belief.jpg"):
        assert main(["read", "domination", *options, "--overlay", str(tmp_path / name), photo]) == 0
    before, after = cv2.imread(photo), cv2.imread(str(tmp_path / "belief.png"))
    assert after.shape == before.shape
    assert 0.005 < (cv2.absdiff(before, after).max(axis=2) > 40).mean() < 0.2
    capsys.readouterr()
    read = ("read", "domination", *options)
    assert "--overlay: give one picture at a time" in complaint(capsys, 2, *read, "--overlay", "x.jpg", photo, photo)
    assert "x.doc: end its name with .jpg or .png" in complaint(capsys, 2, *read, "--overlay", "x.doc", photo)
    nowhere = tmp_path / "no" / "x.jpg"
    assert f"{nowhere}: cannot be written (No such file or directory); give another --overlay" in complaint(
        capsys, 2, *read, "--overlay", nowhere, photo
    )


def test_a_sleeve_in_the_picture_is_named(photos, tmp_path, capsys):
    image = cv2.imread(str(photos / "enrol.jpg"))
    cv2.ellipse(image, (640, 330), (110, 60), 20, 0, 360, (200, 80, 160), -1)
    cv2.imwrite(str(tmp_path / "sleeve.png"), image)
    options = ["--camera", str(photos / "camera.toml"), "--set", str(photos / "set.toml")]
    assert main(["read", "domination", *options, "--json", str(tmp_path / "sleeve.png")]) == 0
    (row,), _ = lines(capsys)
    assert 1 <= len(row["covered"]) <= 20
    assert main(["read", "domination", *options, str(tmp_path / "sleeve.png")]) == 0
    assert f"; something that is no piece covers {', '.join(row['covered'])} (" in capsys.readouterr().out
    assert main(["read", "domination", *options, "--json", str(photos / "enrol.jpg")]) == 0
    (row,), _ = lines(capsys)
    assert set(row) == {"image", "found", "cells", "ms"}


def test_a_blurred_picture_is_read_with_a_warning(photos, tmp_path, capsys):
    soft = tmp_path / "soft.png"
    cv2.imwrite(str(soft), cv2.GaussianBlur(cv2.imread(str(photos / "domination-b-107.jpg")), (0, 0), 2.5))
    read = ["read", "domination", "--camera", str(photos / "camera.toml"), "--set", str(photos / "set.toml"), str(soft)]
    assert main([*read, "--json"]) == 0
    assert lines(capsys)[0][0]["warning"] == "the picture is blurred: focus the lens, and hold the camera still"
    assert main(read) == 0
    assert "; the picture is blurred: focus the lens, and hold the camera still (" in capsys.readouterr().out


def test_a_picture_without_the_mat_answers_no(examples, photos, tmp_path, capsys):
    bare = tmp_path / "bare.png"
    cv2.imwrite(str(bare), np.full((720, 1280, 3), 90, np.uint8))
    for picture, why in ((bare, "the mat is not in view"), (examples / "lens" / "lens-a-00.jpg", "another mat is in")):
        words = ("read", "domination", "--camera", photos / "camera.toml", "--json", picture)
        assert main([str(w) for w in words]) == 1
        (row,), _ = lines(capsys)
        assert row["found"] is False
        assert row["why"].startswith(why)


def test_the_wrong_kit_is_named(photos, capsys):
    words = ("read", "cheight", "--camera", photos / "camera.toml", "--json", photos / "enrol.jpg")
    assert main([str(w) for w in words]) == 1
    (row,), _ = lines(capsys)
    assert "another mat is in view" in row["why"]


def test_bad_files_get_one_clear_line(photos, tmp_path, capsys):
    camera, enrol = photos / "camera.toml", photos / "enrol.jpg"
    broken = tmp_path / "broken.toml"
    broken.write_text("width_px = ", encoding="utf-8")
    cut = tmp_path / "cut.jpg"
    cut.write_bytes(enrol.read_bytes()[:20000])
    read = ("read", "domination", "--camera", camera)
    assert f"{broken}: is not TOML" in complaint(capsys, 2, "read", "domination", "--camera", broken, enrol)
    assert f"{cut}: is cut short" in complaint(capsys, 2, *read, cut)
    assert "none.jpg: cannot be read: No such file" in complaint(capsys, 2, *read, tmp_path / "none.jpg")
    assert "did you mean domination" in complaint(capsys, 2, "read", "dominatio", "--camera", camera, enrol)
    assert "has no pillars" in complaint(capsys, 2, *read, "--levels", "1,2", enrol)
    assert "camera.toml: kit is missing" in complaint(capsys, 2, *read, "--set", camera, enrol)


def test_a_camera_file_of_another_size(photos, tmp_path, capsys):
    small = tmp_path / "small.toml"
    text = (photos / "camera.toml").read_text(encoding="utf-8")
    small.write_text(text.replace("width_px = 1280", "width_px = 1920"), encoding="utf-8")
    assert main(["read", "domination", "--camera", str(small), "--json", str(photos / "enrol.jpg")]) == 1
    (row,), _ = lines(capsys)
    assert row["why"] == (
        "the picture is 1280 x 720 px, the camera file is for 1920 x 720 px; calibrate the lens at this size"
    )


def test_the_lens_is_found_from_the_board_itself(photos, tmp_path, capsys):
    words = ["--camera", "auto", "--set", str(photos / "set.toml"), "--json"]
    assert main(["read", "domination", *words, str(photos / "domination-b-103.jpg")]) == 0
    (row,), said = lines(capsys)
    assert said.startswith("lens from the board: focal length ")
    assert (row["cells"]["g3"]["height"], row["cells"]["g3"]["top"]) == (5, "R")
    blank = tmp_path / "blank.png"
    cv2.imwrite(str(blank), np.full((720, 1280, 3), 200, np.uint8))
    assert main(["read", "domination", *words, str(blank)]) == 1
    (row,), _ = lines(capsys)
    assert "the mat is not in view" in row["why"]


def test_a_board_that_looks_otherwise_is_said_and_not_trusted(photos, tmp_path, capsys):
    """In this kit the squares have another colour than on the board."""
    kit = Path("calibration/kits/domination.toml").read_text(encoding="utf-8")
    blue = tmp_path / "blue.toml"
    blue.write_text(re.sub(r'cell_colour = "#\w+"', 'cell_colour = "#203c96"', kit), encoding="utf-8")
    picture = str(photos / "domination-b-103.jpg")
    assert main(["read", str(blue), "--camera", str(photos / "camera.toml"), "--json", picture]) == 1
    (row,), _ = lines(capsys)
    assert row["warning"].startswith("the board looks otherwise than the kit says on ")
    assert row["warning"].endswith(": learn its look again (--empty), or correct the kit")
    assert "covered" not in row
    assert all(square["p"] < 0.9 for square in row["cells"].values())
    assert main(["read", str(blue), "--camera", str(photos / "camera.toml"), picture]) == 1
    assert "; the board looks otherwise than the kit says on " in capsys.readouterr().out


def test_a_sleeve_covers_squares_and_is_no_other_board(photos, tmp_path, capsys):
    image = cv2.imread(str(photos / "domination-b-103.jpg"))
    image[250:, 560:720] = (200, 40, 200)
    cv2.imwrite(str(tmp_path / "arm.png"), image)
    words = ["--camera", str(photos / "camera.toml"), "--set", str(photos / "set.toml"), "--json"]
    assert main(["read", "domination", *words, str(tmp_path / "arm.png")]) == 0
    (row,), _ = lines(capsys)
    assert len(row["covered"]) >= 3
    assert "warning" not in row


def test_a_board_without_colours_is_not_read_before_its_appearance_is_learned(photos, tmp_path, capsys):
    kit = Path("calibration/kits/domination.toml").read_text(encoding="utf-8")
    own = tmp_path / "own.toml"
    own.write_text(re.sub(r"(?m)^(cell|line)_colour = .*\n", "", kit), encoding="utf-8")
    words = ["read", str(own), "--camera", str(photos / "camera.toml"), str(photos / "domination-b-103.jpg")]
    assert main(words) == 2
    assert "the kit own names no colours of its board: learn how it looks" in capsys.readouterr().err


def test_a_board_that_shows_another_grid_is_not_trusted(photos, monkeypatch, capsys):
    monkeypatch.setattr("companion.commands.read.own_grid_fault", lambda *_: "the lines on the board lie aside")
    camera, set_file, shown = (str(photos / name) for name in ("camera.toml", "set.toml", "domination-b-107.jpg"))
    read = ["read", "domination", "--camera", camera, "--set", set_file, shown]
    assert main([*read, "--json"]) == 1
    assert lines(capsys)[0][0]["warning"] == "the lines on the board lie aside"
