"""From a press of a button to the order that the deciding thread takes, and the answer for whoever pressed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from companion.app.inbox import Inbox, Outcome
from companion.panel.buttons import Press
from companion.panel.dialogue import Dialogue, handle_press
from companion.phrases import ENGLISH, Language
from companion.referee.orders import Order, OrderRefused
from companion.referee.referee import Referee

BY = "panel"
"""Who gives the orders of the buttons, as recorded."""


class Presses:
    """Takes presses from any thread; interprets them by the state of the match when the deciding thread takes them.

    Args:
        inbox: where orders go.
        note: shows a sentence; called in the deciding thread.
        lang: the language of the sentences.
    """

    def __init__(self, inbox: Inbox, note: Callable[[str], None], lang: Language = ENGLISH) -> None:
        self._inbox = inbox
        self._note = note
        self._lang = lang
        self._dialogue = Dialogue()

    def __call__(self, press: Press) -> None:
        """Somebody pressed a button."""
        self._inbox.put(partial(self._order_for, press), BY).add_done_callback(self._answer)

    def _order_for(self, press: Press, referee: Referee) -> Order | None:
        self._dialogue, reply = handle_press(self._dialogue, press, referee.snapshot, self._lang)
        if reply.text:
            self._note(reply.text)
        return reply.order

    def _answer(self, outcome: Outcome) -> None:
        """Say why an order was refused, by way of the inbox, since this may be any thread."""
        error = outcome.exception()
        if isinstance(error, OrderRefused):
            text = self._lang.texts["refused"].format(why=str(error).rstrip("."))
            self._inbox.put(partial(self._say, text), BY)

    def _say(self, text: str, _referee: Referee) -> None:
        self._note(text)
