"""Competing tables are compared as wholes before anybody is accused or asked."""

from __future__ import annotations

import pytest

from companion.events import Accepted, Illegal
from companion.games import load_game, read_position
from companion.match import Match
from companion.referee.referee import Referee
from companion.simulate.readings import kit_states, next_frame, read_table
from companion.tracker.verification import MAX_TABLES, VERIFIED_NATS, VerificationAnswer, _gain, add_answer
from tests.referee.conftest import HIGHEST

START = "domination 4/R,R,G,G,R,R/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/G,G,R,R,G,G/4 R"


@pytest.fixture
def shot(film):
    """Return a film at the start of Domination with a referee that asks for comparisons."""
    match = Match(*read_position(START))
    shot = film(match)
    shot.referee = Referee(match, verifying=True)
    shot.show()
    return shot


def look(shot, answer, *stacks, frames=20):
    """Show a hand changing some cells; ``answer`` returns the nats of the tables that are asked about.

    Returns what was asked, as sights by cell, and the events.
    """
    index, board = shot.game.layout.index, list(shot.game.table(shot.referee.match.position).stacks)
    for cell, stack in stacks:
        board[index[cell]] = stack
    shot.sweep()
    states = kit_states(shot.game.pieces, HIGHEST, hides=True)
    sights = [shot.game.sight(stack) for stack in board]
    scene = shot.doubtful(read_table(shot.game.layout.cells, states, sights, shot.noise, shot.rng))
    return watched(shot, scene, answer, [True] + [False] * (frames - 1))


def watched(shot, scene, answer, motion):
    """Show a scene for as many frames as ``motion`` has flags; returns what was asked, and the events, see look()."""
    asked, said = [], []
    for moving in motion:
        if shot.referee.glance(shot.t_s, moving=moving).read:
            said += shot.referee.observe(shot.t_s, next_frame(scene, shot.t_s, shot.noise, shot.rng))
            question = shot.referee.question
            if question is not None:
                tables = [dict(zip(question.cells, table, strict=True)) for table in question.tables]
                asked.append(tables)
                said += shot.referee.verified(shot.t_s, answer(tables))
        shot.frame += 1
    return asked, said


def truth(shot, *stacks):
    """Return an answer function that knows the true table: −30 nats for each cell that differs."""
    cells = shot.game.layout.cells
    board = dict(zip(cells, shot.game.table(shot.referee.match.position).stacks, strict=True)) | dict(stacks)
    sights = {cell: shot.game.sight(board[cell]) for cell in cells}
    return lambda tables: VerificationAnswer(
        tuple(-30.0 * sum(table[c] != sights[c] for c in cells) for table in tables)
    )


def test_a_clear_legal_move_is_asked_nothing(shot) -> None:
    """A clear legal move is accepted without a comparison."""
    asked, (accepted,) = look(shot, None, ("e4", ""), ("e5", "GR"))
    assert asked == []
    assert isinstance(accepted, Accepted)


def test_before_an_accusation_the_innocent_table_is_compared(shot) -> None:
    """It is compared with what was read, the likeliest first; if the comparison agrees, the accusation stands."""
    asked, (illegal,) = look(shot, truth(shot, ("h3", "R")), ("h3", "R"))
    assert isinstance(illegal, Illegal)
    assert [table["h3"] for table in asked[0]][:2] == [(1, "R"), (0, None)]
    assert all(len(tables) <= MAX_TABLES for tables in asked)


def test_a_square_misread_with_conviction_accuses_nobody_when_the_pictures_say_otherwise(shot) -> None:
    """The target cell of a move looks one piece too high."""
    shot.doubts = {"e5": ("GGR", "GR", 30.0)}
    move = ("e4", ""), ("e5", "GR")
    _, said = look(shot, truth(shot, *move), *move)
    assert [event.move for event in said] == ["e4-e5"]


