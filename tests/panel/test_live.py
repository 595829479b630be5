"""The desk in a thread of its own: prompt, in order, and without blocking the match."""

import time
from queue import SimpleQueue
from threading import Event as Signal

import pytest

from companion.events import Accepted, Restored, Start
from companion.panel.desk import Desk
from companion.panel.live import LiveDesk
from companion.panel.panel import PanelError, Shown

START = Start(t=0.0, n=1, position="g b R")
WAIT_S = 300.0


class Wall:
    """A panel that passes on what it is shown, with the time; it can be made to fail."""

    def __init__(self, failing_at: int = 0) -> None:
        self.shown: SimpleQueue[tuple[float, Shown]] = SimpleQueue()
        self.closed = Signal()
        self._left = failing_at

    def show(self, shown: Shown) -> None:
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
    desk = LiveDesk(Desk(wall, time.monotonic))
    desk.tell(START)
    for n in range(2, 30):
        desk.tell(accepted(n))
    desk.warn("NOT SAVED")
    desk.close()
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
    desk = LiveDesk(Desk(wall, time.monotonic))
    desk.tell(accepted(2))
    colours = []
    while len(colours) < 3:
        _, shown = wall.shown.get(timeout=WAIT_S)
        if shown.said is not None and (not colours or shown.lights != colours[-1]):
            colours.append(shown.lights)
    desk.close()
    assert [lights.tone_hz for lights in colours] == [None, 783.99, None]


def test_a_panel_that_fails_does_not_stop_the_match() -> None:
    wall = Wall(failing_at=3)
    desk = LiveDesk(Desk(wall, time.monotonic))
    for n in range(10):
        desk.tell(accepted(n))
    desk.warn("x")
    desk.close()
    assert desk.failure == "panel: unplugged"
    assert wall.closed.is_set()


def test_closing_twice_does_no_harm() -> None:
    desk = LiveDesk(Desk(Wall(), time.monotonic))
    desk.tell(Restored(t=0.0, n=1))
    desk.close()
    desk.close()
    assert desk.failure == ""


@pytest.mark.parametrize("event", [START, accepted(2)])
def test_telling_does_not_wait_for_the_panel(event: Start | Accepted) -> None:
    freed, showing = Signal(), list[bool]()

    class Stuck(Wall):
        def show(self, shown: Shown) -> None:
            if shown.said is not None:
                showing.append(freed.wait(WAIT_S))

    desk = LiveDesk(Desk(Stuck(), time.monotonic))
    desk.tell(event)
    desk.tell(event)
    freed.set()
    desk.close()
    # A caller that waited for the panel would set ``freed`` only after the panel's timeout.
    assert showing
    assert all(showing)
