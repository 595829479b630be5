"""Pictures of the simulated camera."""

from __future__ import annotations

import random

import cv2
import numpy as np
import pytest

from calibration.kit import load_kit
from calibration.markers import dictionary
from companion.simulate.hand import SKINS, SLEEVES, Hand, with_hand
from companion.simulate.light import LIGHTS, WINDOW, to_linear, to_srgb
from companion.simulate.placement import LEAN_MM, OFF_CENTRE_MM, STEP_MM, PlacedPiece, Setup, rearranged, set_up
from companion.simulate.render import Renderer
from companion.simulate.sprite import Scene
from companion.simulate.viewpoint import default_camera, default_pose
from vision.pose.projection import project
from vision.pose.registration import marker_corners, register
from vision.scene.solids import hull, pieces

pytestmark = pytest.mark.pictures

KIT = load_kit("domination")
CAMERA = default_camera()
POSE = default_pose(KIT)
EMPTY = ("",) * len(KIT.cells)


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    """Return a renderer of the Domination table, lit by the window."""
    return Renderer(Scene(KIT, CAMERA, POSE, WINDOW))


def stacks(**named: str) -> tuple[str, ...]:
    """Return the stacks of all cells; those not named are empty."""
    return tuple(named.get(cell, "") for cell in KIT.cells)


def exact(piles: tuple[str, ...], levels: tuple[int, ...] | None = None) -> Setup:
    """Return a set-up with every piece exactly at the centre of its cell."""
    return Setup(tuple(tuple(PlacedPiece(letter, (0.0, 0.0), 0.0, 0.0) for letter in pile) for pile in piles), levels)


@pytest.mark.parametrize("light", LIGHTS)
@pytest.mark.parametrize("name", ["domination", "citadel"])
def test_markers_are_found_where_they_are(name: str, light: str) -> None:
    """OpenCV finds exactly the kit's markers, with corners within half a pixel of their projections."""
    kit = load_kit(name)
    pose = default_pose(kit)
    picture = Renderer(Scene(kit, CAMERA, pose, LIGHTS[light])).picture(exact(("",) * len(kit.cells)), 0)
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    detector = cv2.aruco.ArucoDetector(dictionary(kit.mat.dictionary), parameters)
    corners, ids, _ = detector.detectMarkers(picture)
    assert sorted(ids.ravel()) == sorted(marker.id for marker in kit.mat.markers)
    for found, marker in zip(corners, ids.ravel(), strict=True):
        expected = project(marker_corners(kit.mat, int(marker)), pose, CAMERA)
        assert np.linalg.norm(found[0] - expected, axis=1).max() < 0.5


def test_the_mat_registers_to_the_true_pose(renderer: Renderer) -> None:
    """The registered camera position is within half a millimetre of the true one."""
    gray = cv2.cvtColor(renderer.picture(exact(EMPTY), 0), cv2.COLOR_BGR2GRAY)
    assert np.linalg.norm(register(gray, KIT, CAMERA).centre_mm - POSE.centre_mm) < 0.5


def test_a_piece_is_painted_where_it_projects(renderer: Renderer) -> None:
    """The pixels that one red disc turns red are those inside its projected outline, within a pixel."""
    before = renderer.clear(exact(EMPTY)).astype(int)
    after = renderer.clear(exact(stacks(d5="R"))).astype(int)
    red = (after[..., 2] - after[..., 1] > 60) & (before[..., 2] - before[..., 1] < 30)
    mask = np.zeros(red.shape, np.uint8)
    outline = hull(project(pieces(KIT, "d5", "R")[0].points, POSE, CAMERA))
    cv2.fillConvexPoly(mask, np.round(outline * 16).astype(np.int32), 1, shift=4)
    shell = cv2.dilate(mask, np.ones((3, 3), np.uint8)) - cv2.erode(mask, np.ones((3, 3), np.uint8))
    assert not ((red != mask.astype(bool)) & (shell == 0)).any()
    middle = np.argwhere(red).mean(axis=0)[::-1]
    assert np.linalg.norm(middle - np.argwhere(mask).mean(axis=0)[::-1]) < 0.3


def test_nearer_stacks_hide_farther_ones(renderer: Renderer) -> None:
    """The stack of five red discs on d4 covers the foot of the green one behind it on d5, not vice versa."""
    alone = renderer.clear(exact(stacks(d4="RRRRR"))).copy()
    both = renderer.clear(exact(stacks(d4="RRRRR", d5="G"))).copy()
    for body in pieces(KIT, "d4", "RRRRR"):
        pixels = np.round(hull(project(body.points, POSE, CAMERA))).astype(np.int32)
        mask = cv2.erode(cv2.fillConvexPoly(np.zeros(alone.shape[:2], np.uint8), pixels, 1), np.ones((5, 5), np.uint8))
        assert np.abs(alone[mask > 0].astype(int) - both[mask > 0]).max() < 10
    assert (alone != both).any()


def test_shadows_fall_away_from_the_light(renderer: Renderer) -> None:
    """On the side of a stack of five away from the window the floor loses the light's share, on the other nothing."""
    empty = renderer.clear(exact(EMPTY)).astype(float)
    tall = renderer.clear(exact(stacks(d4="RRRRR"))).astype(float)
    x, y = KIT.centre_mm("d4")
    away = -WINDOW.towards[:2] / np.hypot(*WINDOW.towards[:2])
    for side, expected in ((22.0, 1 - WINDOW.shadow_share), (-22.0, 1.0)):
        place = np.array([[x + side * away[0], y + side * away[1], 0.0]])
        column, row = project(place, POSE, CAMERA)[0].astype(int)
        patch = np.s_[row - 1 : row + 2, column - 1 : column + 2]
        assert (tall[patch].mean() / empty[patch].mean()) == pytest.approx(expected, abs=0.06)