def test_without_an_answer_the_reading_counts(shot) -> None:
    """If the comparison has no result, the accusation follows from the reading."""
    shot.doubts = {"e5": ("GGR", "GR", 30.0)}
    asked, (illegal,) = look(shot, lambda _: None, ("e4", ""), ("e5", "GR"))
    assert asked
    assert isinstance(illegal, Illegal)


def test_height_is_among_what_is_compared_before_a_wrong_rule_is_cited(shot) -> None:
    """A disc is added to the single one on g2, and read as one of another colour: both are illegal."""
    shot.doubts = {"g2": ("R", "GR", 9.0)}
    asked, (illegal,) = look(shot, truth(shot, ("g2", "GR")), ("g2", "GR"))
    assert {(1, "G"), (2, "R"), (1, "R")} == {table["g2"] for table in asked[0]}
    assert illegal.attempt == "*g2"
    assert illegal.rules[0] == "DOM-6"


def test_of_two_squares_that_look_wrong_one_may_be_misread(shot) -> None:
    """The disc on e4 has the other colour; the empty a5 looks occupied."""
    before = shot.game.table(shot.match.position).stacks[shot.game.layout.index["e4"]]
    other = {"R": "G", "G": "R"}[before]
    shot.doubts = {"a5": ("G", "", 9.0)}
    _, (illegal,) = look(shot, truth(shot, ("e4", other)), ("e4", other))
    assert isinstance(illegal, Illegal)
    assert illegal.cells == ("e4",)


@pytest.mark.parametrize(("target", "attempt"), [("GG", "d7-b6"), ("G", "d7-off")])
def test_a_piece_that_is_gone_is_looked_for_where_it_would_hardly_be_seen(shot, target: str, attempt: str) -> None:
    """The reading prefers b6 as it was by 2 nats, whether the piece from d7 now lies there or is off the board."""
    shot.doubts = {"b6": ("G", "GG", 2.0)}
    done = ("d7", ""), ("b6", target)
    asked, (illegal,) = look(shot, truth(shot, *done), *done)
    assert {table["b6"] for table in asked[0]} == {(1, "G"), (2, "G")}
    assert illegal.attempt == attempt


def test_an_accusation_that_a_second_look_confirms_stands_while_nothing_changes(shot) -> None:
    """Reading, second look and a changed picture speak for a piece on h3; later only the first two do."""
    shot.changed = ()
    shot.show()
    stacks = list(shot.game.table(shot.match.position).stacks)
    stacks[shot.game.layout.index["h3"]] = "R"
    shot.doubts, said = {"h3": ("R", "", 4.0)}, []
    shot.sweep()
    for changed, frames in ((("h3",), 20), ((), 100)):
        shot.changed = changed
        said += watched(shot, shot.reading(tuple(stacks)), truth(shot, ("h3", "R")), [False] * frames)[1]
    assert [type(event) for event in said] == [Illegal]


def test_before_a_match_begins_a_move_is_looked_at_twice(film) -> None:
    """An empty cell looks as if a piece had been put there, which the comparison refutes."""
    game = load_game("domination/3")
    match = Match(game, game.start())
    shot = film(match)
    shot.referee = Referee(match, verifying=True)
    shot.doubts = {"d1": ("R", "", 9.0)}
    asked, said = look(shot, truth(shot))
    assert asked
    assert said == []


def test_the_grounds_keep_what_was_compared_with_its_pictures(shot) -> None:
    """The grounds contain the compared tables, their scores and pictures."""

    def answer(tables):
        return VerificationAnswer(
            (0.0, *[-20.0] * (len(tables) - 1)), b"as seen", (b"one", b"other", b"third")[: len(tables)]
        )

    _, (illegal,) = look(shot, answer, ("h3", "R"))
    grounds = shot.referee.grounds(illegal.n)
    assert grounds.picture == "YXMgc2Vlbg=="
    assert [told.what for told in grounds.compared][:2] == ["act *h3", "no change"]
    assert [told.log_p for told in grounds.compared][:2] == [0.0, -20.0]
    assert grounds.compared[0].rendering == "b25l"


