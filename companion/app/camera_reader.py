"""Reads one camera: for each frame whether anything moved, and for calm frames what stands on the board."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from calibration.appearance import SetAppearance
from calibration.board_lens import prior_camera
from calibration.camera import Camera
from calibration.kit import Kit
from companion.app.instability import Instability, may_be_hand, step
from companion.app.lens import LensFinder
from companion.errors import fault_line
from companion.tracker.evidence import STILL_SHARE
from companion.tracker.verification import VerificationAnswer, VerificationQuestion
from vision.alternatives import cut_outs
from vision.capture.frames import Frame
from vision.drawing import Viewpoint
from vision.errors import MatNotFound, VisionError
from vision.frame_average import FrameAverage
from vision.inference.geometry import Geometry
from vision.motion import Comparison, MotionDetector, WatchedFrame, hidden_cells
from vision.pose.projection import Registration
from vision.pose.registration import check_size
from vision.reader import Levels, Reader
from vision.reading import EMPTY, Reading

HAND_TIMEOUT_S = 3.0
"""A change that looks like an arm but has been still for this long is an object on the table: a hand trembles."""

HAND_REST_S = 0.25
"""Something that is merely connected to an arm in the picture counts as hidden for this long: a hand that has put
something down at the far edge, and is seen by its fingertips and its shadow, rests for less before it moves on."""

NEW_LIGHT_FRACTION = 0.02
"""If half of all cells have changed by more than this, the light has changed, not the board."""

FULL_READ_FRACTION = 0.5
"""If a larger share of the cells looks different since the last reading, all are read."""

POSE_CONFIRMATION_S = 0.3
"""A new pose must be seen again after this long: an arm over a marker, or a mat that is just being pushed, moves on."""

BETTER_POSE_ERROR_RATIO = 0.7
"""A pose with as many markers is better if its reprojection error is at most this share of the known one's: noise alone
makes a tenth of that, and what misleads one marker at first, such as an arm's shadow, several times as much."""

UNREAD = "unread"
"""The view if the program itself is at fault: the picture is kept, so that the fault can be found."""

CUT_OUT_QUALITY = 80
"""JPEG quality of the pictures kept from a second look: about 5 kB a picture."""

MAX_CHECKED_PILLARS = 2
"""Number of pillars checked at once: those that a hand was at.  Judging one takes about as long as a reading."""


@dataclass(frozen=True, slots=True)
class LevelPriors:
    """What is known about the levels of n pillars without looking; None for a pillar, or for all, if nothing is.

    Attributes:
        sensed: by their sensors, now.
        before: where they stood in the last picture that made sense.
        expected: where they should stand.
        doubted: those whose sensors the picture contradicts, or has contradicted; for these the picture decides.
    """

    sensed: Levels | None = None
    before: Levels | None = None
    expected: Levels | None = None
    doubted: frozenset[int] = frozenset()

    @property
    def likely(self) -> Levels | None:
        """Where each pillar stands a priori: by its sensor, else where it stood before, else where it should stand."""
        priors = [levels for levels in (self.sensed, self.before, self.expected) if levels is not None]
        firsts = (next((one for one in each if one is not None), None) for each in zip(*priors, strict=True))
        return tuple(firsts) if priors else None


NO_LEVEL_PRIORS = LevelPriors()


@dataclass(frozen=True, eq=False)
class ReadResult:
    """The result of trying to read a frame.

    Attributes:
        reading: what was read; None if nothing could be.
        view: state of the view: ``clear``; ``moved`` while camera or mat seem to be pushed; ``no-mat``; ``dark``;
            ``unread`` if the program itself is at fault.
        why: why there is no reading; its str() may take as long as some readings.
        is_whole: whether all cells were read, not only those whose picture had changed.
        is_recalled: whether they were compared with the last picture that made sense in an earlier calm, though one of
            this calm did too.
    """

    reading: Reading | None
    view: str = "clear"
    why: VisionError | str = ""
    is_whole: bool = True
    is_recalled: bool = False


