"""Marker stickers around a player's own board: corners cut off by its edge, and stickers that are not detected."""

from dataclasses import replace
from unittest.mock import Mock

import cv2
import numpy as np
import pytest

from calibration.marker_alignment import align_markers, apart_from_table
from calibration.markers import dictionary
from vision.errors import MatNotFound
from vision.pose import registration
from vision.pose.certainty import check_certain, position_std_mm
from vision.pose.markers import detect
from vision.pose.projection import project
from vision.pose.registration import marker_corners, register, to_gray
from vision.pose.tracking import PoseTracker, track_pose

CUT_MM = 5.0
TABLE_CODE = 40


@pytest.fixture
def stuck(bench):
    """Return the bench's kit as if its markers were stickers with measured positions."""
    markers = tuple(replace(marker, is_measured=True) for marker in bench.kit.mat.markers)
    return replace(bench.kit, mat=replace(bench.kit.mat, markers=markers))


@pytest.fixture
def photo(bench):
    """Return the example photograph."""
    return bench.photos["domination-b-103.jpg"].image


def without_a_corner(image, bench, number, corner, cut_mm=CUT_MM):
    """Return the picture with one corner of a marker and of its paper covered by a dark triangle."""
    whole = to_gray(bench.photos["domination-b-103.jpg"].image)
    pose = register(whole, bench.kit, bench.camera)
    corners = marker_corners(bench.kit.mat, number)
    outward = corners[corner] - corners.mean(axis=0)
    outward /= np.linalg.norm(outward)
    along = np.array([-outward[1], outward[0], 0.0])
    middle = corners[corner] - cut_mm * outward / np.sqrt(2)
    edge = [middle - 4 * CUT_MM * along, middle + 4 * CUT_MM * along]
    shape = np.array([*edge, edge[1] + 4 * CUT_MM * outward, edge[0] + 4 * CUT_MM * outward])
    cut = image.copy()
    cv2.fillConvexPoly(cut, np.rint(project(shape, pose, bench.camera)).astype(np.int32), (TABLE_CODE,) * 3)
    return cut


def far_off_px(image, kit, bench):
    """Return the largest displacement of a cell's centre, in px, and the markers that the pose is based on."""
    cells = np.array([(*centre, 0.0) for centre in kit.centres_mm])
    true = register(to_gray(bench.photos["domination-b-103.jpg"].image), bench.kit, bench.camera)
    found = register(to_gray(image), kit, bench.camera)
    off = project(cells, found, bench.camera) - project(cells, true, bench.camera)
    return float(np.linalg.norm(off, axis=1).max()), found.markers


@pytest.mark.parametrize("corner", range(4))
@pytest.mark.parametrize("number", range(4))
def test_a_corner_is_cut_off(bench, stuck, photo, number, corner):
    """With one corner of a sticker cut off, all markers are used and cells are within 1.5 px."""
    off_px, markers = far_off_px(without_a_corner(photo, bench, number, corner), stuck, bench)
    assert off_px < 1.5
    assert markers == (0, 1, 2, 3)


def test_all_but_one_are_cut(bench, stuck, photo):
    """Three stickers with a corner cut off are still located."""
    for number in (0, 1, 3):
        photo = without_a_corner(photo, bench, number, number)
    off_px, markers = far_off_px(photo, stuck, bench)
    assert off_px < 1.5
    assert markers == (0, 1, 2, 3)


@pytest.mark.parametrize(("bent", "is_found"), [((0,), True), ((0, 2), True), ((0, 1, 2), False)])
def test_corners_that_neither_picture_nor_stickers_tell_are_left_out_one_of_each_of_half_of_them(
    bench, stuck, photo, monkeypatch, bent, is_found
):
    """At most one corner of each of half of the stickers may be left out as an outlier.

    On a board with two stickers hanging over its corners, on a dark table, three of ten pictures had not been read.
    """
    gray = to_gray(photo)
    true = detect(gray, stuck.mat.dictionary)
    seen = {number: [each.copy() for each in corners] for number, corners in true.items()}
    for number in bent:
        middle = seen[number][0].mean(axis=0)
        seen[number][0][1] += 0.35 * (middle - seen[number][0][1])
    monkeypatch.setattr(registration, "detect", lambda *_: seen)
    monkeypatch.setattr(registration, "detect_coarse_to_fine", lambda *_: {})
    monkeypatch.setattr(registration, "align_markers", lambda _gray, _mat, once, *_: once)
    if not is_found:
        with pytest.raises(MatNotFound, match="contradict each other"):
            register(gray, stuck, bench.camera)
        return
    monkeypatch.setattr(registration, "GOOD_ERROR_SHARE", 0.0)  # no marker is left out as a whole
    pose = register(gray, stuck, bench.camera)
    assert pose.markers == (0, 1, 2, 3)
    whole = [corner for number in pose.markers for corner in true[number][0]]
    off_px = project(np.vstack([marker_corners(stuck.mat, n) for n in pose.markers]), pose, bench.camera) - whole
    assert np.linalg.norm(off_px, axis=1).max() < 1.5
    with pytest.raises(MatNotFound, match="contradict each other"):
        register(gray, bench.kit, bench.camera)


