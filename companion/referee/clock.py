"""Each player's time, as with a chess clock.  Pure: times come in; nothing here ticks by itself.

A player's time runs while the referee waits for him: while he thinks, finishes a turn, or undoes a violation.  It
stands still while the table is being set up, while people are asked, in a pause, after the end, and while nothing can
be seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from companion.errors import BadText
from companion.events import ClockChanged
from companion.rules.board import Player

UNITS_S = {"h": 3600, "m": 60, "s": 1}

_DURATION = re.compile(r"(?=\d)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")

LONGEST_S = 24 * 3600
"""Longest base time and increment: nobody sits longer over one match."""

DIGITS = 1
"""Decimals of seconds: clocks show tenths."""


@dataclass(frozen=True, slots=True)
class TimeControl:
    """``base_s`` seconds for each player, and ``increment_s`` more after each of his moves."""

    base_s: int
    increment_s: int = 0

    @property
    def text(self) -> str:
        """As :func:`parse_time_control` reads it: ``10m+5s``."""
        return _written(self.base_s) + (f"+{_written(self.increment_s)}" if self.increment_s else "")


def parse_time_control(text: str) -> TimeControl:
    """The time control of ``10m``, ``10m+5s``, ``1h30m+30s``.  Raises BadText, saying how to write one."""
    base, plus, increment = text.strip().partition("+")
    base_s, increment_s = _seconds(base), _seconds(increment) if plus else 0
    if base_s is None or increment_s is None or not 0 < base_s <= LONGEST_S or increment_s > LONGEST_S:
        raise BadText(f"{text!r} is no time control; write 10m, 10m+5s or 1h30m+30s")
    return TimeControl(base_s, increment_s)


def _seconds(text: str) -> int | None:
    found = _DURATION.fullmatch(text)
    return sum(int(n or 0) * UNITS_S[unit] for n, unit in zip(found.groups(), UNITS_S, strict=True)) if found else None


def _written(seconds: int) -> str:
    parts = []
    for unit, size in UNITS_S.items():
        count, seconds = divmod(seconds, size)
        parts.append(f"{count}{unit}" if count else "")
    return "".join(parts) or "0s"


@dataclass(frozen=True, slots=True)
class Clock:
    """The players' times, and whose is running.

    Attributes:
        control: the time control.
        players: in turn order.
        left_s: seconds left to each at ``since_s``, when last updated; below 0 for a player who has overstepped.
        running: whose time has been running since then; None: nobody's.
        fallen: those whose flag has been announced.
    """

    control: TimeControl
    players: tuple[Player, ...]
    left_s: tuple[float, ...]
    running: Player | None = None
    since_s: float = 0.0
    fallen: frozenset[Player] = frozenset()


def new_clock(control: TimeControl, players: tuple[Player, ...]) -> Clock:
    """The clock before the match."""
    return Clock(control, players, (float(control.base_s),) * len(players))


def clock_from_event(event: ClockChanged) -> Clock:
    """The clock as the last event of an interrupted match left it; nobody's time runs.  Raises BadText."""
    fallen = frozenset(player for player, left in zip(event.players, event.left, strict=True) if left <= 0)
    return Clock(parse_time_control(event.control), event.players, event.left, fallen=fallen)


def deduct_elapsed(clock: Clock, t_s: float) -> Clock:
    """``clock`` with the running player's time deducted up to ``t_s``."""
    spent_s = max(0.0, t_s - clock.since_s)
    left = tuple(s - spent_s if p == clock.running else s for p, s in zip(clock.players, clock.left_s, strict=True))
    return replace(clock, left_s=left, since_s=max(t_s, clock.since_s))


def switch_to(clock: Clock, player: Player | None, t_s: float) -> Clock:
    """``clock`` with the time of ``player`` running from ``t_s`` on; None: nobody's."""
    return replace(deduct_elapsed(clock, t_s), running=player)


def add_increment(clock: Clock, player: Player, t_s: float) -> Clock:
    """``clock`` with the increment of ``player``, who has moved at ``t_s``; none for a player who has overstepped."""
    clock = deduct_elapsed(clock, t_s)
    extra_s = 0 if player in clock.fallen else clock.control.increment_s
    left = tuple(s + extra_s if p == player else s for p, s in zip(clock.players, clock.left_s, strict=True))
    return replace(clock, left_s=left)


def after_moves(clock: Clock, moved: Iterable[Player], running: Player | None, t_s: float) -> Clock:
    """The clock after these have ``moved`` by ``t_s``, when ``running``'s time starts; the same object if unchanged."""
    before = clock
    for player in moved:
        clock = add_increment(clock, player, t_s)
    return before if clock is before and running == clock.running else switch_to(clock, running, t_s)


def drop_flag(clock: Clock, t_s: float) -> Clock | None:
    """``clock`` with the flag of the running player fallen, if it has just fallen by ``t_s``; else None."""
    now = deduct_elapsed(clock, t_s)
    player = now.running
    if player is None or player in now.fallen or now.left_s[now.players.index(player)] > 0:
        return None
    return replace(now, fallen=now.fallen | {player})


def clock_event(clock: Clock, t_s: float, *, flag: bool = False) -> ClockChanged:
    """The event that reports the clock; its number is still to be assigned."""
    state = "flag" if flag else "stopped" if clock.running is None else "running"
    left = tuple(round(max(0.0, s), DIGITS) for s in deduct_elapsed(clock, t_s).left_s)
    return ClockChanged(
        t=t_s, n=0, state=state, player=clock.running, players=clock.players, left=left, control=clock.control.text
    )
