"""Faint cubes, uniform ground and shadows, compared by their outlines alone."""

import cv2
import numpy as np
import pytest

from calibration.srgb import display
from vision.appearance.bare_picture import NO_BARE, PER_VALUE, BarePicture
from vision.appearance.illumination import Illumination
from vision.appearance.tone_curve import codes_to_values
from vision.inference.comparison import (
    FIT_NATS,
    PLACE_NATS,
    compare_configurations,
    make_patch_of,
    make_scene_at,
    stacks_of,
)
from vision.inference.evidence_weights import (
    BOUNDARY_WEIGHT,
    HEIGHTS_COLOUR_WEIGHT,
    PIECE_NATS,
    bounded_colour_evidence,
    reweight_heights,
    reweighted,
)
from vision.inference.hypothesis import Hypothesis
from vision.inference.picture_view import make_view
from vision.inference.render_and_compare import DECIDED_NATS, DOUBT_NATS, compare, rescore_by_rendering
from vision.likelihood.boundaries import COLOUR_STRIDE
from vision.likelihood.segmentation import (
    FLOOR_UNITS,
    MAX_UNITS,
    OFF_MM,
    SEAM_ALIKE,
    TURN_RAD,
    WEIGHT,
    seen_share,
    stack_log_likelihood,
)
from vision.likelihood.surroundings import TOPS
from vision.scene.configurations import PLACE_MM
from vision.scene.materials import Materials
from vision.scene.prisms import FIRST, LINE, PER_CELL, PER_PIECE, PIECES, first_surface, span_stack
from vision.scene.runs import make_spans, paint

CELL = "b5"
LIGHT = 0.6
NOISE = 0.015
TALLEST = 5


@pytest.fixture
def cell(reader):
    """Return the index of the cell under test."""
    return reader.kit.cells.index(CELL)


@pytest.fixture
def ground(geometry):
    """Return (height, width) brightness relative to bare ground, with noise."""
    return np.random.default_rng(3).normal(1, NOISE, geometry.size)


@pytest.fixture
def hypothesis(reader, geometry):
    """Return a function from brightness (height, width) to its picture and an empty hypothesis of it."""

    def of(brightness):
        colour = 255 * display(LIGHT * np.array(reader.appearance.floor)[::-1])
        picture = np.clip(brightness[..., None] * colour, 0, 255).astype(np.uint8)
        light = Illumination(np.log(LIGHT) * np.eye(3)[:1].T @ np.ones((1, 3)), (1.0, 1.0))
        rim = np.array(reader.appearance.rim, np.float32)
        return picture, Hypothesis(reader.observations(picture, geometry, light), rim, geometry)

    return of


@pytest.fixture
def likeliest(hypothesis, cell):
    """Return a function that gives the likeliest height on the cell, and its lead over the next one in nats."""

    def of(codes):
        picture, empty = hypothesis(codes)
        scores = compare(picture, empty, cell, np.arange(1 + len(empty.geometry.configurations.all)) <= TALLEST)
        first, second = np.sort(scores)[[-1, -2]]
        return int(scores.argmax()), float(first - second)

    return of


def with_stack(codes, geometry, cell, height, faint, off_mm=0.0, turn=0.0, foot_mm=0.0):
    """Return ``codes`` with a stack of cubes hardly darker than the ground, each side by another amount.

    ``off_mm``: of all of them, to the right; ``foot_mm``: of the lowest one from below the uppermost one, away.
    """
    prisms = geometry.prisms
    surfaces = np.zeros(geometry.size, np.int16)
    places = np.zeros((prisms.kinds.shape[1], 3))
    places[:, 0], places[:, 2] = off_mm, turn
    places[:height, 1] = np.linspace(foot_mm, 0, height)
    middle = np.array([0, 0, 0.5])
    whole = prisms._replace(maps=(prisms.maps + middle) * prisms.shrink - middle)
    spans = make_spans((0, 0), geometry.size, PER_PIECE * prisms.kinds.shape[1])
    span_stack(spans, whole, (cell, 0, height - 1), places)
    paint(surfaces, spans)
    way = np.where(surfaces >= FIRST, (surfaces - FIRST - 8) % 5, -1)
    shade = np.select([way == 0, way > 0], [1 + faint, 1 - faint * way], 1.0)
    return codes * shade


@pytest.mark.parametrize("height", [1, 2, 4])
@pytest.mark.parametrize("off_mm", [0.0, 1.5])
def test_faint_cubes_are_told_and_counted(likeliest, ground, geometry, cell, height, off_mm):
    """Cubes with a contrast of 10 % are found with their true height, also if displaced by 1.5 mm."""
    found, by = likeliest(with_stack(ground, geometry, cell, height, 0.1, off_mm))
    assert found == height
    assert by > 2


