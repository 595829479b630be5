"""Illumination: a surface fitted to paper and patches, on rendered mats and on photographs."""

import cv2
import numpy as np
import pytest

from calibration.appearance import linear
from calibration.camera import Camera
from calibration.kit import load_kit
from vision.appearance.illumination import (
    LINEAR,
    Illumination,
    _fit_curved,
    _inliers,
    _terms,
    curved_terms,
    fit_plane,
    measure_illumination,
)
from vision.appearance.light_references import References, paper_points, references, square_points
from vision.errors import VisionError
from vision.pose.projection import Registration, project
from vision.pose.registration import register, to_gray

NAME = "domination-b-103.jpg"

KIT = load_kit("domination")
HALF_MM = (KIT.mat.width_mm / 2, KIT.mat.height_mm / 2)
CAMERA = Camera(400, 300, np.array([[400.0, 0, 200], [0, 400, 150], [0, 0, 1]]), np.zeros(5), 0.0)
ABOVE = Registration(np.diag([1.0, -1.0, -1.0]), np.array([0.0, 0.0, 600.0]), (), 0.0)
FOCUS = np.array([[1200.0, 0, 600], [0, 1200, 450], [0, 0, 1]])
PLANE = np.log([[0.5, 0.45, 0.4], [1.3, 1.3, 1.25], [0.9, 0.9, 0.95]])


@pytest.fixture
def pose(bench):
    """Register the example photograph."""
    return register(to_gray(bench.photos[NAME].image), bench.kit, bench.camera)


def test_light_falls_off_away_from_the_lamp(bench, pose):
    """The light in the photograph is stronger on the lamp's side, by the expected amount."""
    light = measure_illumination(bench.photos[NAME].image, bench.kit, pose, bench.camera)
    far, near = light.at(np.array([[-185.0, -60, 0], [185.0, 60, 0]]))
    assert near[0] > 1.2 * far[0]
    assert (near[0], far[0]) == (pytest.approx(1.05, rel=0.12), pytest.approx(0.7, rel=0.12))


def test_what_covers_a_third_of_the_paper_does_not_pull_the_light(bench, pose):
    """An occluder over part of the paper changes the measured light by less than 10 %."""
    image = bench.photos[NAME].image.copy()
    before = measure_illumination(image, bench.kit, pose, bench.camera).at(np.zeros((1, 3)))
    image[:, 900:] = (20, 30, 60)
    after = measure_illumination(image, bench.kit, pose, bench.camera).at(np.zeros((1, 3)))
    assert after == pytest.approx(before, rel=0.1)


@pytest.mark.parametrize("shade", [0.3, 0.5])
def test_a_shadow_beside_the_squares_does_not_pull_their_light(bench, pose, shade):
    """The light on the squares is measured correctly although the paper beside them lies in shadow.

    The floor of the squares shows that the shadow does not reach them.
    """
    image = bench.photos[NAME].image
    places = references(bench.kit, bench.appearance.floor)
    before = measure_illumination(image, bench.kit, pose, bench.camera, places)
    board, (half_mm, deep_mm) = bench.kit.board, HALF_MM
    edge_mm = board.a1_mm[0] + (board.files - 0.5) * board.pitch_mm[0] + 2
    strip = np.array([(x, y, 0.0) for x in (edge_mm, half_mm) for y in (-deep_mm, deep_mm)])[[0, 1, 3, 2]]
    mask = cv2.fillPoly(np.zeros(image.shape[:2], np.uint8), [project(strip, pose, bench.camera).astype(np.int32)], 1)
    shaded = np.where(mask[..., None] > 0, 255 * (shade * (image / 255.0) ** 2.2) ** (1 / 2.2), image).astype(np.uint8)
    after = measure_illumination(shaded, bench.kit, pose, bench.camera, places)
    squares_mm = np.array(square_points(bench.kit, ()))
    assert after.at(squares_mm) == pytest.approx(before.at(squares_mm), rel=0.1)


def test_the_floor_is_sampled_on_squares_that_terrain_does_not_raise(bench):
    """Only cells at level 0 contribute reference points of the floor."""
    levels = tuple(number % 2 for number in range(len(bench.kit.cells)))
    assert len(square_points(bench.kit, ())) == 4 * len(bench.kit.cells)
    assert len(square_points(bench.kit, levels)) == 4 * levels.count(0)


