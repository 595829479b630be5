"""Camera pictures of a match: from its recordings, as far as they still exist, and from its evidence."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from calibration.files import MAX_PICTURE_BYTES, read_bytes
from calibration.picture import unpacked
from companion.errors import RecordingError
from companion.recorder.store import MatchId, Recorded, Store
from companion.tape.recording_writer import read_index

Picture = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Shots:
    """Pictures of a match in order of time: files, and the match time of each."""

    files: tuple[Path, ...]
    times_s: tuple[float, ...]

    def at(self, t_s: float) -> Path | None:
        """The last picture taken up to ``t_s``; None if there is none."""
        k = bisect_right(self.times_s, t_s)
        return self.files[k - 1] if k else None

    def between(self, from_s: float, to_s: float) -> Shots:
        """The pictures taken from ``from_s`` to ``to_s``."""
        chosen = [(file, t_s) for file, t_s in zip(self.files, self.times_s, strict=True) if from_s <= t_s <= to_s]
        return _shots(chosen)


def _shots(pairs: Iterable[tuple[Path, float]]) -> Shots:
    ordered = sorted(pairs, key=lambda pair: pair[1])
    return Shots(tuple(file for file, _ in ordered), tuple(t_s for _, t_s in ordered))


def recorded_shots(recordings: Iterable[Recorded]) -> Shots:
    """The pictures of all recordings of a match that still exist."""
    pairs: list[tuple[Path, float]] = []
    for recorded in recordings:
        try:
            index = read_index(recorded.folder)
        except RecordingError:
            continue
        pairs += [(file, recorded.from_s + t_s) for file, t_s in index]
    return _shots(pairs)


def stills(store: Store, match: MatchId, numbers: Iterable[int]) -> dict[int, bytes]:
    """The JPEG pictures stored as evidence, by event number, as far as they still exist."""
    found = ((n, store.evidence(match, n)) for n in numbers)
    return {n: picture for n, picture in found if picture is not None}


def decode(jpeg: bytes, reduced: int = 1) -> Picture | None:
    """(height, width, 3) uint8 BGR, ``reduced`` 1, 2, 4 or 8 times; None if the bytes are not a picture."""
    flags = {
        1: cv2.IMREAD_COLOR,
        2: cv2.IMREAD_REDUCED_COLOR_2,
        4: cv2.IMREAD_REDUCED_COLOR_4,
        8: cv2.IMREAD_REDUCED_COLOR_8,
    }
    return unpacked(jpeg, flags[reduced])


def load(file: Path, reduced: int = 1) -> Picture | None:
    """The picture in a file; None if it does not exist or is damaged."""
    try:
        return decode(read_bytes(file, MAX_PICTURE_BYTES), reduced)
    except OSError:
        return None
