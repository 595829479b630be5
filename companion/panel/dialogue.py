"""What a press means: presses and the referee's state in, orders and sentences out.  Pure.

Two buttons answer any question: the moves are offered one after the other, ``done`` says yes, ``undo`` says no; held,
``undo`` says that it was none of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from companion.panel.buttons import Button, Press
from companion.phrases import Language
from companion.referee.orders import Answer, Done, Order, Pause, Resume, TakeBackMoves
from companion.referee.snapshot import Snapshot
from companion.referee.states import Mode


@dataclass(frozen=True, slots=True)
class Dialogue:
    """How far people have come with a question: the moves in question, and which of them is offered."""

    options: tuple[str, ...] = ()
    offered: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """What a press leads to: an order for the referee, or words for people, or neither."""

    order: Order | None = None
    text: str = ""


NOTHING = Reply()


def handle_press(dialogue: Dialogue, press: Press, snapshot: Snapshot, lang: Language) -> tuple[Dialogue, Reply]:
    """The dialogue after ``press``, and the reply."""
    if press.button is Button.ARBITER:
        is_paused = snapshot.mode == Mode.PAUSED.value
        return dialogue, Reply(Resume() if is_paused else Pause()) if press.is_held else NOTHING
    if press.is_held:
        is_no = press.button is Button.UNDO and snapshot.mode == Mode.ASKING.value
        return (Dialogue(), Reply(Answer(None))) if is_no else (dialogue, NOTHING)
    if snapshot.mode == Mode.PAUSED.value:
        return dialogue, Reply(text=lang.texts["paused"])
    if snapshot.mode == Mode.ASKING.value:
        if dialogue.options != snapshot.options:
            dialogue = Dialogue(snapshot.options)
        return _answered(dialogue, press, lang)
    if press.button is Button.DONE:
        return dialogue, Reply(Done())
    if snapshot.mode == Mode.RESTORING.value:
        # Whoever presses "undo" now means the illegal act on the table, not the last good move.
        return dialogue, Reply(text=lang.texts["undo.restoring"])
    return dialogue, Reply(TakeBackMoves(1))


def _answered(dialogue: Dialogue, press: Press, lang: Language) -> tuple[Dialogue, Reply]:
    options, offered = dialogue.options, dialogue.offered
    if not options:
        # "Has anything been changed?"  Only "no" is an answer; what has been changed is put right by hand.
        return dialogue, Reply(Answer(None)) if press.button is Button.UNDO else Reply(text=lang.texts["put-right"])
    if press.button is Button.DONE:
        return Dialogue(), Reply(Answer(press.number - 1 if press.number else offered))
    if offered + 1 == len(options):
        return Dialogue(), Reply(Answer(None))
    following = Dialogue(options, offered + 1)
    return following, Reply(text=lang.texts["offer"].format(move=options[offered + 1]))
