"""The soak test of demonstrations."""

import pytest

from companion.simulate.evaluation import MISSED, Fault, Result
from tools import soak

CLEAN = Result(moves=20, accepted=20, acts=5, caught=5, questions=1, faults=())
MISS = Result(20, 20, 5, 4, 0, (Fault(8.6, MISSED, "R: illegal *c3 (DOM-6)", "nothing was said"),))


@pytest.mark.parametrize(
    ("n", "of", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (1, 100, 0.0018, 0.0545), (0, 0, 0.0, 1.0)],
)
def test_intervals_are_wilsons(n, of, low, high):
    assert soak.wilson(n, of) == pytest.approx((low, high), abs=5e-5)


def test_the_table_adds_up_games_and_seeds():
    head, first, second, total = soak.table({"domination": [CLEAN, MISS], "domination/3": [CLEAN]})
    words = ["game", "runs", "moves", "accepted", "lost", "wrong", "acts", "caught", "asked"]
    assert head.split() == [*words, "missed", "miscited", "accused", "questions"]
    assert first.split()[:4] == ["domination", "2", "40", "40"]
    assert second.split()[:4] == ["domination/3", "1", "20", "20"]
    assert total.split()[:4] == ["all", "3", "60", "60"]
    assert total.split()[total.split().index("15") + 1] == "14"
    assert first.index("1 (1.8-40.4 %)") == head.index("missed")


def test_a_fault_is_printed_so_that_it_can_be_repeated(monkeypatch, capsys):
    monkeypatch.setattr(soak, "demonstrate", lambda told: MISS if told.seed == 8 else CLEAN)
    assert soak.main(["domination", "--seeds", "2", "--first", "7"]) == 1
    fault, *_ = capsys.readouterr().out.splitlines()
    assert fault == "domination --seed 8      8.6 s  missed: R: illegal *c3 (DOM-6); nothing was said"
    assert soak.main(["domination", "--seeds", "1"]) == 0


def test_a_demonstration_is_run_for_every_game_and_seed(monkeypatch):
    run = []
    monkeypatch.setattr(soak, "demonstrate", lambda told: run.append((told.game, told.seed, told.plies)) or CLEAN)
    assert soak.main(["domination", "citadel", "--seeds", "2", "--plies", "3"]) == 0
    assert run == [("domination", 1, 3), ("domination", 2, 3), ("citadel", 1, 3), ("citadel", 2, 3)]
