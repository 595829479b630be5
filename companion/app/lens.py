"""The lens of a camera at a table, found from the board that it sees; better, as it sees it from other places."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from calibration.board_lens import TOO_STEEP, BoardLens, Sighting, find_lens, find_markers
from calibration.camera import Camera
from calibration.kit import Kit

PICTURES_A_PLACE = 3
"""Pictures that are looked at while camera and board stay where they are: noise and JPEG move corners in each anew."""

MOST_PICTURES = 12
"""With four places the lens is known as well as its markers tell it; the search takes half a second with so many."""

SURER = 0.95
"""A lens takes another's place where its focal length is less uncertain by this factor: each change has the board read
anew."""


class LensFinder:
    """Finds the lens that sees a kit's board; knows what it was shown so far."""

    def __init__(self, kit: Kit, say: Callable[[str], None]) -> None:
        """``say`` is told what people should know."""
        self._kit, self._say = kit, say
        self._seen: list[Sighting] = []
        self._wanted = PICTURES_A_PLACE
        self._best: BoardLens | None = None

    def moved(self) -> None:
        """Camera or board lie elsewhere: what is seen from there tells more."""
        self._wanted = PICTURES_A_PLACE

    def take(self, image: npt.NDArray[np.uint8]) -> Camera | None:
        """The camera by this picture (height, width, 3) uint8 BGR and those before; None where it is known as well.

        Raises ProfileError when the markers are mirrored.
        """
        if not self._wanted or len(self._seen) >= MOST_PICTURES:
            return None
        sighting = find_markers(image, self._kit)
        if not sighting.is_enough or any(sighting.size != other.size for other in self._seen):
            return None
        self._wanted -= 1
        self._seen.append(sighting)
        before, found = self._best, find_lens(self._seen, self._kit)
        if before is not None and found.focal_deviation > SURER * before.focal_deviation:
            return None
        self._best = found
        if before is None or before.is_known != found.is_known:
            self._say(f"lens from the board: {found.told}" if found.is_known else f"lens from the board: {TOO_STEEP}")
        return found.camera
