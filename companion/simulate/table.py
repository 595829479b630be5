"""The simulated table as a frame source: players act, and a camera watches their hands."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from calibration.camera import Camera
from calibration.heights import shows_top
from calibration.kit import Kit
from companion.events import Accepted, Event, GameOver, Illegal, Restored, TakenBack, Unfinished, Unsure, Withdrawn
from companion.match import Match
from companion.rules.board import Player, Table
from companion.rules.game import Position
from companion.simulate.gesture import BRISK, LEISURELY, Gesture, Tempo, gesture
from companion.simulate.hand import is_in_sight, with_hand
from companion.simulate.light import WINDOW, Light
from companion.simulate.placement import make_rng, set_up, upright
from companion.simulate.players import Act, Habits, play
from companion.simulate.render import Painter, Picture, Renderer
from companion.simulate.sprite import Scene
from companion.simulate.viewpoint import default_camera, default_pose
from vision.capture.frames import Frame

ANSWERS = (Accepted, GameOver, Illegal, Restored, TakenBack, Unfinished, Unsure, Withdrawn)
"""Events that tell the players that the referee has seen their act."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The timing of a simulated table.

    Attributes:
        fps: frames a second.
        hands: how fast hands move.
        opening_s: calm before the first act.
        calm_s: shortest calm after an act.
        think_s: time between the referee's answer and the next act.
        patience_s: time after which the players go on without an answer from the referee.
    """

    fps: float
    hands: Tempo
    opening_s: float
    calm_s: float
    think_s: float
    patience_s: float


REAL = Pace(fps=12.0, hands=LEISURELY, opening_s=1.5, calm_s=0.9, think_s=0.7, patience_s=4.0)
FAST = Pace(fps=8.0, hands=BRISK, opening_s=0.75, calm_s=0.5, think_s=0.0, patience_s=3.0)


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """Ground truth of one act, with the times of a recording's truth; ``t_calm_to`` is None until it is known.

    ``text`` is the move or attempt (None where no single move describes it), ``rules`` the ids that it breaks,
    ``position`` the game's position afterwards, ``table`` what then stands on the board; ``sort`` as in :class:`Act`.
    ``t_laid`` is when the board was so, with the hand perhaps still in the picture: from then on a verdict may come.
    None: from the calm on.
    """

    kind: str
    player: Player
    t_hand_from: float
    t_hand_to: float
    t_calm_from: float
    t_calm_to: float | None
    text: str | None
    rules: tuple[str, ...]
    position: Position
    table: Table
    sort: str = ""
    t_laid: float | None = None

    @property
    def judged_from_s(self) -> float:
        """Time from which an event may be about this act."""
        return self.t_calm_from if self.t_laid is None else self.t_laid


Overlay = Callable[[Picture, Scene], Picture]
"""Draws something over a picture without blur and noise, as :func:`companion.simulate.hand.with_hand` does."""


def no_overlays(_t_s: float) -> Sequence[Overlay]:
    """No overlays: nothing but the board and the hand that acts."""
    return ()


class SimulatedTable:
    """A :class:`vision.capture.frames.FrameSource` that plays a match before the camera.

    The same seed gives the same players, pieces and pictures; the referee's answers change only the time at which the
    next act begins.
    """

    def __init__(
        self,
        kit: Kit,
        match: Match,
        seed: int,
        *,
        pace: Pace = REAL,
        habits: Habits | None = None,
        wait: Callable[[float], None] | None = None,
        bystanders: Callable[[float], Sequence[Overlay]] = no_overlays,
        renderer: Painter | None = None,
    ) -> None:
        """A table in the position of ``match``.

        ``wait`` (as from :func:`clock`) is called with each frame's t_s; ``bystanders`` returns what else is in the
        picture then besides the board and the hand that acts; ``renderer`` draws the board, in its own scene.
        """
        self.truth: list[GroundTruth] = []
        self._pace, self._wait, self._bystanders = pace, wait, bystanders
        self._kit, self._players = kit, match.game.players
        habits = replace(habits or Habits(), shows_top=partial(shows_top, kit))
        if kit.pillars is not None:
            habits = replace(habits, travel=range(kit.pillars.lowest, kit.pillars.highest + 1))
        self._acts = play(match, make_rng("players", seed), habits)
        self._rng = make_rng("hands", seed)
        table = match.game.table(match.position)
        levels = table.levels if table.levels is not None else match.game.layout.terrain or None
        self._setup = set_up(table.stacks, levels, self._rng)
        self._renderer = renderer or _usual_renderer(kit, levels, WINDOW, seed)
        self._gesture: Gesture | None = None
        self._ready_s: float = pace.opening_s
        self._now_s = 0.0
        self._over = self._closed = self._is_answered = False

    @property
    def camera(self) -> Camera:
        """The simulated camera's calibration, which is exact."""
        return self._renderer.scene.camera

    @property
    def scene(self) -> Scene:
        """Kit, camera, true pose and light."""
        return self._renderer.scene

    @property
    def levels(self) -> tuple[int, ...]:
        """Levels of pillars or terrain at the newest frame, in the order of the kit's cells; empty for a flat board."""
        setup = self._setup if self._gesture is None else self._gesture.state(self._now_s).setup
        return setup.levels or ()

    def frames(self) -> Iterator[Frame]:
        """Frames at the table's pace until the match is over or the source is closed."""
        for seq in itertools.count():
            t_s = seq / self._pace.fps
            if self._wait is not None:
                self._wait(t_s)
            image = self.frame(t_s, seq)
            if self._closed or self._over:
                return
            yield Frame(image, seq, t_s)

    def close(self) -> None:
        """End :meth:`frames`."""
        self._closed = True

    def hear(self, event: Event) -> None:
        """Take an event of the referee: the players wait for one before they go on, and then not much longer."""
        if not isinstance(event, ANSWERS):
            return
        if self._gesture is not None:
            self._is_answered = self._now_s >= self._gesture.done_s
        elif self.truth:
            soonest = max(self.truth[-1].t_calm_from + self._pace.calm_s, self._now_s + self._pace.think_s)
            self._ready_s = min(self._ready_s, soonest)

    def frame(self, t_s: float, seq: int = 0) -> Picture:
        """(720, 1280, 3) uint8 BGR at ``t_s``, which must not be earlier than in the call before."""
        self._advance(t_s)
        others = self._bystanders(t_s)
        if self._gesture is None and not others:
            return self._renderer.picture(self._setup, seq)
        picture = self._renderer.clear(self._setup if self._gesture is None else self._gesture.state(t_s).setup)
        for overlay in others:
            picture = overlay(picture, self.scene)
        if self._gesture is not None:
            picture = with_hand(picture, self.scene, self._gesture.hand(t_s))
        return self._renderer.developed(picture, seq)

    def _advance(self, t_s: float) -> None:
        self._now_s = t_s
        if self._gesture is not None and t_s >= self._gesture.done_s:
            self._record(self._gesture)
        if self._gesture is not None and self._is_gone(self._gesture, t_s):
            self._finish(self._gesture, t_s)
        if self._gesture is None and t_s >= self._ready_s:
            act = next(self._acts, None)
            if self.truth and self.truth[-1].t_calm_to is None:
                self.truth[-1] = replace(self.truth[-1], t_calm_to=t_s)
            if act is None:
                self._over = True
            else:
                self._gesture = self._begun(act, t_s)

    def _begun(self, act: Act, t_s: float) -> Gesture:
        return gesture(act, self._setup, self._kit, self._players, t_s, self._pace.hands, self._rng)

    def _record(self, laid: Gesture) -> None:
        """Record once what is now on the board; the time at which the hand is out of sight is set later."""
        if self.truth and self.truth[-1].t_hand_from == laid.start_s:
            return
        act, end = laid.act, laid.end_s
        self.truth.append(
            GroundTruth(
                act.kind,
                act.player,
                laid.start_s,
                end,
                end,
                None,
                act.text,
                act.rules,
                act.position,
                act.table,
                t_laid=laid.done_s,
            )
        )

    def _is_gone(self, gesture: Gesture, t_s: float) -> bool:
        """Whether the board is in its final state and nothing of the hand is visible any more."""
        if t_s < gesture.done_s:
            return False
        return t_s >= gesture.end_s or not is_in_sight(self.scene, gesture.hand(t_s))

    def _finish(self, done: Gesture, end: float) -> None:
        """End the gesture at the first frame without the hand."""
        self._setup = done.state(end).setup
        wait_s = self._pace.calm_s if self._is_answered else self._pace.patience_s
        self._gesture, self._ready_s, self._is_answered = None, end + wait_s, False
        self.truth[-1] = replace(self.truth[-1], t_hand_to=end, t_calm_from=end)


