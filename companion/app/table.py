"""One table at work: frames in, events stored first and then shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol, TypeVar

import cv2

from companion.app.eyes import UNREAD, Eyes, Look, Told
from companion.app.inbox import Inbox, Wish
from companion.app.pillars import Pillars
from companion.app.several import SeveralEyes
from companion.errors import SourceError, fault_line
from companion.events import Accepted, Event, Illegal, TakenBack, Unfinished, Unsure, ViewChanged, Withdrawn
from companion.panel.desk import Teller
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


class Onlooker(Protocol):
    """Anything that receives what was seen: each frame that was read, and what was believed of it."""

    def __call__(self, frame: Frame, look: Look, events: tuple[Event, ...], /) -> None:
        """Take one read frame."""
        ...


class Follower(Protocol):
    """Anything that follows the state of the match all the time.  Both calls must be quick."""

    def see(self, frame: Frame) -> None:
        """Take the newest frame."""
        ...

    def follow(self, t_s: float, snapshot: Snapshot, warning: str | None) -> None:
        """Take the state at ``t_s``, and the store's standing warning: after all events, and with every frame."""
        ...


class Witness(Protocol):
    """Anything that keeps every frame."""

    def take(self, frame: Frame, *, is_calm: bool) -> None:
        """Take one frame, in the source's time; ``is_calm``: nothing moved and nobody read it.  Must be quick."""
        ...

    def close(self) -> None:
        """Note that no more frames come."""
        ...


