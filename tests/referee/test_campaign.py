"""Random matches of honest and dishonest players before an imperfect camera."""

from __future__ import annotations

import random
import statistics
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.events import Event
from companion.games import load_game
from companion.match import Match
from companion.replay import first_fault
from companion.simulate.evaluation import compare
from companion.simulate.players import Habits, play
from companion.simulate.readings import Noise
from tools.simulated_match import Behaviour, SimulatedMatch

TAGS = [
    "domination",
    "domination/3",
    "domination/4",
    "domination:classic",
    "citadel",
    "cheight",
    "ziggurat",
    "diamond:table",
    "diamond/4",
]
HABITS = Habits(illegal=0.3, takeback=0.06, two_at_once=0.1, overflow_at_once=0.3, irregular_change=0.2)
PATIENT = Behaviour(rests=0.1, hurry=0.0, jostle=0.1, askew=0.0, lamp=0.02, bump=0.02)

CRISP = Noise(height_nats=60.0, top_nats=60.0, alike_nats=60.0, frame_nats=0.1)
POOR = Noise(height_nats=16.0, top_nats=20.0, alike_nats=16.0, evenness=4.0, misread=0.002, unclear=0.01)
"""With this noise most tables have a cell that looks more like another state."""

MODERATE = Noise(height_nats=50.0, top_nats=60.0, alike_nats=50.0, evenness=8.0)
"""With this noise one table in some hundreds has a cell that looks more like another state."""

MEDIAN_S, WORST_S = 0.3, 0.6
"""Limits from the departure of the hand to the frame of the verdict."""


def shoot(tag: str, seed: int, acts: int, noise: Noise, behaviour: Behaviour = PATIENT) -> SimulatedMatch:
    """Simulate ``acts`` of a random match of the game ``tag`` under some noise."""
    game = load_game(tag)
    match = Match(game, game.start())
    simulated = SimulatedMatch(match, noise, seed, behaviour)
    simulated.watch(islice(play(match, random.Random(seed), HABITS), acts))
    return simulated


def waits_s(simulated: SimulatedMatch) -> list[float]:
    """Return how long each act waited for its verdict, in s."""

    def first(begins: float, ends: float) -> Event | None:
        said = ("accepted", "illegal", "restored", "taken-back", "unfinished")
        return next((event for event in simulated.events if event.event in said and begins <= event.t <= ends), None)

    found = [(first(act.t_calm_from, act.t_calm_to or act.t_calm_from), act.t_calm_from) for act in simulated.truth]
    return [event.t - begins for event, begins in found if event is not None]


@pytest.mark.parametrize("tag", TAGS)
def test_every_act_is_judged_rightly_and_in_time(tag: str) -> None:
    """Every act is judged without errors, questions or rulings.

    The delays have a median of at most MEDIAN_S and a maximum of at most WORST_S.
    """
    simulated = shoot(tag, 5, 50, MODERATE)
    result = compare(simulated.truth, simulated.events)
    assert result.faults == ()
    assert (result.questions, simulated.rulings) == (0, 0)
    assert result.acts >= 8
    waits = waits_s(simulated)
    assert len(waits) == len(simulated.truth)
    assert statistics.median(waits) <= MEDIAN_S
    assert max(waits) <= WORST_S


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 9999), noise=st.sampled_from([CRISP, MODERATE, POOR]), tag=st.sampled_from(TAGS))
def test_whatever_is_seen_the_record_follows_the_rules(seed: int, noise: Noise, tag: str) -> None:
    """Under any noise the events replay without contradicting the rules, and are numbered without gaps."""
    simulated = shoot(tag, seed, 15, noise, Behaviour())
    assert first_fault(simulated.events) is None
    assert [event.n for event in simulated.events] == list(range(1, len(simulated.events) + 1))


@pytest.mark.slow
def test_misread_squares_accuse_rarely_and_are_recovered_from() -> None:
    """At most one act in ten is judged wrongly when cells are misread with certainty at a rate of 5e-4."""
    noise = Noise(height_nats=40.0, top_nats=60.0, misread=5e-4)
    matches = [shoot("domination", seed, 60, noise) for seed in (1, 2)]
    faults = sum(len(compare(simulated.truth, simulated.events).faults) for simulated in matches)
    assert faults <= sum(len(simulated.truth) for simulated in matches) // 10
