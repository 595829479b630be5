"""Citadel, rule by rule."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from companion.games import load_game, read_position

Broken = Callable[[str, str], list[str]]
Sentence = Callable[[str, str, str], str]
After = Callable[..., str]
Legal = Callable[..., set[str]]
End = Callable[[str], tuple[str | None, str] | None]

# The terrain of ranks 1 and 2 is 0 0 1 2 2 1 0 0; ranks 3 to 6 lie at 0.
OPEN = "citadel 8/8/8/2,RB,B,4/2,R,BR,RRR,3/8/1,R,R,5/8 R"


@pytest.mark.rule("CIT-1")
@pytest.mark.rule("G-1")
def test_the_owner_of_the_top_block_moves_the_stack(broken: Broken, sentence: Sentence, legal: Legal) -> None:
    assert broken(OPEN, "c5-b5") == ["G-1", "CIT-1"]
    assert sentence(OPEN, "c5-b5", "G-1") == "the stack on c5 is North's, and it is South's turn."
    assert legal(OPEN, "c5") == set()


@pytest.mark.rule("CIT-2")
@pytest.mark.rule("G-2")
def test_a_move_takes_the_top_blocks(legal: Legal, broken: Broken, after: After) -> None:
    assert {move for move in legal(OPEN, "e4") if "e4-f4" in move} == {"e4-f4", "e4-f4:1", "e4-f4:2"}
    assert after(OPEN, "d4-d3:1").split()[1] == "8/8/8/2,RB,B,4/2,R,B,RRR,3/3,R,4/1,R,R,5/8"
    assert broken(OPEN, "c4-b4:2") == ["CIT-2"]
    assert broken(OPEN, "a1-a2") == ["G-2", "CIT-1", "CIT-2"]


@pytest.mark.rule("CIT-3")
def test_blocks_go_to_an_orthogonal_neighbour(broken: Broken) -> None:
    assert broken(OPEN, "c4-b3") == ["CIT-3"]
    assert broken(OPEN, "c4-a4") == ["CIT-3"]
    assert broken(OPEN, "c4-c4") == ["CIT-3"]


@pytest.mark.rule("CIT-4")
def test_blocks_slide_level_and_fall(legal: Legal, after: After) -> None:
    assert "e4-d4:1" in legal(OPEN, "e4")
    assert "e4-d4:2" not in legal(OPEN, "e4")
    assert after(OPEN, "e4-d4:1").split()[1] == "8/8/8/2,RB,B,4/2,R,BRR,RR,3/8/1,R,R,5/8"
    assert after(OPEN, "c2-c3").split()[1] == "8/8/8/2,RB,B,4/2,R,BR,RRR,3/2,R,5/1,R,6/8"
    assert "c2-b2" in legal(OPEN, "c2")


@pytest.mark.rule("CIT-5")
def test_a_lone_block_climbs_bare_board_and_its_own_colour(legal: Legal, broken: Broken, sentence: Sentence) -> None:
    assert "b1-c1" in legal("citadel 8/8/8/8/8/8/8/1,R,6 R")
    assert "b4-c4" in legal("citadel 8/8/8/8/1,R,R,5/8/8/8 R")
    assert "c1-d1" not in legal("citadel 8/8/8/8/8/8/8/2,RR,5 R")
    assert broken("citadel 8/8/8/2,B,5/2,R,5/8/8/8 R", "c4-c5") == ["CIT-4", "CIT-5", "CIT-6"]
    assert "North's block is on top of c5" in sentence("citadel 8/8/8/2,B,5/2,R,5/8/8/8 R", "c4-c5", "CIT-5")


@pytest.mark.rule("CIT-6")
def test_stacks_never_go_up_and_nothing_goes_up_two(broken: Broken, sentence: Sentence) -> None:
    assert broken(OPEN, "d4-d5") == ["CIT-4", "CIT-5", "CIT-6"]
    assert sentence(OPEN, "d4-d5", "CIT-6") == "d4 is a stack of 2, so it cannot go up from d4 to d5."
    assert broken(OPEN, "b2-c2") == ["CIT-4", "CIT-6"]
    assert sentence(OPEN, "b2-c2", "CIT-4") == "b2 to c2 goes up from level 0 to level 2; blocks stay level or fall."


@pytest.mark.rule("CIT-7")
def test_what_stays_belongs_to_its_new_top(after: After, legal: Legal) -> None:
    uncovered = after(OPEN, "d4-d3:1")
    assert any(move.startswith("d4-") for move in legal(uncovered))


@pytest.mark.rule("CIT-8")
def test_holding_four_goal_squares_wins(after: After, end: End) -> None:
    ready = "citadel 3,R,R,3/3,RBR,1,R,2/8/8/8/8/8/B,7 R"
    assert end(ready) is None
    assert end(after(ready, "f7-e7")) == ("R", "CIT-8")
    assert end(after(ready.replace("R,R,3/", "R,RB,3/"), "f7-e7")) is None
    assert end(after(ready.replace("R,R,3/", "R,BR,3/"), "f7-e7")) is None


@pytest.mark.rule("CIT-8")
def test_the_win_may_come_on_the_opponents_move(after: After, end: End) -> None:
    """North moves a block away from a stack whose bottom and new top are South's."""
    over = after("citadel 3,R,R,3/3,R,RRB,3/8/8/8/8/8/8 B", "e7-e6:1")
    assert over.split()[2] == "-"
    assert end(over) == ("R", "CIT-8")


@pytest.mark.rule("G-5")
def test_after_the_end_no_move_counts(broken: Broken) -> None:
    assert broken("citadel 3,R,R,3/3,R,R,3/8/8/8/8/8/B,7 -", "a1-a2") == ["G-5"]


@pytest.mark.rule("G-3")
def test_who_cannot_move_is_skipped_and_nobody_left_is_a_draw(after: After, end: End) -> None:
    walled = "citadel:six 6/6/6/6/6/BR,R,4 R"
    assert after(walled, "b1-a1").split()[2] == "R"
    assert end("citadel:six 6/6/6/6/6/6 -") == (None, "G-3")


def test_the_board_has_its_terrain() -> None:
    layout = load_game("citadel").layout
    assert layout.terrain[layout.index["d8"]] == 2
    assert layout.terrain[layout.index["c1"]] == 1
    assert layout.terrain[layout.index["d5"]] == 0
    assert read_position("citadel:six 6/6/6/6/6/BR,R,4 R")[0].layout.terrain[:6] == (0, 1, 2, 2, 1, 0)
