"""One table at work: frames in, events stored first and then shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol, TypeVar

import cv2

from companion.app.camera_reader import UNREAD, CameraReader, LevelPriors, ReadResult
from companion.app.inbox import DeferredOrder, Inbox
from companion.app.multi_camera import MultiCameraReader
from companion.app.pillars import Pillars
from companion.errors import SourceError, fault_line
from companion.events import Accepted, Event, Illegal, TakenBack, Unfinished, Unsure, ViewChanged, Withdrawn
from companion.panel.controller import Announcer
from companion.recorder.accounts import grounds_text
from companion.recorder.keeper import Keeper
from companion.referee.orders import Order
from companion.referee.referee import Referee
from companion.referee.snapshot import Snapshot
from vision.capture.frames import Frame, FrameSource, Outage, SourceLost
from vision.errors import VisionError

Reply = TypeVar("Reply")

EVIDENCE_QUALITY = 80
"""JPEG quality of the picture kept with a verdict."""

VERDICTS = Accepted | Illegal | TakenBack | Unfinished | Unsure | Withdrawn
"""Events that may be disputed later."""


class Listener(Protocol):
    """Anything that receives the referee's events after they have been stored."""

    def __call__(self, event: Event, /) -> None:
        """Take one event; must be quick."""
        ...


class FrameObserver(Protocol):
    """Anything that receives what was seen: each frame that was read, and what was believed of it."""

    def __call__(self, frame: Frame, look: ReadResult, events: tuple[Event, ...], /) -> None:
        """Take one read frame."""
        ...


class StateObserver(Protocol):
    """Anything that follows the state of the match all the time.  Both calls must be quick."""

    def see(self, frame: Frame) -> None:
        """Take the newest frame."""
        ...

    def follow(self, t_s: float, snapshot: Snapshot, warning: str | None) -> None:
        """Take the state at ``t_s``, and the store's standing warning: after all events, and with every frame."""
        ...


class FrameSink(Protocol):
    """Anything that keeps every frame."""

    def take(self, frame: Frame, *, is_calm: bool) -> None:
        """Take one frame, in the source's time; ``is_calm``: nothing moved and nobody read it.  Must be quick."""
        ...

    def close(self) -> None:
        """Note that no more frames come."""
        ...


