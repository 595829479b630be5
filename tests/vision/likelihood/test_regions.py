"""Scores of segmentations: higher the more uniform their faces are, and the better materials explain them."""

import numpy as np
import pytest

from vision.appearance.colour_model import BINS, TOP_VALUE, bin_index
from vision.likelihood.boundaries import measure_contrasts
from vision.likelihood.noise import BANDS, measure_noise
from vision.likelihood.regions import FIRST, REGIONS, UPPER, Part, make_colours, score_boundaries, score_faces
from vision.scene.materials import Materials

HEIGHT, WIDTH, WEIGHT = 24, 20, 0.2
MATERIALS = Materials(1)
SHADES = {
    MATERIALS.FLOOR: 0.9,
    MATERIALS.TABLE: 0.2,
    MATERIALS.TOPS: 0.65,
    MATERIALS.sides: 0.65,
    MATERIALS.column_side: 0.4,
    MATERIALS.column_tops: 0.4,
}


@pytest.fixture(scope="module")
def colours():
    """Return colours in which every material has one grey with a small spread."""
    axis = (np.arange(BINS) + 0.5) * (TOP_VALUE / BINS)
    red, green, blue = np.meshgrid(axis, axis, axis, indexing="ij")
    columns = []
    for material in range(MATERIALS.column_tops + 1):
        distance2 = sum((channel - SHADES.get(material, 1.1)) ** 2 for channel in (red, green, blue))
        likelihood = np.exp(-distance2 / (2 * 0.06**2)) + 1e-6
        columns.append(np.log(likelihood / likelihood.sum()).ravel())
    return make_colours(np.column_stack(columns).astype(np.float32), 1)


def pillar(first):
    """Return (height, width) labels of a pillar on the mat whose upper face begins in row ``first``."""
    labels = np.zeros((HEIGHT, WIDTH), np.int32)
    labels[first : first + 6, 5:15] = FIRST + UPPER
    labels[first + 6 :, 5:15] = FIRST
    return labels


def part(labels, upper=0.45, side=0.35, hidden=False):
    """Return the observations of a pillar with these display values."""
    values = np.full((HEIGHT, WIDTH), SHADES[MATERIALS.FLOOR])
    values[labels == FIRST + UPPER], values[labels == FIRST] = upper, side
    noise = np.random.default_rng(3).normal(0, 0.02, (HEIGHT, WIDTH, 1))
    values = (values[..., None] + noise).repeat(3, axis=2).astype(np.float32)
    return Part(values, bin_index(values), np.full((HEIGHT, WIDTH), hidden), WEIGHT)


def test_the_true_edges_are_the_likeliest(colours):
    """The true row of the upper face scores highest."""
    observed = part(pillar(8))
    scores = [score_faces(pillar(first), observed, colours, 1, 1) for first in range(2, 16)]
    assert np.argmax(scores) == 8 - 2
    assert np.sort(scores)[-1] > np.sort(scores)[-2] + 3


def test_a_face_of_a_colour_that_no_material_has_is_unlikely(colours):
    """A face brighter than any material is unlikely."""
    labels = pillar(8)
    known, unknown = part(labels), part(labels, upper=1.1)
    assert score_faces(labels, known, colours, 1, 1) > score_faces(labels, unknown, colours, 1, 1) + 3


def test_above_a_pillar_the_faces_are_those_of_pieces(colours):
    """The second of two storeys is a piece, which may be brighter than pillars are."""
    labels = pillar(8)
    labels[labels >= FIRST] += REGIONS
    bright, dark = part(pillar(8), 0.65, 0.6), part(pillar(8))
    assert score_faces(labels, bright, colours, 2, 2) > score_faces(labels, dark, colours, 2, 2) + 2


def test_hidden_pixels_do_not_count(colours):
    """Hidden pixels score 0."""
    assert score_faces(pillar(8), part(pillar(8), hidden=True), colours, 1, 1) == 0


