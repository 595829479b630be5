"""Colour model: each material is a distribution over colours under any light."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.appearance import linear, nominal_appearance, read_appearance
from calibration.board_appearance import unknown_board
from calibration.kit import load_kit
from calibration.srgb import display
from vision.appearance import colour_model
from vision.scene.configurations import kit_configurations
from vision.scene.materials import Materials

KIT = load_kit("domination")
LETTERS = ("R", "G", "B", "Y")
MATERIALS = Materials(len(LETTERS))
BINS = colour_model.BINS
NO_PIECES = np.zeros(BINS**3, np.float32)


@pytest.fixture(scope="module")
def table():
    """Build the colour model of Domination: (BINS³, materials) log-likelihoods."""
    return colour_model.build_colour_model(nominal_appearance(KIT), kit_configurations(KIT), linear(KIT.mat.colour))


def row_of(colour):
    """Return the row of the colour model for an sRGB colour under full white light."""
    values = colour_model.normalise(np.array([[colour[::-1]]], np.uint8), np.ones((1, 1, 3), np.float32))
    return colour_model.bin_index(values)[0, 0]


def test_every_column_is_a_distribution_over_colours(table):
    """Each column but STANDING sums to 1 over all colours."""
    assert table.shape == (colour_model.BINS**3, MATERIALS.column_side)
    likelihood = np.exp(table.astype(np.float64))
    np.testing.assert_allclose(np.delete(likelihood, MATERIALS.STANDING, axis=1).sum(axis=0), 1, rtol=1e-3)


def test_a_side_that_is_there_is_the_side_of_some_piece(table):
    """The likelihood of any side is the maximum over the sides of all pieces."""
    sides = table[:, MATERIALS.sides :]
    np.testing.assert_array_equal(table[:, MATERIALS.STANDING], sides.max(axis=1))


def test_a_face_that_mirrors_the_lamp_is_still_likelier_than_an_outlier(table):
    """A red face with 40 % of glare is more likely than an outlier by 3 nats."""
    red = np.array(KIT.pieces[0].colour)
    glaring = tuple(int(c) for c in red + 0.4 * (255 - red))
    outlier = colour_model.OUTLIER_SHARE / colour_model.BINS**3
    assert table[row_of(glaring), MATERIALS.TOPS] > np.log(outlier) + 3


def test_in_a_pit_dark_ground_is_likelier_and_bright_ground_less_so(examples):
    """On a pillar top with little visible sky dark colours are more likely, bright ones less."""
    kit = load_kit("diamond")
    appearance = read_appearance(examples / "sets" / "diamond" / "set.toml", kit)
    table = colour_model.build_colour_model(appearance, kit_configurations(kit), appearance.floor)
    materials = Materials(5)
    open_top, pit = materials.column_top(1.0), materials.column_top(0.3)
    assert open_top == materials.column_tops
    top = np.array(appearance.column.top)
    dark, bright = (colour_model.bin_index(display(share * top[None]).astype(np.float32))[0] for share in (0.14, 1.0))
    assert table[dark, pit] > table[dark, open_top] + 1
    assert table[bright, open_top] > table[bright, pit] + 1


def test_a_dark_wall_in_a_pit_is_nearly_as_likely_as_a_side_of_a_dark_piece(examples):
    """Else pits seemed full of the dark cubes that stand in them."""
    kit = load_kit("diamond")
    appearance = read_appearance(examples / "sets" / "diamond" / "set.toml", kit)
    configurations, column = kit_configurations(kit), appearance.column
    model = colour_model.build_colour_model(appearance, configurations, appearance.floor)
    materials = Materials(len(configurations.colours))
    gray = next(i for i, letters in enumerate(configurations.colours) if "X" in letters)
    dark = colour_model.bin_index(display(0.02 * np.array(column.side)).astype(np.float32)[None])[0]
    assert model[dark, materials.column_side] > model[dark, materials.sides + gray] - 2


def test_each_piece_is_likeliest_its_own(table):
    """Each piece's colour is most likely for that piece, and far less likely for the floor."""
    kit = load_kit("domination")
    for i, kind in enumerate(kit.pieces):
        tops = table[row_of(kind.colour), MATERIALS.TOPS : MATERIALS.TOPS + len(LETTERS)]
        assert tops.argmax() == i
        assert tops[i] > table[row_of(kind.colour), MATERIALS.FLOOR] + 3


