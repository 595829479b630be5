"""`companion mat` as a user calls it."""

import pypdfium2
import pytest

from calibration.kit import KITS, available_kits
from companion.cli import main


@pytest.mark.parametrize("name", available_kits())
def test_a_mat_is_written_at_true_size(name, tmp_path, capsys):
    file = tmp_path / "mat.pdf"
    assert main(["mat", name, "-o", str(file)]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"written: {file}, 1 sheet of A3\n")
    assert "print it at 100 %" in out
    (page,) = pypdfium2.PdfDocument(file)
    assert [points * 25.4 / 72 for points in page.get_size()] == pytest.approx([420, 297], abs=0.01)
    text = page.get_textpage().get_text_range()
    assert f"{name}: print at 100 %; this line is 100 mm long" in text


@pytest.mark.parametrize(("name", "first"), [("citadel", "1 2 2 1"), ("diamond", "a b c d e")])
def test_the_levels_of_terrain_are_printed_those_of_pillars_not(name, first, tmp_path):
    file = tmp_path / "mat.pdf"
    assert main(["mat", name, "-o", str(file)]) == 0
    (page,) = pypdfium2.PdfDocument(file)
    assert page.get_textpage().get_text_range().startswith(f"{first}\r\n")


def test_two_sheets_of_a4(tmp_path, capsys):
    file = tmp_path / "mat.pdf"
    assert main(["mat", "citadel", "-o", str(file), "--paper", "a4"]) == 0
    assert "2 sheets of A4" in capsys.readouterr().out
    pages = list(pypdfium2.PdfDocument(file))
    assert len(pages) == 2
    assert "cut along the dashed line" in pages[0].get_textpage().get_text_range()
    assert all("this line is 100 mm long" in page.get_textpage().get_text_range() for page in pages)


def test_what_cannot_be_printed_says_why(tmp_path, capsys):
    own = tmp_path / "own.toml"
    text = (KITS / "domination.toml").read_text(encoding="utf-8")
    own.write_text(text.replace("pitch_mm = 33.0", "pitch_mm = 43.0"), encoding="utf-8")
    for words, said in (
        ((own, "-o", tmp_path / "m.pdf"), "kit own: square b7 leaves the sheet of 420 x 297 mm; move it or enlarge"),
        (("dominaton", "-o", tmp_path / "m.pdf"), "did you mean domination?"),
        (
            ("domination", "-o", tmp_path / "no" / "m.pdf"),
            "m.pdf: cannot be written (No such file or directory); give another -o",
        ),
    ):
        assert main(["mat", *map(str, words)]) == 2
        err = capsys.readouterr().err
        assert said in err
        assert err.count("\n") == 1
    assert not (tmp_path / "m.pdf").exists()


def test_the_board_for_the_lens(tmp_path, examples, capsys):
    file = tmp_path / "board.pdf"
    assert main(["mat", "charuco", "-o", str(file), "--paper", "a4"]) == 0
    assert "a square 30 mm wide" in capsys.readouterr().out
    (page,) = pypdfium2.PdfDocument(file)
    assert "charuco: print at 100 %; this line is 100 mm long" in page.get_textpage().get_text_range()
    board = examples / "lens" / "charuco.toml"
    assert main(["mat", "charuco", "-o", str(file), "--board", str(board)]) == 0
    assert main(["mat", "charuco", "-o", str(file), "--board", str(tmp_path / "none.toml")]) == 2
    assert "none.toml: cannot be read" in capsys.readouterr().err
