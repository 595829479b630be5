"""Button presses become orders in the thread that runs the referee, and refusals become messages."""

import pytest

from companion.app.inbox import Inbox
from companion.app.presses import BY, Presses
from companion.events import Event
from companion.games import load_game
from companion.match import Match
from companion.panel.buttons import Button, Press
from companion.phrases import GERMAN
from companion.referee.referee import Referee


class Desk:
    """A table that drains its inbox like companion.app.table, and records the messages to its players."""

    def __init__(self, moves: int = 1) -> None:
        game = load_game("domination")
        match = Match(game, game.start())
        for _ in range(moves):
            match = match.play(game.legal_moves(match.position)[0])
        self.referee = Referee(match)
        self.inbox = Inbox()
        self.notes: list[str] = []
        self.press = Presses(self.inbox, self.notes.append, GERMAN)

    def drain(self) -> list[Event]:
        events: list[Event] = []

        def take(order, by):
            assert by == BY
            wanted = order(self.referee)
            said = () if wanted is None else self.referee.order(1.0, wanted, by)
            events.extend(said)
            return said

        self.inbox.drain(take)
        return events


def test_undo_takes_the_last_move_back_in_the_name_of_the_panel() -> None:
    announcer = Desk()
    announcer.press(Press(Button.UNDO))
    assert [(event.event, event.by) for event in announcer.drain()] == [("corrected", "panel")]
    assert announcer.referee.match.plies == ()


def test_what_is_refused_is_said_once_and_changes_nothing() -> None:
    announcer = Desk(moves=0)
    announcer.press(Press(Button.UNDO))
    assert announcer.drain() == []
    assert announcer.notes == ["Das geht jetzt nicht."]


def test_why_it_is_refused_is_said_in_english() -> None:
    announcer = Desk(moves=0)
    announcer.press = Presses(announcer.inbox, announcer.notes.append)
    announcer.press(Press(Button.UNDO))
    announcer.drain()
    assert announcer.notes == ["Not now: cannot take back 1 move: 0 can be undone."]


def test_the_arbiters_button_pauses_and_goes_on() -> None:
    announcer = Desk()
    held = Press(Button.ARBITER, is_held=True)
    modes = []
    for _ in range(2):
        announcer.press(held)
        announcer.drain()
        modes.append(announcer.referee.snapshot.mode)
    assert modes == ["paused", "setting up"]


def test_two_presses_before_a_frame_are_both_meant_as_the_match_stands_then() -> None:
    announcer = Desk()
    held = Press(Button.ARBITER, is_held=True)
    announcer.press(held)
    announcer.press(held)
    announcer.drain()
    assert announcer.referee.snapshot.mode == "setting up"


@pytest.mark.parametrize("presses", [1, 500])
def test_a_closed_or_a_full_table_is_no_trouble(presses: int) -> None:
    announcer = Desk()
    announcer.inbox.close()
    for _ in range(presses):
        announcer.press(Press(Button.UNDO))
    assert announcer.notes == []
