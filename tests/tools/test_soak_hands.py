"""The campaign of hands that rest beside the board."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from companion.events import Accepted
from companion.games import load_game
from companion.simulate.players import MOVE
from companion.simulate.table import Truth
from tools.soak_hands import BESIDE_MM, EDGES_DEG, LATE_S, LONGEST_S, SHORTEST_S, Bystanders, _latencies, _rests

HALF_MM = (200.0, 150.0)


def test_hands_rest_beside_each_edge_for_all_lengths_and_never_over_the_mat() -> None:
    rests = list(islice(_rests(HALF_MM, random.Random(1)), 400))
    assert {rest.edge_deg for rest in rests} == set(EDGES_DEG)
    for rest in rests:
        x, y = rest.place_mm
        assert max(abs(x) - HALF_MM[0], abs(y) - HALF_MM[1]) >= BESIDE_MM[0] - 1e-6
        assert SHORTEST_S <= rest.rest_s <= LONGEST_S
    assert min(rest.rest_s for rest in rests) < 0.5
    assert max(rest.rest_s for rest in rests) > 15


def test_one_hand_at_a_time_comes_rests_and_goes() -> None:
    bystanders = Bystanders(HALF_MM, 1)
    seen = [bystanders(k / 12) for k in range(1200)]
    assert {len(hands) for hands in seen} == {0, 1}
    assert len(bystanders.seen) > 5


@pytest.mark.parametrize(("after_s", "late"), [(0.2, 0), (LATE_S + 0.1, 1), (4.0, 1)])
def test_a_verdict_is_late_by_when_the_acting_hand_had_left(after_s: float, late: int) -> None:
    """Also when the next hand has come meanwhile."""
    game = load_game("domination")
    act = Truth(MOVE, "R", 1.0, 2.0, 2.0, 5.0, "e4-e5", (), game.start(), game.table(game.start()))
    said = [Accepted(t=2.0 + after_s, n=1, player="R", move="e4-e5", position="")]
    latencies_s, words = _latencies([act], said)
    assert latencies_s == [pytest.approx(after_s)]
    assert len(words) == late
