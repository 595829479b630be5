"""Where pictures come from.  A frame is a picture with its time; sources are adapters behind one small protocol."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from vision.errors import VisionError


class SourceLost(VisionError, OSError):
    """A source that gives no more pictures though it should: unplugged, frozen, or broken in the middle."""


@dataclass(frozen=True, eq=False)
class Frame:
    """One picture.

    Attributes:
        image: (height, width, 3) uint8, BGR.
        seq: running number of the source's frames, from 0; a gap means frames that were dropped.
        t_s: seconds since the source was opened.
    """

    image: npt.NDArray[np.uint8]
    seq: int
    t_s: float


class FrameSource(Protocol):
    """A camera, a file, or a simulated table."""

    def frames(self) -> Iterator[Frame]:
        """Frames in order of time until the source ends; a live source skips frames that nobody fetched in time.

        Raises SourceLost.
        """
        ...

    def close(self) -> None:
        """Release the device or file; closing twice is fine."""
        ...
