"""Accusations refuted by the further course of the match.

One misread cell must not cost more than a few moves.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from companion.events import Accepted, Illegal, Withdrawn
from companion.games import read_position
from companion.match import Match
from companion.referee.refutation import LOG_REFUTED, Rival, find_proved
from companion.simulate.readings import kit_states, read_table
from companion.tracker.hypotheses import predict
from tests.referee.conftest import HIGHEST

START = "domination 4/R,R,G,G,R,R/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/1,G,G,R,R,G,G,1/1,R,R,G,G,R,R,1/G,G,R,R,G,G/4 R"

MISREAD = {"e5": ("GGR", "GR", 30.0)}
"""The cell looks one piece too high with the greatest certainty that a reading can have."""


@pytest.fixture
def shot(film):
    """Return a film at the start of Domination, with pictures compared to the previous ones."""
    shot = film(Match(*read_position(START)))
    shot.changed = ()
    shot.show()
    return shot


@pytest.fixture
def accused(shot):
    """Return a film in which Red has played e4-e5 and is accused because e5 is misread."""
    shot.doubts, shot.changed = dict(MISREAD), ("e4", "e5")
    (illegal,) = shot.show(("e4", ""), ("e5", "GR"))
    assert isinstance(illegal, Illegal)
    shot.changed = ()
    return shot


def kinds(events):
    return [event.event for event in events]


def play_on(shot, number):
    """Play ``number`` more moves after e4-e5, each in a visit of its own; return the events."""
    begun = len(shot.events)
    moves = [("d7", "", "d6", "RG"), ("f5", "", "f6", "GR"), ("c6", "", "c5", "RG"), ("b7", "", "b6", "GR")]
    board = [("e4", ""), ("e5", "GR")]
    for source, nothing, target, stack in moves[:number]:
        board += [(source, nothing), (target, stack)]
        shot.changed = (source, target)
        shot.show(*board, frames=60)
        shot.changed = ()
    return shot.events[begun:]


def seen_anew(shot, frames=60):
    """Continue the scene without motion, but with correct readings; return the events."""
    states = kit_states(shot.game.pieces, HIGHEST, hides=True)
    sights = [shot.game.sight(stack) for stack in shot.table.stacks]
    return shot.watch(read_table(shot.game.layout.cells, states, sights, shot.noise, shot.rng), frames)


def moves(events):
    return [event.move for event in events if isinstance(event, Accepted)]


def test_a_square_that_looks_right_in_the_same_calm_withdraws_the_accusation(accused) -> None:
    """If a correct reading follows without motion, the accusation is withdrawn and the move accepted."""
    said = seen_anew(accused)
    assert kinds(said) == ["withdrawn", "accepted"]
    assert isinstance(said[0], Withdrawn)
    assert (said[0].player, said[0].cells) == ("R", ("e5",))
    assert said[1].move == "e4-e5"


def test_one_move_more_neither_withdraws_nor_accuses_nor_asks(accused) -> None:
    """A single further move may come from someone who did not notice."""
    assert play_on(accused, 1) == []
    assert accused.referee.is_accusing


def test_play_that_goes_on_withdraws_it_though_the_square_stays_misread(accused) -> None:
    """All moves played meanwhile are accepted, in order."""
    said = play_on(accused, 2)
    assert kinds(said) == ["withdrawn", "accepted", "accepted", "accepted"]
    assert moves(said) == ["e4-e5", "d7-d6", "f5-f6"]


def test_a_further_act_that_is_put_back_does_not_make_the_accusation_true(accused) -> None:
    """The further act is reported, and the hypothesis that the first cell was misread is kept.

    This holds even if it is unknown which cells have changed.
    """
    board, accused.changed = [("e4", ""), ("e5", "GR")], None
    assert kinds(accused.show(*board, ("c3", ""), ("f2", "GR"), frames=60)) == ["illegal"]
    assert accused.show(*board, frames=60) == []
    said = []
    for source, target, stack in (("d7", "d6", "RG"), ("f5", "f6", "GR")):
        board += [(source, ""), (target, stack)]
        said += accused.show(*board, frames=60)
    assert kinds(said) == ["withdrawn", "accepted", "accepted", "accepted"]
    assert moves(said) == ["e4-e5", "d7-d6", "f5-f6"]


def test_of_two_matches_that_may_both_be_going_on_none_is_taken_for_played(shot) -> None:
    """A match counts as played only if the other one no longer fits or is much less likely."""
    matches = [shot.match.play(move) for move in shot.game.legal_moves(shot.match.position)[:2]]
    one, other = (
        Rival(match, (match.plies[-1].move,), 0, (1, "R"), predict(match), LOG_REFUTED + 1, 0.0, 0.0, played_on=2)
        for match in matches
    )
    assert find_proved((one, other)) is None
    assert find_proved((replace(one, fits=False), other)) is other
    assert find_proved((one, replace(other, log_odds=1.0))) is one


def test_the_match_goes_on_past_the_misread_square(accused) -> None:
    """The cell is ignored until somebody has touched it."""
    assert moves(play_on(accused, 4))[3:] == ["c6-c5", "b7-b6"]
    assert kinds(accused.events).count("illegal") == 1


def test_a_wrong_piece_that_nobody_added_is_withdrawn_when_play_goes_on(shot) -> None:
    """An accusation for a misread cell is withdrawn after two further moves."""
    shot.doubts, shot.changed = {"h3": ("R", "", 30.0)}, ("h3",)
    assert kinds(shot.show()) == ["illegal"]
    begun = len(shot.events)
    board = []
    for source, target, stack in (("e4", "e5", "GR"), ("d7", "d6", "RG")):
        board += [(source, ""), (target, stack)]
        shot.changed = (source, target)
        shot.show(*board, frames=90)
    assert kinds(shot.events[begun:]) == ["withdrawn", "accepted", "accepted"]
    assert shot.events[begun].cells == ("h3",)


def test_what_is_put_right_is_restored_and_not_withdrawn(shot) -> None:
    """A reserve piece is put on a forbidden cell and removed again."""
    shot.changed = ("h3",)
    assert kinds(shot.show(("h3", "R"))) == ["illegal"]
    assert kinds(shot.show()) == ["restored"]


def test_what_is_put_right_together_with_the_next_move_is_not_withdrawn_either(shot) -> None:
    """An act undone together with the next move is not reported as withdrawn."""
    shot.changed = ("h3",)
    assert kinds(shot.show(("h3", "R"))) == ["illegal"]
    shot.changed = ("h3", "e4", "e5")
    assert kinds(shot.show(("e4", ""), ("e5", "GR"))) == ["accepted"]


def test_an_act_far_from_every_legal_move_stands_however_long_play_goes_on(shot) -> None:
    """Two misread cells are implausible: a piece has gone where it may not go."""
    shot.changed = ("d7", "b6")
    wrong = [("d7", ""), ("b6", "GG")]
    assert kinds(shot.show(*wrong)) == ["illegal"]
    for source, target, stack in (("e4", "e5", "GR"), ("f7", "f6", "GR")):
        wrong += [(source, ""), (target, stack)]
        shot.changed = (source, target)
        assert "withdrawn" not in kinds(shot.show(*wrong, frames=60))


@pytest.fixture
def complained(film):
    """Return a film at the start of Domination with one misread cell, which players were told to correct."""
    shot = film(Match(*read_position(START)))
    shot.doubts = {"h3": ("R", "", 30.0)}
    (said,) = shot.show(frames=60)
    assert (said.event, said.cells) == ("unfinished", ("h3",))
    shot.changed = ()
    return shot


def played_from_start(shot, number):
    """Play ``number`` moves, each in a visit of its own; return the events."""
    begun, board = len(shot.events), []
    for source, target, stack in (("e4", "e5", "GR"), ("d7", "d6", "RG"), ("f5", "f6", "GR"))[:number]:
        board += [(source, ""), (target, stack)]
        shot.changed = (source, target)
        shot.show(*board, frames=60)
        shot.changed = ()
    return shot.events[begun:]


def test_who_plays_on_two_moves_has_set_up_the_board_and_one_square_was_misread(complained) -> None:
    """All moves are accepted, in order, and the match goes on with that cell ignored."""
    said = played_from_start(complained, 3)
    assert kinds(said) == ["accepted"] * 3
    assert moves(said) == ["e4-e5", "d7-d6", "f5-f6"]
    assert len(played_from_start(complained, 0)) == 0


def test_one_move_alone_may_come_from_somebody_who_did_not_listen(complained) -> None:
    """After a single move the set-up counts as incomplete."""
    assert moves(played_from_start(complained, 1)) == []


def test_who_puts_the_square_right_begins_the_match(complained) -> None:
    """Once the cell is read correctly, the match begins."""
    begun = len(complained.events)
    complained.doubts, complained.changed = {}, ("h3",)
    complained.show(frames=60)
    assert kinds(complained.events[begun:]) == ["restored"]
    assert moves(played_from_start(complained, 1)) == ["e4-e5"]


def test_a_square_that_looks_right_at_last_is_told_to_be(complained) -> None:
    """The match begins and the cell is trusted again, whether or not anybody has corrected it."""
    assert kinds(seen_anew(complained)) == ["restored"]
    complained.doubts, complained.changed = {}, ("h3",)
    assert kinds(complained.show(("h3", "R"))) == ["illegal"]


@pytest.mark.parametrize("nats", [60.0, 6.0])
def test_what_still_looks_wrong_is_not_withdrawn_for_looking_the_same_as_before(shot, nats: float) -> None:
    """That its picture has changed speaks for an act at first; soon it is compared with what the act has left."""
    shot.doubts, shot.changed = {"h3": ("R", "", nats)}, ("h3",)
    (illegal,) = shot.show(("h3", "R"))
    assert isinstance(illegal, Illegal)
    shot.changed = ()
    assert kinds(shot.watch(shot.reading(shot.table.stacks), frames=60)) == []