@pytest.mark.parametrize("foot_mm", [-2.0, 2.0])
def test_the_foot_of_a_stack_is_moved_below_its_face(hypothesis, ground, geometry, cell, foot_mm):
    """A leaning stack is found though its face lies where the search begins, and would be off after any other move."""
    height = 4
    picture, empty = hypothesis(with_stack(ground, geometry, cell, height, 0.1, foot_mm=foot_mm))
    prisms = geometry.prisms
    view = make_view(picture, geometry, prisms)
    patch = make_patch_of(empty.observations, view, np.array([cell]), np.array([height - 1]))
    given = np.where(np.arange(1 + len(prisms.counts)) == height, 0.0, -np.inf)
    _, places = compare_configurations(patch, prisms, view, stacks_of(empty, prisms), cell, given, FIT_NATS, False)
    assert abs(places[height, 0, 1] - foot_mm) < 0.7


@pytest.mark.parametrize("turn", [-0.14, 0.14])
def test_a_cube_is_turned_before_it_is_given_up(hypothesis, ground, geometry, cell, turn):
    """The fitted rotation has the sign and at least half of the amount of the true one."""
    picture, empty = hypothesis(with_stack(ground, geometry, cell, 1, 0.1, turn=turn))
    prisms = geometry.prisms
    view = make_view(picture, geometry, prisms)
    patch = make_patch_of(empty.observations, view, np.array([cell]), np.array([0]))
    given = np.where(np.arange(1 + len(prisms.counts)) == 1, 0.0, -np.inf)
    _, places = compare_configurations(patch, prisms, view, stacks_of(empty, prisms), cell, given, 0.0, False)
    assert places[1, 0, 2] / turn > 0.5


def test_where_nothing_may_be_moved_stacks_are_scored_where_they_stand(hypothesis, ground, geometry, cell):
    """With displacement disabled, a displaced stack scores lower than with it."""
    picture, empty = hypothesis(with_stack(ground, geometry, cell, 2, 0.1, off_mm=1.5))
    prisms = geometry.prisms
    view = make_view(picture, geometry, prisms)
    patch = make_patch_of(empty.observations, view, np.array([cell]), np.array([1]))
    given = np.where(np.arange(1 + len(prisms.counts)) <= 2, 0.0, -np.inf)
    around = patch, prisms, view, stacks_of(empty, prisms), cell, given
    still, places = compare_configurations(*around, -1.0, True)
    moved, _ = compare_configurations(*around, 0.0, True)
    assert (places == 0).all()
    assert still[0] == moved[0]
    assert still[2] < moved[2] - 1


def test_a_cube_aside_is_moved_before_it_is_given_up_whatever_is_given(hypothesis, ground, geometry, cell):
    """Whether a displaced cube is moved is decided by boundaries, not by other evidence against it."""
    picture, empty = hypothesis(with_stack(ground, geometry, cell, 1, 0.12, off_mm=2.0))
    prisms = geometry.prisms
    view = make_view(picture, geometry, prisms)
    patch = make_patch_of(empty.observations, view, np.array([cell]), np.array([0]))
    tried, against = np.arange(1 + len(prisms.counts)), -1.25 * PLACE_NATS
    around = patch, prisms, view, stacks_of(empty, prisms), cell
    (alone, found), (doubted, places) = (
        compare_configurations(*around, np.where(tried <= 1, tried * nats, -np.inf), 0.0, False)
        for nats in (0.0, against)
    )
    assert found[1].any()
    assert places[1].any()
    assert doubted[1] == pytest.approx(alone[1] + against, abs=1)


def test_the_stack_that_is_believed_is_moved_before_others_are_held_against_it(hypothesis, ground, geometry, cell):
    """Stacks whose place was never looked for may begin far behind: the one believed is moved all the same."""
    height = 3
    picture, believed = hypothesis(with_stack(ground, geometry, cell, height, 0.05, off_mm=2.4))
    believed.assign(cell, 1 + (height - 1) * believed.colours)
    prisms = geometry.prisms
    view = make_view(picture, geometry, prisms)
    patch = make_patch_of(believed.observations, view, np.array([cell]), np.array([height - 1]))
    given = np.where(np.isin(np.arange(1 + len(prisms.counts)), [0, height]), 0.0, -np.inf)
    around = patch, prisms, view, stacks_of(believed, prisms), cell, given
    still, _ = compare_configurations(*around, -1.0, False)
    moved, places = compare_configurations(*around, 0.0, False)
    assert still[0] - still[height] > PLACE_NATS
    assert moved[height] > still[height] + 3
    assert places[height, 0, 0] > 1


