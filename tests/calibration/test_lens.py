"""Lens calibration from photographs of a ChArUco board."""

import json

import cv2
import numpy as np
import pytest

from calibration.errors import ProfileError
from calibration.lens import calibrate_lens, corner_coverage, find_board, read_board
from calibration.picture import load_picture


def photos(folder):
    """Return the photographs in a folder, sorted."""
    return tuple(sorted(folder.glob("*.jpg")))


def test_few_photographs_give_a_lens(examples):
    """Five photographs give the focal length within 0.5 %, and cover the whole picture."""
    result = calibrate_lens(photos(examples / "lens"), read_board(examples / "lens" / "charuco.toml"))
    assert result.camera.reprojection_px < 0.2
    assert result.camera.matrix[0, 0] == pytest.approx(1024.2, rel=0.005)
    assert len(result.used) == 5
    assert result.coverage.all()


def test_photographs_without_the_board_are_left_out_and_named(examples, tmp_path):
    """Photographs without the board are skipped and listed."""
    blank = tmp_path / "blank.jpg"
    cv2.imwrite(str(blank), np.full((720, 1280, 3), 200, np.uint8))
    result = calibrate_lens((blank, *photos(examples / "lens")), read_board(examples / "lens" / "charuco.toml"))
    assert [path for path, _ in result.skipped] == [blank]


def test_too_few_photographs_are_refused(examples):
    """Fewer than three usable photographs are refused."""
    with pytest.raises(ProfileError, match="only 2 of 2 photographs show the calibration board; 3 are needed"):
        calibrate_lens(photos(examples / "lens")[:2], read_board(examples / "lens" / "charuco.toml"))


def test_photographs_of_two_sizes_are_refused(examples, tmp_path):
    """Photographs of different sizes are refused."""
    small = tmp_path / "small.jpg"
    cv2.imwrite(str(small), cv2.resize(cv2.imread(str(photos(examples / "lens")[0])), (640, 360)))
    with pytest.raises(ProfileError, match=r"small\.jpg: is 640 x 360 px, the others 1280 x 720 px"):
        calibrate_lens((*photos(examples / "lens"), small), read_board(examples / "lens" / "charuco.toml"))


def test_a_board_whose_markers_fill_its_squares_is_refused(tmp_path, examples):
    """A board with markers as large as its squares is refused."""
    path = tmp_path / "board.toml"
    text = (examples / "lens" / "charuco.toml").read_text(encoding="utf-8")
    path.write_text(text.replace("marker_mm = 22.0", "marker_mm = 30.0"), encoding="utf-8")
    with pytest.raises(ProfileError, match="markers smaller than its squares"):
        read_board(path)


@pytest.mark.parametrize("rig", ["a", "b"])
def test_the_lens_is_found_as_it_really_is(shared, rig):
    """Projections with the calibrated lens agree with the true one within 1 px, after a common shift."""
    folder = shared / "photos" / f"lens-{rig}"
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    camera = calibrate_lens(photos(folder), read_board(folder / "charuco.toml")).camera
    seen = [
        cv2.projectPoints(grid(), np.zeros(3), np.zeros(3), np.array(matrix), np.array(distortion))[0].reshape(-1, 2)
        for matrix, distortion in ((truth["K"], truth["dist"]), (camera.matrix, camera.distortion))
    ]
    # Lens and pose can trade a shift of the principal point for a tilt: 0.5 mrad in a picture 1.1 rad wide.
    middle = (seen[1] - seen[0]).mean(axis=0)
    assert np.abs(middle).max() < 2.0
    assert np.abs(seen[1] - seen[0] - middle).max() < 1.0


def grid():
    """Return rays (63, 3) that cover the picture."""
    x, y = np.meshgrid(np.linspace(-0.55, 0.55, 9), np.linspace(-0.32, 0.32, 7))
    return np.column_stack([x.ravel(), y.ravel(), np.ones(x.size)])


def test_the_board_is_found_in_one_picture(examples):
    """The board is found in one photograph, and not in a blank picture."""
    board = read_board(examples / "lens" / "charuco.toml")
    corners = find_board(load_picture(examples / "lens" / "lens-a-00.jpg"), board)
    assert corners.shape[1] == 2
    assert corner_coverage([corners], (1280, 720)).any()
    assert find_board(np.full((720, 1280, 3), 200, np.uint8), board) is None
