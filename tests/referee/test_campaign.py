"""Random matches with honest and dishonest players before an imperfect camera."""

from __future__ import annotations

import statistics

import pytest

from companion.simulate.readings import Noise

MODERATE = Noise(height_nats=40.0, top_nats=60.0)
"""One table in some hundreds has a square that looks more like something else."""

MEDIAN_S, WORST_S = 0.3, 0.6
"""From the hand's leaving to the verdict's frame."""


@pytest.mark.parametrize(
    "tag", ["domination", "domination/3", "domination/4", "domination:classic", "citadel", "cheight"]
)
def test_every_act_is_judged_rightly_and_in_time(campaign, tag: str) -> None:
    """Nothing lost, wrong, missed, miscited, accused or asked."""
    score = campaign(tag, 1, 60, MODERATE)
    assert score.faults() == []
    assert score.questions == 0
    assert score.views == 0
    assert {"move", "illegal", "restore"} <= set(score.answered)
    assert statistics.median(score.waits_s) <= MEDIAN_S
    assert max(score.waits_s) <= WORST_S


@pytest.mark.slow
def test_misread_squares_accuse_rarely_and_are_recovered_from(campaign) -> None:
    """One table in forty has a square misread with conviction: the match is not lost over it."""
    scores = [campaign("domination", seed, 80, Noise(height_nats=40.0, top_nats=60.0, misread=5e-4)) for seed in (1, 2)]
    answered = sum(sum(score.answered.values()) for score in scores)
    assert sum(len(score.faults()) for score in scores) <= answered // 10
