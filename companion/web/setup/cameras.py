"""The cameras that can be chosen on the set-up page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from calibration.camera import Camera
from vision.capture.frames import Frame, FrameSource, SourceLost
from vision.capture.network import public

DEVICE, MODULE, PHONE, ADDRESS = "device", "picamera", "phone", "address"
KINDS = (DEVICE, MODULE, PHONE, ADDRESS)
CAMERA_KEYS = frozenset({"device", "picamera", "phone"})
"""The keys of table.toml that name a camera."""

NONE_CHOSEN = "choose a camera"

NODE = re.compile(r"(?:.*/)?(?:usb-)?(.*?)(?:-video-index\d+)?")
"""Captures the recognisable part of a device's path, as in ``/dev/v4l/by-id/usb-046d_C920-video-index0``."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One camera: its kind, one of :data:`KINDS`, and its path, number or address; a phone has none."""

    kind: str
    name: str = ""

    @property
    def label(self) -> str:
        """Name of the camera for people, without a password; empty for a phone, for which pages have a word."""
        if self.kind == ADDRESS:
            return public(self.name)
        found = NODE.fullmatch(self.name)
        return self.name if found is None else found[1].replace("_", " ")


@dataclass(frozen=True, slots=True)
class Opened:
    """An opened camera: its frame source, and the keys of table.toml that name it, as TOML text by key."""

    source: FrameSource
    keys: Mapping[str, str]


def _unknown(choice: Choice, _camera: Camera | None) -> NoReturn:
    raise SourceLost(f"there is no camera {choice.label}")


@dataclass(frozen=True, slots=True)
class Cameras:
    """The available cameras.

    Attributes:
        found: returns the cameras plugged in now; None: there is no choice.
        opened: opens a chosen camera, with pictures of the size of a known camera; raises SourceLost.
    """

    found: Callable[[], tuple[Choice, ...]] | None = None
    opened: Callable[[Choice, Camera | None], Opened] = _unknown

    def offered(self, chosen: Choice | None) -> tuple[Choice, ...]:
        """The cameras plugged in, the ``chosen`` one even if it is not, and a phone; addresses are typed by people."""
        if self.found is None:
            return ()
        there = self.found()
        others = () if chosen is None or chosen.kind == PHONE or chosen in there else (chosen,)
        return (*there, *others, Choice(PHONE))

    def rows(self, chosen: Choice | None) -> list[dict[str, Any]]:
        """The cameras offered, as JSON for pages: without the name of an address, which may contain a password."""
        return [
            {
                "kind": each.kind,
                "name": "" if each.kind == ADDRESS else each.name,
                "label": each.label,
                "chosen": each == chosen,
            }
            for each in self.offered(chosen)
        ]


class Missing:
    """A frame source without a camera, which only says why."""

    def __init__(self, why: str = NONE_CHOSEN) -> None:
        self._why = why

    def frames(self) -> Iterator[Frame]:
        """Gives no frame.  Raises SourceLost."""
        raise SourceLost(self._why)

    def close(self) -> None:
        """Do nothing: there is nothing to close."""
