"""Piece sizes given by the user."""

import pytest

from calibration.errors import ProfileError
from calibration.kit import load_kit
from calibration.piece_sizes import PieceSize, piece_sizes, with_sizes


def sizes_after(name, sizes):
    """Return the piece sizes of a kit after the user has given some."""
    return piece_sizes(with_sizes(load_kit(name), sizes).pieces)


def test_pieces_of_one_shape_and_size_are_told_together():
    """Pieces of equal shape and size are listed together."""
    assert piece_sizes(load_kit("domination").pieces) == (PieceSize("RGBY", "disc", 27.0, 7.0),)
    assert [(each.letters, each.width_mm) for each in piece_sizes(load_kit("ziggurat").pieces)] == [
        ("Qq", 25.4),
        ("Dd", 19.8),
        ("Ww", 14.3),
    ]


def test_discs_cubes_and_pyramids_are_as_large_as_told():
    """Given sizes replace those of the kit; cubes have one size only."""
    assert sizes_after("domination", {"": (30.0, 8.5)}) == (PieceSize("RGBY", "disc", 30.0, 8.5),)
    assert sizes_after("citadel", {"": (18.0, None)}) == (PieceSize("RB", "cube", 18.0, 18.0),)
    assert sizes_after("citadel", {"": (18.0, 7.0)}) == (PieceSize("RB", "cube", 18.0, 18.0),)
    assert sizes_after("ziggurat", {"Qq": (28.0, 50.0)}) == (
        PieceSize("Qq", "pyramid", 28.0, 50.0),
        *piece_sizes(load_kit("ziggurat").pieces)[1:],
    )


def test_one_side_s_pieces_may_be_larger():
    """One kind of pieces may be given its own size."""
    assert sizes_after("domination", {"R": (30.0, 8.0)}) == (
        PieceSize("R", "disc", 30.0, 8.0),
        PieceSize("GBY", "disc", 27.0, 7.0),
    )


def test_larger_pyramids_rise_more_over_each_other():
    """The rise of stacked pyramids scales with their height."""
    kit = load_kit("ziggurat")
    double = {each.letters: (1.4 * each.width_mm, 2 * each.height_mm) for each in piece_sizes(kit.pieces)}
    assert with_sizes(kit, double).stacking.tower_rise_mm == 2 * kit.stacking.tower_rise_mm


def test_nothing_told_changes_nothing():
    """Without given sizes the kit is unchanged."""
    for name in ("domination", "citadel", "ziggurat"):
        assert with_sizes(load_kit(name), {}) == load_kit(name)


@pytest.mark.parametrize(
    ("name", "sizes", "said"),
    [
        ("domination", {"": (30.0, None)}, "pieces: give width and height"),
        ("domination", {"RX": (30.0, 8.0)}, "pieces RX: the kit has R, G, B, Y"),
        ("domination", {"": (3.0, 8.5)}, "3 mm wide does not suit the squares; give 7 to 33 mm"),
        ("domination", {"": (34.0, 8.5)}, "34 mm wide does not suit"),
        ("domination", {"": (27.0, 0.7)}, "0.7 mm high is no piece; give 1 to 100 mm"),
        ("domination", {"": (27.0, 101.0)}, "101 mm high"),
        ("domination", {"": (float("nan"), 7.0)}, "does not suit"),
        ("ziggurat", {"": (25.0, 44.0)}, "several sizes: say of which pieces, Qq=…, Dd=…, Ww=…"),
    ],
)
def test_lengths_that_no_piece_has_are_refused(name, sizes, said):
    """Unusable sizes are refused."""
    with pytest.raises(ProfileError, match=said):
        sizes_after(name, sizes)