def clock() -> Callable[[float], None]:
    """A ``wait`` for :class:`SimulatedTable`: sleeps until the given time in seconds, counted from the first call."""
    begun: float | None = None

    def wait(t_s: float) -> None:
        nonlocal begun
        now = time.monotonic()
        begun = now - t_s if begun is None else begun
        time.sleep(max(0.0, begun + t_s - now))

    return wait


def enrol_picture(kit: Kit, light: Light = WINDOW, levels: tuple[int, ...] | None = None) -> Picture:
    """The simulated camera's picture of single pieces on the kit's [enrol] cells, in ``light``.

    ``levels`` are those of pillars or terrain, in the order of the kit's cells; None or empty: all 0.
    """
    return _still(kit, tuple(kit.enrol.get(cell, "") for cell in kit.cells), light, levels)


def empty_picture(kit: Kit, light: Light = WINDOW, levels: tuple[int, ...] | None = None) -> Picture:
    """The simulated camera's picture of the empty board, in ``light``."""
    return _still(kit, ("",) * len(kit.cells), light, levels)


def _usual_renderer(kit: Kit, levels: tuple[int, ...] | None, light: Light, seed: int = 0) -> Renderer:
    camera = default_camera()
    return Renderer(Scene(kit, camera, default_pose(kit, camera, levels or ()), light), seed)


def _still(kit: Kit, stacks: tuple[str, ...], light: Light, levels: tuple[int, ...] | None) -> Picture:
    renderer = _usual_renderer(kit, levels, light)
    return renderer.picture(upright(set_up(stacks, levels or None, make_rng("still", 0))), 0)
