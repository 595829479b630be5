"""The terminal panel: one line per sentence, in colour only where wanted, in any encoding."""

from io import BytesIO, TextIOWrapper

import pytest

from companion.panel.cue_player import Lights
from companion.panel.cues import GREEN, OFF, RED
from companion.panel.panel import Announcement, PanelDisplay
from companion.panel.terminal import TerminalPanel, format_time

PLAYED = Announcement("accepted", "Grün hat c3-d3 gezogen.", 12.44, GREEN)
WRONG = Announcement("illegal", "Red: two things moved.", 75.0, RED)
UNSAVED = Announcement("unsaved", "NOT SAVED: 1 event", None, OFF)


def written(
    *said: Announcement | None, has_colour: bool = False, encoding: str = "utf-8", turn: tuple[str, ...] = ("R",)
) -> str:
    """Return what the panel writes for these sentences."""
    stream = TextIOWrapper(BytesIO(), encoding=encoding, newline="\n")
    panel = TerminalPanel(stream, has_colour=has_colour)
    for one in said:
        panel.show(PanelDisplay(Lights(), turn, one))
    panel.close()
    stream.seek(0)
    return stream.read()


def test_each_sentence_is_one_line_whatever_the_lights_do() -> None:
    assert written(None, PLAYED, PLAYED, WRONG, WRONG, UNSAVED) == (
        "  0:12.4  * accepted      R  Grün hat c3-d3 gezogen.\n"
        "  1:15.0  * illegal       R  Red: two things moved.\n"
        "          * unsaved       R  NOT SAVED: 1 event\n"
    )


def test_the_light_is_a_dot_in_its_colour() -> None:
    assert written(PLAYED, WRONG, UNSAVED, has_colour=True) == (
        "  0:12.4  \x1b[38;2;0;255;0m●\x1b[0m accepted      R  Grün hat c3-d3 gezogen.\n"
        "  1:15.0  \x1b[38;2;255;0;0m●\x1b[0m illegal       R  Red: two things moved.\n"
        "          o unsaved       R  NOT SAVED: 1 event\n"
    )


def test_nobodys_turn_is_a_dash() -> None:
    assert written(WRONG, turn=()) == "  1:15.0  * illegal       -  Red: two things moved.\n"


def test_letters_that_the_terminal_lacks_are_replaced() -> None:
    assert written(PLAYED, encoding="ascii") == "  0:12.4  * accepted      R  Gr?n hat c3-d3 gezogen.\n"


@pytest.mark.parametrize(
    ("t", "text"),
    [
        (0.0, "0:00.0"),
        (0.05, "0:00.0"),
        (9.99, "0:09.9"),
        (59.99, "0:59.9"),
        (60.0, "1:00.0"),
        (3661.25, "61:01.2"),
        (None, ""),
    ],
)
def test_times_are_minutes_seconds_and_tenths(t: float | None, text: str) -> None:
    assert format_time(t) == text
