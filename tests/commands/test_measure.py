"""`companion measure`: from a photograph of a player's own board to a kit for reading it."""

from dataclasses import replace
from unittest.mock import Mock

import cv2
import numpy as np
import pytest

from calibration.board_lens import calibrate_on_board
from calibration.kit import load_kit, read_kit
from calibration.picture import load_picture
from companion.app.ground import parse_layout
from companion.cli import main
from companion.commands.measure import pieces_report
from companion.own_board import appearance_fault
from companion.simulate.viewpoint import default_camera
from vision.capture.frames import Frame
from vision.enrolment import enrol
from vision.errors import VisionError
from vision.reader import Reader
from vision.sizing.sizes import Sizes

pytestmark = pytest.mark.pictures

CORNERS = ("322,398", "811,616", "982,207", "567,71")
"""Corners of the playing field in the photographs of a player's draughts board, as a person would click them."""


@pytest.mark.slow
def test_a_board_is_measured_and_read(shared, tmp_path, capsys):
    photos, file = shared / "draughts" / "photos", tmp_path / "mine.toml"
    words = ["measure", "draughts", str(photos / "empty.jpg"), "--field", *CORNERS, "--side-mm", "288", "-o", str(file)]
    assert main([*words, "--piece-mm", "30,8.8", "--dictionary", "DICT_5X5_100"]) == 0
    assert "markers 13, 27, 51, 80; 64 squares of 36.0 x 36.0 mm" in capsys.readouterr().out
    kit = read_kit(file)
    camera = calibrate_on_board((photos / "empty.jpg",), kit).camera
    empty, start = load_picture(photos / "empty.jpg"), load_picture(photos / "start.jpg")
    layout = parse_layout("start", kit)
    reading = Reader(kit, camera, enrol(start, kit, camera, (), layout, [empty])).read(Frame(start, 0, 0.0))
    seen = {cell: reading.best(i)[0] for i, cell in enumerate(reading.cells)}
    assert seen == {cell: (1, layout[cell]) if cell in layout else (0, None) for cell in kit.cells}


@pytest.mark.slow
def test_the_start_position_tells_how_large_pieces_are(shared, tmp_path, capsys):
    photos, file = shared / "draughts" / "photos", tmp_path / "mine.toml"
    words = ["measure", "draughts", str(photos / "empty.jpg"), "--field", *CORNERS, "--side-mm", "288", "-o", str(file)]
    assert main([*words, "--pieces", str(photos / "start.jpg"), "--dictionary", "DICT_5X5_100"]) == 0
    assert "pieces look " in capsys.readouterr().out
    truth = read_kit(photos / "kit.toml").pieces[0]
    for kind in read_kit(file).pieces:
        assert abs(kind.width_mm - truth.width_mm) < 0.04 * truth.width_mm
        assert abs(kind.height_mm - truth.height_mm) < 0.08 * truth.height_mm


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--side-mm", "0"], "is no length"),
        (["--side-mm", "1,2,3"], "give one length or two"),
        (["--side-mm", "288", "--marker-mm", "25"], "not allowed with"),
        (["--piece-mm", "R=30,x"], "'x' is no length"),
        (["--piece-mm", "30,8", "--pieces", "start.jpg"], "not allowed with"),
        (["--dictionary", "DICT_APRILTAG_36h12"], "did you mean DICT_APRILTAG_36h1"),
        (["--files", "-3"], "1 to 26 files"),
    ],
)
def test_what_cannot_be_is_one_line(examples, tmp_path, capsys, more, said):
    photo = str(examples / "photos" / "enrol.jpg")
    words = ["measure", "domination", photo, "--field", *CORNERS, "-o", str(tmp_path / "kit.toml"), *more]
    try:
        code = main(words)
    except SystemExit as end:
        code = end.code
    assert code == 2
    assert said in capsys.readouterr().err


def test_corners_are_pairs(examples, tmp_path, capsys):
    photo = str(examples / "photos" / "enrol.jpg")
    with pytest.raises(SystemExit):
        main(["measure", "domination", photo, "--field", "1,2", "3", "4,5", "6,7", "-o", str(tmp_path / "kit.toml")])
    assert "'3' is not a pair of numbers" in capsys.readouterr().err


