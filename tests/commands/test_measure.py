"""`companion measure`: from a photograph of an own board to a kit that its photographs are read with."""

import pytest

from calibration.board_lens import calibrate_on_board
from calibration.kit import read_kit
from calibration.picture import load_picture
from companion.app.ground import parse_layout
from companion.cli import main
from vision.capture.frames import Frame
from vision.enrolment import enrol
from vision.reader import Reader

CORNERS = ("322,398", "811,616", "982,207", "567,71")
"""Of the field in the photographs of somebody's draughts board, as a person would click them."""


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
        (["--piece-mm", "30"], "give width and height"),
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


def test_a_board_without_stickers_is_refused(tmp_path, capsys, examples):
    photo = str(examples / "photos" / "enrol.jpg")
    words = ["measure", "domination", photo, "--field", *CORNERS, "-o", str(tmp_path / "kit.toml")]
    assert main([*words, "--dictionary", "DICT_4X4_50"]) == 2
    assert "too few markers are seen (0); stick four or more" in capsys.readouterr().err
