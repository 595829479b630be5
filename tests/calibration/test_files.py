"""Camera and set files: what is written can be read back, and broken files give a one-line error."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.appearance import (
    RIM_STEPS,
    SetAppearance,
    format_appearance,
    linear,
    nominal_appearance,
    read_appearance,
)
from calibration.camera import Camera, format_camera, read_camera
from calibration.errors import ProfileError
from calibration.kit import load_kit
from calibration.markers import dictionary, marker_count

CAMERA = Camera(
    1280, 720, np.array([[1024.25, 0, 646.5], [0, 1025.75, 353.25], [0, 0, 1]]), np.array([-0.045, 0.01, 0, 0, 0]), 0.12
)


def test_a_camera_reads_back(tmp_path):
    """A camera survives a round trip."""
    path = tmp_path / "camera.toml"
    path.write_text(format_camera(CAMERA), encoding="utf-8")
    again = read_camera(path)
    assert (again.width_px, again.height_px, again.reprojection_px) == (1280, 720, 0.12)
    np.testing.assert_allclose(again.matrix, CAMERA.matrix, atol=1e-6)
    np.testing.assert_allclose(again.distortion, CAMERA.distortion, atol=1e-8)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("width_px = 1280", "width_px = 0", "must be greater than zero"),
        ("distortion = [", "distortion = [1.0, ", "distortion must be 5 finite numbers"),
        ("matrix = [1024.250000", "matrix = [inf", "must be 9 finite numbers"),
        ("reprojection_px", "error_px", "reprojection_px is missing"),
        ("reprojection_px = 0.12", "reprojection_px = -5", "reprojection_px must be 0 or more"),
        ("reprojection_px = 0.1200", "reprojection_px = nan", "reprojection_px must be a finite number"),
        ("width_px = 1280", f"width_px = {10**400}", "width_px must be a finite number"),
        ("646.5", "6460.5", "the middle of the lens must lie in the picture"),
        ("distortion = [-0.045", "distortion = [-9.0", "no lens has this distortion"),
        ("distortion = [-0.045", "distortion = [1000", "no lens has this distortion"),
        ("0.01000000, 0.0", "0.01000000, 7.0", "no lens has this distortion"),
        ("0.000000, 0.000000, 1.000000]", "0.000000, 0.000000, 2.000000]", "matrix must be"),
    ],
)
def test_a_broken_camera_file_is_one_line(tmp_path, old, new, said):
    """Each error in a camera file gives its message."""
    path = tmp_path / "camera.toml"
    text = format_camera(CAMERA)
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ProfileError, match=said):
        read_camera(path)


shares = st.floats(0, 1).map(lambda v: round(v, 4))


@given(
    st.lists(st.tuples(shares, shares, shares), min_size=5, max_size=5, unique=True),
    st.lists(shares, min_size=6, max_size=6),
)
def test_a_set_reads_back(tmp_path_factory, colours, rim):
    """Any set survives a round trip."""
    kit = load_kit("domination")
    letters = [kind.letter for kind in kit.pieces]
    appearance = SetAppearance("domination", colours[4], dict(zip(letters, colours[:4], strict=True)), tuple(rim))
    path = tmp_path_factory.getbasetemp() / "appearance.toml"
    path.write_text(format_appearance(appearance), encoding="utf-8")
    assert read_appearance(path, kit) == appearance


def test_a_set_of_another_kit_is_refused(tmp_path):
    """A set enrolled for another kit is refused."""
    path = tmp_path / "set.toml"
    path.write_text(format_appearance(nominal_appearance(load_kit("citadel"))), encoding="utf-8")
    with pytest.raises(ProfileError, match="enrolled for the kit 'citadel', not 'domination'"):
        read_appearance(path, load_kit("domination"))


def test_a_set_with_nonsense_numbers_is_refused(tmp_path):
    """Arrays of the wrong length are refused."""
    text = format_appearance(nominal_appearance(load_kit("domination")))
    path = tmp_path / "set.toml"
    path.write_text(text.replace("floor = [", "floor = [-1, "), encoding="utf-8")
    with pytest.raises(ProfileError, match="floor must be 3 finite numbers"):
        read_appearance(path, load_kit("domination"))
    path.write_text(text.replace("rim = [", "rim = [9, "), encoding="utf-8")
    with pytest.raises(ProfileError, match=f"rim must be {RIM_STEPS} finite numbers"):
        read_appearance(path, load_kit("domination"))


def test_a_set_of_which_two_colours_are_one_is_refused(tmp_path):
    """A set in which two kinds of pieces have the same colour is refused."""
    kit = load_kit("domination")
    appearance = nominal_appearance(kit)
    path = tmp_path / "set.toml"
    pieces = {**appearance.pieces, "R": appearance.pieces["G"]}
    path.write_text(format_appearance(replace(appearance, pieces=pieces)), encoding="utf-8")
    with pytest.raises(ProfileError, match="R and G have one colour"):
        read_appearance(path, kit)


def test_nothing_is_less_than_zero_by_its_sign(tmp_path):
    """Negative zero is read as zero."""
    path = tmp_path / "set.toml"
    text = format_appearance(nominal_appearance(load_kit("domination")))
    begun = text.index("floor = [") + len("floor = [")
    path.write_text(text[:begun] + "-0.0" + text[text.index(",", begun) :], encoding="utf-8")
    assert np.copysign(1.0, read_appearance(path, load_kit("domination")).floor[0]) == 1.0


def test_linear_light_of_srgb():
    """Codes of sRGB are converted to linear light."""
    assert linear((0, 255, 128)) == pytest.approx((0, 1, 0.2158605), abs=1e-6)


def test_dictionaries_have_the_names_of_opencv():
    """An unknown dictionary is refused with the nearest name."""
    assert dictionary("DICT_APRILTAG_36h11").markerSize == 6
    with pytest.raises(ProfileError, match="did you mean DICT_APRILTAG_36"):
        dictionary("DICT_APRILTAG_36h12")


@pytest.mark.parametrize("name", sorted({name for name in dir(cv2.aruco) if name.startswith("DICT_")}))
def test_every_dictionary_has_as_many_markers_as_opencv_says(name):
    """The stated number of markers agrees with OpenCV's."""
    assert marker_count(name, "mat") == len(dictionary(name).bytesList)
