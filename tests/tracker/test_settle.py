"""Selection of the frames that are read."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.tracker.settle import (
    DOUBTFUL_PAUSE_S,
    FAST_READINGS,
    HAND_PAUSE_S,
    REVIEW_FRAMES,
    REVIEW_S,
    SETTLED_PAUSE_S,
    Calm,
    after_reading,
    step,
)

FRAME_S = 1 / 12


def read_times(
    frames: int, *, settled: bool, hand: bool = False, wrong: bool = False, moving: frozenset[int] = frozenset()
) -> list[int]:
    """Return the numbers of the frames that are read if every reading has the same outcome."""
    calm, read = Calm(), []
    for i in range(frames):
        calm, wanted = step(calm, i * FRAME_S, moving=i in moving)
        if wanted:
            read.append(i)
            calm = after_reading(calm, i * FRAME_S, settled=settled, hand=hand, wrong=wrong)
    return read


def test_the_first_calm_frame_is_read() -> None:
    """Frames with motion are not read."""
    assert read_times(3, settled=True, moving=frozenset({0, 1})) == [2]


def test_a_table_that_is_not_understood_is_read_frame_by_frame_and_then_now_and_then() -> None:
    """After FAST_READINGS consecutive frames, readings pause for DOUBTFUL_PAUSE_S."""
    read = read_times(24, settled=False)
    assert read[:FAST_READINGS] == list(range(FAST_READINGS))
    assert read[FAST_READINGS] * FRAME_S >= (FAST_READINGS - 1) * FRAME_S + DOUBTFUL_PAUSE_S
    assert len(read) <= FAST_READINGS + 24 * FRAME_S / DOUBTFUL_PAUSE_S


def test_an_understood_table_is_left_alone_for_long() -> None:
    """After the review, readings pause for SETTLED_PAUSE_S, because they cost time and nothing moves."""
    read = read_times(60, settled=True)
    assert read[:2] == [0, REVIEW_FRAMES - 1]
    assert [(b - a) * FRAME_S >= SETTLED_PAUSE_S for a, b in pairwise(read[1:])] == [True, True]


def test_a_table_to_be_put_right_is_looked_at_as_often_as_a_doubtful_one() -> None:
    """Otherwise the light would stay red for two seconds after the table has been put right."""
    read = read_times(24, settled=True, wrong=True)
    assert read[1] == REVIEW_FRAMES - 1
    assert all((b - a) * FRAME_S == pytest.approx(DOUBTFUL_PAUSE_S, abs=FRAME_S) for a, b in pairwise(read[1:]))


def test_every_calm_is_reviewed_once_when_it_has_frames_enough_or_has_lasted() -> None:
    """A review is due once per calm phase: after enough frames without hands, or after REVIEW_S."""
    calm = Calm()
    due = []
    for i in range(20):
        calm, _ = step(calm, i * FRAME_S, moving=False)
        due.append(calm.is_review_due(i * FRAME_S))
        calm = after_reading(calm, i * FRAME_S, settled=True, hand=i < 8)
    assert [i for i, is_due in enumerate(due) if is_due] == [9]
    slow = replace(Calm(), since_s=1.0, frames=3)
    assert [slow.is_review_due(t_s) for t_s in (1.0, 1.0 + REVIEW_S)] == [False, True]


def test_a_resting_hand_is_looked_at_now_and_then() -> None:
    """Nothing can be seen before it moves, so it is read only every HAND_PAUSE_S."""
    read = read_times(12, settled=False, hand=True)
    assert all((b - a) * FRAME_S >= HAND_PAUSE_S - 1e-9 for a, b in pairwise(read))
    assert len(read) == 4


def test_motion_ends_a_calm_at_once() -> None:
    """The next calm phase starts with fresh counters."""
    assert read_times(6, settled=True, moving=frozenset({3})) == [0, 4]
    calm, _ = step(Calm(since_s=1.0, readings=2), 2.0, moving=True)
    assert calm == Calm()
    assert calm.lasted_s(5.0) == 0.0


@given(st.lists(st.booleans(), max_size=40), st.booleans())
def test_nothing_is_ever_read_while_something_moves(moving: list[bool], settled: bool) -> None:
    """The first frame of every calm phase is read."""
    read = read_times(len(moving), settled=settled, moving=frozenset(i for i, m in enumerate(moving) if m))
    assert not any(moving[i] for i in read)
    assert all(i in read for i in range(len(moving)) if not moving[i] and (i == 0 or moving[i - 1]))
