"""Matches of Diamond with pillar sensors: reports about sensors, and verdicts based on them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest

from companion.events import Accepted, Event, Illegal, Restored, SensorsChanged, Unfinished, Unsure
from companion.games import load_game
from companion.match import Match
from companion.referee.orders import Answer
from companion.referee.referee import Referee
from companion.rules.game import Game, View, view
from companion.rules.notation import parse_move
from companion.simulate.readings import Noise, kit_states, read_table
from companion.tracker.pillars import Rows, sensor_log_likelihood

FRAME_S = 1 / 12
GAME, FOUR = load_game("diamond:table"), load_game("diamond:table/4")
LEVELS_MM = tuple(12.0 + 10 * level for level in range(7))
CLEAR = Noise(height_nats=60.0, top_nats=60.0, frame_nats=0.1)
HAS, LACKS = True, False


class Field:
    """A referee, a camera that sees everything, and sensors that may be wrong."""

    def __init__(self, game: Game = GAME) -> None:
        self.match = Match(game, game.start())
        self.referee = Referee(self.match)
        self.events: list[Event] = list(self.referee.begin(0.0))
        self.rng = np.random.default_rng(1)
        self.t_s = 0.0
        self.nats = 20.0
        self.changed: str | None = None

    def after(self, *moves: str) -> View:
        """Return what is visible after legal moves from the last accepted position."""
        match = self.referee.match
        for text in moves:
            match = match.play(parse_move(match.game, match.position, text))
        return view(match.game, match.game.table(match.position))

    def sweep(self, sides: Iterable[str], *turned: str) -> None:
        """Show arms reaching in from ``sides`` for two thirds of a second while the pillars ``turned`` move."""
        cells = frozenset(GAME.layout.index[name] for name in turned)
        for _ in range(8):
            self.t_s += FRAME_S
            self.events += self.referee.glance(self.t_s, moving=True, sides=frozenset(sides), turned=cells).events

    def keep_still(self, seen: View, *, sensed: View | None = None, frames: int = 9) -> list[Event]:
        """Show a hand coming and going, then the view ``seen``; return the events.

        ``sensed``: what the sensors report; None: nothing.
        """
        begun = len(self.events)
        levels = None if sensed is None else sensed.levels
        for i in range(frames + 1):
            self.t_s += FRAME_S
            glance = self.referee.glance(self.t_s, moving=i == 0)
            self.events += glance.events
            if glance.read:
                self.events += self.referee.observe(self.t_s, self.reading(seen), self.rows(levels))
        return self.events[begun:]

    def reading(self, seen: View):
        """Return a reading that is clear, except that levels have evidence of ``nats`` only.

        Only the picture of the cell ``changed`` differs from the one before; None: unknown which ones do.
        """
        reading = read_table(GAME.layout.cells, kit_states(GAME.pieces, 2), seen.sights, CLEAR, self.rng)
        rows = np.full((25, 7), -self.nats, np.float32)
        rows[np.arange(25), np.array(seen.levels)] = 0.0
        reading = replace(reading, level_log_likelihood=rows, levels=seen.levels, t_s=self.t_s)
        if self.changed is None:
            return reading
        return replace(reading, changed=np.array([cell == self.changed for cell in reading.cells], np.float32))

    def rows(self, levels: tuple[int, ...] | None) -> Rows | None:
        """Return log-likelihoods from sensors with the kit's noise; None without sensors."""
        if levels is None:
            return None
        return sensor_log_likelihood([12 + 10 * level + self.rng.normal(0, 0.8) for level in levels], LEVELS_MM, 0.8)


@pytest.fixture
def field() -> Field:
    """Return a field whose start position has been seen."""
    made = Field()
    made.keep_still(made.after(), sensed=made.after())
    return made


def kinds(events: list[Event]) -> list[type[Event]]:
    """Return the types of the events."""
    return [type(event) for event in events]


