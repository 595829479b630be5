"""Diamond, rule by rule."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from companion.games import load_game, read_position
from companion.rules.board import Table
from companion.rules.game import Outcome

Broken = Callable[[str, str], list[str]]
Sentence = Callable[[str, str, str], str]
After = Callable[..., str]
Legal = Callable[..., set[str]]
End = Callable[[str], tuple[str | None, str] | None]

FLAT = "3,3,3,3,3/3,3,3,3,3/3,3,3,3,3/3,3,3,3,3/3,3,3,3,3"
START = "diamond R,1,X,1,B/5/X,3,X/5/Y,1,X,1,G R levels=11,11,9,7,7/11,9,9,9,7/9,9,9,9,9/7,9,9,9,11/7,7,9,11,11"


def field(board: str, to_move: str = "R", game: str = "diamond", ban: str = "", **levels: int) -> str:
    """Return the text of a position with all pillars at level 3, except those named."""
    ranks = [[str(levels.get(f"{file}{rank}", 3)) for file in "abcde"] for rank in range(5, 0, -1)]
    text = f"{game} {board} {to_move} levels={'/'.join(','.join(rank) for rank in ranks)}"
    return f"{text} ban={ban}" if ban else text


@pytest.mark.rule("DIA-1")
@pytest.mark.rule("G-2")
def test_a_turn_is_one_pillar_or_one_push(broken: Broken) -> None:
    assert broken(START, "a2-a1") == ["G-2", "DIA-1", "DIA-3"]
    assert broken(START, "a5-off") == ["G-2", "DIA-1"]
    assert broken(START, "a5-a4:2") == ["DIA-1"]


@pytest.mark.rule("DIA-2")
def test_pillars_go_up_and_down_by_one(after: After, broken: Broken, sentence: Sentence) -> None:
    raised = after(START, "+a5")
    assert raised.split()[1] == START.split()[1]
    assert raised.split()[3].startswith("levels=12,11,")
    assert broken(field("R,4/5/5/5/5", a4=0), "-a4") == ["DIA-2"]
    assert broken(field("R,4/5/5/5/5", a4=19), "+a4") == ["DIA-2"]
    assert broken(field("R,4/5/5/5/5", game="diamond:table", a4=6), "+a4") == ["DIA-2"]
    assert sentence(field("R,4/5/5/5/5", a4=0), "-a4", "DIA-2").endswith("a4 cannot go to level -1.")


@pytest.mark.rule("DIA-2")
def test_a_pillar_by_two_levels_is_cited_alone() -> None:
    game, position = read_position(START)
    levels = list(game.table(position).levels or ())
    levels[0] += 2
    (only,) = game.breaches(position, Table(position.board, tuple(levels)))
    assert (only.rule, only.cells) == ("DIA-2", ("a1",))
    levels[1] += 1
    both = game.breaches(position, Table(position.board, tuple(levels)))
    assert [violation.rule for violation in both] == ["G-2", "DIA-1", "DIA-2"]


@pytest.mark.rule("DIA-1")
@pytest.mark.rule("G-2")
def test_two_moves_in_one_turn_are_a_whole_turn_too_much() -> None:
    """The rule is cited for a pillar and a cube, and for two pillars, but not for a piece added or removed."""
    game, position = read_position(START)
    a1, b1, a2 = (game.layout.index[cell] for cell in ("a1", "b1", "a2"))
    before = game.table(position)
    levels, stacks = list(before.levels or ()), list(before.stacks)
    levels[a1] += 1
    levels[b1] += 1
    pillars = game.breaches(position, Table(before.stacks, tuple(levels)))
    assert [(violation.rule, violation.cells) for violation in pillars] == [
        ("G-2", ("a1", "b1")),
        ("DIA-1", ("a1", "b1")),
    ]
    levels[a1] -= 1
    stacks[a2], stacks[a1] = stacks[a1], ""
    both = game.breaches(position, Table(tuple(stacks), tuple(levels)))
    assert [violation.rule for violation in both] == ["G-2", "DIA-1"]
    assert both[0].text == both[1].text
    gone = game.breaches(position, Table(("", *before.stacks[1:]), tuple(levels)))
    assert "DIA-1" not in [violation.rule for violation in gone]


@pytest.mark.rule("DIA-3")
@pytest.mark.rule("G-1")
def test_nobody_pushes_anothers_small_cube(broken: Broken, sentence: Sentence, legal: Legal) -> None:
    two = field("R,3,B/2,X,2/5/5/Y,3,G")
    assert broken(two, "e1-e2") == ["G-1", "DIA-3"]
    assert sentence(two, "e1-e2", "G-1") == "the small cube on e1 is Green's, and it is Red's turn."
    assert legal(two, "e5-")
    assert legal(two, "c4-")
    assert broken(two.replace("diamond ", "diamond/4 "), "e5-d5") == ["G-1", "DIA-3"]


@pytest.mark.rule("DIA-4")
def test_level_pushes_bend_and_pass_small_cubes_only(legal: Legal, broken: Broken) -> None:
    walled = field("R,B,X,2/X,4/5/5/5", a4=4)
    assert "a5-b4" in legal(walled)
    assert "a5-e1" in legal(walled)
    assert broken(walled, "a5-a4") == ["DIA-4", "DIA-8", "DIA-5"]
    shut = field("R,X,3/1,X,3/5/5/5", a4=4)
    assert legal(shut, "a5-") == set()
    assert broken(shut, "a5-a1") == ["DIA-4"]
    assert legal(field("X,B,3/5/5/5/R,4", a4=4), "a5-") == set()


@pytest.mark.rule("DIA-5")
def test_no_two_cubes_on_one_pillar(broken: Broken, sentence: Sentence) -> None:
    assert broken(field("R,B,3/5/5/5/5"), "a5-b5") == ["DIA-5"]
    assert sentence(field("R,B,3/5/5/5/5"), "a5-b5", "DIA-5").endswith("b5 is occupied.")


@pytest.mark.rule("DIA-6")
def test_small_cubes_drop_from_a_peak(legal: Legal, broken: Broken) -> None:
    peak = field("5/5/2,R,2/5/5", c3=5)
    assert legal(peak, "c3-") == {"c3-b3", "c3-d3", "c3-c2", "c3-c4"}
    lower = field("5/5/2,R,2/5/5", c3=5, c4=4)
    assert broken(lower, "c3-d3") == ["DIA-4", "DIA-6", "DIA-7"]
    assert broken(field("5/5/2,X,2/5/5", c3=5), "c3-d3") == ["DIA-4", "DIA-6", "DIA-7", "DIA-8"]


@pytest.mark.rule("DIA-6")
def test_pairwise_drops_look_at_two_pillars(legal: Legal, broken: Broken) -> None:
    lower = field("5/5/2,R,2/5/5", game="diamond:pairwise", c3=5, c4=4)
    assert legal(lower, "c3-") == {"c3-b3", "c3-d3", "c3-c2"}
    assert broken(lower, "c3-c4") == ["DIA-4", "DIA-6"]


@pytest.mark.rule("DIA-7")
def test_small_cubes_drop_into_a_pit(legal: Legal, broken: Broken) -> None:
    pit = field("5/5/2,R,2/5/5", d3=0)
    assert "c3-d3" in legal(pit)
    assert broken(field("5/5/2,R,2/5/5", d3=1), "c3-d3") == ["DIA-4", "DIA-6", "DIA-7"]
    assert broken(field("5/5/2,R,2/5/5", d3=0, d4=2), "c3-d3") == ["DIA-4", "DIA-6", "DIA-7"]


@pytest.mark.rule("DIA-8")
def test_cubes_never_go_up(broken: Broken, sentence: Sentence) -> None:
    assert broken(field("5/5/2,R,2/5/5", d3=4), "c3-d3") == ["DIA-4", "DIA-8"]
    assert sentence(field("5/5/2,R,2/5/5", d3=4), "c3-d3", "DIA-8").endswith("c3 to d3 goes from level 3 to 4.")


@pytest.mark.rule("DIA-9")
def test_nobody_undoes_a_move_before_its_player_moves_again(after: After, broken: Broken, sentence: Sentence) -> None:
    raised = after(START, "+c3")
    assert raised.split()[-1] == "ban=c3>9@R"
    assert broken(raised, "-c3") == ["DIA-9"]
    assert sentence(raised, "-c3", "DIA-9").startswith("Red has just moved pillar c3 away from level 9;")
    again = after(raised, "+c3")
    assert again.split()[-1] == "ban=c3>10@G"
    pushed = after(START, "c5-b4")
    assert pushed.split()[-1] == "ban=b4>c5@R"
    assert broken(pushed, "b4-c5") == ["DIA-9"]
    assert after(pushed, "b4-b3").split()[-1] == "ban=b3>b4@G"


@pytest.mark.rule("DIA-9")
def test_with_four_players_bans_last_a_round_pillars_first(after: After) -> None:
    four = START.replace("diamond ", "diamond/4 ")
    assert after(four, "c5-b4", "+d1", "-a2").split()[-1] == "ban=a2>7@B,d1>11@G,b4>c5@R"
    assert after(four, "c5-b4", "+d1", "-a2", "+e5").split()[-1] == "ban=a2>7@B,d1>11@G,e5>7@Y"


@pytest.mark.rule("DIA-10")
def test_pushes_are_never_diagonal(broken: Broken) -> None:
    assert broken(field("5/5/2,R,2/5/5", c4=4, d4=3, d3=4), "c3-d4") == []
    shut = field("5/5/2,R,2/5/5", c4=4, c2=4, b3=4, d3=4)
    assert broken(shut, "c3-d4") == ["DIA-4", "DIA-10"]


@pytest.mark.rule("DIA-11")
def test_reaching_the_opposite_corner_wins(after: After, end: End) -> None:
    near = field("5/5/5/4,R/G,4")
    assert end(near) is None
    over = after(near, "e2-e1")
    assert over.split()[2] == "-"
    assert over.split()[-1] == "ban=e1>e2@R"
    assert end(over) == ("R", "DIA-11")


@pytest.mark.rule("DIA-12")
@pytest.mark.rule("G-4")
def test_a_repeated_position_has_the_same_text_bans_included(after: After) -> None:
    """Repetitions are counted by the match; the position keeps its player to move."""
    once = after(field("5/1,X,3/5/5/3,X,1"), "b4-b3", "d1-d2", "b3-b5", "d2-d4", "b5-b4", "d4-d1")
    twice = after(once, "b4-b3", "d1-d2", "b3-b5", "d2-d4", "b5-b4", "d4-d1")
    assert once == twice
    assert twice.split()[2] == "R"


@pytest.mark.rule("DIA-12")
def test_forcing_a_draw_loses() -> None:
    assert load_game("diamond").repeated("R") == Outcome("G", "DIA-12")
    assert load_game("diamond").repeated("G") == Outcome("R", "DIA-12")
    assert load_game("diamond/4").repeated("B") == Outcome(None, "DIA-12")
    assert load_game("domination").repeated("R") == Outcome(None, "G-4")


@pytest.mark.rule("G-5")
def test_after_the_end_no_move_counts(broken: Broken) -> None:
    over = field("5/5/5/5/4,R", to_move="-")
    assert broken(over, "+a1") == ["G-5"]
    assert broken(over, "e1-e2") == ["G-5"]


@pytest.mark.rule("G-3")
def test_a_pillar_can_always_move(legal: Legal) -> None:
    assert len(legal(field("5/5/5/5/5"))) == 50


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (START.partition(" levels")[0], "levels= is 25 numbers"),
        (START.replace("=11,", "=20,"), "'20' is no level"),
        (START.replace("R,1,", "RX,1,"), "two cubes"),
        (f"{START} ban=c3>10@R", "a ban of R has ended"),
        (f"{START} ban=c3>c2@G", "names neither"),
        (f"{START} ban=c3", "not written like"),
        (f"{START} ban=c3>10@G,a1>8@G", "write: diamond"),
        (f"{START} ban=c3>5@G", "names neither"),
        (f"{START} ban=a1>8@G,a1>6@G", "write: diamond"),
        (START.replace("R,1,X", "1,1,X"), "write: diamond"),
    ],
)
def test_bad_positions_are_told_what_is_wrong(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        read_position(text)


def test_the_table_variant_lies_six_levels_lower() -> None:
    high, low = load_game("diamond"), load_game("diamond:table")
    pairs = zip(high.table(high.start()).levels or (), low.table(low.start()).levels or (), strict=True)
    assert {a - b for a, b in pairs} == {6}