class CameraReader:
    """The reader and the motion detector of one camera."""

    def __init__(
        self,
        kit: Kit,
        camera: Camera,
        appearance: SetAppearance,
        levels: tuple[int, ...] = (),
        lens: LensFinder | None = None,
    ) -> None:
        """``levels``: of terrain, or of the pillars at the start, for each cell; empty on a flat board.

        ``lens`` finds the camera's lens if only the size of its pictures is known yet.
        """
        self._lens = lens
        self.reader = Reader(kit, camera, appearance, levels)
        self.geometry: Geometry | None = None
        self._motion = MotionDetector(kit, camera)
        self._watched_frame: WatchedFrame | None = None
        self._still_since_s, self._looked_s = 0.0, float("-inf")
        self._understood_s = float("-inf")
        self._candidate: tuple[Registration, float] | None = None
        self._in_sight: tuple[Geometry, npt.NDArray[np.bool_]] | None = None
        self._in_sight_earlier: tuple[Geometry, npt.NDArray[np.bool_]] | None = None
        self._instability = Instability(0.0)
        self._exposure = FrameAverage()

    def moving(self, frame: Frame) -> bool:
        """Whether anything has moved since the frame before, apart from a constant :attr:`instability` of the picture.

        Raises VisionError for a frame of the wrong size.
        """
        height, width = frame.image.shape[:2]
        if self._lens is not None and (width, height) != self.reader.camera.size:
            self._use_camera(prior_camera((width, height)))
        check_size(frame.image, self.reader.camera)
        watched = self._watched_frame = self._motion.process(frame.image)
        piece_px2 = self._motion.piece_px2
        self._instability = step(self._instability, frame.t_s, watched.difference, piece_px2, moving=watched.moving)
        moving = watched.moving
        if self._instability.why and watched.difference is not None:
            moving = may_be_hand(self._instability, watched.difference, piece_px2)
        if moving:
            self._still_since_s = frame.t_s
        if moving or self._instability.why == "shaking":  # the mean would be blurred
            self._exposure.clear()
        elif not self._exposure.is_enough:
            self._exposure.add(frame.image, frame.t_s)
        return moving

    @property
    def finds_lens(self) -> bool:
        """Whether the lens is found from the board."""
        return self._lens is not None

    @property
    def reaching_from(self) -> frozenset[str]:
        """The sides of the mat from which an arm reached in at the last call of :meth:`moving`; ``S`` is rank 1's."""
        return frozenset() if self._watched_frame is None else self._motion.arm_sides(self._watched_frame)

    @property
    def instability(self) -> str:
        """Why the picture never comes to rest: ``noise``, ``flicker`` or ``shaking``; empty if it does."""
        return self._instability.why

    def look(
        self, frame: Frame, priors: LevelPriors = NO_LEVEL_PRIORS, *, afresh: bool = False, is_review: bool = False
    ) -> ReadResult:
        """Read the frame last passed to :meth:`moving`, averaged with those of the same calm before it.

        Args:
            frame: the newest one.
            priors: what is known about the pillars' levels.
            afresh: read every cell, even where nothing has changed since the last reading, which may have been wrong.
            is_review: the same, compared with the last picture that made sense in an earlier calm.
        """
        try:
            if self._lens is not None and (camera := self._lens.take(frame.image)) is not None:
                self._use_camera(camera)
            geometry = self._place(self.reader.register(frame.image), frame.t_s)
            if geometry is None:
                return ReadResult(None, "moved", "camera or mat was pushed")
            picture = self._averaged(frame)
            is_recalled = is_review and self._recalled()
            seen = self._compared(geometry)
            known, altered = self._known(priors, seen), None if afresh or is_review else self._altered(geometry)
            reading = self.reader.read_at(replace(frame, image=picture), geometry, known, altered, priors.likely)
        except MatNotFound as error:
            return ReadResult(None, "no-mat", error)
        except VisionError as error:
            return ReadResult(None, "dark", error)
        except Exception as error:  # a fault in reading one picture must not end a match
            return ReadResult(None, UNREAD, fault_line(error))
        assert self._watched_frame is not None, "look() follows moving()"
        self._motion.keep_read(self._watched_frame)
        self._looked_s = frame.t_s
        # With pillars, the geometry is that of the levels that were read.
        self.geometry = self.reader.geometry(geometry.pose)
        told_changes = reading if seen is None else self._with_changes(reading, seen)
        return ReadResult(told_changes, is_whole=altered is None, is_recalled=is_recalled)

    def compare(self, question: VerificationQuestion) -> VerificationAnswer | None:
        """Which of the tables in question the frames of this calm show; None if the picture does not tell.

        Follows :meth:`look`.  Takes up to 60 ms.
        """
        assert self.geometry is not None, "compare() follows look()"
        kit, image = self.reader.kit, self._exposure.picture()
        numbers = {cell: i for i, cell in enumerate(question.cells)}
        tables = [
            [table[numbers[cell]] if cell in numbers else EMPTY for cell in kit.cells] for table in question.tables
        ]
        # A stack leans, or stands a little beside its place: slivers beside it tell nothing of what it hides.
        hidden = hidden_cells(*self.reader.visible_crop_pixels())
        seen = [
            [first if is_hidden else own for first, own, is_hidden in zip(tables[0], table, hidden, strict=True)]
            for table in tables
        ]
        log_p = self.reader.score(Frame(image, 0, question.t_s), seen)
        if not np.ptp(log_p):
            return None
        cells = [cell for i, cell in enumerate(kit.cells) if len({table[i] for table in tables}) > 1]
        sight = Viewpoint(kit, self.reader.camera, self.geometry.pose, self.reader.levels or None)
        shown = [_jpeg(picture) for picture in cut_outs(image, sight, self.reader.appearance.pieces, tables, cells)]
        return VerificationAnswer(tuple(map(float, log_p)), shown[0] if shown else b"", tuple(shown[1:]))

    def _averaged(self, frame: Frame) -> npt.NDArray[np.uint8]:
        """The mean of the frames of this calm, ending with this one; from now on the watched frame is that one, too."""
        self._exposure.add(frame.image, frame.t_s)
        picture = self._exposure.picture()
        self._watched_frame = self._motion.process_still(picture)
        return picture

    def _recalled(self) -> bool:
        """Return to the last picture of an earlier calm that made sense if one of this calm has since; whether done."""
        if self._understood_s < self._still_since_s or not self._motion.restore_earlier_bare():
            return False
        self._in_sight, self._understood_s = self._in_sight_earlier, float("-inf")
        return True

    def _altered(self, geometry: Geometry) -> npt.NDArray[np.bool_] | None:
        """(n,) cells that look different from the last reading; None if the light may have changed too."""
        assert self._watched_frame is not None, "look() follows moving()"
        altered = self._motion.changed_cells(self._watched_frame, geometry)
        return None if altered is None or altered.mean() > FULL_READ_FRACTION else altered

    def understood(self) -> None:
        """Note that the frame last looked at shows a table that makes sense: no hand is over it."""
        assert self._watched_frame is not None, "understood() follows look()"
        is_same_calm = self._understood_s >= self._still_since_s
        self._motion.keep_bare(self._watched_frame, is_thing=self._is_thing, is_same_calm=is_same_calm)
        self._understood_s = self._looked_s
        if not is_same_calm:
            self._in_sight_earlier = self._in_sight
        self._in_sight = self.reader.visible_crop_pixels()

    def learn(self, layout: Mapping[str, str]) -> None:
        """Learn the look of the board where pieces stood until now; ``layout``: the present stacks by cell.

        The frame last looked at certainly shows them.
        """
        try:
            self.reader.learn_bare(self._exposure.picture(), layout)
        except VisionError:  # It is as well known as before.
            return

    def _place(self, pose: Registration, t_s: float) -> Geometry | None:
        """The geometry to read with; None while the mat seems to have been moved and may still be moving.

        With a marker covered, or a shadow's edge on one, a pose is less certain than the known one; of two that differ
        by noise, the first is kept.
        """
        if self.geometry is None:
            self.geometry = self.reader.geometry(pose)
            return self.geometry
        known = self.geometry.pose
        if self.reader.is_same(known, pose):
            self._candidate = None
            return self.geometry
        if len(pose.markers) < len(known.markers):
            return self.geometry
        is_pushed = self.reader.is_pushed(known, pose)
        if not is_pushed and pose.reprojection_px > BETTER_POSE_ERROR_RATIO * known.reprojection_px:
            return self.geometry
        if not self._is_confirmed(pose, t_s):
            return None if is_pushed else self.geometry
        if is_pushed:
            self._motion.forget_bare()
            if self._lens is not None:
                self._lens.moved()
        self.geometry, self._candidate = self.reader.geometry(pose), None
        return self.geometry

    def _is_confirmed(self, pose: Registration, t_s: float) -> bool:
        """Whether this pose, different from the known one, was first seen long enough ago."""
        if self._candidate is None or not self.reader.is_same(self._candidate[0], pose):
            self._candidate = (pose, t_s)
        return t_s - self._candidate[1] >= POSE_CONFIRMATION_S

    def _use_camera(self, camera: Camera) -> None:
        """Switch to a camera that is known better; everything is located by it from now on."""
        if camera.size == self.reader.camera.size:
            self._motion.camera = camera
        else:
            self._motion = MotionDetector(self.reader.kit, camera)
        self.reader.use_camera(camera)
        self.geometry, self._candidate = None, None

    def _compared(self, geometry: Geometry) -> Comparison | None:
        """The frame compared with the last picture that made sense; None if there is none."""
        assert self._watched_frame is not None, "look() follows moving()"
        return self._motion.compare(self._watched_frame, geometry)

    def _known(self, priors: LevelPriors, seen: Comparison | None) -> Levels | None:
        """The levels that the picture need not tell; None without pillars."""
        n = len(self.reader.levels)
        if self.reader.kit.pillars is None:
            return None
        return certain_levels(priors, n, None if seen is None else seen.changed)

    @property
    def _is_thing(self) -> bool:
        """Whether what looks like an arm has lain still for too long to be one."""
        return self._looked_s - self._still_since_s >= HAND_TIMEOUT_S

    def _with_changes(self, reading: Reading, seen: Comparison) -> Reading:
        """``reading`` with what comparison with the last picture that made sense adds to it."""
        hidden = seen.touched if self._looked_s - self._still_since_s < HAND_REST_S else seen.covered
        outlier_share = reading.outlier_share if self._is_thing else np.maximum(reading.outlier_share, hidden)
        changed, unseen = (None, None) if _is_new_light(seen) else self._changed(seen)
        return replace(reading, outlier_share=outlier_share.astype(np.float32), changed=changed, unseen=unseen)

    def _changed(self, seen: Comparison) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_] | None]:
        """(n,) changed share of each cell's picture, without what was put in front of the cell or taken away there.

        And (n,) the cells where a piece might stand unseen; None if that is not known.
        """
        geometry, in_sight = self.reader.visible_crop_pixels()
        if self._in_sight is None or self._in_sight[0].pose is not geometry.pose:
            return seen.changed, None
        known, before = self._in_sight
        if before.shape != in_sight.shape:
            return seen.changed, None
        # A pillar that has moved since is compared at another place, as far as it is visible now.
        has_moved = [one != other for one, other in zip(known.levels, geometry.levels, strict=True)] or [False]
        return self._motion.changed_where_visible(
            seen, geometry, in_sight & (before | np.array(has_moved)[:, None, None])
        )