def test_a_pillar_move_is_accepted_with_sensors_and_without(field: Field) -> None:
    """If all sensors are lost, the camera is enough."""
    for move, has_sensors in (("+c3", HAS), ("e1-e2", LACKS), ("-b2", LACKS), ("+d4", HAS)):
        if GAME.violations(field.referee.match.position, parse_move(GAME, field.referee.match.position, move)):
            continue
        there = field.after(move)
        (event,) = field.keep_still(there, sensed=there if has_sensors else None)
        assert isinstance(event, Accepted)
        assert event.move == move


def test_a_jump_is_named_and_put_right(field: Field) -> None:
    """A pillar two levels higher is illegal, and the cell is named."""
    before = field.after()
    assert before.levels is not None
    there = View(before.sights, (*before.levels[:12], 5, *before.levels[13:]))
    (event,) = field.keep_still(there, sensed=there)
    assert isinstance(event, Illegal)
    assert (event.attempt, event.rules, event.cells) == (None, ("DIA-2",), ("c3",))
    assert event.seen != event.expected
    assert field.referee.snapshot.wrong == ("c3",)


def test_a_field_set_up_wrong_says_which_pillar_must_stand_where() -> None:
    """A pillar at a wrong level during set-up is reported with the right level."""
    field = Field()
    right = field.after()
    assert right.levels is not None
    wrong = View(right.sights, (right.levels[0] + 2, *right.levels[1:]))
    events = field.keep_still(wrong, sensed=wrong, frames=20)
    assert kinds(events) == [Unfinished]
    assert events[0].todo == "set up: a1 must stand at level 1"
    assert events[0].cells == ("a1",)


UNCLEAR_NATS = 7.0


def test_a_jammed_sensor_beside_an_unclear_picture_is_asked_about_named_and_then_not_heard(field: Field) -> None:
    """A pillar moves but its sensor does not: first a question, then a fault; afterwards the camera alone counts."""
    field.referee.sensors(field.t_s, "ok")
    field.nats = UNCLEAR_NATS
    still, there = field.after(), field.after("+c3")
    events = field.keep_still(there, sensed=still, frames=20)
    assert [event.options for event in events if isinstance(event, Unsure)] == [("+c3",)]
    assert not [event for event in events if isinstance(event, Accepted | Illegal)]
    (accepted, *_) = field.referee.order(field.t_s, Answer(0))
    assert isinstance(accepted, Accepted)
    (fault,) = (e for e in field.keep_still(field.after(), sensed=still, frames=40) if isinstance(e, SensorsChanged))
    assert (fault.state, fault.cells) == ("fault", ("c3",))
    assert field.referee.doubted_pillars == {12}
    following = field.after("-b2")
    jammed = View(following.sights, (*following.levels[:12], still.levels[12], *following.levels[13:]))
    assert [event.move for event in field.keep_still(following, sensed=jammed) if isinstance(event, Accepted)] == [
        "-b2"
    ]


def test_a_clear_picture_outweighs_a_jammed_sensor(field: Field) -> None:
    """The move is accepted within the nine calm frames, without a question; then the sensor is reported."""
    field.referee.sensors(field.t_s, "ok")
    still, there = field.after(), field.after("+c3")
    assert [type(event) for event in field.keep_still(there, sensed=still)] == [Accepted]
    events = field.keep_still(there, sensed=still, frames=60)
    assert [(e.state, e.cells) for e in events] == [("fault", ("c3",))]


def test_one_clear_picture_does_not_outweigh_a_sensor(field: Field) -> None:
    """A single clear picture against a sensor leads to no event."""
    field.referee.sensors(field.t_s, "ok")
    still, there = field.after(), field.after("+c3")
    assert field.keep_still(there, sensed=still, frames=2) == []
    assert field.keep_still(still, sensed=still, frames=60) == []


def test_a_jump_is_named_although_its_sensor_is_jammed(field: Field) -> None:
    """A jump by two levels is reported although the jammed sensor does not show it."""
    before = field.after()
    assert before.levels is not None
    there = View(before.sights, (*before.levels[:12], 5, *before.levels[13:]))
    (event,) = field.keep_still(there, sensed=before)
    assert isinstance(event, Illegal)
    assert event.rules == ("DIA-2",)
    assert [type(event) for event in field.keep_still(before, sensed=before)] == [Restored]


