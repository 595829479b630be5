"""Layouts of photographs from which sets are learned."""

from dataclasses import replace

import pytest

from calibration.kit import load_kit
from companion.app.ground import parse_layout
from companion.errors import CompanionError


def test_a_board_text_names_stacks_by_square():
    layout = parse_layout("R,2,GG/1,B,4/8/8/8/2,RGR,5/6/Y,3", load_kit("domination"))
    assert layout == {"c8": "R", "f8": "GG", "c7": "B", "c3": "RGR", "c1": "Y"}


def test_the_start_and_the_enrolment_are_known_by_name():
    kit = load_kit("citadel")
    start = parse_layout("start", kit)
    assert len(start) == 16
    assert start["c1"] == "R"
    assert parse_layout("enrol", kit) == kit.enrol


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("8/8", "give 8 ranks joined by /"),
        ("4/6/8/8/8/8/6/5", "rank '5' does not have 4 squares"),
        ("4/6/8/8/8/8/6/3,Q", "'Q' is no stack of this kit's pieces B, G, R, Y"),
        ("4/6/8/8/8/8/6/99999999", "rank '99999999' does not have 4 squares"),
    ],
)
def test_what_does_not_fit_the_board_is_named(text, said):
    with pytest.raises(CompanionError, match=said):
        parse_layout(text, load_kit("domination"))


def test_a_start_that_the_kit_has_no_squares_for_is_named():
    kit = load_kit("citadel")
    with pytest.raises(CompanionError, match="--layout start: the kit citadel has no square c1"):
        parse_layout("start", replace(kit, board=replace(kit.board, missing=frozenset({"c1"}))))
