"""Where pictures come from.  A frame is a picture with its time; sources are adapters behind one small protocol."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from vision.errors import VisionError


class SourceLost(VisionError, OSError):
    """A source that gives no more pictures although it should: unplugged, frozen, or broken in the middle."""


@dataclass(frozen=True, eq=False)
class Frame:
    """One picture, or those of several cameras at one moment.

    Attributes:
        image: (height, width, 3) uint8, BGR.
        seq: running number of the source's frames, from 0; a gap means frames that were dropped.
        t_s: time when the picture was taken, in seconds since the source was opened.
        camera: number of the camera that took it, from 0, where a source has several.
        others: the pictures of the other cameras of the same moment; those that give none are missing.
        age_s: its age when a live source handed it out.
    """

    image: npt.NDArray[np.uint8]
    seq: int
    t_s: float
    camera: int = 0
    others: tuple[Frame, ...] = ()
    age_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Outage:
    """States that no camera gives pictures at ``t_s``, and why; it is repeated until one does again."""

    t_s: float
    why: str


class FrameSource(Protocol):
    """A camera, a file, or a simulated table."""

    def frames(self) -> Iterator[Frame | Outage]:
        """Frames in order of time until the source ends; a live source skips frames that nobody fetched in time.

        A live source that has failed yields outages all the while and recovers by itself.  Raises SourceLost where a
        file breaks.
        """
        ...

    def close(self) -> None:
        """Release the device or file; closing twice is fine."""
        ...
