"""The referee of one table: frames and orders in, events out.  :mod:`companion.referee` shows how to use it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from companion.events import Accepted, Event, SensorsChanged, Start, ViewChanged
from companion.events import Illegal as Accusation
from companion.match import Match
from companion.referee import clock, orders, pace, refutation, sensing, understood, viewing
from companion.referee.calm_readings import CalmReadings, FrameDecision, PendingQuestion
from companion.referee.clock import Clock
from companion.referee.grounds import Grounds, grounds_of_verdict
from companion.referee.orders import Order
from companion.referee.patience import IN_PLAY, STRANGE_S, is_due, require_patience, suspect
from companion.referee.rulings import refuse_misfits, trigger_of
from companion.referee.snapshot import Snapshot
from companion.referee.state import Fact, State
from companion.referee.states import ACCUSING, TIMED, Mode, Trigger
from companion.referee.steps import end_calm, keep_distrusted, step
from companion.referee.summary import snapshot_of
from companion.referee.understood import UnderstoodHistory, UnderstoodTable
from companion.referee.verdicts import (
    is_known,
    needs_second_look,
    options_of,
    shows_more,
    still_in_doubt,
    trigger_for,
    understood_table,
)
from companion.rules.board import Cell
from companion.rules.notation import format_position
from companion.tracker import hands, settle, verification
from companion.tracker.evidence import (
    Evidence,
    camera_levels,
    changed_cells,
    evidence_of,
    mask_places,
    shows_hand,
    touched_cells,
)
from companion.tracker.hypotheses import Prediction, predict
from companion.tracker.interpret import Ambiguous, Illegal, Judgement, Undecided, contradicting, interpret
from companion.tracker.pillars import Rows
from companion.tracker.settle import Calm
from companion.tracker.sights import Place, cell_of
from companion.tracker.verification import VerificationAnswer, VerificationQuestion
from vision.reading import Reading


class Referee:
    """Drives a state machine (:mod:`companion.referee.steps`) with pictures and orders."""

    def __init__(
        self,
        match: Match,
        first_n: int = 1,
        *,
        confirming: bool = False,
        timer: Clock | None = None,
        verifying: bool = False,
    ) -> None:
        """A referee who waits for the table to show the match's position.

        Args:
            match: what has been played so far.
            first_n: number of the next event.
            confirming: whether a move counts only once the player has said that he is done.
            timer: the players' times; None: there is no clock.
            verifying: whether the caller answers each :attr:`question` before the next frame.
        """
        self._state = State(Mode.SETTING_UP, match, confirming=confirming)
        self._clock = timer
        self._next_n = first_n
        self._calm = Calm()
        self._seen = CalmReadings()
        self._viewing = viewing.Viewing()
        self._pace = pace.Pace()
        self._sensing = sensing.Sensing()
        self._verifying = verifying
        self._needs_whole = False
        self._waiting: PendingQuestion | None = None
        self._hands = hands.NO_HANDS
        self._rivals: tuple[refutation.Rival, ...] = ()
        self._touched: frozenset[Cell] = frozenset()
        self._prediction: Prediction | None = None
        self._known = UnderstoodHistory()
        self._grounds: dict[int, Grounds] = {}
        self._asked_s = float("-inf")

    @property
    def match(self) -> Match:
        """The match as far as it has been accepted."""
        return self._state.match

    @property
    def has_understood(self) -> bool:
        """Whether the last reading was understood: the table shows what is expected, or a verdict has been given."""
        return self._calm.settled

    @property
    def is_accusing(self) -> bool:
        """Whether an announced violation must be put right: then the whole board is to be read afresh."""
        return self._state.mode is Mode.RESTORING

    @property
    def snapshot(self) -> Snapshot:
        """The present state in words, for people."""
        return snapshot_of(self._state, self._viewing.said, self._clock)

    def grounds(self, n: int) -> Grounds | None:
        """The grounds of event ``n`` if it belongs to the last verdict, to be kept beside it; else None."""
        return self._grounds.get(n)

    def begin(self, t_s: float) -> tuple[Event, ...]:
        """The events with which the match begins."""
        position = format_position(self.match.game, self.match.position)
        timer = () if self._clock is None else (clock.clock_event(self._clock, t_s),)
        return self._number((Start(t=t_s, n=0, position=position), *timer))

    def prepare(self) -> None:
        """Compute the prediction of what may come next, if that has not been done."""
        self._predict_next()

    def glance(
        self,
        t_s: float,
        *,
        moving: bool,
        sides: frozenset[str] = frozenset(),
        turned: frozenset[Cell] = frozenset(),
    ) -> FrameDecision:
        """The effect of the motion gate's answer for the frame at ``t_s``; arms reach in from the ``sides`` of the mat.

        ``turned`` are the pillars that are moving, by their sensors.
        """
        if moving:
            self._hands = hands.add_sides(self._hands, sides, self._pace.since_s(t_s), turned)
        self._calm, read = settle.step(self._calm, t_s, moving=moving)
        self._pace = pace.step(self._pace, t_s, moving=moving, read=read)
        fallen = self._flag(t_s)
        if not moving:
            return FrameDecision(read and t_s > self._asked_s, fallen, self._calm.is_review_due(t_s))
        self._seen, self._known = CalmReadings(), understood.after_motion(self._known)
        self._state = end_calm(self._state)
        self._rivals = tuple(map(refutation.after_motion, self._rivals))
        return FrameDecision(read=False, events=fallen + self._note_activity(t_s))

    def observe(
        self,
        t_s: float,
        reading: Reading,
        sensed: Rows | None = None,
        *,
        is_whole: bool = True,
        is_recalled: bool = False,
    ) -> tuple[Event, ...]:
        """The events to which the reading of the frame at ``t_s`` leads.

        Args:
            t_s: the frame's time.
            reading: of the frame.
            sensed: (n, l) what the pillars' sensors say about their levels (companion.tracker.pillars.sense).
            is_whole: whether all cells were read; if only those whose picture had changed were, check
                :attr:`needs_whole` afterwards.
            is_recalled: whether the picture was compared with the last understood one of an earlier calm, though one of
                this calm was understood, too.
        """
        self._needs_whole = False
        if is_recalled:
            self._known = understood.with_earlier(self._known)
        if shows_hand(reading):
            self._seen = CalmReadings()
            self._calm = settle.after_reading(self._calm, t_s, settled=False, hand=True)
            return self._note_activity(t_s)
        self._viewing = viewing.end_busy(self._viewing)
        # If a table of this calm was understood and not recalled, a reading leaves out what was left open then.
        is_review = is_whole and self._calm.is_review_due(t_s) and (is_recalled or not self._calm.settled)
        before, sensing_before = CalmReadings() if is_review else self._seen, self._sensing
        cleared = () if self._viewing.is_poor else self.view(t_s, "clear")
        seen = self._weigh(t_s, reading, sensed, pictures=self._calm.frames if is_review else 1)
        cleared += self._tell_sensors(t_s)
        self._seen = before.with_reading(seen, is_whole=is_whole)
        prediction, evidence = self._predict_next(), self._seen.evidence
        if self._sensing.is_pending:
            self._seen = CalmReadings()
            self._calm = settle.after_reading(self._calm, t_s, settled=False, hand=False, wrong=self.is_accusing)
            return cleared
        self._notice_touched(reading)
        judgement = self._judgement(prediction, evidence)
        if not self._seen.is_whole and needs_second_look(self._state, judgement):
            # The sensors are checked against the whole picture, and not twice against the same one.
            self._seen, self._sensing = before, replace(sensing_before, said=self._sensing.said)
            self._needs_whole = True
            return cleared
        wanted = self._next_question(t_s, prediction, evidence, judgement)
        if wanted is not None:
            self._waiting = PendingQuestion(wanted, prediction, evidence)
            return cleared
        return cleared + self._conclude(t_s, prediction, evidence, judgement)

    def _weigh(self, t_s: float, reading: Reading, sensed: Rows | None, pictures: int) -> Evidence:
        """The evidence of a reading of so many ``pictures``, weighed against what was known before."""
        last, pillars = self._known.last, self._pillars(t_s, reading, sensed)
        evidence = evidence_of(self.match.game.layout, reading, last.sights, pillars, last.claimed)
        return replace(mask_places(evidence, self._sensing.contradicted), readings=pictures)

    def _notice_touched(self, reading: Reading) -> None:
        """Note what has been touched since a table was last understood: nothing, once one of this calm was."""
        layout = self.match.game.layout
        self._touched = frozenset() if self._known.is_recalled else changed_cells(layout, reading)
        if not self._known.is_recalled:
            anew = touched_cells(layout, reading)
            known = self._state.context.distrusted
            self._trust_again(frozenset(place for place in known if cell_of(layout, place) not in anew))

    @property
    def needs_whole(self) -> bool:
        """Whether :meth:`observe` needs the whole frame before it announces anything, since a part may mislead."""
        return self._needs_whole

    @property
    def question(self) -> VerificationQuestion | None:
        """What :meth:`verified` must answer before the next frame: which of these tables the pictures show."""
        return None if self._waiting is None else self._waiting.question

    def verified(self, t_s: float, answer: VerificationAnswer | None) -> tuple[Event, ...]:
        """The events to which the answer to the open :attr:`question` leads; None: it cannot be answered."""
        waiting, self._waiting = self._waiting, None
        assert waiting is not None, "verified() follows question"
        if answer is not None:
            self._seen = self._seen.with_answer(waiting.question, answer)
        judgement = self._judgement(waiting.prediction, waiting.evidence)
        return self._conclude(t_s, waiting.prediction, waiting.evidence, judgement)

    def _judgement(self, prediction: Prediction, evidence: Evidence) -> Judgement:
        context = sensing.with_contested(self._sensing, self._state.context, len(self.match.game.layout.cells))
        context = replace(context, hands=self._hands)
        judgement = interpret(mask_places(evidence, context.distrusted), prediction, context, self._seen.look)
        return (
            pace.soften_accusation(judgement, self._pace, self._hands.gap_s)
            if self._state.mode in IN_PLAY
            else judgement
        )

    def _next_question(
        self, t_s: float, prediction: Prediction, evidence: Evidence, judgement: Judgement
    ) -> VerificationQuestion | None:
        """The question to ask before anything is announced; asked again until all frames have been weighed."""
        if not (self._verifying and needs_second_look(self._state, judgement)):
            return None
        heard = mask_places(evidence, self._state.context.distrusted)
        wanted = verification.question(self.match.game.layout, prediction, heard, judgement.rivals, t_s)
        return None if wanted is not None and self._seen.is_exhausted(wanted) else wanted

    def _conclude(
        self, t_s: float, prediction: Prediction, evidence: Evidence, judgement: Judgement
    ) -> tuple[Event, ...]:
        """Announce what the table means, after all looks."""
        if self._state.context.distrusted:
            still_open = still_in_doubt(evidence, self._known.last.sights)
            self._trust_again(contradicting(evidence, prediction, judgement.changes) | still_open)
        if judgement.is_strange and self._calm.lasted_s(t_s) < STRANGE_S:
            self._seen = CalmReadings()
            self._calm = settle.after_reading(self._calm, t_s, settled=False, hand=True)
            return ()
        return self._judge(t_s, prediction, evidence, judgement)

    def view(self, t_s: float, state: str) -> tuple[Event, ...]:
        """Events about the picture as a whole: a state of :class:`ViewChanged`, announced once.

        What a hand can do to a picture must last before it is announced.
        """
        self._seen = CalmReadings()
        self._viewing, is_news = viewing.update_view(self._viewing, state, t_s)
        return self._with_clock(t_s, self._number((ViewChanged(t=t_s, n=0, state=state),))) if is_news else ()

    def report_picture_quality(self, t_s: float, why: str) -> tuple[Event, ...]:
        """Events for a picture that never rests, by ``why`` (empty if it does), or for too few pictures; only news."""
        why = why or (viewing.SLOW if self._pace.is_slow else "")
        is_known = self._viewing.said == why if why else not self._viewing.is_poor
        return () if is_known else self.view(t_s, why or "clear")

    def sensors(self, t_s: float, state: str, cells: tuple[str, ...] = ()) -> tuple[Event, ...]:
        """Events for the reported state of the pillar sensors, ``ok`` or ``lost``, and the cells with faulty sensors.

        May be called with every frame: only news is announced.
        """
        self._sensing = replace(self._sensing, state=state, faulty=cells)
        return self._tell_sensors(t_s)

    @property
    def doubted_pillars(self) -> frozenset[Cell]:
        """The pillars whose sensors are not to be relied on, since the camera contradicts them."""
        return self._sensing.doubted

    def order(self, t_s: float, order: Order, by: str = "arbiter", now_s: float | None = None) -> tuple[Event, ...]:
        """The events of an order given after the frame at ``t_s``; ``now_s`` is the present if that frame is older.

        Only what is taken after that time answers :class:`~companion.referee.orders.Done`.  Raises OrderRefused if it
        does not fit now; nothing has changed then.
        """
        refuse_misfits(self._state, order)
        if isinstance(order, orders.Done):
            self._seen, self._calm, self._asked_s = CalmReadings(), Calm(), t_s if now_s is None else now_s
        else:
            self._rivals = ()
        return self._with_clock(t_s, self._take(t_s, trigger_of(order), Fact(order=order, by=by)))

    def _judge(self, t_s: float, prediction: Prediction, evidence: Evidence, judgement: Judgement) -> tuple[Event, ...]:
        """Announce the judgement, or wait for further readings."""
        look = self._seen.look
        self._rivals = tuple(refutation.after_reading(rival, evidence, self._touched) for rival in self._rivals)
        mode, standing = self._state.mode, self._state.context.standing
        # Before a match has begun, a square that looks right in the end is only what people were asked for.
        rivals = tuple(rival for rival in self._rivals if rival.moves or mode is not Mode.SETTING_UP)
        refuted_by = refutation.find_proved(rivals)
        suspicion = suspect(self._state.suspicion, judgement, t_s)
        judgement = require_patience(suspicion, judgement, mode, t_s)
        known = is_known(self._state, judgement)
        due = not known and (suspicion is None or is_due(suspicion, judgement, mode, t_s, standing))
        refuted_by = refuted_by or (refutation.find_confirmed(rivals, judgement.interpretation) if due else None)
        # What is legal play in a match without the accusation is no further act, and nothing to ask about.
        is_doubt = isinstance(judgement.interpretation, (Illegal, Ambiguous, Undecided))
        due = refuted_by is not None or (due and not (is_doubt and any(rival.explains_more for rival in self._rivals)))
        self._state = replace(self._state, suspicion=None if known else suspicion)
        if known or due:
            still_open = still_in_doubt(evidence, self._known.last.sights)
            self._known = replace(self._known, last=understood_table(prediction, judgement, still_open))
        fact = Fact(prediction, judgement, options_of(judgement), refuted_by=refuted_by)
        trigger = trigger_for(self._state, prediction, judgement) if refuted_by is None else Trigger.REFUTED
        events = self._take(t_s, trigger, fact) if due else ()
        if any(isinstance(event, Accusation) for event in events):
            found = refutation.rivals_to(prediction, evidence, judgement)
            self._rivals = refutation.merge_rivals(self._state.match, self._rivals, found)
        elif self._state.mode is Mode.SETTING_UP:
            if events:
                self._rivals = refutation.rivals_to_complaint(prediction, evidence, judgement)
        elif self._state.mode not in ACCUSING:
            self._rivals = ()
        is_more = due and shows_more(self._state.match, prediction, judgement)
        if is_more:
            self._known = replace(self._known, last=UnderstoodTable())
        self._settle(t_s, events, is_settled=(known or due) and not is_more)
        if not due:
            return ()
        grounds = grounds_of_verdict(prediction, evidence, judgement, t_s, self._calm.lasted_s(t_s), look)
        self._grounds = {event.n: grounds for event in events} or self._grounds
        return self._with_clock(t_s - grounds.calm_s, events)

    def _settle(self, t_s: float, events: tuple[Event, ...], *, is_settled: bool) -> None:
        """Note that a frame was judged at ``t_s``; if understood, assign the arms seen to the movers."""
        self._calm = settle.after_reading(self._calm, t_s, settled=is_settled, hand=False, wrong=self.is_accusing)
        if is_settled:
            self._pace = pace.clear_missed(self._pace)
            self._hands = hands.end_visit(self._hands, [e.player for e in events if isinstance(e, Accepted)])

    def _take(self, t_s: float, trigger: Trigger, fact: Fact) -> tuple[Event, ...]:
        before = self._state.match
        self._state, events = step(self._state, trigger, fact, t_s)
        if self._state.match is not before:
            self._seen, self._prediction = CalmReadings(), None
        return self._number(events)

    @property
    def levels_before(self) -> tuple[int | None, ...] | None:
        """The pillars' levels when the table last made sense, None where it did not; None: never, or no pillars."""
        return self._known.last.levels(len(self.match.game.layout.cells))

    def _pillars(self, t_s: float, reading: Reading, sensed: Rows | None) -> Rows | None:
        """(n, l) log-likelihoods of the pillars' levels by camera and sensors; None in a game without pillars."""
        accepted = self._predict_next().table.levels
        if accepted is None:
            return None
        camera = camera_levels(self.match.game.layout, reading, self._known.last.sights)
        self._sensing, rows = sensing.fuse_levels(self._sensing, camera, sensed, accepted, t_s)
        return rows

    def _tell_sensors(self, t_s: float) -> tuple[Event, ...]:
        self._sensing, now = sensing.take_news(self._sensing, self.match.game.layout)
        return () if now is None else self._number((SensorsChanged(t=t_s, n=0, state=now[0], cells=now[1]),))

    def _trust_again(self, but: frozenset[Place]) -> None:
        """Trust all distrusted places again except those in ``but``: the others look right, or have been touched."""
        self._state = keep_distrusted(self._state, but)

    def _note_activity(self, t_s: float) -> tuple[Event, ...]:
        """Note that something moves or lies over the board."""
        self._viewing, is_news = viewing.start_busy(self._viewing, t_s)
        return self.view(t_s, "hand") if is_news else ()

    def _with_clock(self, t_s: float, events: tuple[Event, ...]) -> tuple[Event, ...]:
        """``events`` and the clock event if they start, stop or switch the clock, at ``t_s``."""
        if self._clock is None:
            return events
        before, moved = self._clock, [event.player for event in events if isinstance(event, Accepted)]
        runs = self._state.mode in TIMED and self._viewing.said in viewing.SEEING
        self._clock = clock.after_moves(before, moved, self.match.position.to_move if runs else None, t_s)
        if self._clock is before:
            return events
        said_s = events[-1].t if events else t_s
        return events + self._number((clock.clock_event(self._clock, said_s),))

    def _flag(self, t_s: float) -> tuple[Event, ...]:
        """The event that a player's time has run out, once."""
        fallen = None if self._clock is None else clock.drop_flag(self._clock, settle.decided_s(self._calm, t_s))
        if fallen is None:
            return ()
        self._clock = fallen
        return self._number((clock.clock_event(fallen, t_s, flag=True),))

    def _predict_next(self) -> Prediction:
        if self._prediction is None:
            self._prediction = predict(self.match)
        return self._prediction

    def _number(self, events: Iterable[Event]) -> tuple[Event, ...]:
        numbered = tuple(replace(event, n=n) for n, event in enumerate(events, start=self._next_n))
        self._next_n += len(numbered)
        return numbered
