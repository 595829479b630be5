"""The path of a hand that carries out an act over time, and what is on the board meanwhile."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.heights import base_heights_mm, floor_mm
from calibration.kit import Kit
from companion.rules.board import Player, Table
from companion.simulate.hand import HOVER_MM, SKINS, SLEEVES, Hand
from companion.simulate.placement import Setup, rearranged, untouched
from companion.simulate.players import Act, changed

SEATS_DEG = {2: (-90.0, 90.0), 3: (-90.0, 180.0, 90.0), 4: (-90.0, 180.0, 90.0, 0.0)}
"""Direction in which each player sits, by number of players, in turn order: the kit's first player, then clockwise."""

AWAY_MM = 270.0
BESIDE_MM = 60.0
"""Distances beyond the mat's edge: where hands come from, out of the picture, and where pieces off the board lie."""

AWAY_UP_MM = 45.0

Point = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Tempo:
    """Durations (s): the hand reaching in, resting on each cell, moving from one to the next, and leaving."""

    reach_s: float
    rest_s: float
    carry_s: float
    leave_s: float


LEISURELY = Tempo(0.55, 0.35, 0.45, 0.55)
BRISK = Tempo(0.25, 0.25, 0.25, 0.25)


@dataclass(frozen=True, slots=True)
class TableState:
    """What is on the board and in the hand from ``times_s[since]`` on."""

    since: int
    setup: Setup
    holds: str


@dataclass(frozen=True, eq=False)
class Gesture:
    """One act as a movement in time.

    Attributes:
        act: what is done.
        start_s: when the hand sets out.
        times_s: (k,) times since ``start_s`` at which the hand is at each of ``places``.
        places: (k, 3) mm.
        states: what is on the board and in the hand, in order of time.
        seat_deg: direction in which the owner of the hand sits.
        look: index of the skin and sleeve colours.
    """

    act: Act
    start_s: float
    times_s: Point
    places: Point
    states: tuple[TableState, ...]
    seat_deg: float
    look: int

    @property
    def done_s(self) -> float:
        """Time from which the board is as it stays after the act; the hand may still be over it."""
        last = self.states[-1].setup
        return self.start_s + min(float(self.times_s[state.since]) for state in self.states if state.setup is last)

    @property
    def end_s(self) -> float:
        """Time at which the hand is back where it came from."""
        return self.start_s + float(self.times_s[-1])

    def state(self, t_s: float) -> TableState:
        """What is on the board and in the hand at this time."""
        t = t_s - self.start_s
        return [state for state in self.states if state.since == 0 or self.times_s[state.since] <= t][-1]

    def hand(self, t_s: float) -> Hand:
        """Where the hand is at this time."""
        t = t_s - self.start_s
        k = int(np.clip(np.searchsorted(self.times_s, t, side="right"), 1, len(self.times_s) - 1))
        share = np.clip((t - self.times_s[k - 1]) / (self.times_s[k] - self.times_s[k - 1]), 0, 1)
        eased = share * share * (3 - 2 * share)
        x, y, z = (1 - eased) * self.places[k - 1] + eased * self.places[k]
        look = self.look % len(SKINS)
        holds = self.state(t_s).holds
        return Hand((float(x), float(y), float(z)), self.seat_deg, SKINS[look], SLEEVES[look], holds)


def gesture(
    act: Act, before: Setup, kit: Kit, players: tuple[Player, ...], start_s: float, tempo: Tempo, rng: random.Random
) -> Gesture:
    """The movement of the hand that carries out ``act`` on the setup ``before``."""
    seat = players.index(act.player)
    seat_deg = SEATS_DEG[len(players)][seat]
    out = np.array([np.cos(np.radians(seat_deg)), np.sin(np.radians(seat_deg)), 0.0])
    old = Table(before.stacks, before.levels)
    levels = before.levels if act.table.levels is None else act.table.levels
    swaps = {cell: _exchanged(old.stacks[cell], act.table.stacks[cell]) for cell in changed(old, act.table)}
    states = [TableState(0, before, "")]
    stops: list[Point] = []
    if not any(taken for taken, _ in swaps.values()):
        stops.append(_beside(kit, out))
        states.append(TableState(_half_rest(stops), before, "".join(put for _, put in swaps.values())))
    for cell, (taken, put) in swaps.items():
        stops.append(_over(kit, cell, old, act.table))
        setup, holds = states[-1].setup, states[-1].holds
        stacks = list(setup.stacks)
        stacks[cell] = act.table.stacks[cell]
        states.append(TableState(_half_rest(stops), rearranged(setup, stacks, levels, rng), holds[len(put) :] + taken))
    if states[-1].holds:
        stops.append(_beside(kit, out))
        states.append(TableState(_half_rest(stops), states[-1].setup, ""))
    times, places = _way(stops, _beyond(kit, out, AWAY_MM), tempo)
    return Gesture(act, start_s, times, places, tuple(states), seat_deg, seat)


def _exchanged(before: str, after: str) -> tuple[str, str]:
    """The pieces that a hand takes from a stack, and those that it puts on, to turn ``before`` into ``after``."""
    if before.endswith(after):
        return before.removesuffix(after), ""
    same = untouched(before, after)
    return before[same:], after[same:]


def _half_rest(stops: list[Point]) -> int:
    """Index in :func:`_way` at which the rest at the last of these stops is half over."""
    return 3 * len(stops) - 1


def _way(stops: list[Point], away: Point, tempo: Tempo) -> tuple[Point, Point]:
    """Times (k,) and places (k, 3): outside; at each stop begin, half (the cell changes) and end of rest; outside."""
    outside = np.array([away[0], away[1], AWAY_UP_MM])
    times, places = [0.0], [outside]
    for i, stop in enumerate(stops):
        arrival = times[-1] + (tempo.reach_s if i == 0 else tempo.carry_s)
        times += [arrival, arrival + tempo.rest_s / 2, arrival + tempo.rest_s]
        places += [stop, stop, stop]
    times.append(times[-1] + tempo.leave_s)
    places.append(outside)
    return np.array(times), np.array(places)


def _beside(kit: Kit, out: Point) -> Point:
    """The place where a player keeps pieces that are not on the board."""
    x, y, _ = _beyond(kit, out, BESIDE_MM)
    return np.array([x, y, HOVER_MM])


def _beyond(kit: Kit, out: Point, by_mm: float) -> Point:
    """The place ``by_mm`` beyond the middle of the mat's edge in the direction ``out``."""
    place: Point = out * [kit.mat.width_mm / 2 + by_mm, kit.mat.height_mm / 2 + by_mm, 0.0]
    return place


def _over(kit: Kit, cell: int, before: Table, after: Table) -> Point:
    """The point that the hand touches on a cell: over the higher of the stacks before and after."""
    name = kit.cells[cell]
    stacks = (before.stacks[cell], after.stacks[cell])
    top = max((base_heights_mm(kit, s)[-1] + kit.piece(s[-1]).height_mm for s in stacks if s), default=0.0)
    level = None if before.levels is None else before.levels[cell]
    return np.array([*kit.centre_mm(name), floor_mm(kit, level) + top + HOVER_MM])