def test_a_board_without_files_is_refused(examples, tmp_path, capsys):
    photo = str(examples / "photos" / "enrol.jpg")
    words = ["measure", "domination", photo, "--field", *CORNERS, "-o", str(tmp_path / "kit.toml")]
    assert main([*words, "--files", "0"]) == 2
    assert "a board has 1 to 26 files" in capsys.readouterr().err


def test_a_board_without_stickers_is_refused(tmp_path, capsys):
    photo = str(tmp_path / "blank.png")
    cv2.imwrite(photo, np.full((720, 1280, 3), 200, np.uint8))
    words = ["measure", "domination", photo, "--field", *CORNERS, "-o", str(tmp_path / "kit.toml")]
    assert main(words) == 2
    assert "too few markers are seen (0); stick four or more" in capsys.readouterr().err


def test_stickers_of_another_dictionary_are_named(tmp_path, capsys, examples):
    photo = str(examples / "own-board" / "board.jpg")
    words = ["measure", "domination", photo, "--field", *CORNERS, "-o", str(tmp_path / "kit.toml")]
    assert main([*words, "--dictionary", "DICT_7X7_250"]) == 2
    said = capsys.readouterr().err
    assert "the board shows markers 20, 21, 22, 23 (DICT_5X5_100), not of DICT_7X7_250: say --dictionary" in said


def test_sizes_that_nobody_told_are_asked_for():
    ziggurat, citadel, discs = (load_kit(name) for name in ("ziggurat", "citadel", "draughts"))
    dwarfs, queens = pieces_report(ziggurat, {"D": (20.0, 35.0), "d": (20.0, 35.0)})[::-1][:2]
    assert queens.endswith("Qq are taken to be 25.4 x 44.5 mm: measure one, and say it by --piece-mm Qq=25.4,44.5")
    assert dwarfs.startswith("pieces Ww are taken")
    assert pieces_report(citadel, {})[0].endswith(
        "pieces are taken to be 20 mm: measure one, and say it by --piece-mm 20"
    )
    assert pieces_report(citadel, {"": (18.0, None)}) == []
    assert len(pieces_report(discs, {}, [Sizes("WB", 27.0, 0.5, 7.0, 0.4)])) == 1
    unsure = pieces_report(discs, {}, [Sizes("WB", 27.0, 0.5, 7.0, 0.6)])
    assert unsure[1] == "the picture does not tell it well enough"
    assert len(unsure) == 3


def test_sizes_that_a_photograph_tells_are_said_by_their_letters():
    ziggurat, citadel = load_kit("ziggurat"), load_kit("citadel")
    assert pieces_report(citadel, {}, [Sizes("RB", 19.8, 0.5, 19.8, 0.5)]) == ["pieces look 19.8 mm wide, to 0.5 mm"]
    queens, dwarfs = Sizes("Qq", 25.1, 0.6, 44.3, 1.2), Sizes("Dd", 19.7, 0.5, 35.0, 3.0)
    lines = pieces_report(ziggurat, {}, [queens, dwarfs])
    assert lines[0] == "pieces Qq look 25.1 mm wide, to 0.6 mm, and 44.3 mm high, to 1.2 mm"
    assert lines[2] == "the picture does not tell it well enough"
    assert [line[:9] for line in lines[3:]] == ["pieces Dd", "pieces Ww"]
    assert pieces_report(citadel, {}, [])[0] == "the picture does not tell it well enough"


def test_a_board_whose_appearance_cannot_be_learned_is_said(monkeypatch):
    kit = load_kit("draughts")
    own = replace(kit, board=replace(kit.board, cell_colour=None))
    few = replace(own, mat=replace(own.mat, markers=own.mat.markers[:2]))
    monkeypatch.setattr("companion.own_board.learn_empty_board", Mock(side_effect=VisionError("too dark")))
    camera, picture = default_camera(), np.zeros((720, 1280, 3), np.uint8)
    assert appearance_fault(own, camera, picture) == "too dark"
    assert appearance_fault(few, camera, picture).startswith("2 markers do not tell the light")
    assert appearance_fault(kit, camera, picture) == ""
