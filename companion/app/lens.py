"""The lens of a camera at a table, found from the board that it sees, better if it sees it from several places."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from calibration.board_lens import TOO_STEEP, BoardLens, Sighting, find_lens, find_markers
from calibration.camera import Camera
from calibration.kit import Kit

PICTURES_A_PLACE = 3
"""Pictures used while camera and board stay in place: noise and JPEG move the corners differently in each."""

MAX_PICTURES = 12
"""With four places the lens is known as well as the markers allow; the search takes half a second with so many."""

SURER = 0.95
"""A lens replaces another if the uncertainty of its focal length is at most this factor of the other's: each change
requires the board to be read anew."""


class LensFinder:
    """Finds the lens that sees a kit's board, from all pictures shown to it so far."""

    def __init__(self, kit: Kit, say: Callable[[str], None]) -> None:
        """``say`` is told what people should know."""
        self._kit, self._say = kit, say
        self._seen: list[Sighting] = []
        self._wanted = PICTURES_A_PLACE
        self._best: BoardLens | None = None

    def moved(self) -> None:
        """Note that camera or board has moved: pictures from the new place tell more."""
        self._wanted = PICTURES_A_PLACE

    def take(self, image: npt.NDArray[np.uint8]) -> Camera | None:
        """The camera by this picture (height, width, 3) uint8 BGR and those before; None if it is no better known.

        Raises ProfileError if the markers are mirrored.
        """
        if not self._wanted or len(self._seen) >= MAX_PICTURES:
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
            self._say(
                f"lens from the board: {found.summary}" if found.is_known else f"lens from the board: {TOO_STEEP}"
            )
        return found.camera
