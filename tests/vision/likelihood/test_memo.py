"""A memo returns what was stored in it, and keeps working when it is full."""

import numpy as np

from vision.likelihood.memo import SLOTS, find, make_memo, put


def test_a_memo_holds_what_was_put_into_it():
    """All stored values are found by their keys."""
    memo, places = (
        make_memo(6),
        [np.array([[turn, 0.5 * x, -1.0], [turn, 0, 0]]) for turn in range(8) for x in range(40)],
    )
    for value, place in enumerate(places):
        slot = find(memo, place)
        assert not memo.is_used[slot]
        put(memo, slot, place, value)
    assert [memo.values[find(memo, place)] for place in places] == list(range(len(places)))


def test_what_a_full_memo_has_no_room_for_is_at_hand_and_not_kept():
    """A full memo still returns a value just stored, but only half of the slots are filled permanently."""
    memo = make_memo(1)
    for value in range(2 * SLOTS):
        slot = find(memo, np.array([[value]]) / 4)
        assert not memo.is_used[slot]
        put(memo, slot, np.array([[value]]) / 4, value)
        assert memo.values[slot] == value
    assert memo.many[0] == SLOTS // 2
    assert memo.values[find(memo, np.array([[10 / 4]]))] == 10