def test_a_place_that_cannot_be_told_is_not_told_by_leaving_out_corners(bench, stuck, photo, monkeypatch):
    """Every pose counts as ambiguous here; leaving out corners must not bypass that check."""
    monkeypatch.setattr(registration, "SAME_PLACE_SHARE", -1.0)
    with pytest.raises(MatNotFound, match="it cannot be told where the mat"):
        register(to_gray(photo), stuck, bench.camera)


@pytest.mark.parametrize(("few", "sizes", "count"), [(1, 0.0, 4), (1, 2.0, 4), (1, 6.0, 1), (2, 2.0, 4), (2, 6.0, 2)])
def test_one_or_two_tell_about_where_the_others_are(bench, stuck, photo, few: int, sizes: float, count: int):
    """Predictions of distant markers may be off: two marker sizes are tolerated, six are not."""
    gray = to_gray(photo)
    seen = {number: corners[0] for number, corners in detect(gray, stuck.mat.dictionary).items()}
    known = sorted(seen)[:few]
    off_mm = np.array([sizes * stuck.mat.marker_mm, 0.0])
    moved = [
        marker if marker.id in known else replace(marker, corners_mm=tuple(map(tuple, marker.corners_mm + off_mm)))
        for marker in stuck.mat.markers
    ]
    found = align_markers(
        gray, replace(stuck.mat, markers=tuple(moved)), {one: seen[one] for one in known}, bench.camera
    )
    assert len(found) == count
    assert all(np.abs(corners - seen[number]).max() < 1.5 for number, corners in found.items())


def test_a_sticker_that_is_covered_is_not_guessed(bench, stuck, photo):
    """A largely covered sticker is left out."""
    covered = without_a_corner(photo, bench, 2, 0, cut_mm=30.0)
    off_px, markers = far_off_px(covered, stuck, bench)
    assert markers == (0, 1, 3)
    assert off_px < 1.0


def test_from_frame_to_frame(bench, stuck, photo):
    """A pose is not tracked from a frame in which the outline of a cut corner contradicts the marker."""
    cut = without_a_corner(photo, bench, 1, 2)
    found = register(to_gray(photo), stuck, bench.camera)
    assert track_pose(photo, stuck, bench.camera, found) is not None
    assert track_pose(cut, stuck, bench.camera, found) is None


def noisy(image, seed):
    """Return the picture with Gaussian noise of 4 codes."""
    return np.clip(image + np.random.default_rng(seed).normal(0, 4, image.shape), 0, 255).astype(np.uint8)


def test_a_board_with_a_cut_sticker_is_registered_once_while_nothing_moves(bench, stuck, photo, monkeypatch):
    """While nothing moves, a cut sticker does not trigger a new registration in every frame.

    Noise and a change in brightness do not count as movement, a shift by 0.4 px does.
    """
    cut = without_a_corner(photo, bench, 1, 2)
    tracker, looks = PoseTracker(stuck, bench.camera), Mock(side_effect=register)
    monkeypatch.setattr("vision.pose.tracking.register", looks)
    first = tracker.pose(noisy(cut, 1))
    assert tracker.pose(noisy(cut, 2)) is first
    darker = (noisy(cut, 3) * 0.8).astype(np.uint8)
    assert tracker.pose(darker) is first
    assert looks.call_count == 1
    push = np.float32([[1, 0, 0.4], [0, 1, 0]])
    pushed = np.asarray(cv2.warpAffine(cut, push, cut.shape[1::-1], borderMode=cv2.BORDER_REFLECT), np.uint8)
    assert tracker.pose(pushed) is not first
    assert looks.call_count == 2


def test_a_sticker_that_was_covered_is_looked_for_again(bench, stuck, photo, monkeypatch):
    """Once a covered sticker is visible again, all markers are used."""
    tracker, looks = PoseTracker(stuck, bench.camera), Mock(side_effect=register)
    monkeypatch.setattr("vision.pose.tracking.register", looks)
    covered = without_a_corner(photo, bench, 2, 0, cut_mm=30.0)
    assert tracker.pose(covered).markers == (0, 1, 3)
    assert tracker.pose(without_a_corner(photo, bench, 2, 0)).markers == (0, 1, 2, 3)
    assert looks.call_count == 2


