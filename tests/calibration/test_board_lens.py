"""Lens calibration from the markers of a board."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.board_lens import USABLE_FOCAL, Sighting, calibrate_on_board, find_lens, find_markers
from calibration.camera import read_camera
from calibration.errors import ProfileError
from calibration.kit import load_kit
from calibration.picture import load_picture
from companion.simulate.viewpoint import default_camera, default_pose
from vision.pose.projection import project


def test_the_board_itself_tells_the_lens(examples):
    """Focal length and principal point from the example photographs are correct within the stated errors."""
    photos = tuple(sorted((examples / "photos").glob("*.jpg")))
    result = calibrate_on_board(photos, load_kit("domination"))
    true = read_camera(examples / "photos" / "camera.toml")
    focal = result.camera.matrix[0, 0]
    assert result.used == photos
    assert result.camera.reprojection_px < 0.5
    assert result.focal_deviation < USABLE_FOCAL
    assert abs(np.log(focal / true.matrix[0, 0])) < 3 * result.focal_deviation
    assert np.abs(result.camera.matrix[:2, 2] - true.matrix[:2, 2]).max() < 3 * result.centre_deviation_px


@pytest.mark.parametrize("inward_px", [0.0, 0.45])
def test_corners_that_blur_rounds_are_no_distortion(inward_px: float):
    """Blur rounds a corner, which seems to move all corners of a marker towards its centre."""
    kit, true = load_kit("domination"), default_camera()
    board_mm = np.array([(*corner, 0.0) for marker in kit.mat.markers for corner in marker.corners_mm])
    markers = project(board_mm, default_pose(kit, true), true).reshape(-1, 4, 2)
    out = markers - markers.mean(axis=1, keepdims=True)
    seen = (markers - inward_px * out / np.linalg.norm(out, axis=2, keepdims=True)).reshape(-1, 2)
    found = find_lens([Sighting(np.arange(len(seen)), seen, true.size)], kit).camera
    assert found.distortion[0] == pytest.approx(true.distortion[0], abs=0.01)


def test_a_board_seen_from_straight_above_does_not_tell_the_focal_length(tmp_path):
    """A view from directly above gives a focal length too uncertain to be used."""
    kit = load_kit("domination")
    picture, px_per_mm = np.full((720, 1280, 3), 230, np.uint8), 2.2
    for marker in kit.mat.markers:
        size = round(kit.mat.marker_mm * px_per_mm)
        drawn = cv2.aruco.generateImageMarker(
            cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_APRILTAG_36h11), marker.id, size
        )
        left, top = (
            round(640 + marker.at_mm[0] * px_per_mm - size / 2),
            round(360 - marker.at_mm[1] * px_per_mm - size / 2),
        )
        picture[top : top + size, left : left + size] = drawn[..., None]
    above = tmp_path / "above.png"
    cv2.imwrite(str(above), picture)
    assert calibrate_on_board((above,), kit).focal_deviation > USABLE_FOCAL


def test_a_photograph_without_the_board_is_left_out_and_one_at_least_must_show_it(examples, tmp_path):
    """Photographs without the board are skipped; if none shows it, an error is raised."""
    kit, blank = load_kit("domination"), tmp_path / "blank.png"
    cv2.imwrite(str(blank), np.full((720, 1280, 3), 200, np.uint8))
    result = calibrate_on_board((blank, examples / "photos" / "enrol.jpg"), kit)
    assert [path for path, _ in result.skipped] == [blank]
    with pytest.raises(
        ProfileError, match=r"none of 1 photographs shows two of the board's markers; .*blank.png: fewer"
    ):
        calibrate_on_board((blank,), kit)


def test_photographs_of_two_sizes_are_refused(examples, tmp_path):
    """Photographs of different sizes are refused."""
    small = tmp_path / "small.png"
    cv2.imwrite(str(small), np.zeros((360, 640, 3), np.uint8))
    with pytest.raises(ProfileError, match="is 640 x 360 px, the others 1280 x 720 px"):
        calibrate_on_board((examples / "photos" / "enrol.jpg", small), load_kit("domination"))


def with_stickers(kit):
    """Return a kit whose markers were stuck on by hand and measured."""
    markers = tuple(replace(marker, is_measured=True) for marker in kit.mat.markers)
    return replace(kit, mat=replace(kit.mat, markers=markers))


def test_measured_markers_are_trusted_less_than_printed_ones(examples):
    """The focal length from measured markers is less certain than from printed ones."""
    kit = load_kit("domination")
    photo = load_picture(examples / "photos" / "enrol.jpg")
    # Leave out the search for square lines, which makes up for the lower accuracy of measured markers.
    printed, ruled = (
        find_lens([replace(find_markers(photo, one), gray=None)], one) for one in (kit, with_stickers(kit))
    )
    assert ruled.focal_deviation > printed.focal_deviation


def test_stickers_are_looked_for_apart_from_a_dark_table_until_two_are_seen(examples, monkeypatch):
    """One whole sticker does not fix the board's place, so that a board of which it was the only one was refused."""
    kit = with_stickers(load_kit("domination"))
    photo = load_picture(examples / "photos" / "enrol.jpg")
    cut, seen = photo.copy(), find_markers(photo, kit).pixels.reshape(-1, 4, 2)
    for corners in seen[1:]:
        cv2.fillConvexPoly(cut, np.rint(corners).astype(np.int32), (90, 90, 90))
    monkeypatch.setattr("calibration.board_lens.align_markers", lambda _gray, _mat, once, _camera: once)
    monkeypatch.setattr("calibration.board_lens.apart_from_table", lambda _: [cv2.cvtColor(photo, cv2.COLOR_BGR2GRAY)])
    assert find_markers(cut, kit).pixels == pytest.approx(seen.reshape(-1, 2), abs=0.5)
    monkeypatch.setattr("calibration.board_lens.apart_from_table", lambda _: [])
    assert not find_markers(cut, kit).is_enough
