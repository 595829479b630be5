"""The queue of people's orders to the thread that runs the referee."""

from __future__ import annotations

from threading import Thread

import pytest

from companion.app.inbox import CAPACITY, DeferredOrder, Inbox
from companion.errors import CompanionError
from companion.events import Event, Restored
from companion.referee.orders import Order, OrderRefused, Pause, Resume

SAID = (Restored(t=1.0, n=1),)


def agree(_order: Order | DeferredOrder, _by: str) -> tuple[Event, ...]:
    """Accept every order."""
    return SAID


def test_orders_are_taken_in_turn_and_answered() -> None:
    """Orders are executed in sequence, and each gets its answer."""
    inbox, taken = Inbox(), list[tuple[object, str]]()

    def take(order: Order | DeferredOrder, by: str) -> tuple[Event, ...]:
        taken.append((order, by))
        return SAID

    first, second = inbox.put(Pause(), by="Ann"), inbox.put(Resume(), by="Ben")
    assert not first.done()
    inbox.drain(take)
    assert taken == [(Pause(), "Ann"), (Resume(), "Ben")]
    assert first.result(0) == second.result(0) == SAID


def test_a_refusal_goes_to_who_asked_and_the_rest_goes_on() -> None:
    """A refusal is returned to its sender only."""
    inbox = Inbox()

    def refuse_pauses(order: Order | DeferredOrder, _by: str) -> tuple[Event, ...]:
        if order == Pause():
            raise OrderRefused("not now")
        return SAID

    refused, done = inbox.put(Pause()), inbox.put(Resume())
    inbox.drain(refuse_pauses)
    with pytest.raises(CompanionError, match="not now"):
        refused.result(0)
    assert done.result(0) == SAID


def test_an_order_that_nobody_waits_for_any_more_is_not_taken() -> None:
    """A cancelled order is skipped."""
    inbox = Inbox()
    given_up = inbox.put(Pause())
    given_up.cancel()
    done = inbox.put(Resume())
    inbox.drain(agree)
    assert given_up.cancelled()
    assert done.result(0) == SAID


def test_whoever_leans_on_a_button_is_refused() -> None:
    """Beyond CAPACITY, orders are refused at once."""
    inbox = Inbox()
    outcomes = [inbox.put(Pause()) for _ in range(CAPACITY + 1)]
    assert [outcome.done() for outcome in outcomes] == [False] * CAPACITY + [True]
    with pytest.raises(OrderRefused, match="too much"):
        outcomes[-1].result(0)


def test_a_closed_table_answers_what_waits_and_what_comes() -> None:
    """After closing, waiting and later orders are refused."""
    inbox = Inbox()
    early = inbox.put(Pause())
    inbox.close()
    late = inbox.put(Pause())
    for outcome in (early, late):
        with pytest.raises(OrderRefused, match="closed"):
            outcome.result(0)


def test_many_threads_may_ask_at_once() -> None:
    inbox = Inbox()
    outcomes = list[object]()
    threads = [Thread(target=lambda: outcomes.append(inbox.put(Pause()))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    inbox.drain(agree)
    assert len(outcomes) == 20
    assert all(outcome.result(0) == SAID for outcome in outcomes)  # type: ignore[attr-defined]
