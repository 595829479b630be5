"""Random matches with honest and dishonest players before an imperfect camera."""

from __future__ import annotations

import random
import statistics
from itertools import islice

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from companion.games import load_game
from companion.match import Match
from companion.replay import first_fault
from companion.simulate.players import Habits, play
from companion.simulate.readings import Noise

TAGS = ["domination", "domination/3", "domination/4", "domination:classic", "citadel", "cheight", "ziggurat"]

CRISP = Noise(height_nats=60.0, top_nats=60.0, frame_nats=0.1)
POOR = Noise(height_nats=12.0, top_nats=16.0, misread=0.005, unclear=0.02)
"""Every other table has a square that looks like something else."""

MODERATE = Noise(height_nats=40.0, top_nats=60.0)
"""One table in some hundreds has a square that looks more like something else."""

MEDIAN_S, WORST_S = 0.3, 0.6
"""From the hand's leaving to the verdict's frame."""


@pytest.mark.parametrize("tag", TAGS)
def test_every_act_is_judged_rightly_and_in_time(campaign, tag: str) -> None:
    """Nothing lost, wrong, missed, miscited, accused or asked."""
    score = campaign(tag, 1, 60, MODERATE)
    assert score.faults() == []
    assert score.questions == 0
    assert score.views == 0
    assert {"move", "illegal", "restore"} <= set(score.answered)
    assert statistics.median(score.waits_s) <= MEDIAN_S
    assert max(score.waits_s) <= WORST_S


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 9999), noise=st.sampled_from([CRISP, MODERATE, POOR]), tag=st.sampled_from(TAGS))
def test_whatever_is_seen_the_record_follows_the_rules(film, seed: int, noise: Noise, tag: str) -> None:
    """Before any camera, the events play back through the rules without a contradiction, numbered without a gap."""
    game = load_game(tag)
    match = Match(game, game.start())
    shot = film(match, noise, seed)
    shot.watch(islice(play(match, random.Random(seed), Habits(illegal=0.3, takeback=0.2)), 15))
    assert first_fault(shot.events) is None
    assert [event.n for event in shot.events] == list(range(1, len(shot.events) + 1))


@pytest.mark.slow
def test_misread_squares_accuse_rarely_and_are_recovered_from(campaign) -> None:
    """One table in forty has a square misread with conviction: the match is not lost over it."""
    scores = [campaign("domination", seed, 80, Noise(height_nats=40.0, top_nats=60.0, misread=5e-4)) for seed in (1, 2)]
    answered = sum(sum(score.answered.values()) for score in scores)
    assert sum(len(score.faults()) for score in scores) <= answered // 10
