"""Draughts, rule by rule."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from companion.errors import BadPositionText
from companion.events import Unfinished
from companion.games import load_game, read_position
from companion.match import Match
from companion.phrases import language, task
from companion.rules.board import Table
from companion.rules.diagonals import uncleared_pieces
from companion.rules.game import Stage
from companion.rules.notation import format_position, parse_move

Broken = Callable[[str, str], list[str]]
Sentence = Callable[[str, str, str], str]
After = Callable[..., str]
Legal = Callable[..., set[str]]
End = Callable[[str], tuple[str | None, str] | None]


def board(variant: str = "", to_move: str = "W", size: int = 8, **cells: str) -> str:
    """Return the text of a position with these stacks."""
    ranks = []
    for rank in range(size, 0, -1):
        text = ",".join(cells.get(f"{'abcdefghij'[file]}{rank}", "1") for file in range(size))
        for run in range(size, 1, -1):
            ones = ",".join("1" * run)
            text = ",".join(f",{text},".replace(f",{ones},", f",{run},").strip(",").split(","))
        ranks.append(text)
    return f"draughts{variant and ':'}{variant} {'/'.join(ranks)} {to_move}"


RUSSIAN, BRAZILIAN, INTERNATIONAL = "russian", "brazilian", "international"


def stages(position: str, text: str) -> dict[str, Stage]:
    """Return the intermediate tables of a move, keyed by the text of the board."""
    game, start = read_position(position)
    found = game.stages(start, parse_move(game, start, text))
    names = game.layout.cells
    return {
        " ".join(f"{name}={stack}" for name, stack in zip(names, stage.table.stacks, strict=True) if stack): stage
        for stage in found
    }


def test_who_begins_sits_at_rank_one() -> None:
    assert format_position(load_game("draughts"), load_game("draughts").start()).endswith("B,1,B,1,B,1,B,1 B")
    assert format_position(load_game("draughts:russian"), load_game("draughts:russian").start()).endswith("W,1 W")
    assert sum(map(bool, load_game("draughts:international").start().board)) == 40


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        ({"a2": "W", "c3": "B"}, "a2 cannot hold W"),
        ({"a1": "WB", "c3": "B"}, "a1 cannot hold WB"),
        ({"a1": "WWW", "c3": "B"}, "a1 cannot hold WWW"),
        ({"b8": "B", "c3": "W"}, "the man on b8 has reached his last rank; write BB"),
        ({"c3": "B"}, "write B"),
    ],
)
def test_strange_positions_are_refused(cells: dict[str, str], fault: str) -> None:
    with pytest.raises(BadPositionText, match=fault):
        read_position(board(**cells))


def test_a_game_that_is_over_says_who_won() -> None:
    with pytest.raises(BadPositionText, match="write won= and the other one"):
        read_position(board(to_move="-", c3="B"))
    with pytest.raises(BadPositionText, match="write won="):
        read_position(board(to_move="-", c3="B") + " won=W")
    assert read_position(board(to_move="-", c3="B") + " won=B")


@pytest.mark.rule("G-1")
def test_only_who_is_to_move_moves(broken: Broken) -> None:
    assert broken(board(d4="W", a1="B"), "a1-b2") == ["G-1"]


@pytest.mark.rule("G-2")
def test_nothing_is_moved_from_an_empty_square_or_off_the_board(broken: Broken) -> None:
    position = board(d4="W", a1="B")
    assert broken(position, "c3-d2") == ["G-2", "DRA-2"]
    assert broken(position, "a1-off") == ["G-2"]
    assert broken(position, "*c3") == ["G-2"]


@pytest.mark.rule("DRA-1")
def test_pieces_go_along_diagonals_to_empty_squares(broken: Broken, sentence: Sentence) -> None:
    position = board(d4="W", c3="W", a1="B")
    assert broken(position, "d4-d3") == ["DRA-1", "DRA-2"]
    assert broken(position, "d4-c3") == ["DRA-1"]
    assert sentence(position, "d4-c3", "DRA-1") == "pieces go along diagonals to empty squares; c3 is occupied."


@pytest.mark.rule("DRA-2")
def test_men_go_one_square_forward_and_kings_any_way(legal: Legal, broken: Broken) -> None:
    assert legal(board(d4="W", a1="B")) == {"d4-c3", "d4-e3"}
    assert broken(board(d4="W", a1="B"), "d4-c5") == ["DRA-2"]
    assert broken(board(d4="W", a1="B"), "d4-b2") == ["DRA-2"]
    assert legal(board(d4="WW", h2="B")) == {"d4-c3", "d4-e3", "d4-c5", "d4-e5"}
    assert "d4-a7" in legal(board(RUSSIAN, d4="WW", h2="B"))
    assert broken(board(d4="WW", h2="B"), "d4-f6") == ["DRA-2"]
    assert broken(board(d4="WW", h2="B"), "d4-c3:1") == ["DRA-2"]


@pytest.mark.rule("DRA-3")
def test_captures_jump_to_the_empty_square_behind(legal: Legal, broken: Broken) -> None:
    assert legal(board(d4="W", c3="B", e5="B", h6="B")) == {"d4-b2xc3"}
    assert legal(board(BRAZILIAN, d4="W", e5="B", a3="B")) == {"d4-f6xe5"}
    assert legal(board(RUSSIAN, a1="WW", d4="B", h2="B")) == {"a1-e5xd4", "a1-f6xd4", "a1-g7xd4", "a1-h8xd4"}
    position = board(d4="W", c3="B", e3="B", g5="B")
    assert broken(position, "d4-b2xc3xg5") == ["DRA-3"]
    assert broken(position, "d4-a1xc3") == ["DRA-3"]


@pytest.mark.rule("DRA-4")
def test_who_can_capture_must(broken: Broken, sentence: Sentence) -> None:
    position = board(d4="W", c3="B", h6="W")
    assert broken(position, "h6-g5") == ["DRA-4"]
    assert broken(position, "h6-h5") == ["DRA-1", "DRA-2", "DRA-4"]
    assert sentence(position, "h6-g5", "DRA-4") == "who can capture must; d4-b2 takes c3."
    game, start = read_position(position)
    (owed,) = game.violations(start, parse_move(game, start, "h6-g5"))
    assert owed.cells == ("h6", "g5", "d4", "b2", "c3")


def test_of_many_captures_three_are_named(sentence: Sentence) -> None:
    position = board(RUSSIAN, a1="WW", d4="B", h2="W")
    assert sentence(position, "h2-g3", "DRA-4").endswith("a1-g7 takes d4 and 1 more.")


@pytest.mark.rule("DRA-5")
def test_a_capture_goes_on_to_its_end(legal: Legal, broken: Broken, sentence: Sentence) -> None:
    position = board(f6="W", e5="B", c3="B", h6="B")
    assert legal(position) == {"f6-b2xc3xe5"}
    assert broken(position, "f6-d4xe5") == ["DRA-5"]
    assert sentence(position, "f6-d4xe5", "DRA-5").endswith("; the jump goes on from d4.")


@pytest.mark.rule("DRA-5")
def test_no_piece_is_jumped_twice_and_a_ring_is_one_move(legal: Legal, after: After) -> None:
    """The man ends where it began, where it could start another round; both directions are one move."""
    ring = board(BRAZILIAN, c3="W", d4="B", d6="B", b6="B", b4="B", h6="B")
    assert legal(ring) == {"c3-c3xb4xb6xd4xd6"}
    assert after(ring, "c3-c3xb4xb6xd4xd6") == board(BRAZILIAN, "B", c3="W", h6="B")


@pytest.mark.rule("DRA-6")
def test_the_most_is_taken_where_that_is_the_rule(legal: Legal, broken: Broken, sentence: Sentence) -> None:
    cells = {"c3": "W", "d4": "B", "f6": "B", "a5": "W", "b6": "B"}
    assert legal(board(BRAZILIAN, **cells)) == {"c3-g7xd4xf6"}
    assert broken(board(BRAZILIAN, **cells), "a5-c7xb6") == ["DRA-6"]
    assert sentence(board(BRAZILIAN, **cells), "a5-c7xb6", "DRA-6").endswith("c3-g7 takes d4 and f6.")
    assert broken(board(BRAZILIAN, **cells), "c3-e5xd4") == ["DRA-5", "DRA-6"]
    assert "a5-c7xb6" in legal(board(RUSSIAN, **cells))


@pytest.mark.rule("DRA-7")
def test_a_man_on_the_last_rank_is_crowned(after: After) -> None:
    assert after(board(c3="B", d2="W", h6="B"), "d2-c1") == board(to_move="B", c3="B", c1="WW", h6="B")


@pytest.mark.rule("DRA-7")
def test_a_capture_on_the_last_rank_stops_flies_on_or_passes(legal: Legal, after: After) -> None:
    """The man jumps to d8, from where a king can reach g5; where men go on, a man can take e7 as well."""
    english = board("", "B", c7="W", b6="B", e7="W", a3="W")
    assert legal(english) == {"b6-d8xc7"}
    assert after(english, "b6-d8xc7").startswith("draughts 3,BB,4/4,W,3/")
    russian = board(RUSSIAN, b6="W", c7="B", f6="B", a3="W")
    assert legal(russian) == {"b6-g5xc7xf6", "b6-h4xc7xf6"}
    assert "WW" in after(russian, "b6-h4xc7xf6")
    passing = board(BRAZILIAN, b6="W", c7="B", e7="B", a3="W", h2="B")
    assert legal(passing) == {"b6-f6xc7xe7"}
    assert "WW" not in after(passing, "b6-f6xc7xe7")


@pytest.mark.rule("DRA-8")
def test_who_cannot_move_has_lost(after: After, end: End) -> None:
    over = after(board(d4="W", c3="B"), "d4-b2xc3")
    assert over.split()[2:] == ["-", "won=W"]
    assert end(over) == ("W", "DRA-8")


@pytest.mark.rule("G-5")
def test_after_the_end_no_move_counts(broken: Broken) -> None:
    assert broken(board(to_move="-", d4="W") + " won=W", "d4-c3") == ["G-5"]


@pytest.mark.rule("DRA-9")
@pytest.mark.parametrize(("variant", "moves"), [("", 40), (RUSSIAN, 15), (BRAZILIAN, 20), (INTERNATIONAL, 25)])
def test_moves_of_kings_that_take_nothing_draw_the_match(variant: str, moves: int) -> None:
    """Kings move so that no position occurs a third time before the limit is reached."""
    game = load_game(f"draughts:{variant}" if variant else "draughts")
    size = game.layout.files
    start = board(variant, "B" if not variant else "W", size=size, a1="WW", b8="BB", h2="BB" if not variant else "1")
    match, chance = Match(*read_position(start)), random.Random(2)
    while match.outcome is None:
        steps = [match.play(move) for move in game.legal_moves(match.position) if not move.taken]
        quiet = [step for step in steps if not captured_next(step) and step.repetitions < 2]
        match = chance.choice(quiet)
    assert match.outcome is not None
    assert (match.outcome.rule, match.idle) == ("DRA-9", 2 * moves)


def captured_next(match: Match) -> bool:
    """Return whether the next player can capture something."""
    return any(move.taken for move in match.game.legal_moves(match.position))


@pytest.mark.rule("DRA-9")
def test_a_capture_or_a_mans_move_counts_anew() -> None:
    match = Match(*read_position(board(d4="WW", h8="W", a1="BB", c1="B")))
    for text, idle in (("d4-e5", 1), ("a1-b2", 2), ("h8-g7", 0), ("b2-a1", 1)):
        match = match.play(parse_move(match.game, match.position, text))
        assert match.idle == idle


def test_a_capture_is_half_done_while_something_lies_there() -> None:
    found = stages(board(f6="W", e5="B", c3="B", h6="B"), "f6-b2xc3xe5")
    assert {table: (stage.todo, stage.cells) for table, stage in found.items()} == {
        "c3=B d4=W e5=B h6=B": ("the jump goes on from d4", ("d4",)),
        "c3=B d4=W h6=B": ("the jump goes on from d4", ("d4",)),
        "b2=W c3=B e5=B h6=B": ("take what was jumped off c3 and e5", ("c3", "e5")),
        "b2=W c3=B h6=B": ("take what was jumped off c3", ("c3",)),
        "b2=W e5=B h6=B": ("take what was jumped off e5", ("e5",)),
    }
    assert {stage.rule for stage in found.values()} == {"DRA-5"}


def test_a_man_without_his_second_disc_is_half_done() -> None:
    found = stages(board(c3="B", d2="W", h6="B"), "d2-c1")
    assert {table: (stage.todo, stage.rule) for table, stage in found.items()} == {
        "c1=W c3=B h6=B": ("crown the man on c1", "DRA-7")
    }
    both = stages(board(e3="W", d2="B", h6="B"), "e3-c1xd2")
    assert {table: stage.todo for table, stage in both.items()} == {
        "c1=WW d2=B h6=B": "take what was jumped off d2",
        "c1=W d2=B h6=B": "take what was jumped off d2 and crown the man on c1",
        "c1=W h6=B": "crown the man on c1",
    }


def test_many_jumped_pieces_are_cleared_one_after_the_other() -> None:
    assert set(uncleared_pieces((1, 2))) == {(1, 2), (1,), (2,)}
    many = list(uncleared_pieces(tuple(range(12))))
    assert len(many) == len(set(many)) == 23


@pytest.mark.rule("DRA-5")
@pytest.mark.rule("DRA-7")
@pytest.mark.parametrize(
    ("table", "rules"),
    [
        ({"a1": "W", "b2": "B", "h6": "B"}, ["DRA-5", "G-2"]),
        ({"a1": "WW", "b2": "B", "h6": "B"}, ["DRA-5", "G-2"]),
        ({"a1": "W", "h6": "B"}, ["DRA-7", "G-2"]),
        ({"a1": "W", "b2": "B", "h5": "B"}, ["G-2"]),
    ],
)
def test_who_leaves_his_turn_half_done_breaks_the_rule_that_asks_for_the_rest(
    table: dict[str, str], rules: list[str]
) -> None:
    """White took b2 with c3 and came to a1; then Black moved from g5 to h6 (h5 would be no legal move)."""
    game, position = read_position(board(b8="W", g5="B", c3="W", b2="B"))
    there = {"b8": "W"} | table
    broken = game.breaches(position, Table(tuple(there.get(name, "") for name in game.layout.cells)))
    assert [violation.rule for violation in broken] == rules
    if len(rules) > 1:
        assert broken[0].text.startswith("the turn was not finished: ")


@pytest.mark.rule("DRA-7")
def test_without_crowns_kings_lie_as_one_disc_and_nobody_waits_for_a_second() -> None:
    text = board(RUSSIAN, c7="W", d6="B", a1="WW", h2="BB")
    game, position = read_position(text)
    bare = game.unmarked()
    lying = {cell: stack for cell, stack in zip(bare.layout.cells, bare.table(position).stacks, strict=True) if stack}
    assert lying == {"a1": "W", "c7": "W", "d6": "B", "h2": "B"}
    crowning = parse_move(game, position, "c7-b8")
    assert [stage.todo for stage in game.stages(position, crowning)] == ["crown the man on b8"]
    assert bare.stages(position, crowning) == ()
    assert format_position(bare, bare.play(position, crowning)) == format_position(game, game.play(position, crowning))


def test_without_crowns_no_hand_takes_half_a_king() -> None:
    game, position = read_position(board(RUSSIAN, to_move="W", a1="WW", h2="BB"))
    whole = [attempt.move for attempt in game.unmarked().attempts(position) if attempt.move.target is not None]
    assert {move.count for move in whole} == {2}
    assert {move.count for move in (each.move for each in game.attempts(position)) if move.target is not None} == {1, 2}


def test_what_is_left_to_do_is_said_in_german() -> None:
    """The texts cover continued jumps, jumped men, a crown, and the last two together."""
    said = set()
    for text, move in (
        (board(RUSSIAN, c3="W", d4="B", f6="B", h2="B"), "c3-g7xd4xf6"),
        (board(RUSSIAN, c7="W", h2="B"), "c7-b8"),
        (board(RUSSIAN, b6="W", c7="B", h2="B"), "b6-d8xc7"),
    ):
        game, position = read_position(text)
        for stage in game.stages(position, parse_move(game, position, move)):
            event = Unfinished(t=0, n=1, todo=stage.todo, cells=stage.cells, rule=stage.rule)
            said.add(task(event, language("de", game)))
    assert said == {
        "der Schlag geht von e5 weiter",
        "von d4 und f6 wegnehmen, was übersprungen ist",
        "von d4 wegnehmen, was übersprungen ist",
        "von f6 wegnehmen, was übersprungen ist",
        "den Stein auf b8 zur Dame machen",
        "von c7 wegnehmen, was übersprungen ist",
        "von c7 wegnehmen, was übersprungen ist, und den Stein auf d8 zur Dame machen",
        "den Stein auf d8 zur Dame machen",
    }
