"""The meaning of button presses in each state of the referee."""

import pytest

from companion.panel.buttons import Button, Press
from companion.panel.dialogue import Dialogue, Reply, handle_press
from companion.phrases import ENGLISH, GERMAN
from companion.referee.orders import Answer, Done, Order, Pause, Resume, TakeBackMoves
from companion.referee.snapshot import Snapshot
from companion.referee.states import Mode

DONE, UNDO, ARBITER = Press(Button.DONE), Press(Button.UNDO), Press(Button.ARBITER)
HELD = Press(Button.ARBITER, is_held=True)


def snapshot(mode: Mode, *options: str) -> Snapshot:
    return Snapshot(
        mode=mode.value, view="clear", position="", to_move="R", todo="", wrong=(), options=options, outcome=None
    )


def replies(snapshot: Snapshot, *presses: Press) -> list[Reply]:
    """Return the replies to some presses, one after the other."""
    dialogue, said = Dialogue(), []
    for press in presses:
        dialogue, reply = handle_press(dialogue, press, snapshot, ENGLISH)
        said.append(reply)
    return said


@pytest.mark.parametrize(
    ("mode", "press", "order"),
    [
        (Mode.WATCHING, DONE, Done()),
        (Mode.UNFINISHED, DONE, Done()),
        (Mode.RESTORING, DONE, Done()),
        (Mode.WATCHING, UNDO, TakeBackMoves(1)),
        (Mode.OVER, UNDO, TakeBackMoves(1)),
        (Mode.WATCHING, HELD, Pause()),
        (Mode.ASKING, HELD, Pause()),
        (Mode.PAUSED, HELD, Resume()),
    ],
)
def test_a_press_is_an_order(mode: Mode, press: Press, order: Order) -> None:
    assert replies(snapshot(mode), press) == [Reply(order)]


@pytest.mark.parametrize("press", [ARBITER, Press(Button.DONE, is_held=True)], ids=str)
def test_the_arbiters_button_counts_only_when_held_and_the_others_only_once(press: Press) -> None:
    for mode in Mode:
        assert replies(snapshot(mode, "c3-d3"), press) == [Reply()]


def test_undo_held_says_that_it_was_none_of_the_moves_and_nothing_else() -> None:
    held = Press(Button.UNDO, is_held=True)
    assert replies(snapshot(Mode.ASKING, "c3-d3", "c3-e3"), held) == [Reply(Answer(None))]
    assert {mode for mode in Mode if replies(snapshot(mode), held) != [Reply()]} == {Mode.ASKING}


def test_undo_does_not_take_back_a_good_move_while_a_wrong_act_lies_there() -> None:
    assert replies(snapshot(Mode.RESTORING), UNDO) == [Reply(text="First put back what lies wrong.")]


def test_while_the_match_is_paused_only_the_arbiter_is_heard() -> None:
    said = Reply(text="The match is paused; nobody watches the table.")
    assert replies(snapshot(Mode.PAUSED), DONE, UNDO) == [said, said]


def test_done_says_yes_to_the_move_asked_about() -> None:
    assert replies(snapshot(Mode.ASKING, "c3-d3"), DONE) == [Reply(Answer(0))]


def test_undo_goes_on_to_the_next_move_and_says_which() -> None:
    asking = snapshot(Mode.ASKING, "c3-d3", "c3-e3", "*e3")
    assert replies(asking, UNDO, UNDO, DONE) == [
        Reply(text="Was it c3-e3?"),
        Reply(text="Was it *e3?"),
        Reply(Answer(2)),
    ]


def test_no_to_the_last_move_says_that_it_was_none_of_them() -> None:
    assert replies(snapshot(Mode.ASKING, "c3-d3", "c3-e3"), UNDO, UNDO)[-1] == Reply(Answer(None))
    assert replies(snapshot(Mode.ASKING, "c3-d3"), UNDO) == [Reply(Answer(None))]


def test_a_numbered_key_chooses_its_move() -> None:
    asking = snapshot(Mode.ASKING, "c3-d3", "c3-e3")
    assert replies(asking, UNDO, Press(Button.DONE, number=1)) == [Reply(text="Was it c3-e3?"), Reply(Answer(0))]


def test_another_question_begins_with_its_first_move() -> None:
    dialogue, _ = handle_press(Dialogue(), UNDO, snapshot(Mode.ASKING, "c3-d3", "c3-e3"), ENGLISH)
    assert handle_press(dialogue, DONE, snapshot(Mode.ASKING, "a1-a2", "a1-a3"), ENGLISH)[1] == Reply(Answer(0))


def test_to_a_question_without_moves_only_no_is_an_answer() -> None:
    asking = snapshot(Mode.ASKING)
    assert replies(asking, UNDO) == [Reply(Answer(None))]
    (yes,) = replies(asking, DONE)
    assert yes.order is None
    assert "put it right" in yes.text


def test_sentences_are_in_the_language_of_the_table() -> None:
    asking = snapshot(Mode.ASKING, "c3-d3", "c3-e3")
    assert handle_press(Dialogue(), UNDO, asking, GERMAN)[1] == Reply(text="War es c3-e3?")