def test_same_seed_same_pictures() -> None:
    """Frames are identical byte for byte, whatever was drawn in between; the next frame has other noise."""
    setup = set_up(stacks(c3="RG", e4="G"), None, random.Random(5))
    one, two = (Renderer(Scene(KIT, CAMERA, POSE, WINDOW), seed=3) for _ in range(2))
    first = one.picture(setup, 7)
    two.picture(exact(stacks(c3="GGG", f4="R")), 0)
    assert (first == two.picture(setup, 7)).all()
    assert (first != one.picture(setup, 8)).any()
    other = Renderer(Scene(KIT, CAMERA, POSE, WINDOW), seed=4)
    assert (first != other.picture(setup, 7)).any()


def test_noise_is_as_strong_as_the_light_says(renderer: Renderer) -> None:
    """The difference of two frames of one table has √2 times the noise of one frame."""
    one, two = (renderer.picture(exact(EMPTY), seq).astype(float) for seq in (1, 2))
    assert np.std(one - two) == pytest.approx(WINDOW.noise * 2**0.5, rel=0.1)


def test_of_a_changed_table_only_what_has_changed_is_painted(
    renderer: Renderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When one of 52 stacks changes, less than a twentieth of the picture is painted."""
    before = set_up(stacks(**dict.fromkeys(KIT.cells, "RG")), None, random.Random(1))
    renderer.clear(before)
    shares, paint = [], Renderer._paint

    def painted(self: Renderer, box: tuple[int, int, int, int]) -> None:
        left, top, right, bottom = box
        shares.append((right - left) * (bottom - top) / (CAMERA.width_px * CAMERA.height_px))
        paint(self, box)

    monkeypatch.setattr(Renderer, "_paint", painted)
    after = stacks(**dict.fromkeys(KIT.cells, "RG") | {KIT.cells[0]: "R"})
    renderer.clear(rearranged(before, after, None, random.Random(2)))
    assert 0 < sum(shares) < 1 / 20


@pytest.mark.parametrize("name", ["diamond", "cheight", "citadel", "ziggurat"])
def test_every_kit_can_be_drawn(name: str) -> None:
    """Each piece of each kit changes the picture at its own centre."""
    kit = load_kit(name)
    levels = (1,) * len(kit.cells) if kit.pillars or kit.board.terrain_step_mm else None
    pose = default_pose(kit)
    renderer = Renderer(Scene(kit, CAMERA, pose, WINDOW))
    empty = renderer.clear(exact(("",) * len(kit.cells), levels)).copy()
    for kind in kit.pieces:
        picture = renderer.clear(exact((kind.letter,) + ("",) * (len(kit.cells) - 1), levels))
        level = None if levels is None else 1
        middle = (
            hull(project(pieces(kit, kit.cells[0], kind.letter, level)[0].points, pose, CAMERA))
            .mean(axis=0)
            .astype(int)
        )
        assert (picture[middle[1], middle[0]] != empty[middle[1], middle[0]]).any()


def test_hands_cover_what_they_are_over(renderer: Renderer) -> None:
    """A hand over d4 hides d4 but not the top of the picture; one far away is not drawn at all."""
    clear = renderer.clear(exact(stacks(d4="R")))
    x, y = KIT.centre_mm("d4")
    handy = with_hand(clear, renderer.scene, Hand((x, y, 15.0), -90.0, SKINS[0], SLEEVES[0]))
    column, row = project(np.array([[x, y, 7.0]]), POSE, CAMERA)[0].astype(int)
    assert (handy[row, column] != clear[row, column]).any()
    assert (handy[:60] == clear[:60]).all()
    away = with_hand(clear, renderer.scene, Hand((x, -900.0, 15.0), -90.0, SKINS[0], SLEEVES[0]))
    assert (away == clear).all()


def test_pieces_lie_askew_within_bounds() -> None:
    """Random offsets stay within their bounds and nearly reach them.

    The bounds are for the foot from the centre, each piece from the one below, and each from the foot.
    """
    setup = set_up(("RGBYRGBYRG",) * 200, None, random.Random(2))
    off = np.array([[piece.off_mm for piece in pile] for pile in setup.piles])
    foot, step = np.linalg.norm(off[:, 0], axis=1), np.linalg.norm(np.diff(off, axis=1), axis=2)
    lean = np.linalg.norm(off - off[:, :1], axis=2)
    for distance, bound in ((foot, OFF_CENTRE_MM), (step, STEP_MM), (lean, LEAN_MM)):
        assert 0.95 * bound < distance.max() <= bound + 1e-9


def test_untouched_pieces_lie_as_they_lay() -> None:
    """Moving the top of one stack onto another displaces no other piece."""
    before = set_up(("RG", "B", "Y"), None, random.Random(2))
    after = rearranged(before, ("R", "BG", "Y"), None, random.Random(3))
    assert after.piles[0] == before.piles[0][:1]
    assert after.piles[1][:1] == before.piles[1]
    assert after.piles[2] == before.piles[2]
    assert after.stacks == ("R", "BG", "Y")


def test_light_is_reckoned_both_ways() -> None:
    """Converting to linear light and back restores every 8-bit value."""
    values = np.arange(256.0)
    np.testing.assert_allclose(to_srgb(to_linear(values)), values, atol=1e-3)