def test_what_is_reported_of_sensors_is_said_once(field: Field) -> None:
    """Each state of the sensors is reported once, with the faulty cells."""
    referee = field.referee
    assert [event.state for event in referee.sensors(1.0, "ok")] == ["ok"]
    assert referee.sensors(1.1, "ok") == ()
    (fault,) = referee.sensors(1.2, "ok", ("c3", "a1"))
    assert (fault.state, fault.cells) == ("fault", ("a1", "c3"))
    assert referee.sensors(1.3, "ok", ("c3", "a1")) == ()
    (lost,) = referee.sensors(1.4, "lost")
    assert (lost.state, lost.cells) == ("lost", ())
    assert [event.state for event in referee.sensors(1.5, "ok")] == ["ok"]


def test_a_cube_seen_on_a_pillar_of_contested_level_accuses_nobody(field: Field) -> None:
    """It was pushed from there: what seems to be left of it may be seen at a level that the pillar does not have."""
    field.referee.sensors(field.t_s, "ok")
    before, there = field.after(), field.after("c5-c4")
    left, pillar = GAME.layout.index["c5"], 25 + GAME.layout.index["c5"]
    seen = View(
        tuple(before.sights[cell] if cell == left else sight for cell, sight in enumerate(there.sights)),
        tuple(level - 1 if 25 + cell == pillar else level for cell, level in enumerate(there.levels)),
    )
    field.nats = UNCLEAR_NATS
    events = field.keep_still(seen, sensed=there, frames=20)
    assert not [event for event in events if isinstance(event, Illegal)]
    assert any(
        isinstance(event, Accepted) or (isinstance(event, Unsure) and "c5-c4" in event.options) for event in events
    )


def test_a_sensor_that_contradicts_the_camera_for_long_is_a_fault(field: Field) -> None:
    """Only that sensor is reported; it is trusted again after both have agreed for a while."""
    referee, still = field.referee, field.after()
    referee.sensors(field.t_s, "ok")
    wrong = View(still.sights, (*still.levels[:6], 5, *still.levels[7:]))
    events = field.keep_still(still, sensed=wrong, frames=60)
    assert [(e.state, e.cells) for e in events if isinstance(e, SensorsChanged)] == [("fault", ("b2",))]
    assert not [event for event in events if isinstance(event, Accepted | Illegal)]
    events = field.keep_still(still, sensed=still, frames=120)
    assert [(e.state, e.cells) for e in events if isinstance(e, SensorsChanged)] == [("ok", ())]


def test_a_question_that_a_contradiction_raised_is_not_answered_by_going_on(field: Field) -> None:
    """The camera is wrong about c3, and the players make another move: no other move than that is accepted."""
    field.referee.sensors(field.t_s, "ok")
    field.nats = UNCLEAR_NATS
    still, misread = field.after(), field.after("+c3")
    events = field.keep_still(misread, sensed=still, frames=30)
    assert any(isinstance(event, Unsure) for event in events)
    played = field.after("-b2")
    assert played.levels is not None
    seen = View(played.sights, (*played.levels[:12], 4, *played.levels[13:]))
    events = field.keep_still(seen, sensed=played, frames=30)
    assert [event.move for event in events if isinstance(event, Accepted)] in ([], ["-b2"])


@pytest.fixture
def four() -> Field:
    """Return a field with four players, each of whom has raised a pillar from their own side."""
    made = Field(FOUR)
    made.keep_still(made.after(), sensed=made.after())
    for side, move in zip("SWNE", ("+b3", "+c3", "+d3", "+e4"), strict=True):
        there = made.after(move)
        made.sweep(side)
        assert kinds(made.keep_still(there, sensed=there)) == [Accepted]
    return made


def both(four: Field, sides: str) -> list[Event]:
    """Raise a pillar and push a cube in one visit of arms from ``sides``; Red and Green are to move next."""
    there = four.after("+b1", "c1-c2")
    four.sweep(sides)
    return four.keep_still(there, sensed=there, frames=30)