@pytest.mark.parametrize("is_learned", [True, False])
def test_a_piece_may_be_darker_than_one_that_mirrored_a_lamp_when_it_was_enrolled(monkeypatch, is_learned):
    """A dark red is more likely for a piece that was enrolled pale if a lamp may have been mirrored then."""
    board = unknown_board(KIT.mat.width_mm, KIT.mat.height_mm)
    appearance = replace(nominal_appearance(KIT), board=replace(board, seen=np.ones_like(board.seen)))
    appearance = replace(appearance, pieces={**appearance.pieces, "R": (0.9, 0.6, 0.6)})
    appearance = appearance if is_learned else replace(appearance, board=None)
    own = colour_model.bin_index(display(np.array([[0.4, 0.1, 0.1]])).astype(np.float32))[0]
    bleached = colour_model.build_colour_model(appearance, kit_configurations(KIT), None)[own, MATERIALS.TOPS]
    monkeypatch.setattr(colour_model, "BLEACHED_SHARE", 0.0)
    assert (
        bleached > colour_model.build_colour_model(appearance, kit_configurations(KIT), None)[own, MATERIALS.TOPS] + 1
    )


def test_an_orange_board_makes_brown_sides_likelier_those_of_a_pale_blue_piece():
    """Light that an orange board reflects makes the sides of pale blue discs as brown as they were in a picture."""
    board = unknown_board(KIT.mat.width_mm, KIT.mat.height_mm)
    brown = colour_model.bin_index(display(np.array((0.091, 0.103, 0.067))).astype(np.float32))
    blue, green = (0.19, 0.31, 0.36), (0.03, 0.13, 0.014)
    pieces = dict(zip(LETTERS, (blue, green, green, green), strict=True))
    ahead = []
    for floor in ((0.51, 0.29, 0.12), (0.31, 0.31, 0.31)):
        shown = np.full_like(board.colour, display(np.array(floor)).astype(np.float32))
        learned = replace(board, colour=shown, seen=np.ones_like(board.seen))
        appearance = replace(nominal_appearance(KIT), pieces=pieces, board=learned)
        sides = colour_model.build_colour_model(appearance, kit_configurations(KIT), None)[brown, MATERIALS.sides :]
        ahead.append(sides[0] - sides[1])
    assert ahead[0] > ahead[1] + 1


def test_a_shaded_floor_is_still_a_floor(table):
    """The floor at 73 % of its code is still most likely the floor."""
    half_lit = tuple(int(0.73 * c) for c in load_kit("domination").board.cell_colour)
    assert table[row_of(half_lit)].argmax() == MATERIALS.FLOOR


@given(st.tuples(*[st.integers(0, 255)] * 3), st.floats(0.02, 1.5))
def test_any_pixel_in_any_light_has_a_row(colour, light):
    """Any colour under any light has a valid row index."""
    values = colour_model.normalise(np.array([colour], np.uint8), np.full((1, 3), light, np.float32))
    assert 0 <= colour_model.bin_index(values)[0] < colour_model.BINS**3


def test_what_lies_outside_the_mat_is_learned(table):
    """The colour of a wooden table is the most likely one in the learned column of the table."""
    wood = colour_model.bin_index(np.full((500, 3), (0.6, 0.4, 0.2), np.float32))
    column = colour_model.table_column(wood, np.exp(table[:, MATERIALS.FLOOR]), NO_PIECES)
    assert column.argmax() == wood[0]


def test_pixels_have_the_rows_of_their_normalised_colours():
    """Rows looked up code by code agree with those of the normalised pixels, also beyond the range."""
    rng, light = np.random.default_rng(0), np.array([0.2, 0.5, 1.2], np.float32)
    image, places = rng.integers(0, 256, (40, 50, 3), np.uint8), rng.integers(0, 2000, 500)
    values = colour_model.normalise(image.reshape(-1, 3)[places], light)
    rows = colour_model.bin_index(np.clip(values, 0, colour_model.TOP_VALUE))
    np.testing.assert_array_equal(colour_model.rows_at(image, places, light), rows)


def test_a_cloth_of_a_pieces_colour_is_no_likelier_than_the_piece(table):
    """A cloth with a piece's colour does not become more likely than that piece."""
    pieces = colour_model.piece_likelihood(table, len(LETTERS))
    row = int(table[:, MATERIALS.TOPS].argmax())
    sampled = np.full(500, row, np.int32)
    paper = np.exp(table[:, MATERIALS.FLOOR])
    assert colour_model.table_column(sampled, paper, NO_PIECES)[row] > table[row, MATERIALS.TOPS] + 1
    assert colour_model.table_column(sampled, paper, pieces)[row] == pytest.approx(np.log(pieces[row]))