@pytest.mark.parametrize(("level", "said"), [(0, "too dark"), (255, "overexposed")])
def test_a_picture_without_light_or_with_too_much(bench, pose, level, said):
    """Black and saturated pictures are refused with different messages."""
    with pytest.raises(VisionError, match=said):
        measure_illumination(np.full((720, 1280, 3), level, np.uint8), bench.kit, pose, bench.camera)


def test_paper_is_sampled_where_nothing_is_printed(bench):
    """Reference points of paper keep a distance from printed patches."""
    points = paper_points(bench.kit)
    assert len(points) > 40
    for x, y, _ in points:
        assert all(abs(x - p.at_mm[0]) > 9 or abs(y - p.at_mm[1]) > 9 for p in bench.kit.mat.patches)
    assert linear(bench.kit.mat.colour)[0] > 0.8


@pytest.fixture
def points_mm():
    """Return 90 random places (n, 3) on the mat, in mm."""
    rng = np.random.default_rng(8)
    return np.column_stack([rng.uniform(-0.9, 0.9, (90, 2)) * HALF_MM, np.zeros(90)])


@pytest.mark.parametrize("share", [0.0, 0.3, 0.55])
def test_outliers_are_told_from_the_plane(points_mm, share):
    """Up to 55 % of outliers are separated exactly from the inliers of the plane."""
    terms, rng = _terms(points_mm, HALF_MM), np.random.default_rng(2)
    covered = rng.random(len(terms)) < share
    target = terms @ PLANE + rng.normal(0, 0.01, (len(terms), 3))
    target[covered] -= rng.uniform(0.4, 2.0, (covered.sum(), 1))
    np.testing.assert_array_equal(_inliers(terms, target), ~covered)


def test_the_light_in_noise_does_not_depend_on_which_references_were_drawn(points_mm):
    """The order of the references decides which ones the robust fit samples."""
    rng = np.random.default_rng(4)
    logs = _terms(points_mm, HALF_MM) @ PLANE + rng.normal(0, 0.04, (len(points_mm), 3))
    logs[:20] -= rng.uniform(0.3, 2.0, (20, 1))
    orders = [rng.permutation(len(points_mm)) for _ in range(20)]
    planes = [fit_plane(points_mm[order], logs[order], HALF_MM).plane for order in orders]
    np.testing.assert_allclose(planes, [planes[0]] * len(planes), atol=0.005)


def test_references_on_one_line_do_not_make_a_plane():
    """Collinear references are refused."""
    points = np.column_stack([np.linspace(-150, 150, 40), np.zeros(40), np.zeros(40)])
    with pytest.raises(VisionError, match="too little of the bare mat"):
        _inliers(_terms(points, HALF_MM), np.zeros((40, 3)))


def test_squares_are_references_unless_they_are_black():
    """A black square has no logarithm of reflectance; it may come from a damaged set file."""
    counts = [len(references(KIT, floor).points_mm) for floor in (None, (0.5, 0.5, 0.4), (0.5, 0.0, 0.4))]
    assert counts[0] == counts[2] < counts[1]


def painted(points_mm, levels, camera, covered=0):
    """Return a picture of places (n, 3) mm with RGB levels (n, 3), each 3 × 3 px.

    The first ``covered`` places are occluded.
    """
    image = np.zeros((camera.height_px, camera.width_px, 3), np.uint8)
    codes = np.abs(LINEAR - levels[..., None]).argmin(axis=2)[:, ::-1]
    codes[:covered] = (30, 40, 90)
    for (x, y), code in zip(np.rint(project(points_mm, ABOVE, camera)).astype(int), codes, strict=True):
        image[y - 1 : y + 2, x - 1 : x + 2] = code
    return image


def mat_of(points_mm, covered=0):
    """Return a picture of references of random colours, the first ``covered`` occluded, and the references."""
    reflectance = np.random.default_rng(3).uniform(0.3, 0.9, (len(points_mm), 3))
    levels = Illumination(PLANE, HALF_MM).at(points_mm) * reflectance
    return painted(points_mm, levels, CAMERA, covered), References(points_mm, reflectance)


def is_right(light):
    """Check that a light agrees with the true plane at the corners of the mat."""
    corners = np.array([[x, y] for x in (-150.0, 150) for y in (-150.0, 150)])
    np.testing.assert_allclose(light.at(corners), Illumination(PLANE, HALF_MM).at(corners), rtol=0.03)


