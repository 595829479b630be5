"""The panel controller in a thread of its own: prompt, in order, and without blocking the match."""

import time
from queue import SimpleQueue
from threading import Event as Signal

import pytest

from companion.events import Accepted, Restored, Start
from companion.panel.controller import PanelController
from companion.panel.panel import PanelDisplay, PanelError
from companion.panel.threaded import ThreadedPanel

START = Start(t=0.0, n=1, position="g b R")
WAIT_S = 300.0


class Wall:
    """A panel that passes on what it is shown, with the time; it can be made to fail."""

    def __init__(self, failing_at: int = 0) -> None:
        self.shown: SimpleQueue[tuple[float, PanelDisplay]] = SimpleQueue()
        self.closed = Signal()
        self._left = failing_at

    def show(self, shown: PanelDisplay) -> None:
        self._left -= 1
        if self._left == 0:
            raise PanelError("panel: unplugged")
        self.shown.put((time.monotonic(), shown))

    def close(self) -> None:
        self.closed.set()


def accepted(n: int) -> Accepted:
    return Accepted(t=float(n), n=n, player="R", move=f"m{n}", position="g b G")


def test_events_are_shown_in_order_and_before_closing() -> None:
    wall = Wall()
    announcer = ThreadedPanel(PanelController(wall, time.monotonic))
    announcer.tell(START)
    for n in range(2, 30):
        announcer.tell(accepted(n))
    announcer.warn("NOT SAVED")
    announcer.close()
    said: list[str] = []
    while not wall.shown.empty():
        _, shown = wall.shown.get()
        if shown.said is not None and (not said or said[-1] != shown.said.text):
            said.append(shown.said.text)
    assert said == [
        "The match begins. Red to move.",
        *(f"Red played m{n}. Green to move." for n in range(2, 30)),
        "NOT SAVED",
    ]
    assert wall.closed.is_set()


def test_lights_go_on_blinking_while_nothing_happens() -> None:
    wall = Wall()
    announcer = ThreadedPanel(PanelController(wall, time.monotonic))
    announcer.tell(accepted(2))
    colours = []
    while len(colours) < 3:
        _, shown = wall.shown.get(timeout=WAIT_S)
        if shown.said is not None and (not colours or shown.lights != colours[-1]):
            colours.append(shown.lights)
    announcer.close()
    assert [lights.tone_hz for lights in colours] == [None, 783.99, None]


def test_a_panel_that_fails_does_not_stop_the_match() -> None:
    wall = Wall(failing_at=3)
    announcer = ThreadedPanel(PanelController(wall, time.monotonic))
    for n in range(10):
        announcer.tell(accepted(n))
    announcer.warn("x")
    announcer.close()
    assert announcer.failure == "panel: unplugged"
    assert wall.closed.is_set()


def test_closing_twice_does_no_harm() -> None:
    announcer = ThreadedPanel(PanelController(Wall(), time.monotonic))
    announcer.tell(Restored(t=0.0, n=1))
    announcer.close()
    announcer.close()
    assert announcer.failure == ""


@pytest.mark.parametrize("event", [START, accepted(2)])
def test_telling_does_not_wait_for_the_panel(event: Start | Accepted) -> None:
    freed, showing = Signal(), list[bool]()

    class Stuck(Wall):
        def show(self, shown: PanelDisplay) -> None:
            if shown.said is not None:
                showing.append(freed.wait(WAIT_S))

    announcer = ThreadedPanel(PanelController(Stuck(), time.monotonic))
    announcer.tell(event)
    announcer.tell(event)
    freed.set()
    announcer.close()
    # A caller that waited for the panel would set ``freed`` only after the panel's timeout.
    assert showing
    assert all(showing)
