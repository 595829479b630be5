"""Checks of connected devices: cameras, the panel, the pillar controller."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.kit import Kit
from companion.app.station import StationConfig
from companion.doctor.check import Check, fault, fault_from, fine, unused
from companion.panel.buttons import Button
from companion.panel.cue_player import Lights
from companion.panel.cues import OFF, TABLE
from companion.panel.panel import PanelDisplay, PanelError
from companion.rules.board import Player
from firmware_bridge.errors import BridgeError
from firmware_bridge.firmware.wire import FAULTS
from firmware_bridge.link import Link
from firmware_bridge.session import Connected, Levels, Refused, Sample
from vision.capture.frames import SourceLost
from vision.capture.live import Device

Picture = npt.NDArray[np.uint8]

MEASURED = 20
"""Number of pictures from which a camera's frame rate is measured."""

SLOW_HZ = 10.0
"""Lowest sufficient frame rate: a slower camera misses hands that move between two pictures."""

ANSWER_S = 3.0
"""Timeout: a controller answers within a second of being plugged in."""


@dataclass(frozen=True, slots=True)
class CameraCheck:
    """A camera that was tried: its check, and its last picture (None if it gave none)."""

    check: Check
    image: Picture | None


def check_camera(device: Device, clock: Callable[[], float] = time.perf_counter) -> CameraCheck:
    """Open a camera, take pictures, and close it."""
    try:
        remarks = device.open()
        begun = clock()
        for _ in range(MEASURED):
            image = device.grab()
        rate_hz = MEASURED / max(clock() - begun, 1e-6)
    except SourceLost as error:
        return CameraCheck(fault_from("camera", error), None)
    finally:
        device.close()
    found = f"{device.name}: {image.shape[1]} x {image.shape[0]} px, {rate_hz:.0f} pictures a second"
    if rate_hz < SLOW_HZ:
        return CameraCheck(fault("camera", found, "give it more light, or another USB port"), image)
    if remarks:
        return CameraCheck(
            fault("camera", f"{found}; {'; '.join(remarks)}", "lock it by v4l2-ctl, or use a camera that can"), image
        )
    return CameraCheck(fine("camera", found), image)


def check_serial(url: str | None, kit: Kit | None) -> Check:
    """Check whether the pillar controller answers, its firmware version, and its sensors."""
    if url is None:
        return unused("serial", "no pillar controller is plugged in, and none named (--serial)")
    if kit is None or kit.pillars is None:
        return fault("serial", "the set has no pillars", "leave --serial out, or name the game that has")
    pillars = kit.pillars
    try:
        link = Link(url, Levels(pillars.base_mm, pillars.step_mm, pillars.lowest, pillars.highest))
    except BridgeError as error:
        return fault_from("serial", error)
    try:
        return _spoken(link, url, kit)
    finally:
        link.close()


def _spoken(link: Link, url: str, kit: Kit) -> Check:
    """The check of what the controller sends within :data:`ANSWER_S`."""
    version, until = "", time.monotonic() + ANSWER_S
    while time.monotonic() < until:
        for event in link.take():
            if isinstance(event, Refused):
                return fault("serial", f"{url}: {event.why}", "flash the firmware that comes with this program")
            if isinstance(event, Connected):
                version = ".".join(map(str, event.welcome.firmware))
            if isinstance(event, Sample) and version:
                return _sensed(f"{url}: firmware {version}", event, kit)
        time.sleep(0.02)
    silent = f"{url}: firmware {version}, but no measurements" if version else f"{url}: no answer"
    return fault("serial", silent, "unplug the controller and plug it in again; is it this port?")


def _sensed(who: str, sample: Sample, kit: Kit) -> Check:
    bad = [f"{cell} {FAULTS[number]}" for cell, number in zip(kit.cells, sample.faults, strict=True) if number]
    if bad:
        return fault("serial", f"{who}, sensors at fault: {', '.join(bad)}", "check their wires; see docs/pillars.md")
    return fine("serial", f"{who}, {len(sample.faults)} sensors well")


def check_panel(
    station_config: StationConfig,
    players: Sequence[Player],
    environment: Mapping[str, str],
    wait: Callable[[float], None] = time.sleep,
) -> Check:
    """Light every lamp of a GPIO panel, sound its tone, and check that no button is stuck."""
    if station_config.panel != "gpio":
        return unused("panel", f"the panel is {station_config.panel!r}; nothing to test")
    from gpiozero.pins.mock import MockFactory  # noqa: PLC0415

    from companion.panel.gpio import GpioPanel, pin_factory, stuck_buttons  # noqa: PLC0415

    factory = pin_factory(environment)
    try:
        panel = GpioPanel(tuple(players), station_config.pins, factory)
        try:
            for step in TABLE["start"].intro:
                panel.show(
                    PanelDisplay(Lights(step.colour, tuple(players) if step.colour != OFF else (), step.tone_hz))
                )
                wait(step.seconds)
        finally:
            panel.close()
        stuck = stuck_buttons(station_config.pins, factory)
    except PanelError as error:
        return fault_from("panel", error)
    if isinstance(factory, MockFactory):
        return fault("panel", "this machine has no GPIO pins", "run on a Raspberry Pi, or with --panel terminal")
    if stuck:
        return fault("panel", f"pressed by nobody: {', '.join(map(_name, stuck))}", "check the wires to ground")
    return fine("panel", "red, green, blue and every player's light were lit, and a tone was played: were they?")


def _name(button: Button) -> str:
    return button.value