@pytest.mark.parametrize("covered", [0, 30])
def test_the_light_of_a_drawn_mat_is_measured(points_mm, covered):
    """The true light is recovered within 3 %, also if a third of the references is covered."""
    image, places = mat_of(points_mm, covered)
    is_right(measure_illumination(image, KIT, ABOVE, CAMERA, places))


def test_pixels_that_are_overexposed_do_not_count(points_mm):
    """If white is nearly saturated, noise saturates one of the nine pixels of each reference."""
    image, places = mat_of(points_mm)
    columns, rows = np.rint(project(points_mm, ABOVE, CAMERA)).astype(int).T
    image[rows - 1, columns - 1] = 255
    is_right(measure_illumination(image, KIT, ABOVE, CAMERA, places))


def test_so_is_that_of_a_noisy_picture(points_mm):
    """The noise is so strong that no single pixel gives the light within a tenth."""
    image, places = mat_of(points_mm)
    noisy = image + np.random.default_rng(4).normal(0, 10, image.shape)
    is_right(measure_illumination(np.clip(np.rint(noisy), 1, 254).astype(np.uint8), KIT, ABOVE, CAMERA, places))


def measured_in(light):
    """Return the light measured on the references of a rendered mat.

    ``light``: the true light, a function from places (n, 3) mm to (n, 1).
    """
    places, camera = references(KIT, (0.5, 0.5, 0.4)), Camera(1200, 900, FOCUS, np.zeros(5), 0.0)
    image = painted(places.points_mm, light(places.points_mm) * places.reflectance, camera)
    return measure_illumination(image, KIT, ABOVE, camera, places)


@pytest.mark.parametrize("height_mm", [350, 500, 2000])
def test_a_lamp_near_the_board_lights_its_middle_more(height_mm):
    """A near lamp is recovered within 10 % by the second-order model."""

    def lamp(points_mm):
        x, y = points_mm[:, 0] - 60, points_mm[:, 1] + 40
        return 0.8 * (1 + (x**2 + y**2) / height_mm**2)[:, None] ** -2

    squares_mm = np.array(square_points(KIT, ()))
    seen = measured_in(lamp).at(squares_mm)
    np.testing.assert_allclose(seen, np.repeat(lamp(squares_mm), 3, axis=1), rtol=0.1)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.8])
def test_the_light_is_that_of_the_part_that_nothing_shades(share):
    """If a shadow covers up to 80 % of the mat, the light of the lit part is measured."""
    edge_mm = HALF_MM[0] * (2 * share - 1)
    light = measured_in(lambda points_mm: np.where(points_mm[:, :1] < edge_mm, 0.3, 0.8))
    np.testing.assert_allclose(light.at(np.zeros((1, 3))), 0.8, rtol=0.05)


def test_the_light_does_not_slope_into_a_soft_shadow():
    """Most references lie in a wide penumbra; the light measured must be that of the fully lit parts on both sides."""

    def shaded(points_mm):
        x = points_mm[:, :1] / HALF_MM[0]
        return 0.8 * np.where(np.abs(x) < 0.42, np.exp(-1.6 * (x + 0.42)), 1)

    lit_mm = np.array([[x * HALF_MM[0], 0.0, 0.0] for x in (-0.9, 0.9)])
    np.testing.assert_allclose(measured_in(shaded).at(lit_mm), 0.8, rtol=0.1)


def test_what_mirrors_a_lamp_on_a_tenth_of_the_mat_is_not_its_light():
    """A bright strip over a tenth of the mat does not raise the measured light."""
    light = measured_in(lambda points_mm: np.where(points_mm[:, :1] < -0.8 * HALF_MM[0], 0.9, 0.4))
    np.testing.assert_allclose(light.at(np.zeros((1, 3))), 0.4, rtol=0.05)


def test_references_on_one_line_do_not_bend_the_light():
    """A curved fit to collinear references stays finite."""
    line_mm = np.column_stack([np.linspace(-150, 150, 30), np.zeros(30), np.zeros(30)])
    logs = 0.25 * np.sin(np.linspace(0, 6, 30))[:, None].repeat(3, axis=1)
    assert np.isfinite(_fit_curved(curved_terms(line_mm, HALF_MM), logs, np.zeros((3, 3)))).all()
