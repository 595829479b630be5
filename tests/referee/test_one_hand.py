"""Several plies in one visit: by several players, or by one who did what only several may do."""

from __future__ import annotations

import pytest

from companion.events import Accepted, Illegal, Unsure
from companion.games import read_position
from companion.match import Match
from companion.tracker.hands import (
    LOG_ONE,
    LOG_UNSEEN,
    MIN_FRAMES,
    NO_HANDS,
    add_sides,
    end_visit,
    one_player_log_odds,
)

START = "domination 4/R,R,G,G,R,R/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/G,G,R,R,G,G/4 R"
RED, GREEN = [("e4", ""), ("e5", "GR")], [("d7", ""), ("d6", "RG")]
RED_AGAIN, GREEN_AGAIN = [("f5", ""), ("f6", "GR")], [("c6", ""), ("c5", "RG")]


def visited(shot, sides, *cells):
    """Show a visit with arms from ``sides`` that changes some cells; return the events."""
    shot.sweep(8, sides)
    return shot.show(*cells, frames=30)


@pytest.fixture
def shot(film):
    """Return a film in which each player has moved once, Red from the south, Green from the north."""
    shot = film(Match(*read_position(START)))
    shot.show()
    assert [event.event for event in visited(shot, "S", *RED)] == ["accepted"]
    assert [event.event for event in visited(shot, "N", *GREEN)] == ["accepted"]
    return shot


def test_two_plies_by_two_arms_are_two_players(shot) -> None:
    """Two plies with an arm from each player's side are accepted as two moves."""
    said = visited(shot, "SN", *RED_AGAIN, *GREEN_AGAIN)
    assert [event.move for event in said if isinstance(event, Accepted)] == ["f5-f6", "c6-c5"]


def test_two_plies_by_one_arm_are_one_player_who_did_both(shot) -> None:
    """Two plies with only one player's arm are illegal, and all of their cells are named."""
    (illegal,) = visited(shot, "S", *RED_AGAIN, *GREEN_AGAIN)
    assert isinstance(illegal, Illegal)
    assert "G-2" in illegal.rules
    assert set(illegal.cells) >= {"f5", "f6", "c6", "c5"}


def test_without_a_sight_of_arms_they_are_taken_for_two_players(shot) -> None:
    """Without information about arms, two plies are accepted as two moves."""
    said = shot.show(*RED_AGAIN, *GREEN_AGAIN, frames=30)
    assert [event.move for event in said if isinstance(event, Accepted)] == ["f5-f6", "c6-c5"]


def test_while_nobody_knows_who_sits_where_people_are_asked(film) -> None:
    """If the seats are unknown, two plies by one arm are asked about."""
    shot = film(Match(*read_position(START)))
    shot.show()
    (unsure,) = visited(shot, "S", *RED, *GREEN)
    assert isinstance(unsure, Unsure)
    assert unsure.options == ("e4-e5 d7-d6",)
    assert "one did it all" in unsure.question


def seated(**sides):
    """Return what is known of the seats after each player has reached in from one side."""
    hands = NO_HANDS
    for player, side in sides.items():
        for _ in range(MIN_FRAMES):
            hands = add_sides(hands, side)
        hands = end_visit(hands, [player])
    return hands


def test_an_arm_that_pictures_may_have_missed_is_asked_about(shot) -> None:
    """If frames are missing, a second arm may have been missed, so the plies are asked about."""
    shot.sweep(4, "S")
    shot.frame += 5  # a gap in the frames, as on a busy computer
    (unsure,) = visited(shot, "S", *RED_AGAIN, *GREEN_AGAIN)
    assert isinstance(unsure, Unsure)
    assert unsure.options == ("f5-f6 c6-c5",)
    assert "one did it all" in unsure.question


def test_a_gap_between_pictures_is_forgotten_once_the_table_makes_sense(film) -> None:
    """A gap in the frames before the last accepted moves does not prevent an accusation."""
    shot = film(Match(*read_position(START)))
    shot.show()
    shot.sweep(4, "S")
    shot.frame += 5
    visited(shot, "S", *RED)
    visited(shot, "N", *GREEN)
    (illegal,) = visited(shot, "S", *RED_AGAIN, *GREEN_AGAIN)
    assert isinstance(illegal, Illegal)


def test_players_at_one_side_cannot_be_told_apart() -> None:
    """Players on one side give the same odds as players with unknown seats."""
    hands = add_sides(add_sides(seated(R="S", G="S"), "S"), "S")
    for _ in range(MIN_FRAMES):
        hands = add_sides(hands, "S")
    assert one_player_log_odds(hands, "RG") == one_player_log_odds(add_sides(seated(), "S" * MIN_FRAMES), "RG")


def test_a_player_of_whom_no_usual_side_is_seen_was_not_there() -> None:
    """This holds even if the other player has also reached in from that side."""
    hands = end_visit(add_sides(seated(R="S", G="W"), "WW"), ["R"])
    assert set(hands.seats["R"]) == {"S", "W"}
    from_s, from_w = (add_sides(hands, side * MIN_FRAMES) for side in "SW")
    assert one_player_log_odds(from_s, "RG") == LOG_ONE + LOG_UNSEEN
    assert one_player_log_odds(from_w, "RG") == LOG_ONE


def test_one_move_or_one_player_is_no_question() -> None:
    """A single ply, or two plies of one player, need no odds."""
    hands = add_sides(seated(R="S", G="N"), "S" * MIN_FRAMES)
    assert one_player_log_odds(hands, "R") is None
    assert one_player_log_odds(hands, "RR") is None
