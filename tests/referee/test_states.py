"""The referee's state machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.referee.states import CONFIRMING, TABLE, Action, Mode, Trigger, diagram, table
from companion.referee.steps import ACTIONS

DOCUMENT = Path(__file__).parents[2] / "docs" / "referee-states.md"


def test_every_action_has_a_function_and_is_used() -> None:
    """No action is unused."""
    assert set(ACTIONS) == set(Action)
    assert {action for _, action in CONFIRMING.values()} == set(Action)
    assert {action for _, action in TABLE.values()} == set(Action) - {Action.SAY_UNMOVED}


@pytest.mark.parametrize("confirming", [False, True])
def test_every_mode_can_be_reached_and_left(*, confirming: bool) -> None:
    """All modes are reachable from the start; thinking exists only where moves are confirmed."""
    rows = table(confirming=confirming)
    modes = set(Mode) - (set() if confirming else {Mode.THINKING})
    reached = {Mode.SETTING_UP}
    for _ in Mode:
        reached |= {following for (mode, _), (following, _) in rows.items() if mode in reached}
    assert reached == modes
    assert {mode for (mode, _), (following, _) in rows.items() if following is not mode} == modes


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize(
    "trigger", [Trigger.SAME, Trigger.PLAYED, Trigger.BEGUN, Trigger.BACK, Trigger.WRONG, Trigger.ALIKE]
)
def test_whatever_lies_on_the_table_is_dealt_with_in_every_mode(mode: Mode, trigger: Trigger) -> None:
    """A transition exists for every mode and view."""
    assert (mode, trigger) in CONFIRMING
    assert (mode, trigger) in TABLE or mode is Mode.THINKING


def test_with_confirmation_a_table_counts_only_after_the_word() -> None:
    """While a player is thinking, no picture changes the mode; the confirmation does."""
    seen = [Trigger.SAME, Trigger.PLAYED, Trigger.BEGUN, Trigger.BACK, Trigger.WRONG, Trigger.ALIKE]
    assert {CONFIRMING[Mode.THINKING, trigger] for trigger in seen} == {(Mode.THINKING, Action.NOTHING)}
    assert CONFIRMING[Mode.THINKING, Trigger.DONE] == (Mode.WATCHING, Action.LOOK)
    watched = {key for key, (mode, _) in CONFIRMING.items() if mode is Mode.WATCHING}
    assert watched == {(Mode.THINKING, Trigger.DONE), (Mode.WATCHING, Trigger.DONE)}


def test_nothing_is_accepted_after_the_end_or_in_a_pause() -> None:
    """A move may still be taken back after the end."""
    quiet = [TABLE[mode, trigger] for mode in (Mode.OVER, Mode.PAUSED) for trigger in (Trigger.PLAYED, Trigger.WRONG)]
    assert {action for _, action in quiet} == {Action.NOTHING}
    assert TABLE[Mode.OVER, Trigger.BACK] == (Mode.WATCHING, Action.TAKE_BACK)


def test_the_document_shows_the_table() -> None:
    """The diagrams in the documentation are generated from the table and must be up to date."""
    text = DOCUMENT.read_text(encoding="utf-8")
    assert f"```mermaid\n{diagram()}```" in text
    assert f"```mermaid\n{diagram(confirming=True)}```" in text
