"""Synchronised recordings of one table by several cameras."""

import numpy as np

from vision.capture.frames import Frame, Outage
from vision.capture.merged_source import MergedSource

BLANK = np.zeros((4, 6, 3), np.uint8)


class Recorded:
    """A source of frames and outages at given times."""

    def __init__(self, *times, seq=0):
        self.shots = [t if isinstance(t, Outage) else Frame(BLANK, seq + i, t) for i, t in enumerate(times)]
        self.closed = False

    def frames(self):
        yield from self.shots

    def close(self):
        self.closed = True


def pairs(*sources):
    """Return each frame's number with the (camera, number) of those beside it."""
    return [
        (frame.seq, [(other.camera, other.seq) for other in frame.others]) for frame in MergedSource(sources).frames()
    ]


def test_frames_of_the_same_moment_come_together():
    """Each frame is joined with the simultaneous frame of the other recording."""
    assert pairs(Recorded(0.0, 0.1, 0.2), Recorded(0.01, 0.11, 0.21)) == [(0, [(1, 0)]), (1, [(1, 1)]), (2, [(1, 2)])]


def test_a_slower_camera_is_beside_where_it_is_near():
    """A slower camera's frame is joined with all near frames of the faster one."""
    assert pairs(Recorded(0.0, 0.1, 0.5, 1.0), Recorded(0.1, 1.0)) == [
        (0, [(1, 0)]),
        (1, [(1, 0)]),
        (2, []),
        (3, [(1, 1)]),
    ]


def test_a_recording_that_ends_early_leaves_the_other_alone():
    """After the end of one recording the other continues alone."""
    assert pairs(Recorded(0.0, 0.5), Recorded(0.0)) == [(0, [(1, 0)]), (1, [])]


def test_three_cameras():
    assert pairs(Recorded(0.0), Recorded(0.1), Recorded(0.05)) == [(0, [(1, 0), (2, 0)])]


def test_an_outage_is_passed_on_and_all_are_closed():
    """Outages are passed on, and closing closes all sources."""
    sources = (Recorded(Outage(0.0, "gone"), 0.1), Recorded(0.1))
    together = MergedSource(sources)
    assert [type(shot) for shot in together.frames()] == [Outage, Frame]
    together.close()
    assert all(source.closed for source in sources)
