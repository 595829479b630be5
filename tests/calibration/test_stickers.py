"""Marker stickers for a player's own board: true to scale, and found by the program."""

import cv2
import numpy as np
import pypdfium2
import pytest

from calibration.errors import ProfileError
from calibration.kit import available_kits, load_kit
from calibration.sheets import PAPERS
from calibration.stickers import DICTIONARY, FIRST_ID, LARGEST_MM, MOST, STICKER_MM, stickers_pdf
from companion.cli import main
from vision.pose.markers import detect

PX_PER_MM = 8


def found(data):
    """Return the page's markers by number, with their corners in mm."""
    (page,) = pypdfium2.PdfDocument(data)
    picture = page.render(scale=PX_PER_MM * 25.4 / 72).to_numpy()[..., :3]
    gray = cv2.cvtColor(np.ascontiguousarray(picture), cv2.COLOR_BGR2GRAY)
    return {number: corners / PX_PER_MM for number, (corners,) in detect(gray, DICTIONARY).items()}


@pytest.mark.parametrize("paper", sorted(PAPERS))
@pytest.mark.parametrize("marker_mm", [15.0, STICKER_MM, 40.0])
def test_every_sticker_is_found_at_its_size(paper, marker_mm):
    """All stickers on each paper are found at their size, within 0.1 mm."""
    markers = found(stickers_pdf(paper, marker_mm))
    assert sorted(markers) == list(range(FIRST_ID, FIRST_ID + MOST))
    sides = [np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1) for corners in markers.values()]
    assert np.array(sides) == pytest.approx(marker_mm, abs=0.1)


def test_large_stickers_are_fewer_and_all_on_the_page():
    """Two stickers of the largest size fit on A4."""
    markers = found(stickers_pdf("a4", LARGEST_MM))
    assert sorted(markers) == [FIRST_ID, FIRST_ID + 1]


def test_no_mat_has_their_numbers():
    """Sticker numbers differ from those of all mats."""
    others = {marker.id for name in available_kits() for marker in load_kit(name).mat.markers}
    assert others.isdisjoint(range(FIRST_ID, FIRST_ID + MOST))


@pytest.mark.parametrize("marker_mm", [0.0, float("nan"), float("inf"), 500.0])
def test_a_size_that_no_marker_has_is_refused(marker_mm):
    """Invalid sizes are refused."""
    with pytest.raises(ProfileError, match="--marker-mm must be 10 to 100"):
        stickers_pdf("a4", marker_mm)


def test_the_command_says_what_to_measure(tmp_path, capsys):
    """The command prints the size to be verified with a ruler."""
    file = tmp_path / "stickers.pdf"
    assert main(["mat", "stickers", "-o", str(file), "--marker-mm", "30"]) == 0
    assert len(found(file.read_bytes())) == MOST
    assert "a marker's black border 30 mm wide" in capsys.readouterr().out
