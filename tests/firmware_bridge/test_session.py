"""The host's side of the protocol, in simulated time, with the real firmware at the other end."""

from __future__ import annotations

import pytest

from firmware_bridge.clock import WRAP_MS, DeviceClock
from firmware_bridge.firmware import wire
from firmware_bridge.session import PURGE, SILENT_S, Connected, Lost, Refused, Sample, Session
from tests.firmware_bridge.conftest import LEVELS, MIXED


def faults_of(event: object) -> dict[int, str]:
    """Return pillar → fault name of a sample."""
    assert isinstance(event, Sample)
    return {i: wire.FAULTS[fault] for i, fault in enumerate(event.faults) if fault}


def test_a_greeting_leads_to_samples(rig) -> None:
    first, *rest = rig().run(1.0)
    assert isinstance(first, Connected)
    assert not first.rebooted
    assert all(isinstance(event, Sample) for event in rest)
    assert 20 <= len(rest) <= 55
    assert rest[-1].levels == tuple(i % 7 for i in range(25))
    assert rest[-1].heights_mm == pytest.approx(MIXED, abs=0.6)
    assert faults_of(rest[-1]) == {}


def test_samples_are_in_the_hosts_time(rig) -> None:
    """A movement at 1.0 s is dated to then, not to when it was received."""
    moved = rig(heights=lambda t: [12.0 + 10 * (t >= 1.0)] * 25)
    events = [event for event in moved.run(2.0) if isinstance(event, Sample)]
    at_s = next(event.t_s for event in events if event.levels[0] == 1)
    assert 1.0 <= at_s <= 1.06


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        ("open:b2@1", {6: "open"}),
        ("short:e5@1", {24: "short"}),
        ("noise:c3@1", {12: "noisy"}),
        ("stuck:a1@1", {0: "stuck"}),
        ("jam:a1@1", {}),
        ("line@1", dict.fromkeys(range(13), "line")),
        ("supply@1", dict.fromkeys(range(25), "line")),
    ],
)
def test_faults_are_told(rig, fault: str, seen: dict[int, str]) -> None:
    """Faults are reported within 4.5 s on the right pillars; a jammed wiper alone looks like a pillar at rest."""
    events = rig(fault).run(5.5)
    assert faults_of(events[-1]) == seen


def test_a_faulty_pillar_is_well_again_when_the_fault_is_gone(rig) -> None:
    assert faults_of(rig("open:b2@1+1").run(3.0)[-1]) == {}


@pytest.mark.parametrize("fault", ["flip@1", "drop@1"])
def test_a_bad_line_costs_samples_and_nothing_else(rig, fault: str) -> None:
    """About one byte in a hundred is damaged or lost; every sample received is correct."""
    bad = rig(fault)
    samples = [event for event in bad.run(6.0) if isinstance(event, Sample)]
    assert {event.levels for event in samples} == {tuple(i % 7 for i in range(25))}
    assert bad.session.bad_frames > 10
    assert bad.session.gaps > 10
    assert len(samples) > 30


def test_a_reboot_is_noticed_by_its_new_number(rig) -> None:
    events = [event for event in rig("reboot@1").run(3.0) if not isinstance(event, Sample)]
    assert [type(event) for event in events] == [Connected, Connected]
    assert [event.rebooted for event in events] == [False, True]


def test_a_frozen_controller_is_lost_and_rescued_by_its_watchdog(rig) -> None:
    frozen = rig("freeze@1")
    assert isinstance(frozen.run(1 + SILENT_S + 0.1)[-1], Lost)
    events = [event for event in frozen.run(4.0) if not isinstance(event, Sample)]
    assert [type(event) for event in events] == [Connected]
    assert events[0].rebooted
    assert events[0].welcome.cause == wire.WATCHDOG
    assert isinstance(frozen.events[-1], Sample)


def test_a_pulled_cable_is_silence_until_it_is_back(rig) -> None:
    pulled = rig("cable@1+3").run(6.0)
    others = [type(event) for event in pulled if not isinstance(event, Sample)]
    assert others == [Connected, Lost, Connected]


def test_a_fault_that_comes_and_goes_between_two_turns_is_not_left_out(rig) -> None:
    """The simulated controller runs late, as on a busy computer."""
    late = rig("cable@0.7+0.3")
    late.run(0.5)
    late.device.run(1.2)
    assert not late.device.plugged
    late.device.run(1.3)
    assert late.device.plugged


def welcomed(**changed: int) -> tuple[object, ...]:
    """Return a session's events for a controller with a modified welcome message."""
    session = Session(LEVELS)
    session.opened(0.0)
    welcome = wire.Welcome(0, 1, 0, (1, 0, 0), bytes(8), 5, 25, 50, 0, 0)._replace(**changed)
    return (*session.receive(wire.encode(welcome, 0), 0.1), *session.receive(wire.encode(welcome, 1), 0.3))


def test_another_version_is_refused_once_and_says_what_to_do() -> None:
    (refused,) = welcomed(major=2)
    assert isinstance(refused, Refused)
    assert refused.why == "the controller speaks version 2 of the protocol, not 1; update this program"
    assert "update the controller's firmware" in welcomed(major=0)[0].why
    assert "16 pillars" in welcomed(pillars=16)[0].why


def test_a_newer_minor_version_is_welcome() -> None:
    assert isinstance(welcomed(minor=9)[0], Connected)


def test_it_greets_again_until_there_is_an_answer() -> None:
    session = Session(LEVELS)
    session.opened(0.0)
    sent = [session.tick(t / 10)[0] for t in range(10)]
    assert sum(data.startswith(PURGE) for data in sent) == 5


def test_a_closed_session_says_nothing() -> None:
    session = Session(LEVELS)
    session.opened(0.0)
    assert session.closed("gone") == ()
    assert session.tick(5.0) == (b"", ())


def test_the_clock_believes_the_quickest_exchange() -> None:
    clock = DeviceClock()
    assert clock.host_s(500, 3.0) == 3.0
    clock.add_exchange(10.0, 2000, 10.4)
    clock.add_exchange(11.0, 3010, 11.02)
    assert clock.host_s(4000, 99.0) == pytest.approx(12.0)
    assert clock.host_s(4000, 11.9) == 11.9


def test_the_clock_does_not_mind_the_counter_starting_over() -> None:
    clock = DeviceClock()
    clock.add_exchange(0.0, WRAP_MS - 1000, 0.0)
    assert clock.host_s(WRAP_MS - 500, 99.0) == pytest.approx(0.5)
    assert clock.host_s(500, 99.0) == pytest.approx(1.5)
    assert clock.host_s(WRAP_MS - 100, 99.0) == pytest.approx(0.9)
