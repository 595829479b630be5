"""`companion calibrate` as a user calls it."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.appearance import nominal_appearance, read_appearance
from calibration.camera import read_camera
from calibration.kit import load_kit
from companion.cli import main
from tests.commands.conftest import complaint

pytestmark = pytest.mark.pictures


def test_a_camera_and_a_set_are_made_as_the_guide_says(examples, tmp_path, capsys):
    lens, photos = examples / "lens", examples / "photos"
    camera, set_file = tmp_path / "camera.toml", tmp_path / "set.toml"
    pictures = sorted(lens.glob("*.jpg"))
    assert main([str(w) for w in ("calibrate", "lens", *pictures, "--board", lens / "charuco.toml", "-o", camera)]) == 0
    said = capsys.readouterr().out
    assert "reprojection error 0." in said
    assert "over 5 photographs, focal length known to 0.12%: good" in said
    assert "the board was seen in 12 of 12 parts of the picture" in said
    assert "for a better lens" not in said
    enrolled = "--camera", photos / "camera.toml", photos / "enrol.jpg"
    words = ("calibrate", "pieces", "domination", *enrolled, "-o", set_file)
    assert main([str(w) for w in words]) == 0
    kit = load_kit("domination")
    learned, shipped = read_appearance(set_file, kit), read_appearance(photos / "set.toml", kit)
    for letter, colour in learned.pieces.items():
        assert colour == pytest.approx(shipped.pieces[letter], abs=0.005)


def test_a_weak_lens_calibration_says_what_is_missing(examples, tmp_path, capsys):
    lens = examples / "lens"
    words = ("calibrate", "lens", *sorted(lens.glob("*.jpg"))[:3], "--board", lens / "charuco.toml")
    assert main([str(w) for w in (*words, "-o", tmp_path / "camera.toml")]) == 0
    said = capsys.readouterr().out
    assert ": usable\n" in said
    assert "for a better lens: take more pictures with the board in the bottom right corner of" in said


def test_what_cannot_be_calibrated_is_one_clear_line(photos, tmp_path, capsys):
    camera, enrol = photos / "camera.toml", photos / "enrol.jpg"
    nowhere = tmp_path / "no" / "set.toml"
    words = ("calibrate", "pieces", "domination", "--camera", camera)
    black = tmp_path / "black.png"
    cv2.imwrite(str(black), np.zeros((720, 1280, 3), np.uint8))
    said = complaint(capsys, 2, *words, enrol, "--empty", black, "-o", nowhere)
    assert f"{black}: the picture is too dark" in said
    assert f"{nowhere}: cannot be written (No such file or directory); give another -o" in complaint(
        capsys, 2, *words, enrol, "-o", nowhere
    )
    other = photos / "domination-b-103.jpg"
    assert f"{other}: " in complaint(capsys, 2, *words, other, "-o", tmp_path / "s.toml")
    assert "0 of 1 photographs show" in complaint(capsys, 2, "calibrate", "lens", enrol, "-o", tmp_path / "c.toml")


def test_the_board_itself_tells_the_lens(examples, tmp_path, capsys):
    camera = tmp_path / "camera.toml"
    words = ("calibrate", "lens", "--kit", "domination", *sorted((examples / "photos").glob("*.jpg")), "-o", camera)
    assert main([str(w) for w in words]) == 0
    said = capsys.readouterr().out
    assert "over 3 photographs\nfocal length " in said
    assert "principal point known to " in said
    assert read_camera(camera).width_px == 1280


def test_markers_that_the_kit_does_not_have_are_named(examples, tmp_path, capsys):
    board = examples / "own-board" / "board.jpg"
    said = complaint(capsys, 2, "calibrate", "lens", "--kit", "domination", board, "-o", tmp_path / "camera.toml")
    assert f"{board}: another mat is in view (markers 20, 21, 22, 23 (DICT_5X5_100)); the kit domination has" in said


def test_what_a_photograph_shows_can_be_told(photos, tmp_path, capsys):
    set_file, enrol = tmp_path / "set.toml", photos / "enrol.jpg"
    words = ("calibrate", "pieces", "domination", "--camera", photos / "camera.toml", "-o", set_file)
    assert main([str(w) for w in (*words, "--layout", "4/6/8/2,R,G,B,Y,2/8/8/6/4", enrol)]) == 0
    assert read_appearance(set_file, load_kit("domination")).board is None
    capsys.readouterr()
    assert "no B lies uppermost in this layout" in complaint(
        capsys, 2, *words, "--layout", "4/6/8/2,R,G,1,Y,2/8/8/6/4", enrol
    )
    assert "one IMAGE shows the pieces, not 2" in complaint(capsys, 2, *words, enrol, enrol)


def test_what_was_not_found_and_what_is_hardly_told_apart_is_said(photos, tmp_path, capsys, monkeypatch):
    set_file, enrol = tmp_path / "set.toml", photos / "enrol.jpg"
    learned = replace(nominal_appearance(load_kit("domination")), not_found=("Y",), alike=("BG",))
    monkeypatch.setattr("companion.commands.calibrate.enrol", lambda *_: learned)
    words = ("calibrate", "pieces", "domination", "--camera", photos / "camera.toml", enrol, "-o", set_file)
    assert main([str(word) for word in words]) == 0
    said = capsys.readouterr().out
    assert "not found: Y on" in said
    assert "B and G are hardly told apart by their colours here" in said
    assert f"learned {len(learned.pieces) - 1} kinds of pieces" in said
