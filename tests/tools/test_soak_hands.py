"""The campaign of hands and objects that come and go beside the board."""

from __future__ import annotations

import random
from itertools import islice, pairwise

import numpy as np
import pytest

from calibration.kit import load_kit
from companion.events import Accepted
from companion.games import load_game
from companion.match import Match
from companion.simulate.players import MOVE
from companion.simulate.table import GroundTruth, SimulatedTable
from tools.bystanders import EDGES_DEG, KINDS, LONGEST_S, SHORTEST_S, Bystanders, visits
from tools.soak_hands import LATE_S, _latencies

pytestmark = pytest.mark.pictures

KIT = load_kit("domination")


def test_all_kinds_come_from_each_edge_for_all_lengths_and_one_after_the_other() -> None:
    several = list(islice(visits(KIT, random.Random(1)), 400))
    assert {(visit.kind, visit.edge_deg) for visit in several} == {(k, edge) for k in KINDS for edge in EDGES_DEG}
    assert all(before.end_s < after.begin_s for before, after in pairwise(several))
    assert all(SHORTEST_S <= visit.rest_s <= LONGEST_S for visit in several)
    assert min(visit.rest_s for visit in several) < 0.5
    assert max(visit.rest_s for visit in several) > 15


@pytest.mark.parametrize("kind", KINDS)
def test_what_comes_is_seen_beside_the_board_and_goes(kind: str) -> None:
    game = load_game("domination")
    bystanders = Bystanders(KIT, 3, [kind])
    table = SimulatedTable(KIT, Match(game, game.start()), 1)
    before, most = table.frame(0.0).astype(int), 0
    for visit in islice(visits(KIT, random.Random(f"bystanders {KIT.name} 3"), [kind]), 4):
        resting = _over(table, bystanders, visit.begin_s + visit.come_s + visit.rest_s / 2)
        most = max(most, int((np.abs(resting - before) > 30).sum()))
        assert not bystanders(visit.end_s + 0.01)
    assert most > 3000
    assert [seen.kind for seen in bystanders.seen] == [kind] * 4


def _over(table: SimulatedTable, bystanders: Bystanders, t_s: float) -> np.ndarray:
    """Return the picture before the match has begun, with the bystanders' overlays at ``t_s``."""
    picture = table.frame(0.0)
    for overlay in bystanders(t_s):
        picture = overlay(picture, table.scene)
    return picture


@pytest.mark.parametrize(("after_s", "late"), [(0.2, 0), (LATE_S + 0.1, 1), (4.0, 1)])
def test_a_verdict_is_late_by_when_the_acting_hand_had_left(after_s: float, late: int) -> None:
    """The delay counts from the departure of the acting hand, even if the next hand has come in the meantime."""
    game = load_game("domination")
    act = GroundTruth(MOVE, "R", 1.0, 2.0, 2.0, 5.0, "e4-e5", (), game.start(), game.table(game.start()))
    said = [Accepted(t=2.0 + after_s, n=1, player="R", move="e4-e5", position="")]
    latencies_s, words = _latencies([act], said)
    assert latencies_s == [pytest.approx(after_s)]
    assert len(words) == late
