"""The table of states and transitions."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.referee.states import TABLE, Action, Mode, Trigger, diagram
from companion.referee.steps import ACTIONS

DOCUMENT = Path(__file__).parents[2] / "docs" / "referee-states.md"


def test_every_action_has_a_function_and_is_used() -> None:
    """No action is named in vain."""
    assert set(ACTIONS) == set(Action)
    assert {action for _, action in TABLE.values()} == set(Action)


def test_every_mode_can_be_reached_and_left() -> None:
    """From the beginning, by some triggers."""
    reached = {Mode.SETTING_UP}
    for _ in Mode:
        reached |= {following for (mode, _), (following, _) in TABLE.items() if mode in reached}
    assert reached == set(Mode)
    assert {mode for (mode, _), (following, _) in TABLE.items() if following is not mode} == set(Mode)


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize(
    "trigger", [Trigger.SAME, Trigger.PLAYED, Trigger.BEGUN, Trigger.BACK, Trigger.WRONG, Trigger.ALIKE]
)
def test_whatever_lies_on_the_table_is_dealt_with_in_every_mode(mode: Mode, trigger: Trigger) -> None:
    """A picture can never be refused."""
    assert (mode, trigger) in TABLE


def test_nothing_is_accepted_after_the_end_or_in_a_pause() -> None:
    """But a move may be taken back after the end."""
    quiet = [TABLE[mode, trigger] for mode in (Mode.OVER, Mode.PAUSED) for trigger in (Trigger.PLAYED, Trigger.WRONG)]
    assert {action for _, action in quiet} == {Action.NOTHING}
    assert TABLE[Mode.OVER, Trigger.BACK] == (Mode.WATCHING, Action.TAKE_BACK)


def test_the_document_shows_the_table() -> None:
    """The drawing in the documentation is made from the table: a change of one is a change of both."""
    assert f"```mermaid\n{diagram()}```" in DOCUMENT.read_text(encoding="utf-8")
