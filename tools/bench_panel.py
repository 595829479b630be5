"""Measures latencies of lights, voice and buttons on mock pins: `python -m tools.bench_panel`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory

from gpiozero.pins.mock import MockFactory, MockPWMPin

from companion.events import Accepted
from companion.panel.buttons import STEADY_S, Press
from companion.panel.controller import PanelController
from companion.panel.gpio import GpioButtons, GpioPanel
from companion.panel.panel import PanelDisplay
from companion.panel.pins import Pins
from companion.panel.threaded import ThreadedPanel
from companion.phrases import ENGLISH
from companion.voice.library import Library
from companion.voice.wording import clips
from tools.timing import HEAD, Timing, machine

EVENTS, PRESSES, CLIPS = 300, 40, 20
"""Number of samples of each latency."""

PAUSE_S = 0.01
"""Pause between two events: long enough for the panel to settle."""


class TimedPanel(GpioPanel):
    """A panel that queues the text of each new message and the time (s) at which its pins were set."""

    def __init__(self, factory: MockFactory) -> None:
        super().__init__(("R", "G"), Pins(), factory)
        self.set_at: SimpleQueue[tuple[str, float]] = SimpleQueue()

    def show(self, shown: PanelDisplay) -> None:
        """Set the pins, then queue text and time if there is a message."""
        super().show(shown)
        if shown.said is not None:
            self.set_at.put((shown.said.text, time.perf_counter()))


def event_to_pins() -> Iterator[float]:
    """Yield the seconds from each event to its cue on the pins."""
    panel = TimedPanel(MockFactory(pin_class=MockPWMPin))
    announcer = ThreadedPanel(PanelController(panel, time.monotonic))
    for n in range(EVENTS):
        event = Accepted(t=float(n), n=n, player="R", move=f"m{n}", position=f"g b {'RG'[n % 2]}")
        sent_s = time.perf_counter()
        announcer.tell(event)
        while f"m{n}." not in (found := panel.set_at.get())[0]:
            pass
        yield found[1] - sent_s
        time.sleep(PAUSE_S)
    announcer.close()


def press_to_event() -> Iterator[float]:
    """Yield the seconds from the end of a contact's debounce time (STEADY_S) to its press event."""
    factory, presses = MockFactory(pin_class=MockPWMPin), SimpleQueue[Press]()
    buttons, pin = GpioButtons(Pins(), factory, presses.put), factory.pin(Pins().done)
    for _ in range(PRESSES):
        closed = time.perf_counter()
        pin.drive_low()
        presses.get()
        yield time.perf_counter() - closed - STEADY_S
        pin.drive_high()
        time.sleep(2 * STEADY_S)
    buttons.close()


def clip_synthesis() -> Iterator[float]:
    """Yield the seconds taken to synthesize each clip that is not in the library yet."""
    with TemporaryDirectory() as folder:
        library = Library(Path(folder), ENGLISH.voice)
        for n in range(CLIPS):
            begun_s = time.perf_counter()
            for text in clips(f"a lone piece goes {n} squares", ENGLISH):
                library.make(text)
            yield time.perf_counter() - begun_s


def main() -> None:
    """Print a table of the three latencies."""
    stages = (
        ("event to its cue on the pins", event_to_pins(), 20.0),
        ("contact at rest for 20 ms to press", press_to_event(), 0.0),
        ("a clip that was not made ahead", clip_synthesis(), 0.0),
    )
    print(f"{machine()}\n\n{HEAD}")
    for stage, seconds, aim_ms in stages:
        print(Timing(stage, tuple(1000 * each for each in seconds), aim_ms).row())


if __name__ == "__main__":
    main()