def test_two_moves_by_two_arms_are_two_players(four: Field) -> None:
    """The order is asked because the bans differ, but not whether one player did both."""
    (event,) = both(four, "SW")
    assert isinstance(event, Unsure)
    assert set(event.options) == {"+b1 c1-c2", "c1-c2 +b1"}
    assert not event.or_one_hand


def test_two_moves_by_one_arm_are_one_player_who_did_both(four: Field) -> None:
    """Two moves with only one player's arm are illegal."""
    (event,) = both(four, "S")
    assert isinstance(event, Illegal)
    assert "G-2" in event.rules
    assert set(event.cells) == {"b1", "c1", "c2"}


def test_where_no_arm_was_seen_that_one_player_did_both_is_among_the_answers(four: Field) -> None:
    """The order must be asked anyway.  Answering no rejects both moves, and the board must be restored."""
    (event,) = both(four, "")
    assert isinstance(event, Unsure)
    assert event.or_one_hand
    assert "If one did it all, answer no" in event.question
    still_there = four.after("+b1", "c1-c2")
    four.referee.order(four.t_s, Answer(None))
    assert four.referee.snapshot.mode == "setting up"
    assert not [
        event for event in four.keep_still(still_there, sensed=still_there, frames=30) if isinstance(event, Accepted)
    ]
    four.keep_still(four.after(), sensed=four.after())
    assert four.referee.snapshot.mode == "watching"


def test_two_pillars_turned_at_the_same_time_are_told(field: Field) -> None:
    """This is illegal even if the seats are unknown; one after the other may be two players' moves."""
    there = field.after("+c3", "-b2")
    field.sweep("S", "c3", "b2")
    (event,) = field.keep_still(there, sensed=there, frames=12)
    assert isinstance(event, Illegal)
    assert event.rules == ("G-2", "DIA-1")
    assert set(event.cells) == {"c3", "b2"}
    before = field.after()
    assert kinds(field.keep_still(before, sensed=before)) == [Restored]
    field.sweep("S", "c3")
    field.sweep("S", "b2")
    (event,) = field.keep_still(there, sensed=there, frames=12)
    assert isinstance(event, Unsure)


def beside_a_misread_pillar(four: Field, sides: str) -> View:
    """Let Red push a cube with arms from ``sides`` while the camera sees b1 a level too high; return that view."""
    pushed, both_moved = four.after("c1-c2"), four.after("+b1", "c1-c2")
    four.sweep(sides)
    (unsure,) = four.keep_still(both_moved, sensed=pushed, frames=30)
    assert isinstance(unsure, Unsure)
    assert set(unsure.options) >= {"c1-c2"}
    (accepted, *_) = four.referee.order(four.t_s, Answer(unsure.options.index("c1-c2")))
    assert isinstance(accepted, Accepted)
    assert accepted.move == "c1-c2"
    return both_moved


@pytest.mark.parametrize("sides", ["", "S"])
def test_a_pillar_that_the_camera_alone_moves_beside_a_move_is_asked_about(four: Field, sides: str) -> None:
    """It is asked once; nobody is accused, and no move of that pillar is accepted until it has looked right again."""
    misread = beside_a_misread_pillar(four, sides)
    assert four.keep_still(misread, sensed=four.after(), frames=60) == []
    following = four.after("-d4")
    assert following.levels is not None
    seen = View(following.sights, (*following.levels[:1], misread.levels[1], *following.levels[2:]))
    assert [event.move for event in four.keep_still(seen, sensed=following, frames=30)] == ["-d4"]
    four.keep_still(four.after(), sensed=four.after())
    raised = four.after("+b1")
    assert [event.move for event in four.keep_still(raised, sensed=raised)] == ["+b1"]


def test_a_misread_pillar_whose_picture_changes_is_believed_again(four: Field) -> None:
    """Green raises it to the level that it had seemed to have."""
    beside_a_misread_pillar(four, "")
    raised = four.after("+b1")
    four.changed = "b1"
    assert [event.move for event in four.keep_still(raised, sensed=raised)] == ["+b1"]
