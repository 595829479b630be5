"""Review of each calm phase: the whole table is read from the mean of its frames and compared with the one before."""

from __future__ import annotations

import pytest

from companion.tracker.settle import REVIEW_FRAMES
from tests.referee.conftest import kinds, settled


def calm(shot, frames, *stacks, misread=None):
    """Show ``stacks`` after a hand's visit, with cells as in ``misread`` until the review; return the events.

    Like the program, a review compares with the previous calm phase, since which c4 has changed.
    """
    board = list(shot.game.table(shot.referee.match.position).stacks)
    for cell, stack in stacks:
        board[shot.game.layout.index[cell]] = stack
    shot.sweep()
    begun, is_understood, shot.doubts = len(shot.events), False, misread or {}
    for _ in range(frames):
        glance = shot.referee.glance(shot.t_s, moving=False)
        if glance.read:
            recalled = glance.is_review and is_understood
            shot.doubts = {} if glance.is_review else shot.doubts
            shot.changed = () if is_understood and not recalled else ("c4",)
            shot.events += shot.referee.observe(shot.t_s, shot.reading(tuple(board)), is_recalled=recalled)
            is_understood = (is_understood and not recalled) or shot.referee.has_understood
        shot.frame += 1
    return shot.events[begun:]


@pytest.fixture
def shot(film):
    """Return a film at the start of Domination that has been calm twice."""
    shot = settled(film)
    shot.show()
    return shot


def test_a_piece_that_single_pictures_do_not_show_is_told_after_all(shot) -> None:
    """The first frame is read as if nothing had come to c4."""
    (accepted,) = shot.show(("e4", ""), ("e5", "GR"))
    assert accepted.event == "accepted"
    stack = shot.game.table(shot.referee.match.position).stacks[shot.game.layout.index["c4"]]
    misread = {"c4": (stack, "RG", 12.0)}
    assert calm(shot, REVIEW_FRAMES - 1, ("c4", "RG"), misread=misread) == []
    assert kinds(calm(shot, REVIEW_FRAMES + 2, ("c4", "RG"), misread=misread)) == ["illegal"]


def test_a_review_that_says_the_same_says_nothing(shot) -> None:
    """A review with the same result causes no further event."""
    assert kinds(calm(shot, REVIEW_FRAMES + 12, ("c4", "RG"))) == ["illegal"]


def test_nothing_counts_as_touched_since_an_accusation_of_the_same_calm(shot) -> None:
    """Otherwise the accusation would be withdrawn as if the cell had been touched since, or reported as restored."""
    said = calm(shot, 3 * REVIEW_FRAMES, ("c4", "RG"), misread={"c4": ("RG", "G", 8.0)})
    assert kinds(said) == ["illegal"]
    assert not any(rival.touched for rival in shot.referee._rivals)
