"""Two or more cameras on one table: each reads on its own, and their log-likelihoods are added.

The errors of pictures from two sides are nearly independent: what is hidden, mirrored or dim for one camera is not for
the other.  So the values of log p(picture | state) of a cell are summed over the cameras that see it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from companion.app.camera_reader import NO_LEVEL_PRIORS, CameraReader, LevelPriors, ReadResult
from companion.tracker.verification import VerificationAnswer, VerificationQuestion
from vision.capture.frames import Frame
from vision.inference.geometry import Geometry
from vision.reader import Reader
from vision.reading import Reading

Array = npt.NDArray[np.float32]

COVERED_SHARE = 0.25
"""A camera's reading of a cell is left out if more than this share of the cell's pixels are outliers to it, and fewer
to another."""


class MultiCameraReader:
    """The readers of all cameras behind the interface of one (:class:`companion.app.camera_reader.CameraReader`)."""

    def __init__(self, camera_reader: Sequence[CameraReader]) -> None:
        """``camera_reader``: of camera 0, 1, …, all of the same kit."""
        self._readers = tuple(camera_reader)
        self._shown = self._readers[0]
        self._looked: tuple[CameraReader, ...] = ()

    @property
    def reader(self) -> Reader:
        """The reader of the camera whose picture is the frame's own."""
        return self._shown.reader

    @property
    def finds_lens(self) -> bool:
        """Whether the lens of the first camera is found from the board."""
        return self._readers[0].finds_lens

    @property
    def geometry(self) -> Geometry | None:
        """The geometry of that camera."""
        return self._shown.geometry

    def moving(self, frame: Frame) -> bool:
        """Whether anything moved for any camera.  Raises VisionError for a frame of the wrong size."""
        self._shown = self._readers[frame.camera]
        moving = [self._readers[shot.camera].moving(shot) for shot in _shots(frame)]
        return any(moving)

    @property
    def reaching_from(self) -> frozenset[str]:
        """The sides of the mat from which an arm reaches in, as seen by any camera."""
        return frozenset(side for camera_reader in self._readers for side in camera_reader.reaching_from)

    @property
    def instability(self) -> str:
        """Why a camera's picture never comes to rest; empty if all do."""
        return next((camera_reader.instability for camera_reader in self._readers if camera_reader.instability), "")

    def look(
        self, frame: Frame, priors: LevelPriors = NO_LEVEL_PRIORS, *, afresh: bool = False, is_review: bool = False
    ) -> ReadResult:
        """Read the frame last passed to :meth:`moving` with every camera that can."""
        camera_reader = [(self._readers[shot.camera], shot) for shot in _shots(frame)]
        looks = {eye: eye.look(shot, priors, afresh=afresh, is_review=is_review) for eye, shot in camera_reader}
        self._looked = tuple(eye for eye, look in looks.items() if look.reading is not None)
        read = [(look.reading, look.is_recalled) for look in looks.values() if look.reading is not None]
        if not read:
            return next(iter(looks.values()))
        is_recalled = any(recalled for _, recalled in read)
        # A camera that has no earlier calm to compare with does not say what has changed since.
        heard = [reading if recalled == is_recalled else replace(reading, changed=None) for reading, recalled in read]
        is_whole = all(look.is_whole for look in looks.values())
        return ReadResult(combined(heard), is_whole=is_whole, is_recalled=is_recalled)

    def compare(self, question: VerificationQuestion) -> VerificationAnswer | None:
        """Which of the tables in question the cameras show together; None if none of them tells."""
        answers = [answer for eye in self._looked if (answer := eye.compare(question)) is not None]
        if not answers:
            return None
        together = np.sum([answer.log_p for answer in answers], axis=0)
        return replace(answers[0], log_p=tuple(map(float, together)))

    def understood(self) -> None:
        """Note that the frame last looked at shows a table that makes sense."""
        for eye in self._looked:
            eye.understood()

    def learn(self, layout: Mapping[str, str]) -> None:
        """Learn the look of the board where pieces stood until now."""
        for eye in self._looked:
            eye.learn(layout)


def combined(readings: Sequence[Reading]) -> Reading:
    """The joint reading of several cameras that saw the same cells at the same moment.

    For a cell that is covered for one camera and not for another, the other's reading is used.  ``outlier_share`` is
    the least of all cameras; ``changed`` the most of those that see the cell; ``unseen`` what is so for all of them.
    """
    first = readings[0]
    if len(readings) == 1:
        return first
    outlier_share = np.stack([reading.outlier_share for reading in readings])
    least = outlier_share.min(axis=0)
    heard = (outlier_share <= COVERED_SHARE) | (outlier_share == least)
    return replace(
        first,
        log_likelihood=_sum([reading.log_likelihood for reading in readings], heard),
        outlier_share=least,
        changed=_changed([reading.changed for reading in readings], heard),
        unseen=_unseen(readings, heard),
        level_log_likelihood=_sum_of_those(readings, heard),
    )


def _shots(frame: Frame) -> tuple[Frame, ...]:
    return (frame, *frame.others)


def _sum(rows: Sequence[Array], heard: npt.NDArray[np.bool_]) -> Array:
    """(n, m) sum of log-likelihoods over the cameras heard for each row, shifted so that its logsumexp is 0."""
    total = np.where(heard[:, :, None], np.stack(rows), 0).sum(axis=0)
    shifted: Array = (total - np.logaddexp.reduce(total, axis=1, keepdims=True)).astype(np.float32)
    return shifted


def _sum_of_those(readings: Sequence[Reading], heard: npt.NDArray[np.bool_]) -> Array | None:
    """The same for the pillars' levels; None unless all cameras read them."""
    rows = [reading.level_log_likelihood for reading in readings if reading.level_log_likelihood is not None]
    return _sum(rows, heard) if len(rows) == len(readings) else None


def _changed(shares: Sequence[Array | None], heard: npt.NDArray[np.bool_]) -> Array | None:
    """(n,) the largest change for a camera that sees the cell; None if none can compare."""
    known = [np.where(seen, share, 0) for share, seen in zip(shares, heard, strict=True) if share is not None]
    return None if not known else np.fmax.reduce(known).astype(np.float32)


def _unseen(readings: Sequence[Reading], heard: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_] | None:
    """(n,) whether no camera that can compare sees enough of the cell; None if one of these does not know."""
    comparing = [
        (reading.unseen, seen) for reading, seen in zip(readings, heard, strict=True) if reading.changed is not None
    ]
    known = [unseen | ~seen for unseen, seen in comparing if unseen is not None]
    return np.logical_and.reduce(known) if known and len(known) == len(comparing) else None
