"""Heights, levels and faults of single pillars."""

from __future__ import annotations

import random

import pytest

from firmware_bridge.firmware import wire
from firmware_bridge.firmware.pillars import FULL, GROUND, MIDDLE, NOMINAL, WIRED, Pillar, Scale, board_state, scanned
from firmware_bridge.simulated.bench import Bench
from firmware_bridge.simulated.board import SimulatedBoard

SCAN_MS = 20
RNG = random.Random(1)


def raw_at(mm: float) -> int:
    """Return the reading of a perfect potentiometer at a height in mm, with a few codes of noise."""
    return round(NOMINAL[0] + (mm - 12) / 60 * (NOMINAL[1] - NOMINAL[0])) + RNG.randrange(40)


def fed(pillar: Pillar, mm: list[float], since_ms: int = 0) -> Pillar:
    """Feed scans at these heights (mm) to a pillar and return it."""
    for i, height in enumerate(mm):
        pillar.step(raw_at(height), since_ms + i * SCAN_MS)
    return pillar


@pytest.mark.parametrize("level", range(7))
def test_each_level_is_told(level: int) -> None:
    pillar = fed(Pillar(), [12 + 10 * level + RNG.gauss(0, 0.8) for _ in range(50)])
    assert (pillar.level, pillar.fault) == (level, wire.OK)
    assert pillar.height() == pytest.approx(1200 + 1000 * level, abs=300)


def test_between_two_levels_it_keeps_the_one_it_had() -> None:
    """Hysteresis: level 3 holds until 4 is near, and level 4 until 3 is near."""
    pillar = fed(Pillar(), [42.0] * 5)
    seen = [fed(pillar, [mm] * 3, 1000).level for mm in (46.0, 47.0, 48.0, 49.0, 47.0, 46.0, 45.0)]
    assert seen == [3, 3, 3, 4, 4, 4, 3]


def test_one_wild_scan_changes_nothing() -> None:
    pillar = fed(Pillar(), [42.0] * 5 + [70.0] + [42.0])
    assert (pillar.level, pillar.fault) == (3, wire.OK)
    assert pillar.height() == pytest.approx(4200, abs=20)


def test_a_pillar_left_between_levels_is_a_fault_after_three_seconds() -> None:
    pillar = fed(Pillar(), [42.0] * 5 + [47.0] * 140)
    assert pillar.fault == wire.OK
    assert fed(pillar, [47.0] * 20, 145 * SCAN_MS).fault == wire.BETWEEN
    assert fed(pillar, [52.0] * 3, 200 * SCAN_MS).fault == wire.OK


def test_a_value_that_never_flickers_is_stuck() -> None:
    pillar = Pillar()
    for ms in range(0, 2980, SCAN_MS):
        pillar.step(30000, ms)
    assert pillar.fault == wire.OK
    pillar.step(30000, 3000)
    assert pillar.fault == wire.STUCK
    pillar.step(30016, 3020)
    assert pillar.fault == wire.OK


@pytest.mark.parametrize(("raw", "fault"), [(0, wire.OPEN), (600, wire.OPEN), (65535, wire.SHORT), (64800, wire.SHORT)])
def test_open_and_shorted_wires(raw: int, fault: int) -> None:
    pillar = fed(Pillar(), [42.0] * 5)
    for i in range(3):
        pillar.step(raw + i, 100 + i * SCAN_MS)
    assert pillar.fault == fault
    assert fed(pillar, [42.0] * 3, 200).fault == wire.OK


def test_a_worn_track_is_noise_and_a_moving_hand_is_not() -> None:
    worn = fed(Pillar(), [42 + RNG.gauss(0, 6) for _ in range(100)])
    assert worn.fault == wire.NOISY
    assert fed(worn, [42.0] * 60, 2000).fault == wire.OK
    sweep = [12 + 6.0 * i for i in range(11)]
    pillar = Pillar()
    faults = {fed(pillar, [mm], 20 * i).fault for i, mm in enumerate(sweep)}
    assert faults == {wire.OK}


def test_far_beyond_the_levels_is_out_of_range() -> None:
    pillar = Pillar()
    pillar.scale(Scale(), 20000, 50000)
    for ms in range(0, 100, SCAN_MS):
        pillar.step(8000 + ms, ms)
    assert pillar.fault == wire.RANGE


def test_the_loop_reads_each_pot_on_its_own_channel() -> None:
    """Distinct heights are returned in the order of the wiring, with the noise of single samples averaged out."""
    heights = [12 + 2.4 * i for i in range(25)]
    values, references = scanned(SimulatedBoard(Bench(heights), 1))
    told = [12 + 60 * (value - NOMINAL[0]) / (NOMINAL[1] - NOMINAL[0]) for value in values]
    assert told == pytest.approx(heights, abs=0.3)
    assert references == pytest.approx([0, 32768, 65535] * 2, abs=200)
    assert len(WIRED) == 13
    assert not {GROUND, MIDDLE, FULL} & set(WIRED)


@pytest.mark.parametrize("line", range(4))
@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize("mux", [0, 1])
def test_a_stuck_address_line_shows_in_the_references(mux: int, line: int, value: int) -> None:
    """This holds for each line, stuck high or low, at every level of the pillars."""
    for level in range(7):
        bench = Bench([12.0 + 10 * level] * 25, stuck_line=(mux, line, value))
        _, references = scanned(SimulatedBoard(bench, 1))
        assert board_state(references) == (wire.LINES_B if mux else wire.LINES_A)


def test_no_voltage_on_the_pots_is_told_from_stuck_lines() -> None:
    _, references = scanned(SimulatedBoard(Bench([42.0] * 25, supply=False), 1))
    assert board_state(references) == wire.SUPPLY_OFF
    _, references = scanned(SimulatedBoard(Bench([42.0] * 25), 1))
    assert board_state(references) == 0