@dataclass
class Table:
    """Passes frames from a source through camera reader and referee; commits every event before anybody receives it.

    Attributes:
        source: where frames come from; closed with the table.
        camera_reader: reads them.
        referee: judges.
        keeper: the match's place in the store.
        announcer: the panel.
        listeners: called after the panel, in order.
        frame_observers: given every frame that was read.
        frame_sink: given every frame there is; closed with the table.
        state_observers: given every frame and the state of the match.
        inbox: orders of people; taken with every frame, closed with the table.
        pillars: those of a kit that has them; closed with the table.
        from_s: the match's time at the source's time 0; None for a new match, which begins there.
    """

    source: FrameSource
    camera_reader: CameraReader | MultiCameraReader
    referee: Referee
    keeper: Keeper
    announcer: Announcer
    listeners: list[Listener] = field(default_factory=list)
    frame_observers: list[FrameObserver] = field(default_factory=list)
    state_observers: list[StateObserver] = field(default_factory=list)
    inbox: Inbox = field(default_factory=Inbox)
    is_over: Callable[[], bool] = lambda: False
    from_s: float | None = None
    frame_sink: FrameSink | None = None
    pillars: Pillars | None = None
    seen: bool = False
    unread_reason: VisionError | str = "no calm picture"

    def run(self) -> None:
        """Referee until the source ends or ``is_over`` says so.

        Raises:
            SourceError: the source failed, or the mat was not seen in a single frame of it.
            StoreError: events could not be written in the end.
        """
        with _closing(self):
            t_s = from_s = self.from_s or 0.0
            if self.from_s is None:
                self._publish(self.referee.begin(t_s), None)
            try:
                for shot in self.source.frames():
                    t_s = from_s + shot.t_s
                    if isinstance(shot, Frame):
                        self._handle_frame(shot, t_s)
                    else:
                        self._handle_outage(shot, t_s)
                    self.keeper.retry(t_s)
                    self.announcer.warn(self.keeper.warning)
                    self._notify_observers(t_s)
                    if self.is_over():
                        break
            except SourceLost:
                self._publish(self.referee.view(t_s, "camera-lost"), None)
                raise
            if not self.seen and not self.is_over():
                raise SourceError(f"the board was never read: {self.unread_reason}")

    def _handle_frame(self, shot: Frame, t_s: float) -> None:
        """Process one frame of the source, at ``t_s`` of the match."""
        beside = tuple(replace(other, t_s=t_s - shot.t_s + other.t_s) for other in shot.others)
        frame = replace(shot, t_s=t_s, others=beside)
        for observer in self.state_observers:
            observer.see(frame)
        self.inbox.drain(partial(self._carry_out, t_s, t_s + shot.age_s))
        is_calm = self._process_frame(frame)
        if self.frame_sink is not None and shot.camera == 0:  # a recording is of one camera
            self.frame_sink.take(shot, is_calm=is_calm)

    def _handle_outage(self, outage: Outage, t_s: float) -> None:
        """Process an outage: no camera delivers pictures; the match goes on once one does."""
        self.inbox.drain(partial(self._carry_out, t_s, t_s))
        self.unread_reason = outage.why
        self._publish(self.referee.view(t_s, "camera-lost"), None)

    def _carry_out(self, t_s: float, now_s: float, order: Order | DeferredOrder, by: str) -> tuple[Event, ...]:
        """Carry out an order given at ``now_s``, after the frame of ``t_s``.  Raises CompanionError if refused."""
        wanted = order if isinstance(order, Order) else order(self.referee)
        events = () if wanted is None else self.referee.order(t_s, wanted, by, now_s)
        self._publish(events, None)
        self._notify_observers(t_s)
        return events

    def _process_frame(self, frame: Frame) -> bool:
        """Judge one frame; whether nothing moved in it and nobody had to read it."""
        moving = self._moving(frame)
        if moving is None:
            return False
        self._publish(self.referee.report_picture_quality(frame.t_s, self.camera_reader.instability), None)
        if self.pillars is not None:
            moving = self._poll_pillars(self.pillars, frame, moving=moving)
        sides = self.camera_reader.reaching_from if moving else frozenset()
        turned = frozenset() if self.pillars is None else self.pillars.turning
        glance = self.referee.glance(frame.t_s, moving=moving, sides=sides, turned=turned)
        self._publish(glance.events, frame)
        if not glance.read:
            return not moving
        priors = self._level_priors()
        look = self.camera_reader.look(frame, priors, afresh=self.referee.is_accusing, is_review=glance.is_review)
        look, events = self._judge_reading(frame, look, priors)
        self._publish(events, frame)
        for observer in self.frame_observers:
            observer(frame, look, events)
        self.referee.prepare()
        return False

    def _moving(self, frame: Frame) -> bool | None:
        """Whether anything moves in ``frame``; None if the program itself is at fault, which is announced.

        Raises VisionError for a frame of the wrong size.
        """
        try:
            return self.camera_reader.moving(frame)
        except VisionError:
            raise
        except Exception as error:  # a fault in one picture must not end a match
            self._publish(self._report_unread(frame.t_s, ReadResult(None, UNREAD, fault_line(error))), frame)
            return None

    def _report_unread(self, t_s: float, look: ReadResult) -> tuple[Event, ...]:
        """The events after a ``look`` without a reading; a fault of the program is noted with the first one."""
        self.unread_reason = look.why
        events = self.referee.view(t_s, look.view)
        if events and look.view == UNREAD:
            self.announcer.note(str(look.why))
        return events

    def _judge_reading(
        self, frame: Frame, look: ReadResult, priors: LevelPriors
    ) -> tuple[ReadResult, tuple[Event, ...]]:
        """The events after a look at ``frame``, and the look at the whole board instead if the referee wanted one."""
        if look.reading is None:
            return look, self._report_unread(frame.t_s, look)
        self.seen = True
        sensed = None if self.pillars is None else self.pillars.sensed()
        events = self.referee.observe(
            frame.t_s, look.reading, sensed, is_whole=look.is_whole, is_recalled=look.is_recalled
        )
        if self.referee.needs_whole:
            whole = self.camera_reader.look(frame, priors, afresh=True)
            if whole.reading is not None:
                look = whole
                events += self.referee.observe(frame.t_s, whole.reading, sensed)
            elif whole.view == UNREAD:
                self.announcer.note(str(whole.why))
        if (question := self.referee.question) is not None:
            events += self.referee.verified(frame.t_s, self._guarded(partial(self.camera_reader.compare, question)))
        if self.referee.has_understood:
            self._guarded(partial(self._keep_understood, events))
        return look, events

    def _guarded(self, ask: Callable[[], Reply]) -> Reply | None:
        """The result of calling the camera reader; None, with a note, if that raises an exception."""
        try:
            return ask()
        except Exception as error:  # a fault in one picture must not end a match
            self.announcer.note(fault_line(error))
            return None

    def _keep_understood(self, events: tuple[Event, ...]) -> None:
        """Let the camera reader keep the last picture, whose table was understood, and learn from it after a move."""
        self.camera_reader.understood()
        if any(isinstance(event, Accepted) for event in events):
            self.camera_reader.learn(self._layout())

    def _level_priors(self) -> LevelPriors:
        """What is known about the pillars' levels without looking."""
        doubted = self.referee.doubted_pillars
        levels = None if self.pillars is None else self.pillars.levels(doubted)
        expected = self.referee.match.game.table(self.referee.match.position).levels
        return LevelPriors(levels, self.referee.levels_before, expected, doubted)

    def _layout(self) -> Mapping[str, str]:
        """The stack on each square that has one, by the match."""
        game, position = self.referee.match.game, self.referee.match.position
        stacks = zip(game.layout.cells, game.table(position).stacks, strict=True)
        return {cell: stack for cell, stack in stacks if stack}

    def _poll_pillars(self, pillars: Pillars, frame: Frame, *, moving: bool) -> bool:
        """Take what the pillars' sensors report up to this frame; whether anything moves, by the camera or by them."""
        moving = pillars.moving(frame.t_s - (self.from_s or 0.0)) or moving
        if moving:
            pillars.disturbed()
        if pillars.state:
            self._publish(self.referee.sensors(frame.t_s, pillars.state, pillars.faulty), None)
        return moving

    def _publish(self, events: tuple[Event, ...], frame: Frame | None) -> None:
        for event in events:
            grounds = self.referee.grounds(event.n)
            self.keeper.append(event, _evidence(event, frame), None if grounds is None else grounds_text(grounds))
            self.announcer.warn(self.keeper.warning)
            self.announcer.tell(event)
            for listener in self.listeners:
                listener(event)
        if events:
            self._notify_observers(events[-1].t)

    def _notify_observers(self, t_s: float) -> None:
        if self.state_observers:
            snapshot = self.referee.snapshot
            for observer in self.state_observers:
                observer.follow(t_s, snapshot, self.keeper.warning)


@contextmanager
def _closing(table: Table) -> Iterator[None]:
    """Close source, panel and store, whatever happens; the store last, so that its failure is not hidden."""
    try:
        yield
    finally:
        table.inbox.close()
        table.source.close()
        table.announcer.close()
        if table.frame_sink is not None:
            table.frame_sink.close()
        if table.pillars is not None:
            table.pillars.close()
        table.keeper.close()


def _evidence(event: Event, frame: Frame | None) -> bytes | None:
    """The decisive picture of a verdict, or the one that could not be read, as JPEG."""
    is_fault = isinstance(event, ViewChanged) and event.state == UNREAD
    if frame is None or not (is_fault or isinstance(event, VERDICTS)):
        return None
    _, data = cv2.imencode(".jpg", frame.image, [cv2.IMWRITE_JPEG_QUALITY, EVIDENCE_QUALITY])
    return data.tobytes()