def test_even_ground_is_empty(likeliest, ground):
    """Uniform ground is read as empty."""
    found, by = likeliest(ground)
    assert found == 0
    assert by > 3


@pytest.mark.parametrize("axis", [0, 1])
def test_soft_shadow_over_the_ground_is_empty(likeliest, ground, axis):
    """A smooth gradient of light is read as empty."""
    slope = np.linspace(1, 0.5, ground.shape[axis])
    assert likeliest(ground * np.expand_dims(slope, 1 - axis))[0] == 0


def test_the_sharp_edge_of_a_shadow_is_no_cube(likeliest, ground, geometry, cell):
    """A shadow edge through the cell is read as empty."""
    middle = int(geometry.crops.origin_px[cell, 0])
    assert likeliest(np.where(np.arange(ground.shape[1]) < middle, 0.6 * ground, ground))[0] == 0


@pytest.mark.parametrize("seed", range(4))
def test_the_grain_of_a_table_counts_for_no_tower_before_it(hypothesis, ground, geometry, reader, seed):
    """Lines of grain count no more for a tower in front of them than uniform ground does.

    They lie along the tower's outline, but also everywhere else on the table.
    """
    far, (rows, columns) = reader.kit.cells.index("b8"), np.indices(ground.shape)
    table = cv2.resize((geometry.prisms.ground == Materials.TABLE).astype(np.uint8), ground.shape[::-1]) > 0
    grain = np.random.default_rng(seed).choice([0.6, 1.0, 1.3], 2000)[(rows + 2 * columns) // 8]
    gains = []
    for brightness in (np.where(table, ground * grain, ground), ground):
        picture, empty = hypothesis(brightness)
        scores = compare(picture, empty, far, np.arange(1 + len(empty.geometry.configurations.all)) <= TALLEST)
        gains.append(scores[0] - scores[TALLEST])
    assert gains[0] > gains[1]


def test_what_is_drawn_on_a_board_speaks_against_a_stack_that_would_hide_it(hypothesis, ground, geometry, cell):
    """Visible stripes of a learned board are evidence against a cube that would hide them."""
    stripes = np.where(np.arange(ground.shape[1]) // 12 % 2, 0.7, 1.0)
    picture, empty = hypothesis(ground * stripes)
    prisms, gain = geometry.prisms, empty.observations.gain[cell]
    small = make_view(picture, geometry, prisms).image
    levels = np.clip(np.rint(PER_VALUE * codes_to_values(small, gain)), 0, 255).astype(np.uint8)
    drawn = BarePicture(levels, np.ones(small.shape[:2], np.bool_), np.ones(3))
    given, gains = np.where(np.arange(1 + len(prisms.counts)) <= 1, 0.0, -np.inf), []
    for bare in (NO_BARE, drawn):
        view = make_view(picture, geometry, prisms, bare)
        patch = make_patch_of(empty.observations, view, np.array([cell]), np.array([0]))
        scores, _ = compare_configurations(patch, prisms, view, stacks_of(empty, prisms), cell, given, -1.0, True)
        gains.append(scores[0] - scores[1])
    assert gains[1] > gains[0] + 3


@pytest.mark.parametrize("nats", [-5.0, -15.0])
def test_what_is_in_doubt_is_decided_and_the_rest_is_left(hypothesis, ground, geometry, cell, nats):
    """A cell in doubt is decided; cells that were not updated keep their scores."""
    picture, doubtful = hypothesis(with_stack(ground, geometry, cell, 2, 0.1))
    doubtful.updated[:] = False
    doubtful.updated[cell] = True
    doubtful.scores[cell, 1:] = nats
    doubtful.scores[0, 1:] = -5.0
    rescore_by_rendering(picture, doubtful)
    assert doubtful.configuration_count(int(doubtful.state[cell])) == 2
    assert doubtful.scores[cell].argmax() == doubtful.state[cell]
    assert (doubtful.scores[0, 1:] == -5.0).all()


@pytest.mark.parametrize("is_smoothed", [False, True])
def test_in_a_smoothed_picture_boundaries_are_wider(hypothesis, ground, geometry, cell, is_smoothed):
    """Faint cubes, blurred as noise is removed, are found where that is known."""
    picture, doubtful = hypothesis(with_stack(ground, geometry, cell, 2, 0.08))
    doubtful.updated[:] = np.arange(len(doubtful.updated)) == cell
    doubtful.scores[cell, 1:] = -4.0
    rescore_by_rendering(cv2.GaussianBlur(picture, (0, 0), 2.5), doubtful, is_smoothed=is_smoothed)
    assert (doubtful.configuration_count(int(doubtful.state[cell])) == 2) == is_smoothed


@pytest.mark.parametrize(("nats", "is_compared"), [(DECIDED_NATS - 1, True), (DECIDED_NATS + 1, False)])
def test_nothing_is_compared_where_colours_have_told(hypothesis, ground, geometry, cell, nats, is_compared):
    """Cells whose colours favour emptiness by more than TOLD_NATS are not compared."""
    picture, told = hypothesis(with_stack(ground, geometry, cell, 2, 0.1))
    told.updated[:] = False
    told.updated[cell] = True
    told.scores[cell, 1:] = -nats
    told.isolated.scores[cell, 1:] = -2 * DOUBT_NATS
    rescore_by_rendering(picture, told)
    assert (told.state[cell] > 0) == is_compared


@pytest.fixture
def scene(hypothesis, ground, geometry, cell):
    """Return the scene around the cell, which stacks behind and in front of it overlap, and the view."""
    picture, crowded = hypothesis(with_stack(ground, geometry, cell, 3, 0.1))
    for other in np.argsort(np.linalg.norm(geometry.crops.centres_mm - geometry.crops.centres_mm[cell], axis=1))[1:9]:
        crowded.assign(int(other), 1 + 2 * crowded.colours)
    prisms = geometry.prisms
    view = make_view(picture, geometry, prisms)
    patch = make_patch_of(crowded.observations, view, np.array([cell]), np.array([3]))
    return make_scene_at(patch, prisms, view, stacks_of(crowded, prisms), cell), view


def seen_surfaces(scene, configuration, places):
    """Return the (height, width) surfaces of the patch, and the share of the stack that is visible among them."""
    surfaces = scene.around.surfaces[scene.around.shown].astype(np.int16)
    stack, is_open = np.full_like(surfaces, -1), np.ones(surfaces.shape, np.bool_)
    for row, (count, starts, labels) in enumerate(
        zip(scene.front.counts, scene.front.starts, scene.front.labels, strict=True)
    ):
        lengths = np.diff([*starts[:count], scene.front.width])
        is_open[row] = np.repeat(labels[:count], lengths) < 0
    span_stack(scene.spans, scene.prisms, (scene.cell, scene.rank, configuration), places)
    paint(stack, scene.spans)
    return np.where((stack >= 0) & is_open, stack, surfaces), (is_open & (stack >= 0)).sum() / (stack >= 0).sum()


def boundary_nats(scene, surfaces):
    """Return the log-likelihood ratio of the boundaries between surfaces (height, width), pixel by pixel."""
    total, seams, step = 0.0, {}, scene.patch.step
    for ratios, rows, columns, every in ((scene.patch.across, 0, step, 2), (scene.patch.down, step, 0, 1)):
        for row in range(0, len(surfaces) - rows, every):
            for column in range(surfaces.shape[1] - columns):
                pair = sorted((int(surfaces[row, column]), int(surfaces[row + rows, column + columns])))
                ratio = ratios[row, column + 1] - ratios[row, column]
                stacks, sides = np.divmod(np.array(pair) - FIRST, PER_CELL)
                sides -= PIECES
                is_seam = pair[0] >= FIRST and stacks[0] == stacks[1] and sides.min() >= 0
                if pair[0] != pair[1] and is_seam and sides[0] % PER_PIECE == sides[1] % PER_PIECE > 0:
                    seams[pair[0]] = seams.get(pair[0], 0) + ratio
                elif pair[0] != pair[1]:
                    total += ratio
    return total + sum(np.log(SEAM_ALIKE + (1 - SEAM_ALIKE) * np.exp(seam)) for seam in seams.values())


def colour_nats(scene, view, surfaces):
    """Return the log-likelihood of the colours of surfaces (height, width), pixel by pixel.

    Each piece of the stack has one colour.
    """
    total, patch, sampled = 0.0, scene.patch, surfaces[::COLOUR_STRIDE, ::COLOUR_STRIDE]
    pieces = {}
    for surface in np.unique(sampled):
        mine = sampled == surface
        first, kinds, material = TOPS, view.colours, view.materials[surface]
        if material >= 0:
            first, kinds = material, 1
        elif (surface - FIRST - PIECES) % PER_CELL % PER_PIECE:
            first += view.colours
        if surface == LINE:
            continue
        units = FLOOR_UNITS if surface < FIRST else mine.sum() * patch.area
        nats = patch.colours[mine, first : first + kinds].sum(axis=0) * patch.area / (1 + units / MAX_UNITS)
        own = int(surface) - first_surface(scene.rank)
        if 0 <= own < PER_CELL - PIECES:
            pieces[own // PER_PIECE] = pieces.get(own // PER_PIECE, 0) + nats
        else:
            total += nats.max()
    return total + sum(nats.max() for nats in pieces.values())


@pytest.mark.parametrize("configuration", [0, 2, 3])
def test_a_stack_is_scored_by_all_pixels_of_its_surroundings(scene, configuration):
    """The optimised score agrees with a pixel-by-pixel computation."""
    around, view = scene
    places = np.random.default_rng(configuration).normal(0, 0.5, (around.prisms.kinds.shape[1], 3))
    surfaces, share = seen_surfaces(around, configuration, places)
    assert 0 < share < 1
    assert seen_share(around, configuration, places) == pytest.approx(share)
    assert (surfaces >= first_surface(around.rank)).any()
    empty = around.around.surfaces[around.around.shown]
    gain = WEIGHT * sum(
        sign * (boundary_nats(around, shown) + colour_nats(around, view, shown))
        for sign, shown in ((1, surfaces), (-1, empty))
    )
    off = places[: configuration + 1] - np.vstack([np.zeros(3), places[:configuration]]) * [1, 1, 0]
    deviations = np.array([[PLACE_MM, PLACE_MM, TURN_RAD]] + [[OFF_MM, OFF_MM, TURN_RAD]] * configuration)
    expected = stack_log_likelihood(around, -1, places) + gain - ((off / deviations) ** 2).sum() / 2
    assert stack_log_likelihood(around, configuration, places) == pytest.approx(expected)


def test_what_colours_had_ruled_out_is_compared_with_a_height_that_is_chosen_against_them(hypothesis, ground, cell):
    """Where boundaries refute one height, an empty cell is compared as well, although the colours ruled it out.

    The picture shows bare ground; the colours see two cubes as in a shadow of that colour, which has no edges.
    """
    picture, wrong = hypothesis(ground)
    scores = np.full((len(wrong.geometry.configurations.all), wrong.colours), -200.0, np.float32)
    scores[:2, 0] = DOUBT_NATS - 5, DOUBT_NATS + 2
    wrong.set_scores(np.array([cell]), np.append(0, scores)[None].astype(np.float32))
    wrong.assign(cell, int(wrong.scores[cell].argmax()))
    rescore_by_rendering(picture, wrong)
    assert wrong.state[cell] == 0


def test_the_next_height_is_compared_with_one_that_is_chosen_against_colours(hypothesis, ground, geometry, cell):
    """Four cubes of the ground's colour are found: the next greater height is compared even if colours rule it out.

    The colours find nothing, accept up to three cubes, and exclude four.
    """
    picture, wrong = hypothesis(with_stack(ground, geometry, cell, 4, 0.1))
    wrong.isolated.scores[cell] = -200  # otherwise the colours would be scored again
    scores = np.full((len(wrong.geometry.configurations.all), wrong.colours), -200.0, np.float32)
    scores[:3, 0], scores[3, 0] = -5, -2.5 * DOUBT_NATS
    wrong.set_scores(np.array([cell]), np.append(0, scores)[None].astype(np.float32))
    rescore_by_rendering(picture, wrong)
    assert wrong.configuration_count(int(wrong.state[cell])) == 4


@pytest.mark.parametrize("colour_weight", [1.0, HEIGHTS_COLOUR_WEIGHT])
def test_evidence_counts_for_less_among_heights_and_as_before_against_none(colour_weight):
    """Boundaries and colours are weighted down among heights, but count fully against the empty cell."""
    heights, tried = np.array([0.0, 8.0, 10.0, 9.0]), np.array([True, True, True, False])
    boundaries = np.array([1.0, 6.0, 5.0, 0.0])
    given = bounded_colour_evidence(heights - heights.max())
    compared = np.where(tried, given + boundaries, -np.inf)
    shared = reweighted(compared, given, tried, np.arange(1, 4), colour_weight)
    assert shared[1:].max() - shared[0] == pytest.approx(compared[1:].max() - compared[0])
    by_colour, by_boundary = colour_weight * (given[1] - given[2]), BOUNDARY_WEIGHT * (boundaries[1] - boundaries[2])
    assert shared[1] - shared[2] == pytest.approx(by_colour + by_boundary + PIECE_NATS)
    assert shared[3] == -np.inf


def test_where_no_height_is_compared_what_was_compared_stays():
    """Without other heights the scores are unchanged."""
    compared, tried = np.array([0.5, -np.inf]), np.array([True, False])
    assert (reweight_heights(compared, np.array([0.0, -30.0]), tried, np.ones(1, np.intp)) == compared).all()
