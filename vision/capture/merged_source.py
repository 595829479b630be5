"""Several recordings of one table, one camera each, played as one source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from vision.capture.frames import Frame, FrameSource, Outage
from vision.capture.live import SAME_MOMENT_S


class MergedSource:
    """Frames of the first source, each with those of the other sources from the same moment beside it."""

    def __init__(self, sources: Sequence[FrameSource]) -> None:
        self._sources = tuple(sources)

    def frames(self) -> Iterator[Frame | Outage]:
        """Frames at the first source's times.  Raises SourceLost where one breaks."""
        first, *others = (source.frames() for source in self._sources)
        held: list[Frame | None] = [None] * len(others)
        for shot in first:
            if isinstance(shot, Outage):
                yield shot
                continue
            for i, other in enumerate(others):
                held[i] = _up_to(other, held[i], shot.t_s)
            near = (
                replace(frame, camera=i)
                for i, frame in enumerate(held, start=1)
                if frame is not None and abs(frame.t_s - shot.t_s) <= SAME_MOMENT_S
            )
            yield replace(shot, others=tuple(near))

    def close(self) -> None:
        """Close all sources."""
        for source in self._sources:
            source.close()


def _up_to(frames: Iterator[Frame | Outage], newest: Frame | None, t_s: float) -> Frame | None:
    """The first frame that is no earlier than ``t_s``, or the last there is."""
    while newest is None or newest.t_s < t_s:
        shot = next(frames, None)
        if shot is None:
            return newest
        if isinstance(shot, Frame):
            newest = shot
    return newest
