"""The printed mat: true to scale, found by the program, and refused where it cannot be printed."""

from dataclasses import replace

import cv2
import numpy as np
import pypdfium2
import pytest

from calibration.camera import Camera
from calibration.errors import ProfileError
from calibration.kit import KITS, available_kits, load_kit, read_kit
from calibration.mat import check_layout
from calibration.sheets import JOIN_MM, mat_pdf, plan
from companion.simulate.ground import MAT_PX_PER_MM, sheet
from vision.pose.markers import detect
from vision.pose.projection import project
from vision.pose.registration import marker_corners, register

pytestmark = pytest.mark.pictures

PX_PER_MM = 4
SCALE = PX_PER_MM * 25.4 / 72 * (1 - 1e-5)
"""Slightly below the exact scale, so that rounding does not add a row."""
HEIGHT_MM = 600.0

PORTRAIT = """
game = "domination"
[mat]
width_mm = 280
height_mm = 400
dictionary = "DICT_5X5_100"
marker_mm = 30
markers = [
  { id = 7, at = [-110, -170] }, { id = 8, at = [110, -170] },
  { id = 9, corners = [[100, 190], [124, 180], [114, 156], [90, 166]] },
]
[board]
files = 6
ranks = 6
pitch_mm = 40
a1_mm = [-100, -100]
[pieces]
R = { shape = "disc", diameter_mm = 30, height_mm = 8, colour = "#b3202a" }
"""


@pytest.fixture
def portrait(tmp_path):
    """Return a user's kit with a mat in portrait format."""
    path = tmp_path / "mine.toml"
    path.write_text(PORTRAIT, encoding="utf-8")
    return read_kit(path)


def rasters(data):
    """Return the pages as BGR pictures at ``PX_PER_MM``."""
    pages = [page.render(scale=SCALE).to_numpy() for page in pypdfium2.PdfDocument(data)]
    return [np.ascontiguousarray(page[..., :3]) for page in pages]


def seen_from_above(kit, picture, middle_mm):
    """Register a page as if by a camera ``HEIGHT_MM`` above the mat's centre; return the pose and the camera."""
    height, width = picture.shape[:2]
    focal = PX_PER_MM * HEIGHT_MM
    x, y = middle_mm[0] * PX_PER_MM - 0.5, height - middle_mm[1] * PX_PER_MM - 0.5
    camera = Camera(width, height, np.array([[focal, 0, x], [0, focal, y], [0, 0, 1]]), np.zeros(5), 0.0)
    return register(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), kit, camera), camera


def differences(picture, other):
    """Return the mask where two pictures differ by more than the sampling of their edges."""
    return cv2.absdiff(cv2.blur(picture, (5, 5)), cv2.blur(other, (5, 5))).max(axis=2) > 60


@pytest.mark.parametrize("name", available_kits())
def test_the_program_finds_the_printed_markers_at_the_right_millimetres(name):
    """Markers on the printed page are registered, with corners correct within 0.1 mm."""
    kit = load_kit(name)
    (page,) = plan(kit, "a3")
    (picture,) = rasters(mat_pdf(kit, "a3"))
    assert picture.shape == (297 * PX_PER_MM, 420 * PX_PER_MM, 3)
    pose, camera = seen_from_above(kit, picture, page.middle_mm)
    assert pose.markers == tuple(marker.id for marker in kit.mat.markers)
    assert pose.centre_mm == pytest.approx([0, 0, HEIGHT_MM], abs=0.3)
    for number in pose.markers:
        corners = marker_corners(kit.mat, number)
        found_mm = (project(corners, pose, camera) - camera.matrix[:2, 2]) / PX_PER_MM * [1, -1]
        assert found_mm == pytest.approx(corners[:, :2], abs=0.1)