def test_any_histogram_sums_to_one_also_at_the_ends_of_the_range():
    """A learned histogram sums to 1, also for values at the ends of the range."""
    values = np.array([[0.0, 0.0, 0.0], [2.0, 2.0, 2.0], [0.5, 0.0, 1.25]], np.float32)
    likelihood = np.exp(colour_model._learn(values).astype(np.float64))
    assert likelihood.sum() == pytest.approx(1, abs=1e-4)
    rows = colour_model.bin_index(values)
    assert rows.tolist() == [0, colour_model.BINS**3 - 1, rows[2]]
    assert likelihood[rows[0]] > likelihood[rows[2]] > 100 * np.median(likelihood)


def test_the_table_is_a_distribution_of_what_was_sampled_and_paper(table):
    """The column of the table, mixed from samples and paper, sums to 1."""
    paper = np.exp(table[:, MATERIALS.FLOOR])
    grey = colour_model.bin_index(np.full((9, 3), 0.4, np.float32))
    likelihood = np.exp(colour_model.table_column(grey, paper, NO_PIECES).astype(np.float64))
    assert likelihood.sum() == pytest.approx(1, abs=1e-3)


def test_a_pale_piece_is_not_any_pale_colour():
    """A pale piece is less likely to show a wood colour than its own."""
    pale = replace(nominal_appearance(KIT), pieces=dict.fromkeys(LETTERS, (0.52, 0.48, 0.38)))
    table = colour_model.build_colour_model(pale, kit_configurations(KIT), linear(KIT.mat.colour))
    own, wood = (
        colour_model.bin_index(display(np.array([colour])).astype(np.float32))[0]
        for colour in ((0.52, 0.48, 0.38), (0.42, 0.35, 0.22))
    )
    assert table[own, MATERIALS.TOPS] > table[wood, MATERIALS.TOPS] + 1


def test_paper_is_no_floor(table):
    """White is more likely paper than floor."""
    white = row_of((255, 255, 255))
    assert table[white, MATERIALS.PAPER] > table[white, MATERIALS.FLOOR] + 2


def test_a_side_in_deep_shade_is_understood_but_no_likelier_than_an_outlier(table):
    """With deep shade included, a very dark side is explained, but hardly better than an outlier.

    Other materials are unchanged.
    """
    appearance, configurations = nominal_appearance(KIT), kit_configurations(KIT)
    shaded = colour_model.with_deep_shade(table, colour_model.sides_in_deep_shade(appearance, configurations))
    red = 0.08 * np.array(appearance.pieces["R"])
    dark = colour_model.bin_index(display(red).astype(np.float32)[None])[0]
    side = MATERIALS.sides + next(i for i, letters in enumerate(configurations.colours) if "R" in letters)
    assert table[dark, side] < colour_model.OUTLIER_LOG < shaded[dark, side] < table[:, side].max() - 5
    np.testing.assert_array_equal(shaded[:, MATERIALS.STANDING], shaded[:, MATERIALS.sides :].max(axis=1))
    np.testing.assert_array_equal(shaded[:, : MATERIALS.STANDING], table[:, : MATERIALS.STANDING])


def test_beside_terrain_a_dark_side_is_likelier_a_pieces():
    """Next to terrain a dark pixel is more likely a piece's side; on a flat kit it is more likely a shadow."""
    pink, likely = (0.8, 0.62, 0.6), []
    for kit in (load_kit("citadel"), KIT):
        nominal = nominal_appearance(kit)
        appearance = replace(nominal, pieces={**nominal.pieces, "R": pink})
        model = colour_model.build_colour_model(appearance, kit_configurations(kit), linear(kit.mat.colour))
        dark = colour_model.bin_index(display(0.12 * np.array(pink)).astype(np.float32)[None])[0]
        likely.append(model[dark, Materials.STANDING])
    assert likely[0] > likely[1] + 2


@pytest.mark.parametrize("letter", ["K", "p"])
def test_wood_is_expected_as_it_was_learned_round_either_ink(letter):
    """A camera smears red ink over its wood, so the wood around black ink, and the sides of all pieces, are greener."""
    kit = load_kit("cheight")
    nominal = nominal_appearance(kit)
    pieces = {name: (0.55, 0.7, 0.35) if name.isupper() else (0.2, 0.9, 0.3) for name in nominal.pieces}
    appearance = replace(nominal, pieces=pieces, inks=dict.fromkeys(pieces, (0.1, 0.05, 0.05)))
    kinds = kit_configurations(kit)
    model = colour_model.build_colour_model(appearance, kinds, appearance.floor)
    shaded = 255 * display(0.5 * np.array(pieces[letter]))
    side = row_of(tuple(np.rint(shaded).astype(int).tolist()))
    assert model[side, Materials(len(kinds.colours)).sides] > colour_model.OUTLIER_LOG + 6