@dataclass
class Table:
    """Runs a source through eyes and referee; commits every event before anybody receives it.

    Attributes:
        source: where frames come from; closed with the table.
        eyes: reads them.
        referee: judges.
        keeper: the match's place in the store.
        desk: the panel.
        listeners: called after the panel, in order.
        onlookers: given every frame that was read.
        witness: given every frame there is; closed with the table.
        followers: given every frame and the state of the match.
        inbox: orders of people; taken with every frame, closed with the table.
        pillars: those of a kit that has them; closed with the table.
        from_s: the match's time at the source's time 0; None for a new match, which begins there.
    """

    source: FrameSource
    eyes: Eyes | SeveralEyes
    referee: Referee
    keeper: Keeper
    desk: Teller
    listeners: list[Listener] = field(default_factory=list)
    onlookers: list[Onlooker] = field(default_factory=list)
    followers: list[Follower] = field(default_factory=list)
    inbox: Inbox = field(default_factory=Inbox)
    is_over: Callable[[], bool] = lambda: False
    from_s: float | None = None
    witness: Witness | None = None
    pillars: Pillars | None = None
    seen: bool = False
    why_unseen: VisionError | str = "no calm picture"

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
                        self._see(shot, t_s)
                    else:
                        self._miss(shot, t_s)
                    self.keeper.retry(t_s)
                    self.desk.warn(self.keeper.warning)
                    self._tell_standing(t_s)
                    if self.is_over():
                        break
            except SourceLost:
                self._publish(self.referee.view(t_s, "camera-lost"), None)
                raise
            if not self.seen and not self.is_over():
                raise SourceError(f"the board was never read: {self.why_unseen}")

    def _see(self, shot: Frame, t_s: float) -> None:
        """Process one frame of the source, at ``t_s`` of the match."""
        beside = tuple(replace(other, t_s=t_s - shot.t_s + other.t_s) for other in shot.beside)
        frame = replace(shot, t_s=t_s, beside=beside)
        for follower in self.followers:
            follower.see(frame)
        self.inbox.drain(partial(self._take, t_s, t_s + shot.age_s))
        is_calm = self._step(frame)
        if self.witness is not None and shot.camera == 0:  # a recording is of one camera
            self.witness.take(shot, is_calm=is_calm)

    def _miss(self, outage: Outage, t_s: float) -> None:
        """Process an outage: no camera delivers pictures; the match goes on once one does."""
        self.inbox.drain(partial(self._take, t_s, t_s))
        self.why_unseen = outage.why
        self._publish(self.referee.view(t_s, "camera-lost"), None)

    def _take(self, t_s: float, now_s: float, order: Order | Wish, by: str) -> tuple[Event, ...]:
        """Carry out an order given at ``now_s``, after the frame of ``t_s``.  Raises CompanionError if refused."""
        wanted = order if isinstance(order, Order) else order(self.referee)
        events = () if wanted is None else self.referee.order(t_s, wanted, by, now_s)
        self._publish(events, None)
        self._tell_standing(t_s)
        return events

    def _step(self, frame: Frame) -> bool:
        """Judge one frame; whether nothing moved in it and nobody had to read it."""
        moving = self._moving(frame)
        if moving is None:
            return False
        self._publish(self.referee.restless(frame.t_s, self.eyes.unrest), None)
        if self.pillars is not None:
            moving = self._feel(self.pillars, frame, moving=moving)
        sides = self.eyes.reaching_from if moving else frozenset()
        turned = frozenset() if self.pillars is None else self.pillars.turning
        glance = self.referee.glance(frame.t_s, moving=moving, sides=sides, turned=turned)
        self._publish(glance.events, frame)
        if not glance.read:
            return not moving
        told = self._told()
        look = self.eyes.look(frame, told, afresh=self.referee.accuses, is_review=glance.is_review)
        look, events = self._judged(frame, look, told)
        self._publish(events, frame)
        for onlooker in self.onlookers:
            onlooker(frame, look, events)
        self.referee.prepare()
        return False

    def _moving(self, frame: Frame) -> bool | None:
        """Whether anything moves in ``frame``; None if the program itself is at fault, which is announced.

        Raises VisionError for a frame of the wrong size.
        """
        try:
            return self.eyes.moving(frame)
        except VisionError:
            raise
        except Exception as error:  # a fault in one picture must not end a match
            self._publish(self._unseen(frame.t_s, Look(None, UNREAD, fault_line(error))), frame)
            return None

    def _unseen(self, t_s: float, look: Look) -> tuple[Event, ...]:
        """The events after a ``look`` without a reading; a fault of the program is noted with the first one."""
        self.why_unseen = look.why
        events = self.referee.view(t_s, look.view)
        if events and look.view == UNREAD:
            self.desk.note(str(look.why))
        return events

    def _judged(self, frame: Frame, look: Look, told: Told) -> tuple[Look, tuple[Event, ...]]:
        """The events after a look at ``frame``, and the look at the whole board instead if the referee wanted one."""
        if look.reading is None:
            return look, self._unseen(frame.t_s, look)
        self.seen = True
        sensed = None if self.pillars is None else self.pillars.sensed()
        events = self.referee.observe(
            frame.t_s, look.reading, sensed, is_whole=look.is_whole, is_recalled=look.is_recalled
        )
        if self.referee.wants_whole:
            whole = self.eyes.look(frame, told, afresh=True)
            if whole.reading is not None:
                look = whole
                events += self.referee.observe(frame.t_s, whole.reading, sensed)
            elif whole.view == UNREAD:
                self.desk.note(str(whole.why))
        if (question := self.referee.question) is not None:
            events += self.referee.verified(frame.t_s, self._asked(partial(self.eyes.compare, question)))
        if self.referee.understands:
            self._asked(partial(self._keep_understood, events))
        return look, events

    def _asked(self, ask: Callable[[], Reply]) -> Reply | None:
        """What the eyes answer besides a reading; None, with a note, if the program itself is at fault."""
        try:
            return ask()
        except Exception as error:  # a fault in one picture must not end a match
            self.desk.note(fault_line(error))
            return None

    def _keep_understood(self, events: tuple[Event, ...]) -> None:
        """Let the eyes keep the picture last looked at, which makes sense, and learn from it after a move."""
        self.eyes.understood()
        if any(isinstance(event, Accepted) for event in events):
            self.eyes.learn(self._layout())

    def _told(self) -> Told:
        """What is known about the pillars' levels without looking."""
        doubted = self.referee.doubted_pillars
        levels = None if self.pillars is None else self.pillars.levels(doubted)
        expected = self.referee.match.game.table(self.referee.match.position).levels
        return Told(levels, self.referee.levels_before, expected, doubted)

    def _layout(self) -> Mapping[str, str]:
        """The stack on each square that has one, by the match."""
        game, position = self.referee.match.game, self.referee.match.position
        stacks = zip(game.layout.cells, game.table(position).stacks, strict=True)
        return {cell: stack for cell, stack in stacks if stack}

    def _feel(self, pillars: Pillars, frame: Frame, *, moving: bool) -> bool:
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
            self.desk.warn(self.keeper.warning)
            self.desk.tell(event)
            for listener in self.listeners:
                listener(event)
        if events:
            self._tell_standing(events[-1].t)

    def _tell_standing(self, t_s: float) -> None:
        if self.followers:
            snapshot = self.referee.snapshot
            for follower in self.followers:
                follower.follow(t_s, snapshot, self.keeper.warning)


@contextmanager
def _closing(table: Table) -> Iterator[None]:
    """Close source, panel and store, whatever happens; the store last, so that its failure is not hidden."""
    try:
        yield
    finally:
        table.inbox.close()
        table.source.close()
        table.desk.close()
        if table.witness is not None:
            table.witness.close()
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
