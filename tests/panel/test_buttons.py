"""Debouncing of buttons."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.panel.buttons import HELD_S, STEADY_S, Button, ButtonState, Press, debounced, next_due, with_sample

DOWN = Press(Button.DONE)
HELD = Press(Button.DONE, is_held=True)


@dataclass(frozen=True)
class Told:
    """A press, and the time at which it was reported."""

    t_s: float
    press: Press


def played(edges: Iterable[tuple[float, bool]], until_s: float = 100.0) -> Iterator[Told]:
    """Yield the presses reported for (time, level) pairs on the pin.

    The state is polled only when a level changes or when it is due.
    """
    contact = ButtonState()
    for t_s, level in (*edges, (until_s, None)):
        while (due := next_due(contact)) is not None and due < t_s:
            contact, presses = debounced(contact, Button.DONE, due)
            yield from (Told(due, press) for press in presses)
        contact, presses = debounced(contact, Button.DONE, t_s)
        yield from (Told(t_s, press) for press in presses)
        if level is not None:
            contact = with_sample(contact, level=level, t_s=t_s)


def presses(edges: Iterable[tuple[float, bool]]) -> list[Press]:
    """Return the reported presses without their times."""
    return [told.press for told in played(edges)]


def bouncing(t_s: float, level: bool, bounces: int = 4, each_s: float = 0.003) -> list[tuple[float, bool]]:
    """Return the edges of a contact that settles at ``level`` after some bounces."""
    return [(t_s + i * each_s, level ^ bool(i % 2)) for i in range(2 * bounces + 1)]


def test_a_press_is_told_once_when_the_contact_has_come_to_rest() -> None:
    assert list(played([(1.0, True), (1.2, False)])) == [Told(1.0 + STEADY_S, DOWN)]


def test_bounces_when_it_closes_and_opens_are_one_press() -> None:
    assert presses([*bouncing(1.0, True), *bouncing(1.3, False)]) == [DOWN]


def test_a_spike_is_no_press() -> None:
    assert presses([(1.0, True), (1.0 + STEADY_S / 2, False)]) == []


def test_a_short_gap_while_it_is_down_does_not_make_two_presses() -> None:
    assert presses([(1.0, True), (1.5, False), (1.5 + STEADY_S / 2, True), (2.0, False)]) == [DOWN]


def test_two_presses_are_two() -> None:
    assert presses([(1.0, True), (1.1, False), (1.2, True), (1.3, False)]) == [DOWN, DOWN]


def test_a_button_that_stays_down_is_told_as_held_at_that_moment_and_once() -> None:
    assert list(played([(1.0, True), (9.0, False)])) == [Told(1.0 + STEADY_S, DOWN), Told(1.0 + HELD_S, HELD)]


def test_a_bounce_does_not_end_a_hold() -> None:
    edges = [(1.0, True), (1.0 + HELD_S - 0.005, False), (1.0 + HELD_S + 0.005, True), (9.0, False)]
    assert presses(edges) == [DOWN, HELD]


def test_let_go_just_before_it_counts_as_held() -> None:
    assert presses([(1.0, True), (1.0 + HELD_S - 0.001, False)]) == [DOWN]


def test_one_that_is_asked_late_tells_all_that_has_happened() -> None:
    contact = with_sample(ButtonState(), level=True, t_s=1.0)
    contact, first = debounced(contact, Button.UNDO, 1.0 + STEADY_S)
    contact = with_sample(contact, level=False, t_s=8.0)
    contact, rest = debounced(contact, Button.UNDO, 9.0)
    assert (first, rest) == ((Press(Button.UNDO),), (Press(Button.UNDO, is_held=True),))
    assert next_due(contact) is None


@pytest.mark.parametrize("level", [True, False])
def test_the_same_level_again_changes_nothing(level: bool) -> None:
    contact = with_sample(ButtonState(level=not level), level=level, t_s=1.0)
    assert with_sample(contact, level=level, t_s=5.0) == contact


@given(st.lists(st.floats(0.0005, 3.0), min_size=1, max_size=40))
def test_any_chatter_tells_each_steady_press_once_and_never_a_hold_before_its_press(gaps: list[float]) -> None:
    t_s, edges = 0.0, []
    for i, gap_s in enumerate(gaps):
        t_s += gap_s
        edges.append((t_s, i % 2 == 0))
    told = list(played(edges, until_s=t_s + 10))
    assert [told.t_s for told in told] == sorted(each.t_s for each in told)
    steady = [gap_s >= STEADY_S for gap_s in (*gaps[1:], 10.0)]
    # The contact counts as down from a steady closing until a steady opening.
    downs, is_down = 0, False
    for i, is_steady in enumerate(steady):
        if is_steady and is_down is not (i % 2 == 0):
            is_down = i % 2 == 0
            downs += is_down
    assert sum(not each.press.is_held for each in told) == downs
    for before, after in zip([None, *told], told, strict=False):
        if after.press.is_held:
            assert before is not None
            assert not before.press.is_held