@pytest.mark.parametrize(("read", "told", "together"), [(4.0, 9.0, 9.0), (9.0, 4.0, 9.0), (4.0, -5.0, 3.0)])
def test_a_second_look_that_contradicts_the_reading_counts_for_less(read: float, told: float, together: float) -> None:
    """If both agree, the clearer one counts."""
    assert read + _gain(read, told) == pytest.approx(together)


def test_a_second_look_that_is_clear_overrules_a_reading() -> None:
    """A clear comparison outweighs a reading of 12 nats."""
    assert 12.0 + _gain(12.0, -VERIFIED_NATS) < 0


def test_a_comparison_is_worth_no_more_than_its_places() -> None:
    """The log ratio of a comparison is bounded in proportion to the number of differing cells."""
    one, two = ((3, (1, "R")),), ((3, (1, "G")), (4, (2, "G")))
    told = add_answer(None, ((), one, two), VerificationAnswer((0.0, -100.0, -100.0))).log_p
    assert told == {(): 0.0, one: -VERIFIED_NATS, two: -2 * VERIFIED_NATS}


def test_answers_of_one_calm_are_put_on_one_scale() -> None:
    """The scales are aligned at a view common to both; for repeated views the newer answer counts."""
    one, two = ((3, (1, "R")),), ((4, (1, "R")),)
    first = add_answer(None, ((), one), VerificationAnswer((-5.0, -8.0)))
    told = add_answer(first, (one, two), VerificationAnswer((100.0, 99.0))).log_p
    assert told == {(): 0.0, one: -3.0, two: -4.0}


def test_a_part_of_a_frame_that_leaves_a_doubt_is_read_whole_before_anything_is_said(shot) -> None:
    """If only the altered cells were read, a piece is missing and its new cell is unread: the frame is read whole."""
    states = kit_states(shot.game.pieces, HIGHEST, hides=True)

    def reading(**stacks):
        index, board = shot.game.layout.index, list(shot.game.table(shot.referee.match.position).stacks)
        for cell, stack in stacks.items():
            board[index[cell]] = stack
        return read_table(shot.game.layout.cells, states, map(shot.game.sight, board), shot.noise, shot.rng)

    part, whole = (next_frame(scene, 1.0, shot.noise, shot.rng) for scene in (reading(e4=""), reading(e4="", e5="GR")))
    shot.sweep()
    shot.referee.glance(shot.t_s, moving=False)
    assert shot.referee.observe(shot.t_s, part, is_whole=False) == ()
    assert shot.referee.needs_whole
    assert shot.referee.question is None
    (accepted,) = shot.referee.observe(shot.t_s, whole)
    assert accepted.move == "e4-e5"
    assert not shot.referee.needs_whole


def test_a_part_of_a_frame_that_leaves_no_doubt_is_enough(shot) -> None:
    """A partial reading without doubt needs no whole one."""
    states = kit_states(shot.game.pieces, HIGHEST, hides=True)
    sights = [shot.game.sight(stack) for stack in shot.game.table(shot.referee.match.position).stacks]
    scene = read_table(shot.game.layout.cells, states, sights, shot.noise, shot.rng)
    shot.sweep()
    shot.referee.glance(shot.t_s, moving=False)
    shot.referee.observe(shot.t_s, next_frame(scene, shot.t_s, shot.noise, shot.rng), is_whole=False)
    assert not shot.referee.needs_whole
    assert shot.referee.has_understood


def test_a_square_misread_while_a_board_is_set_up_keeps_no_match_from_its_beginning(film) -> None:
    """If the comparison shows the right set-up, the match begins despite a misread cell."""
    match = Match(*read_position(START))
    shot = film(match)
    shot.referee = Referee(match, verifying=True)
    cell = next(
        c for c, s in zip(shot.game.layout.cells, shot.game.table(match.position).stacks, strict=True) if s == "R"
    )
    shot.doubts = {cell: ("GR", "R", 12.0)}
    asked, said = look(shot, truth(shot))
    assert asked
    assert said == []
    assert shot.referee.has_understood