def _jpeg(picture: npt.NDArray[np.uint8]) -> bytes:
    _, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, CUT_OUT_QUALITY])
    return data.tobytes()


def _is_new_light(seen: Comparison) -> bool:
    return float(np.median(seen.changed)) > NEW_LIGHT_FRACTION


def certain_levels(priors: LevelPriors, n: int, changed: npt.NDArray[np.float32] | None) -> tuple[int | None, ...]:
    """The levels (n) that are known well enough; None for those that the picture must tell.

    Levels from sensors are known, but changed levels, and those where the picture has changed most, are checked by the
    picture.  A pillar of which its sensor says nothing stands where it did as long as its picture is unchanged.

    Args:
        priors: what is known without looking.
        n: number of pillars.
        changed: (n,) share of each cell's picture that differs from the last one that made sense; None: not known.
    """
    sensed, before = (levels or (None,) * n for levels in (priors.sensed, priors.before or priors.expected))
    known = [level if level == was else None for level, was in zip(sensed, before, strict=True)]
    if changed is None:
        return tuple(known)
    for cell, level in enumerate(sensed):
        if level is None and priors.before is not None and changed[cell] < STILL_SHARE:
            known[cell] = before[cell]
    for cell in np.argsort(-changed)[:MAX_CHECKED_PILLARS]:
        if changed[cell] > STILL_SHARE:
            known[cell] = None
    return tuple(None if cell in priors.doubted else level for cell, level in enumerate(known))
