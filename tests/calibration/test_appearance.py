"""Set files record which pieces the enrolment did not find, and the radii of rings."""

from dataclasses import replace

import pytest

from calibration.appearance import format_appearance, nominal_appearance, read_appearance
from calibration.errors import ProfileError
from calibration.kit import load_kit

KIT = load_kit("domination")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "set.toml"


def test_pieces_that_were_not_found_are_named_in_the_file(file):
    """Letters of missing pieces survive a round trip."""
    file.write_text(format_appearance(replace(nominal_appearance(KIT), not_found=("Y",))), encoding="utf-8")
    assert read_appearance(file, KIT).not_found == ("Y",)


def test_pieces_that_are_hardly_told_apart_are_named_in_the_file(file):
    """Pairs of letters of such pieces survive a round trip."""
    file.write_text(format_appearance(replace(nominal_appearance(KIT), alike=("BG", "RY"))), encoding="utf-8")
    assert read_appearance(file, KIT).alike == ("BG", "RY")


def test_of_a_whole_set_nothing_is_said(file):
    """A complete set of clear colours has no such keys."""
    file.write_text(format_appearance(nominal_appearance(KIT)), encoding="utf-8")
    assert not {"not_found", "alike"} & set(file.read_text(encoding="utf-8").split())
    assert read_appearance(file, KIT).not_found == read_appearance(file, KIT).alike == ()


@pytest.mark.parametrize(("key", "named", "what"), [
    ("not_found", '["Q"]', "letters"),
    ("not_found", "[1]", "letters"),
    ("alike", '["B"]', "pairs of letters"),
    ("alike", '["BQ"]', "pairs of letters"),
    ("alike", "[2]", "pairs of letters"),
])  # fmt: skip
def test_pieces_that_the_kit_does_not_have_are_refused(file, key, named, what):
    """Unknown letters are refused, and single ones where pairs are named."""
    text = format_appearance(nominal_appearance(KIT)).replace("rim =", f"{key} = {named}\nrim =")
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ProfileError, match=f"{key}: only {what} of the kit's pieces$"):
        read_appearance(file, KIT)


def test_the_radius_of_a_ring_is_kept_and_need_not_be_known(file):
    """The radii of both rings survive a round trip; they are optional."""
    file.write_text(
        format_appearance(replace(nominal_appearance(KIT), ring_mm=12.4, inner_ring_mm=7.1)), encoding="utf-8"
    )
    read = read_appearance(file, KIT)
    assert (read.ring_mm, read.inner_ring_mm) == (12.4, 7.1)
    file.write_text(format_appearance(nominal_appearance(KIT)), encoding="utf-8")
    assert read_appearance(file, KIT).ring_mm is None


def test_a_ring_without_a_size_is_refused(file):
    """A radius of zero or less is refused."""
    text = format_appearance(nominal_appearance(KIT)).replace("rim =", "ring_mm = -1\nrim =")
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ProfileError, match=r"ring_mm must be greater than zero"):
        read_appearance(file, KIT)
