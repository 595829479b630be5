"""Veiling glare: a hazy picture is read like a clear one, and a clear one is left as it is."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.appearance import format_appearance, nominal_appearance, read_appearance
from calibration.errors import ProfileError
from calibration.kit import load_kit
from tests.vision.appearance.test_specular import photograph
from tools.photographs import hazy
from vision.appearance.veiling_glare import VeilingGlare, measure_black
from vision.capture.frames import Frame
from vision.enrolment import enrol, learn_empty_board
from vision.pose.registration import register, to_gray
from vision.reader import Reader

SHOWN = {"a2": "R", "c3": "YB", "d5": "B", "e4": "GGR", "f6": "Y", "g2": "B"}
"""Stacks on squares of Domination."""


@pytest.fixture(scope="module")
def scene():
    """Return a picture of :data:`SHOWN`, the kit, the camera, the pose and the light share of the markers' black."""
    image, kit, camera = photograph("domination", 3, SHOWN)
    pose = register(to_gray(image), kit, camera)
    return image, kit, camera, pose, measure_black(image, kit, pose, camera)


@pytest.mark.parametrize("veil", [0.06, 0.15])
def test_the_haze_of_a_picture_is_removed(scene, veil):
    """What is left differs from the clear picture by two codes in the median, and the hazy one by at least ten."""
    image, kit, camera, pose, black = scene
    added = hazy(image, veil)
    unsaturated = (added < 250) & (image > 20)
    cleared = VeilingGlare(kit, black).remove(added, pose, camera)
    assert np.median(np.abs(added.astype(int) - image)[unsaturated]) >= 10
    assert np.median(np.abs(cleared.astype(int) - image)[unsaturated]) <= 2


def test_a_clear_picture_is_left_as_it_is(scene):
    """So is a hazy one if the share of black is not known, or fewer than two markers are visible."""
    image, kit, camera, pose, black = scene
    added = hazy(image, 0.15)
    assert VeilingGlare(kit, black).remove(image, pose, camera) is image
    assert VeilingGlare(kit, None).remove(added, pose, camera) is added
    for markers in (pose.markers[:1], ()):
        alone = replace(pose, markers=markers)
        assert VeilingGlare(kit, black).remove(added, alone, camera) is added
        assert measure_black(image, kit, alone, camera) is None


def test_a_picture_slightly_out_of_focus_is_not_hazy(scene):
    """White modules that blur into black ones are no veiling glare."""
    image, kit, camera, pose, black = scene
    blurred = np.asarray(cv2.GaussianBlur(image, (0, 0), 1.0), np.uint8)
    assert VeilingGlare(kit, black).remove(blurred, pose, camera) is blurred


def test_a_lamp_on_one_marker_is_no_haze(scene):
    """The marker with the least glare counts, as haze is everywhere."""
    image, kit, camera, pose, black = scene
    lit = image.copy()
    half = image.shape[1] // 2
    lit[:, :half] = hazy(image, 0.2)[:, :half]
    assert VeilingGlare(kit, black).remove(lit, pose, camera) is lit


def test_a_hazy_picture_is_read_as_the_clear_one(scene):
    """Every cell has the probability that it has in the clear picture, up to 0.05; left hazy, some do not."""
    image, kit, camera, _, black = scene
    photo, *_ = photograph("domination", 3, kit.enrol)
    appearance = enrol(photo, kit, camera)
    assert appearance.black == pytest.approx(black, abs=0.02)
    readers = Reader(kit, camera, appearance), Reader(kit, camera, replace(appearance, black=None))
    clear, (cleared, veiled) = (
        readers[0].read(Frame(image, 0, 0.0)),
        (reader.read(Frame(hazy(image, 0.25), 0, 0.0)) for reader in readers),
    )
    for cell, name in enumerate(kit.cells):
        state, p = clear.best(cell)
        assert state == (len(SHOWN.get(name, "")), SHOWN.get(name, "")[-1:] or None)
        assert cleared.best(cell) == (state, pytest.approx(p, abs=0.05))
    assert any(veiled.best(cell) != clear.best(cell) for cell in range(len(kit.cells)))


def test_the_haze_of_a_picture_of_the_empty_board_is_not_learned(scene):
    """A board learned from a hazy picture is as dark where it is dark as one from a clear picture, within 0.02."""
    _, kit, camera, _, black = scene
    bare, *_ = photograph("domination", 3, {})
    clear, veiled, uncleared = (
        learn_empty_board([picture], kit, camera, share)
        for picture, share in ((bare, black), (hazy(bare, 0.15), black), (hazy(bare, 0.15), None))
    )
    dark = (clear.seen > 0) & (clear.colour.max(axis=2) < 0.3)
    assert np.median(np.abs(veiled.colour - clear.colour)[dark]) < 0.02
    assert np.median(np.abs(uncleared.colour - clear.colour)[dark]) > 0.04


def test_the_share_of_black_is_kept_in_the_file_of_the_set(tmp_path):
    """It is read back as written; one that is out of range, or no colour, is refused in one line."""
    kit, path = load_kit("domination"), tmp_path / "set.toml"
    text = format_appearance(replace(nominal_appearance(kit), black=(0.02, 0.03, 0.04)))
    path.write_text(text)
    assert read_appearance(path, kit).black == (0.02, 0.03, 0.04)
    for wrong in ("[1.5, 0.0, 0.0]", "[0.1, 0.1]", '"black"'):
        path.write_text(text.replace("[0.0200, 0.0300, 0.0400]", wrong))
        with pytest.raises(ProfileError, match="black"):
            read_appearance(path, kit)