def halved(kit):
    """Return a kit with markers half as large."""
    markers = [
        replace(one, corners_mm=tuple(tuple((np.array(c) + one.at_mm) / 2) for c in one.corners_mm))
        for one in kit.mat.markers
    ]
    return replace(kit, mat=replace(kit.mat, markers=tuple(markers), marker_mm=kit.mat.marker_mm / 2))


def test_two_stickers_at_one_side_do_not_tell_the_other(bench, stuck, photo):
    """Two small stickers at one edge are refused, naming the markers to show and the uncertain cells."""
    small, pose = halved(stuck), register(to_gray(photo), stuck, bench.camera)
    check_certain(small, pose, bench.camera)
    for seen, hidden, unsure in (((2, 3), "0, 1", "c1"), ((0, 1), "2, 3", "b7")):
        with pytest.raises(MatNotFound, match=rf"the markers {seen[0]}, {seen[1]} alone do not tell where") as caught:
            check_certain(small, replace(pose, markers=seen), bench.camera)
        assert f" lie: show marker {hidden} too" in str(caught.value)
        assert unsure in str(caught.value)


def test_places_are_the_less_sure_the_farther_they_are_from_what_is_seen(bench, photo):
    """The positional uncertainty grows with the distance from the visible markers."""
    pose = register(to_gray(photo), bench.kit, bench.camera)
    by_all = position_std_mm(bench.kit, pose, bench.camera)
    by_two = position_std_mm(bench.kit, replace(pose, markers=(0, 1)), bench.camera)
    assert by_all.max() < 0.3
    away = np.linalg.norm(
        np.array(bench.kit.centres_mm) - np.mean([m.at_mm for m in bench.kit.mat.markers[:2]], axis=0), axis=1
    )
    assert by_two[away.argmax()] > 2 * by_two[away.argmin()]


def test_stickers_without_an_outline_of_their_own_are_looked_for_where_only_ink_is_dark(
    bench, stuck, photo, monkeypatch
):
    """Whatever touches their black border at the board's edge may be dark as well."""
    gray, pictures = to_gray(photo), []

    def without_outlines(picture, *rest):
        pictures.append(picture)
        return {} if picture is gray else detect(picture, *rest)

    monkeypatch.setattr(registration, "detect", without_outlines)
    monkeypatch.setattr(registration, "detect_coarse_to_fine", lambda *_: {})
    found = register(gray, stuck, bench.camera)
    assert len(found.markers) == len(stuck.mat.markers)
    assert all(picture is gray for picture in pictures[:2])
    with pytest.raises(MatNotFound):
        register(gray, bench.kit, bench.camera)  # printed markers are always complete


def test_more_stickers_are_looked_for_where_those_that_are_seen_do_not_tell_the_pose(stuck, photo, bench, monkeypatch):
    """One whole sticker may not say where the others are; those that a dark table cuts off are seen apart from it."""
    gray, one = to_gray(photo), stuck.mat.markers[0].id

    def only_one(picture, *rest):
        found = detect(picture, *rest)
        return {one: found[one]} if picture is gray else found

    monkeypatch.setattr(registration, "detect", only_one)
    monkeypatch.setattr(registration, "align_markers", lambda _gray, _mat, once, *_: once)
    assert set(register(gray, stuck, bench.camera).markers) == {marker.id for marker in stuck.mat.markers}
    monkeypatch.setattr(registration, "apart_from_table", lambda _: iter(()))
    with pytest.raises(MatNotFound):
        register(gray, stuck, bench.camera)


def test_a_dark_table_is_told_from_ink():
    """One of the prepared pictures turns a dark table white but keeps ink dark."""
    gray = np.full((90, 90), 220, np.uint8)
    gray[:30], gray[30:50] = 80, 40
    table, ink = zip(*((picture[10, 10], picture[40, 40]) for picture in apart_from_table(gray)), strict=True)
    assert any(beside == 255 and dark < 160 for beside, dark in zip(table, ink, strict=True))


def test_a_cut_sticker_is_seen_beside_a_table_as_dark_as_ink():
    """Its lower corner is missing, where its border meets the table."""
    name, side_px, white_px = "DICT_4X4_50", 96, 16
    sticker = np.full((side_px + 2 * white_px,) * 2, 230, np.uint8)
    drawn = cv2.aruco.generateImageMarker(dictionary(name), 7, side_px)
    sticker[white_px:-white_px, white_px:-white_px] = np.maximum(drawn, 45)
    turn = cv2.getRotationMatrix2D((64, 64), 45, 1.0)
    turn[:, 2] += (136, 180)
    gray = cv2.warpAffine(
        sticker, turn, (400, 360), np.full((360, 400), 120, np.uint8), borderMode=cv2.BORDER_TRANSPARENT
    )
    gray[:, :40] = gray[:, 360:] = gray[:40] = gray[306:] = 45
    assert not detect(gray, name)
    assert any(7 in detect(picture, name) for picture in apart_from_table(gray))