@pytest.mark.parametrize("name", ["domination", "cheight"])
def test_two_halves_make_the_same_mat_as_one_sheet(name):
    """Two A4 pages joined together equal the A3 page."""
    kit = load_kit(name)
    left, right = rasters(mat_pdf(kit, "a4"))
    assert left.shape == right.shape == (297 * PX_PER_MM, 210 * PX_PER_MM, 3)
    join = round(JOIN_MM * PX_PER_MM)
    joined = np.hstack([left[:, :-join], right[:, join:]])
    (whole,) = rasters(mat_pdf(kit, "a3"))
    assert joined.shape[1] == whole.shape[1] - 2 * join
    differ = differences(joined, whole[:, join:-join])
    edge = round(12 * PX_PER_MM)  # rulers and joining instructions lie along the edges
    differ[:edge] = differ[-edge:] = False
    differ[:, joined.shape[1] // 2 - 5 : joined.shape[1] // 2 + 5] = False
    assert not differ.any()


@pytest.mark.parametrize("name", available_kits())
def test_the_print_looks_as_the_simulated_table_has_it(name):
    """The printed mat looks like the simulated one."""
    kit = load_kit(name)
    (picture,) = rasters(mat_pdf(kit, "a3"))
    simulated = cv2.resize(sheet(kit)[..., ::-1], picture.shape[1::-1], interpolation=cv2.INTER_AREA)
    assert MAT_PX_PER_MM % PX_PER_MM == 0
    differ = differences(picture, simulated)
    assert differ.mean() < 0.002  # allows for the ruler and the names of squares


def test_the_ruler_is_a_hundred_millimetres_long():
    """The printed ruler is 100 mm long within 0.5 mm."""
    (picture,) = rasters(mat_pdf(load_kit("domination"), "a3"))
    dark = picture[-14 * PX_PER_MM :].max(axis=2) < 120
    dark[:, : 45 * PX_PER_MM] = dark[:, -45 * PX_PER_MM :] = False  # beside the markers
    row = dark[dark.sum(axis=1).argmax()]
    columns = np.flatnonzero(row)
    assert (columns[-1] - columns[0]) / PX_PER_MM == pytest.approx(100, abs=0.5)


def test_terrain_is_outlined():
    """Raising one cell changes the print around its border."""
    kit = load_kit("citadel")
    flat, stepped = (rasters(mat_pdf(kit, "a3", terrain))[0] for terrain in ((), [0] * 27 + [1] + [0] * 36))
    differ = cv2.absdiff(flat, stepped).max(axis=2) > 60
    rows, columns = (np.flatnonzero(differ.any(axis=axis)) / PX_PER_MM for axis in (1, 0))
    x, y = kit.centre_mm(kit.cells[27])
    half = kit.board.pitch_mm[0] / 2
    assert (columns[0] - 210, columns[-1] - 210) == pytest.approx((x - half, x + half), abs=1)
    assert (148.5 - rows[-1], 148.5 - rows[0]) == pytest.approx((y - half, y + half), abs=1)


def test_an_own_mat_of_another_form_is_printed_too(portrait):
    """A mat in portrait format is printed on one A3 or two A4 pages, with correct markers."""
    (page,) = plan(portrait, "a3")
    assert page.size_mm == (297, 420)
    pose, _ = seen_from_above(portrait, rasters(mat_pdf(portrait, "a3"))[0], page.middle_mm)
    assert pose.markers == (7, 8, 9)
    assert pose.reprojection_px < 0.3
    upper, lower = plan(portrait, "a4")
    pictures = rasters(mat_pdf(portrait, "a4"))
    assert [picture.shape[:2] for picture in pictures] == [(210 * PX_PER_MM, 297 * PX_PER_MM)] * 2
    for half, picture, numbers in ((upper, pictures[0], {7, 8}), (lower, pictures[1], {9})):
        found = detect(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), "DICT_5X5_100")
        assert set(found) == numbers
        for number, (corners,) in found.items():
            x, y = (corners + 0.5).T / PX_PER_MM
            on_mat = np.stack([x - half.middle_mm[0], picture.shape[0] / PX_PER_MM - y - half.middle_mm[1]], axis=1)
            assert on_mat == pytest.approx(marker_corners(portrait.mat, number)[:, :2], abs=0.2)


def test_a_mat_that_is_too_large_is_refused(portrait):
    """A mat larger than the paper is refused, with a suggestion."""
    large = replace(portrait, mat=replace(portrait.mat, width_mm=500.0))
    with pytest.raises(ProfileError, match=r"kit mine: a mat of 500 x 400 mm does not fit on A4.*; try --paper a3"):
        mat_pdf(large, "a4")
    with pytest.raises(ProfileError, match=r"does not fit on A3.*; make the mat smaller"):
        mat_pdf(replace(large, mat=replace(large.mat, width_mm=900.0)), "a3")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "at = [-110, -170]",
            "at = [-130, -170]",
            r"marker 7 leaves the sheet of 280 x 400 mm \(a marker needs 4.3 mm",
        ),
        ("at = [-110, -170]", "at = [-110, -138]", r"marker 7 and square a1 overlap \(a marker needs 4.3 mm of paper"),
        ("at = [110, -170]", "at = [-90, -175]", "marker 7 and marker 8 overlap"),
        ("pitch_mm = 40", "pitch_mm = 50", "square f1 leaves the sheet"),
        ("diameter_mm = 30", "diameter_mm = 41", "the piece R is 41 mm wide, a square only 40 mm"),
        (
            "[board]",
            'patches = [{ colour = "#ffffff", at = [0, 125], size_mm = 20 }]\n[board]',
            "the patch at 0, 125 and square c6 overlap; move one",
        ),
    ],
)
def test_parts_that_overlap_or_leave_the_sheet_are_named(tmp_path, old, new, said):
    """Overlapping parts, or parts outside the sheet, are named."""
    path = tmp_path / "mine.toml"
    assert old in PORTRAIT
    path.write_text(PORTRAIT.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ProfileError, match=said):
        check_layout(read_kit(path))


def test_every_kit_that_comes_with_the_program_can_be_printed_on_a4():
    """All included kits fit on two A4 pages."""
    for path in KITS.glob("*.toml"):
        assert len(plan(read_kit(path), "a4")) == 2
