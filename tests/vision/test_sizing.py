"""Estimation of piece sizes in rendered photographs of known layouts."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.kit import load_kit
from companion.app.ground import parse_layout, start_levels
from companion.simulate.light import WINDOW
from companion.simulate.placement import make_rng, set_up
from companion.simulate.render import Renderer
from companion.simulate.sprite import Scene
from companion.simulate.viewpoint import default_camera, default_pose, looking_at
from vision.errors import VisionError
from vision.sizing.measuring import measure_sizes
from vision.sizing.tips import tip_share

KIT = load_kit("draughts")
CAMERA = default_camera()
START = parse_layout("start", KIT)


def of_size(width_mm, height_mm):
    """Return the kit with all pieces of this size."""
    return replace(KIT, pieces=tuple(replace(k, width_mm=width_mm, height_mm=height_mm) for k in KIT.pieces))


def photographed(kit, layout, pose=None, levels=None):
    """Render a layout (cell → stack)."""
    scene = Scene(kit, CAMERA, pose or default_pose(kit, CAMERA), WINDOW)
    return Renderer(scene).picture(set_up(tuple(layout.get(c, "") for c in kit.cells), levels, make_rng("size", 5)), 0)


@pytest.mark.parametrize(("width_mm", "height_mm"), [(24.0, 9.0), pytest.param(26.0, 6.5, marks=pytest.mark.soak)])
def test_many_discs_tell_their_sizes(width_mm, height_mm):
    """From the start position, sizes are measured within three standard deviations."""
    (sizes,) = measure_sizes(photographed(of_size(width_mm, height_mm), START), of_size(25.0, 8.0), CAMERA, START)
    assert abs(sizes.width_mm - width_mm) < 3 * sizes.width_deviation_mm
    assert abs(sizes.height_mm - height_mm) < 3 * sizes.height_deviation_mm
    assert sizes.is_width_known
    assert sizes.height_deviation_mm < 0.8


def test_few_discs_or_a_view_from_above_do_not_tell_how_high_they_are():
    """The height stays undetermined with few discs, or seen from above."""
    few = {cell: START[cell] for cell in ("b2", "c3", "f6", "g7") if cell in START}
    (sizes,) = measure_sizes(photographed(KIT, few), KIT, CAMERA, few)
    assert sizes.is_width_known
    assert not sizes.is_height_known
    above = looking_at(np.zeros(3), 620.0, KIT, elevation_deg=85.0)
    many = dict(sorted(START.items())[::2])
    (seen,) = measure_sizes(photographed(KIT, many, above), KIT, CAMERA, many)
    assert seen.is_width_known
    assert not seen.is_height_known


def test_pieces_that_do_not_stand_there_have_no_size():
    """Pieces that are not there raise an error."""
    with pytest.raises(VisionError, match="no piece is seen"):
        measure_sizes(photographed(KIT, {}), KIT, CAMERA, {"c3": "W", "f6": "B"}, [photographed(KIT, {})])


def test_discs_of_several_sizes_are_not_measured():
    """Discs of several sizes are refused."""
    pieces = (KIT.pieces[0], replace(KIT.pieces[1], width_mm=20.0))
    with pytest.raises(VisionError, match="discs of several sizes"):
        measure_sizes(np.zeros((720, 1280, 3), np.uint8), replace(KIT, pieces=pieces), CAMERA, START)


def larger(kit, widths, heights=None):
    """Return ``kit`` with pieces scaled in width and in height (by default the same)."""
    heights = heights or widths
    pieces = tuple(
        replace(kind, width_mm=kind.width_mm * widths, height_mm=kind.height_mm * heights) for kind in kit.pieces
    )
    return replace(kit, pieces=pieces)


def off(sizes, kit):
    """Yield the error of each width and height, in standard deviations."""
    for each in sizes:
        kind = kit.piece(each.letters[0])
        yield (each.width_mm - kind.width_mm) / each.width_deviation_mm
        yield (each.height_mm - kind.height_mm) / each.height_deviation_mm


@pytest.mark.parametrize("layout", ["enrol", pytest.param("start", marks=pytest.mark.soak)])
def test_single_pyramids_tell_how_large_they_are(layout):
    """The sizes of single pyramids are measured within three standard deviations."""
    kit = larger(load_kit("ziggurat"), 1.08, 0.94)
    known = parse_layout(layout, kit)
    sizes = measure_sizes(photographed(kit, known), larger(kit, 0.85, 1.2), CAMERA, known)
    assert [each.letters for each in sizes] == ["Qq", "Dd", "Ww"]
    assert max(map(abs, off(sizes, kit))) < 3
    assert all(each.is_known for each in sizes[:2])


def test_cubes_tell_their_sizes_on_terraces_too():
    """Cubes on terraces are measured within three standard deviations, with equal width and height."""
    kit = larger(load_kit("citadel"), 1.1)
    layout = parse_layout("start", kit)
    levels = start_levels(kit)
    (sizes,) = measure_sizes(photographed(kit, layout, levels=levels), larger(kit, 0.85), CAMERA, layout, (), levels)
    assert sizes.is_known
    assert max(map(abs, off([sizes], kit))) < 3
    assert sizes.width_mm == pytest.approx(sizes.height_mm, abs=0.01)


def test_a_single_piece_of_a_size_does_not_tell_it():
    """A single cube is not enough."""
    kit = load_kit("citadel")
    kit, layout = replace(kit, pieces=kit.pieces[:1]), {"d4": "R"}
    assert measure_sizes(photographed(kit, layout), kit, CAMERA, layout) == ()


@pytest.mark.parametrize("share", [0.0, 0.08, 0.15])
def test_how_blunt_a_tip_is_shows_in_the_picture(share):
    """The blunted share of a tip is measured within 0.015."""
    corners = np.array([[260.0, 300.0], [360.0, 320.0], [340.0, 290.0], [280.0, 280.0], [310.0, 150.0]])
    base, point = corners[:4].mean(axis=0), corners[4]
    upper = corners[:4] + (1 - share) * (point - corners[:4])
    outline = cv2.convexHull(np.vstack([corners[:4], upper]).astype(np.float32))
    large = np.full((4 * 400, 4 * 600, 3), 200, np.uint8)
    cv2.fillPoly(large, [np.rint(4 * (outline + 0.5) - 0.5).astype(np.int32)], (60, 90, 150))
    picture = cv2.GaussianBlur(cv2.resize(large, (600, 400), interpolation=cv2.INTER_AREA), (0, 0), 1.0)
    assert tip_share(picture.astype(np.float32), corners, base) == pytest.approx(share, abs=0.015)