def test_a_few_stray_pixels_do_not_pull_a_face(colours):
    """A few outlier pixels cost a bounded amount."""
    labels = pillar(8)
    clean, strewn = part(labels), part(labels)
    strewn.values[16:18, 7:9] = 1.2
    lost = score_faces(labels, clean, colours, 1, 1) - score_faces(labels, strewn, colours, 1, 1)
    assert 0 < lost < 4 * WEIGHT * 15


def picture(labels, shadow=1.0):
    """Return a (height, width, 3) uint8 picture of the pillar; ``shadow`` scales the brightness of its right half."""
    grey = np.select([labels == FIRST + UPPER, labels == FIRST], [110.0, 80.0], 210.0)
    grey[:, 10:] *= shadow
    noise = np.random.default_rng(3).normal(0, 1.0, (HEIGHT, WIDTH, 3))
    return np.clip(grey[..., None] + noise, 0, 255).astype(np.uint8)


def boundary_scores(image, hidden):
    """Return the boundary scores of pillars whose upper face begins in rows 2 to 15."""
    whole = np.array([(0, 0), (WIDTH, 0), (WIDTH, HEIGHT), (0, HEIGHT)], float)
    contrasts = measure_contrasts(image, (1, 0.7), np.tile(measure_noise(image, 1, whole), (BANDS, 1)))
    return [score_boundaries(pillar(first), hidden, contrasts) for first in range(2, 16)]


@pytest.mark.parametrize("shadow", [1.0, 0.5])
def test_boundaries_lie_where_the_picture_changes_also_under_a_shadow(shadow):
    """Boundaries locate the upper face, also with half of the picture in shadow."""
    scores = boundary_scores(picture(pillar(8), shadow), np.zeros((HEIGHT, WIDTH), np.bool_))
    assert np.argmax(scores) == 8 - 2
    assert np.sort(scores)[-1] > np.sort(scores)[-2] + 3


def test_hidden_boundaries_do_not_count():
    """Hidden boundaries score 0."""
    assert boundary_scores(picture(pillar(8)), np.ones((HEIGHT, WIDTH), np.bool_)) == [0] * 14


@pytest.mark.parametrize("turned", [False, True])
def test_a_face_that_ends_beside_the_mats_edge_gains_nothing_by_that_edge(turned):
    """The edge of the mat is blurred over more pixels than lie between two samples.

    A boundary beside it would otherwise count it twice.
    """
    down = np.tile(np.arange(20)[:, None], (1, 8))
    grey = 60 + 150 / (1 + np.exp((10.5 - down) / 0.7))
    image = np.repeat(grey[..., None], 3, axis=2).round().astype(np.uint8)
    bare = np.where(down <= 10, Materials.TABLE, Materials.FLOOR).astype(np.int32)
    ends = [bare, np.where(down >= 12, FIRST + UPPER, bare).astype(np.int32), np.where(down <= 9, FIRST, bare)]
    if turned:
        image, ends = np.ascontiguousarray(image.swapaxes(0, 1)), [np.ascontiguousarray(each.T) for each in ends]
    contrasts = measure_contrasts(image, (1, 0.7), np.ones((BANDS, 3), np.float32))
    alone, inside, outside = (score_boundaries(each, np.zeros_like(each, np.bool_), contrasts) for each in ends)
    assert alone > 1
    assert inside == outside == pytest.approx(alone)


def test_in_the_dark_less_contrast_tells_two_surfaces():
    """Contrasts are relative to brightness: a missing edge must not rule out a dark cube in front of a dark pillar."""
    noise = np.tile(np.array([9.0, 0.0, 0.0], np.float32), (BANDS, 1))

    def told(dark, bright):
        image = np.full((3, 4, 3), dark, np.uint8)
        image[:, 2:] = bright
        return float(measure_contrasts(image, (1, 1.0), noise).across[1, 1])

    assert told(40, 40) > told(120, 120) + 0.005
    assert told(40, 50) > told(120, 130)
    assert told(200, 210) == pytest.approx(told(128, 138), abs=1e-6)
