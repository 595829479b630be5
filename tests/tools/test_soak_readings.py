"""The soak test of matches with simulated readings."""

from companion.games import load_game
from companion.simulate.evaluation import MISSED, Fault, Result
from companion.simulate.players import ILLEGAL, MOVE
from companion.simulate.table import GroundTruth
from tools import soak_readings

START = load_game("domination").start()
TABLE = load_game("domination").table(START)
MOVED = GroundTruth(MOVE, "R", 1.0, 2.0, 2.0, 3.0, "e4-e5", (), START, TABLE)
ADDED = GroundTruth(ILLEGAL, "G", 3.0, 4.0, 4.0, 5.0, "*c3", ("DOM-6",), START, TABLE, "added")
MISS = Fault(4.0, MISSED, "G: illegal *c3 (DOM-6)", "nothing was said")


def run(*faults: Fault) -> soak_readings.Run:
    """Return a run of one move and one illegal act."""
    result = Result(moves=1, accepted=1, acts=1, caught=1 - len(faults), questions=0, faults=faults)
    return soak_readings.Run(result, (MOVED, ADDED), 1, 0, (0.001, 0.002), (0.003,))


def test_faults_are_told_by_game_by_reader_by_rule_and_by_sort():
    lines = soak_readings.report({("domination", "good"): [run(MISS), run()], ("domination", "poor"): [run()]})
    assert lines[1].split()[:4] == ["domination", "3", "3", "3"]
    row = {line.split()[0]: line.split() for line in lines if line}
    assert row["good"][1:3] == ["2", "2"]
    assert row["DOM-6"] == ["DOM-6", "3", "1", "0", "0"]
    assert row["(added)"] == ["(added)", "3", "1", "0", "0"]
    assert lines[-1].startswith("3 matches, 6 visits to the board: 3 (")


def test_a_match_of_every_game_is_shot_and_its_faults_can_be_repeated(capsys):
    assert soak_readings.main(["domination", "diamond:table", "--matches", "1", "--acts", "6", "--reader", "good"]) == 0
    said = capsys.readouterr().out
    assert "domination" in said
    assert "2 matches, 12 visits to the board" in said
    soak_readings.main(["cheight", "--matches", "1", "--first", "106", "--acts", "30", "--reader", "poor"])
    faults = [line for line in capsys.readouterr().out.splitlines() if line.startswith("cheight --reader")]
    assert all(line.startswith("cheight --reader poor --first 106 --matches 1 ") for line in faults)
