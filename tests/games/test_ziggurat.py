"""Ziggurat, rule by rule."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from companion.games import load_game
from companion.games.ziggurat import form

Broken = Callable[[str, str], list[str]]
Sentence = Callable[[str, str, str], str]
After = Callable[..., str]
Legal = Callable[..., set[str]]
End = Callable[[str], tuple[str | None, str] | None]

START = "ziggurat q,d,w,w,d,q/6/6/6/6/Q,D,W,W,D,Q S reserve=QDWqdw"


@pytest.mark.rule("ZIG-1")
@pytest.mark.rule("G-1")
def test_a_player_moves_own_stacks_as_a_whole(broken: Broken, sentence: Sentence) -> None:
    assert broken(START, "b6-c5") == ["G-1", "ZIG-1"]
    keep = START.replace("/6/6/6/6/Q,D,W,W", "/6/6/2,WD,3/6/Q,1,W,1")
    assert broken(keep, "c3-c4:1") == ["ZIG-1"]
    assert sentence(keep, "c3-c4:1", "ZIG-1").endswith("one piece of c3 moved, and it has 2.")


@pytest.mark.rule("G-2")
def test_an_empty_square_has_no_stack(broken: Broken) -> None:
    assert broken(START, "a3-a4") == ["G-2", "ZIG-1"]
    assert broken(START, "a3-off") == ["G-2", "ZIG-1"]


@pytest.mark.rule("ZIG-2")
def test_single_pieces_go_diagonally_as_far_as_their_size(legal: Legal, broken: Broken, sentence: Sentence) -> None:
    assert legal(START, "a1") == {"a1-b2", "a1-c3", "a1-d4"}
    assert legal(START, "b1") == {"b1-a2", "b1-c2", "b1-d3"}
    assert legal(START, "c1") == {"c1-b2", "c1-d2"}
    assert broken(START, "c1-e3") == ["ZIG-2"]
    assert sentence(START, "c1-e3", "ZIG-2").startswith("a single Worker goes diagonally, at most one square,")


@pytest.mark.rule("ZIG-2")
def test_single_pieces_go_backward_only_to_capture(legal: Legal, broken: Broken) -> None:
    back = "ziggurat q,1,w,w,d,q/6/6/2,Q,3/3,d,2/1,D,W,W,D,Q S reserve=QDWqdw"
    assert "c3-d2" in legal(back)
    assert broken(back, "c3-b2") == ["ZIG-2"]


@pytest.mark.rule("ZIG-3")
def test_towers_make_a_knights_move_past_an_empty_square(legal: Legal, broken: Broken, sentence: Sentence) -> None:
    tower = "ziggurat 1,d,w,w,1,q/6/6/2,qD,3/6/Q,1,W,W,D,Q S reserve=QDWqdw"
    assert legal(tower, "c3") == {"c3-a2", "c3-a4", "c3-b1", "c3-b5", "c3-d5", "c3-e2", "c3-e4"}
    shut = tower.replace("/6/6/2,qD,3/6/", "/6/2,Q,D,2/2,qD,3/6/").replace("/Q,1,W,W,D,Q", "/2,W,W,1,Q")
    assert broken(shut, "c3-d5") == ["ZIG-3"]
    assert sentence(shut, "c3-d5", "ZIG-3").endswith("c3 to d5 has both squares on the way occupied.")
    assert "c3-b5" in legal(shut)
    assert broken(shut, "c3-c5") == ["ZIG-3"]


@pytest.mark.rule("ZIG-4")
def test_keeps_go_straight_as_far_as_their_smallest_piece(legal: Legal, broken: Broken) -> None:
    keep = "ziggurat q,d,1,w,d,q/6/6/2,wD,3/6/Q,1,W,W,D,Q S reserve=QDWqdw"
    assert legal(keep, "c3") == {"c3-b3", "c3-c2", "c3-c4", "c3-d3"}
    assert broken(keep, "c3-c5") == ["ZIG-4"]
    assert "c3-c5" in legal("ziggurat q,1,w,w,d,q/6/6/2,dQ,3/6/1,D,W,W,D,Q S reserve=QDWqdw")


@pytest.mark.rule("ZIG-5")
def test_captures_make_a_tower_or_a_keep(legal: Legal, broken: Broken, after: After) -> None:
    taking = "ziggurat q,1,w,w,d,q/6/6/3,d,2/2,Q,3/1,D,W,W,D,Q S reserve=QDWqdw"
    assert "c2-d3" in legal(taking)
    assert after(taking, "c2-d3").split()[1] == "q,1,w,w,d,q/6/6/3,dQ,2/6/1,D,W,W,D,Q"
    assert broken(START, "b1-c1") == ["ZIG-2", "ZIG-5"]
    equal = "ziggurat q,1,w,w,d,q/6/6/3,d,2/2,D,3/Q,1,W,W,D,Q S reserve=QDWqdw"
    assert broken(equal, "c2-d3") == ["ZIG-5"]


@pytest.mark.parametrize(
    ("stack", "name"),
    [
        ("Q", "Ziggurat"),
        ("Dw", "Tower"),
        ("qDW", "Tower"),
        ("wD", "Keep"),
        ("wDq", "Keep"),
        ("QW", ""),
        ("DD", ""),
        ("", ""),
    ],
)
def test_the_forms_of_stacks(stack: str, name: str) -> None:
    assert form(stack) == name


@pytest.mark.rule("ZIG-6")
def test_single_pieces_leave_beyond_the_last_rank(legal: Legal, broken: Broken, after: After) -> None:
    leaving = "ziggurat q,d,1,w,d,q/3,D,2/2,w,2,W/6/6/Q,1,W,1,D,Q S reserve=QDWqdw"
    assert "d5-off" in legal(leaving)
    assert broken(leaving, "f4-off") == ["ZIG-6"]
    assert broken(leaving, "a1-off") == ["ZIG-6"]
    left = after(leaving, "d5-off")
    assert left.split()[1] == "q,d,1,w,d,q/6/2,w,2,W/6/6/Q,1,W,1,D,Q"


@pytest.mark.rule("ZIG-7")
def test_the_top_of_a_stack_leaves_from_the_last_rank(legal: Legal, broken: Broken, after: After) -> None:
    top = "ziggurat q,1,w,dQ,1,q/6/2,dQ,3/6/6/1,D,W,W,D,1 S reserve=QDWqdw"
    assert "d6-off" in legal(top)
    assert after(top, "d6-off").split()[1].startswith("q,1,w,d,1,q/")
    assert broken(top, "c4-off") == ["ZIG-7"]
    assert broken(top.replace(" S ", " N "), "d6-off") == ["G-1", "ZIG-1", "ZIG-7"]


@pytest.mark.rule("ZIG-8")
def test_one_piece_of_each_type_leaves(broken: Broken, sentence: Sentence) -> None:
    second = "ziggurat q,d,w,2,q/4,Q,1/6/6/6/1,D,W,W,D,1 S reserve=QDWqdw"
    assert broken(second, "e5-off") == ["ZIG-8"]
    assert sentence(second, "e5-off", "ZIG-8").startswith("South has already taken a Queen off the board;")


@pytest.mark.rule("ZIG-9")
def test_reinforcements_go_home(legal: Legal, broken: Broken, sentence: Sentence, after: After) -> None:
    gap = "ziggurat q,d,w,w,d,q/6/6/3,Q,2/6/1,D,W,W,D,Q S reserve=QDWqdw"
    assert "Q*a1" in legal(gap)
    assert after(gap, "Q*a1").split()[-1] == "reserve=DWqdw"
    assert broken(gap, "D*a1") == ["ZIG-9"]
    assert broken(gap, "Q*f1") == ["ZIG-9"]
    assert broken(gap, "q*a1") == ["G-1", "ZIG-9"]
    assert broken(gap.replace("reserve=Q", "reserve="), "Q*a1") == ["ZIG-9"]
    assert sentence(gap, "Q*f1", "ZIG-9").endswith("f1 is occupied.")


@pytest.mark.rule("ZIG-10")
def test_taking_off_all_three_types_wins(after: After, end: End) -> None:
    last = "ziggurat q,d,w,w,W,q/d,5/6/6/6/Q,D,1,W,1,Q S reserve=DWqdw"
    assert end(last) is None
    over = after(last, "e6-off")
    assert over.split()[2] == "-"
    assert end(over) == ("S", "ZIG-10")


@pytest.mark.rule("ZIG-11")
def test_losing_all_of_a_type_loses(after: After, end: End) -> None:
    """After the capture all of North's Drones lie in South's stacks, with none in reserve."""
    losing = "ziggurat q,1,w,w,1,q/6/1,dQ,1,dQ,2/4,d,1/3,Q,2/1,D,W,W,D,1 S reserve=DWqw"
    assert end(losing) is None
    assert end(after(losing, "d2-e3")) == ("S", "ZIG-11")
    assert end(after(losing, "b1-a2")) is None


@pytest.mark.rule("G-5")
def test_after_the_end_no_move_counts(broken: Broken, after: After) -> None:
    over = after("ziggurat q,d,w,w,W,q/d,5/6/6/6/Q,D,1,W,1,Q S reserve=DWqdw", "e6-off")
    assert broken(over, "a1-b2") == ["G-5"]
    assert broken(over, "q*a6") == ["G-5"]


@pytest.mark.parametrize(
    ("stack", "seen"),
    [
        ("", (0, None)),
        ("W", (1, "W")),
        ("Q", (None, "Q")),
        ("wDq", (None, "q")),
        ("Qd", (2, "d")),
        ("qDW", (3, "W")),
        ("Qq", (2, "q")),
        ("wW", (2, "W")),
        ("wDd", (2, "d")),
    ],
)
def test_what_a_pyramid_hides_is_not_seen(stack: str, seen: tuple[int | None, str | None]) -> None:
    assert load_game("ziggurat").sight(stack) == seen
